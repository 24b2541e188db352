//! Decides uniformity whatever the loops: every join is an edge, and levels rise along the edges until nothing changes.

use super::names::{Name, Names};
use super::{Flow, Joins, Level, for_each_joined, rule};
use crate::kernel::{Draft, Inst};
use crate::op::{Effect, Op, Uniformity};

/// No edge, and no instruction.
const NONE: u32 = u32::MAX;

/// What an instruction made, what a variable is known to hold by that name, or control from the instruction on.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The last edge from here.
    edges: u32,
    level: Level,
    /// Whether it may rise yet: something that may rise is joined to it, or something further down may be.
    alive: bool,
}

impl Node {
    const fn new(level: Level, alive: bool) -> Node {
        Node {
            edges: NONE,
            level,
            alive,
        }
    }

    const UNIFORM: Node = Node::new(Level::WORKGROUP, false);

    /// Whether edges from here are of use.
    #[inline(always)]
    fn may_rise(self) -> bool {
        self.alive && self.level != Level::DIVERGENT
    }
}

/// From one node to another.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    /// The next from the same node.
    next: u32,
}

/// A node for each instruction so far, and the edges: at most six an instruction, of which there are 2^28.
#[derive(Clone, Debug, Default)]
struct Net {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Nodes that rose when edges from them were known already.
    risen: Vec<u32>,
}

impl Net {
    #[inline(always)]
    fn node(&self, at: u32) -> Node {
        self.nodes
            .get(at as usize)
            .copied()
            .unwrap_or(Node::UNIFORM)
    }

    /// Makes the next node, `base` joined with these.
    #[inline(always)]
    fn joined<const N: usize>(&mut self, base: Node, of: [u32; N]) {
        let mut node = base;
        for one in of {
            let source = self.node(one);
            node.level = node.level.join(source.level);
            node.alive |= source.alive;
        }
        if node.may_rise() {
            let at = self.nodes.len() as u32;
            for one in of {
                self.edge_from(one, at);
            }
        }
        self.nodes.push(node);
    }

    #[inline(always)]
    fn edge_from(&mut self, from: u32, to: u32) {
        if let Some(source) = self.nodes.get_mut(from as usize)
            && source.alive
        {
            let next = core::mem::replace(&mut source.edges, self.edges.len() as u32);
            self.edges.push(Edge { to, next });
        }
    }

    /// Joins a node to one from which there may be edges.
    #[inline(always)]
    fn join_to(&mut self, to: u32, from: u32) {
        let source = self.node(from);
        let Some(target) = self.nodes.get_mut(to as usize) else {
            return;
        };
        if source.level.exceeds(target.level) {
            target.level = target.level.join(source.level);
            if target.edges != NONE {
                self.risen.push(to);
            }
        }
        if target.level != Level::DIVERGENT {
            self.edge_from(from, to);
        }
    }

    /// Lets everything rise.
    fn settle(&mut self) {
        while let Some(at) = self.risen.pop() {
            let Node { edges, level, .. } = self.node(at);
            let mut next = edges;
            while let Some(&edge) = self.edges.get(next as usize) {
                next = edge.next;
                if let Some(target) = self.nodes.get_mut(edge.to as usize)
                    && level.exceeds(target.level)
                {
                    target.level = target.level.join(level);
                    self.risen.push(edge.to);
                }
            }
        }
    }
}

impl Joins<u32> for Net {
    #[inline(always)]
    fn join(&mut self, at: u32, of: [u32; 4]) -> u32 {
        // Most are joins of one.
        let mut found = NONE;
        let mut several = false;
        for one in of {
            let node = self.node(one);
            if node.alive || node.level != Level::WORKGROUP {
                several |= found != NONE && found != one;
                found = one;
            }
        }
        if !several {
            self.nodes.push(Node::UNIFORM);
            return found;
        }
        self.joined(Node::UNIFORM, of);
        at
    }

    #[inline(always)]
    fn enter(&mut self, at: u32, before: u32) -> u32 {
        self.joined(Node::new(Level::WORKGROUP, true), [before]);
        at
    }

