//! Constants, parameters, built-ins and variables (PTX ISA sections 4.5 and 10).

use super::body::Body;
use super::mnemonic::{Class, Kind, MOV, Mnemonic, by_memory, piece};
use super::template::Template;
use super::writer::{Piece, Tail, Token};
use crate::kernel::Inst;
use crate::types::Type;

static LD_PARAM: Mnemonic = by_memory!("ld.param");

static TID: [Token; 3] = symbols("%tid.x", "%tid.y", "%tid.z");
static CTAID: [Token; 3] = symbols("%ctaid.x", "%ctaid.y", "%ctaid.z");
static NCTAID: [Token; 3] = symbols("%nctaid.x", "%nctaid.y", "%nctaid.z");
static GLOBAL_ID: [Template; 3] = [
    Template::new("\tmov.u32 %r\0, %ctaid.x;\n\tmov.u32 %r\x01, %tid.x;\n"),
    Template::new("\tmov.u32 %r\0, %ctaid.y;\n\tmov.u32 %r\x01, %tid.y;\n"),
    Template::new("\tmov.u32 %r\0, %ctaid.z;\n\tmov.u32 %r\x01, %tid.z;\n"),
];

const fn symbols(x: &str, y: &str, z: &str) -> [Token; 3] {
    [Token::symbol(x), Token::symbol(y), Token::symbol(z)]
}

/// What belongs to an axis: 0, 1 or 2 by the verifier.
fn axis<'t, T>(of: &'t [T; 3], inst: &Inst) -> &'t T {
    let [x, y, z] = of;
    match inst.flags {
        0 => x,
        1 => y,
        _ => z,
    }
}

/// The immediate of a constant; of kinds that have none, anything.
#[inline(always)]
pub(super) fn constant(inst: &Inst) -> Token {
    match inst.ty {
        Type::U32 => Token::decimal(inst.a),
        Type::I32 | Type::I64 | Type::U64 if inst.const_bits() >> 31 == 0 => Token::decimal(inst.a),
        Type::F32 => Token::f32(inst.a),
        _ => long_constant(inst),
    }
}

#[inline(never)]
fn long_constant(inst: &Inst) -> Token {
    let bits = inst.const_bits();
    match Kind::of(inst.ty) {
        Some(kind @ (Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)) => {
            // Only the bits of the type are set.
            let above = 64 - kind.width();
            let value = (bits << above).cast_signed() >> above;
            Token::integer(value.cast_unsigned(), value < 0)
        }
        Some(Kind::F32) => Token::f32(inst.a),
        Some(Kind::F64) => Token::f64(bits),
        Some(Kind::Bool | Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64)
        | Some(Kind::F16 | Kind::BF16)
        | None => Token::integer(bits, false),
    }
}

impl Body<'_, '_> {
    pub fn constant(&mut self, inst: &Inst) -> Token {
        let bits = inst.const_bits();
        match self.kind(inst.ty) {
            Kind::Bool => self.unary(MOV.of(Kind::Bool), Kind::Bool, Token::integer(bits, false)),
            // Arithmetic takes no such immediate. Only the bits of the type are set.
            Kind::F16 | Kind::BF16 => self.half_constant((bits & 0xFFFF) as u16),
            Kind::I8
            | Kind::U8
            | Kind::I16
            | Kind::U16
            | Kind::I32
            | Kind::U32
            | Kind::F32
            | Kind::I64
            | Kind::U64
            | Kind::F64 => constant(inst),
        }
    }

    pub fn param(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let number = self
            .s
            .scalars
            .get(inst.a as usize)
            .copied()
            .unwrap_or_default();
        let holds = if kind == Kind::Bool { Kind::U32 } else { kind };
        let to = self.register(holds);
        self.load_param(LD_PARAM.of(kind), to, piece!(", [$p"), number);
        if kind == Kind::Bool {
            return self.is_not_zero(Kind::U32, to);
        }
        to
    }

