//! Addresses and lengths of buffers and arrays (PTX ISA sections 6.4 and 9.7.9.8).

use super::access::{Form, LD_GLOBAL};
use super::body::Body;
use super::mnemonic::{CLASS_COUNT, Class, Kind, piece};
use super::writer::{Line, Piece, Registers, ShortLine, ShortPiece, Token};
use crate::kernel::{Inst, Mem};
use crate::op::Op;
use crate::types::Type;

/// The greatest byte offset that an address operand takes: it is a signed 32-bit number, and the second half of a vector
/// lies 16 bytes behind the first.
const MAX_OFFSET: u32 = i32::MAX as u32 - 16;

/// How many elements a buffer or array has, where accesses are checked.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Len {
    /// Nobody asks.
    Unchecked,
    /// So many.
    Known(u32),
    /// A 64-bit register holds it.
    In(Token),
}

/// A buffer, an array or a table as the body sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// The register that holds its address: 64 bits for buffers and tables, 32 for arrays.
    pub base: Token,
    /// What stands for it in an address operand: that register, or an array's symbol.
    pub symbol: Token,
    /// Bytes from the symbol to the first element.
    pub symbol_offset: u32,
    /// How it is loaded from, unless an access asks for more.
    pub load: &'static Form,
    /// The last index by register, the block in which its address was made, and that address.
    last_index: u32,
    last_block: u32,
    last_address: Token,
}

/// What is known of an object's length, and of the checks against it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub len: Len,
    /// The last index and offset that were checked, the block of that, and its predicate.
    pub check: Check,
}

impl Bound {
    pub const NONE: Bound = Bound {
        len: Len::Unchecked,
        check: Check {
            // No value has this number.
            index: u32::MAX,
            offset: 0,
            block: 0,
            predicate: Token::NONE,
        },
    };
}

/// A check that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub index: u32,
    pub offset: u32,
    pub block: u32,
    pub predicate: Token,
}

impl Object {
    pub const NONE: Object = Object {
        base: Token::NONE,
        symbol: Token::NONE,
        symbol_offset: 0,
        load: &LD_GLOBAL,
        // No value has this number.
        last_index: u32::MAX,
        last_block: 0,
        last_address: Token::NONE,
    };

    pub fn new(symbol: Token, symbol_offset: u32, load: &'static Form) -> Object {
        Object {
            symbol,
            symbol_offset,
            load,
            ..Object::NONE
        }
    }
}

/// The kinds of objects, as places in `Scratch::starts`.
pub(super) const BUFFERS: usize = 0;
pub(super) const SHARED: usize = 1;
pub(super) const PRIVATE: usize = 2;
pub(super) const TABLES: usize = 3;

/// The kind of an object, and its number among those.
#[inline(always)]
pub(super) const fn kind_of(mem: Mem) -> (usize, u32) {
    match mem {
        Mem::Buffer(n) => (BUFFERS, n),
        Mem::Shared(n) => (SHARED, n),
        Mem::Private(n) => (PRIVATE, n),
        Mem::Table(n) => (TABLES, n),
    }
}

/// An address operand.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub base: Token,
    /// In bytes, at most `MAX_OFFSET`.
    pub offset: u32,
}

impl Address {
    /// So many bytes further; at most 16.
    pub fn further(self, bytes: u32) -> Address {
        Address {
            offset: self.offset + bytes,
            ..self
        }
    }
}

/// What an access is written with whose address is one line at most: that is written already.
pub(super) struct Near<'b> {
    /// Goes on behind it.
    pub line: ShortLine<'b>,
    pub base: &'b Token,
    /// In bytes, at most `MAX_OFFSET`.
    pub offset: u32,
    pub registers: &'b mut [Registers; CLASS_COUNT],
}

/// What makes an address: of 32 bits, or of 64.
static MAD: [ShortPiece; 2] = [
    ShortPiece::of(&Piece::new("\tmad.lo.u32 ")),
    ShortPiece::of(&Piece::new("\tmad.wide.u32 ")),
];

/// Sizes of elements, by their logarithm: powers of two up to 32.
static SIZES: [Token; 8] = {
    let mut sizes = [Token::NONE; 8];
    let mut log2 = 0;
    while log2 < sizes.len() {
        sizes[log2] = Token::integer(1 << log2, false);
        log2 += 1;
    }
    sizes
};

impl Line<'_> {
    /// `, [base]` or `, [base+offset]`.
    #[inline(always)]
    pub fn address(self, address: Address) -> Self {
        self.bracket(address.base).offset(address.offset)
    }

    /// The same as the first operand, behind the space that ends a mnemonic.
    #[inline(always)]
    pub fn first_address(self, address: Address) -> Self {
        self.first_bracket(address.base).offset(address.offset)
    }
}

/// Whether addresses have 64 bits.
fn is_global(mem: Mem) -> bool {
    matches!(mem, Mem::Buffer(_) | Mem::Table(_))
}

impl Body<'_, '_> {
    /// The place of an object.
    #[inline(always)]
    pub fn place_of(&self, mem: Mem) -> usize {
        let (kind, n) = kind_of(mem);
        self.s.starts[kind].wrapping_add(n as usize)
    }

    #[inline(always)]
    pub fn object(&self, mem: Mem) -> Option<&Object> {
        self.s.objects.get(self.place_of(mem))
    }

    /// What is known of an object's length, where accesses are checked.
    pub fn bound(&mut self, mem: Mem) -> Option<&mut Bound> {
        let place = self.place_of(mem);
        self.s.bounds.get_mut(place)
    }

    pub fn set_len(&mut self, place: usize, len: Len) {
        if let Some(bound) = self.s.bounds.get_mut(place) {
            bound.len = len;
        }
    }

