//! Random kernels are valid, equal decisions give equal kernels, and nothing of the opcode table is out of their reach.

use kernite::kernel::{Bounds, Inst, Kernel, Mem, Ordering, SharedLen};
use kernite::op::{Op, Operand};
use kernite::types::{Order, Scope, Type, TypeSet};
use kernite_suite::choices::{BLOCK, Choices, DECISIONS, SplitMix};
use kernite_suite::coverage::{missing, pairs, wanted};
use kernite_suite::filetest::blessing;
use kernite_suite::gaps::GAPS;
use kernite_suite::generate::{self, Config};
use kernite_suite::rebuild::{PRELUDE, rebuilt, rust};
use kernite_suite::{every, kernels, shrink};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

#[rustfmt::skip]
#[path = "random/printed.rs"]
mod printed;

/// The kernel of a seed.
fn kernel(seed: u64, config: Config) -> Kernel {
    let decisions = SplitMix::decisions(seed, DECISIONS);
    generate::kernel("k", &mut Choices::new(&decisions), config)
        .unwrap_or_else(|e| panic!("seed {seed}: {e}"))
}

#[test]
fn random_kernels_are_valid_and_round_trip() {
    let modest = Config {
        subnormals: false,
        fma: false,
        atomics_64: false,
        honest_floats: false,
        subgroups: false,
        ..Config::default()
    };
    for seed in 0..400 {
        for config in [Config::default(), Config::everything(), modest] {
            let made = kernel(seed, config);
            assert_eq!(made, kernel(seed, config));
            let read = Kernel::from_bytes(&made.to_bytes());
            assert_eq!(read.as_ref(), Ok(&made), "seed {seed}");
        }
    }
}

#[test]
fn random_kernels_fit_the_push_constants_of_every_device() {
    let mut gaps = Config {
        wild: true,
        ..Config::default()
    };
    for gap in GAPS {
        (gap.avoid)(&mut gaps);
    }
    for config in [gaps, Config::everything()] {
        // 34 once needed 140 bytes.
        for seed in 0..600 {
            let signature = kernel(seed, config).signature_with(Bounds::Checked);
            let bytes = signature.push_constant_bytes_with_lengths;
            assert!(bytes <= 128, "seed {seed}: {bytes}");
        }
    }
}

/// Every flag that the rows allow, each kind of reduction and each axis.
fn flags() -> BTreeSet<(Op, u8)> {
    let mut all = BTreeSet::new();
    for op in Op::ALL {
        let flags = op.row().flags;
        let wrong = |f: u8| {
            let axis = (Op::GlobalId..=Op::GlobalSize).contains(&op);
            let scan = (Op::SubgroupAdd..=Op::SubgroupXor).contains(&op);
            // Only sums have an order.
            axis && f == 3 || scan && f & 3 == 3 || scan && f & 4 != 0 && op != Op::SubgroupAdd
        };
        all.extend(
            (0..=flags)
                .filter(|f| f & !flags == 0 && !wrong(*f))
                .map(|f| (op, f)),
        );
    }
    all.extend([(Op::Store, Inst::OFFSET)]);
    all
}

