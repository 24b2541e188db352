//! Addresses and lengths of buffers and arrays (PTX ISA sections 6.4 and 9.7.9.8).

use super::access::{Form, LD_GLOBAL};
use super::body::Body;
use super::mnemonic::{Kind, piece};
use super::writer::{Line, Token};
use crate::kernel::{Inst, Mem};
use crate::types::Type;

/// The greatest byte offset that an address operand takes: it is a signed 32-bit number, and the second half of a vector
/// lies 16 bytes behind the first.
const MAX_OFFSET: u32 = i32::MAX as u32 - 16;

/// How many elements a buffer or array has, where accesses are checked.
#[derive(Clone, Copy, Debug)]
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
    pub len: Len,
    /// The last index by register, the block in which its address was made, and that address.
    last_index: u32,
    last_block: u32,
    last_address: Token,
    /// The last index and offset that were checked, the block of that, and its predicate.
    pub check: Check,
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
        len: Len::Unchecked,
        // No value has this number.
        last_index: u32::MAX,
        last_block: 0,
        last_address: Token::NONE,
        check: Check {
            index: u32::MAX,
            offset: 0,
            block: 0,
            predicate: Token::NONE,
        },
    };

    pub fn new(symbol: Token, symbol_offset: u32, load: &'static Form) -> Object {
        Object {
            symbol,
            symbol_offset,
            load,
            ..Object::NONE
        }
    }

    pub fn with_len(self, len: Len) -> Object {
        Object { len, ..self }
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

/// Where the objects of each kind begin among all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Starts {
    /// Tables come first.
    pub buffers: usize,
    pub shared: usize,
    pub private: usize,
}

impl Body<'_, '_> {
    /// The place of an object.
    #[inline(always)]
    fn place_of(&self, mem: Mem) -> usize {
        let starts = &self.s.starts;
        let (start, n) = match mem {
            Mem::Buffer(n) => (starts.buffers, n),
            Mem::Shared(n) => (starts.shared, n),
            Mem::Private(n) => (starts.private, n),
            Mem::Table(n) => (0, n),
        };
        start.wrapping_add(n as usize)
    }

    #[inline(always)]
    pub fn object(&self, mem: Mem) -> Option<&Object> {
        self.s.objects.get(self.place_of(mem))
    }

    #[inline(always)]
    pub fn object_mut(&mut self, mem: Mem) -> Option<&mut Object> {
        let place = self.place_of(mem);
        self.s.objects.get_mut(place)
    }

    /// base + (index + offset) * size, in 64 bits for buffers and tables. The size is a power of two up to 32.
    #[inline(never)]
    pub fn address(&mut self, mem: Mem, index: u32, offset: u32, size: u32) -> Address {
        let Some(object) = self.object(mem) else {
            // A verified word names an object.
            return Address {
                base: Token::NONE,
                offset: 0,
            };
        };
        let element = if object.last_index == index && self.is_open(object.last_block) {
            object.last_address
        } else if let Some(known) = self.known(index) {
            return self.known_address(mem, known, offset, size);
        } else {
            let base = object.base;
            let address = self.element(base, index, size, is_global(mem));
            let block = self.block;
            if let Some(object) = self.object_mut(mem) {
                object.last_index = index;
                object.last_block = block;
                object.last_address = address;
            }
            address
        };
        // At most 2^32 * 32.
        let bytes = u64::from(offset) * u64::from(size);
        match u32::try_from(bytes) {
            Ok(offset) if offset <= MAX_OFFSET => Address {
                base: element,
                offset,
            },
            _ => self.far(element, bytes, is_global(mem)),
        }
    }

    /// The address of a constant index.
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

    /// base + index * size.
    #[inline(always)]
    fn element(&mut self, base: Token, index: u32, size: u32, global: bool) -> Token {
        let wide = self.type_of(index) == Type::U64;
        let index = self.value(index);
        if wide {
            return self.wide_element(base, index, size, global);
        }
        // A size is a power of two up to 32.
        const SIZES: [Token; 8] = {
            let mut sizes = [Token::NONE; 8];
            let mut log2 = 0;
            while log2 < sizes.len() {
                sizes[log2] = Token::integer(1 << log2, false);
                log2 += 1;
            }
            sizes
        };
        let by = SIZES[size.trailing_zeros() as usize & 7];
        let (mad, kind) = if global {
            (piece!("\tmad.wide.u32 "), Kind::U64)
        } else {
            (piece!("\tmad.lo.u32 "), Kind::U32)
        };
        self.ternary(mad, kind, index, by, base)
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
