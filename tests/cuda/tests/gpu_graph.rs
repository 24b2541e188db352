//! Graphs and measuring, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::{LoadOptions, Profile, args};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels;

#[test]
fn a_graph_runs_its_steps_in_order() {
    let Some(context) = gpu::context() else {
        return;
    };
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let n = 10_000;
    let config = function.config_for(n as u64).unwrap();
    let mut data = a.alloc_zeroed::<u32>(n).unwrap();
    let mut copy = context.upload(&vec![0u32; n]).unwrap();
    let mut graph = context.graph().unwrap();
    graph.fill(&mut data, 5u32).unwrap();
    let first =
        gpu::graph_launch(&mut graph, &function, &config, &args![&mut data, 10u32]).unwrap();
    graph.copy(&data, &mut copy).unwrap();
    gpu::graph_launch(&mut graph, &function, &config, &args![&mut data, 100u32]).unwrap();
    let mut graph = graph.instantiate().unwrap();
    for stream in [&a, &b, &a] {
        graph.launch(stream).unwrap();
    }
    assert_eq!(copy.to_vec().unwrap(), vec![15; n]);
    assert_eq!(data.to_vec().unwrap(), vec![115; n]);
    // With other arguments, and another grid.
    let half = function.config_for(n as u64 / 2).unwrap();
    gpu::graph_set_launch(
        &mut graph,
        first,
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
fn profiles_measure() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let mut data = stream.alloc_zeroed::<u32>(1 << 18).unwrap();
    let config = function.config_for(1 << 18).unwrap();
    let mut profile = Profile::new(&stream);
    for _ in 0..5 {
        profile
            .measure("fill", || stream.fill(&mut data, 0u32))
            .unwrap();
        profile
            .measure("count", || {
                gpu::launch(&function, &stream, &config, &args![&mut data, 500u32])
            })
            .unwrap();
    }
    let report = profile.report().unwrap();
    println!("{report}");
    let rows = report.rows();
    assert_eq!(
        (
            rows[0].name.as_str(),
            rows[0].count,
            rows[1].name.as_str(),
            rows[1].count
        ),
        ("fill", 5, "count", 5)
    );
    assert!(
        rows.iter()
            .all(|row| !row.total.is_zero() && row.min <= row.mean() && row.mean() <= row.max)
    );
}
