//! [`KernelBuilder`]: what users call.
//!
//! No call needs a `?`: misuse is remembered with its place, the call gives an id that later calls pass over, and
//! [`KernelBuilder::finish`] returns the whole list. One builder can make kernel after kernel ([`KernelBuilder::reset`],
//! [`KernelBuilder::recycle`]) without allocating once its memory has grown.
//!
//! ```
//! use kernite::builder::KernelBuilder;
//! use kernite::types::{Access, Type};
//!
//! let mut b = KernelBuilder::new("saxpy", [256, 1, 1]);
//! let x = b.buffer("x", Type::F32, Access::Read);
//! let y = b.buffer("y", Type::F32, Access::ReadWrite);
//! let a = b.scalar("a", Type::F32);
//! let i = b.global_id(0);
//! let n = b.array_length(y);
//! let inside = b.lt(i, n);
//! b.when(inside, |b| {
//!     let (a, x, old) = (b.param(a), b.load(x, i), b.load(y, i));
//!     let sum = b.mul_add(a, x, old);
//!     b.store(y, i, sum);
//! });
//! let kernel = b.finish()?;
//! assert_eq!(kernel.name(), "saxpy");
//! # Ok::<(), kernite::verify::VerifyError>(())
//! ```
#![forbid(unsafe_code)]

mod atomic;
mod control;
mod declare;
mod math;
mod memory;
mod ops;
mod subgroup;

pub use declare::BufferOptions;
pub use memory::Memory;
pub use subgroup::Scan;

use crate::kernel::{Draft, Inst, Kernel, Place, REFUSED, Stamp, Value};
use crate::op::{Makes, OnValues, Op, Operand, Want};
use crate::types::{Const, Type};
use crate::verify::{Declared, FaultKind, Step, Verifier, VerifyError};

/// Builds kernels, one after the other.
///
/// Ids ([`Value`], [`crate::kernel::Buffer`] and so on) belong to the kernel under construction; used in another they
/// are a fault.
// What every call needs comes first, as what is near takes shorter machine instructions.
#[derive(Debug)]
#[repr(C)]
pub struct KernelBuilder {
    stamp: Stamp,
    draft: Box<Draft>,
    verifier: Verifier,
    /// Stands in for a draft that a kernel has taken along.
    spare: Option<Box<Draft>>,
    next_binding: u32,
    finished: bool,
}

impl KernelBuilder {
    /// A builder that begins a kernel of this name and workgroup size (x, y, z).
    ///
    /// The name must not be empty, hold a NUL or be longer than [`crate::verify::MAX_NAME`]; targets map what they do
    /// not allow. Faults of name and size come from [`KernelBuilder::finish`].
    pub fn new(name: &str, workgroup_size: [u32; 3]) -> KernelBuilder {
        let mut builder = KernelBuilder {
            draft: Box::default(),
            spare: None,
            verifier: Verifier::default(),
            stamp: Stamp::FINISHED,
            next_binding: 0,
            finished: false,
        };
        builder.reset(name, workgroup_size);
        builder
    }

    /// Drops what was built so far and begins another kernel in the same memory.
    #[inline(never)]
    pub fn reset(&mut self, name: &str, workgroup_size: [u32; 3]) {
        let KernelBuilder {
            draft,
            spare: _,
            verifier,
            stamp,
            next_binding,
            finished,
        } = self;
        draft.clear();
        verifier.begin();
        verifier.declared = Declared::kernel(name, workgroup_size);
        *stamp = Stamp::fresh();
        *next_binding = 0;
        *finished = false;
        draft.workgroup_size = workgroup_size;
        self.draft.name = self.name(Op::Const, name);
    }

    /// Verifies the kernel and returns it. The builder then refuses everything until [`KernelBuilder::reset`].
    ///
    /// # Errors
    /// Every misuse of the builder and every broken rule, each with its place.
    pub fn finish(&mut self) -> Result<Kernel, VerifyError> {
        if self.finished {
            return Err(VerifyError::finished());
        }
        self.finished = true;
        // From here on every id of this kernel is an id from elsewhere.
        self.stamp = Stamp::FINISHED;
        self.verifier.end(&mut self.draft)?;
        let next = self.spare.take().unwrap_or_default();
        let draft = core::mem::replace(&mut self.draft, next);
        Ok(Kernel::from_verified(draft))
    }

