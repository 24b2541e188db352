//! Memory: sizes, order, who waits for whom.

use kernite::cuda::{Error, LoadOptions, Module, args};
use kernite_cuda_tests::fake::{Fake, adopt_slice};
use kernite_cuda_tests::kernels::{SAXPY, saxpy};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn nothing_is_no_memory() {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().unwrap();
    fake.log();
    {
        let mut buffers = [
            context.alloc::<f64>(0).unwrap(),
            stream.alloc_zeroed(0).unwrap(),
            context.upload(&[]).unwrap(),
        ];
        for buffer in &mut buffers {
            assert!(buffer.is_empty() && buffer.as_raw() == 0);
            assert_eq!(buffer.to_vec().unwrap(), [0.0; 0]);
            buffer.write(&[]).unwrap();
            buffer.read(&mut []).unwrap();
            stream.fill(buffer, 1.5).unwrap();
        }
        let mut pinned = context.pinned::<f64>(0).unwrap();
        assert!(pinned.as_slice().unwrap().is_empty() && pinned.as_mut_slice().unwrap().is_empty());
        stream.upload(&pinned, &mut buffers[0]).unwrap();
        stream.download(&buffers[0], &mut pinned).unwrap();
        let mut unified = context.unified::<f64>(0).unwrap();
        assert!(
            unified.as_slice().unwrap().is_empty() && unified.as_mut_slice().unwrap().is_empty()
        );
        let [a, b, _] = &mut buffers;
        stream.copy(&*a, b).unwrap();
    }
    assert_eq!(fake.calls(), [""; 0]);

    let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
    let (x, mut y) = (
        context.alloc::<f32>(0).unwrap(),
        context.alloc::<f32>(0).unwrap(),
    );
    let config = function.config_for(1).unwrap();
    fake.log();
    fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
        .unwrap();
    assert_eq!(
        fake.log()[1],
        "arguments 0x3f800000 0x0 0x0 0x0",
        "address 0 and length 0"
    );
}

#[test]
fn sizes_that_cannot_be_are_refused_before_the_driver_is_asked() {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().unwrap();
    fake.log();
    let huge = usize::MAX / 2;
    for error in [
        context.alloc::<u64>(huge).unwrap_err(),
        stream.alloc::<u64>(huge).unwrap_err(),
        context.pinned::<u64>(huge).unwrap_err(),
        context.unified::<u64>(huge).unwrap_err(),
        context.alloc::<u8>(usize::MAX).unwrap_err(),
    ] {
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    }
    assert_eq!(fake.calls(), [""; 0]);
}

#[test]
fn copies_copy() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let numbers: Vec<u32> = (0..1000).collect();
        let mut a = context.upload(&numbers).unwrap();
        let mut b = stream.alloc::<u32>(1000).unwrap();
        stream.copy(&a, &mut b).unwrap();
        assert_eq!(b.to_vec().unwrap(), numbers);
        stream.fill(a.get_mut(10..20).unwrap(), 7u32).unwrap();
        assert_eq!(
            a.get(9..21).unwrap().to_vec().unwrap(),
            [9, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 20]
        );
        stream
            .copy(b.get(..3).unwrap(), a.get_mut(997..).unwrap())
            .unwrap();
        assert_eq!(a.get(996..).unwrap().to_vec().unwrap(), [996, 0, 1, 2]);
        assert!(
            a.get(..1001).is_none()
                && a.get(5..=1000).is_none()
                && a.get(1000..).is_some_and(|s| s.is_empty())
        );
        let (mut left, right) = a.as_slice_mut().split_at(500).unwrap();
        left.write(&[1; 500]).unwrap();
        stream.copy(left.as_slice(), right).unwrap();
        assert_eq!(a.to_vec().unwrap(), [1; 1000]);
        let error = a.write(&[1, 2]).unwrap_err();
        assert!(
            matches!(
                error,
                Error::LengthMismatch {
                    source_len: 2,
                    destination_len: 1000,
                    ..
                }
            ),
            "{error}"
        );
        assert!(matches!(
            stream.copy(&a, b.get_mut(1..).unwrap()),
            Err(Error::LengthMismatch { .. })
        ));
        let words = a.as_slice().cast::<[u32; 4]>().unwrap();
        assert_eq!(words.len(), 250);
        assert!(matches!(
            a.get(1..).unwrap().cast::<[u32; 4]>(),
            Err(Error::Cast { .. })
        ));
        let mut wide = context.upload(&[0f64; 3]).unwrap();
        stream.fill(&mut wide, 1.1).unwrap();
        assert_eq!(wide.to_vec().unwrap(), [1.1; 3]);
    }
    fake.assert_clean();
}

