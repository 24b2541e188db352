//! A real GPU, where there is one.
#![allow(unsafe_code)]

use core::ffi::c_void;
use kernite::cuda::sys::{CUfunction, CUstream};
use kernite::cuda::{
    Arg, Context, Device, Driver, Error, Function, Graph, GraphBuilder, GraphLaunch, LaunchConfig,
    Stream,
};
use kernite_testkit::skip;
use std::process::Command;

/// Device 0, or a counted skip.
///
/// # Panics
/// There is none and `KERNITE_REQUIRE_GPU` is 1, or there is one and it does not work.
pub fn device() -> Option<Device> {
    let driver = match Driver::load() {
        Ok(driver) => driver,
        Err(error) => {
            skip::no_gpu(&error.to_string());
            return None;
        }
    };
    if driver
        .device_count()
        .expect("the driver counts its devices")
        == 0
    {
        skip::no_gpu("the driver has no devices");
        return None;
    }
    Some(driver.device(0).expect("device 0 answers"))
}

/// Its primary context, or a counted skip.
///
/// # Panics
/// As [`device`].
pub fn context() -> Option<Context> {
    device().map(|device| device.primary_context().expect("the device has a context"))
}

/// Prints a line that the page of the GPU tests' last run shows.
pub fn note(text: &str) {
    println!("NOTE {text}");
}

/// Launches one of this workspace's own kernels.
///
/// # Errors
/// As [`Function::launch_unchecked`].
pub fn launch(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
    args: &[Arg<'_>],
) -> Result<(), Error> {
    // SAFETY: the kernels of these tests access their buffers below the lengths that they are given, but for those that
    // run in a process of their own to see what happens when they do not.
    unsafe { function.launch_unchecked(stream, config, args) }
}

/// Launches one of this crate's own kernels that takes no arguments, without a signature.
///
/// # Errors
/// As [`Function::launch_raw`].
pub fn launch_raw(
    function: &Function,
    stream: &Stream,
    config: &LaunchConfig,
) -> Result<(), Error> {
    // SAFETY: there are no parameters, and the kernels access nothing of the host's.
    unsafe { function.launch_raw(stream, config, &mut []) }
}

/// The driver's own `cuLaunchKernel`, without kernite.
pub struct RawLaunch(RawLaunchFn);

type RawLaunchFn = unsafe extern "system" fn(
    CUfunction,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    CUstream,
    *mut *mut c_void,
    *mut *mut c_void,
) -> u32;

impl RawLaunch {
    /// # Panics
    /// The driver cannot be loaded, which it was before.
    pub fn new() -> RawLaunch {
        // Never unloaded, since the entry point outlives this.
        let library = library();
        // SAFETY: the entry point's own type.
        let launch = unsafe { library.get::<RawLaunchFn>(b"cuLaunchKernel\0") };
        RawLaunch(*launch.expect("every driver launches"))
    }

    /// Launches one of this workspace's own kernels in the context that is current; the driver's answer.
    ///
    /// # Panics
    /// There are fewer values than the function has parameters, as far as its signature tells.
    #[inline]
    pub fn launch(
        &self,
        function: &Function,
        stream: CUstream,
        [gx, gy, gz]: [u32; 3],
        [bx, by, bz]: [u32; 3],
        values: &mut [*mut c_void],
    ) -> u32 {
        let parameters = function
            .signature()
            .map_or(0, |s| s.params.len() + s.lengths.len());
        assert!(values.len() >= parameters);
        let (none, values) = (std::ptr::null_mut(), values.as_mut_ptr());
        // SAFETY: there is a pointer for each parameter, to what the tests' kernels take there.
        unsafe {
            (self.0)(
                function.as_raw(),
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                0,
                stream,
                values,
                none,
            )
        }
    }
}

impl Default for RawLaunch {
    fn default() -> Self {
        RawLaunch::new()
    }
}

/// A launch of a kernel without parameters that kernite's checks would refuse; the driver's answer.
///
/// # Panics
/// As [`RawLaunch::new`].
pub fn launch_behind_the_checks(context: &Context, function: &Function, threads: u32) -> u32 {
    let _bound = context.bind().expect("the context can be made current");
    let block = [threads, 1, 1];
    RawLaunch::new().launch(function, CUstream::NULL, [1; 3], block, &mut [])
}

/// `cuStreamSynchronize` without kernite's checks, as another library calls it; its answer.
///
/// # Panics
/// As [`launch_behind_the_checks`].
pub fn synchronize_behind_the_checks(stream: &Stream) -> u32 {
    type Synchronize = unsafe extern "system" fn(CUstream) -> u32;
    let context = stream.context();
    let _bound = context.bind().expect("the context can be made current");
    let library = library();
    // SAFETY: the entry point's own type.
    let synchronize = unsafe { library.get::<Synchronize>(b"cuStreamSynchronize\0") };
    let synchronize = synchronize.expect("every driver synchronises");
    // SAFETY: the stream is alive.
    unsafe { synchronize(stream.as_raw()) }
}

/// The driver's library, which stays loaded.
fn library() -> std::mem::ManuallyDrop<libloading::Library> {
    let names = if cfg!(windows) {
        ["nvcuda.dll"; 2]
    } else {
        ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]
    };
    // SAFETY: the driver's library, which is loaded already.
    let library = names
        .into_iter()
        .find_map(|name| unsafe { libloading::Library::new(name) }.ok());
    std::mem::ManuallyDrop::new(library.expect("the driver is loaded"))
}

/// Adds a launch of one of this crate's own kernels to a graph.
///
/// # Errors
/// As [`GraphBuilder::launch_unchecked`].
pub fn graph_launch(
    graph: &mut GraphBuilder,
    function: &Function,
    config: &LaunchConfig,
    args: &[Arg<'_>],
) -> Result<GraphLaunch, Error> {
    // SAFETY: as in `launch`.
    unsafe { graph.launch_unchecked(function, config, args) }
}

/// Exchanges the arguments of one of this crate's own kernels in a graph.
///
/// # Errors
/// As [`Graph::set_launch_unchecked`].
pub fn graph_set_launch(
    graph: &mut Graph,
    launch: GraphLaunch,
    config: &LaunchConfig,
    args: &[Arg<'_>],
) -> Result<(), Error> {
    // SAFETY: as in `launch`.
    unsafe { graph.set_launch_unchecked(launch, config, args) }
}

/// The environment variable that tells a child process which test it is for.
const CHILD: &str = "KERNITE_GPU_CHILD";

/// Whether this process was started by [`in_a_process_of_its_own`] for this test.
pub fn is_child(test: &str) -> bool {
    std::env::var(CHILD).is_ok_and(|value| value == test)
}

/// Runs the test of this name in a process of its own, where [`is_child`] is true, with more in its environment, and gives
/// what it printed.
///
/// # Panics
/// It does not end well.
pub fn in_a_process_of_its_own(test: &str, environment: &[(&str, &str)]) -> String {
    let binary = std::env::current_exe().expect("a test knows its path");
    let output = Command::new(binary)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .envs(environment.iter().copied())
        .output()
        .expect("the test starts again");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{test} in its own process:\n{text}"
    );
    text.into_owned()
}
