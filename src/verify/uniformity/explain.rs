//! Finds out why an operation is not reached by all whom it needs.
//!
//! A loop whose rounds are divergent is explained by what made them so, and that is told by what is known before: so levels
//! rise from nothing again, pass by pass in program order, until nothing changes. What a loop's later rounds see (its
//! divergent breaks, the returns in it, variables set further down) comes from the pass before. After [`MAX_PASSES`] passes
//! the levels are taken from where they are known, so that the cost stays linear in the kernel.

use super::names::{Name, Names};
use super::{Level, level_made};
use crate::kernel::{Draft, Inst};
use crate::op::{Effect, Op};
use crate::verify::fault::{Divergence, Fault, FaultKind};

/// The passes in which the reason for a divergence is looked for. A pass carries a level along any chain of variables in
/// program order, so only chains of this many variables against it, through a loop, may be explained by a later reason than
/// the first. What is refused does not depend on it.
pub const MAX_PASSES: u32 = 32;

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

/// The search; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Explain {
    /// For each instruction: of its value, or for a loop of the threads that go around.
    levels: Vec<Level>,
    /// What variables are known to hold, by name.
    held: Vec<Level>,
    names: Names,
    frames: Vec<Frame>,
    loops: Vec<LoopState>,
    /// For each loop in program order its place, and the first way out of it, or return in it, that was found to be less
    /// uniform than what entered the loop.
    ways: Vec<(u32, Option<Divergence>)>,
    returned: Left,
    /// Something rose that an earlier instruction may depend on.
    changed: bool,
}

impl Explain {
    /// Adds the faults of a body that was refused. `settled` gives the levels of variables and of control where loops
    /// begin.
    pub(super) fn run(
        &mut self,
        draft: &Draft,
        mut settled: impl FnMut(u32) -> Level,
        faults: &mut Vec<Fault>,
    ) {
        self.levels.clear();
        self.levels.resize(draft.insts.len(), Level::WORKGROUP);
        self.held.clear();
        self.held.resize(draft.insts.len(), Level::WORKGROUP);
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
                let both = self.levels.iter_mut().zip(&mut self.held);
                for (at, (level, held)) in (0u32..).zip(both) {
                    *level = settled(at);
                    *held = *level;
                }
            }
        }
        self.pass(draft, Some(faults));
    }

    fn pass(&mut self, draft: &Draft, mut faults: Option<&mut Vec<Fault>>) {
        self.frames.clear();
        self.loops.clear();
        self.names.begin(draft.insts.len());
        self.returned = Left::default();
        self.changed = false;
        // The verifier has bounded the number of instructions.
        for (at, inst) in (0u32..).zip(&draft.insts) {
            match inst.op.quick().effect {
                Effect::Block | Effect::Terminator => self.control_flow(inst, at),
                Effect::Barrier => {
                    if let (level, Some(why)) = self.control()
                        && level.exceeds(Level::WORKGROUP)
                    {
                        let kind = FaultKind::DivergentBarrier;
                        self.refuse(inst, at, faults.as_deref_mut(), kind, why);
                    }
                }
                Effect::Collective => {
                    self.value(draft, inst, at);
                    if let (Level::DIVERGENT, Some(why)) = self.control() {
                        let kind = FaultKind::DivergentSubgroup;
                        self.refuse(inst, at, faults.as_deref_mut(), kind, why);
                    }
                }
                Effect::Pure
                | Effect::Reads
                | Effect::Writes
                | Effect::ReadsWrites
                | Effect::Fence => self.value(draft, inst, at),
            }
        }
    }

    /// The level of what an instruction makes: overwritten on each pass, since it depends only on what rises. What a
    /// variable holds rises.
    fn value(&mut self, draft: &Draft, inst: &Inst, at: u32) {
        match inst.op {
            Op::VarSet => {
                let level = self.level(inst.b).join(self.control().0);
                let name = self.meet(inst, at);
                return self.put(name, level);
            }
            Op::VarGet => {
                let name = self.meet(inst, at);
                return self.set(at, self.holds(name));
            }
            _ => {}
        }
        let level = level_made(draft, inst, &draft.side, |word| self.level(word));
        if inst.op == Op::Var {
            self.names.make(at);
            self.put(at, level);
        } else {
            self.set(at, level);
        }
    }

    /// The name that a variable is met by, which begins as the one before.
    fn meet(&mut self, inst: &Inst, at: u32) -> u32 {
        match self.names.meet(inst.op, inst.a, at) {
            Name::Same(name) => name,
            Name::New(before) => {
                self.put(at, self.holds(before));
                at
            }
        }
    }

    fn holds(&self, name: u32) -> Level {
        self.held
            .get(name as usize)
            .copied()
            .unwrap_or(Level::DIVERGENT)
    }

    /// Puts something into a variable. Where no loop is open, only what follows can depend on it, and this pass comes to it
    /// yet.
    fn put(&mut self, name: u32, level: Level) {
        if let Some(held) = self.held.get_mut(name as usize)
            && level > *held
        {
            *held = level;
            self.changed |= !self.loops.is_empty();
        }
    }

    fn set(&mut self, at: u32, level: Level) {
        if let Some(slot) = self.levels.get_mut(at as usize) {
            *slot = level;
        }
    }

    /// Not all come to an instruction that needs all; the last pass tells.
    fn refuse(
        &mut self,
        inst: &Inst,
        at: u32,
        faults: Option<&mut Vec<Fault>>,
        kind: fn(Divergence) -> FaultKind,
        why: Divergence,
    ) {
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
            .unwrap_or(Level::DIVERGENT)
    }

    /// How uniform control is here, and why it is not.
    fn control(&self) -> (Level, Option<Divergence>) {
        let mut found = match self.frames.last() {
            Some(frame) => (frame.entry, frame.why),
            None => (Level::WORKGROUP, None),
        };
        let inner = self.loops.last().copied().unwrap_or_default();
        for left in [inner.broken, inner.continued, self.returned] {
            if left.level > found.0 {
                found = (left.level, left.at);
            }
        }
        found
    }

    fn control_flow(&mut self, inst: &Inst, at: u32) {
        match inst.op {
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
                self.names.open_loop(at);
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
                    self.names.end_loop();
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
                    if rises {
                        self.set(frame.at, left.level);
                        self.changed = true;
                    }
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
            _ => {}
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