#[test]
fn pinned_memory_waits_for_its_copies() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let mut pinned = context.pinned::<u32>(4).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [0; 4]);
        pinned
            .as_mut_slice()
            .unwrap()
            .copy_from_slice(&[1, 2, 3, 4]);
        let mut device = stream.alloc::<u32>(4).unwrap();
        fake.log();
        stream.upload(&pinned, &mut device).unwrap();
        assert_eq!(fake.calls(), ["cuMemcpyHtoDAsync_v2"], "nobody waits");
        pinned.as_mut_slice().unwrap()[0] = 9;
        assert!(
            fake.calls().contains(&"cuEventSynchronize".into()),
            "the host waits before it writes"
        );
        assert_eq!(pinned.as_slice().unwrap()[0], 9);
        assert_eq!(fake.calls(), [""; 0], "once");
        stream.download(&device, &mut pinned).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [1, 2, 3, 4]);
        // Dropped while a copy is under way: freed behind it.
        stream.upload(&pinned, &mut device).unwrap();
        drop(pinned);
        drop(device);
        assert!(matches!(
            stream.upload(
                &context.pinned::<u32>(3).unwrap(),
                &mut context.alloc::<u32>(4).unwrap()
            ),
            Err(Error::LengthMismatch { .. })
        ));
    }
    fake.assert_clean();
}

#[test]
fn managed_memory_waits_for_its_kernels() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let mut unified = context.unified::<f32>(4).unwrap();
        unified.as_mut_slice().unwrap()[3] = 3.0;
        let x = context.upload(&[1.0f32; 4]).unwrap();
        let config = function.config_for(4).unwrap();
        fake.launch(
            &function,
            &stream,
            &config,
            &args![1.0f32, &x, &mut unified],
        )
        .unwrap();
        fake.log();
        assert_eq!(unified.as_slice().unwrap(), [0.0, 0.0, 0.0, 3.0]);
        assert!(fake.calls().contains(&"cuEventSynchronize".into()));
    }
    fake.assert_clean();
    fake.set("device.89", 0);
    let error = fake.context().unified::<f32>(4).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
}

#[test]
fn memory_is_freed_behind_the_streams_that_use_it() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let config = function.config_for(8).unwrap();
        let x = a.alloc_zeroed::<f32>(8).unwrap();
        let mut y = context.upload(&[0f32; 8]).unwrap();
        fake.log();
        // Allocated on A, launched on B: B waits for the allocation.
        fake.launch(&function, &b, &config, &args![1.0f32, &x, &mut y])
            .unwrap();
        let launch = fake.calls();
        let at = |calls: &[String], name: &str| {
            calls
                .iter()
                .position(|c| c == name)
                .unwrap_or_else(|| panic!("{name} in {calls:?}"))
        };
        assert!(at(&launch, "cuStreamWaitEvent") < at(&launch, "cuLaunchKernel"));
        // Again: it has waited already.
        fake.launch(&function, &b, &config, &args![1.0f32, &x, &mut y])
            .unwrap();
        assert_eq!(fake.calls(), ["cuLaunchKernel"]);
        // Dropped: an event on B, a wait on A, the free on A.
        drop(x);
        let log = fake.log();
        let raw = |stream: &kernite::cuda::Stream| stream.as_raw().0.addr();
        let find = |start: &str, end: String| {
            log.iter()
                .position(|l| l.starts_with(start) && l.ends_with(&end))
                .unwrap_or_else(|| panic!("{start} {end} in {log:#?}"))
        };
        let record = find("cuEventRecord(", format!(", {})", raw(&b)));
        let wait = find("cuStreamWaitEvent(", String::new());
        let free = find("cuMemFreeAsync(", format!(", {})", raw(&a)));
        assert!(log[wait].starts_with(&format!("cuStreamWaitEvent({},", raw(&a))));
        assert!(record < wait && wait < free);
        // Allocated at once: the host waits, then frees.
        drop(y);
        let calls = fake.calls();
        assert!(at(&calls, "cuEventSynchronize") < at(&calls, "cuMemFree_v2"));
    }
    fake.assert_clean();
}

#[test]
fn streams_may_go_before_the_memory_they_use() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let config = function.config_for(8).unwrap();
        let (x, mut y) = (
            context.upload(&[0f32; 8]).unwrap(),
            context.stream().unwrap().alloc_zeroed::<f32>(8).unwrap(),
        );
        for _ in 0..3 {
            let stream = context.stream().unwrap();
            fake.launch(&function, &stream, &config, &args![1.0f32, &x, &mut y])
                .unwrap();
        }
        drop(function);
        drop(module);
        drop(x);
        drop(y);
    }
    fake.assert_clean();
}

