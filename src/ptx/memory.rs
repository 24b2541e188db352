//! Addresses, loads, stores, array lengths (PTX ISA sections 6.4, 9.7.9.8 and 9.7.9.11).

use super::body::Body;
use super::mnemonic::{Kind, Mnemonic, by_type, piece};
use super::writer::{Line, Piece, Token};
use crate::kernel::{Inst, Mem};

static LD_GLOBAL: Mnemonic = by_type!("ld.global");
static LD_GLOBAL_NC: Mnemonic = by_type!("ld.global.nc");
static LD_VOLATILE: Mnemonic = by_type!("ld.volatile.global");
static LD_COHERENT: Mnemonic = by_type!("ld.relaxed.gpu.global");
static LD_SHARED: Mnemonic = by_type!("ld.shared");
static LD_LOCAL: Mnemonic = by_type!("ld.local");
static ST_GLOBAL: Mnemonic = by_type!("st.global");
static ST_VOLATILE: Mnemonic = by_type!("st.volatile.global");
static ST_COHERENT: Mnemonic = by_type!("st.relaxed.gpu.global");
static ST_SHARED: Mnemonic = by_type!("st.shared");
static ST_LOCAL: Mnemonic = by_type!("st.local");

/// The greatest byte offset that an address operand takes: it is a signed 32-bit number.
const MAX_OFFSET: u32 = i32::MAX as u32;

/// A buffer or array as the body sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    /// The register that holds its address: 64 bits for buffers, 32 for arrays.
    pub base: Token,
    /// What stands for it in an address operand: that register, or an array's symbol.
    pub symbol: Token,
    /// Bytes from the symbol to the first element.
    pub symbol_offset: u32,
    /// Whether loads may go through the read-only path.
    pub read_only: bool,
    /// The last index by register, the block in which its address was made, and that address.
    last_index: u32,
    last_block: u32,
    last_address: Token,
}

impl Object {
    pub fn new(base: Token, symbol: Token, symbol_offset: u32, read_only: bool) -> Object {
        Object {
            base,
            symbol,
            symbol_offset,
            read_only,
            // No value has this number.
            last_index: u32::MAX,
            last_block: 0,
            last_address: Token::NONE,
        }
    }

    pub const NONE: Object = Object {
        base: Token::NONE,
        symbol: Token::NONE,
        symbol_offset: 0,
        read_only: false,
        last_index: u32::MAX,
        last_block: 0,
        last_address: Token::NONE,
    };
}

/// An address operand.
#[derive(Clone, Copy)]
pub(super) struct Address {
    base: Token,
    /// In bytes, at most `MAX_OFFSET`.
    offset: u32,
}

impl Line<'_> {
    /// `[base]` or `[base+offset]`.
    #[inline(always)]
    pub fn address(self, address: Address) -> Self {
        let mut line = self.bytes(b"[").token(address.base);
        if address.offset != 0 {
            line = line.bytes(b"+").number(address.offset);
        }
        line.bytes(b"]")
    }
}

impl Body<'_, '_> {
    fn object(&self, mem: Mem) -> Option<&Object> {
        match mem {
            Mem::Buffer(n) => self.s.buffers.get(n as usize),
            Mem::Shared(n) => self.s.shared.get(n as usize),
            Mem::Private(n) => self.s.private.get(n as usize),
        }
    }

    fn remember(&mut self, mem: Mem, index: u32, address: Token) {
        let block = self.block;
        let object = match mem {
            Mem::Buffer(n) => self.s.buffers.get_mut(n as usize),
            Mem::Shared(n) => self.s.shared.get_mut(n as usize),
            Mem::Private(n) => self.s.private.get_mut(n as usize),
        };
        if let Some(object) = object {
            object.last_index = index;
            object.last_block = block;
            object.last_address = address;
        }
    }

