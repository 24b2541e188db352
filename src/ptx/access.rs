//! Loads, stores, array lengths and vectors (PTX ISA sections 5.4.2, 9.7.9.8 and 9.7.9.11).
//!
//! A vector is a group of registers: to make one or to take an element from it takes no instruction. Memory is accessed in
//! as few instructions as there can be: one for all elements, two for four of 64 bits.

use super::body::Body;
use super::bounds::Inside;
use super::memory::{Address, kind_of};
use super::mnemonic::{Kind, Mnemonic, by_memory, piece};
use super::writer::{Line, Piece, Tail, Token};
use crate::kernel::{Inst, Mem};

/// A load or store of a state space: whole for scalars, its beginning for vectors.
#[derive(Debug)]
pub(super) struct Form {
    scalar: Mnemonic,
    verb: Piece,
}

macro_rules! form {
    ($op:literal) => {
        Form {
            scalar: by_memory!($op),
            verb: Piece::new(concat!("\t", $op)),
        }
    };
}

pub(super) static LD_GLOBAL: Form = form!("ld.global");
pub(super) static LD_GLOBAL_NC: Form = form!("ld.global.nc");
static LD_VOLATILE: Form = form!("ld.volatile.global");
static LD_COHERENT: Form = form!("ld.relaxed.gpu.global");
pub(super) static LD_SHARED: Form = form!("ld.shared");
pub(super) static LD_LOCAL: Form = form!("ld.local");
pub(super) static LD_CONST: Form = form!("ld.const");
static ST_GLOBAL: Form = form!("st.global");
static ST_VOLATILE: Form = form!("st.volatile.global");
static ST_COHERENT: Form = form!("st.relaxed.gpu.global");
static ST_SHARED: Form = form!("st.shared");
static ST_LOCAL: Form = form!("st.local");

/// What follows the state space of a vector access: `.v2`, then this.
pub(super) static TYPES: Mnemonic = Mnemonic::with_all(
    [".u8 ", ".s32 ", ".u32 ", ".f32 ", ".s64 ", ".u64 ", ".f64 "],
    [".s8 ", ".u8 ", ".s16 ", ".u16 "],
    [".b16 ", ".b16 "],
);

impl<'w> Line<'w> {
    /// `{a, b}` or `{a, b, c, d}`.
    fn vector(self, elements: &[Token]) -> Line<'w> {
        let mut line = self.bytes(b"{");
        for (i, &element) in elements.iter().enumerate() {
            line = if i == 0 {
                line.token(element)
            } else {
                line.operand(element)
            };
        }
        line.bytes(b"}")
    }
}

