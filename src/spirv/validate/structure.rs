//! Structured control flow (§2.11, §2.16.2).
//!
//! Constructs are nested: a walk of the structural dominator tree gives every block the
//! innermost construct that it is in. After that each branch is judged once, by the constructs
//! of its two ends, so the work is linear in the blocks and branches.

use super::cfg::{Body, Ends, Flow};
use super::check::Checker;
use super::dominators::NONE;
use super::error::Note;
use super::rules::Rule;

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
    nodes: Vec<Node>,
    stack: Vec<(u32, u32)>,
    postorder: Vec<u32>,
    run_end: Vec<usize>,
}

/// What is found out about a block.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The construct that contains it, as a block that may be a header.
    outer: u32,
    /// The construct that its branches start from.
    inner: u32,
    /// The header that it is the merge block of.
    merge_of: u32,
    /// The loop header that it is the continue target of.
    continue_of: u32,
    /// Of a loop header: its back-edge block, [`MANY`] if there are several.
    latch: u32,
    /// Of a case: the case it falls through to.
    falls: u32,
    /// How many cases fall through to it.
    fallen: u32,
    color: Color,
    /// Whether its immediate dominator switches to it.
    case: bool,
    /// Whether a header or branch before it named it.
    seen: bool,
}

/// How far a walk has come with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    White,
    Grey,
    Black,
}

const NEW: Node = Node {
    outer: 0,
    inner: 0,
    merge_of: NONE,
    continue_of: NONE,
    latch: NONE,
    falls: NONE,
    fallen: 0,
    color: Color::White,
    case: false,
    seen: false,
};

