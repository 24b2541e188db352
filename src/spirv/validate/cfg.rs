//! Control flow: branch targets, dominance, phis. Structure is in [`super::structure`].

use super::check::Checker;
use super::dominators::{Dominators, Graph, NONE};
use super::error::Note;
use super::rules::Rule;
use super::state::{Block, Function, Idx, Kind};
use super::structure::Structure;
use spirv::{Capability, Op};

/// What one function's control flow needs; kept between functions and modules.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) graph: Graph,
    /// The graph's, where [`Flow::known`].
    doms: Dominators,
    known: bool,
    /// Whether every block but the first has a branch to it from one that stands before it, and
    /// `structural_doms` are there.
    in_order: bool,
    structured: bool,
    /// The graph with edges from headers to merge blocks and continue targets.
    pub(super) structural: Graph,
    pub(super) blocks: Vec<Outline>,
    pub(super) structural_doms: Dominators,
    pub(super) structure: Structure,
    /// Per block: the last phi, by its offset, that named it as a parent.
    seen: Vec<u32>,
    /// A block's predecessors, each once: a switch may name one for every case.
    parents: Vec<u32>,
}

/// A block's merge instruction and its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    /// Offset of the merge instruction, 0 if there is none.
    pub(super) merge_at: u32,
    /// Whether that is a loop's.
    pub(super) is_loop: bool,
    pub(super) ends: Ends,
    /// How many of the structural edges come first and are no branches.
    declared: u8,
    /// The merge block, [`NONE`] where there is none in the function.
    pub(super) merge: u32,
    /// A loop's continue target, [`NONE`] where there is none in the function.
    pub(super) target: u32,
    /// Offset of the termination instruction, 0 if there is none.
    pub(super) end_at: u32,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Conditional,
    Switch,
    Otherwise,
}

impl Flow {
    /// The dominator trees that are needed for certain.
    fn dominators(&mut self, structured: bool) {
        // Where every block has a branch to it from one that stands before it, all are reached,
        // and by induction no dominator stands after what it dominates.
        let early = |b: u32| self.graph.preds(b).first().is_some_and(|&p| p < b);
        let count = u32::try_from(self.graph.len()).unwrap_or(0);
        self.in_order = structured && (1..count).all(early);
        self.structured = structured;
        self.known = false;
        if structured {
            self.structural_doms.compute(&self.structural);
        }
        if !self.in_order {
            self.doms.compute(&self.graph);
            self.known = true;
        }
    }

    /// Whether the entry does not reach `b` or every path to it goes through `a`.
    fn covers(&mut self, a: u32, b: u32) -> bool {
        // The structural graph has more paths, so what dominates in it dominates.
        if self.structured && self.structural_doms.dominates(a, b) {
            return true;
        }
        if !self.known {
            self.doms.compute(&self.graph);
            self.known = true;
        }
        !self.doms.reaches(b) || self.doms.dominates(a, b)
    }

    pub(super) fn outline(&self, block: u32) -> Outline {
        self.blocks.get(block as usize).copied().unwrap_or(Outline {
            merge_at: 0,
            is_loop: false,
            ends: Ends::Otherwise,
            declared: 0,
            merge: NONE,
            target: NONE,
            end_at: 0,
        })
    }

    /// How many of a block's structural edges come first and are no branches.
    pub(super) fn declared(&self, block: u32) -> u32 {
        self.blocks
            .get(block as usize)
            .map_or(0, |b| b.declared.into())
    }
}

