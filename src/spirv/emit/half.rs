//! Types of 8 and 16 bits in wider registers: rounding, normalising, their bits.

use super::body::Body;
use super::sections::Writer;
use super::types::register;
use crate::kernel::Inst;
use crate::types::{Scalar, Type};
use spirv::Op as S;

/// The type in which a float that has no arithmetic of its own is computed: f32 for f16 and bf16.
pub(super) fn working(ty: Type) -> Type {
    match ty {
        Type::F16 | Type::BF16 => Type::F32,
        _ => ty,
    }
}

impl Writer {
    fn pair_of_f16(&mut self) -> u32 {
        match Type::vector(Scalar::F16, 2) {
            Some(ty) => self.ty(ty),
            None => 0,
        }
    }

    /// The bits of an f16 as a `u32`. A pair is cast, since a cast to 16 bits would need `Int16`.
    pub(super) fn f16_bits(&mut self, value: u32) -> u32 {
        let zero = self.constant(Type::F16, 0);
        self.f16_pair_bits(value, zero)
    }

    fn f16_pair_bits(&mut self, low: u32, high: u32) -> u32 {
        let (pair, ty) = (self.pair_of_f16(), self.ty(Type::U32));
        let pair = self.op2(S::CompositeConstruct, pair, low, high);
        self.op1(S::Bitcast, ty, pair)
    }

    /// The f16 in the low (0) or high (1) half of a `u32`.
    pub(super) fn f16_of(&mut self, bits: u32, half: u32) -> u32 {
        let (pair, ty) = (self.pair_of_f16(), self.ty(Type::F16));
        let pair = self.op1(S::Bitcast, pair, bits);
        self.op2(S::CompositeExtract, ty, pair, half)
    }

    /// The bits of an f32 as a `u32`.
    pub(super) fn f32_bits(&mut self, value: u32) -> u32 {
        let ty = self.ty(Type::U32);
        self.op1(S::Bitcast, ty, value)
    }

    /// The f32 of a `u32`.
    pub(super) fn f32_of(&mut self, bits: u32) -> u32 {
        let ty = self.ty(Type::F32);
        self.op1(S::Bitcast, ty, bits)
    }

    /// `op` on a `u32` and a constant.
    pub(super) fn with(&mut self, op: S, a: u32, constant: u32) -> u32 {
        let (ty, constant) = (self.ty(Type::U32), self.u32(constant));
        self.op2(op, ty, a, constant)
    }

    /// A comparison of a `u32` with a constant.
    pub(super) fn test(&mut self, op: S, a: u32, constant: u32) -> u32 {
        let (ty, constant) = (self.ty(Type::BOOL), self.u32(constant));
        self.op2(op, ty, a, constant)
    }

    /// An f32 rounded to bf16, to nearest even, by integers: infinity comes of itself, a NaN becomes a quiet one, and the
    /// subnormals of bf16 are those of f32.
    pub(super) fn bf16_round(&mut self, value: u32) -> u32 {
        let ty = self.ty(Type::U32);
        let bits = self.f32_bits(value);
        let upper = self.with(S::ShiftRightLogical, bits, 16);
        let odd = self.with(S::BitwiseAnd, upper, 1);
        let rounded = self.with(S::IAdd, bits, 0x7FFF);
        let rounded = self.op2(S::IAdd, ty, rounded, odd);
        let magnitude = self.with(S::BitwiseAnd, bits, 0x7FFF_FFFF);
        let nan = self.test(S::UGreaterThan, magnitude, 0x7F80_0000);
        let quiet = self.with(S::BitwiseOr, bits, 0x0040_0000);
        let bits = self.op3(S::Select, ty, nan, quiet, rounded);
        let bits = self.with(S::BitwiseAnd, bits, 0xFFFF_0000);
        self.f32_of(bits)
    }

    /// An integer computed in 32 bits, cut to its type and extended by its sign.
    #[inline(always)]
    pub(super) fn normalise(&mut self, ty: Type, value: u32) -> u32 {
        if register(ty) == ty {
            return value;
        }
        self.cut(ty, value)
    }