    /// Takes a kernel's memory back, so that building the next one does not allocate. Between [`KernelBuilder::finish`]
    /// and [`KernelBuilder::reset`]; while a kernel is under construction the memory is dropped.
    pub fn recycle(&mut self, kernel: Kernel) {
        if self.finished {
            self.spare = Some(core::mem::replace(&mut self.draft, kernel.into_draft()));
        }
    }

    /// Allows multiplications and additions to be contracted to one rounding, as the target likes. Results then differ
    /// between targets; the reference executor rounds twice.
    pub fn allow_contraction(&mut self) {
        self.draft.contract = true;
    }

    /// The type of a value of this kernel; [`Type::NONE`] for what was refused or belongs elsewhere.
    pub fn type_of(&self, value: Value) -> Type {
        if value.stamp() != self.stamp {
            return Type::NONE;
        }
        self.draft
            .insts
            .get(value.index() as usize)
            .map_or(Type::NONE, |i| i.ty)
    }

    /// A constant: a Rust number or `bool`, or a [`Const`] with exact bits.
    ///
    /// ```
    /// # use kernite::{builder::KernelBuilder, types::{Const, Type}};
    /// let mut b = KernelBuilder::new("k", [1, 1, 1]);
    /// let one = b.constant(1.0f32);
    /// let nan = b.constant(Const::new(Type::F32, 0x7F80_0001).unwrap());
    /// assert_eq!(b.type_of(nan), b.type_of(one));
    /// ```
    #[inline]
    pub fn constant(&mut self, value: impl Into<Const>) -> Value {
        self.constant_of(value.into())
    }

    #[inline(never)]
    fn constant_of(&mut self, value: Const) -> Value {
        let bits = value.bits();
        let words = [bits as u32, (bits >> 32) as u32, 0];
        let step = self
            .verifier
            .check
            .step_constant(self.draft.insts.len(), value);
        match append(&mut self.draft, self.stamp, step, Op::Const, 0, words) {
            Some(made) => made,
            None => self.push_pieces(Op::Const, value.ty(), 0, words),
        }
    }

    /// Verifies an instruction and appends it: what every instruction can take, and those take that have no short way
    /// here.
    ///
    /// The short ways are small functions that many calls share and that call nothing: where an instruction is not beyond
    /// doubt, or memory must grow, they leave everything to this.
    #[inline(never)]
    fn push(&mut self, inst: Inst) -> Value {
        let at = self.draft.insts.len();
        let check = &mut self.verifier.check;
        let sound = check.step(&self.draft, at, &inst, &self.draft.side);
        self.draft.insts.push(inst);
        // The verifier refuses instructions past 2^28, so the index of a sound one fits.
        Value::new(if sound { at as u32 } else { REFUSED }, self.stamp)
    }

    /// As [`KernelBuilder::push`]; the instruction comes in pieces, so that the short ways can keep them in registers.
    #[cold]
    #[inline(never)]
    fn push_pieces(&mut self, op: Op, ty: Type, flags: u8, [a, b, c]: [u32; 3]) -> Value {
        self.push(Inst {
            op,
            ty,
            flags,
            a,
            b,
            c,
        })
    }

    /// Appends an instruction on values in line that are wanted so, which makes that.
    #[inline(always)]
    fn values<const N: usize>(
        &mut self,
        op: OnValues,
        operands: [Value; N],
        wants: [Want; N],
        makes: Makes,
    ) -> Value {
        let (mut places, mut all) = ([Place::default(); 3], [Want::Nothing; 3]);
        let both = places.iter_mut().zip(&mut all);
        for ((place, all), (value, want)) in both.zip(operands.into_iter().zip(wants)) {
            *place = value.place(self.stamp);
            *all = want;
        }
        let at = self.draft.insts.len();
        let step = self.verifier.check.step_values(at, op, places, all, makes);
        let words = places.map(Place::word);
        match append(&mut self.draft, self.stamp, step, op.op, 0, words) {
            Some(made) => made,
            None => {
                let [a, b, c] = places;
                self.values_in_doubt(op.op, a, b, c)
            }
        }
    }

