//! Launches: what is checked, and what reaches the driver.

use kernite::builder::KernelBuilder;
use kernite::cuda::{
    Arg, ArgumentFault, Code, Context, Error, F16, Function, LaunchConfig, LaunchError,
    LaunchLimit, LoadOptions, Module, Stream, args,
};
use kernite::kernel::ParameterKind;
use kernite::types::{Access, Scalar, Type};
use kernite_cuda_tests::fake::{Fake, adopt_slice_mut};
use kernite_cuda_tests::kernels::{SAXPY, aliasing, empty_entry, many_buffers, saxpy};

struct Setup {
    fake: Fake,
    context: Context,
    stream: Stream,
}

fn setup() -> Setup {
    let fake = Fake::new();
    let context = fake.context();
    let stream = context.stream().unwrap();
    Setup {
        fake,
        context,
        stream,
    }
}

impl Setup {
    fn load(&self, text: &str) -> Module {
        Module::load(&self.context, text, &LoadOptions::new()).unwrap()
    }

    fn saxpy(&self) -> Function {
        self.load(SAXPY)
            .kernel("saxpy", &saxpy().signature())
            .unwrap()
    }

    #[track_caller]
    fn refused(&self, function: &Function, config: &LaunchConfig, args: &[Arg<'_>]) -> LaunchError {
        self.fake.log();
        let error = match self.fake.launch(function, &self.stream, config, args) {
            Err(Error::Launch(error)) => *error,
            other => panic!("{other:?}"),
        };
        assert!(
            !self.fake.calls().contains(&"cuLaunchKernel".into()),
            "{error}"
        );
        error
    }
}

#[track_caller]
fn fault(error: LaunchError) -> (usize, ArgumentFault) {
    match error {
        LaunchError::Argument { index, fault, .. } => (index, fault),
        other => panic!("{other}"),
    }
}

#[test]
fn arguments_arrive_with_the_hidden_ones() {
    let s = setup();
    let function = s.saxpy();
    let (x, mut y) = (
        s.context.upload(&[0f32; 300]).unwrap(),
        s.context.upload(&[0f32; 300]).unwrap(),
    );
    let config = function.config_for(300).unwrap();
    assert_eq!((config.grid, config.block), ([3, 1, 1], [128, 1, 1]));
    s.fake.log();
    s.fake
        .launch(&function, &s.stream, &config, &args![2.0f32, &x, &mut y])
        .unwrap();
    let log = s.fake.log();
    let expected = format!(
        "arguments 0x40000000 {:#x} {:#x} {:#x}",
        x.as_raw(),
        y.as_raw(),
        300
    );
    assert_eq!(log[1], expected);
    assert!(log[0].contains("[3, 1, 1], [128, 1, 1], 0,"), "{log:?}");
    // A slice passes its own address and length.
    s.fake
        .launch(
            &function,
            &s.stream,
            &config,
            &args![2.0f32, x.get(100..).unwrap(), y.get_mut(4..8).unwrap()],
        )
        .unwrap();
    let expected = format!(
        "arguments 0x40000000 {:#x} {:#x} 0x4",
        x.as_raw() + 400,
        y.as_raw() + 16
    );
    assert_eq!(s.fake.log()[1], expected);
    assert_eq!(s.fake.violations(), [""; 0]);
}

#[test]
fn numbers_arrive_in_their_width() {
    let s = setup();
    let types = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::F64,
        Scalar::U16,
        Scalar::F16,
        Scalar::I64,
        Scalar::I32,
    ];
    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    for _ in types {
        b.scalar("", Type::F32);
    }
    let mut signature = b.finish().unwrap().signature();
    // What the builder does not take yet.
    let mut end = 0;
    for (parameter, ty) in signature.params.iter_mut().zip(types) {
        let size = u64::from(ty.bytes().max(1));
        parameter.ptx_offset = u64::next_multiple_of(end, size);
        end = parameter.ptx_offset + size;
        parameter.kind = ParameterKind::Scalar {
            ty,
            push_constant_offset: 0,
        };
    }
    let params = ".param .u8 a, .param .s8 b, .param .f64 c, .param .u16 d, .param .b16 e, .param .s64 f, .param .s32 g";
    let function = s
        .load(&empty_entry("k", params, [32, 1, 1]))
        .kernel("k", &signature)
        .unwrap();
    s.fake.log();
    let args = args![true, -1i8, 20.0f64, 7u16, F16(0x3C00), -2i64, -3i32];
    s.fake
        .launch(
            &function,
            &s.stream,
            &function.config_for(1).unwrap(),
            &args,
        )
        .unwrap();
    let expected = "arguments 0x1 0xff 0x4034000000000000 0x7 0x3c00 0xfffffffffffffffe 0xfffffffd";
    assert_eq!(s.fake.log()[1], expected);
    assert_eq!(s.fake.violations(), [""; 0]);
}

