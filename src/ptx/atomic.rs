//! Atomics, barriers and fences (PTX ISA sections 9.7.13.1, 9.7.13.4 and 9.7.13.5).

use super::access::TYPES;
use super::arith::{MAX, MIN};
use super::body::Body;
use super::bounds::Inside;
use super::memory::Address;
use super::mnemonic::{Kind, Mnemonic, piece};
use super::writer::{Line, Piece, Token};
use crate::kernel::{Inst, Mem, Ordering, Uses};
use crate::op::Op;
use crate::types::{Order, Scope};

// Behind `atom`, its ordering and the state space. `add` does not depend on the sign, and 64 bits have the unsigned form
// only.
#[rustfmt::skip]
mod forms {
    use super::Mnemonic;
    pub static ADD: Mnemonic = Mnemonic::new(["", ".add.s32 ", ".add.u32 ", ".add.f32 ", ".add.u64 ", ".add.u64 ", ".add.f64 "]);
    pub static MIN: Mnemonic = Mnemonic::new(["", ".min.s32 ", ".min.u32 ", "", ".min.s64 ", ".min.u64 ", ""]);
    pub static MAX: Mnemonic = Mnemonic::new(["", ".max.s32 ", ".max.u32 ", "", ".max.s64 ", ".max.u64 ", ""]);
    pub static AND: Mnemonic = Mnemonic::new(["", ".and.b32 ", ".and.b32 ", "", ".and.b64 ", ".and.b64 ", ""]);
    pub static OR: Mnemonic = Mnemonic::new(["", ".or.b32 ", ".or.b32 ", "", ".or.b64 ", ".or.b64 ", ""]);
    pub static XOR: Mnemonic = Mnemonic::new(["", ".xor.b32 ", ".xor.b32 ", "", ".xor.b64 ", ".xor.b64 ", ""]);
    pub static EXCH: Mnemonic = Mnemonic::new(["", ".exch.b32 ", ".exch.b32 ", ".exch.b32 ", ".exch.b64 ", ".exch.b64 ", ""]);
    pub static CAS: Mnemonic = Mnemonic::new(["", ".cas.b32 ", ".cas.b32 ", ".cas.b32 ", ".cas.b64 ", ".cas.b64 ", ""]);
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

/// The scope of the ordering alone, for loads that begin a loop.
fn relaxed(ordering: Ordering) -> &'static Piece {
    semantics(Ordering {
        order: Order::Relaxed,
        ..ordering
    })
}

/// What an atomic accesses.
#[derive(Clone, Copy)]
struct Place {
    mem: Mem,
    address: Address,
    inside: Inside,
    ordering: Ordering,
}

impl Place {
    fn space(&self) -> &'static Piece {
        match self.mem {
            // The verifier lets no atomic through to private arrays and tables.
            Mem::Shared(_) | Mem::Private(_) => piece!(".shared"),
            Mem::Buffer(_) | Mem::Table(_) => piece!(".global"),
        }
    }
}

impl Body<'_, '_> {
    /// Where an atomic goes; `None` where that is outside for sure.
    fn place(&mut self, inst: &Inst, kind: Kind, offset: u32, ordering: u32) -> Option<Place> {
        // A verified word means an object, and an ordering.
        let mem = Mem::from_word(inst.a).unwrap_or(Mem::Buffer(0));
        let inside = self.inside(mem, inst.b, offset);
        if matches!(inside, Inside::Never) {
            return None;
        }
        Some(Place {
            mem,
            address: self.address(mem, inst.b, offset, kind.width() / 8),
            inside,
            ordering: Ordering::from_word(ordering).unwrap_or(Ordering::RELAXED),
        })
    }

