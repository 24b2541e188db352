//! Uniformity: which values, variables and stretches of control flow are the same in every thread of a workgroup or a
//! subgroup.
//!
//! Looked at only in kernels with a workgroup barrier or a subgroup operation, since nothing else asks. Levels only rise:
//! workgroup-uniform, subgroup-uniform, divergent. A pass in program order is exact where there is no loop. With loops,
//! passes repeat until nothing rises; what a loop's later rounds see (its divergent breaks, the returns in it, variables
//! set further down) comes from the pass before. After [`MAX_PASSES`] passes everything that may rise is set to divergent
//! at once, so that the cost stays linear in the kernel.

use super::fault::{Divergence, Fault, FaultKind};
use crate::kernel::{Draft, Inst, Mem, Words};
use crate::op::{Effect, Op, Uniformity};
use crate::types::Access;

/// Passes before the analysis gives up precision. A pass carries a level along any chain of variables in program order,
/// so only chains of this many variables against it, through a loop, are affected.
pub const MAX_PASSES: u32 = 32;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Level {
    #[default]
    Workgroup,
    Subgroup,
    Divergent,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// How uniform control is where the block begins.
    entry: Level,
    /// Why, when it is not workgroup-uniform.
    why: Option<Divergence>,
    /// The instruction that opened it; for a loop the place of its level in `levels`.
    at: u32,
    is_loop: bool,
}

/// How uniform the threads still here are, seen from one side: the returns, or the breaks and continues of a loop.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    level: Level,
    at: Option<Divergence>,
}

impl Left {
    fn join(&mut self, level: Level, at: Divergence) {
        if level > self.level {
            *self = Left {
                level,
                at: Some(at),
            };
        }
    }
}

/// The loop that encloses the instruction.
#[derive(Clone, Copy, Debug, Default)]
struct LoopState {
    broken: Left,
    continued: Left,
}

/// The analysis; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    /// For each instruction: of its value, of its variable, or for a loop of the threads that go around.
    levels: Vec<Level>,
    frames: Vec<Frame>,
    loops: Vec<LoopState>,
    /// For each loop in program order its place, and the first way out of it, or return in it, that was found to be less
    /// uniform than what entered the loop.
    ways: Vec<(u32, Option<Divergence>)>,
    returned: Left,
    /// Something rose that an earlier instruction may depend on.
    changed: bool,
    /// The last pass found a fault.
    faulty: bool,
}

impl Analysis {
    /// Looks at a body that is otherwise valid and adds what it finds to `faults`.
    pub(crate) fn run(&mut self, draft: &Draft, faults: &mut Vec<Fault>) {
        self.levels.clear();
        self.levels.resize(draft.insts.len(), Level::Workgroup);
        // The verifier has bounded the number of instructions.
        let loops = (0u32..).zip(&draft.insts).filter(|(_, i)| i.op == Op::Loop);
        self.ways.clear();
        self.ways.extend(loops.map(|(at, _)| (at, None)));
        for passes in 1.. {
            self.pass(draft, None);
            if !self.changed {
                break;
            }
            if passes == MAX_PASSES {
                for (level, inst) in self.levels.iter_mut().zip(&draft.insts) {
                    if matches!(inst.op, Op::Var | Op::Loop) {
                        *level = Level::Divergent;
                    }
                }
            }
        }
        // Most kernels have none.
        if self.faulty {
            self.pass(draft, Some(faults));
        }
    }

    fn pass(&mut self, draft: &Draft, mut faults: Option<&mut Vec<Fault>>) {
        self.frames.clear();
        self.loops.clear();
        self.returned = Left::default();
        self.changed = false;
        self.faulty = false;
        // The verifier has bounded the number of instructions.
        for (at, inst) in (0u32..).zip(&draft.insts) {
            let row = inst.op.quick();
            if row.effect == Effect::Collective {
                self.collective(inst, at, faults.as_deref_mut());
                continue;
            }
            match row.uniformity {
                Uniformity::Workgroup => {}
                Uniformity::Subgroup => self.set(at, Level::Subgroup),
                Uniformity::Operands => {
                    let level = self.operands(draft, inst);
                    self.set(at, level);
                }
                Uniformity::Load => {
                    let level = self.load(draft, inst);
                    self.set(at, level);
                }
                Uniformity::Divergent => self.effect(inst, at, faults.as_deref_mut()),
            }
        }
    }

