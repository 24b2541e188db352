//! Tests that are text files: kernels with what must come of them beside them.
//!
//! `filetests/README.kir` describes the format, and is a test itself. A file is read by `format.rs` and carried
//! out by [`check`]; nothing here knows a particular file, so adding a test adds no Rust.

mod check;
mod edit;
mod format;
mod launch;
mod names;

pub use check::{Checked, Failure, check, kernels, refusals};
pub use format::{Directive, File, FormatError, Kind, Ptx, Run, Spirv, Test};
pub use names::readable;

use std::path::{Path, PathBuf};

/// The environment variable that, when `1`, has expectations rewritten.
pub const BLESS: &str = "BLESS";

/// Whether expectations are to be rewritten.
pub fn blessing() -> bool {
    std::env::var_os(BLESS).is_some_and(|v| v == "1")
}

/// The environment variable that says where the files are, for a test that runs on another machine than it was built on.
pub const FOLDER: &str = "KERNITE_FILETESTS";

/// The folder of the files.
pub fn folder() -> PathBuf {
    match std::env::var_os(FOLDER) {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests"),
    }
}

/// Every file of the folder and the folders in it, sorted.
///
/// # Errors
/// A folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(self::files(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
