//! Finding the driver, and what it answers when code is loaded.

use kernite::cuda::{Code, Driver, Error, JitError, LoadError, LoadOptions, Module};
use kernite_cuda_tests::fake::Fake;
use kernite_cuda_tests::kernels::{SAXPY, empty_entry, saxpy};

fn load_error(result: Result<Driver, Error>) -> LoadError {
    match result {
        Err(Error::Load(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_library_there_is_an_error_that_lists_what_was_tried() {
    // Twice: nothing remembers the first failure.
    for _ in 0..2 {
        match Driver::load() {
            Ok(driver) => assert!(driver.version().0 > 0),
            Err(error) => {
                let text = error.to_string();
                if let LoadError::NotFound { tried } = load_error(Err(error)) {
                    assert_eq!(tried[0].name.to_str(), Some("libcuda.so.1"));
                    assert!(tried.iter().any(|t| t.name.to_str() == Some("libcuda.so")));
                    assert!(tried.iter().all(|t| !t.reason.is_empty()));
                    assert!(
                        text.contains("libcuda.so.1") && text.contains("libcuda.so ("),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_versioned_name_alone_is_enough() {
    let fake = Fake::named("libcuda.so.1", &[]);
    let driver = fake.driver();
    assert_eq!(
        (driver.version().0, driver.device_count().unwrap()),
        (13_000, 2)
    );
    assert_eq!(driver.library(), fake.path());
    assert_eq!(driver.device(0).unwrap().name().unwrap(), "Fake GPU");
    assert_eq!(
        driver.device(2).unwrap_err().code(),
        Some(Code::INVALID_DEVICE)
    );
    assert_eq!(
        driver.device(u32::MAX).unwrap_err().code(),
        Some(Code::INVALID_DEVICE)
    );
}

#[test]
fn a_library_without_cu_init_is_no_driver() {
    let fake = Fake::without(&["cuInit"]);
    let error = load_error(fake.load());
    assert!(
        matches!(
            error,
            LoadError::NotADriver {
                symbol: "cuInit",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn an_older_driver_does_what_it_can() {
    let missing = [
        "cuMemAllocAsync",
        "cuMemAllocFromPoolAsync",
        "cuMemFreeAsync",
        "cuMemPoolCreate",
        "cuFuncGetParamInfo",
    ];
    let fake = Fake::without(&missing);
    {
        let context = fake.context();
        let driver = fake.driver();
        assert!(
            !driver.has("cuMemAllocAsync")
                && driver.has("cuMemAlloc_v2")
                && !driver.has("cuNoSuchThing")
        );
        let error = driver.require("cuMemAllocAsync").unwrap_err();
        assert!(
            matches!(error, Error::MissingSymbol("cuMemAllocAsync")),
            "{error}"
        );
        assert!(error.to_string().contains("cuMemAllocAsync"));
        driver.require("cuMemAlloc_v2").unwrap();

        // Memory in stream order falls back to memory at once; what cannot be had is an error that names it.
        let stream = context.stream().unwrap();
        fake.log();
        let buffer = stream.alloc::<f32>(10).unwrap();
        assert_eq!(fake.calls(), ["cuMemAlloc_v2"]);
        assert!(!context.allocates_in_stream_order().unwrap());
        let error = context.trim_pool(0).unwrap_err();
        assert!(
            matches!(error, Error::MissingSymbol(_) | Error::Unsupported(_)),
            "{error}"
        );
        drop(buffer);

        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        module.kernel("saxpy", &saxpy().signature()).unwrap();
    }
    fake.assert_clean();
}

#[test]
fn each_entry_point_that_is_missing_is_named() {
    for symbol in [
        "cuStreamCreate",
        "cuEventCreate",
        "cuMemHostAlloc",
        "cuModuleLoadDataEx",
        "cuMemAllocManaged",
    ] {
        let fake = Fake::without(&[symbol]);
        let context = fake.context();
        let error = match symbol {
            "cuStreamCreate" => context.stream().unwrap_err(),
            "cuEventCreate" => context.event().unwrap_err(),
            "cuMemHostAlloc" => context.pinned::<u8>(1).unwrap_err(),
            "cuMemAllocManaged" => context.unified::<u8>(1).unwrap_err(),
            _ => Module::load(&context, SAXPY, &LoadOptions::new()).unwrap_err(),
        };
        assert!(
            matches!(error, Error::MissingSymbol(name) if name == symbol),
            "{error}"
        );
    }
}

#[test]
fn what_initialisation_answers_is_explained() {
    for (code, words) in [
        (34, "stub library"),
        (100, "no CUDA device"),
        (3, "forked"),
        (803, "releases"),
        (9999, "9999"),
    ] {
        let fake = Fake::new();
        fake.inject("cuInit", 0, code);
        let error = fake.load().unwrap_err();
        let text = error.to_string();
        assert_eq!(error.code(), Some(Code(code)));
        assert!(text.contains(words), "{text}");
        assert!(text.contains(fake.path().to_str().unwrap()), "{text}");
        if code == 34 {
            assert!(matches!(
                load_error(Err(error)),
                LoadError::StubLibrary { .. }
            ));
        }
        // The next attempt starts afresh.
        fake.load().unwrap();
    }
}

fn jit_error(result: Result<Module, Error>) -> JitError {
    match result {
        Err(Error::Jit(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_drivers_log_comes_with_the_error() {
    let fake = Fake::new();
    let context = fake.context();
    let text = format!(
        "{SAXPY}// fake-fail 218 ptxas application ptx input, line 7; fatal : Parsing error near 'nonsense': syntax error\n"
    );
    let load = |options: LoadOptions| jit_error(Module::load(&context, &text, &options));

    let error = load(LoadOptions::new());
    assert_eq!(error.code(), Some(Code::INVALID_PTX));
    let log = error.error_log().unwrap();
    assert!(
        log.text().ends_with("syntax error") && log.text().contains("line 7"),
        "{log}"
    );
    assert!(!log.is_truncated());
    assert!(error.to_string().contains("line 7"), "{error}");

    // Nothing written: empty, never what stood there.
    fake.set("log", 1);
    assert_eq!(load(LoadOptions::new()).error_log().unwrap().text(), "");
    // A full buffer: marked.
    fake.set("log", 2);
    let error = load(LoadOptions::new().log_bytes(10));
    let log = error.error_log().unwrap();
    assert!(log.is_truncated());
    assert_eq!(log.text().len(), 8192, "a buffer has 8 KiB at least");
    assert_eq!(
        load(LoadOptions::new().log_bytes(100_000))
            .error_log()
            .unwrap()
            .text()
            .len(),
        100_000
    );
    // Five bytes without a NUL: those five.
    fake.set("log", 3);
    assert_eq!(
        load(LoadOptions::new()).error_log().unwrap().text(),
        "error"
    );

    // Success has its log too.
    fake.set("log", 0);
    let module = Module::load(&context, SAXPY, &LoadOptions::new().verbose(true)).unwrap();
    assert!(module.info_log().text().starts_with("ptxas info"));
}

#[test]
fn text_is_handed_over_with_one_nul() {
    let fake = Fake::new();
    let context = fake.context();
    let options = LoadOptions::new();
    let load = |text: &str| Module::load(&context, text, &options);
    // The text ends where its slice does, whatever stands behind it.
    let longer = format!("{SAXPY}garbage");
    for _ in 0..3 {
        load(&longer[..SAXPY.len()]).unwrap();
    }
    assert_eq!(jit_error(load("")), JitError::Empty);
    assert_eq!(
        jit_error(load(".version 8.0\0.target sm_75")),
        JitError::Nul { at: 12 }
    );
    assert_eq!(
        jit_error(load(&format!("{SAXPY}\0"))),
        JitError::Nul { at: SAXPY.len() }
    );
    let error = jit_error(load("this is no PTX"));
    assert_eq!(error.code(), Some(Code::INVALID_IMAGE));
    assert!(error.error_log().unwrap().text().contains("not recognized"));
}

#[test]
fn versions_and_targets_are_checked_before_the_driver_is_asked() {
    let fake = Fake::new();
    fake.set("driver_version", 12_000);
    let context = fake.context();
    fake.log();
    let load = |text: &str| jit_error(Module::load(&context, text, &LoadOptions::new()));
    let error = load(".version 8.1\n.target sm_75\n");
    assert!(
        matches!(
            error,
            JitError::Version {
                needs: (8, 1),
                has: (8, 0),
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("update the driver"), "{error}");
    let error = load(".version 8.0\n.target sm_100\n");
    assert!(
        matches!(
            error,
            JitError::Target {
                capability: (9, 0),
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("sm_100") && error.to_string().contains("sm_90"),
        "{error}"
    );
    assert!(fake.calls().is_empty());
    Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
}

#[test]
fn codes_of_loading_have_names_and_advice() {
    let fake = Fake::new();
    let context = fake.context();
    for (code, words) in [
        (200, "neither PTX nor a cubin"),
        (209, "compute capability"),
        (218, "log has the line"),
        (222, "update the driver"),
        (301, "missing"),
        (12_345, "error 12345"),
    ] {
        fake.inject("cuModuleLoadDataEx", 0, code);
        let error = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap_err();
        assert_eq!(
            (error.code(), error.call()),
            (Some(Code(code)), Some("cuModuleLoadDataEx"))
        );
        assert!(error.to_string().contains(words), "{error}");
    }
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let error = module.function("no_such_entry").unwrap_err();
    assert_eq!(error.code(), Some(Code::NOT_FOUND));
    assert!(error.to_string().contains("no_such_entry"), "{error}");
    assert!(
        matches!(module.function("a\0b"), Err(Error::Jit(e)) if matches!(*e, JitError::Name { .. }))
    );
}

#[test]
fn a_kernel_with_other_parameters_is_refused() {
    let fake = Fake::new();
    let context = fake.context();
    let signature = saxpy().signature();
    for params in [
        "",
        ".param .u64 x, .param .u64 y, .param .f32 a, .param .u64 n",
        ".param .f32 a, .param .u64 x, .param .u64 y",
        ".param .f32 a, .param .u64 x, .param .u64 y, .param .u64 n, .param .u32 extra",
        ".param .f64 a, .param .u64 x, .param .u64 y, .param .u64 n",
    ] {
        let text = empty_entry("saxpy", params, [128, 1, 1]);
        let module = Module::load(&context, &text, &LoadOptions::new()).unwrap();
        let error = module.kernel("saxpy", &signature).unwrap_err();
        assert!(
            matches!(error, Error::Jit(ref e) if matches!(**e, JitError::Parameters { .. })),
            "{params}: {error}"
        );
    }
}

#[test]
fn a_cut_off_cubin_never_reaches_the_driver() {
    let fake = Fake::new();
    let context = fake.context();
    fake.log();
    let error = kernite_cuda_tests::fake::load_cubin(&context, b"\x7FELF\x02\x01\x01").unwrap_err();
    assert!(
        matches!(error, Error::Jit(ref e) if matches!(**e, JitError::Cubin(_))),
        "{error}"
    );
    assert!(fake.calls().is_empty());
}