impl Body<'_, '_> {
    fn load_form(&self, mem: Mem, flags: u8) -> &'static Form {
        if flags != 0 {
            // Only accesses of buffers have some. Volatile is relaxed at system scope, and so coherent too.
            return match flags & Inst::VOLATILE {
                0 => &LD_COHERENT,
                _ => &LD_VOLATILE,
            };
        }
        self.object(mem).map_or(&LD_GLOBAL, |object| object.load)
    }

    fn store_form(mem: Mem, flags: u8) -> &'static Form {
        if flags & Inst::VOLATILE != 0 {
            return &ST_VOLATILE;
        }
        if flags & Inst::COHERENT != 0 {
            return &ST_COHERENT;
        }
        // By the kind of object; the verifier lets no store through to a table.
        static FORMS: [&Form; 4] = [&ST_GLOBAL, &ST_SHARED, &ST_LOCAL, &ST_GLOBAL];
        FORMS[kind_of(mem).0]
    }

    /// The zero of a kind as an immediate.
    pub fn zero(kind: Kind) -> Token {
        match kind {
            Kind::F32 => Token::f32(0),
            Kind::F64 => Token::f64(0),
            Kind::Bool
            | Kind::I8
            | Kind::U8
            | Kind::I16
            | Kind::U16
            | Kind::I32
            | Kind::U32
            | Kind::I64
            | Kind::U64
            | Kind::F16
            | Kind::BF16 => Self::imm(0),
        }
    }

    /// Begins a line that is carried out where an access lies inside.
    #[inline(always)]
    pub fn guarded_line(&mut self, inside: Inside) -> Line<'_> {
        let line = self.w.line();
        match inside {
            Inside::If(predicate) => line.bytes(b"\t@").token(predicate),
            Inside::Always | Inside::Never => line,
        }
    }

    /// A register that an access fills, zero before where it may not.
    pub fn filled(&mut self, kind: Kind, inside: Inside) -> Token {
        match inside {
            Inside::Always => self.register(kind),
            Inside::If(_) | Inside::Never => self.copied(kind, Self::zero(kind)),
        }
    }

    #[inline(never)]
    pub fn load(&mut self, inst: &Inst) -> Token {
        // A verified word names an object.
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let kind = self.kind(inst.ty);
        if inst.ty.lanes() > 1 || self.checked {
            return self.load_otherwise(inst, kind, mem);
        }
        let ld = self.load_form(mem, inst.flags).scalar.of(kind);
        let Some(near) = self.near(mem, inst.b, inst.c, kind.width() / 8) else {
            return self.load_far(inst, kind, mem, ld);
        };
        let to = near.registers[kind.class() as usize].take();
        let line = near.line.piece(ld, to).bracket(near.base, near.offset);
        let end = line.tail(Tail::END);
        self.w.next(end);
        to
    }

    /// A load whose address takes more than one line, or none.
    #[inline(never)]
    fn load_far(&mut self, inst: &Inst, kind: Kind, mem: Mem, ld: &Piece) -> Token {
        let address = self.address(mem, inst.b, inst.c, kind.width() / 8);
        let to = self.register(kind);
        self.w.load(ld, to, address.base, address.offset);
        to
    }

    /// A load that is checked, or of a vector.
    #[inline(never)]
    fn load_otherwise(&mut self, inst: &Inst, kind: Kind, mem: Mem) -> Token {
        if inst.ty.lanes() > 1 {
            return self.load_vector(inst, kind, mem);
        }
        self.load_checked(inst, kind, mem)
    }

    fn load_checked(&mut self, inst: &Inst, kind: Kind, mem: Mem) -> Token {
        let inside = self.inside(mem, inst.b, inst.c);
        if matches!(inside, Inside::Never) {
            return self.filled(kind, inside);
        }
        let address = self.address(mem, inst.b, inst.c, kind.width() / 8);
        let form = self.load_form(mem, inst.flags);
        let to = self.filled(kind, inside);
        let line = self.guarded_line(inside).piece(form.scalar.of(kind));
        line.token(to).address(address).end();
        to
    }

    fn load_vector(&mut self, inst: &Inst, kind: Kind, mem: Mem) -> Token {
        let lanes = inst.ty.lanes();
        let inside = self.inside(mem, inst.b, inst.c);
        let mut to = [Token::NONE; 4];
        for to in to.iter_mut().take(lanes as usize) {
            *to = self.filled(kind, inside);
        }
        if !matches!(inside, Inside::Never) {
            let address = self.address(mem, inst.b, inst.c, inst.ty.bytes());
            let form = self.load_form(mem, inst.flags);
            self.pieces(kind, lanes, address, &to, |body, ty, address, to| {
                let line = body.guarded_line(inside).piece(&form.verb);
                let line = line.piece(width(to)).piece(ty).vector(to);
                line.address(address).end();
            });
        }
        self.group(to)
    }

    /// The accesses of a vector, each with its address and elements.
    fn pieces(
        &mut self,
        kind: Kind,
        lanes: u32,
        address: Address,
        elements: &[Token; 4],
        mut access: impl FnMut(&mut Self, &Piece, Address, &[Token]),
    ) {
        let [a, b, c, d] = *elements;
        let ty = TYPES.of(kind);
        if lanes == 2 {
            access(self, ty, address, &[a, b]);
        } else if kind.is_wide() {
            access(self, ty, address, &[a, b]);
            access(self, ty, address.further(16), &[c, d]);
        } else {
            access(self, ty, address, elements);
        }
    }

    #[inline(never)]
    pub fn store(&mut self, inst: &Inst) -> Token {
        let (value, offset) = if inst.flags & Inst::OFFSET != 0 {
            (self.side_word(inst, 0), self.side_word(inst, 1))
        } else {
            (inst.c, 0)
        };
        let ty = self.type_of(value);
        let kind = self.kind(ty);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let form = Self::store_form(mem, inst.flags);
        if ty.lanes() == 1 && !self.checked {
            let value = self.value(value);
            let st = form.scalar.of(kind);
            let near = match value.is_wide() {
                true => None,
                false => self.near(mem, inst.b, offset, kind.width() / 8),
            };
            let Some(near) = near else {
                return self.store_far(mem, inst.b, offset, kind, st, value);
            };
            let line = near.line.first_bracket(st, near.base, near.offset);
            let end = line.operand(value).tail(Tail::END);
            self.w.next(end);
            return Token::NONE;
        }
        self.store_otherwise(form, mem, inst.b, offset, value)
    }

    /// A store whose address takes more than one line, or none, or of a wide immediate.
    #[inline(never)]
    fn store_far(
        &mut self,
        mem: Mem,
        index: u32,
        offset: u32,
        kind: Kind,
        st: &Piece,
        value: Token,
    ) -> Token {
        let address = self.address(mem, index, offset, kind.width() / 8);
        self.w.store(st, address.base, address.offset, value);
        Token::NONE
    }

    /// A store that is checked, or of a vector.
    #[inline(never)]
    fn store_otherwise(
        &mut self,
        form: &'static Form,
        mem: Mem,
        index: u32,
        offset: u32,
        value: u32,
    ) -> Token {
        let ty = self.type_of(value);
        let kind = self.kind(ty);
        let inside = self.inside(mem, index, offset);
        if matches!(inside, Inside::Never) {
            return Token::NONE;
        }
        if ty.lanes() > 1 {
            let address = self.address(mem, index, offset, ty.bytes());
            let mut elements = [Token::NONE; 4];
            for (lane, element) in elements.iter_mut().enumerate() {
                *element = self.element_of(value, lane);
            }
            self.pieces(
                kind,
                ty.lanes(),
                address,
                &elements,
                |body, ty, address, from| {
                    let line = body.guarded_line(inside).piece(&form.verb);
                    let line = line.piece(width(from)).piece(ty).first_address(address);
                    line.bytes(b", ").vector(from).end();
                },
            );
            return Token::NONE;
        }
        let address = self.address(mem, index, offset, kind.width() / 8);
        let value = self.value(value);
        let line = self.guarded_line(inside).piece(form.scalar.of(kind));
        line.first_address(address).operand(value).end();
        Token::NONE
    }

    /// What stands for a vector of these elements; of two, the last two do not matter.
    pub fn group(&mut self, elements: [Token; 4]) -> Token {
        // At most four an instruction, of which there are fewer than 2^28.
        let start = u32::try_from(self.s.groups.len()).unwrap_or(u32::MAX);
        self.s.groups.extend_from_slice(&elements);
        Token::group(start)
    }

    /// An element of the vector that a value is.
    fn element_of(&self, word: u32, lane: usize) -> Token {
        let start = self.value(word).start();
        let at = start.saturating_add(lane);
        self.s.groups.get(at).copied().unwrap_or(Token::NONE)
    }

    pub fn construct2(&mut self, inst: &Inst) -> Token {
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        self.group([a, b, Token::NONE, Token::NONE])
    }

    pub fn construct4(&mut self, inst: &Inst) -> Token {
        let (a, b) = (self.value(inst.a), self.value(inst.b));
        let c = self.value(self.side_word(inst, 0));
        let d = self.value(self.side_word(inst, 1));
        self.group([a, b, c, d])
    }

    pub fn extract(&mut self, inst: &Inst) -> Token {
        self.element_of(inst.a, usize::from(inst.flags))
    }

    pub fn array_length(&mut self, inst: &Inst) -> Token {
        let to = self.register(Kind::U64);
        self.load_param(piece!("\tld.param.u64 "), to, piece!(", [$n"), inst.a);
        if self.kind(inst.ty) == Kind::U32 {
            return self.unary(piece!("\tcvt.u32.u64 "), Kind::U32, to);
        }
        to
    }
}

/// How many elements an access has.
fn width(elements: &[Token]) -> &'static Piece {
    if elements.len() == 2 {
        piece!(".v2")
    } else {
        piece!(".v4")
    }
}
