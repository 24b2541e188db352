//! The GPU tests' kernels assemble and do what they should, wherever there is no GPU too.
#![forbid(unsafe_code)]

use kernite::ptx::{self, Options};
use kernite::reference::{self, Arg, Executor, Launch};
use kernite_cuda_tests::kernels;
use kernite_testkit::ptxas::Ptxas;

#[test]
fn everything_assembles() {
    let Some(ptxas) = Ptxas::get() else { return };
    let mut texts = vec![
        ("saxpy by hand", kernels::SAXPY.to_owned()),
        (
            "many buffers",
            kernels::many_buffers(3, kernite::Access::Read).1,
        ),
        ("aliasing", kernels::aliasing().1),
        ("many registers", kernels::many_registers("k", 80, "")),
        (
            "many registers, 1024 threads",
            kernels::many_registers("k", 80, ".maxntid 1024, 1, 1"),
        ),
        ("misaligned", kernels::misaligned()),
        ("racy", kernels::racy()),
    ];
    for kernel in [
        kernels::saxpy(),
        kernels::dynamic_shared(),
        kernels::count_up(),
        kernels::wild_store(),
    ] {
        texts.push(("emitted", ptx::emit(&kernel, &Options::default()).unwrap()));
    }
    for (name, text) in texts {
        if let Err(error) = ptxas.assemble(&text, "sm_90") {
            panic!("{name}: {error}\n{text}");
        }
    }
}

#[test]
fn the_kernels_compute_what_the_tests_expect() {
    let mut executor = Executor::new(reference::Options::default());
    let mut args = [Arg::from(vec![0u32; 300]), Arg::from(7u32)];
    executor
        .run(&kernels::count_up(), [2, 1, 1], &mut args)
        .unwrap();
    assert_eq!(args[0].as_slice::<u32>(), Some(&[7; 300][..]));
    let mut args = [Arg::from(vec![0u32; 4]), Arg::from(63u32)];
    let launch = Launch::from([4, 1, 1]).dynamic_shared(64);
    executor
        .run(&kernels::dynamic_shared(), launch, &mut args)
        .unwrap();
    assert_eq!(args[0].as_slice::<u32>(), Some(&[496; 4][..]));
}