    /// base + (index + offset) * size, in 64 bits for buffers.
    pub fn address(&mut self, mem: Mem, index: u32, offset: u32, kind: Kind) -> Address {
        let size = kind.width() / 8;
        let object = self.object(mem).copied().unwrap_or(Object::NONE);
        let global = matches!(mem, Mem::Buffer(_));
        if let Some(known) = self.known(index) {
            let bytes = known
                .wrapping_add(u64::from(offset))
                .wrapping_mul(u64::from(size));
            let within = bytes.wrapping_add(u64::from(object.symbol_offset));
            return match u32::try_from(within) {
                Ok(offset) if offset <= MAX_OFFSET && bytes <= within => Address {
                    base: object.symbol,
                    offset,
                },
                _ => self.far(object.base, bytes, global),
            };
        }
        let open = self.s.open.get(object.last_block as usize) == Some(&true);
        let element = if object.last_index == index && open {
            object.last_address
        } else {
            let address = self.element(object.base, index, size, global);
            self.remember(mem, index, address);
            address
        };
        // At most 2^32 * 8.
        let bytes = u64::from(offset) * u64::from(size);
        match u32::try_from(bytes) {
            Ok(offset) if offset <= MAX_OFFSET => Address {
                base: element,
                offset,
            },
            _ => self.far(element, bytes, global),
        }
    }

    /// base + index * size.
    fn element(&mut self, base: Token, index: u32, size: u32, global: bool) -> Token {
        let wide = self.kind_of(index) == Kind::U64;
        let index = self.value(index);
        let by = Self::imm(size);
        match (global, wide) {
            (true, false) => self.ternary(piece!("\tmad.wide.u32 "), Kind::U64, index, by, base),
            (true, true) => {
                let log2 = Self::imm(size.trailing_zeros());
                let bytes = self.binary(piece!("\tshl.b64 "), Kind::U64, index, log2);
                self.binary(piece!("\tadd.s64 "), Kind::U64, base, bytes)
            }
            (false, false) => self.ternary(piece!("\tmad.lo.u32 "), Kind::U32, index, by, base),
            (false, true) => {
                // Within an array the index is far below 2^32.
                let index = self.in_register(Kind::U64, index);
                let index = self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, index);
                self.ternary(piece!("\tmad.lo.u32 "), Kind::U32, index, by, base)
            }
        }
    }

    /// An offset that does not fit an address operand.
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

    pub fn load(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        // A verified word names an object.
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let address = self.address(mem, inst.b, inst.c, kind);
        let mnemonic = match mem {
            Mem::Shared(_) => &LD_SHARED,
            Mem::Private(_) => &LD_LOCAL,
            // Volatile is relaxed at system scope, and so coherent too.
            Mem::Buffer(_) if inst.flags & Inst::VOLATILE != 0 => &LD_VOLATILE,
            Mem::Buffer(_) if inst.flags & Inst::COHERENT != 0 => &LD_COHERENT,
            Mem::Buffer(n) => match self.s.buffers.get(n as usize) {
                Some(object) if object.read_only => &LD_GLOBAL_NC,
                _ => &LD_GLOBAL,
            },
        };
        let to = self.register(kind);
        let line = self.w.line().piece(mnemonic.of(kind)).token(to);
        line.bytes(b", ").address(address).end();
        to
    }

    pub fn store(&mut self, inst: &Inst) -> Token {
        let (value, offset) = if inst.flags & Inst::OFFSET != 0 {
            (self.side_word(inst, 0), self.side_word(inst, 1))
        } else {
            (inst.c, 0)
        };
        let kind = self.kind_of(value);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let address = self.address(mem, inst.b, offset, kind);
        let mnemonic = match mem {
            Mem::Shared(_) => &ST_SHARED,
            Mem::Private(_) => &ST_LOCAL,
            Mem::Buffer(_) if inst.flags & Inst::VOLATILE != 0 => &ST_VOLATILE,
            Mem::Buffer(_) if inst.flags & Inst::COHERENT != 0 => &ST_COHERENT,
            Mem::Buffer(_) => &ST_GLOBAL,
        };
        let value = self.value(value);
        let line = self.w.line().piece(mnemonic.of(kind));
        line.address(address).operand(value).end();
        Token::NONE
    }

    /// A word of the instruction's run in the side table.
    pub fn side_word(&self, inst: &Inst, n: usize) -> u32 {
        (inst.c as usize)
            .checked_add(n)
            .and_then(|at| self.side.get(at))
            .copied()
            .unwrap_or_default()
    }

    pub fn array_length(&mut self, inst: &Inst) -> Token {
        let ld: &Piece = piece!("\tld.param.u64 ");
        let to = self.register(Kind::U64);
        self.load_param(ld, to, "$n", inst.a);
        match self.kind(inst.ty) {
            Kind::U32 => self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, to),
            _ => to,
        }
    }
}