    /// A subgroup operation: every lane must reach it, and what it makes is the same in every lane or not.
    fn collective(&mut self, inst: &Inst, at: u32, faults: Option<&mut Vec<Fault>>) {
        let level = match inst.op {
            Op::Ballot | Op::Any | Op::All => Level::Subgroup,
            // Where the lane is the same for all, so is its value.
            Op::Broadcast => self.level(inst.b).max(Level::Subgroup),
            Op::SubgroupAdd
            | Op::SubgroupMin
            | Op::SubgroupMax
            | Op::SubgroupAnd
            | Op::SubgroupOr
            | Op::SubgroupXor
                if inst.flags & (Inst::INCLUSIVE | Inst::EXCLUSIVE) == 0 =>
            {
                Level::Subgroup
            }
            _ => Level::Divergent,
        };
        self.set(at, level);
        if let (Level::Divergent, Some(why)) = self.control() {
            self.refuse(inst, at, faults, FaultKind::DivergentSubgroup, why);
        }
    }

    /// Notes that not all come to an instruction that needs all; the fault itself is made in the last pass.
    fn refuse(
        &mut self,
        inst: &Inst,
        at: u32,
        faults: Option<&mut Vec<Fault>>,
        kind: fn(Divergence) -> FaultKind,
        why: Divergence,
    ) {
        self.faulty = true;
        let Some(faults) = faults else { return };
        faults.push(Fault {
            at: Some(at),
            op: Some(inst.op),
            kind: kind(self.explain(why)),
        });
    }

    fn level(&self, at: u32) -> Level {
        self.levels
            .get(at as usize)
            .copied()
            .unwrap_or(Level::Divergent)
    }

    /// The level of a value: overwritten on each pass, since it depends only on what rises.
    fn set(&mut self, at: u32, level: Level) {
        if let Some(slot) = self.levels.get_mut(at as usize) {
            *slot = level;
        }
    }

    /// Raises the level of a variable, or of a loop that has just ended. Where no loop is open, only what follows can
    /// depend on a variable's new level, and this pass comes to it yet.
    fn raise(&mut self, at: u32, level: Level, is_loop: bool) {
        if let Some(slot) = self.levels.get_mut(at as usize)
            && level > *slot
        {
            *slot = level;
            self.changed |= is_loop || !self.loops.is_empty();
        }
    }

    /// The level of the least uniform operand.
    fn operands(&self, draft: &Draft, inst: &Inst) -> Level {
        let values = inst.op.quick().values;
        let of = |at: usize, word: u32| match values >> at & 1 {
            0 => Level::Workgroup,
            _ => self.level(word),
        };
        let first = of(0, inst.a).max(of(1, inst.b));
        if !inst.has_side() {
            return first.max(of(2, inst.c));
        }
        let words = Words::of(inst, &draft.side).unwrap_or(Words::none());
        let rest = words.iter().enumerate().skip(2);
        rest.fold(first, |level, (at, &word)| level.max(of(at, word)))
    }

    /// Memory that nobody writes during the launch gives every thread the same at the same index.
    fn load(&self, draft: &Draft, inst: &Inst) -> Level {
        let constant = match Mem::from_word(inst.a) {
            Some(Mem::Buffer(n)) => draft
                .buffers
                .get(n as usize)
                .is_some_and(|b| b.access == Access::Read && !b.may_alias),
            Some(Mem::Table(_)) => true,
            Some(Mem::Shared(_) | Mem::Private(_)) | None => false,
        };
        if constant && inst.flags == 0 {
            self.level(inst.b)
        } else {
            Level::Divergent
        }
    }

    /// How uniform control is here, and why it is not.
    fn control(&self) -> (Level, Option<Divergence>) {
        let mut found = match self.frames.last() {
            Some(frame) => (frame.entry, frame.why),
            None => (Level::Workgroup, None),
        };
        let inner = self.loops.last().copied().unwrap_or_default();
        for left in [inner.broken, inner.continued, self.returned] {
            if left.level > found.0 {
                found = (left.level, left.at);
            }
        }
        found
    }

