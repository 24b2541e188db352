//! Bits of integers. Under Vulkan the bit instructions take 32 bits only, so that 64-bit operands go in halves.

use super::arith::NO_FORM;
use super::body::{Body, Class, class};
use super::sections::Writer;
use crate::kernel::Inst;
use crate::types::{Scalar, Type};
use spirv::{GlslStd450Op as Gl, Op as S};

impl Writer {
    fn halves_type(&mut self) -> u32 {
        match Type::vector(Scalar::U32, 2) {
            Some(ty) => self.ty(ty),
            None => 0,
        }
    }

    /// The low and the high half of a 64-bit value of any type.
    pub(super) fn split(&mut self, value: u32) -> (u32, u32) {
        let (pair, ty) = (self.halves_type(), self.ty(Type::U32));
        let pair = self.op1(S::Bitcast, pair, value);
        (
            self.op2(S::CompositeExtract, ty, pair, 0),
            self.op2(S::CompositeExtract, ty, pair, 1),
        )
    }

    /// The 64-bit value of type `ty` with these halves.
    pub(super) fn combine(&mut self, ty: Type, low: u32, high: u32) -> u32 {
        let (pair, ty) = (self.halves_type(), self.ty(ty));
        let pair = self.op2(S::CompositeConstruct, pair, low, high);
        self.op1(S::Bitcast, ty, pair)
    }

    /// The leading zeros of a 64-bit value.
    pub(super) fn clz64(&mut self, value: u32) -> u32 {
        let (ty, bool_ty) = (self.ty(Type::U32), self.ty(Type::BOOL));
        let (low, high) = self.split(value);
        let (zero, c31, c63) = (self.u32(0), self.u32(31), self.u32(63));
        // FindUMsb gives -1 for 0: 63 - -1 = 64.
        let low = self.ext1(Gl::FindUMsb, ty, low);
        let low = self.op2(S::ISub, ty, c63, low);
        let empty = self.op2(S::IEqual, bool_ty, high, zero);
        let high = self.ext1(Gl::FindUMsb, ty, high);
        let high = self.op2(S::ISub, ty, c31, high);
        self.op3(S::Select, ty, empty, low, high)
    }
}