    #[inline(always)]
    fn repeat(&mut self, entry: u32, left: [u32; 2]) {
        for one in left {
            self.join_to(entry, one);
        }
    }
}

/// The decision; its memory is kept between kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    net: Net,
    flow: Flow<u32>,
    names: Names,
    /// Control that must not be less uniform than this.
    needed: Vec<(u32, Level)>,
}

impl Graph {
    /// Whether an operation of a body that is otherwise valid is not reached by all whom it needs.
    pub(super) fn refuses(&mut self, draft: &Draft) -> bool {
        self.net.nodes.clear();
        self.net.edges.clear();
        self.net.risen.clear();
        self.flow.begin(NONE);
        self.names.begin(draft.insts.len());
        self.needed.clear();
        // The verifier has bounded the number of instructions.
        for (at, inst) in (0u32..).zip(&draft.insts) {
            self.look(draft, inst, at);
        }
        self.net.settle();
        let refused = |&(control, most): &(u32, Level)| self.level(control).exceeds(most);
        self.needed.iter().any(refused)
    }

    /// The level of a value, of a variable by its name, or of the control with which a loop begins.
    pub(super) fn level(&self, at: u32) -> Level {
        self.net.node(at).level
    }

    /// Makes the instruction's node.
    #[inline(always)]
    fn look(&mut self, draft: &Draft, inst: &Inst, at: u32) {
        let Graph {
            net,
            flow,
            names,
            needed,
        } = self;
        let quick = inst.op.quick();
        match quick.uniformity {
            Uniformity::Workgroup => return net.nodes.push(Node::UNIFORM),
            Uniformity::Operands if inst.op == Op::VarGet => {
                return match names.meet(inst.op, inst.a, at) {
                    Name::Same(name) => net.joined(Node::UNIFORM, [name]),
                    Name::New(before) => {
                        net.joined(Node::new(Level::WORKGROUP, true), [before]);
                    }
                };
            }
            Uniformity::Operands if quick.values == 0b11 => {
                return net.joined(Node::UNIFORM, [inst.a, inst.b]);
            }
            Uniformity::Operands | Uniformity::Load => {}
            Uniformity::Subgroup | Uniformity::Divergent => match quick.effect {
                Effect::Block | Effect::Terminator => return control_flow(inst, at, self),
                Effect::Barrier => needed.push((flow.here(), Level::WORKGROUP)),
                Effect::Collective => needed.push((flow.here(), Level::SUBGROUP)),
                Effect::Pure
                | Effect::Reads
                | Effect::Writes
                | Effect::ReadsWrites
                | Effect::Fence => {}
            },
        }
        if inst.op == Op::VarSet {
            let here = flow.here();
            return match names.meet(inst.op, inst.a, at) {
                Name::Same(name) => {
                    net.join_to(name, inst.b);
                    net.join_to(name, here);
                    net.nodes.push(Node::UNIFORM);
                }
                Name::New(before) => {
                    let in_loop = Node::new(Level::WORKGROUP, names.in_loop());
                    net.joined(in_loop, [before, inst.b, here]);
                }
            };
        }
        let (least, bits) = rule(draft, inst);
        let mut node = Node::new(least, false);
        if inst.op == Op::Var {
            names.make(at);
            node.alive = names.in_loop();
        }
        if bits == 0 {
            return net.nodes.push(node);
        }
        let mut words = [NONE; 6];
        let mut free = words.iter_mut();
        for_each_joined(inst, &draft.side, bits, |word| {
            if let Some(free) = free.next() {
                *free = word;
            }
        });
        net.joined(node, words);
    }
}

fn control_flow(inst: &Inst, at: u32, graph: &mut Graph) {
    let Graph {
        net, flow, names, ..
    } = graph;
    match inst.op {
        Op::If => flow.open_if(at, inst.a, net),
        Op::Else => flow.open_else(at, net),
        Op::Loop => {
            names.open_loop(at);
            flow.open_loop(at, net);
        }
        Op::Continuing => flow.open_continuing(at, net),
        Op::End => {
            if flow.end(at, net) {
                names.end_loop();
            }
        }
        op => flow.leave(op, at, net),
    }
}
