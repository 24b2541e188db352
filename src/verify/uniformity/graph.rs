//! Decides uniformity whatever the loops. Everything is a join of others, so that the level of a thing is the least uniform
//! that it can be led back to; what an operation needs is led back, and nothing else. Things that depend on one another
//! around a loop are of one level: they are the strongly connected components, which come out in order by Tarjan's
//! algorithm ("Depth-first search and linear graph algorithms", 1972).

use super::names::{Name, Names};
use super::{Flow, Frame, Joins, Level, rule, word};
use crate::kernel::{Draft, Inst};
use crate::op::Steers;

/// Nothing: no edge, and what is uniform.
const NONE: u32 = u32::MAX;

/// From a thing to one that is joined to it. There are at most six edges an instruction, of which there are 2^28.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// The next of the same thing.
    next: u32,
}

/// The edges of control and variables, each known by an instruction: control from it on, or what a variable holds by that
/// name. Values have their operands.
#[derive(Clone, Debug, Default)]
struct Net {
    /// By instruction, the last edge. Written where a thing is made.
    last: Vec<u32>,
    edges: Vec<Edge>,
}

impl Net {
    #[inline(always)]
    fn make(&mut self, at: u32) {
        if let Some(last) = self.last.get_mut(at as usize) {
            *last = NONE;
        }
    }

    #[inline(always)]
    fn join_to(&mut self, at: u32, to: u32) {
        if to == NONE {
            return;
        }
        if let Some(last) = self.last.get_mut(at as usize) {
            let next = core::mem::replace(last, self.edges.len() as u32);
            self.edges.push(Edge { to, next });
        }
    }
}

impl Joins<u32> for Net {
    #[inline(always)]
    fn join(&mut self, at: u32, of: [u32; 4]) -> u32 {
        self.make(at);
        // Most are joins of one.
        let mut found = NONE;
        let mut several = false;
        for one in of {
            if one != NONE {
                several |= found != NONE && found != one;
                found = one;
            }
        }
        if !several {
            return found;
        }
        for one in of {
            self.join_to(at, one);
        }
        at
    }

    #[inline(always)]
    fn enter(&mut self, at: u32, before: u32) -> u32 {
        self.make(at);
        self.join_to(at, before);
        at
    }

    #[inline(always)]
    fn repeat(&mut self, entry: u32, left: [u32; 2]) {
        for one in left {
            self.join_to(entry, one);
        }
    }
}

/// How far a thing is known.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Its place in the order in which things were met, from 1 on, or that of an earlier one that it depends on and that
    /// depends on it; [`State::KNOWN`] once its level is.
    low: u32,
    level: Level,
}

impl State {
    const KNOWN: u32 = u32::MAX;
}

/// A thing that is being led back.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: u32,
    order: u32,
    /// The next edge.
    next: u32,
    /// Bits of the operand words to come.
    words: u8,
}

impl Step {
    /// The next thing that is joined to it.
    #[inline(always)]
    fn advance(&mut self, net: &Net, draft: &Draft) -> Option<u32> {
        if self.words != 0 {
            let number = self.words.trailing_zeros();
            self.words &= self.words - 1;
            let inst = draft.insts.get(self.at as usize)?;
            return Some(word(inst, &draft.side, number));
        }
        let edge = net.edges.get(self.next as usize)?;
        self.next = edge.next;
        Some(edge.to)
    }
}

/// The decision; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    net: Net,
    flow: Flow<u32>,
    /// Those of the open blocks, the body first.
    frames: Vec<Frame<u32>>,
    names: Names,
    /// Control that must not be less uniform than this.
    needed: Vec<(u32, Level)>,
    states: Vec<State>,
    steps: Vec<Step>,
    /// Things met whose level is not known yet.
    met: Vec<u32>,
    order: u32,
}

impl Graph {
    /// Whether an operation of a body that is otherwise valid is not reached by all whom it needs.
    pub(super) fn refuses(&mut self, draft: &Draft) -> bool {
        let len = draft.insts.len();
        self.net.last.resize(len, NONE);
        self.net.edges.clear();
        self.frames.clear();
        self.frames.push(self.flow.begin(NONE));
        self.names.begin(len);
        self.needed.clear();
        self.states.clear();
        self.states.resize(len, State::default());
        self.order = 0;
        // The verifier has bounded the number of instructions.
        for (at, inst) in (0u32..).zip(&draft.insts) {
            let steers = inst.op.quick().steers;
            if steers != Steers::Nothing {
                self.look(steers, inst, at);
            }
        }
        let needed = core::mem::take(&mut self.needed);
        let refused = needed
            .iter()
            .any(|&(control, most)| self.level(draft, control).exceeds(most));
        self.needed = needed;
        refused
    }

