//! Dominators of a function's blocks: Lengauer and Tarjan's algorithm with path compression,
//! O(edges · log blocks) on any graph, without recursion.

/// A graph of blocks `0..n`, as lists of successors in one vector.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// `targets[starts[b]..starts[b + 1]]` are the successors of block `b`.
    starts: Vec<u32>,
    targets: Vec<u32>,
    pred_starts: Vec<u32>,
    preds: Vec<u32>,
    cursor: Vec<u32>,
}

impl Graph {
    pub(super) fn clear(&mut self) {
        let Graph {
            starts,
            targets,
            pred_starts,
            preds,
            cursor,
        } = self;
        starts.clear();
        starts.push(0);
        targets.clear();
        pred_starts.clear();
        preds.clear();
        cursor.clear();
    }

    /// An edge from the block that [`Graph::end_block`] will end.
    pub(super) fn edge(&mut self, to: u32) {
        self.targets.push(to);
    }

    pub(super) fn end_block(&mut self) {
        self.starts
            .push(u32::try_from(self.targets.len()).unwrap_or(u32::MAX));
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn succs(&self, block: u32) -> &[u32] {
        slice(&self.starts, &self.targets, block)
    }

    /// The sources of edges to a block, one for each edge.
    pub(super) fn preds(&self, block: u32) -> &[u32] {
        slice(&self.pred_starts, &self.preds, block)
    }

    /// Fills the lists of predecessors, after the last block.
    pub(super) fn invert(&mut self) {
        let n = self.len();
        self.pred_starts.clear();
        self.pred_starts.resize(n + 1, 0);
        for &to in &self.targets {
            if let Some(count) = self.pred_starts.get_mut(to as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.pred_starts {
            sum += *start;
            *start = sum;
        }
        self.cursor.clone_from(&self.pred_starts);
        self.preds.clear();
        self.preds.resize(self.targets.len(), 0);
        for from in 0..u32::try_from(n).unwrap_or(0) {
            for &to in slice(&self.starts, &self.targets, from) {
                let Some(cursor) = self.cursor.get_mut(to as usize) else {
                    continue;
                };
                if let Some(slot) = self.preds.get_mut(*cursor as usize) {
                    *slot = from;
                }
                *cursor += 1;
            }
        }
    }
}

fn slice<'a>(starts: &[u32], all: &'a [u32], block: u32) -> &'a [u32] {
    let b = block as usize;
    match (starts.get(b), starts.get(b + 1)) {
        (Some(&from), Some(&to)) => all.get(from as usize..to as usize).unwrap_or_default(),
        _ => &[],
    }
}

/// No block.
pub(super) const NONE: u32 = u32::MAX;

/// The dominator tree of the blocks that block 0 reaches.
#[derive(Debug, Default)]
pub(super) struct Dominators {
    /// Immediate dominator of each block, [`NONE`] of the entry and of unreachable ones.
    idom: Vec<u32>,
    /// Number in a walk of the dominator tree, and the last number below.
    enter: Vec<u32>,
    leave: Vec<u32>,
    /// Blocks in the order of the depth-first walk of the graph.
    order: Vec<u32>,
    number: Vec<u32>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    label: Vec<u32>,
    bucket: Vec<u32>,
    bucket_next: Vec<u32>,
    stack: Vec<(u32, u32)>,
    path: Vec<u32>,
    child: Vec<u32>,
    sibling: Vec<u32>,
    /// Blocks of the dominator tree, each after its dominator.
    preorder: Vec<u32>,
}

fn get(v: &[u32], i: u32) -> u32 {
    v.get(i as usize).copied().unwrap_or(NONE)
}

fn set(v: &mut [u32], i: u32, value: u32) {
    if let Some(slot) = v.get_mut(i as usize) {
        *slot = value;
    }
}

fn fill(v: &mut Vec<u32>, n: usize, value: u32) {
    v.clear();
    v.resize(n, value);
}

impl Dominators {
    /// Whether the entry reaches the block.
    pub(super) fn reaches(&self, block: u32) -> bool {
        get(&self.number, block) != NONE
    }

    /// Whether `a` dominates `b`: every path to `b` goes through `a`. False where either is
    /// unreachable, but for a block and itself.
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        if !self.reaches(a) || !self.reaches(b) {
            return false;
        }
        let (enter, leave, at) = (
            get(&self.enter, a),
            get(&self.leave, a),
            get(&self.enter, b),
        );
        enter <= at && at <= leave
    }

    pub(super) fn idom(&self, block: u32) -> u32 {
        get(&self.idom, block)
    }

    /// The reachable blocks, each after its immediate dominator.
    pub(super) fn preorder(&self) -> &[u32] {
        &self.preorder
    }

    pub(super) fn compute(&mut self, graph: &Graph) {
        let n = graph.len();
        for v in [
            &mut self.idom,
            &mut self.number,
            &mut self.parent,
            &mut self.semi,
            &mut self.ancestor,
            &mut self.label,
            &mut self.bucket,
            &mut self.bucket_next,
            &mut self.child,
            &mut self.sibling,
            &mut self.enter,
            &mut self.leave,
        ] {
            fill(v, n, NONE);
        }
        self.order.clear();
        self.preorder.clear();
        if n == 0 {
            return;
        }
        self.walk(graph);
        self.link(graph);
        self.number_tree();
    }

    /// Depth-first numbers.
    fn walk(&mut self, graph: &Graph) {
        self.stack.clear();
        self.visit(0, NONE);
        while let Some((block, next)) = self.stack.last_mut() {
            let block = *block;
            match graph.succs(block).get(*next as usize) {
                Some(&to) => {
                    *next += 1;
                    if get(&self.number, to) == NONE {
                        self.visit(to, block);
                    }
                }
                None => {
                    self.stack.pop();
                }
            }
        }
    }