    fn effect(&mut self, inst: &Inst, at: u32, faults: Option<&mut Vec<Fault>>) {
        match inst.op {
            Op::Var => {
                let level = self.level(inst.a);
                self.raise(at, level, false);
            }
            Op::VarSet => {
                let level = self.level(inst.b).max(self.control().0);
                self.raise(inst.a, level, false);
            }
            Op::If => {
                let (outer, outer_why) = self.control();
                let condition = self.level(inst.a);
                let (entry, why) = if condition > outer {
                    (condition, Some(Divergence::Condition { at, value: inst.a }))
                } else {
                    (outer, outer_why)
                };
                self.frames.push(Frame {
                    entry,
                    why,
                    at,
                    is_loop: false,
                });
            }
            Op::Loop => {
                let (outer, outer_why) = self.control();
                // What the pass before learnt of the threads that come around again.
                let around = self.level(at);
                let (entry, why) = if around > outer {
                    (around, Some(Divergence::LeftLoop { at }))
                } else {
                    (outer, outer_why)
                };
                self.frames.push(Frame {
                    entry,
                    why,
                    at,
                    is_loop: true,
                });
                self.loops.push(LoopState::default());
            }
            // The other arm begins like the first; leaving threads are counted by `control`.
            Op::Else => {}
            Op::Continuing => {
                if let Some(state) = self.loops.last_mut() {
                    state.continued = Left::default();
                }
            }
            Op::End => {
                if let Some(frame) = self.frames.pop()
                    && frame.is_loop
                {
                    let broken = self.loops.pop().unwrap_or_default().broken;
                    let left = if broken.level >= self.returned.level {
                        broken
                    } else {
                        self.returned
                    };
                    let rises = left.level > self.level(frame.at);
                    if let Some(way) = self.way_mut(frame.at)
                        && (rises || way.is_none())
                    {
                        *way = left.at;
                    }
                    self.raise(frame.at, left.level, true);
                }
            }
            Op::Break => {
                let level = self.control().0;
                if let Some(state) = self.loops.last_mut() {
                    state.broken.join(level, Divergence::LeftLoop { at });
                }
            }
            Op::Continue => {
                let level = self.control().0;
                if let Some(state) = self.loops.last_mut() {
                    state.continued.join(level, Divergence::LeftLoop { at });
                }
            }
            Op::Return => {
                let level = self.control().0;
                self.returned.join(level, Divergence::Return { at });
            }
            Op::WorkgroupBarrier => {
                if let (Level::Subgroup | Level::Divergent, Some(why)) = self.control() {
                    self.refuse(inst, at, faults, FaultKind::DivergentBarrier, why);
                }
            }
            _ => self.set(at, Level::Divergent),
        }
    }

    fn way_mut(&mut self, at: u32) -> Option<&mut Option<Divergence>> {
        let place = self.ways.binary_search_by_key(&at, |way| way.0).ok()?;
        self.ways.get_mut(place).map(|way| &mut way.1)
    }

