//! The driver: where everything begins.

use super::result::{Api, Code, Error, LoadError, Result, Tried, call};
use super::sys::{CUdevice, Environment, Symbols, candidates};
use super::{Device, DriverVersion};
use core::ffi::c_int;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The CUDA driver, loaded and initialised.
///
/// Cheap to clone; everything made through it keeps it. The library is never unloaded.
#[derive(Clone)]
pub struct Driver {
    pub(crate) api: Arc<Api>,
    version: DriverVersion,
}

impl Driver {
    /// Loads the system's driver and initialises it (`cuInit`).
    ///
    /// Looks where [`candidates`] says, and uses the first library that works. Nothing is cached: a call after a failure
    /// looks again.
    ///
    /// # Errors
    /// [`Error::Load`]: no library ([`LoadError::NotFound`], with all that was tried), the toolkit's stub, or what the
    /// first one found answered. A machine without a GPU is no panic and no abort.
    ///
    /// ```
    /// use kernite::cuda::Driver;
    /// match Driver::load() {
    ///     Ok(driver) => println!("{} device(s), CUDA {}", driver.device_count()?, driver.version()),
    ///     Err(error) => println!("no CUDA here: {error}"),
    /// }
    /// # Ok::<(), kernite::cuda::Error>(())
    /// ```
    pub fn load() -> Result<Driver> {
        // SAFETY: the candidates are the names under which a system keeps the CUDA driver, or a library that whoever set
        // this process's environment vouches for, as they do for every library the loader finds.
        unsafe { Driver::load_first(&candidates(&Environment::current())) }
    }

    /// Loads the library at a path, or by a name as the system's loader looks it up, and initialises it.
    ///
    /// # Safety
    /// The library is the CUDA driver's, or behaves as it does.
    ///
    /// # Errors
    /// As [`Driver::load`].
    pub unsafe fn load_from(library: impl AsRef<Path>) -> Result<Driver> {
        // SAFETY: the caller's promise.
        unsafe { Driver::load_first(&[library.as_ref().to_path_buf()]) }
    }

    /// Uses the first library that can be loaded and initialised.
    ///
    /// # Safety
    /// As [`Driver::load_from`], for each.
    unsafe fn load_first(libraries: &[PathBuf]) -> Result<Driver> {
        let mut tried = Vec::new();
        let mut first = None;
        for library in libraries {
            // SAFETY: the caller's promise.
            match unsafe { Api::load(library) } {
                Err(error) => tried.push(Tried {
                    name: library.clone(),
                    reason: error.to_string(),
                }),
                Ok(api) => match Driver::initialise(api) {
                    Ok(driver) => return Ok(driver),
                    Err(error) => {
                        first.get_or_insert(error);
                    }
                },
            }
        }
        Err(first.unwrap_or(LoadError::NotFound { tried }).into())
    }

    fn initialise(api: Api) -> core::result::Result<Driver, LoadError> {
        let library = api.path.clone();
        let fail = |error: Error| match error {
            Error::MissingSymbol(symbol) => LoadError::NotADriver {
                library: library.clone(),
                symbol,
            },
            other => match (other.call(), other.code()) {
                (_, Some(Code::STUB_LIBRARY)) => LoadError::StubLibrary {
                    library: library.clone(),
                },
                (call, code) => LoadError::Init {
                    library: library.clone(),
                    call: call.unwrap_or("cuInit"),
                    code: code.unwrap_or(Code::UNKNOWN),
                },
            },
        };
        // SAFETY: `cuInit` takes flags that must be 0, and may be called any number of times, from any thread.
        unsafe { call!(api, cuInit(0)) }.map_err(&fail)?;
        let mut version: c_int = 0;
        // SAFETY: the pointer is to a live integer, which the call fills.
        unsafe { call!(api, cuDriverGetVersion(&mut version)) }.map_err(&fail)?;
        Ok(Driver {
            api: Arc::new(api),
            version: DriverVersion(u32::try_from(version).unwrap_or(0)),
        })
    }

    /// The newest CUDA release that the driver supports.
    pub fn version(&self) -> DriverVersion {
        self.version
    }

    /// The library that was loaded, as it was named to the system's loader.
    pub fn library(&self) -> &Path {
        &self.api.path
    }

    /// Whether the driver has an entry point that this crate may call; `false` for names it never calls.
    pub fn has(&self, symbol: &str) -> bool {
        self.api.symbols.has(symbol) == Some(true)
    }

    /// Demands an entry point.
    ///
    /// # Errors
    /// [`Error::MissingSymbol`] when the driver lacks it, [`Error::Unsupported`] for a name that this crate never calls.
    pub fn require(&self, symbol: &str) -> Result<()> {
        match Symbols::NAMES.iter().find(|name| **name == symbol) {
            None => Err(Error::Unsupported(
                "an entry point that this crate never calls",
            )),
            Some(_) if self.has(symbol) => Ok(()),
            Some(name) => Err(Error::MissingSymbol(name)),
        }
    }

    /// The number of devices. 0 is no error.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn device_count(&self) -> Result<u32> {
        let mut count: c_int = 0;
        // SAFETY: the pointer is to a live integer, which the call fills.
        match unsafe { call!(self.api, cuDeviceGetCount(&mut count)) } {
            Err(error) if error.code() == Some(Code::NO_DEVICE) => Ok(0),
            other => other.map(|()| u32::try_from(count).unwrap_or(0)),
        }
    }

    /// The device of a number below [`Driver::device_count`].
    ///
    /// # Errors
    /// [`Code::INVALID_DEVICE`] for a number too high, [`Code::NO_DEVICE`] where there is none, and what else the driver
    /// answers.
    pub fn device(&self, ordinal: u32) -> Result<Device> {
        let Ok(ordinal) = c_int::try_from(ordinal) else {
            return Err(Error::driver("cuDeviceGet", Code::INVALID_DEVICE));
        };
        let mut raw: CUdevice = 0;
        // SAFETY: the pointer is to a live device number, which the call fills; any ordinal may be asked for.
        unsafe { call!(self.api, cuDeviceGet(&mut raw, ordinal)) }?;
        Device::new(self.clone(), raw)
    }

    /// Every device.
    ///
    /// # Errors
    /// As [`Driver::device`].
    pub fn devices(&self) -> Result<Vec<Device>> {
        (0..self.device_count()?).map(|n| self.device(n)).collect()
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("library", &self.library())
            .field("version", &self.version)
            .finish()
    }
}
