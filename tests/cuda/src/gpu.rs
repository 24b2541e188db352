//! A real GPU, where there is one.
#![allow(unsafe_code)]

use kernite::cuda::{
    Arg, Context, Device, Driver, Error, Function, Graph, GraphBuilder, GraphLaunch, LaunchConfig,
    Stream,
};
use kernite_testkit::skip;

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

/// `cuLaunchKernel` without kernite's checks, for what they would refuse; its answer.
///
/// # Panics
/// The driver cannot be loaded, which it was before.
pub fn launch_behind_the_checks(context: &Context, function: &Function, threads: u32) -> u32 {
    use kernite::cuda::sys::{CUfunction, CUstream};
    type Launch = unsafe extern "system" fn(
        CUfunction,
        u32,
        u32,
        u32,
        u32,
        u32,
        u32,
        u32,
        CUstream,
        *mut *mut core::ffi::c_void,
        *mut *mut core::ffi::c_void,
    ) -> u32;
    let _bound = context.bind().expect("the context can be made current");
    let names = if cfg!(windows) {
        ["nvcuda.dll"; 2]
    } else {
        ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"]
    };
    // SAFETY: the driver's library, which is loaded already.
    let library = names
        .into_iter()
        .find_map(|name| unsafe { libloading::Library::new(name) }.ok());
    let library = std::mem::ManuallyDrop::new(library.expect("the driver is loaded"));
    // SAFETY: the entry point's own type.
    let launch =
        unsafe { library.get::<Launch>(b"cuLaunchKernel\0") }.expect("every driver launches");
    let none = std::ptr::null_mut();
    // SAFETY: the function has no parameters.
    unsafe {
        launch(
            function.as_raw(),
            1,
            1,
            1,
            threads,
            1,
            1,
            0,
            CUstream::NULL,
            none,
            none,
        )
    }
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
