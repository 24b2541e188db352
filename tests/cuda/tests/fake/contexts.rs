//! Contexts are per thread; errors come late.

use kernite::cuda::sys::{CUcontext, CUstream};
use kernite::cuda::{Code, Context, Error, LoadOptions, Module, Stream, args};
use kernite_cuda_tests::fake::{Fake, adopt_context, adopt_stream};
use kernite_cuda_tests::kernels::{SAXPY, saxpy};

#[test]
fn every_thread_finds_its_context() {
    let fake = Fake::new();
    let context = fake.context();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| context.alloc::<f32>(10).unwrap());
        }
        // Each object made on one thread, used on a second, dropped on a third.
        let made = scope
            .spawn(|| {
                let stream = context.stream().unwrap();
                let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
                let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
                let buffers = (
                    stream.alloc_zeroed::<f32>(10).unwrap(),
                    context.upload(&[1.0f32; 10]).unwrap(),
                );
                (
                    function,
                    buffers,
                    stream,
                    context.event().unwrap(),
                    context.pinned_from(&[1u8]).unwrap(),
                )
            })
            .join()
            .unwrap();
        let used = scope
            .spawn(|| {
                let (function, (x, mut y), stream, event, pinned) = made;
                let config = function.config_for(10).unwrap();
                fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
                    .unwrap();
                event.record(&stream).unwrap();
                stream.synchronize().unwrap();
                assert_eq!(
                    fake.current(),
                    (0, 0),
                    "the thread has no context of its own"
                );
                (function, x, y, stream, event, pinned)
            })
            .join()
            .unwrap();
        scope.spawn(move || drop(used));
    });
    drop(context);
    fake.assert_clean();
}

#[test]
fn two_contexts_on_one_thread_never_cross() {
    let fake = Fake::new();
    {
        let driver = fake.driver();
        let contexts: Vec<Context> = driver
            .devices()
            .unwrap()
            .iter()
            .map(|d| d.primary_context().unwrap())
            .collect();
        assert_ne!(contexts[0], contexts[1]);
        assert_eq!(
            contexts[0],
            driver.device(0).unwrap().primary_context().unwrap()
        );
        let streams: Vec<Stream> = contexts.iter().map(|c| c.stream().unwrap()).collect();
        let mut buffers = Vec::new();
        for _ in 0..3 {
            for (context, stream) in contexts.iter().zip(&streams) {
                buffers.push(context.alloc::<u8>(8).unwrap());
                buffers.push(stream.alloc_zeroed::<u8>(8).unwrap());
            }
        }
        // What belongs to one is refused by the other.
        let error = streams[0].fill(&mut buffers[2], 0u8).unwrap_err();
        assert!(matches!(error, Error::OtherContext { .. }), "{error}");
        let event = contexts[0].event().unwrap();
        assert!(matches!(
            event.record(&streams[1]),
            Err(Error::OtherContext { .. })
        ));
        assert!(matches!(
            streams[1].wait(&event),
            Err(Error::OtherContext { .. })
        ));
        let module = Module::load(&contexts[0], SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let config = function.config_for(1).unwrap();
        assert!(fake.launch(&function, &streams[1], &config, &[]).is_err());
    }
    fake.assert_clean();
}

#[test]
fn a_bound_context_is_entered_once() {
    let fake = Fake::new();
    let context = fake.context();
    {
        let _bound = context.bind().unwrap();
        assert_eq!(fake.current().1, 1);
        fake.all_calls();
        context.alloc::<u8>(1).unwrap();
        assert!(
            !fake
                .all_calls()
                .iter()
                .any(|call| call.starts_with("cuCtxPush"))
        );
    }
    assert_eq!(fake.current(), (0, 0));
}

#[test]
fn what_others_own_is_left_alone() {
    let fake = Fake::new();
    let driver = fake.driver();
    let (theirs, other) = (fake.foreign_context(1), fake.foreign_context(0));
    // The other library has its own context current, and finds it so afterwards.
    fake.push(other);
    fake.push(theirs);
    let their_stream = fake.foreign_stream();
    let before = fake.current();
    {
        let context = adopt_context(&driver, theirs).unwrap();
        assert_eq!(context.as_raw(), theirs);
        let stream = adopt_stream(&context, their_stream).unwrap();
        assert_eq!(stream.as_raw(), their_stream);
        let buffer = stream.alloc_zeroed::<u32>(4).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [0; 4]);
        let default = adopt_stream(&context, CUstream::NULL).unwrap();
        default.synchronize().unwrap();
        assert_eq!(fake.current(), before);

        let second = fake.driver().device(0).unwrap().primary_context().unwrap();
        second.alloc::<u8>(1).unwrap();
        assert_eq!(fake.current(), before);
        assert!(matches!(
            adopt_stream(&second, their_stream),
            Err(Error::OtherContext { .. })
        ));
    }
    assert!(matches!(
        adopt_context(&driver, CUcontext::NULL),
        Err(Error::Null { .. })
    ));
    assert_eq!(fake.current(), before);
    assert_eq!(fake.violations(), [""; 0]);
    assert_eq!(
        fake.live().into_iter().collect::<Vec<_>>(),
        [("Stream".into(), 1)],
        "theirs alone is left"
    );
}

