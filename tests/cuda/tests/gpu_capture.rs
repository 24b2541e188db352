//! Capture of a stream's work, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::{Code, Error, LoadOptions, Stream, args};
use kernite_cuda_tests::{gpu, kernels};

#[test]
fn captured_work_is_the_work_that_runs() {
    let Some(context) = gpu::context() else {
        return;
    };
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let function = context
        .load_kernel_checked(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let n = 10_000;
    let config = function.config_for(n as u64).unwrap();
    let mut data = a.alloc_zeroed::<u32>(n).unwrap();
    let mut copy = context.upload(&vec![0u32; n]).unwrap();
    let mut steps = |stream: &Stream| {
        stream.fill(&mut data, 5u32)?;
        function.launch(stream, &config, &args![&mut data, 10u32])?;
        stream.copy(&data, &mut copy)?;
        function.launch(stream, &config, &args![&mut data, 100u32])
    };
    let mut graph = a.capture(&mut steps).unwrap();
    // Nothing has run yet.
    assert_eq!(data.to_vec().unwrap(), vec![0; n]);
    for stream in [&a, &b, &a] {
        graph.launch(stream).unwrap();
    }
    assert_eq!(copy.to_vec().unwrap(), vec![15; n]);
    assert_eq!(data.to_vec().unwrap(), vec![115; n]);
    // The same launches with other arguments.
    let launches: Vec<_> = graph.launches().collect();
    assert_eq!(launches.len(), 2);
    let half = function.config_for(n as u64 / 2).unwrap();
    graph
        .set_launch(
            launches[0],
            &half,
            &args![data.get_mut(..n / 2).unwrap(), 20u32],
        )
        .unwrap();
    graph.launch(&b).unwrap();
    let expected: Vec<u32> = (0..n).map(|i| if i < n / 2 { 25 } else { 5 }).collect();
    assert_eq!(copy.to_vec().unwrap(), expected);
    // Everything it uses may go first.
    graph.launch(&a).unwrap();
    drop((data, copy, function));
    graph.launch(&b).unwrap();
    drop(graph);
    context.synchronize().unwrap();
}

#[test]
fn other_work_goes_on_during_a_capture() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel_checked(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let config = function.config_for(100).unwrap();
    let mut data = context.upload(&[1u32; 100]).unwrap();
    let mut graph = stream
        .capture(|captured| {
            function.launch(captured, &config, &args![&mut data, 3u32])?;
            assert!(matches!(
                captured.synchronize(),
                Err(Error::Capturing { .. })
            ));
            assert!(matches!(
                context.synchronize(),
                Err(Error::Capturing { .. })
            ));
            // Memory, copies, launches and a module, on this thread and on another.
            let work = || {
                let other = context.stream().unwrap();
                let twice = context
                    .load_kernel_checked(&kernels::saxpy(), &LoadOptions::new())
                    .unwrap();
                let x = context.upload(&[2.0f32; 50]).unwrap();
                let mut y = other.alloc_zeroed::<f32>(50).unwrap();
                let config = twice.config_for(50).unwrap();
                twice
                    .launch(&other, &config, &args![3.0f32, &x, &mut y])
                    .unwrap();
                other.synchronize().unwrap();
                assert_eq!(y.to_vec().unwrap(), [6.0; 50]);
            };
            work();
            std::thread::scope(|scope| scope.spawn(work).join()).expect("no panic");
            function.launch(captured, &config, &args![&mut data, 4u32])
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(data.to_vec().unwrap(), [8; 100]);
}

#[test]
fn a_capture_that_somebody_else_ends_is_an_error_and_no_more() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let mut data = context.upload(&[1u32; 100]).unwrap();
    let error = stream
        .capture(|captured| {
            captured.fill(&mut data, 7u32)?;
            // As a library would that is given the raw handle.
            let code = gpu::synchronize_behind_the_checks(captured);
            assert_eq!(Code(code), Code::STREAM_CAPTURE_UNSUPPORTED);
            Ok(())
        })
        .unwrap_err();
    assert_eq!(
        (error.code(), error.call()),
        (
            Some(Code::STREAM_CAPTURE_INVALIDATED),
            Some("cuStreamEndCapture")
        ),
        "{error}"
    );
    // All else works as before.
    let mut graph = stream.capture(|s| s.fill(&mut data, 9u32)).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(data.to_vec().unwrap(), [9; 100]);
    context.synchronize().unwrap();
}
