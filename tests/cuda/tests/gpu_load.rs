//! Devices and loading, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::{Code, Driver, Error, JitError, LoadOptions, Module};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels::{self, SAXPY, empty_entry, many_registers};
use kernite_testkit::skip;

#[test]
fn the_device_says_what_it_is() {
    let Some(device) = gpu::device() else { return };
    let driver = device.driver();
    assert!(
        driver.version().0 >= 12_000,
        "PTX 8.0 needs CUDA 12.0, this is {}",
        driver.version()
    );
    let limits = device.limits();
    assert!(!device.name().unwrap().is_empty());
    assert!(device.compute_capability() >= (7, 5));
    assert!(device.total_memory().unwrap() > 1 << 28);
    assert_ne!(device.uuid().unwrap(), [0; 16]);
    assert_eq!(
        (limits.warp, limits.threads_per_block, limits.shared_bytes),
        (32, 1024, 49152)
    );
    assert_eq!(limits.grid, [i32::MAX as u32, 65535, 65535]);
    assert!(limits.shared_bytes_opt_in >= 65536 - 1024 && limits.multiprocessors > 0);
    assert_eq!(
        driver.devices().unwrap().len(),
        driver.device_count().unwrap() as usize
    );
    let context = device.primary_context().unwrap();
    let (free, total) = context.memory_info().unwrap();
    assert!(free <= total && total <= device.total_memory().unwrap());
    assert!(driver.has("cuMemAllocAsync") && driver.has("cuGraphLaunch"));
}

#[test]
fn the_assembler_says_which_line() {
    let Some(context) = gpu::context() else {
        return;
    };
    let text = SAXPY.replace("mul.rn.f32 %f3", "mul.rn.nonsense %f3");
    let line = text.lines().position(|l| l.contains("nonsense")).unwrap() + 1;
    let error = match Module::load(&context, &text, &LoadOptions::new()) {
        Err(Error::Jit(error)) => *error,
        other => panic!("{other:?}"),
    };
    assert_eq!(error.code(), Some(Code::INVALID_PTX));
    let log = error.error_log().unwrap();
    assert!(log.text().contains(&format!("line {line}")), "{log}");
    assert!(!log.is_truncated() && !log.text().contains('\0'));
    // The context is as good as before.
    Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
}

#[test]
fn what_is_no_ptx_is_an_invalid_image() {
    let Some(context) = gpu::context() else {
        return;
    };
    let error = Module::load(&context, "this is no PTX", &LoadOptions::new()).unwrap_err();
    assert!(
        matches!(error.code(), Some(Code::INVALID_IMAGE | Code::INVALID_PTX)),
        "{error}"
    );
    let extern_ = empty_entry("k", "", [1; 3])
        .replace("ret;", "call nowhere;\n ret;")
        .replace(".visible", ".extern .func nowhere;\n.visible");
    let error = Module::load(&context, &extern_, &LoadOptions::new()).unwrap_err();
    let log = error.to_string();
    assert!(log.contains("nowhere"), "{log}");
}

#[test]
fn versions_and_targets_are_explained() {
    let Some(context) = gpu::context() else {
        return;
    };
    let driver = Driver::load().unwrap();
    // Whether we see it or the driver: the text is too new, and the error says what to do.
    let error = Module::load(
        &context,
        &SAXPY.replace(".version 8.0", ".version 99.9"),
        &LoadOptions::new(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("update the driver"), "{error}");
    match driver.version().ptx() {
        Some((major, minor)) => {
            // The newest that we believe in is one that the driver takes.
            let text = SAXPY.replace(".version 8.0", &format!(".version {major}.{minor}"));
            Module::load(&context, &text, &LoadOptions::new()).unwrap();
        }
        None => skip::skip("PTX version", "the driver is later than this crate knows"),
    }
    if context.compute_capability() < (12, 1) {
        let text = SAXPY
            .replace(".version 8.0", ".version 8.8")
            .replace("sm_75", "sm_121");
        let error = Module::load(&context, &text, &LoadOptions::new()).unwrap_err();
        assert!(
            matches!(error, Error::Jit(ref e) if matches!(**e, JitError::Target { .. } | JitError::Version { .. } | JitError::Refused { .. })),
            "{error}"
        );
    }
}

#[test]
fn missing_entries_are_not_found() {
    let Some(context) = gpu::context() else {
        return;
    };
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let error = module.function("no_such_entry").unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_FOUND));
    assert_eq!(
        module
            .function("saxpy")
            .unwrap()
            .attributes()
            .binary_version
            / 10,
        context.compute_capability().0
    );
}

#[test]
fn the_driver_knows_the_parameters() {
    let Some(context) = gpu::context() else {
        return;
    };
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    module
        .kernel("saxpy", &kernels::saxpy().signature())
        .unwrap();
    if Driver::load().unwrap().has("cuFuncGetParamInfo") {
        let (signature, _) = kernels::aliasing();
        let error = module.kernel("saxpy", &signature).unwrap_err();
        assert!(
            matches!(error, Error::Jit(ref e) if matches!(**e, JitError::Parameters { .. })),
            "{error}"
        );
    } else {
        skip::skip("cuFuncGetParamInfo", "the driver is older than CUDA 12.4");
    }
}

#[test]
fn options_reach_the_assembler() {
    let Some(context) = gpu::context() else {
        return;
    };
    let text = many_registers("k", 80, "");
    let module = Module::load(
        &context,
        &text,
        &LoadOptions::new().verbose(true).line_info(true),
    )
    .unwrap();
    let free = module.function("k").unwrap().attributes().registers;
    assert!(
        free >= 64,
        "80 numbers are alive, {free} registers are used"
    );
    assert!(
        module.info_log().text().contains("registers"),
        "{:?}",
        module.info_log()
    );
    let module = Module::load(&context, &text, &LoadOptions::new().max_registers(32)).unwrap();
    let attributes = *module.function("k").unwrap().attributes();
    assert!(
        attributes.registers <= 32 && attributes.local_bytes > 0,
        "{attributes:?}"
    );
}

#[test]
fn emitted_kernels_load_under_any_name() {
    let Some(context) = gpu::context() else {
        return;
    };
    let mut all = kernite::kernel::Module::new();
    for name in ["t,0", "WARP_SZ", "a.b", "é", "1a", "_", "add", "plain"] {
        let mut b = kernite::KernelBuilder::new(name, [32, 1, 1]);
        let data = b.buffer("data", kernite::Type::F32, kernite::Access::Read);
        b.array_length(data);
        all.push(b.finish().unwrap()).unwrap();
    }
    let module = Module::emit(&context, &all, &LoadOptions::new()).unwrap();
    for kernel in all.kernels() {
        module.emitted(kernel).unwrap();
    }
}