    fn visit(&mut self, block: u32, parent: u32) {
        let number = u32::try_from(self.order.len()).unwrap_or(NONE);
        set(&mut self.number, block, number);
        set(&mut self.semi, block, number);
        set(&mut self.label, block, block);
        set(&mut self.parent, block, parent);
        self.order.push(block);
        self.stack.push((block, 0));
    }

    fn link(&mut self, graph: &Graph) {
        for i in (1..self.order.len()).rev() {
            let w = self.order[i];
            let parent = get(&self.parent, w);
            let mut semi = get(&self.semi, w);
            for &v in graph.preds(w) {
                if get(&self.number, v) == NONE {
                    continue;
                }
                let u = self.eval(v);
                semi = semi.min(get(&self.semi, u));
            }
            set(&mut self.semi, w, semi);
            let at = get(&self.order, semi);
            let head = get(&self.bucket, at);
            set(&mut self.bucket_next, w, head);
            set(&mut self.bucket, at, w);
            set(&mut self.ancestor, w, parent);
            // Those whose semidominator is the parent.
            let mut v = get(&self.bucket, parent);
            set(&mut self.bucket, parent, NONE);
            while v != NONE {
                let u = self.eval(v);
                let dom = if get(&self.semi, u) < get(&self.semi, v) {
                    u
                } else {
                    parent
                };
                set(&mut self.idom, v, dom);
                v = get(&self.bucket_next, v);
            }
        }
        for i in 1..self.order.len() {
            let w = self.order[i];
            let dom = get(&self.idom, w);
            if dom != get(&self.order, get(&self.semi, w)) {
                let up = get(&self.idom, dom);
                set(&mut self.idom, w, up);
            }
        }
    }

    /// The block of least semidominator on the path up from `v`, compressing that path.
    fn eval(&mut self, v: u32) -> u32 {
        if get(&self.ancestor, v) == NONE {
            return get(&self.label, v);
        }
        self.path.clear();
        let mut at = v;
        while get(&self.ancestor, get(&self.ancestor, at)) != NONE {
            self.path.push(at);
            at = get(&self.ancestor, at);
        }
        while let Some(at) = self.path.pop() {
            let up = get(&self.ancestor, at);
            let (best, mine) = (get(&self.label, up), get(&self.label, at));
            if get(&self.semi, best) < get(&self.semi, mine) {
                set(&mut self.label, at, best);
            }
            let above = get(&self.ancestor, up);
            set(&mut self.ancestor, at, above);
        }
        get(&self.label, v)
    }

    /// Numbers the tree, so that dominance is two comparisons.
    fn number_tree(&mut self) {
        for i in (1..self.order.len()).rev() {
            let w = self.order[i];
            let dom = get(&self.idom, w);
            let first = get(&self.child, dom);
            set(&mut self.sibling, w, first);
            set(&mut self.child, dom, w);
        }
        self.stack.clear();
        self.stack.push((0, 0));
        let mut count = 0;
        while let Some((block, state)) = self.stack.last_mut() {
            let block = *block;
            if *state == 0 {
                *state = 1;
                set(&mut self.enter, block, count);
                count += 1;
                self.preorder.push(block);
                let child = get(&self.child, block);
                if child != NONE {
                    self.stack.push((child, 0));
                }
            } else {
                set(&mut self.leave, block, count - 1);
                self.stack.pop();
                let sibling = get(&self.sibling, block);
                if sibling != NONE {
                    self.stack.push((sibling, 0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(lists: &[&[u32]]) -> Graph {
        let mut g = Graph::default();
        g.clear();
        for list in lists {
            list.iter().for_each(|&to| g.edge(to));
            g.end_block();
        }
        g.invert();
        g
    }

    /// By definition: `a` dominates `b` if `b` cannot be reached without `a`.
    fn slow(g: &Graph, a: u32, b: u32) -> bool {
        let mut seen = vec![false; g.len()];
        let mut stack = vec![0];
        while let Some(v) = stack.pop() {
            if v == a || std::mem::replace(&mut seen[v as usize], true) {
                continue;
            }
            stack.extend(g.succs(v));
        }
        !seen[b as usize]
    }

    #[test]
    fn dominance_agrees_with_its_definition_on_random_graphs() {
        let mut state = 0x9E37_79B9_u32;
        let mut random = |n: u32| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state % n
        };
        let mut doms = Dominators::default();
        for _ in 0..300 {
            let n = 1 + random(12);
            let lists: Vec<Vec<u32>> = (0..n)
                .map(|_| (0..random(4)).map(|_| random(n)).collect())
                .collect();
            let lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            let g = graph(&lists);
            doms.compute(&g);
            for b in 0..n {
                assert_eq!(
                    g.preds(b).len(),
                    lists
                        .iter()
                        .flat_map(|l| l.iter())
                        .filter(|&&t| t == b)
                        .count()
                );
                for a in (0..n).filter(|&a| doms.reaches(a) && doms.reaches(b)) {
                    assert_eq!(doms.dominates(a, b), slow(&g, a, b), "{lists:?} {a} {b}");
                }
            }
        }
    }

    #[test]
    fn long_chains_take_no_stack() {
        let mut g = Graph::default();
        g.clear();
        let n = 200_000;
        for b in 0..n {
            if b + 1 < n {
                g.edge(b + 1);
                g.edge(n - 1);
            }
            g.end_block();
        }
        g.invert();
        let mut doms = Dominators::default();
        doms.compute(&g);
        assert!(doms.dominates(0, n - 1) && !doms.dominates(n - 2, n - 1));
        assert!(doms.dominates(5, n - 2));
    }
}
