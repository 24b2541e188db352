//! Structured control flow: the flat calls, and helpers that take closures.

use super::KernelBuilder;
use crate::kernel::{Inst, Place, Value, Var};
use crate::op::Op;
use crate::types::{Const, Type, TypeSet};
use crate::verify::FaultKind;

impl KernelBuilder {
    /// Appends an instruction that is nothing but its opcode.
    #[inline(never)]
    fn mark(&mut self, op: Op) {
        let at = self.draft.insts.len();
        if at == self.draft.insts.capacity() {
            return self.mark_in_more_memory(op);
        }
        self.draft.insts.push(Inst::new(op, Type::NONE));
        self.verifier.check.control(at, op, 0, true);
    }

    #[cold]
    #[inline(never)]
    fn mark_in_more_memory(&mut self, op: Op) {
        self.draft.insts.reserve(1);
        self.mark(op);
    }

    /// Opens a block run where `condition` (a `bool`) is true. [`KernelBuilder::end`] closes it.
    #[inline(never)]
    pub fn begin_if(&mut self, condition: Value) {
        let (at, place) = (self.draft.insts.len(), condition.place(self.stamp));
        if place.index() >= at || at == self.draft.insts.capacity() {
            return self.if_in_doubt(place);
        }
        let a = place.word();
        self.draft.insts.push(Inst {
            a,
            ..Inst::new(Op::If, Type::NONE)
        });
        self.verifier.check.control(at, Op::If, a, true);
    }

    #[cold]
    #[inline(never)]
    fn if_in_doubt(&mut self, condition: Place) {
        let (at, mut inst) = (self.draft.insts.len(), Inst::new(Op::If, Type::NONE));
        let operand = self.operand(Op::If, Value::at(condition, self.stamp));
        inst.a = operand.unwrap_or(0);
        self.draft.insts.push(inst);
        let check = &mut self.verifier.check;
        match operand {
            Some(a) => _ = check.control(at, Op::If, a, true),
            None => check.open_refused_if(at),
        }
    }

    /// Ends the block of an `if` and opens the one run where its condition is false.
    pub fn begin_else(&mut self) {
        self.mark(Op::Else);
    }

    /// Opens a block that repeats until a `break` or `return`.
    pub fn begin_loop(&mut self) {
        self.mark(Op::Loop);
    }

    /// Ends a loop's body and opens its continuing part, which runs before each repetition. Values of the body are not
    /// visible in it; variables made outside the loop are.
    pub fn begin_continuing(&mut self) {
        self.mark(Op::Continuing);
    }

    /// Closes the innermost block. In a loop without a continuing part it makes an empty one first.
    pub fn end(&mut self) {
        if self.verifier.check.in_loop_body() {
            self.mark(Op::Continuing);
        }
        self.mark(Op::End);
    }

    /// Leaves the innermost loop. Nothing may follow in the block.
    pub fn break_(&mut self) {
        self.mark(Op::Break);
    }

    /// Goes on with the continuing part of the innermost loop. Nothing may follow in the block.
    pub fn continue_(&mut self) {
        self.mark(Op::Continue);
    }

    /// Ends the thread. Nothing may follow in the block. Implied at the end of a kernel.
    pub fn return_(&mut self) {
        self.mark(Op::Return);
    }

    /// Runs `then` where `condition` is true.
    pub fn when(&mut self, condition: Value, then: impl FnOnce(&mut KernelBuilder)) {
        self.begin_if(condition);
        then(self);
        self.end();
    }