/// The part of the module that one function's checks read.
#[derive(Clone, Copy)]
pub(super) struct Body {
    pub(super) function: Function,
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Body {
    /// A block of the module as one of the function's.
    pub(super) fn local(self, block: u32) -> Option<u32> {
        block
            .checked_sub(self.first + 1)
            .filter(|b| *b < self.count)
    }
}

impl Checker<'_> {
    /// Checks the control flow of every function.
    pub(super) fn control_flow(&mut self, flow: &mut Flow) {
        let mut cross = 0;
        for f in 0..self.m.functions.len() {
            let Some(&function) = self.m.functions.get(f) else {
                break;
            };
            let body = Body {
                function,
                first: function.first_block,
                count: function.blocks,
            };
            self.build(body, flow);
            let structured = body.count != 0 && self.m.has_cap(Capability::Shader);
            flow.dominators(structured);
            self.block_order(body, flow);
            // Uses in other blocks stand in the order of the functions.
            while let Some(&(def, user, word)) = self.m.cross.get(cross) {
                let (Some(def), Some(user)) = (body.local(def), body.local(user)) else {
                    break;
                };
                cross += 1;
                if !flow.covers(def, user) {
                    self.fault(Rule::Dominance, word, Note::None);
                }
            }
            self.phis(body, flow);
            if structured {
                self.structured(body, flow);
            }
        }
    }

    pub(super) fn block(&self, body: Body, local: u32) -> Block {
        let at = body.first as usize + local as usize;
        self.m.blocks.get(at).copied().unwrap_or(Block {
            label: 0,
            word: 0,
            merge: 0,
            end: 0,
        })
    }

    /// The function's block that a label opens.
    pub(super) fn target(&self, body: Body, id: u32) -> Option<u32> {
        let def = self.m.def(self.m.ids.get(id));
        if def.op == Op::Label {
            body.local(def.opens)
        } else {
            None
        }
    }

    fn build(&mut self, body: Body, flow: &mut Flow) {
        flow.graph.clear();
        flow.structural.clear();
        flow.blocks.clear();
        for b in 0..body.count {
            let Block { merge, end, .. } = self.block(body, b);
            let mut outline = Outline {
                merge_at: merge,
                is_loop: false,
                ends: Ends::Otherwise,
                declared: 0,
                merge: NONE,
                target: NONE,
                end_at: end,
            };
            if merge != 0 {
                outline.is_loop = self.op_at(merge) == Op::LoopMerge;
                outline.merge = self.declared(body, flow, merge, 1);
                if outline.is_loop {
                    outline.target = self.declared(body, flow, merge, 2);
                }
                let known = |to: u32| u8::from(to != NONE);
                outline.declared = known(outline.merge) + known(outline.target);
            }
            if end != 0 {
                outline.ends = self.branches_of(body, flow, end);
            }
            flow.blocks.push(outline);
            flow.graph.end_block();
            flow.structural.end_block();
        }
        flow.graph.invert();
        flow.structural.invert();
    }

    /// An edge to a block that a merge instruction names.
    fn declared(&mut self, body: Body, flow: &mut Flow, merge: u32, word: usize) -> u32 {
        let id = self.word_at(merge, word);
        let to = self.branch(body, merge, id, false);
        if let Some(to) = to {
            flow.structural.edge(to);
        }
        to.unwrap_or(NONE)
    }

    /// The edges of a block's end.
    fn branches_of(&mut self, body: Body, flow: &mut Flow, at: u32) -> Ends {
        let end = self.bare(at);
        let (ends, targets, step) = match end.op {
            Op::Branch => (Ends::Otherwise, 1..2, 1),
            Op::BranchConditional => (Ends::Conditional, 2..4, 1),
            Op::Switch => {
                let step = 1 + self.switch_width(end.word(1));
                (Ends::Switch, 2..end.len(), step)
            }
            _ => return Ends::Otherwise,
        };
        for i in targets.step_by(step) {
            if let Some(to) = self.branch(body, at, end.word(i), true) {
                flow.graph.edge(to);
                flow.structural.edge(to);
            }
        }
        ends
    }

    /// The words of a switch's literals.
    pub(super) fn switch_width(&self, selector: u32) -> usize {
        let ty = self.m.ty(self.m.type_of(self.m.ids.get(selector)));
        if ty.kind == Kind::Int && ty.width > 32 {
            2
        } else {
            1
        }
    }

    fn branch(&mut self, body: Body, word: u32, id: u32, is_branch: bool) -> Option<u32> {
        match self.target(body, id) {
            Some(0) if is_branch => {
                self.fault(Rule::EntryBlock, word, Note::Id(id));
                Some(0)
            }
            Some(to) => Some(to),
            None => {
                let rule = if is_branch {
                    Rule::BranchTarget
                } else {
                    Rule::MergeTarget
                };
                self.fault(rule, word, Note::Id(id));
                None
            }
        }
    }

