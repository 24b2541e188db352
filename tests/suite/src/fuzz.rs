//! Fuzz bodies: plain functions over bytes, run briefly by the tests and at length by whoever likes.

use crate::choices::Choices;
use crate::generate::{self, Config};
use kernite::kernel::Kernel;
use kernite::reference::{Arg, Buffer, Executor, Launch, Options as RunOptions};
use kernite::types::Const;
use kernite::{kernel::ParamRef, ptx, spirv, text};

/// Any bytes: `from_bytes` gives an error, or a kernel that every emitter takes without a panic, whose SPIR-V is valid,
/// and that prints, reads back and stores as the same bytes. Whether the bytes were a kernel.
///
/// # Panics
/// Where one of that does not hold.
pub fn kernel_bytes(bytes: &[u8]) -> bool {
    let Ok(kernel) = Kernel::from_bytes(bytes) else {
        return false;
    };
    assert_eq!(kernel.to_bytes(), bytes, "the form is canonical");
    emit(&kernel);
    true
}

/// Any bytes: the text form gives an error, or kernels that print as what reads back to them.
///
/// # Panics
/// Where that does not hold.
pub fn kernel_text(bytes: &[u8]) -> bool {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Ok(kernels) = text::parse(source) else {
        return false;
    };
    kernels.iter().for_each(emit);
    true
}

/// Any decisions give a kernel that verifies and emits.
///
/// # Panics
/// Where they do not.
pub fn builder(decisions: &[u32]) {
    let kernel = generate::kernel("k", &mut Choices::new(decisions), Config::default());
    emit(&kernel.unwrap_or_else(|e| panic!("{e}")));
}

/// What must hold for every kernel.
fn emit(kernel: &Kernel) {
    let printed = kernel.to_string();
    match text::parse(&printed).as_deref() {
        Ok([read]) => assert_eq!(read.to_bytes(), kernel.to_bytes(), "{printed}"),
        other => panic!("{other:?}\n{printed}"),
    }
    // Limits and targets may refuse it; that is no fault.
    let mut code = Vec::new();
    let _ = ptx::Emitter::new().emit(kernel, &ptx::Options::default(), &mut code);
    let mut options = spirv::Options::default();
    options.dynamic_shared_len = Some(16);
    let mut words = Vec::new();
    if spirv::Emitter::new()
        .emit(kernel, &options, &mut words)
        .is_ok()
    {
        let verdict = spirv::Validator::new().words(&words);
        assert!(verdict.is_valid(), "{verdict}\n{printed}");
    }
    let _ = kernel.signature().to_string();
}

/// Runs a kernel twice on the reference executor on made-up arguments, for a short while: it never panics, and what it
/// computes or reports is the same both times.
///
/// # Panics
/// Where that does not hold.
pub fn differential(kernel: &Kernel) {
    let mut options = RunOptions::default();
    options.step_limit = 20_000;
    options.limits.scratch_bytes = 1 << 26;
    let args = || -> Option<Vec<Arg>> {
        kernel
            .params()
            .iter()
            .map(|param| match *param {
                ParamRef::Buffer(n) => {
                    let elem = kernel.buffers().get(n as usize)?.elem;
                    let bytes: Vec<u8> = (0..64 * elem.bytes()).map(|i| (i * 7) as u8).collect();
                    Some(Arg::Buffer(Buffer::from_bytes(elem, &bytes).ok()?))
                }
                ParamRef::Scalar(n) => {
                    let ty = kernel.scalars().get(n as usize)?.ty;
                    Const::new(ty, 1).map(Arg::Scalar)
                }
            })
            .collect()
    };
    let run = |mut args: Vec<Arg>| {
        let dynamic = kernel.signature().dynamic_shared.map_or(0, |_| 16);
        let launch = Launch::new([2, 1, 1]).dynamic_shared(dynamic);
        let result = Executor::new(options).run(kernel, launch, &mut args);
        (format!("{result:?}"), args)
    };
    if let (Some(first), Some(second)) = (args(), args()) {
        assert_eq!(run(first), run(second));
    }
}
