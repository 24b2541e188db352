//! Arguments of types known at run time, and lengths.

use kernite::cuda::Module;
use kernite::cuda::{Arg, ArgumentFault, Error, LaunchError, LoadOptions, args};
use kernite::kernel::{Bounds, Kernel};
use kernite::types::{Scalar, Type};
use kernite::{Access, KernelBuilder};
use kernite_cuda_tests::fake::{Fake, adopt_slice, adopt_slice_mut};
use kernite_cuda_tests::kernels::many_buffers;

/// Stores `value` to each byte, asking for the length as `u32` or as `u64`.
fn fill_bytes(wide: bool) -> Kernel {
    let mut b = KernelBuilder::new("fill_bytes", [256, 1, 1]);
    let data = b.buffer("data", Type::U8, Access::Write);
    let value = b.scalar("value", Type::U8);
    let (i, value) = (b.global_id(0), b.param(value));
    let inside = if wide {
        let (i, n) = (b.convert(i, Type::U64), b.array_length_u64(data));
        b.lt(i, n)
    } else {
        let n = b.array_length(data);
        b.lt(i, n)
    };
    b.when(inside, |b| b.store(data, i, value));
    b.finish().expect("the kernel is valid")
}

#[test]
fn a_length_that_the_kernel_cannot_count_is_refused() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let at = context.alloc::<u8>(16).unwrap();
        let most = u32::MAX as usize;
        let kernel = fill_bytes(false);
        assert!(kernel.buffer_uses()[0].length_u32);
        let narrow = context
            .load_kernel_checked(&kernel, &LoadOptions::new())
            .unwrap();
        let wide = context
            .load_kernel_checked(&fill_bytes(true), &LoadOptions::new())
            .unwrap();
        let config = narrow.config_for(1).unwrap();
        // From 2^31 on a length is no `i32`, which nothing here takes it for; from 2^32 on it is no `u32`.
        for len in [1 << 31, most, most + 1, (1 << 32) + 16] {
            let slice = || adopt_slice_mut::<u8>(&context, at.as_raw(), len).unwrap();
            fake.log();
            let result = narrow.launch(&stream, &config, &args![slice(), 7u8]);
            if len <= most {
                result.unwrap();
            } else {
                let Err(Error::Launch(error)) = result else {
                    panic!("{result:?}")
                };
                let fault = ArgumentFault::TooLong { len: len as u64 };
                assert!(
                    matches!(&*error, LaunchError::Argument { index: 0, fault: f, .. } if *f == fault),
                    "{error}"
                );
                assert!(error.to_string().contains("as u32"), "{error}");
                assert!(!fake.calls().contains(&"cuLaunchKernel".into()));
            }
            // All 64 bits of it reach a kernel that asks for them, and the checks of accesses.
            fake.log();
            wide.launch(&stream, &config, &args![slice(), 7u8]).unwrap();
            let log = fake.log();
            let arguments = log
                .iter()
                .find(|line| line.starts_with("arguments"))
                .unwrap();
            assert!(arguments.ends_with(&format!(" {len:#x}")), "{arguments}");
        }
        // A buffer whose length nobody asks for may have any.
        let mut b = KernelBuilder::new("first", [1, 1, 1]);
        let data = b.buffer("data", Type::U8, Access::Read);
        let out = b.buffer("out", Type::U8, Access::Write);
        let zero = b.constant(0u32);
        let x = b.load(data, zero);
        b.store(out, zero, x);
        let kernel = b.finish().unwrap();
        assert_eq!(kernel.signature_with(Bounds::Checked).lengths.len(), 2);
        let first = context
            .load_kernel_checked(&kernel, &LoadOptions::new())
            .unwrap();
        let mut out = context.alloc::<u8>(1).unwrap();
        let long = adopt_slice::<u8>(&context, 1 << 40, most + 1).unwrap();
        first
            .launch(
                &stream,
                &first.config_for(1).unwrap(),
                &args![long, &mut out],
            )
            .unwrap();
    }
    fake.assert_clean();
}

#[test]
fn bytes_are_elements_of_a_type_known_at_run_time() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        let pair = Type::vector(Scalar::F32, 2).unwrap();
        let mut b = KernelBuilder::new("pairs", [32, 1, 1]);
        let data = b.buffer("data", pair, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load(data, i);
        b.store(data, i, x);
        let kernel = b.finish().unwrap();
        let function = context
            .load_kernel_checked(&kernel, &LoadOptions::new())
            .unwrap();
        let config = function.config_for(1).unwrap();
        let mut bytes = context.alloc::<u8>(24).unwrap();
        fake.log();
        let arg = Arg::bytes_mut(pair, bytes.as_slice_mut()).unwrap();
        function.launch(&stream, &config, &[arg]).unwrap();
        let log = fake.log();
        let arguments = log
            .iter()
            .find(|line| line.starts_with("arguments"))
            .unwrap();
        assert!(arguments.ends_with(" 0x3"), "{arguments}");
        let fault = |arg: Arg<'_>| match function.launch(&stream, &config, &[arg]) {
            Err(Error::Launch(error)) => match *error {
                LaunchError::Argument { fault, .. } => fault,
                other => panic!("{other}"),
            },
            other => panic!("{other:?}"),
        };
        let read = Arg::bytes(pair, bytes.as_slice()).unwrap();
        assert_eq!(fault(read), ArgumentFault::ReadOnly);
        let other = Arg::bytes_mut(Type::F64, bytes.as_slice_mut()).unwrap();
        assert!(matches!(fault(other), ArgumentFault::Element { .. }));
        let odd = bytes.get_mut(4..20).unwrap();
        let odd = Arg::bytes_mut(pair, odd).unwrap();
        assert!(matches!(
            fault(odd),
            ArgumentFault::Misaligned { align: 8, .. }
        ));
        assert!(matches!(
            Arg::bytes(pair, bytes.get(..12).unwrap()),
            Err(Error::Cast { .. })
        ));
        assert!(Arg::bytes(Type::BOOL, bytes.as_slice()).is_err());
    }
    fake.assert_clean();
}

#[test]
fn overlaps_are_found_among_any_number_of_buffers() {
    let fake = Fake::new();
    {
        let context = fake.context();
        let stream = context.stream().unwrap();
        // Through each way in which the addresses are kept: on the stack twice, and beyond.
        for count in [2, 8, 31, 32, 33, 540] {
            let memory = context.alloc::<f32>(4 * count + 4).unwrap();
            let (signature, text) = many_buffers(count, Access::ReadWrite);
            let module = Module::load(&context, &text, &LoadOptions::new()).unwrap();
            let function = fake.checked_kernel(&module, "many", &signature).unwrap();
            let config = function.config_for(1).unwrap();
            let launch = |starts: &[usize]| {
                let slices = starts.iter().map(|&start| {
                    let at = memory.as_raw() + 16 * start as u64;
                    adopt_slice_mut::<f32>(&context, at, 4).unwrap().into()
                });
                function.launch(&stream, &config, &slices.collect::<Vec<Arg<'_>>>())
            };
            let up: Vec<usize> = (0..count).collect();
            let down: Vec<usize> = up.iter().rev().copied().collect();
            launch(&up).unwrap();
            launch(&down).unwrap();
            let mut twice = down.clone();
            twice[0] = 0;
            let error = launch(&twice).unwrap_err();
            let Error::Launch(error) = error else {
                panic!("{error}")
            };
            let LaunchError::Overlap { first, second } = *error else {
                panic!("{error}")
            };
            let mut pair = [first, second];
            pair.sort_unstable();
            assert_eq!(pair, [0, count - 1]);
        }
    }
    fake.assert_clean();
}