    /// What [`Body::address`] gives, with room for the line behind it, where the index is a register of 32 bits and the
    /// offset not far; else nothing is written.
    #[inline(always)]
    pub fn near(&mut self, mem: Mem, index: u32, offset: u32, size: u32) -> Option<Near<'_>> {
        let (place, global) = (self.place_of(mem), is_global(mem));
        let inst = self.insts.get(index as usize)?;
        if inst.op == Op::Const || inst.ty == Type::U64 || offset > MAX_OFFSET / 32 {
            return None;
        }
        let object = self.s.objects.get_mut(place)?;
        let at = self.values.get(index as usize)?;
        let mut line = self.w.short()?;
        let open = self.s.open.get(object.last_block as usize);
        if object.last_index != index || open != Some(&true) {
            let class = if global { Class::B64 } else { Class::B32 };
            // As many counters as classes.
            let registers = &mut self.registers[class as usize];
            line = line.begin(&MAD[usize::from(global)], registers.next());
            line = line.operand(*at);
            line = line.operand(SIZES[size.trailing_zeros() as usize & 7]);
            line = line.operand(object.base).ended();
            object.last_address.copy_from(registers.next());
            registers.count_up();
            object.last_index = index;
            object.last_block = self.block;
        }
        Some(Near {
            line,
            base: &object.last_address,
            // Below 2^31.
            offset: offset * size,
            registers: &mut self.registers,
        })
    }

    /// base + (index + offset) * size, in 64 bits for buffers and tables. The size is a power of two up to 32.
    #[inline(never)]
    pub fn address(&mut self, mem: Mem, index: u32, offset: u32, size: u32) -> Address {
        if let Some(known) = self.known(index) {
            return self.known_address(mem, known, offset, size);
        }
        let place = self.place_of(mem);
        let base = self.element(place, is_global(mem), index, size);
        // At most 2^32 * 32.
        let bytes = u64::from(offset) * u64::from(size);
        match u32::try_from(bytes) {
            Ok(offset) if offset <= MAX_OFFSET => Address { base, offset },
            _ => self.far(base, bytes, is_global(mem)),
        }
    }

    /// The address of a constant index.
    #[inline(never)]
    fn known_address(&mut self, mem: Mem, index: u64, offset: u32, size: u32) -> Address {
        let object = self.object(mem).unwrap_or(&Object::NONE);
        let bytes = index
            .wrapping_add(u64::from(offset))
            .wrapping_mul(u64::from(size));
        let within = bytes.wrapping_add(u64::from(object.symbol_offset));
        match u32::try_from(within) {
            Ok(offset) if offset <= MAX_OFFSET && bytes <= within => Address {
                base: object.symbol,
                offset,
            },
            _ => {
                let base = object.base;
                self.far(base, bytes, is_global(mem))
            }
        }
    }

    /// Whether what was made in a block is there still.
    pub fn is_open(&self, block: u32) -> bool {
        self.s.open.get(block as usize) == Some(&true)
    }

    /// base + index * size: what was made last, if that is it and is there still.
    #[inline(always)]
    fn element(&mut self, place: usize, global: bool, index: u32, size: u32) -> Token {
        let Some(object) = self.s.objects.get(place) else {
            // A verified word names an object.
            return Token::NONE;
        };
        if object.last_index == index && self.is_open(object.last_block) {
            return object.last_address;
        }
        let (base, at) = (object.base, self.value(index));
        let address = if self.type_of(index) == Type::U64 {
            self.wide_element(base, at, size, global)
        } else {
            let by = SIZES[size.trailing_zeros() as usize & 7];
            let (mad, kind) = if global {
                (piece!("\tmad.wide.u32 "), Kind::U64)
            } else {
                (piece!("\tmad.lo.u32 "), Kind::U32)
            };
            let to = self.register(kind);
            self.w.instruction(mad, &[to, at, by, base]);
            to
        };
        if let Some(object) = self.s.objects.get_mut(place) {
            object.last_index = index;
            object.last_block = self.block;
            object.last_address = address;
        }
        address
    }

    /// The same of an index of 64 bits.
    #[inline(never)]
    fn wide_element(&mut self, base: Token, index: Token, size: u32, global: bool) -> Token {
        if global {
            let log2 = Self::imm(size.trailing_zeros());
            let bytes = self.binary(piece!("\tshl.b64 "), Kind::U64, index, log2);
            return self.binary(piece!("\tadd.s64 "), Kind::U64, base, bytes);
        }
        // Within an array the index is far below 2^32.
        let index = self.in_register(Kind::U64, index);
        let index = self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, index);
        let size = Self::imm(size);
        self.ternary(piece!("\tmad.lo.u32 "), Kind::U32, index, size, base)
    }

    /// An offset that does not fit an address operand.
    #[cold]
    #[inline(never)]
    fn far(&mut self, base: Token, bytes: u64, global: bool) -> Address {
        let base = if global {
            let bytes = Token::integer(bytes, false);
            self.binary(piece!("\tadd.s64 "), Kind::U64, base, bytes)
        } else {
            // No array is that long: the access is out of bounds whatever the address is.
            let bytes = Token::integer(bytes & u64::from(u32::MAX), false);
            self.binary(piece!("\tadd.u32 "), Kind::U32, base, bytes)
        };
        Address { base, offset: 0 }
    }

    /// A word of the instruction's run in the side table.
    pub fn side_word(&self, inst: &Inst, n: usize) -> u32 {
        (inst.c as usize)
            .checked_add(n)
            .and_then(|at| self.side.get(at))
            .copied()
            .unwrap_or_default()
    }
}
