//! Statements that make values of values.

use super::level::Level;
use super::{Generator, MOST_CHECKED_BUFFERS, PER_THREAD, Role, TYPES};
use crate::specials::{special_bits, without_subnormal};
use kernite::builder::{KernelBuilder, Scan};
use kernite::kernel::{Inst, Value};
use kernite::op::{Effect, Makes, Op, Operand};
use kernite::types::{Const, Type};
use std::sync::LazyLock;

/// Opcodes whose operands are values and whose result follows from them.
static BY_VALUE: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let by_value = |op: &Op| {
        let row = op.row();
        row.effect == Effect::Pure
            && *op != Op::AssumeUniform
            && !row.operands.is_empty()
            && (row.makes != Makes::T || row.operands.contains(&Operand::T))
            && row
                .operands
                .iter()
                .all(|o| matches!(o, Operand::T | Operand::Bool | Operand::U32))
    };
    Op::ALL.into_iter().filter(by_value).collect()
});

type Fast = fn(&mut KernelBuilder, Value, Value) -> Value;

/// What the hardware may approximate.
const FAST: [Fast; 14] = [
    |b, x, y| b.div_fast(x, y),
    |b, x, _| b.sqrt_fast(x),
    |b, x, _| b.rsqrt_fast(x),
    |b, x, _| b.rcp_fast(x),
    |b, x, _| b.exp_fast(x),
    |b, x, _| b.exp2_fast(x),
    |b, x, _| b.log_fast(x),
    |b, x, _| b.log2_fast(x),
    |b, x, y| b.pow_fast(x, y),
    |b, x, _| b.sin_fast(x),
    |b, x, _| b.cos_fast(x),
    |b, x, _| b.tan_fast(x),
    |b, x, _| b.tanh_fast(x),
    |b, x, _| b.erf_fast(x),
];

/// Every device has 128 bytes of push constants. The lengths of all buffers, and two zeros, leave these for scalars.
const SCALAR_BYTES: usize = 128 - 4 * (MOST_CHECKED_BUFFERS + TYPES.len()) - 2 * 8;

/// The push constants that a scalar takes at most, with what it may leave free before it.
fn push_bytes(ty: Type) -> usize {
    if ty.bytes() == 8 { 12 } else { 4 }
}

pub(super) fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(|s| s.is_float())
}

impl Generator<'_, '_> {
    /// The scalar parameter of a type; a constant where there are as many as every device takes.
    pub(super) fn scalar(&mut self, ty: Type) -> Value {
        let with_it = self.scalars.keys().copied().filter(|&other| other != ty);
        let bytes: usize = with_it.chain([ty]).map(push_bytes).sum();
        if bytes > SCALAR_BYTES {
            return self.constant(ty);
        }
        let b = &mut self.b;
        let scalar = *self
            .scalars
            .entry(ty)
            .or_insert_with(|| b.scalar("scalar", ty));
        let v = b.param(scalar);
        self.levels.insert(v.index(), Level::Workgroup);
        self.flushed(v)
    }

    /// A zero that only the launch knows.
    pub(super) fn hidden_zero(&mut self, ty: Type) -> Value {
        let b = &mut self.b;
        let zero = *self.zeros.entry(ty).or_insert_with(|| b.scalar("zero", ty));
        let v = b.param(zero);
        self.levels.insert(v.index(), Level::Workgroup);
        v
    }

    pub(super) fn constant(&mut self, ty: Type) -> Value {
        let bits = special_bits(ty, self.choices);
        let bits = match ty {
            _ if self.config.subnormals => bits,
            // A compiler that folds may flush these too, where the device keeps them.
            Type::F16 if bits & 0x7C00 == 0 => bits & 0x8000,
            _ => without_subnormal(ty, bits),
        };
        if !self.config.honest_floats {
            let hidden = match ty {
                Type::F32 => Const::new(Type::U32, bits),
                Type::F64 => Const::new(Type::U64, bits),
                Type::F16 | Type::BF16 => Const::new(Type::U16, bits),
                _ => None,
            };
            if let Some(bits) = hidden {
                let zero = match bits.ty() {
                    Type::U64 => self.hidden_zero(Type::U64),
                    _ => self.hidden_zero(Type::U32),
                };
                let zero = self.b.convert(zero, bits.ty());
                let bits = self.b.constant(bits);
                let hidden = self.b.xor(bits, zero);
                let v = self.b.bitcast(hidden, ty);
                self.levels.insert(v.index(), Level::Workgroup);
                return v;
            }
        }
        let c = Const::new(ty, bits).unwrap_or(Const::from(false));
        let v = self.b.constant(c);
        self.levels.insert(v.index(), Level::Workgroup);
        v
    }

