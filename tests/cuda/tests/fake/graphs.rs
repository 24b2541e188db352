//! Graphs, and measuring.

use kernite::cuda::{Error, LaunchConfig, LaunchError, LoadOptions, Module, Profile, args};
use kernite_cuda_tests::fake::Fake;
use kernite_cuda_tests::kernels::{SAXPY, saxpy};

#[test]
fn a_sequence_is_launched_as_one() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let function = fake
            .checked_kernel(&module, "saxpy", &saxpy().signature())
            .unwrap();
        let config = function.config_for(8).unwrap();
        let x = a.alloc_zeroed::<f32>(8).unwrap();
        let mut y = context.upload(&[0f32; 8]).unwrap();
        let mut z = context.upload(&[0f32; 8]).unwrap();
        fake.log();
        let mut graph = context.graph().unwrap();
        graph.fill(&mut y, 2.0f32).unwrap();
        let launch = graph
            .launch(&function, &config, &args![3.0f32, &x, &mut y])
            .unwrap();
        let empty = LaunchConfig::new([0, 1, 1], config.block);
        let nothing = graph
            .launch(&function, &empty, &args![3.0f32, &x, &mut y])
            .unwrap();
        graph.copy(&y, &mut z).unwrap();
        let mut none = context.alloc::<f32>(0).unwrap();
        graph.fill(&mut none, 1.0).unwrap();
        let mut graph = graph.instantiate().unwrap();
        let expected = [
            "cuGraphCreate",
            "cuGraphAddMemsetNode",
            "cuGraphAddKernelNode_v2",
            "cuGraphAddMemcpyNode",
            "cuGraphInstantiateWithFlags",
        ];
        assert_eq!(fake.calls(), expected);

        // Launched on another stream than `x` was allocated on: that stream waits first, once.
        graph.launch(&b).unwrap();
        assert_eq!(fake.calls().last().unwrap(), "cuGraphLaunch");
        graph.launch(&b).unwrap();
        assert_eq!(fake.calls(), ["cuGraphLaunch"]);

        // Exchanged arguments; the graph keeps the new memory, and the old is freed behind the launches that had it.
        let other = context.upload(&[1f32; 8]).unwrap();
        graph
            .set_launch(launch, &config, &args![4.0f32, &other, &mut y])
            .unwrap();
        let address = other.as_raw();
        drop(other);
        drop(x);
        fake.log();
        graph.launch(&a).unwrap();
        assert!(
            !fake
                .log()
                .iter()
                .any(|call| call.contains(&format!("cuMemFree_v2({address}")))
        );
        assert!(matches!(
            graph.set_launch(nothing, &config, &args![4.0f32, &y, &mut z]),
            Err(Error::Unsupported(_))
        ));
        assert!(matches!(
            graph.set_launch(launch, &empty, &args![4.0f32, &y, &mut z]),
            Err(Error::Unsupported(_))
        ));
        let wrong = graph
            .set_launch(launch, &config, &args![4.0f64, &y, &mut z])
            .unwrap_err();
        assert!(matches!(wrong, Error::Launch(_)), "{wrong}");
        drop((y, z, function, module));
        // What is dropped while it runs is destroyed behind it.
        graph.launch(&b).unwrap();
        drop(graph);
    }
    fake.assert_clean();
}

#[test]
fn what_a_graph_cannot_hold() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let module = Module::load(&context, SAXPY, &LoadOptions::new()).unwrap();
        let unchecked = module.kernel("saxpy", &saxpy().signature()).unwrap();
        let checked = fake
            .checked_kernel(&module, "saxpy", &saxpy().signature())
            .unwrap();
        let config = checked.config_for(8).unwrap();
        let (x, mut y) = (
            context.upload(&[0f32; 8]).unwrap(),
            context.upload(&[0f32; 8]).unwrap(),
        );
        let mut unified = context.unified::<f32>(8).unwrap();
        let mut graph = context.graph().unwrap();
        let launch_error = |result: Result<_, Error>| match result {
            Err(Error::Launch(error)) => *error,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            launch_error(graph.launch(&unchecked, &config, &args![1.0f32, &x, &mut y])),
            LaunchError::Unchecked
        );
        let plain = module.function("saxpy").unwrap();
        assert_eq!(
            launch_error(graph.launch(&plain, &config, &[])),
            LaunchError::NoSignature
        );
        let managed =
            launch_error(graph.launch(&checked, &config, &args![1.0f32, &x, &mut unified]));
        assert_eq!(managed, LaunchError::ManagedInGraph { index: 2 });
        assert!(matches!(
            graph.copy(&x, &mut unified),
            Err(Error::Unsupported(_))
        ));
        assert!(matches!(
            graph.fill(&mut unified, 0.0),
            Err(Error::Unsupported(_))
        ));
        let mut wide = context.upload(&[0f64; 8]).unwrap();
        assert!(matches!(
            graph.fill(&mut wide, 0.1),
            Err(Error::Unsupported(_))
        ));
        assert!(matches!(
            graph.copy(x.get(1..).unwrap(), &mut y),
            Err(Error::LengthMismatch { .. })
        ));
        let other = fake.driver().device(1).unwrap().primary_context().unwrap();
        let mut theirs = other.upload(&[0f32; 8]).unwrap();
        assert!(matches!(
            graph.copy(&x, &mut theirs),
            Err(Error::OtherContext { .. })
        ));
        let mut graph = graph.instantiate().unwrap();
        assert!(matches!(
            graph.launch(&other.stream().unwrap()),
            Err(Error::OtherContext { .. })
        ));
        // A launch belongs to its graph.
        let mut second = context.graph().unwrap();
        let launch = second
            .launch(&checked, &config, &args![1.0f32, &x, &mut y])
            .unwrap();
        assert!(matches!(
            graph.set_launch(launch, &config, &args![1.0f32, &x, &mut y]),
            Err(Error::Unsupported(_))
        ));
    }
    fake.assert_clean();
    let old = Fake::without(&["cuGraphCreate"]);
    assert!(matches!(
        old.context().graph(),
        Err(Error::MissingSymbol("cuGraphCreate"))
    ));
}

#[test]
fn profiles_sum_up_by_name() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let mut profile = Profile::new(&stream);
        let mut data = context.alloc::<u8>(100).unwrap();
        for _ in 0..3 {
            profile
                .measure("fill", || stream.fill(&mut data, 1))
                .unwrap();
        }
        profile.measure("nothing", || Ok(())).unwrap();
        let failed = profile.measure("fill", || context.alloc::<u64>(usize::MAX));
        assert!(failed.is_err());
        let report = profile.report().unwrap();
        let rows: Vec<_> = report
            .rows()
            .iter()
            .map(|row| (row.name.as_str(), row.count, row.total.as_micros()))
            .collect();
        assert_eq!(rows, [("fill", 3, 1500), ("nothing", 1, 500)]);
        assert_eq!(report.to_string().lines().count(), 3);
        // Events are used again, and what was told is not told again.
        fake.log();
        profile.measure("fill", || Ok(())).unwrap();
        assert!(!fake.calls().contains(&"cuEventCreate".into()));
        assert_eq!(profile.report().unwrap().rows().len(), 1);
    }
    fake.assert_clean();
}
