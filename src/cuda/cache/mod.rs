//! A cache of machine code on disk, so that a program assembles a PTX text once and not at each start.
//!
//! An entry is found by everything that its code depends on: the whole text, the options, this crate's version, the
//! driver's, and the device's name and architecture. All of that stands in the file and is compared, so a hash that
//! happens to be the same does no harm. Files are written under another name and then renamed, so that several processes
//! can share a directory; one that is cut off, damaged or foreign is passed over and written anew. When the files together
//! pass a bound, those that were not used for the longest time go.
//!
//! The device trusts machine code, so a directory is used only if nobody but its owner can put files there
//! ([`Cache::open`]).

mod directory;
mod entry;

pub use directory::{CacheError, Unsafe};

use super::jit::LoadOptions;
use super::result::{Result, call};
use super::{Context, Module};
use core::ffi::{c_char, c_int};
use directory::Directory;
use entry::Key;
use std::path::Path;

/// A directory of cubins.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: Directory,
}

/// Where a module's code came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Source {
    /// From the cache.
    Cache,
    /// Assembled, and kept in the cache.
    Assembled,
    /// Assembled, and not kept: the directory could not be written.
    NotKept,
}

impl Cache {
    /// The bound that holds until [`Cache::with_max_bytes`] sets another: 256 MiB.
    pub const DEFAULT_MAX_BYTES: u64 = 256 << 20;

    /// Opens a directory, and makes it where it is not there, for its owner alone.
    ///
    /// # Errors
    /// [`CacheError::Io`], and [`CacheError::Unsafe`] where somebody else could put files there: the directory or one above
    /// it belongs to another user or can be written by others, or the system (Windows) does not tell. Such a directory needs
    /// [`Cache::open_unchecked`].
    pub fn open(path: impl AsRef<Path>) -> core::result::Result<Cache, CacheError> {
        let directory = Directory::create(path.as_ref(), Cache::DEFAULT_MAX_BYTES)?;
        directory.check()?;
        Ok(Cache { directory })
    }

    /// Opens a directory without looking at who can write it.
    ///
    /// # Safety
    /// Nobody puts files there, now or while the cache is used, but processes that use it through this module: what is found
    /// there runs on the device.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub unsafe fn open_unchecked(
        path: impl AsRef<Path>,
    ) -> core::result::Result<Cache, CacheError> {
        let directory = Directory::create(path.as_ref(), Cache::DEFAULT_MAX_BYTES)?;
        Ok(Cache { directory })
    }

    /// Sets how many bytes all files together may have. A single entry larger than that is not kept.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Cache {
        self.directory.max_bytes = bytes;
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.directory.path
    }

    /// Loads a PTX text, by way of the cache. What goes wrong with the cache itself is no error: the text is assembled.
    ///
    /// A module from the cache has no information log.
    ///
    /// # Errors
    /// As [`Module::load`].
    pub fn load(
        &self,
        context: &Context,
        ptx: &str,
        options: &LoadOptions,
    ) -> Result<(Module, Source)> {
        let device = device_name(context)?;
        let shared = &context.shared;
        let key = Key::new(&device, shared.version, shared.capability, options, ptx);
        if let Some(cubin) = self.directory.read(&key) {
            // SAFETY: nobody but users of this module writes the directory: it was checked, or promised. So the bytes are
            // what the driver's assembler made of this text for this device.
            if let Ok(module) = unsafe { Module::load_cubin(context, &cubin, options) } {
                return Ok((module, Source::Cache));
            }
            // The driver does not take its own code back: assembled anew.
        }
        let cubin = context.assemble(ptx, options)?;
        let kept = self.directory.write(&key, &cubin);
        // SAFETY: as the driver's assembler has just made it.
        let module = unsafe { Module::load_cubin(context, &cubin, options) }?;
        Ok((
            module,
            if kept {
                Source::Assembled
            } else {
                Source::NotKept
            },
        ))
    }
}

fn device_name(context: &Context) -> Result<Vec<u8>> {
    let shared = &context.shared;
    let mut bytes = [0u8; 256];
    let (to, room) = (bytes.as_mut_ptr().cast::<c_char>(), bytes.len() as c_int);
    // SAFETY: the buffer is live and as long as the call is told.
    unsafe { call!(shared.api, cuDeviceGetName(to, room, shared.device)) }?;
    Ok(bytes.iter().copied().take_while(|&b| b != 0).collect())
}