    /// A loop whose rounds are divergent is explained by the first way out of it that is.
    fn explain(&self, why: Divergence) -> Divergence {
        let Divergence::LeftLoop { at } = why else {
            return why;
        };
        // Where `at` is a `break` or `continue`, there is no loop.
        let place = self.ways.binary_search_by_key(&at, |way| way.0).ok();
        let way = place.and_then(|place| self.ways.get(place)?.1);
        way.unwrap_or(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::KernelBuilder;
    use crate::kernel::Value;
    use crate::types::Type;

    /// Builds a kernel with a read-only and a writable buffer and a scalar, and tells why its barriers are refused.
    fn refused(body: impl FnOnce(&mut KernelBuilder, Sources)) -> Vec<Divergence> {
        let mut b = KernelBuilder::new("k", [64, 1, 1]);
        let sources = Sources {
            input: b.buffer("input", Type::U32, Access::Read),
            output: b.buffer("output", Type::U32, Access::ReadWrite),
            tile: b.shared_zeroed("tile", Type::U32, 64),
            n: b.scalar("n", Type::U32),
        };
        body(&mut b, sources);
        match b.finish() {
            Ok(_) => Vec::new(),
            Err(e) => e
                .faults()
                .iter()
                .map(|f| match f.kind {
                    FaultKind::DivergentBarrier(why) => why,
                    ref other => panic!("another fault: {other}"),
                })
                .collect(),
        }
    }

    #[derive(Clone, Copy)]
    struct Sources {
        input: crate::kernel::Buffer,
        output: crate::kernel::Buffer,
        tile: crate::kernel::Shared,
        n: crate::kernel::Scalar,
    }

    /// A barrier under a condition that compares the value with a constant.
    fn guarded(value: impl FnOnce(&mut KernelBuilder, Sources) -> Value) -> bool {
        let why = refused(|b, s| {
            let value = value(b, s);
            let four = b.constant(4u32);
            let few = b.lt(value, four);
            b.when(few, KernelBuilder::workgroup_barrier);
        });
        assert!(
            why.iter()
                .all(|w| matches!(w, Divergence::Condition { .. }))
        );
        why.is_empty()
    }

    #[test]
    fn what_is_workgroup_uniform() {
        assert!(guarded(|b, _| b.constant(1u32)));
        assert!(guarded(|b, s| b.param(s.n)));
        assert!(guarded(|b, _| b.workgroup_id(0)));
        assert!(guarded(|b, _| b.num_workgroups(1)));
        assert!(guarded(|b, _| b.workgroup_size(2)));
        assert!(guarded(|b, s| b.array_length(s.output)));
        assert!(guarded(|b, s| {
            let i = b.workgroup_id(0);
            b.load(s.input, i)
        }));
        assert!(guarded(|b, s| {
            let (i, n) = (b.workgroup_id(0), b.param(s.n));
            b.mul(i, n)
        }));
        assert!(guarded(|b, _| {
            let lane = b.lane();
            b.assume_uniform(lane)
        }));
    }

    #[test]
    fn what_is_divergent() {
        assert!(!guarded(|b, _| b.local_id(0)));
        assert!(!guarded(|b, _| b.global_id(0)));
        assert!(!guarded(|b, _| b.local_index()));
        assert!(!guarded(|b, _| b.lane()));
        assert!(!guarded(|b, _| b.subgroup_id()));
        assert!(!guarded(|b, s| {
            let i = b.local_id(0);
            b.load(s.input, i)
        }));
        assert!(!guarded(|b, s| {
            let i = b.workgroup_id(0);
            b.load(s.output, i)
        }));
        assert!(!guarded(|b, s| {
            let i = b.constant(0u32);
            b.load(s.tile, i)
        }));
        assert!(!guarded(|b, s| {
            let i = b.constant(0u32);
            b.atomic_add(s.output, i, i)
        }));
        assert!(!guarded(|b, s| {
            let i = b.constant(0u32);
            b.load_with(s.input, i, 0, Inst::VOLATILE)
        }));
        assert!(!guarded(|b, _| {
            let (i, two) = (b.local_id(0), b.constant(2u32));
            let half = b.div(i, two);
            let zero = b.constant(0u32);
            b.mul(half, zero)
        }));
    }

    #[test]
    fn the_everyday_mistake_is_found_and_explained() {
        let why = refused(|b, s| {
            let (i, n) = (b.global_id(0), b.param(s.n));
            let outside = b.ge(i, n);
            b.when(outside, KernelBuilder::return_);
            b.workgroup_barrier();
        });
        assert_eq!(why, [Divergence::Return { at: 4 }]);
        let uniform = refused(|b, s| {
            let (i, n) = (b.workgroup_id(0), b.param(s.n));
            let outside = b.ge(i, n);
            b.when(outside, KernelBuilder::return_);
            b.workgroup_barrier();
        });
        assert_eq!(uniform, []);
    }

    #[test]
    fn variables_carry_divergence() {
        let set_by = |divergent: bool| {
            refused(|b, s| {
                let (zero, one) = (b.constant(0u32), b.constant(1u32));
                let x = b.var(zero);
                let (i, n) = (b.local_id(0), b.param(s.n));
                let condition = b.lt(if divergent { i } else { n }, one);
                b.when(condition, |b| b.set(x, one));
                let now = b.get(x);
                let set = b.eq(now, one);
                b.when(set, KernelBuilder::workgroup_barrier);
            })
        };
        assert_eq!(set_by(true).len(), 1);
        assert_eq!(set_by(false), []);
    }

    #[test]
    fn a_divergent_break_makes_every_round_divergent() {
        let broken_by = |divergent: bool| {
            refused(|b, s| {
                let (i, n) = (b.local_id(0), b.param(s.n));
                let zero = b.constant(0u32);
                let count = b.var(zero);
                b.loop_(|b| {
                    b.workgroup_barrier();
                    let now = b.get(count);
                    let one = b.constant(1u32);
                    let next = b.add(now, one);
                    b.set(count, next);
                    let done = b.ge(next, if divergent { i } else { n });
                    b.when(done, KernelBuilder::break_);
                });
                // Behind the loop all are together again.
                b.workgroup_barrier();
            })
        };
        assert!(matches!(broken_by(true)[..], [Divergence::LeftLoop { .. }]));
        assert_eq!(broken_by(false), []);
    }

    #[test]
    fn a_divergent_continue_makes_the_rest_of_the_round_divergent() {
        let barrier_at = |after: bool| {
            refused(|b, s| {
                let n = b.param(s.n);
                let (zero, i) = (b.constant(0u32), b.local_id(0));
                b.for_range(zero, n, |b, round| {
                    if !after {
                        b.workgroup_barrier();
                    }
                    let skip = b.eq(i, round);
                    b.when(skip, KernelBuilder::continue_);
                    if after {
                        b.workgroup_barrier();
                    }
                });
            })
        };
        assert!(matches!(
            barrier_at(true)[..],
            [Divergence::LeftLoop { .. }]
        ));
        assert_eq!(barrier_at(false), []);
    }

    #[test]
    fn a_divergent_return_in_a_loop_reaches_its_earlier_part() {
        let why = refused(|b, s| {
            let n = b.param(s.n);
            let (zero, i) = (b.constant(0u32), b.local_id(0));
            b.for_range(zero, n, |b, round| {
                b.workgroup_barrier();
                let out = b.eq(i, round);
                b.when(out, KernelBuilder::return_);
            });
        });
        assert_eq!(why.len(), 1);
    }

    #[test]
    fn levels_travel_against_program_order_through_a_loop() {
        let chain = |length: usize| {
            refused(|b, s| {
                let (zero, n) = (b.constant(0u32), b.param(s.n));
                let i = b.local_id(0);
                let vars: Vec<_> = (0..length).map(|_| b.var(zero)).collect();
                b.for_range(zero, n, |b, _| {
                    let first = b.get(vars[0]);
                    let quiet = b.eq(first, zero);
                    b.when(quiet, KernelBuilder::workgroup_barrier);
                    for pair in vars.windows(2) {
                        let from = b.get(pair[1]);
                        b.set(pair[0], from);
                    }
                    b.set(vars[length - 1], i);
                });
            })
        };
        assert_eq!(chain(5).len(), 1);
        assert_eq!(chain(1000).len(), 1);
    }

    #[test]
    fn barriers_have_no_place_in_a_continuing_part() {
        let mut b = KernelBuilder::new("k", [64, 1, 1]);
        b.begin_loop();
        b.begin_continuing();
        b.workgroup_barrier();
        b.end();
        let faults = b.finish().unwrap_err();
        assert_eq!(
            faults.faults()[0].kind,
            FaultKind::InContinuing(Op::WorkgroupBarrier)
        );
    }

    /// Whether a subgroup operation is accepted under a condition on the value.
    fn ballot_under(value: impl FnOnce(&mut KernelBuilder, Sources) -> Value) -> bool {
        let mut b = KernelBuilder::new("k", [64, 1, 1]);
        let sources = Sources {
            input: b.buffer("input", Type::U32, Access::Read),
            output: b.buffer("output", Type::U32, Access::ReadWrite),
            tile: b.shared_zeroed("tile", Type::U32, 64),
            n: b.scalar("n", Type::U32),
        };
        let value = value(&mut b, sources);
        let four = b.constant(4u32);
        let few = b.lt(value, four);
        b.when(few, |b| {
            let yes = b.constant(true);
            b.ballot(yes);
        });
        match b.finish() {
            Ok(_) => true,
            Err(e) => {
                assert!(
                    matches!(e.faults()[0].kind, FaultKind::DivergentSubgroup(_)),
                    "{e}"
                );
                false
            }
        }
    }

    #[test]
    fn subgroup_operations_need_subgroup_uniform_control() {
        assert!(ballot_under(|b, s| b.param(s.n)));
        assert!(ballot_under(|b, _| b.subgroup_id()));
        assert!(ballot_under(|b, _| {
            let lane = b.lane();
            b.subgroup_max(lane, crate::builder::Scan::Reduce)
        }));
        assert!(ballot_under(|b, _| {
            let (lane, zero) = (b.lane(), b.constant(0u32));
            b.broadcast(lane, zero)
        }));
        assert!(ballot_under(|b, _| {
            let yes = b.constant(true);
            let mask = b.ballot(yes);
            b.extract(mask, 0)
        }));
        assert!(!ballot_under(|b, _| b.lane()));
        assert!(!ballot_under(|b, _| {
            let lane = b.lane();
            b.subgroup_add(lane, crate::builder::Scan::Exclusive)
        }));
        assert!(!ballot_under(|b, _| {
            let lane = b.lane();
            b.broadcast(lane, lane)
        }));
        assert!(!ballot_under(|b, _| {
            let (lane, one) = (b.lane(), b.constant(1u32));
            b.shuffle_xor(lane, one)
        }));
    }

    #[test]
    fn what_is_uniform_in_a_subgroup_is_not_in_the_workgroup() {
        assert!(!guarded(|b, _| {
            let lane = b.lane();
            b.subgroup_min(lane, crate::builder::Scan::Reduce)
        }));
        assert!(guarded(|b, s| {
            let table = b.table("t", Type::U32, &[1u32, 2, 3]);
            let n = b.param(s.n);
            b.load(table, n)
        }));
    }
}
