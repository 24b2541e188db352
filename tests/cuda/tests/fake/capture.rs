//! Capture of a stream's work as a graph.

use kernite::cuda::{
    Arg, Code, Error, Function, LaunchConfig, LaunchError, LoadOptions, Module, Profile, Stream,
    args,
};
use kernite_cuda_tests::fake::{Fake, launch_raw};
use kernite_cuda_tests::kernels::{SAXPY, empty_entry, saxpy};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn function(fake: &Fake, stream: &Stream) -> Function {
    let module = Module::load(&stream.context(), SAXPY, &LoadOptions::new()).unwrap();
    fake.checked_kernel(&module, "saxpy", &saxpy().signature())
        .unwrap()
}

#[test]
fn code_for_a_stream_becomes_a_graph() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
        let function = function(&fake, &a);
        let config = function.config_for(8).unwrap();
        // In the order of another stream: the graph's launch waits for that, not its capture.
        let x = b.alloc_zeroed::<f32>(8).unwrap();
        let mut y = context.upload(&[0f32; 8]).unwrap();
        let mut z = context.upload(&[0f32; 8]).unwrap();
        // The same code, run and captured.
        let mut steps = |stream: &Stream| {
            stream.fill(&mut y, 2.0f32)?;
            function.launch(stream, &config, &args![3.0f32, &x, &mut y])?;
            let empty = LaunchConfig::new([0, 1, 1], config.block);
            function.launch(stream, &empty, &args![3.0f32, &x, &mut y])?;
            stream.copy(&y, &mut z)?;
            function.launch(stream, &config, &args![4.0f32, &x, &mut z])
        };
        steps(&a).unwrap();
        fake.log();
        let mut graph = a.capture(&mut steps).unwrap();
        let expected = [
            "cuStreamCreate",
            "cuStreamBeginCapture_v2",
            "cuMemsetD32Async",
            "cuLaunchKernel",
            "cuStreamGetCaptureInfo_v2",
            "cuMemcpyDtoDAsync_v2",
            "cuLaunchKernel",
            "cuStreamGetCaptureInfo_v2",
            "cuStreamEndCapture",
            "cuGraphInstantiateWithFlags",
            "cuStreamDestroy_v2",
        ];
        assert_eq!(fake.calls(), expected);
        let launches: Vec<_> = graph.launches().collect();
        assert_eq!(launches.len(), 2);

        graph.launch(&a).unwrap();
        // Exchanged arguments: the graph keeps the new memory.
        let other = context.upload(&[1f32; 8]).unwrap();
        graph
            .set_launch(launches[1], &config, &args![5.0f32, &other, &mut z])
            .unwrap();
        drop((other, x, y, z, function));
        graph.launch(&b).unwrap();
        drop(graph);
    }
    fake.assert_clean();
}

#[test]
fn what_a_capture_refuses_leaves_it_sound() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let function = function(&fake, &stream);
        let config = function.config_for(8).unwrap();
        let (x, mut y) = (
            context.upload(&[0f32; 8]).unwrap(),
            context.upload(&[0f32; 8]).unwrap(),
        );
        let (event, mut pinned) = (context.event().unwrap(), context.pinned::<f32>(8).unwrap());
        let mut wide = context.upload(&[0f64; 8]).unwrap();
        let mut unified = context.unified::<f32>(8).unwrap();
        let empty = stream.capture(|_| Ok(())).unwrap();
        let mut ready = stream.capture(|_| Ok(())).unwrap();
        assert!(!stream.is_capturing());
        let mut leaked = None;
        let graph = stream.capture(|s| {
            assert!(s.is_capturing());
            leaked = Some(s.clone());
            let refused = |result: Result<(), Error>| {
                let error = result.unwrap_err();
                assert!(matches!(error, Error::Capturing { .. }), "{error}");
                assert_eq!(error.code(), Some(Code::STREAM_CAPTURE_UNSUPPORTED));
                assert!(error.to_string().contains("(900)"), "{error}");
            };
            refused(s.synchronize());
            refused(s.is_idle().map(drop));
            refused(s.wait(&event));
            refused(s.wait_for(&stream));
            refused(stream.wait_for(s));
            refused(event.record(s));
            refused(s.alloc::<f32>(8).map(drop));
            refused(s.alloc_zeroed::<f32>(8).map(drop));
            refused(s.upload(&pinned, &mut y));
            refused(s.download(&x, &mut pinned));
            refused(s.fill(&mut wide, 0.1));
            refused(ready.launch(s));
            refused(Profile::new(s).measure("nothing", || Ok(())));
            refused(context.synchronize());
            let kept = context.upload(&[0f32; 8]).unwrap().free_on(s).unwrap_err();
            assert!(kept.buffer.is_some());
            refused(Err(kept.error));
            // What a graph cannot hold.
            let managed = function.launch(s, &config, &args![1.0f32, &x, &mut unified]);
            assert!(
                matches!(&managed, Err(Error::Launch(e)) if **e == LaunchError::ManagedInGraph { index: 2 }),
                "{managed:?}"
            );
            assert!(matches!(s.copy(&x, &mut unified), Err(Error::Unsupported(_))));
            assert!(matches!(s.fill(&mut unified, 0.0), Err(Error::Unsupported(_))));
            // Other streams go on, memory comes and goes, and captures can be within each other.
            stream.fill(&mut y, 1.0)?;
            stream.synchronize()?;
            assert_eq!(context.upload(&[7u8; 3])?.to_vec()?, [7; 3]);
            s.capture(|inner| inner.fill(&mut y, 5.0))?;
            s.fill(&mut y, 2.0)
        });
        drop(graph.unwrap());
        // A copy of the stream that outlives its capture does nothing any more.
        let leaked = leaked.unwrap();
        for result in [
            leaked.fill(&mut y, 0.0),
            leaked.copy(&x, &mut y),
            function.launch(&leaked, &config, &args![1.0f32, &x, &mut y]),
            leaked.synchronize(),
        ] {
            assert!(matches!(result, Err(Error::Capturing { .. })), "{result:?}");
        }
        context.synchronize().unwrap();
        drop(empty);
    }
    fake.assert_clean();
}