    /// Takes in what an instruction does to control and variables.
    #[inline(always)]
    fn look(&mut self, steers: Steers, inst: &Inst, at: u32) {
        let Graph {
            net,
            flow,
            frames,
            names,
            needed,
            ..
        } = self;
        match steers {
            Steers::Nothing => {}
            Steers::Workgroup => needed.push((flow.here(), Level::WORKGROUP)),
            Steers::Subgroup => needed.push((flow.here(), Level::SUBGROUP)),
            Steers::Var => {
                names.make(at);
                net.make(at);
                net.join_to(at, inst.a);
            }
            Steers::VarGet => {
                net.make(at);
                match names.meet(inst.op, inst.a, at) {
                    Name::Same(name) | Name::New(name) => net.join_to(at, name),
                }
            }
            Steers::VarSet => {
                net.make(at);
                let name = match names.meet(inst.op, inst.a, at) {
                    Name::Same(name) => name,
                    Name::New(before) => {
                        net.join_to(at, before);
                        at
                    }
                };
                net.join_to(name, inst.b);
                net.join_to(name, flow.here());
            }
            Steers::If => frames.push(flow.open_if(at, inst.a, net)),
            Steers::Else => {
                if let Some(&frame) = frames.last() {
                    flow.open_else(at, frame, net);
                }
            }
            Steers::Loop => {
                names.open_loop(at);
                frames.push(flow.open_loop(at, net));
            }
            Steers::Continuing => {
                if let Some(&frame) = frames.last() {
                    flow.open_continuing(at, frame, net);
                }
            }
            Steers::End => {
                if let Some(frame) = frames.pop()
                    && let Some(&outer) = frames.last()
                    && flow.end(at, frame, outer, net)
                {
                    names.end_loop();
                }
            }
            Steers::Leave => flow.leave(inst.op, at, net),
        }
    }

    /// The level of a value, of a variable by its name, or of control from an instruction on. `draft` is the one that was
    /// looked at last.
    pub(super) fn level(&mut self, draft: &Draft, thing: u32) -> Level {
        self.meet(draft, thing);
        while let Some(step) = self.steps.last_mut() {
            let at = step.at;
            match step.advance(&self.net, draft) {
                Some(to) => {
                    if !self.meet(draft, to) {
                        self.join(at, to);
                    }
                }
                None => self.leave(),
            }
        }
        self.state(thing).level
    }

    #[inline(always)]
    fn state(&self, at: u32) -> State {
        self.states.get(at as usize).copied().unwrap_or(State {
            low: State::KNOWN,
            level: Level::WORKGROUP,
        })
    }

    /// Begins to lead a thing back, where that was not begun yet and there is something to lead it back to.
    #[inline(always)]
    fn meet(&mut self, draft: &Draft, at: u32) -> bool {
        let Some(state) = self.states.get_mut(at as usize).filter(|s| s.low == 0) else {
            return false;
        };
        let Some(inst) = draft.insts.get(at as usize) else {
            return false;
        };
        let quick = inst.op.quick();
        let (level, words, next) = if !matches!(quick.steers, Steers::Nothing | Steers::Subgroup) {
            let last = self.net.last.get(at as usize);
            (Level::WORKGROUP, 0, last.copied().unwrap_or(NONE))
        } else {
            let (least, words) = rule(draft, inst);
            (least, words, NONE)
        };
        if words == 0 && next == NONE {
            *state = State {
                low: State::KNOWN,
                level,
            };
            return false;
        }
        self.order += 1;
        *state = State {
            low: self.order,
            level,
        };
        self.met.push(at);
        self.steps.push(Step {
            at,
            order: self.order,
            next,
            words,
        });
        true
    }

    /// A thing is at least as little uniform as one that is joined to it.
    fn join(&mut self, at: u32, to: u32) {
        let State { low, level } = self.state(to);
        if let Some(state) = self.states.get_mut(at as usize) {
            state.level = state.level.join(level);
            state.low = state.low.min(low);
        }
    }

    /// All that the last thing depends on is met.
    fn leave(&mut self) {
        let Some(Step { at, order, .. }) = self.steps.pop() else {
            return;
        };
        let State { low, level } = self.state(at);
        if low == order {
            // It and what was met since depend on one another, and on nothing before.
            while let Some(one) = self.met.pop() {
                if let Some(state) = self.states.get_mut(one as usize) {
                    *state = State {
                        low: State::KNOWN,
                        level,
                    };
                }
                if one == at {
                    break;
                }
            }
        }
        if let Some(&Step { at: above, .. }) = self.steps.last() {
            self.join(above, at);
        }
    }
}