#[test]
fn wrong_arguments_never_reach_the_driver() {
    let s = setup();
    let function = s.saxpy();
    let config = function.config_for(8).unwrap();
    let (x, mut y) = (
        s.context.upload(&[0f32; 8]).unwrap(),
        s.context.upload(&[0f32; 8]).unwrap(),
    );

    let few = s.refused(&function, &config, &args![1.0f32, &x]);
    assert_eq!(
        few,
        LaunchError::ArgumentCount {
            expected: 3,
            found: 2
        }
    );
    let many = s.refused(&function, &config, &args![1.0f32, &x, &mut y, 8u64]);
    assert_eq!(
        many,
        LaunchError::ArgumentCount {
            expected: 3,
            found: 4
        }
    );

    // The literal 20.0 is an f64, whose low word is 0.
    let wide = fault(s.refused(&function, &config, &args![20.0, &x, &mut y]));
    assert_eq!(
        wide,
        (
            0,
            ArgumentFault::Type {
                expected: Scalar::F32,
                found: Type::F64
            }
        )
    );
    let swapped = fault(s.refused(&function, &config, &args![&x, 1.0f32, &mut y]));
    assert_eq!(swapped, (0, ArgumentFault::ExpectedScalar(Scalar::F32)));
    let number = fault(s.refused(&function, &config, &args![1.0f32, 1u64, &mut y]));
    assert_eq!(number, (1, ArgumentFault::ExpectedBuffer(Type::F32)));
    let ints = s.context.upload(&[0u32; 8]).unwrap();
    let element = s.refused(&function, &config, &args![1.0f32, &ints, &mut y]);
    assert!(element.to_string().contains("(\"x\")"), "{element}");
    assert_eq!(
        fault(element),
        (
            1,
            ArgumentFault::Element {
                expected: Type::F32,
                found: Type::U32
            }
        )
    );
    let shared = s.context.upload(&[0f32; 8]).unwrap();
    assert_eq!(
        fault(s.refused(&function, &config, &args![1.0f32, &x, &shared])),
        (2, ArgumentFault::ReadOnly)
    );
    assert_eq!(
        fault(s.refused(
            &function,
            &config,
            &[1.0f32.into(), (&x).into(), Arg::aliased(&y)]
        )),
        (2, ArgumentFault::NotAliased)
    );

    let other = s
        .fake
        .driver()
        .device(1)
        .unwrap()
        .primary_context()
        .unwrap();
    let theirs = other.upload(&[0f32; 8]).unwrap();
    assert_eq!(
        fault(s.refused(&function, &config, &args![1.0f32, &theirs, &mut y])),
        (1, ArgumentFault::OtherContext)
    );
    let misaligned = adopt_slice_mut::<f32>(&s.context, y.as_raw() + 2, 1).unwrap();
    let expected = ArgumentFault::Misaligned {
        address: y.as_raw() + 2,
        align: 4,
    };
    assert_eq!(
        fault(s.refused(&function, &config, &args![1.0f32, &x, misaligned])),
        (2, expected)
    );
}