    /// As [`KernelBuilder::values`], where that has a doubt. What the short ways leave to others comes as places, so that
    /// they need not keep the ids.
    #[cold]
    #[inline(never)]
    fn values_in_doubt(&mut self, op: Op, a: Place, b: Place, c: Place) -> Value {
        let [a, b, c] = [a, b, c].map(|place| Value::at(place, self.stamp));
        self.any_values(op, a, b, c)
    }

    /// Appends an instruction on as many values in line as the opcode has operands.
    fn any_values(&mut self, op: Op, a: Value, b: Value, c: Value) -> Value {
        let row = op.row();
        let mut words = [0; 3];
        let mut known = true;
        for (word, value) in words.iter_mut().zip([a, b, c]).take(row.operands.len()) {
            match self.operand(op, value) {
                Some(index) => *word = index,
                None => known = false,
            }
        }
        if !known {
            return self.refused();
        }
        let t = row.operands.iter().position(|o| *o == Operand::T);
        let t = t.and_then(|at| words.get(at)).map(|&word| self.ty(word));
        let [a, b, c] = words;
        self.push(Inst {
            op,
            ty: row.makes.of(t.unwrap_or(Type::NONE)),
            flags: 0,
            a,
            b,
            c,
        })
    }

    /// The place of an instruction that cannot be made because of an operand refused before: nothing is appended.
    fn refused(&self) -> Value {
        Value::new(REFUSED, self.stamp)
    }

    #[cold]
    fn fault(&mut self, op: Op, kind: FaultKind) {
        self.verifier.check.fault(self.draft.insts.len(), op, kind);
    }

    /// The index of an operand; `None`, with a fault where it is new, for one that cannot be used.
    #[inline]
    fn operand(&mut self, op: Op, value: Value) -> Option<u32> {
        if value.stamp() != self.stamp {
            return self.foreign(op, value);
        }
        (value.index() != REFUSED).then_some(value.index())
    }

    /// The indices of up to four operands, 0 past the last; `None` where one of them cannot be used.
    fn operands(&mut self, op: Op, values: &[Value]) -> Option<[u32; 4]> {
        let mut words = [0; 4];
        for (word, &value) in words.iter_mut().zip(values) {
            *word = self.operand(op, value)?;
        }
        Some(words)
    }

    /// The id comes by value, so that the short ways can keep it in registers.
    #[cold]
    #[inline(never)]
    fn foreign(&mut self, op: Op, id: impl core::fmt::Display) -> Option<u32> {
        let kind = if self.finished {
            FaultKind::Finished
        } else {
            FaultKind::Foreign(id.to_string())
        };
        self.fault(op, kind);
        None
    }

    #[inline]
    fn ty(&self, index: u32) -> Type {
        self.draft
            .insts
            .get(index as usize)
            .map_or(Type::NONE, |i| i.ty)
    }
}

/// Appends an instruction that is beyond doubt, where there is memory for it.
#[inline(always)]
fn append(
    draft: &mut Draft,
    stamp: Stamp,
    step: Option<Step<'_>>,
    op: Op,
    flags: u8,
    [a, b, c]: [u32; 3],
) -> Option<Value> {
    let (step, at) = (step?, draft.insts.len());
    // Without this the compiler would leave a way to get memory in every short way.
    if at == draft.insts.capacity() {
        return None;
    }
    draft.insts.push(Inst {
        op,
        ty: step.ty,
        flags,
        a,
        b,
        c,
    });
    step.note();
    // There was room, so the index fits.
    Some(Value::at(Place::of_index(at), stamp))
}

#[cfg(test)]
mod tests;
