//! The reference executor on several threads gives what it gives on one: random kernels with random inputs, and the
//! example kernels.

use kernite::kernel::ParamRef;
use kernite::reference::{Arg, Buffer, Executor, Options};
use kernite::types::Type;
use kernite_suite::choices::SplitMix;
use kernite_suite::differential::{case, seeds};
use kernite_suite::generate::Config;
use kernite_suite::run::{Case, Value};

/// Groups along x: enough for every thread.
const GROUPS: u32 = 12;

fn arguments(case: &Case) -> Vec<Arg> {
    let mut types = case.kernel.buffers().iter().map(|b| b.elem);
    let arg = |(param, value): (&ParamRef, &Value)| match (param, value) {
        (ParamRef::Buffer(_), Value::Bytes(bytes)) => {
            // Each workgroup has elements of its own, so there must be more of them.
            let bytes = bytes.repeat(GROUPS as usize);
            let ty = types.next().unwrap_or(Type::NONE);
            Arg::Buffer(Buffer::from_bytes(ty, &bytes).expect("whole elements"))
        }
        (_, Value::Scalar(c)) => Arg::Scalar(*c),
        (ParamRef::Scalar(_), Value::Bytes(_)) => panic!("a buffer for a scalar"),
    };
    case.kernel
        .params()
        .iter()
        .zip(&case.args)
        .map(arg)
        .collect()
}

#[test]
fn random_kernels_do_on_threads_what_they_do_on_one() {
    let mut orderless = 0;
    for seed in 0..seeds(150) {
        let decisions = SplitMix::decisions(seed, 300);
        let config = Config {
            // Few enough that many kernels come without an atomic.
            statements: 12,
            ..Config::default()
        };
        let case = case("threads", &decisions, config).expect("a valid kernel");
        let atomic = |used: &kernite::kernel::BufferUse| used.atomic;
        orderless += u32::from(!case.kernel.buffer_uses().iter().any(atomic));
        let run = |threads| {
            let mut options = Options::default();
            options.threads = threads;
            let mut args = arguments(&case);
            let report = Executor::new(options).run(&case.kernel, [GROUPS, 1, 1], &mut args);
            (report, args)
        };
        let one = run(1);
        for threads in [2, 5] {
            assert_eq!(run(threads), one, "seed {seed}, {threads} threads");
        }
    }
    assert!(orderless > 20, "kernels without atomics: {orderless}");
}
