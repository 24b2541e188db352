//! The fixtures and hostile files beside this crate.
#![forbid(unsafe_code)]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A file of the corpus.
#[derive(Clone, Debug)]
pub struct File {
    /// Its path below the crate, with `/` between.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The folder of this crate.
#[must_use]
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// One file, by its path below the crate.
///
/// # Panics
/// If it is not there: a test that names a file wants it.
#[must_use]
pub fn read(name: &str) -> Vec<u8> {
    let path = root().join(name);
    fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    for entry in entries {
        let path = entry.expect("readable folder").path();
        if path.is_dir() {
            walk(&path, out);
        } else {
            out.push(path);
        }
    }
}

fn files(dir: &str) -> Vec<File> {
    let root = root();
    let mut paths = Vec::new();
    walk(&root.join(dir), &mut paths);
    paths.sort();
    let files = paths.into_iter().map(|p| {
        let name = p.strip_prefix(&root).expect("below the crate");
        File {
            name: name.to_string_lossy().replace('\\', "/"),
            bytes: fs::read(&p).expect("readable file"),
        }
    });
    files.collect()
}

/// Every container among the fixtures.
///
/// # Panics
/// If the corpus is not there.
#[must_use]
pub fn fixtures() -> Vec<File> {
    let mut list = files("fixtures");
    list.retain(|f| f.bytes.starts_with(b"DXBC"));
    assert!(list.len() >= 170, "only {} fixtures", list.len());
    list
}

/// Every hostile file.
///
/// # Panics
/// If the corpus is not there.
#[must_use]
pub fn hostile() -> Vec<File> {
    let mut list = files("hostile");
    list.retain(|f| f.name.ends_with(".dxbc"));
    assert!(list.len() >= 58, "only {} hostile files", list.len());
    list
}

/// The compute containers among the fixtures that have a `DXIL` part.
#[must_use]
pub fn compute_fixtures() -> Vec<File> {
    let mut list = fixtures();
    list.retain(|f| f.name.contains(".cs_") && f.name.ends_with(".dxil"));
    list
}
