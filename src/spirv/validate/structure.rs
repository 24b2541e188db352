//! Structured control flow (§2.11, §2.16.2).
//!
//! Constructs are nested: a walk of the structural dominator tree gives every block the
//! innermost construct that it is in. After that each branch is judged once, by the constructs
//! of its two ends, so the work is linear in the blocks and branches.

use super::cfg::{Body, Flow};
use super::check::Checker;
use super::dominators::NONE;
use super::error::Note;
use super::rules::Rule;
use spirv::{Capability, Op};

/// §2.17: control flow nesting depth.
const MAX_DEPTH: u32 = 1023;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Function,
    Selection,
    Switch,
    Loop,
    Continue,
    Case,
}

#[derive(Clone, Copy, Debug)]
struct Construct {
    shape: Shape,
    header: u32,
    merge: u32,
    /// A loop's continue target.
    target: u32,
    parent: u32,
    /// The innermost loop or continue construct around it, itself included; 0 if none.
    scope: u32,
    /// The innermost switch around it with no loop between, itself included; 0 if none.
    switch: u32,
    /// The innermost continue construct around it, itself included; 0 if none.
    inside_continue: u32,
    depth: u32,
    /// Of a continue construct: its loop.
    of_loop: u32,
}

/// Scratch memory of the structured checks.
#[derive(Debug, Default)]
pub(super) struct Structure {
    constructs: Vec<Construct>,
    /// Per block: the construct that contains it, as a block that may be a header.
    outer: Vec<u32>,
    /// Per block: the construct that its branches start from.
    inner: Vec<u32>,
    /// Per block: the header that it is the merge block of.
    merge_of: Vec<u32>,
    /// Per block: the loop header that it is the continue target of.
    continue_of: Vec<u32>,
    /// Per block: whether its immediate dominator switches to it.
    case: Vec<bool>,
    /// Per block: the back-edge block of a loop header, [`MANY`] if there are several.
    latch: Vec<u32>,
    color: Vec<u8>,
    stack: Vec<(u32, u32)>,
    postorder: Vec<u32>,
    seen: Vec<bool>,
    /// Per case block: the case it falls through to.
    falls: Vec<u32>,
    fallen: Vec<u32>,
    run_end: Vec<u32>,
}

/// The whole function.
static ROOT: Construct = Construct {
    shape: Shape::Function,
    header: NONE,
    merge: NONE,
    target: NONE,
    parent: 0,
    scope: 0,
    switch: 0,
    inside_continue: 0,
    depth: 0,
    of_loop: 0,
};

const MANY: u32 = u32::MAX - 1;
const WHITE: u8 = 0;
const GREY: u8 = 1;
const BLACK: u8 = 2;

fn fill<T: Copy>(v: &mut Vec<T>, n: usize, value: T) {
    v.clear();
    v.resize(n, value);
}

fn at(v: &[u32], i: u32) -> u32 {
    v.get(i as usize).copied().unwrap_or(NONE)
}

fn put<T>(v: &mut [T], i: u32, value: T) {
    if let Some(slot) = v.get_mut(i as usize) {
        *slot = value;
    }
}

impl Structure {
    fn reset(&mut self, n: usize) {
        let Structure {
            constructs,
            outer,
            inner,
            merge_of,
            continue_of,
            case,
            latch,
            color,
            stack,
            postorder,
            seen,
            falls,
            fallen,
            run_end,
        } = self;
        constructs.clear();
        constructs.push(ROOT);
        fill(outer, n, 0);
        fill(inner, n, 0);
        fill(merge_of, n, NONE);
        fill(continue_of, n, NONE);
        fill(case, n, false);
        fill(latch, n, NONE);
        fill(color, n, WHITE);
        fill(seen, n, false);
        fill(falls, n, NONE);
        fill(fallen, n, 0);
        stack.clear();
        postorder.clear();
        run_end.clear();
    }

    fn construct(&self, c: u32) -> &Construct {
        self.constructs.get(c as usize).unwrap_or(&ROOT)
    }

