//! Where the tools are: the oracles' folder first, then `PATH`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

/// The environment variable that names the oracles' folder.
pub const FOLDER: &str = "KERNITE_ORACLES";

/// The folder that `.ci/install-oracles` fills: `$KERNITE_ORACLES`, which may be
/// relative to the workspace root, by default `.oracles` there. It need not exist.
pub fn folder() -> PathBuf {
    match std::env::var_os(FOLDER) {
        // An absolute path replaces what it is joined to.
        Some(dir) if !dir.is_empty() => workspace().join(dir),
        _ => workspace().join(".oracles"),
    }
}

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The files that match `pattern` below `dir`, sorted. `*` stands for any part of
/// one name. A folder that does not exist, or cannot be read, holds none.
pub fn find(dir: &Path, pattern: &str) -> Vec<PathBuf> {
    let dir = glob::Pattern::escape(&dir.to_string_lossy());
    match glob::glob(&format!("{dir}/{pattern}")) {
        Ok(paths) => paths.flatten().filter(|path| path.is_file()).collect(),
        Err(error) => panic!("the pattern {pattern:?} is malformed: {error}"),
    }
}

/// The files named `name` on `PATH`, in its order.
pub fn on_path(name: &str) -> Vec<PathBuf> {
    let Some(path) = std::env::var_os("PATH") else {
        return Vec::new();
    };
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .filter(|file| file.is_file())
        .collect()
}

/// A file inside a Python package of any virtual environment of the folder.
pub(crate) fn in_environments(inside: &str) -> Vec<PathBuf> {
    find(&folder(), &format!("*/lib/python3*/site-packages/{inside}"))
}

/// What a skip line says of a search that found nothing acceptable.
pub(crate) fn looked_at(refused: &[String]) -> String {
    let mut text = format!("not found (looked at {}, PATH", folder().display());
    for reason in refused {
        text.push_str("; ");
        text.push_str(reason);
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_files_only() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("a/bin");
        std::fs::create_dir_all(bin.join("folder")).unwrap();
        std::fs::write(bin.join("tool"), "").unwrap();
        assert_eq!(find(dir.path(), "*/bin/*"), [bin.join("tool")]);
        assert_eq!(find(&dir.path().join("missing"), "*"), [] as [PathBuf; 0]);
    }

    #[test]
    fn the_workspace_holds_this_member() {
        assert!(workspace().join("tests/support/Cargo.toml").is_file());
    }
}
