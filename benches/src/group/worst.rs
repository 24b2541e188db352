//! Kernels that are not straight: much control flow, many variables, constants, precise functions, and random ones. What
//! counts is the cost an instruction beside that of a straight kernel.

use super::Stage;
use crate::count;
use crate::paired::Contestant;
use kernite::builder::KernelBuilder;
use kernite::kernel::Kernel;
use kernite::types::{Access, Type};
use kernite_stages::{Ours, kernels};
use kernite_suite::choices::{Choices, SplitMix};
use kernite_suite::generate::{self, Config};
use std::hint::black_box;

/// How often a hand-made kernel repeats what it is about.
const TIMES: u32 = 200;

pub(super) fn contestants(stage: Stage) -> Vec<Contestant> {
    let mut all = Vec::new();
    for (name, describe) in MADE {
        let kernel = kernels::build(describe);
        all.push(contestant(name, kernel, stage, Some(describe)));
    }
    for (name, seed) in [
        ("random 1", 1),
        ("random 2", 2),
        ("random 3", 3),
        ("random 4", 4),
    ] {
        all.push(contestant(name, random(seed), stage, None));
    }
    all
}

/// A kernel of many random statements.
fn random(seed: u64) -> Kernel {
    let decisions = SplitMix::decisions(seed, 20_000);
    let config = Config {
        statements: 2_000,
        ..Config::default()
    };
    generate::kernel("random", &mut Choices::new(&decisions), config).expect("a valid kernel")
}

type Describe = fn(&mut KernelBuilder);

fn contestant(
    name: &'static str,
    kernel: Kernel,
    stage: Stage,
    describe: Option<Describe>,
) -> Contestant {
    let mut ours = Ours::default();
    let text = ours.emit_ptx(&kernel);
    let text = (count::ptx(text), text.len());
    let words = ours.emit_spirv(&kernel).to_vec();
    ours.validate(&words);
    let module = (count::spirv(&words), 4 * words.len());
    match (stage, describe) {
        (Stage::Build, Some(describe)) => {
            let size = (kernel.insts().len(), size_of_val(kernel.insts()));
            let mut builder = KernelBuilder::new("warm", [1, 1, 1]);
            Contestant::new(name, size, move || {
                describe(&mut builder);
                let kernel = builder.finish().expect("a valid kernel");
                builder.recycle(kernel);
            })
        }
        // A kernel that the generator made is verified when it is read.
        (Stage::Build, None) => {
            let bytes = kernel.to_bytes();
            let size = (kernel.insts().len(), bytes.len());
            Contestant::new(name, size, move || Kernel::from_bytes(&bytes))
        }
        (Stage::Ptx, _) => Contestant::new(name, text, move || {
            black_box(ours.emit_ptx(&kernel));
        }),
        (Stage::Spirv, _) => Contestant::new(name, module, move || {
            black_box(ours.emit_spirv(&kernel));
        }),
        (Stage::Validate, _) => Contestant::new(name, module, move || ours.validate(&words)),
    }
}

const MADE: [(&str, Describe); 8] = [
    ("straight", |b| kernels::straight_line(b, 1_000)),
    ("branches", branches),
    ("nested branches", nested_branches),
    ("loops", loops),
    ("barriers in loops", barriers_in_loops),
    ("variables", variables),
    ("constants", constants),
    ("memory", memory),
];

/// One branch after the other, each with both sides.
fn branches(b: &mut KernelBuilder) {
    b.reset("branches", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let result = b.var(x);
    for _ in 0..TIMES {
        let now = b.get(result);
        let odd = b.lt(now, x);
        b.if_else(
            odd,
            |b| {
                let more = b.add(now, x);
                b.set(result, more);
            },
            |b| {
                let less = b.sub(now, i);
                b.set(result, less);
            },
        );
    }
    let result = b.get(result);
    b.store(data, i, result);
}

/// Branches in branches, 20 deep.
fn nested_branches(b: &mut KernelBuilder) {
    fn nest(b: &mut KernelBuilder, depth: u32, result: kernite::kernel::Var) {
        let now = b.get(result);
        let limit = b.constant(depth);
        let more = b.gt(now, limit);
        b.when(more, |b| {
            let next = b.sub(now, limit);
            b.set(result, next);
            if depth > 0 {
                nest(b, depth - 1, result);
            }
        });
    }
    b.reset("nested_branches", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let result = b.var(x);
    for _ in 0..TIMES / 20 {
        nest(b, 20, result);
    }
    let result = b.get(result);
    b.store(data, i, result);
}

/// Loops in loops, with a way out of each.
fn loops(b: &mut KernelBuilder) {
    b.reset("loops", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let (zero, ten) = (b.constant(0u32), b.constant(10u32));
    let result = b.var(x);
    for _ in 0..TIMES / 4 {
        b.for_range(zero, ten, |b, outer| {
            b.for_range(zero, outer, |b, inner| {
                let now = b.get(result);
                let next = b.add(now, inner);
                b.set(result, next);
                let enough = b.gt(next, x);
                b.when(enough, |b| b.break_());
            });
        });
    }
    let result = b.get(result);
    b.store(data, i, result);
}

/// Loops that all threads run alike, with barriers: here uniformity is looked at.
fn barriers_in_loops(b: &mut KernelBuilder) {
    b.reset("barriers_in_loops", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let count = b.scalar("count", Type::U32);
    let tile = b.shared("tile", Type::U32, 64);
    let (i, local) = (b.global_id(0), b.local_index());
    let x = b.load(data, i);
    let (zero, count) = (b.constant(0u32), b.param(count));
    let result = b.var(x);
    for _ in 0..TIMES / 4 {
        b.for_range(zero, count, |b, _| {
            let now = b.get(result);
            b.store(tile, local, now);
            b.workgroup_barrier();
            let first = b.load(tile, zero);
            let next = b.add(now, first);
            b.set(result, next);
            b.workgroup_barrier();
        });
    }
    let result = b.get(result);
    b.store(data, i, result);
}

/// Values handed on from variable to variable around loops, with barriers: divergence spreads against program order, by one
/// variable a round.
fn variables(b: &mut KernelBuilder) {
    const CHAIN: usize = 20;
    b.reset("variables", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let count = b.scalar("count", Type::U32);
    let i = b.global_id(0);
    let (zero, count) = (b.constant(0u32), b.param(count));
    for _ in 0..TIMES / 20 {
        let chain = [zero; CHAIN].map(|zero| b.var(zero));
        b.for_range(zero, count, |b, _| {
            for pair in chain.windows(2).rev() {
                let handed = b.get(pair[0]);
                b.set(pair[1], handed);
            }
            b.set(chain[0], i);
            b.workgroup_barrier();
        });
        let result = b.get(chain[CHAIN - 1]);
        b.store(data, i, result);
    }
}

/// No constant twice.
fn constants(b: &mut KernelBuilder) {
    b.reset("constants", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let mut x = b.load(data, i);
    for n in 0..TIMES * 5 {
        let c = b.constant(n.wrapping_mul(0x9E37_79B9));
        x = b.xor(x, c);
    }
    b.store(data, i, x);
}

/// Loads, stores and atomics.
fn memory(b: &mut KernelBuilder) {
    b.reset("memory", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let count = b.buffer("count", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    for n in 0..TIMES {
        let x = b.load_offset(data, i, n);
        b.store_offset(data, i, n + 1, x);
        b.atomic_add(count, i, x);
    }
}