/// The whole function.
const ROOT: Construct = Construct {
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

impl Structure {
    fn reset(&mut self, n: usize) {
        let Structure {
            constructs,
            nodes,
            stack,
            postorder,
            run_end,
        } = self;
        constructs.clear();
        constructs.push(ROOT);
        nodes.clear();
        nodes.resize(n, NEW);
        stack.clear();
        postorder.clear();
        run_end.clear();
    }

    /// What is known of a block; of one that is not there, nothing.
    fn node(&self, block: u32) -> &Node {
        self.nodes.get(block as usize).unwrap_or(&NEW)
    }

    fn node_mut(&mut self, block: u32) -> Option<&mut Node> {
        self.nodes.get_mut(block as usize)
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
        let mut s = std::mem::take(&mut flow.structure);
        s.reset(body.count as usize);
        self.headers(flow, &mut s);
        self.back_edges(body, flow, &mut s);
        let switches = flow.blocks.iter().any(|b| b.ends == Ends::Switch);
        if switches {
            cases(flow, &mut s);
        }
        self.nest(flow, &mut s);
        self.branches(body, flow, &mut s);
        if switches {
            self.switches(body, flow, &mut s);
        }
        self.selections(flow, &mut s);
        flow.structure = s;
    }

    /// Merge instructions: their targets, each merge block once.
    fn headers(&mut self, flow: &Flow, s: &mut Structure) {
        let doms = &flow.structural_doms;
        for (b, block) in (0..).zip(&flow.blocks) {
            let (at, merge) = (block.merge_at, block.merge);
            if merge == NONE {
                continue;
            }
            let note = |word| Note::Id(self.word_at(at, word));
            let (merge_note, target_note) = (note(1), note(2));
            if merge == b {
                self.fault(Rule::MergeTarget, at, merge_note);
            }
            let merged = s.node_mut(merge).map(|n| &mut n.merge_of);
            match merged {
                Some(header) if *header == NONE => *header = b,
                _ => self.fault(Rule::MergeUnique, at, merge_note),
            }
            // Nothing but the entry block dominates the entry block.
            let judged = doms.reaches(b) || merge == 0;
            if judged && merge != b && !doms.dominates(b, merge) {
                self.fault(Rule::MergeDominated, at, merge_note);
            }
            if merge == block.target {
                self.fault(Rule::MergeTarget, at, target_note);
            }
            let reached = doms.reaches(b) || doms.reaches(block.target);
            if let Some(target) = s.node_mut(block.target) {
                // A loop of one block has no continue construct of its own, and may be all of the outer loop's.
                if block.target != b {
                    target.continue_of = b;
                }
                // A header that nothing reaches dominates no block that something reaches.
                if reached && !doms.dominates(b, block.target) {
                    self.fault(Rule::ContinueDominated, at, target_note);
                }
            }
        }
    }

    /// Back edges, in a depth-first walk of the structural graph.
    fn back_edges(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        self.walk(body, flow, s, 0, true);
        if s.postorder.len() < s.nodes.len() {
            for b in 0..body.count {
                if flow.structural.preds(b).is_empty() {
                    self.walk(body, flow, s, b, false);
                }
            }
            for b in 0..body.count {
                self.walk(body, flow, s, b, false);
            }
        }
        for (b, block) in (0..).zip(&flow.blocks) {
            if !block.is_loop || !flow.structural_doms.reaches(b) {
                continue;
            }
            let (at, target) = (block.merge_at, block.target);
            let note = Note::Id(self.word_at(at, 2));
            let latch = s.node(b).latch;
            if latch == NONE || latch == MANY {
                self.fault(Rule::BackEdgeUnique, at, Note::None);
            } else if target != NONE {
                if !flow.structural_doms.dominates(target, latch) {
                    self.fault(Rule::ContinueDominated, at, note);
                } else if target == b && latch != b {
                    // The header's structural edge to the merge block goes past the back edge.
                    self.fault(Rule::ContinuePostDominated, at, note);
                }
            }
        }
    }

    fn walk(&mut self, body: Body, flow: &Flow, s: &mut Structure, root: u32, order: bool) {
        match s.node_mut(root) {
            Some(node) if node.color == Color::White => node.color = Color::Grey,
            _ => return,
        }
        s.stack.push((root, 0));
        while let Some((from, next)) = s.stack.last_mut() {
            let (from, position) = (*from, *next);
            *next += 1;
            let Some(&to) = flow.structural.succs(from).get(position as usize) else {
                s.stack.pop();
                if let Some(node) = s.node_mut(from) {
                    node.color = Color::Black;
                }
                if order {
                    s.postorder.push(from);
                }
                continue;
            };
            let Some(node) = s.nodes.get_mut(to as usize) else {
                continue;
            };
            match node.color {
                Color::White => {
                    node.color = Color::Grey;
                    s.stack.push((to, 0));
                }
                Color::Grey if position >= flow.declared(from) => {
                    let only = node.latch == NONE || node.latch == from;
                    node.latch = if only { from } else { MANY };
                    if !flow.outline(to).is_loop {
                        let id = self.m.def(self.block(body, to).label).id;
                        self.fault(Rule::BackEdge, flow.outline(from).end_at, Note::Id(id));
                    }
                }
                Color::Grey | Color::Black => {}
            }
        }
    }

    /// Gives each block its construct.
    fn nest(&mut self, flow: &Flow, s: &mut Structure) {
        let doms = &flow.structural_doms;
        let mut too_deep = false;
        for &b in doms.preorder() {
            let dom = doms.idom(b);
            let node = *s.node(b);
            // Nothing dominates the entry, which is in the whole function.
            let above = s.node(dom).inner;
            let mut outer = above;
            let merged = node.merge_of;
            if merged != NONE && merged != b && doms.dominates(merged, b) {
                outer = s.construct(s.node(merged).inner).parent;
            }
            let looped = node.continue_of;
            if looped != NONE && doms.dominates(looped, b) {
                let of_loop = s.node(looped).inner;
                let Construct { parent, merge, .. } = *s.construct(of_loop);
                outer = s.push(Shape::Continue, b, merge, b, parent);
                if let Some(c) = s.constructs.get_mut(outer as usize) {
                    c.of_loop = of_loop;
                }
            } else if node.case && merged != dom {
                let Construct { shape, merge, .. } = *s.construct(above);
                if shape == Shape::Switch {
                    outer = s.push(Shape::Case, b, merge, NONE, above);
                }
            }
            let block = flow.outline(b);
            let mut inner = outer;
            if block.merge_at != 0 {
                let shape = match block.ends {
                    _ if block.is_loop => Shape::Loop,
                    Ends::Switch => Shape::Switch,
                    Ends::Conditional | Ends::Otherwise => Shape::Selection,
                };
                inner = s.push(shape, b, block.merge, block.target, outer);
                let depth = s.construct(inner).depth;
                if depth > MAX_DEPTH && !too_deep {
                    too_deep = true;
                    let note = Note::Limit(u64::from(depth), 1023);
                    self.fault(Rule::NestingDepth, block.merge_at, note);
                }
            }
            if let Some(node) = s.node_mut(b) {
                node.outer = outer;
                node.inner = inner;
            }
        }
    }

    /// Judges every branch between blocks that the entry reaches structurally.
    fn branches(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        for (b, block) in (0..).zip(&flow.blocks) {
            if !flow.structural_doms.reaches(b) {
                continue;
            }
            let end = block.end_at;
            let around = s.construct(s.node(b).inner).inside_continue;
            if around != 0 && flow.structural.succs(b).is_empty() {
                let header = s.construct(around).header;
                let id = self.m.def(self.block(body, header).label).id;
                self.fault(Rule::ContinuePostDominated, end, Note::Id(id));
            }
            for &to in flow.graph.succs(b) {
                if let Some(rule) = judge(s, b, to) {
                    let id = self.m.def(self.block(body, to).label).id;
                    self.fault(rule, end, Note::Id(id));
                }
            }
        }
    }

    /// Falling through cases.
    fn switches(&mut self, body: Body, flow: &Flow, s: &mut Structure) {
        for (b, block) in (0..).zip(&flow.blocks) {
            let is_header = block.merge_at != 0 && block.end_at != 0;
            if is_header
                && flow.structural_doms.reaches(b)
                && s.construct(s.node(b).inner).shape == Shape::Switch
            {
                self.switch(body, flow, s, b);
            }
        }
    }

    fn switch(&mut self, body: Body, flow: &Flow, s: &mut Structure, header: u32) {
        let targets = flow.graph.succs(header);
        let end = flow.outline(header).end_at;
        let merge = s.construct(s.node(header).inner).merge;
        let Some((&default, cases)) = targets.split_first() else {
            return;
        };
        for &to in targets {
            if to != merge && !flow.structural_doms.dominates(header, to) {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchCase, end, Note::Id(id));
            }
        }
        if targets.iter().all(|&t| s.node(t).falls == NONE) {
            return;
        }
        if targets.iter().any(|&t| s.node(t).falls == MANY) {
            return self.fault(Rule::SwitchFallThrough, end, Note::None);
        }
        // Where the run of equal targets that each one is in ends.
        s.run_end.clear();
        s.run_end.resize(targets.len(), 0);
        let mut next = targets.len();
        for (i, end) in s.run_end.iter_mut().enumerate().rev() {
            if i + 1 < targets.len() && targets.get(i) != targets.get(i + 1) {
                next = i + 1;
            }
            *end = next;
        }
        let default_again = cases.contains(&default);
        let mut default_falls = NONE;
        for (i, &to) in targets.iter().enumerate() {
            if to == merge {
                continue;
            }
            let mut falls = s.node(to).falls;
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
            let next = s.run_end.get(i).and_then(|&next| targets.get(next));
            if next != Some(&falls) {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchFallThrough, end, Note::Id(id));
            }
        }
        for &to in targets {
            if s.node(to).fallen > 1 {
                let id = self.m.def(self.block(body, to).label).id;
                return self.fault(Rule::SwitchFallThrough, end, Note::Id(id));
            }
        }
    }

    /// Conditional branches without a merge instruction have to be exits.
    fn selections(&mut self, flow: &Flow, s: &mut Structure) {
        let Structure {
            nodes, postorder, ..
        } = s;
        let mut see = |block: u32| match nodes.get_mut(block as usize) {
            Some(node) => std::mem::replace(&mut node.seen, true),
            None => false,
        };
        for &b in postorder.iter().rev() {
            let block = flow.outline(b);
            see(block.merge);
            see(block.target);
            let merges = block.merge_at != 0 && !block.is_loop;
            let needs = match block.ends {
                Ends::Conditional => {
                    let mut unseen = true;
                    for &to in flow.graph.succs(b) {
                        unseen &= !see(to);
                    }
                    unseen
                }
                Ends::Switch => {
                    for &to in flow.graph.succs(b) {
                        see(to);
                    }
                    true
                }
                Ends::Otherwise => false,
            };
            if needs && !merges {
                self.fault(Rule::SelectionMerge, block.end_at, Note::None);
            }
        }
    }
}

