//! The directory of a cache: who may write it, and how files come and go.

use super::entry::Key;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Why a directory cannot be a cache.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// It cannot be made, found or written.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: Arc<io::Error>,
    },
    /// Somebody else could put files there, which would run on the device.
    #[error("{}: {why}, so that others could put code there", .path.display())]
    Unsafe {
        /// The directory, or one above it.
        path: PathBuf,
        /// Why.
        why: Unsafe,
    },
}

/// Why a directory is not safe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Unsafe {
    /// It belongs to another user.
    OtherOwner,
    /// Its group or everybody may write it.
    Writable,
    /// The system does not say who may write it.
    Unknown,
}

impl core::fmt::Display for Unsafe {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Unsafe::OtherOwner => "it belongs to another user",
            Unsafe::Writable => "its group or everybody may write it",
            Unsafe::Unknown => "this system does not say who may write it",
        })
    }
}

/// What files under construction end in.
const TEMPORARY: &str = "tmp";
const FINISHED: &str = "cubin";

/// A file under construction that is older is of a process that died.
const STALE: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug)]
pub(super) struct Directory {
    pub path: PathBuf,
    pub max_bytes: u64,
}

impl Directory {
    /// Makes the directory where it is not there, for its owner alone.
    pub fn create(path: &Path, max_bytes: u64) -> Result<Directory, CacheError> {
        let made = make(path).and_then(|()| path.canonicalize());
        let path = made.map_err(|error| CacheError::Io {
            path: path.into(),
            error: Arc::new(error),
        })?;
        Ok(Directory { path, max_bytes })
    }

    /// A name for a file under construction that no other thread or process uses.
    fn temporary(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        self.path
            .join(format!("{process}-{next}-{}.{TEMPORARY}", now.as_nanos()))
    }

    /// Fails where others could put files into the directory.
    #[cfg(unix)]
    pub fn check(&self) -> Result<(), CacheError> {
        use std::os::unix::fs::MetadataExt as _;
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| CacheError::Io {
                path,
                error: Arc::new(error),
            }
        };
        // Files that this process makes belong to its user: so the user needs no call that the standard library lacks.
        let probe = self.temporary();
        let made = create_new(&probe)
            .and_then(|file| file.metadata())
            .map(|metadata| metadata.uid());
        let removed = fs::remove_file(&probe);
        let user = made.map_err(io(&self.path))?;
        removed.map_err(io(&self.path))?;
        const ROOT: u32 = 0;
        const STICKY: u32 = 0o1000;
        for (depth, path) in self.path.ancestors().enumerate() {
            let metadata = fs::symlink_metadata(path).map_err(io(path))?;
            let fault = |why| CacheError::Unsafe {
                path: path.into(),
                why,
            };
            let owner = metadata.uid();
            if owner != user && (depth == 0 || owner != ROOT) {
                return Err(fault(Unsafe::OtherOwner));
            }
            // In a directory above that others may write, the sticky bit keeps them from exchanging what is ours.
            let writable = metadata.mode() & 0o022 != 0;
            if writable && (depth == 0 || metadata.mode() & STICKY == 0) {
                return Err(fault(Unsafe::Writable));
            }
        }
        Ok(())
    }

    /// Fails: the standard library does not tell here who may write a directory.
    #[cfg(not(unix))]
    pub fn check(&self) -> Result<(), CacheError> {
        Err(CacheError::Unsafe {
            path: self.path.clone(),
            why: Unsafe::Unknown,
        })
    }

    /// The code of a key, if a whole file of it is there.
    pub fn read(&self, key: &Key) -> Option<Vec<u8>> {
        let path = self.path.join(key.file_name());
        let metadata = fs::symlink_metadata(&path).ok()?;
        // No more is read than the cache may hold.
        if !metadata.is_file() || metadata.len() > self.max_bytes {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(&path)
            .ok()?
            .take(self.max_bytes)
            .read_to_end(&mut bytes)
            .ok()?;
        let code = key.decode(&bytes)?.to_vec();
        // Used now, so that it stays. Where the time cannot be set the entry goes earlier.
        if let Ok(file) = OpenOptions::new().append(true).open(&path) {
            let _ = file.set_modified(SystemTime::now());
        }
        Some(code)
    }

    /// Keeps code under a key, and takes old entries away where there are too many bytes. Whether it is kept.
    pub fn write(&self, key: &Key, code: &[u8]) -> bool {
        let bytes = key.encode(code);
        if bytes.len() as u64 > self.max_bytes {
            return false;
        }
        let temporary = self.temporary();
        let name = key.file_name();
        let written = create_new(&temporary)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&temporary, self.path.join(&name)));
        if written.is_err() {
            // It may never have been made.
            let _ = fs::remove_file(&temporary);
            return false;
        }
        self.shrink(&name);
        true
    }

    /// Takes the entries away that were not used for the longest time until what is left fits, all but the one named.
    /// Another process may do the same at the same time: what is gone already is gone.
    fn shrink(&self, keep: &str) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        let now = SystemTime::now();
        let mut files = Vec::new();
        let mut total = 0u64;
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let path = entry.path();
            let extension = path.extension().and_then(|e| e.to_str());
            let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_file = metadata.is_file();
            if is_file && extension == Some(FINISHED) {
                total = total.saturating_add(metadata.len());
                if entry.file_name() != keep {
                    files.push((modified, metadata.len(), path));
                }
            } else if is_file
                && extension == Some(TEMPORARY)
                && now.duration_since(modified).is_ok_and(|age| age > STALE)
            {
                let _ = fs::remove_file(path);
            }
        }
        files.sort();
        for (_, len, path) in files {
            if total <= self.max_bytes {
                break;
            }
            let _ = fs::remove_file(path);
            total = total.saturating_sub(len);
        }
    }
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// Makes a file that was not there, for its owner alone.
fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}