#[test]
fn kernels_are_rebuilt_by_the_calls_that_are_printed() {
    let named = kernels::ALL.iter().map(|(_, make)| make());
    let units = every::units().iter().map(|unit| unit.kernel.clone());
    let random = (0..300).map(|seed| kernel(seed, Config::everything()));
    for kernel in named.chain(units).chain(random) {
        let again = rebuilt(&kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
        assert!(again.to_bytes() == kernel.to_bytes(), "{kernel}\n{again}");
    }
}

/// The kernels of the committed sample: small random ones, the shortest that have something which none before has of the
/// calls whose arguments are not all values.
fn sample() -> Vec<Kernel> {
    let config = Config {
        statements: 6,
        ..Config::everything()
    };
    let by_value = |o: &Operand| matches!(o, Operand::T | Operand::Bool | Operand::U32);
    let plain = |op: Op| op.row().operands.iter().all(by_value) && op.row().flags == 0;
    let mut made: Vec<Kernel> = (0..2000).map(|seed| kernel(seed, config)).collect();
    made.sort_by_key(|kernel| kernel.insts().len());
    let mut seen = BTreeSet::new();
    made.retain(|kernel| {
        // Several at once, or the sample is long.
        let new = |i: &&Inst| !plain(i.op) && !seen.contains(&i.op);
        let many = kernel.insts().iter().filter(new).count() > 4;
        if many {
            seen.extend(kernel.insts().iter().map(|i| i.op));
        }
        many
    });
    made
}

/// The sample as a file of Rust.
fn file(sample: &[Kernel]) -> String {
    let names: Vec<String> = (0..sample.len()).map(|n| format!("k{n}")).collect();
    let functions = names.iter().zip(sample).map(|(name, k)| rust(name, k));
    let functions: Vec<String> = functions.collect();
    let calls: Vec<String> = names.iter().map(|name| format!("{name}()")).collect();
    format!(
        "//! Kernels as the tests print them when they fail. `BLESS=1` writes this file.\n\n{PRELUDE}\n\
        /// All of them.\npub fn all() -> Vec<Kernel> {{\n    vec![{}]\n}}\n\n{}",
        calls.join(", "),
        functions.join("\n")
    )
}

#[test]
fn what_is_printed_compiles_and_builds_the_kernel_again() {
    let sample = sample();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/random/printed.rs");
    let text = file(&sample);
    if blessing() {
        std::fs::write(&path, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    assert!(
        std::fs::read_to_string(&path).is_ok_and(|kept| kept == text),
        "the sample is an old one; BLESS=1 writes it, and it is to be compiled again"
    );
    for (built, kernel) in printed::all().iter().zip(&sample) {
        assert!(built.to_bytes() == kernel.to_bytes(), "{built}\n{kernel}");
    }
    assert_eq!(printed::all().len(), sample.len());
}

/// What the kernels that every executor runs leave out, and why. What is generated after all fails the test.
const LEFT_OUT: &[(Op, &str)] = &[(
    Op::AssumeUniform,
    "a kernel that promises has no safe launch; the kernels of everything, run by the reference and by Vulkan, have it",
)];

#[test]
fn every_opcode_type_and_flag_is_generated() {
    let (mut found, mut flagged) = (BTreeSet::new(), BTreeSet::new());
    let mut compared = BTreeSet::new();
    for seed in 0..2500 {
        let made = kernel(seed, Config::everything());
        found.extend(pairs(&made));
        flagged.extend(made.insts().iter().map(|i| (i.op, i.flags)));
        compared.extend(pairs(&kernel(seed, Config::default())));
    }
    assert_eq!(missing(&found), [""; 0]);
    let never: Vec<_> = flags().difference(&flagged).copied().collect();
    assert_eq!(never, []);

    let left_out = |op: Op| LEFT_OUT.iter().any(|(left, _)| *left == op);
    let stale: Vec<_> = compared.iter().filter(|pair| left_out(pair.0)).collect();
    assert!(stale.is_empty(), "not left out at all: {stale:?}");
    compared.extend(wanted().into_iter().filter(|pair| left_out(pair.0)));
    assert_eq!(missing(&compared), [""; 0]);
}

/// An access: its opcode, the kind of memory, the type, and the order and scope of an atomic.
type Accessed = (Op, &'static str, Type, Option<(Order, Scope)>);

fn kind(mem: Mem) -> &'static str {
    match mem {
        Mem::Buffer(_) => "buffer",
        Mem::Shared(_) => "shared array",
        Mem::Private(_) => "private array",
        Mem::Table(_) => "table",
        _ => "something new",
    }
}

fn accesses(kernel: &Kernel) -> impl Iterator<Item = Accessed> {
    kernel.insts().iter().filter_map(|inst| {
        let row = inst.op.row();
        let mem = match row.operands {
            [Operand::Mem, ..] => Mem::from_word(inst.a)?,
            _ => return None,
        };
        let atomic = row.operands.last() == Some(&Operand::Ordering);
        let word = kernel.words(inst).last().copied();
        let ordering = word.filter(|_| atomic).and_then(Ordering::from_word);
        let ordering = ordering.map(|o| (o.order, o.scope));
        let decl = |ty: Type| (inst.op, kind(mem), ty, ordering);
        Some(decl(match mem {
            Mem::Buffer(n) => kernel.buffers()[n as usize].elem,
            Mem::Shared(n) => kernel.shared()[n as usize].elem,
            Mem::Private(n) => kernel.private()[n as usize].elem,
            Mem::Table(n) => kernel.tables()[n as usize].elem,
            _ => Type::NONE,
        }))
    })
}

#[test]
fn every_memory_order_and_scope_is_accessed() {
    let mut found = HashSet::new();
    let mut shapes = BTreeSet::new();
    for seed in 0..6000 {
        let made = kernel(seed, Config::everything());
        found.extend(accesses(&made));
        shapes.insert(made.workgroup_size());
        let decls = made.shared().iter();
        shapes.extend(
            decls
                .filter(|d| d.len == SharedLen::Dynamic)
                .map(|_| [0; 3]),
        );
    }
    let mut wanted: HashSet<Accessed> = HashSet::new();
    for ty in TypeSet::ELEMENTS.iter() {
        for op in [Op::Load, Op::Store] {
            let places = ["buffer", "shared array", "private array"];
            wanted.extend(places.map(|place| (op, place, ty, None)));
        }
    }
    wanted.extend(
        TypeSet::NUMERIC
            .iter()
            .map(|ty| (Op::Load, "table", ty, None)),
    );
    for op in Op::ALL {
        if op.row().operands.last() != Some(&Operand::Ordering) {
            continue;
        }
        let orders: &[Order] = match op {
            Op::AtomicLoad => &[Order::Relaxed, Order::Acquire],
            Op::AtomicStore => &[Order::Relaxed, Order::Release],
            _ => &[
                Order::Relaxed,
                Order::Acquire,
                Order::Release,
                Order::AcqRel,
            ],
        };
        for ty in op.row().types.iter() {
            for place in ["buffer", "shared array"] {
                for scope in [Scope::Workgroup, Scope::Device] {
                    wanted.extend(orders.iter().map(|&o| (op, place, ty, Some((o, scope)))));
                }
            }
        }
    }
    let never: Vec<_> = wanted.difference(&found).collect();
    assert!(never.is_empty(), "{} never: {never:?}", never.len());
    assert!(shapes.contains(&[0; 3]), "dynamic shared arrays");
    // Whole subgroups and others, in one dimension to three.
    assert!(shapes.len() > 10, "{shapes:?}");
}

#[test]
fn a_planted_fault_shrinks_to_what_it_takes() {
    // A product somewhere behind a load; those of u32 are how a thread finds its elements.
    let has_fault = |kernel: &Kernel| {
        let insts = kernel.insts();
        let load = insts.iter().position(|i| i.op == Op::Load);
        let behind = load.and_then(|at| insts.get(at..)).unwrap_or(&[]);
        behind.iter().any(|i| i.op == Op::Mul && i.ty != Type::U32)
    };
    let made = |decisions: &[u32]| {
        let kernel = generate::kernel("k", &mut Choices::new(decisions), Config::everything());
        kernel.unwrap_or_else(|e| panic!("{e}"))
    };
    let (mut found, mut sum) = (0, 0);
    for seed in 0..150 {
        let before = made(&shrink::decisions(seed));
        let checked = shrink::check(seed, |decisions| {
            if has_fault(&made(decisions)) {
                return Err("planted".into());
            }
            Ok(())
        });
        let Err(failure) = checked else { continue };
        found += 1;
        let small = made(&failure.decisions);
        assert!(has_fault(&small));
        // The thread's number takes eleven, what shows the values eight, the product three, and a load at least one: that of
        // a private array as many as it takes to fill that.
        let sizes = (before.insts().len(), small.insts().len());
        assert!(sizes.1 <= 40, "seed {seed}: {sizes:?}\n{small}");
        sum += sizes.1;
        assert!(failure.decisions.len() <= 6 * BLOCK, "seed {seed}");
    }
    assert!(found > 3 && sum <= 28 * found, "{sum} in {found}");
}
