//! One instruction of the bytecode.

use crate::op::{Form, Op};
use crate::types::{Order, Scope, Type};
use core::fmt;

/// A 16-byte instruction. The opcode's [`crate::op::Row`] says what the fields mean; what it does not use is zero.
///
/// `ty` is the type of the value made (for [`Op::Var`] that of the variable), [`Type::NONE`] where there is none. A value
/// is the index of the instruction that made it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(C)]
pub struct Inst {
    /// The opcode.
    pub op: Op,
    /// The type made.
    pub ty: Type,
    /// An axis, access flags or a scope, as the opcode's row says.
    pub flags: u8,
    /// First operand word.
    pub a: u32,
    /// Second operand word.
    pub b: u32,
    /// Third operand word, or the start of a run in the side table.
    pub c: u32,
}

const _: () = assert!(size_of::<Inst>() == 16);

impl Inst {
    /// Flag of loads and stores: the access may be neither left out, repeated nor merged (SPIR-V `Volatile`).
    pub const VOLATILE: u8 = 1;
    /// Flag of loads and stores of buffers: other threads of the device see it (PTX `.relaxed.gpu`).
    pub const COHERENT: u8 = 2;
    /// Flag of [`Op::Store`]: the offset is not zero and the last two operands are in the side table.
    pub const OFFSET: u8 = 0x80;
    /// Flag of division, roots and the transcendental functions: the hardware's approximation.
    pub const FAST: u8 = 1;
    /// Flag of [`Op::Unpack`]: the high half.
    pub const HIGH: u8 = 1;
    /// Kind of a subgroup reduction, in the low two bits of the flags: inclusive scan. 0 is a reduction.
    pub const INCLUSIVE: u8 = 1;
    /// Kind of a subgroup reduction: exclusive scan.
    pub const EXCLUSIVE: u8 = 2;
    /// Flag of subgroup additions of floats: in the order that the target likes.
    pub const NATIVE_ORDER: u8 = 4;
    /// Flag of [`Op::MemoryFence`]: device scope.
    pub const DEVICE: u8 = 1;

    /// An instruction without operands.
    #[inline]
    pub const fn new(op: Op, ty: Type) -> Inst {
        Inst {
            op,
            ty,
            flags: 0,
            a: 0,
            b: 0,
            c: 0,
        }
    }

    /// Whether its last operands are in the side table.
    #[inline]
    pub fn has_side(&self) -> bool {
        match self.op.quick().form {
            Form::Inline => false,
            Form::Side => true,
            Form::Store => self.flags & Inst::OFFSET != 0,
        }
    }

    /// The bits of a [`Op::Const`].
    #[inline]
    pub const fn const_bits(&self) -> u64 {
        self.a as u64 | (self.b as u64) << 32
    }
}

/// What a memory operand names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Mem {
    /// A buffer parameter, by number.
    Buffer(u32),
    /// A shared array, by number.
    Shared(u32),
    /// A private array, by number.
    Private(u32),
    /// A constant table, by number.
    Table(u32),
}

impl Mem {
    pub(super) const SHIFT: u32 = 28;
    /// The greatest number of objects of one kind.
    pub const MAX: u32 = (1 << Mem::SHIFT) - 1;

    /// The operand word: the kind in the top four bits.
    #[inline]
    pub const fn word(self) -> u32 {
        match self {
            Mem::Buffer(n) => n,
            Mem::Shared(n) => n | 1 << Mem::SHIFT,
            Mem::Private(n) => n | 2 << Mem::SHIFT,
            Mem::Table(n) => n | 3 << Mem::SHIFT,
        }
    }

    /// What a word names, or `None` for a kind that does not exist.
    #[inline]
    pub const fn from_word(word: u32) -> Option<Mem> {
        let n = word & Mem::MAX;
        match word >> Mem::SHIFT {
            0 => Some(Mem::Buffer(n)),
            1 => Some(Mem::Shared(n)),
            2 => Some(Mem::Private(n)),
            3 => Some(Mem::Table(n)),
            _ => None,
        }
    }
}

impl fmt::Display for Mem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mem::Buffer(n) => write!(f, "buf{n}"),
            Mem::Shared(n) => write!(f, "shared{n}"),
            Mem::Private(n) => write!(f, "private{n}"),
            Mem::Table(n) => write!(f, "table{n}"),
        }
    }
}

/// An atomic's order and scope, as one operand word: the order in bits 0 to 7, the scope in bits 8 to 15.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ordering {
    /// The memory order.
    pub order: Order,
    /// The scope in which it holds.
    pub scope: Scope,
}

impl Ordering {
    /// Atomic among all threads of the device, ordering nothing else: the default.
    pub const RELAXED: Ordering = Ordering {
        order: Order::Relaxed,
        scope: Scope::Device,
    };

    /// The operand word.
    #[inline]
    pub const fn word(self) -> u32 {
        self.order as u32 | (self.scope as u32) << 8
    }

    /// What a word means, or `None`.
    pub const fn from_word(word: u32) -> Option<Ordering> {
        match (Order::from_code(word & 255), Scope::from_code(word >> 8)) {
            (Some(order), Some(scope)) => Some(Ordering { order, scope }),
            _ => None,
        }
    }
}

impl fmt::Display for Ordering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.order.name(), self.scope.name())
    }
}

/// The operand words of an instruction, in the order of its row.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    words: [u32; 6],
    len: u8,
}

impl Words {
    pub(crate) const fn none() -> Words {
        Words {
            words: [0; 6],
            len: 0,
        }
    }

    /// Collects them; `None` when a side run does not lie within `side`, or its start plus length overflows.
    pub(crate) fn of(inst: &Inst, side: &[u32]) -> Option<Words> {
        let len = inst.op.quick().len;
        let mut words = [inst.a, inst.b, inst.c, 0, 0, 0];
        if inst.has_side() {
            let start = usize::try_from(inst.c).ok()?;
            let own = usize::from(len).saturating_sub(2);
            let run = side.get(start..start.checked_add(own)?)?;
            // At most four: a copy of a length unknown here would be a call.
            for (word, &beside) in words.iter_mut().skip(2).zip(run) {
                *word = beside;
            }
        }
        Some(Words { words, len })
    }
}

impl core::ops::Deref for Words {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.words[..usize::from(self.len)]
    }
}