#[test]
fn a_capture_ends_however_the_work_does() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let function = function(&fake, &stream);
        let config = function.config_for(8).unwrap();
        let (x, mut y) = (
            context.upload(&[0f32; 8]).unwrap(),
            context.upload(&[0f32; 8]).unwrap(),
        );
        let error = stream
            .capture(|s| {
                function.launch(s, &config, &args![1.0f32, &x, &mut y])?;
                function.launch(s, &config, &args![1.0f64, &x, &mut y])
            })
            .unwrap_err();
        assert!(matches!(error, Error::Launch(_)), "{error}");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            stream.capture(|s| {
                s.fill(&mut y, 1.0)?;
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        // The driver's own refusals.
        for name in [
            "cuStreamCreate",
            "cuStreamBeginCapture_v2",
            "cuLaunchKernel",
            "cuStreamGetCaptureInfo_v2",
            "cuStreamEndCapture",
            "cuGraphInstantiateWithFlags",
        ] {
            for code in [1, 2, 901, 9999] {
                fake.inject(name, 0, code);
                let error = stream
                    .capture(|s| function.launch(s, &config, &args![1.0f32, &x, &mut y]))
                    .unwrap_err();
                assert_eq!(error.code(), Some(Code(code)), "{name}: {error}");
                assert_eq!(error.call(), Some(name), "{error}");
            }
        }
        // An error that the work keeps to itself: the graph is what came through.
        fake.inject("cuMemsetD32Async", 0, 2);
        let graph = stream.capture(|s| {
            assert!(s.fill(&mut y, 1.0).is_err());
            s.fill(&mut y, 2.0)
        });
        graph.unwrap().launch(&stream).unwrap();
        context.synchronize().unwrap();
    }
    fake.assert_clean();
}

#[test]
fn other_threads_and_other_libraries_can_add_to_a_capture() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let text = empty_entry("k", "", [32, 1, 1]);
        let module = Module::load(&context, &text, &LoadOptions::new()).unwrap();
        let raw = module.function("k").unwrap();
        let config = LaunchConfig::new([1; 3], [32, 1, 1]);
        let mut buffers: Vec<_> = (0..4).map(|_| context.alloc::<u32>(4).unwrap()).collect();
        let graph = stream.capture(|s| {
            std::thread::scope(|scope| {
                for buffer in &mut buffers {
                    scope.spawn(|| s.fill(&mut *buffer, 1).unwrap());
                }
            });
            launch_raw(&raw, s, &config)
        });
        let mut graph = graph.unwrap();
        // Nothing is known of the launch's parameters.
        let launch = graph.launches().next().unwrap();
        let none: [Arg<'_>; 0] = [];
        let error = graph.set_launch(launch, &config, &none).unwrap_err();
        assert!(matches!(error, Error::Launch(_)), "{error}");
        drop((buffers, raw, module));
        graph.launch(&stream).unwrap();
    }
    fake.assert_clean();
}

#[test]
fn who_waits_for_the_context_ends_no_capture() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let mut buffer = context.alloc::<u32>(4).unwrap();
        std::thread::scope(|scope| {
            let captures = scope.spawn(|| {
                let stream = context.stream()?;
                (0..3000).try_for_each(|_| stream.capture(|s| s.fill(&mut buffer, 1)).map(drop))
            });
            while !captures.is_finished() {
                let waited = context.synchronize();
                assert!(
                    matches!(waited, Ok(()) | Err(Error::Capturing { .. })),
                    "{waited:?}"
                );
            }
            captures.join().expect("no panic").unwrap();
        });
        context.synchronize().unwrap();
    }
    fake.assert_clean();
}

#[test]
fn older_and_newer_drivers() {
    // CUDA 13 asks by another name.
    let new = Fake::without(&["cuStreamGetCaptureInfo_v2"]);
    {
        let stream = new.context().stream().unwrap();
        let function = function(&new, &stream);
        let config = function.config_for(8).unwrap();
        let x = stream.context().upload(&[0f32; 8]).unwrap();
        let mut y = stream.context().upload(&[0f32; 8]).unwrap();
        let graph = stream
            .capture(|s| function.launch(s, &config, &args![1.0f32, &x, &mut y]))
            .unwrap();
        assert_eq!(graph.launches().count(), 1);
    }
    new.assert_clean();
    let old = Fake::without(&["cuStreamBeginCapture_v2"]);
    {
        let stream = old.context().stream().unwrap();
        let error = stream.capture(|_| panic!("it never begins")).unwrap_err();
        assert!(matches!(
            error,
            Error::MissingSymbol("cuStreamBeginCapture_v2")
        ));
        old.context().synchronize().unwrap();
    }
    old.assert_clean();
}