#[test]
fn objects_outlive_the_driver_in_any_order() {
    let fake = Fake::new();
    let (buffer, function, event);
    {
        let context = fake.driver().device(0).unwrap().primary_context().unwrap();
        let stream = context.stream().unwrap();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        function = module.function("saxpy").unwrap();
        buffer = stream.alloc_zeroed::<u8>(100).unwrap();
        event = context.event().unwrap();
        event.record(&stream).unwrap();
    }
    assert!(!fake.live().is_empty());
    drop(event);
    drop(function);
    drop(buffer);
    fake.assert_clean();
}

#[test]
fn more_streams_than_numbers() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let streams: Vec<Stream> = (0..100).map(|_| context.stream().unwrap()).collect();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let config = function.config_for(10).unwrap();
        for stream in &streams {
            let x = stream.alloc_zeroed::<f32>(10).unwrap();
            let mut y = streams[99].alloc_zeroed::<f32>(10).unwrap();
            let other = &streams[(stream.as_raw().0.addr() / 16) % 100];
            fake.launch(&function, other, &config, &args![1.0f32, &x, &mut y])
                .unwrap();
        }
        // Numbers of streams that are gone are used again once their work is over.
        drop(streams);
        for _ in 0..100 {
            let stream = context.stream().unwrap();
            let x = stream.alloc_zeroed::<f32>(10).unwrap();
            let mut y = context.upload(&[1.0f32; 10]).unwrap();
            fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
                .unwrap();
        }
        fake.complete();
        drop(context.stream().unwrap());
    }
    fake.assert_clean();
}

#[test]
fn a_failure_in_drop_waits_for_the_next_call() {
    let fake = Fake::new();
    {
        let context = fake.context();
        // One that is no more than that.
        let buffer = context.alloc::<u8>(8).unwrap();
        fake.inject("cuMemFree_v2", 0, 1);
        drop(buffer);
        let error = context.synchronize().unwrap_err();
        assert_eq!(
            (error.call(), error.code(), error.is_late()),
            (Some("cuMemFree_v2"), Some(Code(1)), true)
        );
        assert!(error.to_string().contains("reported late"), "{error}");
        context.synchronize().expect("told once");

        fake.inject("cuEventDestroy_v2", 0, 999);
        drop(context.event().unwrap());
        assert_eq!(
            context.last_error().unwrap().call(),
            Some("cuEventDestroy_v2")
        );
        assert!(context.last_error().is_none() && !context.is_lost());

        // One that loses the context: what comes after says so, with the first cause.
        let stream = context.stream().unwrap();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let (x, mut y) = (
            context.upload(&[0f32; 8]).unwrap(),
            context.upload(&[0f32; 8]).unwrap(),
        );
        let config = function.config_for(8).unwrap();
        fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
            .unwrap();
        fake.fail(700);
        drop(x);
        let error = context.synchronize().unwrap_err();
        assert!(matches!(error, Error::Poisoned(_)), "{error}");
        assert_eq!(error.code(), Some(Code::ILLEGAL_ADDRESS));
        let text = error.to_string();
        assert!(
            text.contains("reported late") && text.contains("\"saxpy\""),
            "{text}"
        );
        assert!(context.is_lost());
        for error in [
            context.alloc::<u8>(1).unwrap_err(),
            stream.synchronize().unwrap_err(),
            y.to_vec().unwrap_err(),
        ] {
            assert!(matches!(error, Error::Poisoned(_)), "{error}");
        }
        let launched = fake.launch(
            &function,
            &stream,
            &config,
            &args![1.0f32, &y, &mut context_free()],
        );
        assert!(launched.is_err());
        assert!(
            matches!(context.last_error(), Some(Error::Poisoned(_))),
            "the first cause stays"
        );
    }
    fake.assert_clean();
}

/// An empty buffer of a context of its own.
fn context_free() -> kernite::cuda::DeviceBuffer<f32> {
    let fake = Box::leak(Box::new(Fake::new()));
    fake.context().alloc(0).unwrap()
}

#[test]
fn a_failure_of_a_kernel_comes_out_of_a_later_call() {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().unwrap();
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
    let (x, mut y) = (
        context.upload(&[0f32; 8]).unwrap(),
        context.upload(&[0f32; 8]).unwrap(),
    );
    let config = function.config_for(8).unwrap();
    fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
        .unwrap();
    fake.fail(716);
    let error = stream.synchronize().unwrap_err();
    assert!(
        matches!(error, Error::Driver(_)) && error.is_late(),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("no multiple of the access's size"),
        "{error}"
    );
    assert!(error.to_string().contains("saxpy"), "{error}");
}

#[test]
fn synchronous_launches_name_their_own_failure() {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().unwrap();
    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
    let (x, mut y) = (
        context.upload(&[0f32; 8]).unwrap(),
        context.upload(&[0f32; 8]).unwrap(),
    );
    let config = function.config_for(8).unwrap();
    context.set_synchronous(true);
    fake.inject("cuStreamSynchronize", 0, 719);
    let error = fake
        .launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
        .unwrap_err();
    assert_eq!(error.code(), Some(Code::LAUNCH_FAILED));
    assert!(error.to_string().contains("saxpy"));
}
