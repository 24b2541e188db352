//! The CUDA driver, loaded at run time: devices, memory, loading PTX, launching kernels.
//!
//! Nothing is linked: [`Driver::load`] looks for the driver's library and answers with an error where there is none. Three
//! layers lie over each other: [`sys`] (handles and entry points), checked calls (every failure an [`Error`] with the entry
//! point's name), and the objects of this module, which own what they stand for, can be dropped in any order and on any
//! thread, and never panic.
//!
//! Safe code cannot make the host's memory unsound, nor a device's buffers be used after they are freed: launches are
//! checked against the kernel's [`Signature`](crate::kernel::Signature), and memory is freed only behind the work that was
//! given it. What that rests on (the kernel's own bounds checks, a handle that somebody else owns) is in the contract of an
//! `unsafe` function.
//!
//! ```no_run
//! use kernite::cuda::{Driver, LoadOptions, Module};
//!
//! let device = Driver::load()?.device(0)?;
//! let context = device.primary_context()?;
//! let stream = context.stream()?;
//! let ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";
//! let module = Module::load(&context, ptx, &LoadOptions::new())?;
//! println!("{}: {:?}", device.name()?, module.function("nothing")?.attributes());
//! stream.synchronize()?;
//! # Ok::<(), kernite::cuda::Error>(())
//! ```
#![allow(unsafe_code)]

pub mod cache;
mod capture;
mod context;
mod cubin;
mod device;
mod driver;
mod function;
mod graph;
mod header;
mod jit;
mod launch;
mod link;
mod memory;
mod module;
mod profile;
mod result;
mod shared;
mod slots;
mod stream;
pub mod sys;

pub use crate::__cuda_args as args;
pub use crate::profile::{Report, ReportRow};
pub use context::{Bound, Context};
pub use device::{Device, DeviceLimits, DriverVersion};
pub use driver::Driver;
pub use function::{Function, FunctionAttributes, SuggestedBlock};
pub use graph::{Graph, GraphBuilder, GraphLaunch};
pub use header::PtxHeader;
pub use jit::{JitError, LoadOptions, Log, Place};
pub use launch::{Arg, ArgumentFault, LaunchConfig, LaunchError, LaunchLimit};
pub use memory::{
    BF16, DeviceBuffer, DeviceSlice, DeviceSliceMut, Element, F16, FreeError, PinnedBuffer,
    UnifiedBuffer,
};
pub(crate) use module::CheckedPtx;
pub use module::Module;
pub use profile::Profile;
pub use result::{Code, DriverError, Error, LoadError, Result, Tried};
pub use stream::{Event, Stream};

/// Public objects go from thread to thread, and are used by several at once.
const _: () = {
    const fn check<T: Send + Sync>() {}
    check::<Driver>();
    check::<Device>();
    check::<Context>();
    check::<Stream>();
    check::<Event>();
    check::<Module>();
    check::<Function>();
    check::<DeviceBuffer<f32>>();
    check::<PinnedBuffer<f32>>();
    check::<UnifiedBuffer<f32>>();
    check::<DeviceSlice<'static, f32>>();
    check::<DeviceSliceMut<'static, f32>>();
    check::<Arg<'static>>();
    check::<Error>();
    check::<GraphBuilder>();
    check::<Graph>();
    check::<Profile>();
    check::<cache::Cache>();
};