    /// Runs `then` where `condition` is true and `otherwise` where it is false.
    pub fn if_else(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut KernelBuilder),
        otherwise: impl FnOnce(&mut KernelBuilder),
    ) {
        self.begin_if(condition);
        then(self);
        self.begin_else();
        otherwise(self);
        self.end();
    }

    /// Repeats `body` until it breaks or returns.
    pub fn loop_(&mut self, body: impl FnOnce(&mut KernelBuilder)) {
        self.begin_loop();
        body(self);
        self.end();
    }

    /// Repeats `body` while `condition` holds; it is evaluated before each run.
    ///
    /// ```
    /// # use kernite::builder::KernelBuilder;
    /// let mut b = KernelBuilder::new("halve", [1, 1, 1]);
    /// let start = b.constant(100u32);
    /// let x = b.var(start);
    /// let (zero, one) = (b.constant(0u32), b.constant(1u32));
    /// b.while_(
    ///     |b| {
    ///         let now = b.get(x);
    ///         b.gt(now, zero)
    ///     },
    ///     |b| {
    ///         let now = b.get(x);
    ///         let half = b.shr(now, one);
    ///         b.set(x, half);
    ///     },
    /// );
    /// assert!(b.finish().is_ok());
    /// ```
    pub fn while_(
        &mut self,
        condition: impl FnOnce(&mut KernelBuilder) -> Value,
        body: impl FnOnce(&mut KernelBuilder),
    ) {
        self.begin_loop();
        let holds = condition(self);
        let done = self.not(holds);
        self.when(done, |b| b.break_());
        body(self);
        self.end();
    }

    /// Runs `body` with `i` from `start` up to, not including, `end`. Both are integers of one type, evaluated once; a
    /// `continue` in the body goes on with the next `i`.
    ///
    /// Runs not at all where `start >= end`. Another type than an integer's is a fault.
    pub fn for_range(
        &mut self,
        start: Value,
        end: Value,
        body: impl FnOnce(&mut KernelBuilder, Value),
    ) {
        let one = self.one(start);
        let i = self.begin_range(start);
        let now = self.range_value(i, end);
        body(self, now);
        self.end_range(i, one);
    }

    /// As [`KernelBuilder::for_range`] in steps of `step`, which must not be 0 or negative. The last step that would pass
    /// `end` ends the loop, also where `i + step` would wrap.
    pub fn for_range_step(
        &mut self,
        start: Value,
        end: Value,
        step: Value,
        body: impl FnOnce(&mut KernelBuilder, Value),
    ) {
        let i = self.begin_range(start);
        let now = self.range_value(i, end);
        body(self, now);
        self.begin_continuing();
        let now = self.get(i);
        // What is left fits the unsigned type of the same width, whatever the signs.
        let unsigned = match self.type_of(start) {
            Type::I8 => Type::U8,
            Type::I16 => Type::U16,
            Type::I32 => Type::U32,
            Type::I64 => Type::U64,
            other => other,
        };
        let left = self.sub(end, now);
        let left = self.bitcast(left, unsigned);
        let wide_step = self.bitcast(step, unsigned);
        let fits = self.lt(wide_step, left);
        let next = self.add(now, step);
        let next = self.select(fits, next, end);
        self.set(i, next);
        self.end();
    }

    #[inline(never)]
    fn begin_range(&mut self, start: Value) -> Var {
        // Floats can be compared and added, but the constant 1 of `for_range` is no float, and a step may be lost.
        let ty = self.type_of(start);
        if !ty.is_none() && !TypeSet::INTS.contains(ty) {
            self.fault(Op::Loop, FaultKind::RangeType(ty));
        }
        let i = self.var(start);
        self.begin_loop();
        i
    }

    #[inline(never)]
    fn range_value(&mut self, i: Var, end: Value) -> Value {
        let now = self.get(i);
        let done = self.ge(now, end);
        self.begin_if(done);
        self.break_();
        self.end();
        now
    }

    #[inline(never)]
    fn end_range(&mut self, i: Var, one: Value) {
        // `i < end` held, so adding 1 cannot wrap.
        self.begin_continuing();
        let now = self.get(i);
        let next = self.add(now, one);
        self.set(i, next);
        self.end();
    }

    /// The constant 1 of the type of an integer; ranges of other types are refused.
    #[inline(never)]
    fn one(&mut self, start: Value) -> Value {
        match Const::new(self.type_of(start), 1) {
            Some(one) => self.constant(one),
            None => self.refused(),
        }
    }
}
