//! Failures of work on a GPU, each in a process of its own, since they lose the context.
#![forbid(unsafe_code)]

use kernite::cuda::{Code, Error, LoadOptions, args};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels;

fn in_its_own(test: &str) {
    gpu::in_a_process_of_its_own(test, &[]);
}

#[test]
fn a_wild_store_loses_the_context() {
    let Some(context) = gpu::context() else {
        return;
    };
    if !gpu::is_child("a_wild_store_loses_the_context") {
        return in_its_own("a_wild_store_loses_the_context");
    }
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::wild_store(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(1).unwrap();
    let mut data = context.upload(&[0u32; 4]).unwrap();
    let kept = context.upload(&[1u8; 100]).unwrap();
    let pinned = context.pinned::<u8>(100).unwrap();
    gpu::launch(&function, &stream, &config, &args![&mut data, 1u64 << 44]).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS));
    let text = error.to_string();
    assert!(
        text.contains("reported late") && text.contains("wild_store"),
        "{text}"
    );
    assert!(context.is_lost());
    // Everything says so, with the first cause, and nothing panics.
    for error in [
        context.alloc::<u8>(1).unwrap_err(),
        kept.to_vec().unwrap_err(),
        context.stream().unwrap_err(),
        gpu::launch(&function, &stream, &config, &args![&mut data, 0u64]).unwrap_err(),
        context.synchronize().unwrap_err(),
    ] {
        assert!(matches!(error, Error::Poisoned(_)), "{error}");
        assert!(error.to_string().contains("700"), "{error}");
    }
    drop((kept, data, pinned, function, stream, context));
}

/// The same store where bounds are checked: nothing happens.
#[test]
fn a_checked_wild_store_stores_nothing() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel_checked(&kernels::wild_store(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(1).unwrap();
    let mut data = context.upload(&[7u32; 4]).unwrap();
    for at in [4, 1 << 32, 1 << 44, u64::MAX] {
        function
            .launch(&stream, &config, &args![&mut data, at])
            .unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(data.to_vec().unwrap(), [7; 4]);
    function
        .launch(&stream, &config, &args![&mut data, 2u64])
        .unwrap();
    assert_eq!(data.to_vec().unwrap(), [7, 7, 1, 7]);
}

#[test]
fn a_wild_store_that_nobody_waits_for_comes_out_later() {
    let Some(context) = gpu::context() else {
        return;
    };
    if !gpu::is_child("a_wild_store_that_nobody_waits_for_comes_out_later") {
        return in_its_own("a_wild_store_that_nobody_waits_for_comes_out_later");
    }
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::wild_store(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(1).unwrap();
    {
        let mut data = context.upload(&[0u32; 4]).unwrap();
        gpu::launch(&function, &stream, &config, &args![&mut data, 1u64 << 44]).unwrap();
        // Dropped here: the free waits, finds the failure, and keeps it.
    }
    drop(function);
    drop(stream);
    let error = context.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS));
    assert!(
        error.is_late() && error.to_string().contains("reported late"),
        "{error}"
    );
    assert!(matches!(context.last_error(), Some(Error::Poisoned(_))));
}

#[test]
fn a_synchronous_launch_finds_its_own_failure() {
    let Some(context) = gpu::context() else {
        return;
    };
    if !gpu::is_child("a_synchronous_launch_finds_its_own_failure") {
        return in_its_own("a_synchronous_launch_finds_its_own_failure");
    }
    let stream = context.stream().unwrap();
    context.set_synchronous(true);
    let good = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let bad = context
        .load_kernel(&kernels::wild_store(), &LoadOptions::new())
        .unwrap();
    let mut data = context.upload(&[0u32; 4]).unwrap();
    gpu::launch(
        &good,
        &stream,
        &good.config_for(4).unwrap(),
        &args![&mut data, 1u32],
    )
    .unwrap();
    let error = gpu::launch(
        &bad,
        &stream,
        &bad.config_for(1).unwrap(),
        &args![&mut data, 1u64 << 44],
    )
    .unwrap_err();
    assert!(error.to_string().contains("wild_store"), "{error}");
}

#[test]
fn a_misaligned_access_loses_the_context() {
    let Some(context) = gpu::context() else {
        return;
    };
    if !gpu::is_child("a_misaligned_access_loses_the_context") {
        return in_its_own("a_misaligned_access_loses_the_context");
    }
    let stream = context.stream().unwrap();
    let text = kernels::misaligned();
    let module = kernite::cuda::Module::load(&context, &text, &LoadOptions::new()).unwrap();
    let function = module.function("misaligned").unwrap();
    gpu::launch_raw(
        &function,
        &stream,
        &kernite::cuda::LaunchConfig::new([1; 3], [1; 3]),
    )
    .unwrap();
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.code(), Some(Code::MISALIGNED_ADDRESS), "{error}");
}
