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
    /// By block.
    tree: Vec<Place>,
    /// By number in the depth-first walk of the graph.
    nodes: Vec<Node>,
    /// Blocks of the walk under way, each with where its successors that are left begin.
    stack: Vec<(u32, u32)>,
    path: Vec<u32>,
    /// Blocks of the dominator tree, each after its dominator.
    preorder: Vec<u32>,
}

/// Where a block stands in the tree.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Immediate dominator, [`NONE`] of the entry.
    idom: u32,
    /// Number in a walk of the tree, and the last number below; [`NONE`] of unreachable blocks.
    enter: u32,
    leave: u32,
    /// Number in the depth-first walk of the graph.
    number: u32,
}

const OUTSIDE: Place = Place {
    idom: NONE,
    enter: NONE,
    leave: NONE,
    number: NONE,
};

/// A block of the walk of the graph; all but the first field are numbers of others.
#[derive(Clone, Copy, Debug)]
struct Node {
    block: u32,
    parent: u32,
    semi: u32,
    /// Up the forest of those that are done, [`NONE`] at its roots.
    ancestor: u32,
    /// The one of least semidominator on the way up, as far as that is compressed.
    label: u32,
    /// Those whose semidominator this is, as a list.
    bucket: u32,
    next: u32,
    idom: u32,
    /// How many are below it in the tree, itself included.
    size: u32,
    /// Its next child's number in a walk of the tree.
    enter: u32,
}

impl Dominators {
    fn place(&self, block: u32) -> Place {
        self.tree.get(block as usize).copied().unwrap_or(OUTSIDE)
    }

    /// Whether the entry reaches the block.
    pub(super) fn reaches(&self, block: u32) -> bool {
        self.place(block).number != NONE
    }

    /// Whether `a` dominates `b`: every path to `b` goes through `a`. False where either is
    /// unreachable, but for a block and itself.
    pub(super) fn dominates(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        let (a, b) = (self.place(a), self.place(b));
        let both = a.number != NONE && b.number != NONE;
        both && a.enter <= b.enter && b.enter <= a.leave
    }

    pub(super) fn idom(&self, block: u32) -> u32 {
        self.place(block).idom
    }

    /// The reachable blocks, each after its immediate dominator.
    pub(super) fn preorder(&self) -> &[u32] {
        &self.preorder
    }

    pub(super) fn compute(&mut self, graph: &Graph) {
        self.tree.clear();
        self.tree.resize(graph.len(), OUTSIDE);
        self.nodes.clear();
        self.preorder.clear();
        if graph.len() == 0 {
            return;
        }
        self.walk(graph);
        self.link(graph);
        self.number_tree();
    }

    /// Depth-first numbers.
    fn walk(&mut self, graph: &Graph) {
        self.stack.clear();
        self.visit(graph, 0, 0);
        while let Some((from, next)) = self.stack.last_mut() {
            let from = *from;
            let block = self.nodes.get(from as usize).map_or(NONE, |n| n.block);
            let left = graph.succs(block).get(*next as usize..).unwrap_or_default();
            let new = left.iter().position(|&to| {
                let place = self.tree.get(to as usize);
                place.is_some_and(|p| p.number == NONE)
            });
            match new.and_then(|at| Some((at, *left.get(at)?))) {
                Some((at, to)) => {
                    *next += u32::try_from(at + 1).unwrap_or(0);
                    self.visit(graph, to, from);
                }
                None => {
                    self.stack.pop();
                }
            }
        }
    }

    fn visit(&mut self, graph: &Graph, block: u32, parent: u32) {
        let number = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        if let Some(place) = self.tree.get_mut(block as usize) {
            place.number = number;
        }
        self.nodes.push(Node {
            block,
            parent,
            semi: number,
            ancestor: NONE,
            label: number,
            bucket: NONE,
            next: NONE,
            idom: 0,
            size: 1,
            enter: 0,
        });
        if !graph.succs(block).is_empty() {
            self.stack.push((number, 0));
        }
    }

    fn link(&mut self, graph: &Graph) {
        for w in (1..self.nodes.len()).rev() {
            let Node { block, parent, .. } = self.nodes[w];
            let mut semi = self.nodes[w].semi;
            for &v in graph.preds(block) {
                let v = self.place(v).number;
                if v == NONE {
                    continue;
                }
                // What comes earlier in the walk is not linked yet: it stands for itself.
                let best = if (v as usize) < w { v } else { self.eval(v) };
                semi = semi.min(self.nodes[best as usize].semi);
            }
            self.nodes[w].semi = semi;
            self.nodes[w].ancestor = parent;
            if semi == parent {
                self.nodes[w].idom = parent;
            } else {
                self.nodes[w].next = self.nodes[semi as usize].bucket;
                self.nodes[semi as usize].bucket = w as u32;
            }
            // Those whose semidominator is the parent.
            let mut v = std::mem::replace(&mut self.nodes[parent as usize].bucket, NONE);
            while v != NONE {
                let best = self.eval(v);
                let node = self.nodes[v as usize];
                let lower = self.nodes[best as usize].semi < node.semi;
                self.nodes[v as usize].idom = if lower { best } else { parent };
                v = node.next;
            }
        }
        for w in 1..self.nodes.len() {
            let node = self.nodes[w];
            if node.idom != node.semi {
                self.nodes[w].idom = self.nodes[node.idom as usize].idom;
            }
        }
    }

    /// The one of least semidominator on the path up from `v`, compressing that path.
    fn eval(&mut self, v: u32) -> u32 {
        let nodes = &mut self.nodes;
        let up = nodes[v as usize].ancestor;
        if up == NONE || nodes[up as usize].ancestor == NONE {
            return nodes[v as usize].label;
        }
        self.path.clear();
        let mut at = v;
        loop {
            let up = nodes[at as usize].ancestor;
            if nodes[up as usize].ancestor == NONE {
                break;
            }
            self.path.push(at);
            at = up;
        }
        while let Some(at) = self.path.pop() {
            let node = nodes[at as usize];
            let up = nodes[node.ancestor as usize];
            if nodes[up.label as usize].semi < nodes[node.label as usize].semi {
                nodes[at as usize].label = up.label;
            }
            nodes[at as usize].ancestor = up.ancestor;
        }
        nodes[v as usize].label
    }

    /// Numbers the tree, so that dominance is two comparisons. Dominators come before what they
    /// dominate in the walk of the graph.
    fn number_tree(&mut self) {
        for w in (1..self.nodes.len()).rev() {
            let Node { idom, size, .. } = self.nodes[w];
            self.nodes[idom as usize].size += size;
        }
        self.preorder.resize(self.nodes.len(), 0);
        for w in 0..self.nodes.len() {
            let Node {
                block, idom, size, ..
            } = self.nodes[w];
            let above = &mut self.nodes[idom as usize];
            let enter = above.enter;
            let idom = if w == 0 { NONE } else { above.block };
            // The root, which stands above itself, begins with itself.
            above.enter += if w == 0 { 1 } else { size };
            if w != 0 {
                self.nodes[w].enter = enter + 1;
            }
            self.preorder[enter as usize] = block;
            if let Some(place) = self.tree.get_mut(block as usize) {
                place.idom = idom;
                place.enter = enter;
                place.leave = enter + size - 1;
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