/// Which blocks are cases: of those that a switch dominates, its targets. The others may be
/// joins.
fn cases(flow: &Flow, s: &mut Structure) {
    for (b, node) in (0..).zip(&mut s.nodes) {
        let dom = flow.structural_doms.idom(b);
        node.case = flow.outline(dom).ends == Ends::Switch && flow.graph.preds(b).contains(&dom);
    }
}

/// Whether a branch keeps to the constructs; the rule that it breaks if it does not.
fn judge(s: &mut Structure, b: u32, to: u32) -> Option<Rule> {
    let inner = s.node(b).inner;
    let from = *s.construct(inner);
    // A header that is its own continue target is a continue construct, with the exits of one.
    let alone = from.shape == Shape::Loop && from.target == b && s.node(b).latch == b;
    // Into the same construct, be it to a nested header.
    if s.node(to).outer == inner && !alone {
        let own = s.construct(s.node(to).inner);
        if own.shape != Shape::Loop || own.header != to || s.node(to).latch != b {
            return None;
        }
    }
    // The back edge, from the continue construct or from the only block of its loop.
    let own = s.construct(s.node(to).inner);
    if own.shape == Shape::Loop && own.header == to && s.node(to).latch == b {
        let of_loop = s.node(to).inner;
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
    let merged = s.node(to).merge_of;
    if merged != NONE {
        let left = s.node(merged).inner;
        let loop_left = if scope.shape == Shape::Continue {
            scope.of_loop
        } else {
            from.scope
        };
        let is_loop = loop_left != 0 && left == loop_left;
        // A header that nothing reaches is in no construct, and merges nothing.
        if left != 0 && (left == inner || is_loop || (from.switch != 0 && left == from.switch)) {
            // Only the back-edge block leaves a continue construct.
            if is_loop && scope.shape == Shape::Continue {
                let latch = s.node(s.construct(loop_left).header).latch;
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
    let target = s.construct(s.node(to).outer);
    if target.shape == Shape::Continue && target.header == to {
        return Some(Rule::ContinueFromLoop);
    }
    if target.shape == Shape::Case && target.header == to {
        // The switch itself, or the case before it.
        if target.parent == inner && from.header == b {
            return None;
        }
        if from.shape == Shape::Case && from.parent == target.parent {
            let falls = s.node(from.header).falls;
            let new = if falls == NONE || falls == to {
                to
            } else {
                MANY
            };
            if falls == NONE
                && let Some(node) = s.node_mut(to)
            {
                node.fallen += 1;
            }
            if let Some(node) = s.node_mut(from.header) {
                node.falls = new;
            }
            return None;
        }
    }
    if s.contains(s.node(to).outer, inner) {
        Some(Rule::ConstructExit)
    } else {
        Some(Rule::ConstructEntry)
    }
}