#[test]
fn memory_can_be_freed_on_another_stream() {
    let fake = Fake::new();
    {
        let driver = fake.driver();
        let contexts: Vec<_> = driver
            .devices()
            .unwrap()
            .iter()
            .map(|d| d.primary_context().unwrap())
            .collect();
        let (a, b) = (contexts[0].stream().unwrap(), contexts[0].stream().unwrap());
        let other = contexts[1].stream().unwrap();
        let buffer = a.alloc_zeroed::<u8>(64).unwrap();
        let refused = buffer.free_on(&other).unwrap_err();
        assert!(
            matches!(refused.error, Error::OtherContext { .. }),
            "{refused}"
        );
        let buffer = refused.buffer.expect("the buffer is not lost");
        assert_eq!(buffer.to_vec().unwrap(), [0; 64]);
        fake.log();
        buffer.free_on(&b).unwrap();
        let log = fake.log();
        assert!(
            log.last().unwrap().starts_with("cuMemFreeAsync("),
            "{log:?}"
        );
        assert!(
            log.last()
                .unwrap()
                .ends_with(&format!(", {})", b.as_raw().0.addr())),
            "{log:?}"
        );
    }
    fake.assert_clean();
}

#[test]
fn the_pool_keeps_what_is_freed() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        assert!(context.allocates_in_stream_order().unwrap());
        context.set_pool_threshold(1 << 20).unwrap();
        context.trim_pool(0).unwrap();
        fake.log();
        drop(stream.alloc::<u8>(100).unwrap());
        assert_eq!(fake.calls(), ["cuMemAllocFromPoolAsync", "cuMemFreeAsync"]);
    }
    fake.assert_clean();
    // A driver that cannot make pools allocates from the device's.
    let fake = Fake::without(&["cuMemPoolCreate"]);
    {
        let context = fake.context();
        drop(context.stream().unwrap().alloc::<u8>(100).unwrap());
        assert!(fake.calls().contains(&"cuMemAllocAsync".into()));
        assert!(matches!(
            context.set_pool_threshold(0),
            Err(Error::MissingSymbol(_) | Error::Unsupported(_))
        ));
    }
    fake.assert_clean();
    // A device without pools allocates at once.
    let fake = Fake::new();
    fake.set("device.115", 0);
    {
        let context = fake.context();
        drop(context.stream().unwrap().alloc::<u8>(100).unwrap());
        assert!(fake.calls().contains(&"cuMemAlloc_v2".into()));
    }
    fake.assert_clean();
}

#[test]
fn memory_of_others_is_not_freed() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let theirs = context.upload(&[1u32, 2, 3, 4]).unwrap();
        {
            let slice = adopt_slice::<u32>(&context, theirs.as_raw() + 4, 3).unwrap();
            assert_eq!((slice.len(), slice.as_raw()), (3, theirs.as_raw() + 4));
            assert_eq!(slice.to_vec().unwrap(), [2, 3, 4]);
        }
        assert_eq!(fake.live().get("Memory"), Some(&1));
        assert!(matches!(
            adopt_slice::<u32>(&context, 0, 3),
            Err(Error::Null { .. })
        ));
        assert!(adopt_slice::<u32>(&context, 0, 0).unwrap().is_empty());
        assert!(matches!(
            adopt_slice::<u32>(&context, u64::MAX - 3, 3),
            Err(Error::TooLarge { .. })
        ));
    }
    fake.assert_clean();
}

#[test]
fn reading_beside_a_launch_forgets_no_use() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let config = function.config_for(8).unwrap();
        let stream = context.stream().unwrap();
        let mut y = context.upload(&[0f32; 8]).unwrap();
        for round in 0..1000 {
            let x = context.upload(&[0f32; 8]).unwrap();
            let pinned = context.pinned_from(&[0f32; 8]).unwrap();
            let (begun, done) = (Barrier::new(2), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    begun.wait();
                    while !done.load(Ordering::Relaxed) {
                        // The other is not waited for, which would wait for this one's stream too.
                        match round % 2 {
                            0 => drop(x.to_vec().unwrap()),
                            _ => drop(pinned.as_slice().unwrap().to_vec()),
                        }
                    }
                });
                begun.wait();
                for _ in 0..3 {
                    if round % 2 == 0 {
                        let args = args![1.0f32, &x, &mut y];
                        fake.launch(&function, &stream, &config, &args).unwrap();
                    } else {
                        stream.upload(&pinned, &mut y).unwrap();
                    }
                }
                done.store(true, Ordering::Relaxed);
            });
        }
    }
    let violations = fake.violations();
    let freed: Vec<_> = violations.iter().filter(|v| v.contains("freed")).collect();
    assert!(freed.is_empty(), "{freed:?}");
}