#[test]
fn vectors_need_their_alignment() {
    let s = setup();
    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    b.buffer("v", Type::F32, Access::Read);
    let mut signature = b.finish().unwrap().signature();
    // What the builder does not take yet.
    if let ParameterKind::Buffer { elem, .. } = &mut signature.params[0].kind {
        *elem = Type::vector(Scalar::F32, 4).unwrap();
    }
    let function = s
        .load(&empty_entry("k", ".param .u64 v", [32, 1, 1]))
        .kernel("k", &signature)
        .unwrap();
    let config = function.config_for(1).unwrap();
    let buffer = s.context.upload(&[0f32; 16]).unwrap();
    let whole = buffer.as_slice().cast::<[f32; 4]>().unwrap();
    s.fake
        .launch(&function, &s.stream, &config, &args![whole])
        .unwrap();
    let part = buffer.get(1..9).unwrap().cast::<[f32; 4]>().unwrap();
    let (_, fault) = fault(s.refused(&function, &config, &args![part]));
    assert_eq!(
        fault,
        ArgumentFault::Misaligned {
            address: buffer.as_raw() + 4,
            align: 16
        }
    );
}

#[test]
fn overlaps_are_refused_where_one_is_written() {
    let s = setup();
    let function = s.saxpy();
    let config = function.config_for(8).unwrap();
    let y = s.context.upload(&[0f32; 16]).unwrap();
    let view =
        |start: u64, len| adopt_slice_mut::<f32>(&s.context, y.as_raw() + start * 4, len).unwrap();
    let overlap = s.refused(
        &function,
        &config,
        &args![1.0f32, y.get(..8).unwrap(), view(7, 8)],
    );
    assert_eq!(
        overlap,
        LaunchError::Overlap {
            first: 1,
            second: 2
        }
    );
    let overlap = s.refused(
        &function,
        &config,
        &args![1.0f32, y.get(4..).unwrap(), view(0, 5)],
    );
    assert_eq!(
        overlap,
        LaunchError::Overlap {
            first: 2,
            second: 1
        }
    );
    s.fake
        .launch(
            &function,
            &s.stream,
            &config,
            &args![1.0f32, y.get(..8).unwrap(), view(8, 8)],
        )
        .unwrap();

    // Declared so, they may.
    let (signature, text) = aliasing();
    let function = s.load(&text).kernel("alias", &signature).unwrap();
    let config = function.config_for(1).unwrap();
    s.fake
        .launch(
            &function,
            &s.stream,
            &config,
            &[(&y).into(), Arg::aliased(&y)],
        )
        .unwrap();
    // Managed memory, which the host may look at, needs an exclusive borrow all the same.
    let unified = s.context.unified::<f32>(4).unwrap();
    let (_, fault) = fault(s.refused(
        &function,
        &config,
        &[(&unified).into(), Arg::aliased(&unified)],
    ));
    assert_eq!(fault, ArgumentFault::ReadOnly);

    // Readers may overlap, and hundreds of buffers are no trouble.
    let (signature, text) = many_buffers(500, Access::Read);
    let function = s.load(&text).kernel("many", &signature).unwrap();
    let args: Vec<Arg<'_>> = (0..500).map(|_| Arg::from(&y)).collect();
    s.fake.launch(&function, &s.stream, &config, &args).unwrap();
    let (signature, text) = many_buffers(500, Access::ReadWrite);
    let function = s.load(&text).kernel("many", &signature).unwrap();
    let mut buffers: Vec<_> = (0..500)
        .map(|_| s.context.alloc::<f32>(4).unwrap())
        .collect();
    let mut args: Vec<Arg<'_>> = buffers.iter_mut().map(Arg::from).collect();
    s.fake.launch(&function, &s.stream, &config, &args).unwrap();
    args[499] = view(0, 4).into();
    args[3] = view(3, 4).into();
    assert_eq!(
        s.refused(&function, &config, &args),
        LaunchError::Overlap {
            first: 499,
            second: 3
        }
    );
}