    /// Begins a line with `verb.ordering.space.form `.
    fn atomic_line(&mut self, verb: &Piece, place: &Place, form: &Piece) -> Line<'_> {
        let line = self.guarded_line(place.inside).piece(verb);
        let line = line.piece(semantics(place.ordering));
        line.piece(place.space()).piece(form)
    }

    pub fn atomic_load(&mut self, inst: &Inst) -> Token {
        let kind = self.kind(inst.ty);
        let (offset, ordering) = (self.side_word(inst, 0), self.side_word(inst, 1));
        let Some(place) = &self.place(inst, kind, offset, ordering) else {
            return self.filled(kind, Inside::Never);
        };
        let to = self.filled(kind, place.inside);
        let line = self.atomic_line(piece!("\tld"), place, TYPES.of(kind));
        line.token(to).address(place.address).end();
        to
    }

    pub fn atomic_store(&mut self, inst: &Inst) -> Token {
        let value = self.side_word(inst, 0);
        let kind = self.kind_of(value);
        let (offset, ordering) = (self.side_word(inst, 1), self.side_word(inst, 2));
        let Some(place) = &self.place(inst, kind, offset, ordering) else {
            return Token::NONE;
        };
        let value = self.value(value);
        let line = self.atomic_line(piece!("\tst"), place, TYPES.of(kind));
        line.first_address(place.address).operand(value).end();
        Token::NONE
    }

    /// An `atom` of one operand, or a `red` where nobody wants its result; `negate` it first.
    fn modify(&mut self, form: &'static Mnemonic, inst: &Inst, negate: bool) -> Token {
        let kind = self.kind(inst.ty);
        let (offset, ordering) = (self.side_word(inst, 1), self.side_word(inst, 2));
        let mut value = self.value(self.side_word(inst, 0));
        if negate {
            value = self.negated(kind, value);
        }
        let Some(place) = &self.place(inst, kind, offset, ordering) else {
            return self.filled(kind, Inside::Never);
        };
        let form = form.of(kind);
        // A `red` reads nothing, and so acquires nothing.
        let acquires = matches!(place.ordering.order, Order::Acquire | Order::AcqRel);
        if !acquires && inst.op != Op::AtomicExchange && !self.is_used() {
            let line = self.atomic_line(piece!("\tred"), place, form);
            line.first_address(place.address).operand(value).end();
            return Token::NONE;
        }
        let to = self.filled(kind, place.inside);
        let line = self.atomic_line(piece!("\tatom"), place, form).token(to);
        let line = line.address(place.address);
        line.operand(value).end();
        to
    }

    /// An f32 minimum or maximum, which the hardware has not: compare and exchange until nobody came between.
    fn modify_f32(&mut self, mnemonic: &'static Mnemonic, inst: &Inst) -> Token {
        let (offset, ordering) = (self.side_word(inst, 1), self.side_word(inst, 2));
        let value = self.value(self.side_word(inst, 0));
        let Some(place) = &self.place(inst, Kind::F32, offset, ordering) else {
            return self.filled(Kind::F32, Inside::Never);
        };
        let old = self.filled(Kind::F32, place.inside);
        let skip = self.new_label();
        if let Inside::If(predicate) = place.inside {
            self.branch_unless(predicate, skip);
        }
        // Behind the branch nothing needs the predicate.
        let place = &Place {
            inside: Inside::Always,
            ..*place
        };
        let line = self.w.line().piece(piece!("\tld"));
        let line = line.piece(relaxed(place.ordering)).piece(place.space());
        let line = line.bytes(b".b32 ").token(old);
        line.address(place.address).end();
        let next = self.new_label();
        self.label(next);
        let new = self.binary(mnemonic.of(Kind::F32), Kind::F32, old, value);
        let expected = self.copied(Kind::F32, old);
        let line = self.atomic_line(piece!("\tatom"), place, forms::CAS.of(Kind::F32));
        let line = line.token(old).address(place.address);
        line.operand(expected).operand(new).end();
        // As bits: a NaN is itself.
        let differ = self.binary(piece!("\tsetp.ne.b32 "), Kind::Bool, old, expected);
        self.branch_if(differ, next);
        self.label(skip);
        old
    }

    /// Notes what is used, in a kernel with atomics.
    pub fn find_used(&mut self) {
        let uses = self.kernel.uses();
        let atomics = [
            Uses::ATOMIC_32,
            Uses::ATOMIC_64,
            Uses::ATOMIC_64_SHARED,
            Uses::ATOMIC_F32_ADD,
            Uses::ATOMIC_F32_ADD_SHARED,
            Uses::ATOMIC_F64_ADD,
            Uses::ATOMIC_F64_ADD_SHARED,
        ];
        if !atomics.into_iter().any(|a| uses.has(a)) {
            return;
        }
        let used = &mut self.s.used;
        used.resize(self.insts.len().div_ceil(64), 0);
        let mut note = |word: u32| {
            if let Some(bits) = used.get_mut(word as usize / 64) {
                *bits |= 1 << (word % 64);
            }
        };
        for inst in self.insts {
            let values = inst.op.quick().values;
            if values & 1 != 0 {
                note(inst.a);
            }
            if values & 2 != 0 {
                note(inst.b);
            }
            if !inst.has_side() {
                if values & 4 != 0 {
                    note(inst.c);
                }
                continue;
            }
            let run = self.side.get(inst.c as usize..).unwrap_or(&[]);
            for (n, &word) in run.iter().enumerate().take(4) {
                if values >> (n + 2) & 1 != 0 {
                    note(word);
                }
            }
        }
    }

    /// Whether something uses the value of the instruction at hand.
    fn is_used(&self) -> bool {
        let at = self.at;
        self.s
            .used
            .get(at / 64)
            .is_none_or(|bits| bits >> (at % 64) & 1 != 0)
    }

    pub fn atomic_add(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::ADD, inst, false)
    }

    pub fn atomic_sub(&mut self, inst: &Inst) -> Token {
        self.modify(&forms::ADD, inst, true)
    }

    pub fn atomic_min(&mut self, inst: &Inst) -> Token {
        if self.kind(inst.ty) == Kind::F32 {
            return self.modify_f32(&MIN, inst);
        }
        self.modify(&forms::MIN, inst, false)
    }

    pub fn atomic_max(&mut self, inst: &Inst) -> Token {
        if self.kind(inst.ty) == Kind::F32 {
            return self.modify_f32(&MAX, inst);
        }
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
        let comparand = self.value(self.side_word(inst, 0));
        let new = self.value(self.side_word(inst, 1));
        let (offset, ordering) = (self.side_word(inst, 2), self.side_word(inst, 3));
        let Some(place) = &self.place(inst, kind, offset, ordering) else {
            return self.filled(kind, Inside::Never);
        };
        let to = self.filled(kind, place.inside);
        let line = self.atomic_line(piece!("\tatom"), place, forms::CAS.of(kind));
        let line = line.token(to).address(place.address);
        line.operand(comparand).operand(new).end();
        to
    }

    pub fn workgroup_barrier(&mut self) -> Token {
        self.w.piece(piece!("\tbar.sync 0;\n"));
        Token::NONE
    }

    pub fn memory_fence(&mut self, inst: &Inst) -> Token {
        let fence = if inst.flags & Inst::DEVICE != 0 {
            piece!("\tfence.acq_rel.gpu;\n")
        } else {
            piece!("\tfence.acq_rel.cta;\n")
        };
        self.w.piece(fence);
        Token::NONE
    }
}
