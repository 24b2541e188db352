//! A fake driver for a test of its own.
#![allow(unsafe_code)]

use kernite::cuda::{
    Arg, Context, DeviceSlice, DeviceSliceMut, Driver, Error, Function, LaunchConfig, LoadOptions,
    Module, Stream,
};
use kernite::kernel::Signature;
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

// Makes Cargo build the library.
use kernite_fake_driver as _;

/// A copy of the fake driver, loaded. Its books are its own.
pub struct Fake {
    library: Library,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

/// Where Cargo put the library.
fn built() -> PathBuf {
    let name = format!(
        "{}kernite_fake_driver{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let binary = std::env::current_exe().expect("a test knows its path");
    let folders = binary.ancestors().skip(1).take(3);
    let mut places =
        folders.flat_map(|folder| [folder.join(&name), folder.join("deps").join(&name)]);
    places
        .find(|place| place.is_file())
        .unwrap_or_else(|| panic!("{name} is not beside {}", binary.display()))
}

/// The bytes of the library without some of its entry points: the names are spoilt where the loader looks them up.
fn without(mut bytes: Vec<u8>, missing: &[&str]) -> Vec<u8> {
    for name in missing {
        let needle: Vec<u8> = [0].into_iter().chain(name.bytes()).chain([0]).collect();
        let places: Vec<usize> = (0..bytes.len().saturating_sub(needle.len()))
            .filter(|&at| bytes[at..].starts_with(&needle))
            .collect();
        assert!(!places.is_empty(), "the fake driver has no {name}");
        for at in places {
            bytes[at + 1] = b'x';
        }
    }
    bytes
}

impl Fake {
    /// A fresh driver that has everything.
    pub fn new() -> Fake {
        Fake::without(&[])
    }

    /// A fresh driver that lacks some entry points.
    pub fn without(missing: &[&str]) -> Fake {
        Fake::named("libcuda.so.1", missing)
    }

    /// The same under another file name.
    pub fn named(name: &str, missing: &[&str]) -> Fake {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        let bytes = std::fs::read(built()).expect("the library can be read");
        std::fs::write(&path, without(bytes, missing)).expect("a temporary file");
        // SAFETY: our own library, which does nothing when it is loaded.
        let library = unsafe { Library::new(&path) }.expect("the fake driver loads");
        Fake {
            library,
            path,
            _folder: folder,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// kernite's view of it.
    pub fn load(&self) -> Result<Driver, Error> {
        // SAFETY: it behaves as the driver does.
        unsafe { Driver::load_from(&self.path) }
    }

    /// The driver, for tests in which loading cannot fail.
    pub fn driver(&self) -> Driver {
        self.load().expect("the fake driver works")
    }

    /// The primary context of device 0.
    pub fn context(&self) -> Context {
        let device = self.driver().device(0).expect("there is a device");
        device.primary_context().expect("it has a context")
    }

    /// Launches a kernel whose accesses are not checked; nothing runs here, so it accesses nothing.
    pub fn launch(
        &self,
        function: &Function,
        stream: &Stream,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        // SAFETY: the fake driver runs nothing.
        unsafe { function.launch_unchecked(stream, config, args) }
    }

    /// A kernel as if it had been emitted with checked bounds; nothing runs here, so it accesses nothing.
    pub fn checked_kernel(
        &self,
        module: &Module,
        name: &str,
        signature: &Signature,
    ) -> Result<Function, Error> {
        // SAFETY: the fake driver runs nothing.
        unsafe { module.checked_kernel(name, signature) }
    }

    fn call<T, R>(&self, name: &str, act: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the callers below name each function with its type, as `control.rs` of the driver defines it.
        let function = unsafe { self.library.get::<T>(name.as_bytes()) };
        act(&function.unwrap_or_else(|error| panic!("{error}")))
    }

    /// Lets a call fail, after `after` that do not.
    pub fn inject(&self, name: &str, after: u32, code: u32) {
        type F = unsafe extern "system" fn(*const u8, usize, u32, u32);
        // SAFETY: the parts of a text.
        self.call("fake_inject", |f: &F| unsafe {
            f(name.as_ptr(), name.len(), after, code)
        });
    }

    /// Failures asked for that have not come.
    pub fn pending(&self) -> usize {
        type F = unsafe extern "system" fn() -> usize;
        // SAFETY: no arguments.
        self.call("fake_pending", |f: &F| unsafe { f() })
    }

    /// Sets a number; see the driver's `control.rs`.
    pub fn set(&self, name: &str, value: i64) {
        type F = unsafe extern "system" fn(*const u8, usize, i64);
        // SAFETY: the parts of a text.
        self.call("fake_set", |f: &F| unsafe {
            f(name.as_ptr(), name.len(), value)
        });
    }

    /// Work on the device fails from now on.
    pub fn fail(&self, code: u32) {
        type F = unsafe extern "system" fn(u32);
        // SAFETY: a number.
        self.call("fake_fail", |f: &F| unsafe { f(code) });
    }

    /// Begins books afresh, which is faster than another copy. Nothing made through the driver may be left.
    pub fn reset(&self) {
        type F = unsafe extern "system" fn();
        // SAFETY: no arguments.
        self.call("fake_reset", |f: &F| unsafe { f() });
    }

    /// All work is over.
    pub fn complete(&self) {
        type F = unsafe extern "system" fn();
        // SAFETY: no arguments.
        self.call("fake_complete", |f: &F| unsafe { f() });
    }

    /// Calls return at once.
    pub fn fast(&self, on: bool) {
        type F = unsafe extern "system" fn(bool);
        // SAFETY: a truth value.
        self.call("fake_fast", |f: &F| unsafe { f(on) });
    }

    /// Another library's context.
    pub fn foreign_context(&self, device: i32) -> kernite::cuda::sys::CUcontext {
        type F = unsafe extern "system" fn(i32) -> usize;
        // SAFETY: a number.
        let handle = self.call("fake_foreign_context", |f: &F| unsafe { f(device) });
        kernite::cuda::sys::CUcontext(std::ptr::without_provenance_mut(handle))
    }

    /// The thread's current context and the depth of its stack.
    pub fn current(&self) -> (usize, usize) {
        type F = unsafe extern "system" fn(&mut usize) -> usize;
        let mut depth = 0;
        // SAFETY: a live integer.
        let current = self.call("fake_current", |f: &F| unsafe { f(&mut depth) });
        (current, depth)
    }

    /// Makes another library's context current on this thread, as that library would.
    pub fn push(&self, context: kernite::cuda::sys::CUcontext) {
        type F = unsafe extern "system" fn(kernite::cuda::sys::CUcontext) -> u32;
        let code = self.call("cuCtxPushCurrent_v2", |f: &F| {
            // SAFETY: the driver's own entry point, with its type.
            unsafe { f(context) }
        });
        assert_eq!(code, 0);
    }

    /// A stream that another library makes in the current context.
    pub fn foreign_stream(&self) -> kernite::cuda::sys::CUstream {
        type F = unsafe extern "system" fn(&mut kernite::cuda::sys::CUstream, u32) -> u32;
        let mut stream = kernite::cuda::sys::CUstream::NULL;
        let code = self.call("cuStreamCreate", |f: &F| {
            // SAFETY: the driver's own entry point, with its type.
            unsafe { f(&mut stream, 1) }
        });
        assert_eq!(code, 0);
        stream
    }

    /// The driver's own `cuLaunchKernel`, without kernite. Only for kernels of the fake driver, which runs nothing.
    pub fn raw_launch(
        &self,
    ) -> impl Fn(&Function, &Stream, [u32; 3], [u32; 3], &mut [*mut c_void]) -> u32 {
        type F = unsafe extern "system" fn(
            kernite::cuda::sys::CUfunction,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            u32,
            kernite::cuda::sys::CUstream,
            *mut *mut c_void,
            *mut *mut c_void,
        ) -> u32;
        let launch = self.call("cuLaunchKernel", |f: &F| *f);
        move |function, stream, [gx, gy, gz], [bx, by, bz], params| {
            let none = std::ptr::null_mut();
            let (function, stream) = (function.as_raw(), stream.as_raw());
            // SAFETY: the caller passes a pointer for each parameter; the fake driver reads no more.
            unsafe {
                launch(
                    function,
                    gx,
                    gy,
                    gz,
                    bx,
                    by,
                    bz,
                    0,
                    stream,
                    params.as_mut_ptr(),
                    none,
                )
            }
        }
    }

    fn text(&self, name: &str) -> String {
        type F = unsafe extern "system" fn(*mut u8, usize) -> usize;
        let mut buffer = vec![0u8; 1 << 16];
        loop {
            // SAFETY: a buffer of the length passed.
            let len = self.call(name, |f: &F| unsafe {
                f(buffer.as_mut_ptr(), buffer.len())
            });
            if len <= buffer.len() {
                buffer.truncate(len);
                return String::from_utf8(buffer).expect("the driver answers in text");
            }
            buffer.resize(len, 0);
        }
    }

    /// The calls since the last answer, without those that only look for the current context.
    pub fn log(&self) -> Vec<String> {
        let text = self.text("fake_log");
        let lines = text.lines().filter(|line| {
            let about_context = ["cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent"];
            !about_context.iter().any(|name| line.starts_with(name))
        });
        lines.map(str::to_owned).collect()
    }

    /// The names of the calls since the last answer, as [`Fake::log`].
    pub fn calls(&self) -> Vec<String> {
        let lines = self
            .log()
            .into_iter()
            .filter(|line| !line.starts_with("arguments"));
        lines
            .map(|line| line.split('(').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// Every call since the last answer, by name.
    pub fn all_calls(&self) -> Vec<String> {
        let text = self.text("fake_log");
        let lines = text.lines().filter(|line| !line.starts_with("arguments"));
        lines
            .map(|line| line.split('(').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// What is alive, by kind.
    pub fn live(&self) -> BTreeMap<String, usize> {
        let text = self.text("fake_live");
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines
            .map(|(kind, count)| (kind.to_owned(), count.parse().expect("a number")))
            .collect()
    }

    /// What a real driver would have let pass into undefined behaviour.
    pub fn violations(&self) -> Vec<String> {
        self.text("fake_violations")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Nothing is alive, nothing went wrong, and this thread has no context left over.
    #[track_caller]
    pub fn assert_clean(&self) {
        assert_eq!(self.violations(), [""; 0]);
        assert_eq!(self.live(), BTreeMap::new());
        assert_eq!(self.current().1, 0, "contexts are left on the stack");
    }
}

impl Default for Fake {
    fn default() -> Fake {
        Fake::new()
    }
}

/// A number that no other call in this process gets, for names.
pub fn unique() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Adopts a context of the fake driver's.
pub fn adopt_context(
    driver: &Driver,
    raw: kernite::cuda::sys::CUcontext,
) -> Result<Context, Error> {
    // SAFETY: the fake driver's contexts stay.
    unsafe { Context::from_raw(driver, raw) }
}

/// Adopts a stream of the fake driver's.
pub fn adopt_stream(context: &Context, raw: kernite::cuda::sys::CUstream) -> Result<Stream, Error> {
    // SAFETY: the tests destroy no stream that they adopt.
    unsafe { Stream::from_raw(context, raw) }
}

/// Adopts memory of the fake driver's.
pub fn adopt_slice<T: bytemuck::Pod>(
    context: &Context,
    ptr: u64,
    len: usize,
) -> Result<DeviceSlice<'_, T>, Error> {
    // SAFETY: the fake driver checks every access, and its memory stays.
    unsafe { DeviceSlice::from_raw(context, ptr, len) }
}

/// Adopts memory of the fake driver's, to be written.
pub fn adopt_slice_mut<T: bytemuck::Pod>(
    context: &Context,
    ptr: u64,
    len: usize,
) -> Result<DeviceSliceMut<'_, T>, Error> {
    // SAFETY: as in `adopt_slice`.
    unsafe { DeviceSliceMut::from_raw(context, ptr, len) }
}

/// Launches a kernel without parameters.
pub fn launch_raw(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
) -> Result<(), Error> {
    // SAFETY: there are no parameters, and the fake driver runs nothing.
    unsafe { function.launch_raw(stream, config, &mut []) }
}

/// Loads bytes as a cubin.
pub fn load_cubin(context: &Context, bytes: &[u8]) -> Result<Module, Error> {
    // SAFETY: the fake driver looks at nothing but the text behind the header.
    unsafe { Module::load_cubin(context, bytes, &LoadOptions::new()) }
}