#[test]
fn grids_and_blocks_stay_within_the_device() {
    let s = setup();
    let function = s.saxpy();
    let (x, mut y) = (
        s.context.upload(&[0f32; 8]).unwrap(),
        s.context.upload(&[0f32; 8]).unwrap(),
    );
    let mut run = |config: LaunchConfig| {
        s.fake
            .launch(&function, &s.stream, &config, &args![1.0f32, &x, &mut y])
    };
    let launch_error = |result| match result {
        Err(Error::Launch(error)) => *error,
        other => panic!("{other:?}"),
    };
    let block = [128, 1, 1];
    // An empty grid runs nothing, and is no error.
    s.fake.log();
    for grid in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
        run(LaunchConfig::new(grid, block)).unwrap();
    }
    run(function.config_for(0).unwrap()).unwrap();
    assert_eq!(s.fake.calls(), [""; 0]);
    let error = launch_error(run(LaunchConfig::new([1, 65536, 1], block)));
    assert_eq!(
        error,
        LaunchError::Limit {
            limit: LaunchLimit::GridY,
            needed: 65536,
            available: 65535
        }
    );
    let error = launch_error(run(LaunchConfig::new([u32::MAX, 1, 1], block)));
    assert!(
        matches!(
            error,
            LaunchError::Limit {
                limit: LaunchLimit::GridX,
                ..
            }
        ),
        "{error}"
    );
    let error = launch_error(run(LaunchConfig::new([1, 1, 1], [64, 1, 1])));
    assert_eq!(
        error,
        LaunchError::Block {
            given: [64, 1, 1],
            expected: block
        }
    );
    assert!(matches!(
        function.config_for(u64::MAX),
        Err(Error::Launch(_))
    ));

    // A kernel of which nothing is known.
    let raw = s
        .load(&empty_entry("k", "", [1, 1, 1]))
        .function("k")
        .unwrap();
    let launch =
        |config: LaunchConfig| kernite_cuda_tests::fake::launch_raw(&raw, &s.stream, &config);
    assert!(matches!(
        launch_error(launch(LaunchConfig::new([1; 3], [1, 0, 1]))),
        LaunchError::EmptyBlock { .. }
    ));
    let error = launch_error(launch(LaunchConfig::new([1; 3], [1, 1, 65])));
    assert_eq!(
        error,
        LaunchError::Limit {
            limit: LaunchLimit::BlockZ,
            needed: 65,
            available: 64
        }
    );
    let error = launch_error(launch(LaunchConfig::new([1; 3], [1024, 2, 1])));
    assert!(
        matches!(
            error,
            LaunchError::Threads {
                threads: 2048,
                max: 1024,
                ..
            }
        ),
        "{error}"
    );
    launch(LaunchConfig::new([1; 3], [1024, 1, 1])).unwrap();
    assert!(
        matches!(raw.launch(&s.stream, &LaunchConfig::new([1; 3], [1; 3]), &[]), Err(Error::Launch(e)) if *e == LaunchError::NoSignature)
    );
}

#[test]
fn registers_limit_the_threads() {
    let s = setup();
    // 156 registers times 512 threads pass 65536.
    s.fake.set("function.0", 384);
    s.fake.set("function.4", 156);
    let function = s
        .load(&empty_entry("k", "", [512, 1, 1]))
        .function("k")
        .unwrap();
    assert_eq!(
        (
            function.attributes().max_threads_per_block,
            function.attributes().registers
        ),
        (384, 156)
    );
    let error = kernite_cuda_tests::fake::launch_raw(
        &function,
        &s.stream,
        &LaunchConfig::new([1; 3], [512, 1, 1]),
    )
    .unwrap_err();
    let text = error.to_string();
    for number in ["512", "384", "156", "65536"] {
        assert!(text.contains(number), "{text}");
    }
    // What the driver finds too many leaves the context usable.
    s.fake.inject("cuLaunchKernel", 0, 701);
    let error = kernite_cuda_tests::fake::launch_raw(
        &function,
        &s.stream,
        &LaunchConfig::new([1; 3], [32, 1, 1]),
    )
    .unwrap_err();
    assert_eq!(error.code(), Some(Code::LAUNCH_OUT_OF_RESOURCES));
    assert!(
        error.to_string().contains("smaller workgroups") && !error.is_late(),
        "{error}"
    );
    s.stream.synchronize().unwrap();
    assert!(!s.context.is_lost());
    let suggested = function.suggested_block(0).unwrap();
    assert_eq!((suggested.threads, suggested.blocks), (512, 264));
    assert_eq!(function.blocks_per_multiprocessor(512, 0).unwrap(), 4);
}

