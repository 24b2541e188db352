//! Atomics, barriers and fences (PTX ISA sections 9.7.13.1, 9.7.13.4 and 9.7.13.5).

use super::body::Body;
use super::mnemonic::{Mnemonic, piece};
use super::writer::{Line, Piece, Token};
use crate::kernel::{Inst, Mem, Ordering};
use crate::types::{Order, Scope};

// Behind `atom`, its ordering and the state space. `add` does not depend on the sign, and 64 bits have the unsigned form
// only.
#[rustfmt::skip]
mod forms {
    use super::Mnemonic;
    pub static ADD: Mnemonic = Mnemonic::new(["", ".add.s32 ", ".add.u32 ", ".add.f32 ", ".add.u64 ", ".add.u64 ", ""]);
    pub static MIN: Mnemonic = Mnemonic::new(["", ".min.s32 ", ".min.u32 ", "", ".min.s64 ", ".min.u64 ", ""]);
    pub static MAX: Mnemonic = Mnemonic::new(["", ".max.s32 ", ".max.u32 ", "", ".max.s64 ", ".max.u64 ", ""]);
    pub static AND: Mnemonic = Mnemonic::new(["", ".and.b32 ", ".and.b32 ", "", ".and.b64 ", ".and.b64 ", ""]);
    pub static OR: Mnemonic = Mnemonic::new(["", ".or.b32 ", ".or.b32 ", "", ".or.b64 ", ".or.b64 ", ""]);
    pub static XOR: Mnemonic = Mnemonic::new(["", ".xor.b32 ", ".xor.b32 ", "", ".xor.b64 ", ".xor.b64 ", ""]);
    pub static EXCH: Mnemonic = Mnemonic::new(["", ".exch.b32 ", ".exch.b32 ", ".exch.b32 ", ".exch.b64 ", ".exch.b64 ", ""]);
    pub static CAS: Mnemonic = Mnemonic::new(["", ".cas.b32 ", ".cas.b32 ", "", ".cas.b64 ", ".cas.b64 ", ""]);
    /// Of a plain load or store.
    pub static PLAIN: Mnemonic = Mnemonic::new(["", ".s32 ", ".u32 ", "", ".s64 ", ".u64 ", ""]);
}

fn semantics(ordering: Ordering) -> &'static Piece {
    match (ordering.order, ordering.scope) {
        (Order::Relaxed, Scope::Workgroup) => piece!(".relaxed.cta"),
        (Order::Relaxed, Scope::Device) => piece!(".relaxed.gpu"),
        (Order::Acquire, Scope::Workgroup) => piece!(".acquire.cta"),
        (Order::Acquire, Scope::Device) => piece!(".acquire.gpu"),
        (Order::Release, Scope::Workgroup) => piece!(".release.cta"),
        (Order::Release, Scope::Device) => piece!(".release.gpu"),
        (Order::AcqRel, Scope::Workgroup) => piece!(".acq_rel.cta"),
        (Order::AcqRel, Scope::Device) => piece!(".acq_rel.gpu"),
    }
}

impl Body<'_, '_> {
    /// Begins a line with `verb.ordering.space.form `.
    fn atomic_line(&mut self, verb: &Piece, ordering: u32, mem: Mem, form: &Piece) -> Line<'_> {
        // A verified word means an ordering.
        let ordering = Ordering::from_word(ordering).unwrap_or(Ordering::RELAXED);
        let space = match mem {
            // The verifier lets no atomic through to a private array.
            Mem::Shared(_) | Mem::Private(_) => piece!(".shared"),
            Mem::Buffer(_) => piece!(".global"),
        };
        let line = self.w.line().piece(verb).piece(semantics(ordering));
        line.piece(space).piece(form)
    }

    pub fn atomic_load(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let (offset, ordering) = (self.side_word(inst, 0), self.side_word(inst, 1));
        let address = self.address(mem, inst.b, offset, kind);
        let to = self.register(kind);
        let line = self.atomic_line(piece!("\tld"), ordering, mem, forms::PLAIN.of(kind));
        line.token(to).bytes(b", ").address(address).end();
        to
    }

    pub fn atomic_store(&mut self, inst: &Inst) -> Token {
        let value = self.side_word(inst, 0);
        let kind = self.kind_of(value);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let (offset, ordering) = (self.side_word(inst, 1), self.side_word(inst, 2));
        let address = self.address(mem, inst.b, offset, kind);
        let value = self.value(value);
        let line = self.atomic_line(piece!("\tst"), ordering, mem, forms::PLAIN.of(kind));
        line.address(address).operand(value).end();
        Token::NONE
    }

    /// An `atom` of one operand; `negate` it first.
    fn modify(&mut self, form: &'static Mnemonic, inst: &Inst, negate: bool) -> Token {
        let kind = self.kind(inst.ty);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let (offset, ordering) = (self.side_word(inst, 1), self.side_word(inst, 2));
        let mut value = self.value(self.side_word(inst, 0));
        if negate {
            value = self.negated(kind, value);
        }
        let address = self.address(mem, inst.b, offset, kind);
        let to = self.register(kind);
        let line = self
            .atomic_line(piece!("\tatom"), ordering, mem, form.of(kind))
            .token(to);
        line.bytes(b", ").address(address).operand(value).end();
        to
    }

    pub fn atomic_add(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::ADD, inst, false)
    }

    pub fn atomic_sub(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::ADD, inst, true)
    }

    pub fn atomic_min(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::MIN, inst, false)
    }

    pub fn atomic_max(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::MAX, inst, false)
    }

    pub fn atomic_and(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::AND, inst, false)
    }

    pub fn atomic_or(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::OR, inst, false)
    }

    pub fn atomic_xor(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::XOR, inst, false)
    }

    pub fn atomic_exchange(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::EXCH, inst, false)
    }

    pub fn atomic_compare_exchange(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let comparand = self.value(self.side_word(inst, 0));
        let new = self.value(self.side_word(inst, 1));
        let (offset, ordering) = (self.side_word(inst, 2), self.side_word(inst, 3));
        let address = self.address(mem, inst.b, offset, kind);
        let to = self.register(kind);
        let line = self
            .atomic_line(piece!("\tatom"), ordering, mem, forms::CAS.of(kind))
            .token(to);
        let line = line.bytes(b", ").address(address);
        line.operand(comparand).operand(new).end();
        to
    }

    pub fn workgroup_barrier(&mut self) -> Token {
        self.w.line().piece(piece!("\tbar.sync 0;\n")).done();
        Token::NONE
    }

    pub fn memory_fence(&mut self, inst: &Inst) -> Token {
        let fence = if inst.flags & Inst::DEVICE != 0 {
            piece!("\tfence.acq_rel.gpu;\n")
        } else {
            piece!("\tfence.acq_rel.cta;\n")
        };
        self.w.line().piece(fence).done();
        Token::NONE
    }
}
