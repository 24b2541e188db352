//! Checked calls: an entry point that is missing or refuses becomes an [`Error`].

mod code;
mod error;

pub use code::Code;
pub use error::{DriverError, Error, LoadError, Result, Tried};

use super::shared::Shared;
use super::sys::{CUdevice, CUresult, Symbols};
use libloading::Library;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};

/// The loaded driver: where it came from and what it can be called with.
pub(crate) struct Api {
    pub symbols: Symbols,
    pub path: PathBuf,
    /// The primary contexts in use, so that a device has one object for it, however often it is asked for.
    pub primaries: Mutex<Vec<(CUdevice, Weak<Shared>)>>,
    /// Never unloaded: the driver keeps threads and thread-local destructors of its own, which would run code that is gone.
    _library: ManuallyDrop<Library>,
}

impl Api {
    /// Loads the library and looks its entry points up. Calls none of them.
    ///
    /// # Safety
    /// Loading the library must be sound: it is the CUDA driver's, or one that behaves as it does.
    pub unsafe fn load(path: &Path) -> core::result::Result<Api, libloading::Error> {
        // SAFETY: the caller's promise.
        let library = unsafe { Library::new(path) }?;
        Ok(Api {
            symbols: Symbols::resolve(&library),
            path: path.into(),
            primaries: Mutex::default(),
            _library: ManuallyDrop::new(library),
        })
    }
}

/// Turns what an entry point returned into a result.
#[inline]
pub(crate) fn check(call: &'static str, result: CUresult) -> Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(Error::driver(call, Code(result)))
    }
}

/// Calls an entry point through [`check`]; one that the driver lacks is [`Error::MissingSymbol`]. Expands to an `unsafe`
/// call, so the caller says why it is sound.
macro_rules! call {
    ($api:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $api.symbols.$name {
            Some(entry) => $crate::cuda::result::check(stringify!($name), entry($($arg),*)),
            None => Err($crate::cuda::result::Error::MissingSymbol(stringify!($name))),
        }
    };
}
pub(crate) use call;