    /// `ld.param to, [name];`; the first piece of the name is in `prefix`.
    pub fn load_param(&mut self, ld: &Piece, to: Token, prefix: &Piece, number: u32) {
        let number = Token::decimal(number);
        self.w.items(ld, to, prefix, number, Tail::CLOSED);
    }

    /// The value of a special register.
    pub fn special(&mut self, name: Token) -> Token {
        self.unary(piece!("\tmov.u32 "), Kind::U32, name)
    }

    /// The bytes of shared memory that the launch gave.
    pub fn dynamic_size(&mut self) -> Token {
        let to = self.register(Kind::U32);
        let size = piece!(", %dynamic_smem_size");
        self.w
            .items(piece!("\tmov.u32 "), to, size, Token::NONE, Tail::END);
        to
    }

    pub fn global_id(&mut self, inst: &Inst) -> Token {
        let size = *axis(&self.kernel.workgroup_size(), inst);
        if size == 1 {
            return self.special(*axis(&CTAID, inst));
        }
        // As many counters as classes.
        let registers = &mut self.registers[Class::B32 as usize];
        let number = registers.number();
        let (group, local, id) = (registers.take(), registers.take(), registers.take());
        let text = axis(&GLOBAL_ID, inst);
        self.w.line().fill(text, [number, number + 1]).done();
        let size = Token::decimal(size);
        self.line(piece!("\tmad.lo.u32 "), &[id, group, size, local]);
        id
    }

    pub fn local_id(&mut self, inst: &Inst) -> Token {
        match axis(&self.kernel.workgroup_size(), inst) {
            1 => Self::imm(0),
            _ => self.special(*axis(&TID, inst)),
        }
    }

    pub fn workgroup_id(&mut self, inst: &Inst) -> Token {
        self.special(*axis(&CTAID, inst))
    }

    pub fn workgroup_size(&mut self, inst: &Inst) -> Token {
        Self::imm(*axis(&self.kernel.workgroup_size(), inst))
    }

    pub fn num_workgroups(&mut self, inst: &Inst) -> Token {
        self.special(*axis(&NCTAID, inst))
    }

    pub fn global_size(&mut self, inst: &Inst) -> Token {
        let groups = self.special(*axis(&NCTAID, inst));
        match *axis(&self.kernel.workgroup_size(), inst) {
            1 => groups,
            size => self.binary(piece!("\tmul.lo.u32 "), Kind::U32, groups, Self::imm(size)),
        }
    }

    /// x + size_x * (y + size_y * z), without the axes of one thread.
    pub fn local_index(&mut self) -> Token {
        let [x, y, z] = self.kernel.workgroup_size();
        let [tid_x, tid_y, tid_z] = TID;
        let mad = piece!("\tmad.lo.u32 ");
        let mut index = None;
        for (size, tid) in [(z, tid_z), (y, tid_y), (x, tid_x)] {
            index = match (index, size) {
                (None, 1) => None,
                (None, _) => Some(self.special(tid)),
                (Some(above), 1) => Some(above),
                (Some(above), _) => {
                    let here = self.special(tid);
                    Some(self.ternary(mad, Kind::U32, above, Self::imm(size), here))
                }
            };
        }
        index.unwrap_or(Self::imm(0))
    }

    pub fn lane(&mut self) -> Token {
        self.special(Token::symbol("%laneid"))
    }

    pub fn subgroup_id(&mut self) -> Token {
        let index = self.local_index();
        self.binary(piece!("\tshr.u32 "), Kind::U32, index, Self::imm(5))
    }

    pub fn var(&mut self, inst: &Inst) -> Token {
        self.copy(inst)
    }

    pub fn var_get(&mut self, inst: &Inst) -> Token {
        self.copy(inst)
    }

    fn copy(&mut self, inst: &Inst) -> Token {
        self.simple1(&MOV, inst)
    }

    pub fn var_set(&mut self, inst: &Inst) -> Token {
        let kind = self.kind_of(inst.a);
        let (var, value) = (self.value(inst.a), self.value(inst.b));
        self.line2(MOV.of(kind), var, value);
        Token::NONE
    }
}
