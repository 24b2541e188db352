//! The holes that SPIR-V leaves are closed, and no wider than needed.

use super::*;
use crate::spirv::emit::{FloatAtomics, FloatMode, Fma};
use spirv::{Decoration, GlslStd450Op as Gl};

/// The opcodes made of an operation on two elements, the loads, indices and the store left out.
fn made(kernel: &Kernel) -> Vec<Op> {
    let found = decode(kernel, &Options::default());
    let code = found.code();
    let last = code.iter().rposition(|op| *op == Op::Load).unwrap_or(0);
    let rest = code.iter().skip(last + 1);
    rest.copied()
        .take_while(|op| !matches!(op, Op::AccessChain | Op::Return))
        .collect()
}

#[test]
fn divisors_are_guarded_unless_a_constant_cannot_trip() {
    let div = |ty| made(&binary(ty, |b, [x, y]| b.div(x, y)));
    assert_eq!(div(Type::U32), [Op::IEqual, Op::Select, Op::UDiv]);
    let guard = [
        Op::IEqual,
        Op::IEqual,
        Op::IEqual,
        Op::LogicalAnd,
        Op::LogicalOr,
        Op::Select,
    ];
    assert_eq!(div(Type::I32), [&guard[..], &[Op::SDiv]].concat());
    assert_eq!(div(Type::F32), [Op::FDiv]);
    let by = |n: i32| {
        made(&binary(Type::I32, |b, [x, _]| {
            let n = b.constant(n);
            b.div(x, n)
        }))
    };
    assert_eq!(by(7), [Op::SDiv]);
    assert_eq!(by(0), []);
    assert_eq!(by(1), []);
    assert_eq!(by(-1), [Op::SNegate]);
    let of = |n: i32| {
        made(&binary(Type::I32, |b, [x, _]| {
            let n = b.constant(n);
            b.div(n, x)
        }))
    };
    assert_eq!(of(7), [Op::IEqual, Op::Select, Op::SDiv]);
    assert_eq!(
        of(i32::MIN),
        [Op::IEqual, Op::IEqual, Op::LogicalOr, Op::Select, Op::SDiv]
    );
    let modulo = made(&binary(Type::I32, |b, [x, _]| {
        let n = b.constant(10);
        b.rem(x, n)
    }));
    assert_eq!(
        modulo,
        [Op::SDiv, Op::IMul, Op::ISub],
        "OpSRem is undefined for negative operands"
    );
    let modulo = made(&binary(Type::U64, |b, [x, _]| {
        let n = b.constant(10u64);
        b.rem(x, n)
    }));
    assert_eq!(modulo, [Op::UMod]);
}

#[test]
fn shift_amounts_are_masked_or_folded() {
    let shift = made(&binary(Type::U32, |b, [x, y]| b.shl(x, y)));
    assert_eq!(shift, [Op::BitwiseAnd, Op::ShiftLeftLogical]);
    let by = |n: u32| {
        binary(Type::U32, move |b, [x, _]| {
            let n = b.constant(n);
            b.shr(x, n)
        })
    };
    let found = decode(&by(33), &Options::default());
    assert_eq!(found.constant(found.all(Op::ShiftRightLogical)[0][3]), 1);
    assert_eq!(made(&by(33)), [Op::ShiftRightLogical]);
    let signed = made(&binary(Type::I32, |b, [x, y]| {
        let y = b.bitcast(y, Type::U32);
        b.shr(x, y)
    }));
    assert_eq!(
        signed,
        [Op::Bitcast, Op::BitwiseAnd, Op::ShiftRightArithmetic]
    );
    let turned = |n: u32| {
        made(&binary(Type::U32, move |b, [x, _]| {
            let n = b.constant(n);
            b.rotate_left(x, n)
        }))
    };
    assert_eq!(turned(32), []);
    assert_eq!(
        turned(5),
        [Op::ShiftLeftLogical, Op::ShiftRightLogical, Op::BitwiseOr]
    );
}