    fn push(&mut self, shape: Shape, header: u32, merge: u32, target: u32, parent: u32) -> u32 {
        let new = u32::try_from(self.constructs.len()).unwrap_or(0);
        let up = *self.construct(parent);
        let mut construct = Construct {
            shape,
            header,
            merge,
            target,
            parent,
            scope: up.scope,
            switch: up.switch,
            inside_continue: up.inside_continue,
            depth: up.depth + u32::from(shape != Shape::Case),
            of_loop: 0,
        };
        match shape {
            Shape::Loop => {
                construct.scope = new;
                construct.switch = 0;
            }
            Shape::Continue => {
                construct.scope = new;
                construct.switch = 0;
                construct.inside_continue = new;
            }
            Shape::Switch => construct.switch = new,
            Shape::Function | Shape::Selection | Shape::Case => {}
        }
        self.constructs.push(construct);
        new
    }

    fn contains(&self, outer: u32, inner: u32) -> bool {
        let depth = self.construct(outer).depth;
        let mut c = inner;
        loop {
            if c == outer {
                return true;
            }
            let now = self.construct(c);
            if c == 0 || now.depth < depth {
                return false;
            }
            c = now.parent;
        }
    }
}

impl Checker<'_> {
    pub(super) fn structured(&mut self, body: Body, flow: &mut Flow) {
        if body.count == 0 || !self.m.has_cap(Capability::Shader) {
            return;
        }
        flow.structural_doms.compute(&flow.structural);
        let mut s = std::mem::take(&mut flow.structure);
        s.reset(body.count as usize);
        self.headers(body, flow, &mut s);
        self.back_edges(body, flow, &mut s);
        self.nest(body, flow, &mut s);
        self.branches(body, flow, &mut s);
        self.switches(body, flow, &mut s);
        self.selections(body, flow, &mut s);
        flow.structure = s;
    }

    /// Merge instructions: their targets, each merge block once.
    fn headers(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        let doms = &flow.structural_doms;
        for b in 0..body.count {
            let block = self.block(body, b);
            if block.merge == 0 {
                continue;
            }
            let inst = self.bare(block.merge);
            let merge = self.target(body, inst.word(1));
            if merge == Some(b) {
                self.fault(Rule::MergeTarget, block.merge, Note::Id(inst.word(1)));
            }
            let Some(merge) = merge else { continue };
            if at(&s.merge_of, merge) != NONE {
                self.fault(Rule::MergeUnique, block.merge, Note::Id(inst.word(1)));
            } else {
                put(&mut s.merge_of, merge, b);
            }
            if doms.reaches(b) && merge != b && !doms.dominates(b, merge) {
                self.fault(Rule::MergeDominated, block.merge, Note::Id(inst.word(1)));
            }
            if inst.op == Op::LoopMerge {
                if inst.word(1) == inst.word(2) {
                    self.fault(Rule::MergeTarget, block.merge, Note::Id(inst.word(2)));
                }
                if let Some(target) = self.target(body, inst.word(2)) {
                    put(&mut s.continue_of, target, b);
                    if doms.reaches(b) && !doms.dominates(b, target) {
                        self.fault(Rule::ContinueDominated, block.merge, Note::Id(inst.word(2)));
                    }
                }
            }
        }
        for b in 0..body.count {
            let dom = doms.idom(b);
            if dom != NONE {
                let end = self.block(body, dom).end;
                let is_switch = end != 0 && self.op_at(end) == Op::Switch;
                // The graph lists a switch's targets; a dominator with an edge is the switch.
                put(&mut s.case, b, is_switch);
            }
        }
        // Only real targets are cases: blocks that a switch dominates may be joins.
        for b in 0..body.count {
            if s.case.get(b as usize) == Some(&true) {
                let dom = doms.idom(b);
                let is_target = flow.graph.preds(b).contains(&dom);
                put(&mut s.case, b, is_target);
            }
        }
    }

    /// Back edges, in a depth-first walk of the structural graph.
    fn back_edges(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        self.walk(body, flow, s, 0, true);
        for b in 0..body.count {
            if flow.structural.preds(b).is_empty() {
                self.walk(body, flow, s, b, false);
            }
        }
        for b in 0..body.count {
            self.walk(body, flow, s, b, false);
        }
        for b in 0..body.count {
            let block = self.block(body, b);
            if block.merge == 0 || !flow.structural_doms.reaches(b) {
                continue;
            }
            let inst = self.bare(block.merge);
            if inst.op != Op::LoopMerge {
                continue;
            }
            let latch = at(&s.latch, b);
            if latch == NONE || latch == MANY {
                self.fault(Rule::BackEdgeUnique, block.merge, Note::None);
            } else if let Some(target) = self.target(body, inst.word(2)) {
                if !flow.structural_doms.dominates(target, latch) {
                    self.fault(Rule::ContinueDominated, block.merge, Note::Id(inst.word(2)));
                } else if target == b && latch != b {
                    // The header's structural edge to the merge block goes past the back edge.
                    let note = Note::Id(inst.word(2));
                    self.fault(Rule::ContinuePostDominated, block.merge, note);
                }
            }
        }
    }

    fn walk(&mut self, body: Body, flow: &Flow, s: &mut Structure, root: u32, order: bool) {
        if s.color.get(root as usize) != Some(&WHITE) {
            return;
        }
        put(&mut s.color, root, GREY);
        s.stack.push((root, 0));
        while let Some((from, next)) = s.stack.last_mut() {
            let (from, position) = (*from, *next);
            *next += 1;
            let Some(&to) = flow.structural.succs(from).get(position as usize) else {
                s.stack.pop();
                put(&mut s.color, from, BLACK);
                if order {
                    s.postorder.push(from);
                }
                continue;
            };
            match s.color.get(to as usize) {
                Some(&WHITE) => {
                    put(&mut s.color, to, GREY);
                    s.stack.push((to, 0));
                }
                Some(&GREY) if position >= at(&flow.declared, from) => {
                    let header = self.block(body, to);
                    let is_loop = header.merge != 0 && self.op_at(header.merge) == Op::LoopMerge;
                    if !is_loop {
                        let end = self.block(body, from).end;
                        let id = self.m.def(header.label).id;
                        self.fault(Rule::BackEdge, end, Note::Id(id));
                    }
                    let latch = at(&s.latch, to);
                    let new = if latch == NONE || latch == from {
                        from
                    } else {
                        MANY
                    };
                    put(&mut s.latch, to, new);
                }
                _ => {}
            }
        }
    }

    /// Gives each block its construct.
    fn nest(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        let doms = &flow.structural_doms;
        let mut too_deep = false;
        for &b in doms.preorder() {
            let dom = doms.idom(b);
            let mut outer = if dom == NONE { 0 } else { at(&s.inner, dom) };
            let merged = at(&s.merge_of, b);
            if merged != NONE && merged != b && doms.dominates(merged, b) {
                outer = s.construct(at(&s.inner, merged)).parent;
            }
            let looped = at(&s.continue_of, b);
            if looped != NONE && looped != b && doms.dominates(looped, b) {
                let of_loop = at(&s.inner, looped);
                let parent = s.construct(of_loop).parent;
                outer = s.push(Shape::Continue, b, s.construct(of_loop).merge, b, parent);
                if let Some(c) = s.constructs.get_mut(outer as usize) {
                    c.of_loop = of_loop;
                }
            } else if s.case.get(b as usize) == Some(&true) && merged != dom {
                let parent = at(&s.inner, dom);
                if s.construct(parent).shape == Shape::Switch {
                    outer = s.push(Shape::Case, b, s.construct(parent).merge, NONE, parent);
                }
            }
            put(&mut s.outer, b, outer);
            let block = self.block(body, b);
            let mut inner = outer;
            if block.merge != 0 {
                let inst = self.bare(block.merge);
                let merge = self.target(body, inst.word(1)).unwrap_or(NONE);
                let shape = match inst.op {
                    Op::LoopMerge => Shape::Loop,
                    _ if block.end != 0 && self.op_at(block.end) == Op::Switch => Shape::Switch,
                    _ => Shape::Selection,
                };
                let target = if shape == Shape::Loop {
                    self.target(body, inst.word(2)).unwrap_or(NONE)
                } else {
                    NONE
                };
                inner = s.push(shape, b, merge, target, outer);
                if s.construct(inner).depth > MAX_DEPTH && !too_deep {
                    too_deep = true;
                    let note = Note::Limit(u64::from(s.construct(inner).depth), 1023);
                    self.fault(Rule::NestingDepth, block.merge, note);
                }
            }
            put(&mut s.inner, b, inner);
        }
    }

    /// Judges every branch between blocks that the entry reaches structurally.
    fn branches(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        for b in 0..body.count {
            if !flow.structural_doms.reaches(b) {
                continue;
            }
            let from = s.construct(at(&s.inner, b));
            let end = self.block(body, b).end;
            let around = s.construct(from.inside_continue);
            if from.inside_continue != 0 && flow.structural.succs(b).is_empty() {
                let id = self.m.def(self.block(body, around.header).label).id;
                self.fault(Rule::ContinuePostDominated, end, Note::Id(id));
            }
            for i in 0..flow.graph.succs(b).len() {
                let Some(&to) = flow.graph.succs(b).get(i) else {
                    break;
                };
                if let Some(rule) = judge(s, b, to) {
                    let id = self.m.def(self.block(body, to).label).id;
                    self.fault(rule, end, Note::Id(id));
                }
            }
        }
    }

    /// Falling through cases.
    fn switches(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        for b in 0..body.count {
            let block = self.block(body, b);
            if block.merge == 0 || block.end == 0 || !flow.structural_doms.reaches(b) {
                continue;
            }
            if s.construct(at(&s.inner, b)).shape == Shape::Switch {
                self.switch(body, flow, s, b);
            }
        }
    }

    fn switch(&mut self, body: Body, flow: &Flow, s: &mut Structure, header: u32) {
        let targets = flow.graph.succs(header);
        let end = self.block(body, header).end;
        let merge = s.construct(at(&s.inner, header)).merge;
        let Some((&default, cases)) = targets.split_first() else {
            return;
        };
        for &to in targets {
            if to != merge && !flow.structural_doms.dominates(header, to) {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchCase, end, Note::Id(id));
            }
        }
        if targets.iter().all(|&t| at(&s.falls, t) == NONE) {
            return;
        }
        if targets.iter().any(|&t| at(&s.falls, t) == MANY) {
            return self.fault(Rule::SwitchFallThrough, end, Note::None);
        }
        // Where the run of equal targets that each one is in ends.
        fill(&mut s.run_end, targets.len(), 0);
        let mut next = targets.len();
        for i in (0..targets.len()).rev() {
            if i + 1 < targets.len() && targets[i] != targets[i + 1] {
                next = i + 1;
            }
            put(
                &mut s.run_end,
                u32::try_from(i).unwrap_or(0),
                u32::try_from(next).unwrap_or(0),
            );
        }
        let default_again = cases.contains(&default);
        let mut default_falls = NONE;
        for (i, &to) in targets.iter().enumerate() {
            if to == merge {
                continue;
            }
            let mut falls = at(&s.falls, to);
            if falls == default && !default_again {
                falls = default_falls;
            }
            if falls == NONE {
                continue;
            }
            if i == 0 {
                default_falls = falls;
                continue;
            }
            let next = at(&s.run_end, u32::try_from(i).unwrap_or(0));
            if at(targets, next) != falls {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchFallThrough, end, Note::Id(id));
            }
        }
        for &to in targets {
            if at(&s.fallen, to) > 1 {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchFallThrough, end, Note::Id(id));
            }
        }
    }

    /// Conditional branches without a merge instruction have to be exits.
    fn selections(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        for i in (0..s.postorder.len()).rev() {
            let Some(&b) = s.postorder.get(i) else { break };
            let block = self.block(body, b);
            let mut merge = Op::Nop;
            if block.merge != 0 {
                let inst = self.bare(block.merge);
                merge = inst.op;
                let targets = if merge == Op::LoopMerge { 2 } else { 1 };
                for w in 1..=targets {
                    if let Some(to) = self.target(body, inst.word(w)) {
                        put(&mut s.seen, to, true);
                    }
                }
            }
            if block.end == 0 {
                continue;
            }
            match self.op_at(block.end) {
                Op::BranchConditional => {
                    let mut unseen = true;
                    for &to in flow.graph.succs(b) {
                        if let Some(slot) = s.seen.get_mut(to as usize) {
                            unseen &= !std::mem::replace(slot, true);
                        }
                    }
                    if merge != Op::SelectionMerge && unseen {
                        self.fault(Rule::SelectionMerge, block.end, Note::None);
                    }
                }
                Op::Switch => {
                    if merge != Op::SelectionMerge {
                        self.fault(Rule::SelectionMerge, block.end, Note::None);
                    }
                    for &to in flow.graph.succs(b) {
                        put(&mut s.seen, to, true);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a branch keeps to the constructs; the rule that it breaks if it does not.
fn judge(s: &mut Structure, b: u32, to: u32) -> Option<Rule> {
    let inner = at(&s.inner, b);
    let from = *s.construct(inner);
    // Into the same construct, be it to a nested header.
    if at(&s.outer, to) == inner {
        let own = s.construct(at(&s.inner, to));
        if own.shape != Shape::Loop || own.header != to || at(&s.latch, to) != b {
            return None;
        }
    }
    // The back edge, from the continue construct or from the only block of its loop.
    let own = s.construct(at(&s.inner, to));
    if own.shape == Shape::Loop && own.header == to && at(&s.latch, to) == b {
        let of_loop = at(&s.inner, to);
        let ends_loop = from.shape == Shape::Continue && from.of_loop == of_loop;
        let single = inner == of_loop && own.target == to;
        return if ends_loop || single {
            None
        } else {
            Some(Rule::ConstructExit)
        };
    }
    let scope = s.construct(from.scope);
    // To a merge block: of this construct, of the loop around it, of the switch around it.
    let merged = at(&s.merge_of, to);
    if merged != NONE {
        let left = at(&s.inner, merged);
        let loop_left = if scope.shape == Shape::Continue {
            scope.of_loop
        } else {
            from.scope
        };
        let is_loop = loop_left != 0 && left == loop_left;
        if left == inner || is_loop || (from.switch != 0 && left == from.switch) {
            // Only the back-edge block leaves a continue construct.
            if is_loop && scope.shape == Shape::Continue {
                let latch = at(&s.latch, s.construct(loop_left).header);
                if latch != b {
                    return Some(Rule::ContinuePostDominated);
                }
            }
            return None;
        }
    }
    // To the continue target of the loop around it.
    if scope.shape == Shape::Loop && scope.target == to {
        return None;
    }
    let target = s.construct(at(&s.outer, to));
    if target.shape == Shape::Continue && target.header == to {
        return Some(Rule::ContinueFromLoop);
    }
    if target.shape == Shape::Case && target.header == to {
        // The switch itself, or the case before it.
        if target.parent == inner && from.header == b {
            return None;
        }
        if from.shape == Shape::Case && from.parent == target.parent {
            let falls = at(&s.falls, from.header);
            let new = if falls == NONE || falls == to {
                to
            } else {
                MANY
            };
            if falls == NONE {
                let count = at(&s.fallen, to);
                put(&mut s.fallen, to, count + 1);
            }
            put(&mut s.falls, from.header, new);
            return None;
        }
    }
    if s.contains(at(&s.outer, to), inner) {
        Some(Rule::ConstructExit)
    } else {
        Some(Rule::ConstructEntry)
    }
}