impl Body<'_> {
    /// A shift amount modulo the width. SPIR-V leaves more undefined.
    fn amount(&mut self, operand: u32, ty: Type) -> u32 {
        // 8 to 64 bits.
        let mask = ty.bytes() * 8 - 1;
        if let Some(n) = self.known(operand) {
            if n <= u64::from(mask) {
                return self.val(operand);
            }
            // Masked to six bits.
            return self.w.u32((n & u64::from(mask)) as u32);
        }
        let (id, amount) = (self.w.ty(Type::U32), self.val(operand));
        let mask = self.w.u32(mask);
        self.w.op2(S::BitwiseAnd, id, amount, mask)
    }

    /// A constant shift amount modulo the width.
    fn known_amount(&self, operand: u32, ty: Type) -> Option<u64> {
        self.known(operand)
            .map(|n| n & u64::from(ty.bytes() * 8 - 1))
    }

    pub(super) fn shift(&mut self, inst: &Inst, op: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let amount = self.amount(inst.b, inst.ty);
        let value = self.w.op2(op, ty, a, amount);
        if op == S::ShiftLeftLogical {
            return self.w.normalise(inst.ty, value);
        }
        value
    }

    /// The bits of an integer of 8 or 16 bits with zeros above, still of its type; others as they are.
    fn unsigned(&mut self, ty: Type, value: u32) -> u32 {
        if ty.bytes() >= 4 || class(ty) != Class::Signed {
            return value;
        }
        let (id, mask) = (self.w.ty(ty), (1u64 << (ty.bytes() * 8)) - 1);
        let mask = self.w.constant(Type::I32, mask);
        self.w.op2(S::BitwiseAnd, id, value, mask)
    }

    pub(super) fn shr(&mut self, inst: &Inst) -> u32 {
        match class(inst.ty) {
            Class::Signed => self.shift(inst, S::ShiftRightArithmetic),
            Class::Unsigned => self.shift(inst, S::ShiftRightLogical),
            Class::Float | Class::Bool | Class::None => self.unsupported(inst, inst.ty, NO_FORM),
        }
    }

    /// Twice a 16-bit number, one above the other, shifted down. Of 16 bits or'ed from both sides, NVIDIA's compiler (580)
    /// makes a swap of bytes where n is 8, and a wrong one.
    fn rotate_16(&mut self, inst: &Inst, there: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let a = self.unsigned(inst.ty, a);
        let sixteen = self.w.u32(16);
        let twice = self.joined(ty, a, a, sixteen);
        let amount = self.amount(inst.b, inst.ty);
        let down = match (
            there == S::ShiftLeftLogical,
            self.known_amount(inst.b, inst.ty),
        ) {
            (false, _) => amount,
            // At most 16.
            (true, Some(n)) => self.w.u32(16 - n as u32),
            (true, None) => {
                let id = self.w.ty(Type::U32);
                self.w.op2(S::ISub, id, sixteen, amount)
            }
        };
        let value = self.w.op2(S::ShiftRightLogical, ty, twice, down);
        self.w.normalise(inst.ty, value)
    }

    /// a `there` n, or'ed with a `back` (W - n) modulo W; by 0 both are a.
    pub(super) fn rotate(&mut self, inst: &Inst, there: S, back: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let width = inst.ty.bytes() * 8;
        if width == 16 && self.known_amount(inst.b, inst.ty) != Some(0) {
            return self.rotate_16(inst, there);
        }
        let amount = self.amount(inst.b, inst.ty);
        let rest = match self.known_amount(inst.b, inst.ty) {
            Some(0) => return a,
            // At most six bits.
            Some(n) => self.w.u32(width - n as u32),
            None => {
                let id = self.w.ty(Type::U32);
                let minus = self.w.op1(S::SNegate, id, amount);
                let mask = self.w.u32(width - 1);
                self.w.op2(S::BitwiseAnd, id, minus, mask)
            }
        };
        let a = self.unsigned(inst.ty, a);
        let x = self.w.op2(there, ty, a, amount);
        let y = self.w.op2(back, ty, a, rest);
        let value = self.w.op2(S::BitwiseOr, ty, x, y);
        self.w.normalise(inst.ty, value)
    }

    pub(super) fn funnel_shl(&mut self, inst: &Inst) -> u32 {
        let (high, low) = (self.val(inst.a), self.val(inst.b));
        if inst.ty.bytes() < 4 {
            return self.narrow_funnel(inst, high, low, true);
        }
        self.funnel(inst, high, low, S::ShiftLeftLogical, S::ShiftRightLogical)
    }

    pub(super) fn funnel_shr(&mut self, inst: &Inst) -> u32 {
        let (high, low) = (self.val(inst.a), self.val(inst.b));
        if inst.ty.bytes() < 4 {
            return self.narrow_funnel(inst, high, low, false);
        }
        self.funnel(inst, low, high, S::ShiftRightLogical, S::ShiftLeftLogical)
    }

    /// Of 8 and 16 bits: the double-width value fits into 32.
    fn narrow_funnel(&mut self, inst: &Inst, high: u32, low: u32, left: bool) -> u32 {
        let ty = self.w.ty(inst.ty);
        let width = self.w.u32(inst.ty.bytes() * 8);
        let amount = self.amount(inst.c, inst.ty);
        let low = self.unsigned(inst.ty, low);
        let high = self.unsigned(inst.ty, high);
        let both = self.joined(ty, high, low, width);
        let value = if left {
            let value = self.w.op2(S::ShiftLeftLogical, ty, both, amount);
            self.w.op2(S::ShiftRightLogical, ty, value, width)
        } else {
            self.w.op2(S::ShiftRightLogical, ty, both, amount)
        };
        self.w.normalise(inst.ty, value)
    }

    /// `high` above the `width` bits of `low`.
    fn joined(&mut self, ty: u32, high: u32, low: u32, width: u32) -> u32 {
        let high = self.w.op2(S::ShiftLeftLogical, ty, high, width);
        self.w.op2(S::BitwiseOr, ty, high, low)
    }

    /// `near` `there` n, or'ed with `far` `back` (W - n); the latter in two steps, by 1 and by W - 1 - n, so that n = 0
    /// shifts it out whole.
    fn funnel(&mut self, inst: &Inst, near: u32, far: u32, there: S, back: S) -> u32 {
        let ty = self.w.ty(inst.ty);
        let width = inst.ty.bytes() * 8;
        let amount = self.amount(inst.c, inst.ty);
        let far = match self.known_amount(inst.c, inst.ty) {
            Some(0) => return near,
            Some(n) => {
                let rest = self.w.u32(width - n as u32);
                self.w.op2(back, ty, far, rest)
            }
            None => {
                let id = self.w.ty(Type::U32);
                let (one, mask) = (self.w.u32(1), self.w.u32(width - 1));
                let rest = self.w.op2(S::BitwiseXor, id, amount, mask);
                let far = self.w.op2(back, ty, far, one);
                self.w.op2(back, ty, far, rest)
            }
        };
        let near = self.w.op2(there, ty, near, amount);
        self.w.op2(S::BitwiseOr, ty, near, far)
    }

    pub(super) fn clz(&mut self, inst: &Inst) -> u32 {
        let a = self.val(inst.a);
        if self.type_of(inst.a).bytes() == 8 {
            return self.w.clz64(a);
        }
        let from = self.type_of(inst.a);
        let ty = self.w.ty(Type::U32);
        let a = self.unsigned(from, a);
        // FindUMsb gives -1 for 0: 31 - -1 = 32.
        let msb = self.w.ext1(Gl::FindUMsb, ty, a);
        let top = self.w.u32(from.bytes() * 8 - 1);
        self.w.op2(S::ISub, ty, top, msb)
    }

    pub(super) fn ctz(&mut self, inst: &Inst) -> u32 {
        let a = self.val(inst.a);
        let ty = self.w.ty(Type::U32);
        let bytes = self.type_of(inst.a).bytes();
        if bytes != 8 {
            return self.ctz32(a, bytes * 8);
        }
        let bool_ty = self.w.ty(Type::BOOL);
        let (low, high) = self.w.split(a);
        let (zero, c32) = (self.w.u32(0), self.w.u32(32));
        let upper = self.ctz32(high, 32);
        let upper = self.w.op2(S::IAdd, ty, upper, c32);
        let lower = self.w.ext1(Gl::FindILsb, ty, low);
        let empty = self.w.op2(S::IEqual, bool_ty, low, zero);
        self.w.op3(S::Select, ty, empty, upper, lower)
    }

    fn ctz32(&mut self, a: u32, width: u32) -> u32 {
        let ty = self.w.ty(Type::U32);
        // FindILsb gives -1 for 0, the greatest u32.
        let lsb = self.w.ext1(Gl::FindILsb, ty, a);
        let width = self.w.u32(width);
        self.w.ext2(Gl::UMin, ty, lsb, width)
    }

    pub(super) fn popcount(&mut self, inst: &Inst) -> u32 {
        let a = self.val(inst.a);
        let ty = self.w.ty(Type::U32);
        let from = self.type_of(inst.a);
        if from.bytes() < 4 {
            // Without what it was extended by. NVIDIA's compiler (580) counts the sign of a u16 that was widened with zeros,
            // in modules that divide by an f16; it does not where the bits stand at the upper end.
            let up = self.w.u32(32 - from.bytes() * 8);
            let a = self.w.op2(S::ShiftLeftLogical, ty, a, up);
            return self.w.op1(S::BitCount, ty, a);
        }
        if from.bytes() == 4 {
            let a = self.unsigned(from, a);
            return self.w.op1(S::BitCount, ty, a);
        }
        let (low, high) = self.w.split(a);
        let low = self.w.op1(S::BitCount, ty, low);
        let high = self.w.op1(S::BitCount, ty, high);
        self.w.op2(S::IAdd, ty, low, high)
    }

    pub(super) fn reverse_bits(&mut self, inst: &Inst) -> u32 {
        let a = self.val(inst.a);
        if inst.ty.bytes() != 8 {
            let ty = self.w.ty(inst.ty);
            let reversed = self.w.op1(S::BitReverse, ty, a);
            if inst.ty.bytes() == 4 {
                return reversed;
            }
            // Down again, the sign coming along.
            let down = self.w.u32(32 - inst.ty.bytes() * 8);
            let shift = match class(inst.ty) {
                Class::Signed => S::ShiftRightArithmetic,
                Class::Unsigned | Class::Float | Class::Bool | Class::None => S::ShiftRightLogical,
            };
            return self.w.op2(shift, ty, reversed, down);
        }
        let ty = self.w.ty(Type::U32);
        let (low, high) = self.w.split(a);
        let low = self.w.op1(S::BitReverse, ty, low);
        let high = self.w.op1(S::BitReverse, ty, high);
        self.w.combine(inst.ty, high, low)
    }

    /// The bounded begin and length of a field: min(offset, W) and min(count, W - offset).
    fn field(&mut self, offset: u32, count: u32, width: u32) -> (u32, u32) {
        let ty = self.w.ty(Type::U32);
        let whole = self.w.u32(width);
        let (known_offset, known_count) = (self.known(offset), self.known(count));
        let (begin, room) = match known_offset {
            Some(n) => {
                // At most 64.
                let begin = n.min(u64::from(width)) as u32;
                (self.w.u32(begin), Some(width - begin))
            }
            None => {
                let offset = self.val(offset);
                (self.w.ext2(Gl::UMin, ty, offset, whole), None)
            }
        };
        let length = match (room, known_count) {
            (Some(room), Some(n)) => self.w.u32(n.min(u64::from(room)) as u32),
            (Some(room), None) => {
                let (room, count) = (self.w.u32(room), self.val(count));
                self.w.ext2(Gl::UMin, ty, count, room)
            }
            (None, _) => {
                let count = self.val(count);
                let room = self.w.op2(S::ISub, ty, whole, begin);
                self.w.ext2(Gl::UMin, ty, count, room)
            }
        };
        (begin, length)
    }

    pub(super) fn bitfield_extract(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let a = self.val(inst.a);
        let (insert, shift) = match class(inst.ty) {
            Class::Signed => (S::BitFieldSExtract, S::ShiftRightArithmetic),
            Class::Unsigned => (S::BitFieldUExtract, S::ShiftRightLogical),
            Class::Float | Class::Bool | Class::None => {
                return self.unsupported(inst, inst.ty, NO_FORM);
            }
        };
        let width = inst.ty.bytes() * 8;
        let (begin, length) = self.field(inst.b, inst.c, width);
        if width <= 32 {
            return self.w.op3(insert, ty, a, begin, length);
        }
        // Up against the top and down again; an empty field, whose shifts would be too far, is taken out.
        let (u32_ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
        let (c0, c63, c64) = (self.w.u32(0), self.w.u32(63), self.w.u32(64));
        let down = self.w.op2(S::ISub, u32_ty, c64, length);
        let up = self.w.op2(S::ISub, u32_ty, down, begin);
        let up = self.w.op2(S::BitwiseAnd, u32_ty, up, c63);
        let down = self.w.op2(S::BitwiseAnd, u32_ty, down, c63);
        let field = self.w.op2(S::ShiftLeftLogical, ty, a, up);
        let field = self.w.op2(shift, ty, field, down);
        let empty = self.w.op2(S::IEqual, bool_ty, length, c0);
        let zero = self.w.constant(inst.ty, 0);
        self.w.op3(S::Select, ty, empty, zero, field)
    }

    pub(super) fn bitfield_insert(&mut self, inst: &Inst) -> u32 {
        let ty = self.w.ty(inst.ty);
        let (a, b) = (self.val(inst.a), self.val(inst.b));
        let (offset, count) = (self.side(inst, 0), self.side(inst, 1));
        let width = inst.ty.bytes() * 8;
        let (begin, length) = self.field(offset, count, width);
        if width <= 32 {
            let value = self.w.op4(S::BitFieldInsert, ty, [a, b, begin, length]);
            return self.w.normalise(inst.ty, value);
        }
        let (u32_ty, bool_ty) = (self.w.ty(Type::U32), self.w.ty(Type::BOOL));
        let (c0, c63, c64) = (self.w.u32(0), self.w.u32(63), self.w.u32(64));
        let ones = self.w.constant(inst.ty, u64::MAX);
        let unused = self.w.op2(S::ISub, u32_ty, c64, length);
        let unused = self.w.op2(S::BitwiseAnd, u32_ty, unused, c63);
        let begin = self.w.op2(S::BitwiseAnd, u32_ty, begin, c63);
        let mask = self.w.op2(S::ShiftRightLogical, ty, ones, unused);
        let mask = self.w.op2(S::ShiftLeftLogical, ty, mask, begin);
        let empty = self.w.op2(S::IEqual, bool_ty, length, c0);
        let zero = self.w.constant(inst.ty, 0);
        let mask = self.w.op3(S::Select, ty, empty, zero, mask);
        // (a ^ b') & mask ^ a takes the bits of b' under the mask.
        let moved = self.w.op2(S::ShiftLeftLogical, ty, b, begin);
        let differing = self.w.op2(S::BitwiseXor, ty, a, moved);
        let taken = self.w.op2(S::BitwiseAnd, ty, differing, mask);
        self.w.op2(S::BitwiseXor, ty, taken, a)
    }
}