    /// The value, or zero where it is a subnormal that a device may flush, or so little more that what it was computed from
    /// may have been one.
    pub(super) fn flushed(&mut self, v: Value) -> Value {
        let ty = self.b.type_of(v);
        if self.config.subnormals {
            return v;
        }
        let (least, zero) = match ty {
            Type::F32 => (
                self.b.constant(2.0 * f32::MIN_POSITIVE),
                self.b.constant(0.0f32),
            ),
            Type::F64 => (
                self.b.constant(2.0 * f64::MIN_POSITIVE),
                self.b.constant(0.0f64),
            ),
            // Computed in f32, whose exponents it has; f16 is not, and its own subnormals are kept.
            Type::BF16 => {
                let bits = |bits| Const::new(Type::BF16, bits).unwrap_or(Const::from(false));
                (self.b.constant(bits(0x0100)), self.b.constant(bits(0)))
            }
            _ => return v,
        };
        self.with_level_of(&[v], |b| {
            let size = b.abs(v);
            // A NaN is not below, so it stays.
            let small = b.lt(size, least);
            b.select(small, zero, v)
        })
    }

    /// A float whose bits are the same everywhere: zero for NaN, whose bits are not.
    pub(super) fn plain_bits(&mut self, v: Value) -> Value {
        let ty = self.b.type_of(v);
        let zero = match Const::new(ty, 0) {
            Some(zero) if is_float(ty) => self.b.constant(zero),
            _ => return v,
        };
        self.with_level_of(&[v], |b| {
            let nan = b.ne(v, v);
            b.select(nan, zero, v)
        })
    }

    /// Makes a value known that is as uniform as its operands.
    pub(super) fn computed(&mut self, operands: &[Value], made: Value) {
        let levels = operands.iter().map(|&v| self.level_of(v));
        let level = levels.max().unwrap_or(Level::Workgroup);
        self.levels.insert(made.index(), level);
        let made = self.flushed(made);
        self.made(made, level);
    }

    /// An opcode of the table whose operands are values and whose result follows from them.
    pub(super) fn pure(&mut self) {
        let op = self.choices.pick(&BY_VALUE);
        if op == Op::Fma && !self.config.fma {
            return;
        }
        let types: Vec<Type> = op.row().types.iter().collect();
        let ty = self.choices.pick(&types);
        let divides = matches!(op, Op::Div | Op::Rcp | Op::Sqrt);
        if divides && !self.config.exact_division && is_float(ty) {
            return;
        }
        if ty == Type::F16 && is_recipe(op, ty) && !self.config.rounded_f16 {
            return;
        }
        if op == Op::Pack && !self.config.packed_constants {
            return;
        }
        if matches!(op, Op::AddSat | Op::SubSat) && ty == Type::U64 && !self.config.saturating_64 {
            return;
        }
        // Their recipes are long, and longer where fma is emulated.
        if is_recipe(op, ty) && !self.choices.chance(self.config.recipes, 16) {
            return;
        }
        let mut operands: Vec<Value> = op
            .row()
            .operands
            .iter()
            .map(|o| match o {
                Operand::Bool => self.value(Type::BOOL),
                Operand::U32 => self.value(Type::U32),
                _ => self.value(ty),
            })
            .collect();
        // These look at the bits of a NaN, which differ where it was computed.
        match op {
            Op::Pack => operands.iter_mut().for_each(|v| *v = self.plain_bits(*v)),
            Op::Copysign => operands[1] = self.plain_bits(operands[1]),
            _ => {}
        }
        let folds = !self.config.honest_floats && matches!(op, Op::Sub | Op::Div);
        if folds && operands[0] == operands[1] && is_float(ty) {
            return;
        }
        let made = self.b.apply(op, &operands);
        self.computed(&operands, made);
    }

    pub(super) fn conversion(&mut self) {
        let (from, to) = (self.any_type(), self.any_type());
        let same_width = from.bytes() == to.bytes() && from != Type::BOOL && to != Type::BOOL;
        let bits = self.choices.chance(1, 2);
        if bits && !same_width && to != Type::BOOL {
            // A type of the width of `to`, so that every bit cast is as likely as a conversion.
            let of_width: Vec<Type> = TYPES
                .into_iter()
                .filter(|t| t.bytes() == to.bytes())
                .collect();
            let from = self.choices.pick(&of_width);
            return self.bitcast(from, to);
        }
        if bits && same_width {
            return self.bitcast(from, to);
        }
        let v = self.value(from);
        let made = self.b.convert(v, to);
        self.computed(&[v], made);
    }

    fn bitcast(&mut self, from: Type, to: Type) {
        let v = self.value(from);
        let v = self.plain_bits(v);
        let made = self.b.bitcast(v, to);
        self.computed(&[v], made);
    }

    /// The 16-bit floats of a word.
    pub(super) fn half(&mut self) {
        let ty = self.choices.pick(&[Type::F16, Type::BF16]);
        let v = self.value(Type::U32);
        let made = if self.choices.chance(1, 2) {
            self.b.unpack_high(v, ty)
        } else {
            self.b.unpack_low(v, ty)
        };
        self.computed(&[v], made);
    }