#[test]
fn sums_and_products_are_not_contracted_unless_asked() {
    let build = |contract: bool| {
        let mut b = KernelBuilder::new("main", [1, 1, 1]);
        if contract {
            b.allow_contraction();
        }
        let data = b.buffer("data", Type::F32, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load(data, i);
        let sum = b.add(x, x);
        let difference = b.sub(sum, x);
        let product = b.mul(difference, x);
        let both = b.mul_add(product, x, x);
        let fused = b.fma(both, x, x);
        b.store(data, i, fused);
        let found = decode(&b.finish().unwrap(), &Options::default());
        let all = found.all(Op::Decorate);
        let marked: BTreeSet<u32> = all
            .iter()
            .filter(|d| d[1] == Decoration::NoContraction as u32)
            .map(|d| d[0])
            .collect();
        let sums = [Op::FAdd, Op::FSub, Op::FMul]
            .map(|op| found.all(op).iter().map(|i| i[1]).collect::<Vec<_>>());
        (marked, sums.concat().into_iter().collect::<BTreeSet<u32>>())
    };
    let (marked, all) = build(false);
    assert_eq!((marked.len(), &marked), (5, &all));
    assert!(build(true).0.is_empty());
}

#[test]
fn comparisons_are_false_with_nan_but_for_ne() {
    let ops = |ty| {
        let kernel = binary(ty, |b, [x, y]| {
            let all = [
                b.eq(x, y),
                b.ne(x, y),
                b.lt(x, y),
                b.le(x, y),
                b.gt(x, y),
                b.ge(x, y),
            ];
            let mut out = x;
            for c in all {
                out = b.select(c, out, y);
            }
            out
        });
        made(&kernel).into_iter().take(6).collect::<Vec<_>>()
    };
    use Op::*;
    assert_eq!(
        ops(Type::F32),
        [
            FOrdEqual,
            FUnordNotEqual,
            FOrdLessThan,
            FOrdLessThanEqual,
            FOrdGreaterThan,
            FOrdGreaterThanEqual
        ]
    );
    assert_eq!(
        ops(Type::I64),
        [
            IEqual,
            INotEqual,
            SLessThan,
            SLessThanEqual,
            SGreaterThan,
            SGreaterThanEqual
        ]
    );
    assert_eq!(
        ops(Type::U32),
        [
            IEqual,
            INotEqual,
            ULessThan,
            ULessThanEqual,
            UGreaterThan,
            UGreaterThanEqual
        ]
    );
}

#[test]
fn minima_order_zeros_only_where_both_can_be_zero() {
    let two = binary(Type::F32, |b, [x, y]| b.min(x, y));
    assert_eq!(
        made(&two),
        [
            Op::ExtInst,
            Op::Bitcast,
            Op::Bitcast,
            Op::BitwiseOr,
            Op::BitwiseAnd,
            Op::IEqual,
            Op::Bitcast,
            Op::Select
        ]
    );
    assert_eq!(
        decode(&two, &Options::default()).extended(),
        [Gl::NMin as u32]
    );
    let one = binary(Type::F32, |b, [x, _]| {
        let c = b.constant(6.0f32);
        b.max(x, c)
    });
    assert_eq!(made(&one), [Op::ExtInst]);
    assert_eq!(
        decode(&one, &Options::default()).extended(),
        [Gl::NMax as u32]
    );
    let relaxed = with(|o| o.float_mode = FloatMode::Relaxed);
    assert_eq!(decode(&two, &relaxed).count(Op::Bitcast), 0);
    // Clamps are a maximum and a minimum: NClamp is undefined where the bounds are crossed.
    let clamp = binary(Type::I32, |b, [x, y]| b.clamp(x, y, x));
    assert_eq!(
        decode(&clamp, &Options::default()).extended(),
        [Gl::SMax as u32, Gl::SMin as u32]
    );
}

#[test]
fn no_instruction_that_vulkan_leaves_undefined() {
    let bad = [
        Op::SRem,
        Op::SMod,
        Op::FRem,
        Op::FMod,
        Op::FOrdNotEqual,
        Op::OuterProduct,
    ];
    let bad_extended = [
        Gl::FMin,
        Gl::FMax,
        Gl::FClamp,
        Gl::SClamp,
        Gl::UClamp,
        Gl::NClamp,
        Gl::FindSMsb,
        Gl::InverseSqrt,
        Gl::Round,
    ]
    .map(|g| g as u32);
    for ty in [
        Type::I32,
        Type::U32,
        Type::I64,
        Type::U64,
        Type::F32,
        Type::F64,
    ] {
        let float = matches!(ty, Type::F32 | Type::F64);
        let kernel = binary(ty, |b, [x, y]| {
            let mut out = vec![b.div(x, y), b.min(x, y), b.max(x, y), b.clamp(x, y, y)];
            if float {
                out.extend([
                    b.min_nan(x, y),
                    b.max_nan(x, y),
                    b.rsqrt(x),
                    b.rcp(y),
                    b.round_even(x),
                ]);
            } else {
                let n = b.global_id(1);
                out.extend([
                    b.rem(x, y),
                    b.bitfield_extract(x, n, n),
                    b.bitfield_insert(x, y, n, n),
                    b.reverse_bits(x),
                ]);
            }
            for to in [
                Type::I32,
                Type::U32,
                Type::I64,
                Type::U64,
                Type::F32,
                Type::F64,
                Type::BOOL,
            ] {
                let there = b.convert(x, to);
                out.push(b.convert(there, ty));
            }
            out.into_iter().reduce(|a, v| b.add(a, v)).unwrap()
        });
        let found = decode(&kernel, &Options::default());
        for op in bad {
            assert_eq!(found.count(op), 0, "{op:?} on {ty}");
        }
        assert!(
            found.extended().iter().all(|e| !bad_extended.contains(e)),
            "{ty}"
        );
        // Vulkan takes these on 32 bits only.
        let narrow: BTreeSet<u32> = found
            .all(Op::TypeInt)
            .iter()
            .filter(|t| t[1] == 32)
            .map(|t| t[0])
            .collect();
        for op in [
            Op::BitCount,
            Op::BitReverse,
            Op::BitFieldInsert,
            Op::BitFieldSExtract,
            Op::BitFieldUExtract,
        ] {
            assert!(
                found.all(op).iter().all(|i| narrow.contains(&i[0])),
                "{op:?} on {ty}"
            );
        }
    }
}

#[test]
fn conversions_saturate() {
    let convert = |from, to| {
        let mut b = KernelBuilder::new("main", [1, 1, 1]);
        let (x, y) = (
            b.buffer("x", from, Access::Read),
            b.buffer("y", to, Access::Write),
        );
        let i = b.global_id(0);
        let value = b.load(x, i);
        let value = b.convert(value, to);
        b.store(y, i, value);
        made(&b.finish().unwrap())
    };
    use Op::*;
    assert_eq!(
        convert(Type::F64, Type::U32),
        [ExtInst, ExtInst, ConvertFToU]
    );
    assert_eq!(
        convert(Type::F32, Type::U32),
        [ExtInst, ExtInst, ConvertFToU, FOrdGreaterThanEqual, Select]
    );
    assert_eq!(
        convert(Type::F64, Type::I32),
        [ExtInst, ExtInst, ConvertFToS, IsNan, Select]
    );
    assert_eq!(convert(Type::I32, Type::U64), [SConvert]);
    assert_eq!(convert(Type::U32, Type::I64), [UConvert, Bitcast]);
    assert_eq!(convert(Type::I64, Type::U32), [UConvert]);
    assert_eq!(convert(Type::U64, Type::I32), [SConvert]);
    assert_eq!(convert(Type::I32, Type::U32), [Bitcast]);
    assert_eq!(convert(Type::U32, Type::U32), []);
    assert_eq!(convert(Type::F64, Type::F32), [FConvert]);
    assert_eq!(convert(Type::U64, Type::F32), [ConvertUToF]);
}

#[test]
fn exact_fma_is_inline_for_f32_and_one_function_for_f64() {
    let exact = with(|o| o.fma = Fma::Exact);
    let narrow = decode(&binary(Type::F32, |b, [x, y]| b.fma(x, y, x)), &exact);
    assert!(!narrow.extended().contains(&(Gl::Fma as u32)));
    assert_eq!(
        (narrow.count(Op::Function), narrow.count(Op::FConvert)),
        (1, 4)
    );
    let wide = binary(Type::F64, |b, [x, y]| {
        let once = b.fma(x, y, x);
        b.fma(once, once, y)
    });
    let wide = decode(&wide, &exact);
    assert_eq!(
        (wide.count(Op::Function), wide.count(Op::FunctionCall)),
        (2, 2)
    );
    assert_eq!(wide.count(Op::FunctionParameter), 3);
}

#[test]
fn float_atomics_as_a_loop_keep_bits() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::F32, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(data, i);
    let old = b.atomic_add(data, i, x);
    b.store(data, i, old);
    let kernel = b.finish().unwrap();
    let mut options = Options::default();
    assert_eq!(decode(&kernel, &options).count(Op::AtomicFAddEXT), 1);
    options.float_atomics = FloatAtomics::CompareExchange;
    let found = decode(&kernel, &options);
    assert_eq!(found.count(Op::AtomicFAddEXT), 0);
    assert_eq!(
        (
            found.count(Op::AtomicCompareExchange),
            found.count(Op::LoopMerge)
        ),
        (1, 1)
    );
    // The buffer is one of `uint`.
    let unsigned = found.all(Op::TypeInt)[0][0];
    assert_eq!(found.all(Op::TypeRuntimeArray)[0][1], unsigned);
}

#[test]
fn indices_take_their_offset_in_their_own_width() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let wide = b.convert(i, Type::U64);
    let five = b.constant(5u32);
    let x = b.load_offset(data, i, 3);
    let y = b.load_offset(data, wide, 4);
    let z = b.load_offset(data, five, 6);
    let sum = b.add(x, y);
    let sum = b.add(sum, z);
    b.store(data, i, sum);
    let found = decode(&b.finish().unwrap(), &Options::default());
    let [u32_ty, u64_ty] = [32, 64].map(|bits| {
        found
            .all(Op::TypeInt)
            .iter()
            .find(|t| t[1] == bits)
            .unwrap()[0]
    });
    let adds: Vec<(u32, Option<u64>)> = found
        .all(Op::IAdd)
        .iter()
        .take(2)
        .map(|a| (a[0], Some(found.constant(a[3]))))
        .collect();
    assert_eq!(adds, [(u32_ty, Some(3)), (u64_ty, Some(4))]);
    let chains = found.all(Op::AccessChain);
    assert_eq!(found.constant(chains[2][4]), 11, "folded");
}
