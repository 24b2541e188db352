//! Comparing what the two executors made of one run.

use super::Arg;
use super::error::Mismatch;
use super::policy::{Closeness, Tolerance};
use crate::kernel::{Inst, Kernel, Uses};
use crate::op::Op;
use crate::reference::{self, Difference, little_endian};
use crate::types::{Scalar, Type};
use half::{bf16, f16};

/// What may differ in a kernel's results; `None` where nothing may.
pub(super) fn allowed(kernel: &Kernel, tolerance: Tolerance) -> Option<Closeness> {
    match tolerance {
        Tolerance::Auto => (!is_exact(kernel)).then_some(Closeness::LOOSE),
        Tolerance::Exact => None,
        Tolerance::Within(closeness) => Some(closeness),
    }
}

/// Whether every result is the same to the last bit on every target.
fn is_exact(kernel: &Kernel) -> bool {
    let uses = kernel.uses();
    let sums = [
        Uses::ATOMIC_F32_ADD,
        Uses::ATOMIC_F32_ADD_SHARED,
        Uses::ATOMIC_F64_ADD,
        Uses::ATOMIC_F64_ADD_SHARED,
    ];
    !kernel.contract()
        && !sums.into_iter().any(|sum| uses.has(sum))
        && !kernel.insts().iter().any(approximates)
}

/// Whether an instruction asks for the hardware's approximation, which f64 has none of, or for its order of additions.
fn approximates(inst: &Inst) -> bool {
    match inst.op {
        Op::Div
        | Op::Sqrt
        | Op::Rsqrt
        | Op::Rcp
        | Op::Exp
        | Op::Exp2
        | Op::Log
        | Op::Log2
        | Op::Pow
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::Tanh
        | Op::Erf => inst.flags & Inst::FAST != 0 && inst.ty != Type::F64,
        Op::SubgroupAdd => inst.flags & Inst::NATIVE_ORDER != 0,
        _ => false,
    }
}

/// The first element that differs by more than it may.
pub(super) fn first_difference<'a>(
    kernel: &Kernel,
    args: &[Arg<'_>],
    host: impl Fn(usize) -> Option<&'a [u8]>,
    cuda: impl Fn(usize) -> Option<&'a [u8]>,
    tolerance: Option<Closeness>,
) -> Option<Mismatch> {
    for (index, arg) in args.iter().enumerate() {
        let (Some((elem, _)), Some(expected), Some(got)) = (arg.buffer(), host(index), cuda(index))
        else {
            continue;
        };
        let found = match tolerance {
            Some(close) if elem.scalar().is_some_and(Scalar::is_float) => {
                difference(elem, expected, got, close)
            }
            Some(_) | None => reference::compare(expected, got, elem),
        };
        if let Some(Difference::Element {
            index: element,
            lane,
            expected,
            got,
        }) = found
        {
            let signature = kernel.signature();
            let param = signature.params.get(index);
            return Some(Mismatch {
                index,
                name: param.map(|p| p.name.clone()).unwrap_or_default(),
                elem,
                element,
                lane,
                host: expected,
                cuda: got,
                tolerance,
            });
        }
    }
    None
}

/// The number that bits of a float type stand for.
pub(super) fn float(scalar: Scalar, bits: u64) -> Option<f64> {
    Some(match scalar {
        // Bits stand in the type's width alone.
        Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
        Scalar::BF16 => bf16::from_bits(bits as u16).to_f64(),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64 => return None,
    })
}

/// The first element of a float type that is not close enough.
fn difference(elem: Type, expected: &[u8], got: &[u8], close: Closeness) -> Option<Difference> {
    let scalar = elem.scalar()?;
    let size = scalar.bytes().max(1) as usize;
    let lanes = elem.lanes().max(1) as usize;
    let pairs = expected.chunks(size).zip(got.chunks(size)).enumerate();
    for (at, (expected, got)) in pairs {
        if expected == got {
            continue;
        }
        let (expected, got) = (little_endian(expected), little_endian(got));
        let (Some(e), Some(g)) = (float(scalar, expected), float(scalar, got)) else {
            continue;
        };
        if !close.holds(scalar, e, g) {
            return Some(Difference::Element {
                index: at / lanes,
                lane: (at % lanes) as u32,
                expected,
                got,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Makes;
    use crate::types::TypeSet;
    use crate::{Access, KernelBuilder};

    fn kernel(
        body: impl FnOnce(&mut KernelBuilder, crate::kernel::Value) -> crate::kernel::Value,
    ) -> Kernel {
        let mut b = KernelBuilder::new("k", [32, 1, 1]);
        let data = b.buffer("data", Type::F32, Access::ReadWrite);
        let i = b.global_id(0);
        let x = b.load(data, i);
        let y = body(&mut b, x);
        b.store(data, i, y);
        b.finish().expect("the kernel is valid")
    }

    #[test]
    fn only_what_approximates_may_differ() {
        let exact = kernel(|b, x| b.sin(x));
        assert_eq!(allowed(&exact, Tolerance::Auto), None);
        let close = Closeness::new(0.5, 0.0);
        assert_eq!(allowed(&exact, Tolerance::Within(close)), Some(close));
        let fast = kernel(|b, x| b.sin_fast(x));
        assert_eq!(allowed(&fast, Tolerance::Auto), Some(Closeness::LOOSE));
        assert_eq!(allowed(&fast, Tolerance::Exact), None);
        let double = kernel(|b, x| {
            let x = b.convert(x, Type::F64);
            let y = b.sin_fast(x);
            b.convert(y, Type::F32)
        });
        assert_eq!(allowed(&double, Tolerance::Auto), None);
    }

    #[test]
    fn no_opcode_that_approximates_is_missing() {
        for op in Op::ALL {
            let row = op.row();
            // The other flag of its value is that of halves.
            let floats = !row.types.and(TypeSet::FLOATS).is_empty() && row.makes == Makes::T;
            let fast = floats && row.flags == Inst::FAST && op != Op::Unpack;
            for (flags, expected) in [
                (0, false),
                (Inst::FAST, fast),
                (Inst::NATIVE_ORDER, op == Op::SubgroupAdd),
            ] {
                let inst = Inst {
                    flags,
                    ..Inst::new(op, Type::F32)
                };
                assert_eq!(approximates(&inst), expected, "{op} {flags}");
            }
        }
    }

    #[test]
    fn closeness_is_of_the_value() {
        let bytes = |x: [f32; 2]| bytemuck::cast_slice(&x).to_vec();
        let find = |e: [f32; 2], g: [f32; 2]| {
            difference(Type::F32, &bytes(e), &bytes(g), Closeness::new(1e-3, 1e-6))
        };
        assert_eq!(find([1000.0, f32::NAN], [1000.9, -f32::NAN]), None);
        assert_eq!(find([0.0, f32::INFINITY], [-5e-7, f32::INFINITY]), None);
        for (e, g) in [
            (1000.0, 1001.1),
            (0.0, 2e-6),
            (f32::INFINITY, f32::MAX),
            (f32::INFINITY, f32::NEG_INFINITY),
            (f32::NAN, 1.0),
            (1.0, f32::NAN),
        ] {
            assert!(
                matches!(
                    find([1.0, e], [1.0, g]),
                    Some(Difference::Element { index: 1, .. })
                ),
                "{e} {g}"
            );
        }
    }
}