    pub(super) fn built_in(&mut self) {
        let axis = self.choices.below(3) as u8;
        let kind = self
            .choices
            .below(if self.config.subgroups { 11 } else { 8 });
        let (made, level) = match kind {
            0 => (self.b.global_id(axis), Level::Divergent),
            1 => (self.b.local_id(axis), Level::Divergent),
            2 => (self.b.workgroup_id(axis), Level::Workgroup),
            3 => (self.b.workgroup_size(axis), Level::Workgroup),
            4 => (self.b.num_workgroups(axis), Level::Workgroup),
            5 => (self.b.global_size(axis), Level::Workgroup),
            6 | 7 => {
                let all: Vec<_> = self.buffers.iter().map(|(key, &b)| (*key, b)).collect();
                if all.is_empty() {
                    return;
                }
                let (_, buffer) = self.choices.pick(&all);
                let made = if kind == 6 {
                    self.b.array_length(buffer)
                } else {
                    self.b.array_length_u64(buffer)
                };
                (made, Level::Workgroup)
            }
            8 => (self.b.subgroup_size(), Level::Workgroup),
            9 => (self.b.subgroup_id(), Level::Subgroup),
            _ => (self.b.lane(), Level::Divergent),
        };
        self.made(made, level);
    }

    /// A vector put together, and often taken apart.
    pub(super) fn vector(&mut self) {
        let ty = TYPES[self.choices.below(TYPES.len())];
        let lanes = if self.choices.chance(1, 2) { 2 } else { 4 };
        let Some(vector) = ty.scalar().and_then(|s| Type::vector(s, lanes)) else {
            return;
        };
        let v = self.value(vector);
        let level = self.level_of(v);
        self.made(v, level);
        if self.choices.chance(3, 4) {
            let lane = self.choices.below(lanes as usize) as u8;
            let made = self.b.extract(v, lane);
            self.computed(&[v], made);
        }
    }

    /// What the hardware approximates: written where nobody looks.
    pub(super) fn approximate(&mut self) {
        let ty = self
            .choices
            .pick(&[Type::F32, Type::F64, Type::F16, Type::BF16]);
        let Some(to) = self.buffer(Role::Approx, ty) else {
            return;
        };
        let which = self.choices.below(FAST.len() + 4);
        let (x, y) = (self.value(ty), self.value(ty));
        let collective = self.config.subgroups && self.control() < Level::Divergent;
        let made = match FAST.get(which) {
            Some(fast) => fast(&mut self.b, x, y),
            None if collective => {
                let scans = [Scan::Reduce, Scan::Inclusive, Scan::Exclusive];
                let scan = self.choices.pick(&scans);
                self.b.subgroup_add_native_order(x, scan)
            }
            None => return,
        };
        let own = self.own();
        self.b.store_offset(to, own, 1, made);
    }

    /// A promise of uniformity that holds.
    pub(super) fn assume_uniform(&mut self) {
        let ty = self.any_type();
        let v = self.value_within(ty, Level::Workgroup);
        // Within a divergent loop, threads meet it a different number of times.
        let in_loop = self.frames.iter().any(|f| f.is_loop);
        if !self.config.assume_uniform || in_loop && self.control() > Level::Workgroup {
            return;
        }
        let made = self.b.assume_uniform(v);
        self.made(made, Level::Workgroup);
    }

    /// The first of the elements that the thread owns.
    pub(super) fn own(&mut self) -> Value {
        let per_thread = self.b.constant(PER_THREAD);
        self.b.mul(self.index, per_thread)
    }

    /// Writes the newest value of each type, so that the work shows.
    pub(super) fn write_out(&mut self) {
        let shown: Vec<Value> = self.scopes.iter().flatten().copied().collect();
        for ty in TYPES {
            // What the kernel's head made shows in everything else.
            let newest = shown.iter().skip(2).rev().copied();
            if let Some(v) = newest.into_iter().find(|&v| self.b.type_of(v) == ty) {
                let to = self.declared(Role::Own, ty);
                let own = self.own();
                self.b.store_offset(to, own, PER_THREAD - 1, v);
            }
        }
        let bools = shown
            .into_iter()
            .filter(|&v| self.b.type_of(v) == Type::BOOL);
        let bools: Vec<Value> = bools.collect();
        if let Some((&first, rest)) = bools.split_first() {
            let all = rest.iter().fold(first, |a, &v| self.b.xor(a, v));
            let v = self.b.convert(all, Type::U32);
            let to = self.declared(Role::Own, Type::U32);
            let own = self.own();
            self.b.store(to, own, v);
        }
    }

    /// Flags of an access to a buffer: mostly none.
    pub(super) fn access_flags(&mut self) -> u8 {
        match self.choices.below(8) {
            5 => Inst::VOLATILE,
            6 => Inst::COHERENT,
            7 => Inst::VOLATILE | Inst::COHERENT,
            _ => 0,
        }
    }
}

/// Whether a precise recipe carries the opcode out.
fn is_recipe(op: Op, ty: Type) -> bool {
    op.has_recipe() && is_float(ty)
}