    fn block_order(&mut self, body: Body, flow: &Flow) {
        if flow.in_order {
            return;
        }
        for b in 1..body.count {
            let dom = flow.doms.idom(b);
            if dom != NONE && dom > b {
                let block = self.block(body, b);
                let id = self.m.def(self.block(body, dom).label).id;
                self.fault(Rule::BlockOrder, block.word, Note::Id(id));
            }
        }
    }

    /// Phis against the predecessors of their blocks.
    fn phis(&mut self, body: Body, flow: &mut Flow) {
        flow.seen.clear();
        flow.seen.resize(body.count as usize, 0);
        for b in 0..body.count {
            let block = self.block(body, b);
            let mut at = self.next(block.word);
            let mut counted = false;
            while at < self.end() {
                match self.op_at(at) {
                    Op::Line | Op::NoLine => {}
                    Op::Phi => {
                        if !std::mem::replace(&mut counted, true) {
                            let preds = flow.graph.preds(b);
                            each_once(&mut flow.seen, preds, block.word, &mut flow.parents);
                        }
                        self.phi(body, flow, b, at);
                    }
                    _ => break,
                }
                at = self.next(at);
            }
        }
    }

    fn phi(&mut self, body: Body, flow: &mut Flow, block: u32, at: u32) {
        let inst = self.inst(at);
        let pairs = inst.words.get(3..).unwrap_or_default();
        let ty = inst.ty;
        match self.m.kind(ty) {
            Kind::Void | Kind::Image | Kind::Sampler | Kind::SampledImage => {
                self.fault(Rule::PhiResult, at, Note::None);
            }
            Kind::Pointer if self.m.addressing == 0 && !self.m.variable_pointers() => {
                self.fault(Rule::PhiResult, at, Note::None);
            }
            _ => {}
        }
        let count = pairs.len() / 2;
        if count != flow.parents.len() {
            let note = Note::Limit(count as u64, flow.parents.len() as u64);
            return self.fault(Rule::PhiParents, at, note);
        }
        // Parents are marked by the phi's offset, predecessors by its successor's.
        for &parent in &flow.parents {
            if let Some(slot) = flow.seen.get_mut(parent as usize) {
                *slot = at;
            }
        }
        for pair in pairs.chunks_exact(2) {
            let (value, parent) = (pair[0], pair[1]);
            let value_idx = self.m.ids.get(value);
            if self.m.type_of(value_idx) != ty {
                self.fault(Rule::PhiType, at, Note::Id(value));
            }
            let Some(parent_block) = self.target(body, parent) else {
                self.fault(Rule::PhiParents, at, Note::Id(parent));
                continue;
            };
            let slot = flow.seen.get_mut(parent_block as usize);
            if slot.is_none_or(|s| std::mem::replace(s, 0) != at) {
                self.fault(Rule::PhiParents, at, Note::Id(parent));
                continue;
            }
            self.phi_value(body, flow, block, value_idx, parent_block, at);
        }
    }

    fn phi_value(
        &mut self,
        body: Body,
        flow: &mut Flow,
        block: u32,
        value: Idx,
        parent: u32,
        at: u32,
    ) {
        if !flow.in_order && !flow.doms.reaches(block) {
            return;
        }
        let def = *self.m.def(value);
        let func = self.m.def(body.function.def).func;
        if def.func != 0 && def.func != func {
            self.fault(Rule::OtherFunction, at, Note::Id(def.id));
        } else if let Some(def_block) = body.local(def.block)
            && !flow.covers(def_block, parent)
        {
            self.fault(Rule::PhiDominance, at, Note::Id(def.id));
        }
    }
}

/// Marks each block with a stamp and lists them, each once.
fn each_once(seen: &mut [u32], blocks: &[u32], stamp: u32, list: &mut Vec<u32>) {
    list.clear();
    for &b in blocks {
        if let Some(slot) = seen.get_mut(b as usize)
            && std::mem::replace(slot, stamp) != stamp
        {
            list.push(b);
        }
    }
}