#[test]
fn shared_memory_is_asked_for_above_48_kib() {
    let s = setup();
    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    b.shared_dynamic("tile", Type::F32);
    let signature = b.finish().unwrap().signature();
    let text = empty_entry("k", "", [32, 1, 1]);
    let run = |function: &Function, bytes: u32| {
        s.fake.log();
        let config = function.config_for(32).unwrap().dynamic_shared_bytes(bytes);
        let result = s.fake.launch(function, &s.stream, &config, &[]);
        (
            result,
            s.fake.calls().contains(&"cuFuncSetAttribute".into()),
        )
    };
    let function = s.load(&text).kernel("k", &signature).unwrap();
    assert!(
        matches!(run(&function, 49152), (Ok(()), false)),
        "48 KiB need nothing"
    );
    assert!(matches!(run(&function, 49153), (Ok(()), true)));
    assert!(
        matches!(run(&function, 232_448), (Ok(()), false)),
        "asked for once"
    );
    let error = run(&function, 232_449).0.unwrap_err().to_string();
    assert!(
        error.contains("232449") && error.contains("232448"),
        "{error}"
    );
    assert!(run(&function, u32::MAX).0.is_err());

    // Static memory counts: 1024 + 48128 is 48 KiB, 1024 + 49152 is more.
    s.fake.set("function.1", 1024);
    let function = s.load(&text).kernel("k", &signature).unwrap();
    assert!(matches!(run(&function, 48128), (Ok(()), false)));
    assert!(matches!(run(&function, 49152), (Ok(()), true)));
    let error = run(&function, 232_448).0.unwrap_err().to_string();
    assert!(
        error.contains("1024 bytes of static") && error.contains("232448"),
        "{error}"
    );

    s.fake.set("function.1", 0);
    let saxpy = s.saxpy();
    let (x, mut y) = (
        s.context.alloc::<f32>(1).unwrap(),
        s.context.alloc::<f32>(1).unwrap(),
    );
    let config = saxpy.config_for(1).unwrap().dynamic_shared_bytes(4);
    assert_eq!(
        s.refused(&saxpy, &config, &args![1.0f32, &x, &mut y]),
        LaunchError::NoDynamicShared { bytes: 4 }
    );
}

#[test]
fn only_checked_kernels_launch_safely() {
    let s = setup();
    let module = s.load(SAXPY);
    let signature = saxpy().signature();
    let unchecked = module.kernel("saxpy", &signature).unwrap();
    let config = unchecked.config_for(8).unwrap();
    let (x, mut y) = (
        s.context.upload(&[0f32; 8]).unwrap(),
        s.context.upload(&[0f32; 8]).unwrap(),
    );
    let result = unchecked.launch(&s.stream, &config, &args![1.0f32, &x, &mut y]);
    assert!(matches!(result, Err(Error::Launch(e)) if *e == LaunchError::Unchecked));
    let checked = s.fake.checked_kernel(&module, "saxpy", &signature).unwrap();
    assert!(checked.is_checked() && !unchecked.is_checked());
    checked
        .launch(&s.stream, &config, &args![1.0f32, &x, &mut y])
        .unwrap();

    let mut b = KernelBuilder::new("k", [32, 1, 1]);
    let lane = b.local_id(0);
    b.assume_uniform(lane);
    let signature = b.finish().unwrap().signature();
    let module = s.load(&empty_entry("k", "", [32, 1, 1]));
    let assuming = s.fake.checked_kernel(&module, "k", &signature).unwrap();
    let result = assuming.launch(&s.stream, &assuming.config_for(1).unwrap(), &[]);
    assert!(matches!(result, Err(Error::Launch(e)) if *e == LaunchError::AssumesUniform));
}

#[test]
fn buffers_may_be_dropped_right_after_the_launch() {
    let s = setup();
    let function = s.saxpy();
    for round in 0..10 {
        let x = s.stream.alloc_zeroed::<f32>(8).unwrap();
        let mut y = s.context.upload(&[0f32; 8]).unwrap();
        let stream = if round % 2 == 0 {
            s.stream.clone()
        } else {
            s.context.stream().unwrap()
        };
        s.fake
            .launch(
                &function,
                &stream,
                &function.config_for(8).unwrap(),
                &args![1.0f32, &x, &mut y],
            )
            .unwrap();
        if round % 3 == 0 {
            // A stream that is never dropped changes nothing.
            std::mem::forget(stream.clone());
        }
    }
    drop(function);
    assert_eq!(s.fake.violations(), [""; 0]);
}