    fn cut(&mut self, ty: Type, value: u32) -> u32 {
        match ty {
            Type::I8 | Type::I16 => {
                let (id, zero, width) = (self.ty(ty), self.u32(0), self.u32(ty.bytes() * 8));
                self.op3(S::BitFieldSExtract, id, value, zero, width)
            }
            Type::U8 => self.with(S::BitwiseAnd, value, 0xFF),
            Type::U16 => self.with(S::BitwiseAnd, value, 0xFFFF),
            _ => value,
        }
    }

    /// The bits of a value of 8 or 16 bits as a `u32`, zeros above them.
    pub(super) fn narrow_bits(&mut self, ty: Type, value: u32) -> u32 {
        match ty {
            Type::F16 => self.f16_bits(value),
            Type::BF16 => {
                let bits = self.f32_bits(value);
                self.with(S::ShiftRightLogical, bits, 16)
            }
            Type::I8 | Type::I16 => {
                let id = self.ty(Type::U32);
                let bits = self.op1(S::Bitcast, id, value);
                let mask = if ty == Type::I8 { 0xFF } else { 0xFFFF };
                self.with(S::BitwiseAnd, bits, mask)
            }
            _ => value,
        }
    }

    /// The value of 8 or 16 bits whose bits these are; above its width they are zero.
    pub(super) fn narrow_of(&mut self, ty: Type, bits: u32) -> u32 {
        match ty {
            Type::F16 => self.f16_of(bits, 0),
            Type::BF16 => {
                let bits = self.with(S::ShiftLeftLogical, bits, 16);
                self.f32_of(bits)
            }
            Type::I8 | Type::I16 => {
                let id = self.ty(Type::I32);
                let value = self.op1(S::Bitcast, id, bits);
                self.normalise(ty, value)
            }
            _ => bits,
        }
    }
}

impl Body<'_> {
    /// A float in the type in which it is computed: exact.
    pub(super) fn widen(&mut self, ty: Type, value: u32) -> u32 {
        if ty != Type::F16 {
            return value;
        }
        self.floats |= 32;
        let ty = self.w.ty(Type::F32);
        self.w.op1(S::FConvert, ty, value)
    }

    /// What was computed so, rounded to its type.
    pub(super) fn narrow(&mut self, ty: Type, value: u32) -> u32 {
        match ty {
            Type::F16 => {
                let ty = self.w.ty(Type::F16);
                self.w.op1(S::FConvert, ty, value)
            }
            Type::BF16 => self.w.bf16_round(value),
            _ => value,
        }
    }

    /// The same of a value that its type holds: nothing is rounded.
    pub(super) fn cut(&mut self, ty: Type, value: u32) -> u32 {
        match ty {
            Type::BF16 => value,
            _ => self.narrow(ty, value),
        }
    }

    pub(super) fn pack(&mut self, inst: &Inst) -> u32 {
        let (low, high) = (self.val(inst.a), self.val(inst.b));
        if self.type_of(inst.a) == Type::F16 {
            return self.w.f16_pair_bits(low, high);
        }
        let (low, high) = (self.w.f32_bits(low), self.w.f32_bits(high));
        let low = self.w.with(S::ShiftRightLogical, low, 16);
        let ty = self.w.ty(Type::U32);
        self.w.op2(S::BitwiseOr, ty, low, high)
    }

    pub(super) fn unpack(&mut self, inst: &Inst) -> u32 {
        let bits = self.val(inst.a);
        let half = inst.flags & Inst::HIGH;
        if inst.ty == Type::F16 {
            return self.w.f16_of(bits, u32::from(half));
        }
        let bits = if half == 0 {
            self.w.with(S::ShiftLeftLogical, bits, 16)
        } else {
            self.w.with(S::BitwiseAnd, bits, 0xFFFF_0000)
        };
        self.w.f32_of(bits)
    }
}
