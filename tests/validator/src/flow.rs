//! Functions that are nothing but control flow: a notation for their blocks, and random ones.

use crate::asm;
use crate::mutate::Random;
use std::fmt::Write as _;

const HEAD: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%n = OpConstant %u32 0
%yes = OpConstantTrue %bool
%main = OpFunction %void None %fn
";

/// A module with a function of blocks such as `1 loop 4 3: if 2 4; 2: to 3; 3: to 1; 4: ret`: a block's number, `loop MERGE
/// CONTINUE` or `sel MERGE` if it is a header, and its end: `to N`, `if N M`, `switch DEFAULT CASE...`, `ret` or `dead`.
///
/// # Panics
///
/// On anything else.
pub fn module(blocks: &str) -> Vec<u32> {
    let mut text = HEAD.to_owned();
    for block in blocks.split(';') {
        let (head, end) = block.split_once(':').expect("a head and an end");
        let head: Vec<&str> = head.split_whitespace().collect();
        let end: Vec<&str> = end.split_whitespace().collect();
        let _ = match head[..] {
            [label] => writeln!(text, "%b{label} = OpLabel"),
            [label, "sel", merge] => {
                writeln!(text, "%b{label} = OpLabel\nOpSelectionMerge %b{merge} None")
            }
            [label, "loop", merge, target] => writeln!(
                text,
                "%b{label} = OpLabel\nOpLoopMerge %b{merge} %b{target} None"
            ),
            _ => panic!("{block}: no head"),
        };
        let _ = match end[..] {
            ["ret"] => writeln!(text, "OpReturn"),
            ["dead"] => writeln!(text, "OpUnreachable"),
            ["to", to] => writeln!(text, "OpBranch %b{to}"),
            ["if", yes, no] => writeln!(text, "OpBranchConditional %yes %b{yes} %b{no}"),
            ["switch", default, ref cases @ ..] => {
                let _ = write!(text, "OpSwitch %n %b{default}");
                for (value, case) in cases.iter().enumerate() {
                    let _ = write!(text, " {value} %b{case}");
                }
                writeln!(text)
            }
            _ => panic!("{block}: no end"),
        };
    }
    text.push_str("OpFunctionEnd\n");
    asm::assemble(&text)
}

#[derive(Clone, Debug)]
struct Block {
    label: usize,
    /// `sel` and its merge block, or `loop`, its merge block and its continue target.
    head: Vec<usize>,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Return,
    Dead,
    To(usize),
    If(usize, usize),
    Switch(Vec<usize>),
}

/// Where a statement may leave to.
#[derive(Clone, Copy, Default)]
struct Around {
    break_: Option<usize>,
    continue_: Option<usize>,
    switch: Option<usize>,
    in_continue: bool,
}

struct Generator {
    random: Random,
    labels: usize,
    blocks: Vec<Block>,
}

/// Random blocks in the notation of [`module`], nested as the specification wants, and in most cases with a change or two
/// that may break that.
pub fn random(seed: u64) -> String {
    let mut g = Generator {
        random: Random::new(seed),
        labels: 1,
        blocks: Vec::new(),
    };
    let mut open = 1;
    for _ in 0..=g.random.below(2) {
        let depth = 1 + g.random.below(3);
        open = g.statement(open, depth, Around::default());
    }
    g.close(open, End::Return);
    for _ in 0..g.random.below(3) {
        g.change();
    }
    let mut text = String::new();
    for (i, block) in g.blocks.iter().enumerate() {
        let semicolon = if i == 0 { "" } else { "; " };
        let _ = write!(text, "{semicolon}{}", block.label);
        let _ = match block.head[..] {
            [merge] => write!(text, " sel {merge}"),
            [merge, target] => write!(text, " loop {merge} {target}"),
            _ => Ok(()),
        };
        let _ = match &block.end {
            End::Return => write!(text, ": ret"),
            End::Dead => write!(text, ": dead"),
            End::To(to) => write!(text, ": to {to}"),
            End::If(yes, no) => write!(text, ": if {yes} {no}"),
            End::Switch(to) => {
                let to: Vec<String> = to.iter().map(usize::to_string).collect();
                write!(text, ": switch {}", to.join(" "))
            }
        };
    }
    text
}

impl Generator {
    fn new_label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    fn close(&mut self, label: usize, end: End) {
        self.header(label, Vec::new(), end);
    }

    fn header(&mut self, label: usize, head: Vec<usize>, end: End) {
        self.blocks.push(Block { label, head, end });
    }

    /// Goes on to `next`, or leaves.
    fn leave(&mut self, from: usize, around: Around, next: usize) {
        let ways: Vec<usize> = [around.break_, around.continue_, around.switch]
            .into_iter()
            .flatten()
            .collect();
        let way = |g: &mut Generator| ways[g.random.below(ways.len())];
        let end = match self.random.below(100) {
            0..10 if !around.in_continue => End::Return,
            10..15 if !around.in_continue => End::Dead,
            15..30 if !ways.is_empty() => End::To(way(self)),
            30..40 if !ways.is_empty() => End::If(way(self), next),
            40..50 if !ways.is_empty() => End::If(next, way(self)),
            _ => End::To(next),
        };
        self.close(from, end);
    }

    /// Up to two statements, and on to `next`.
    fn sequence(&mut self, mut open: usize, depth: usize, around: Around, next: usize) {
        for _ in 0..self.random.below(3) {
            open = self.statement(open, depth, around);
        }
        self.leave(open, around, next);
    }

    /// A statement that begins in the block `open`; the block that it leaves open.
    fn statement(&mut self, open: usize, depth: usize, around: Around) -> usize {
        let merge = self.new_label();
        match if depth == 0 { 0 } else { self.random.below(6) } {
            1 => {
                let yes = self.new_label();
                let no = if self.chance(50) {
                    self.new_label()
                } else {
                    merge
                };
                self.header(open, vec![merge], End::If(yes, no));
                self.sequence(yes, depth - 1, around, merge);
                if no != merge {
                    self.sequence(no, depth - 1, around, merge);
                }
            }
            2 => {
                let mut cases: Vec<usize> = (0..=self.random.below(3))
                    .map(|_| self.new_label())
                    .collect();
                let mut targets = cases.clone();
                if self.chance(50) {
                    targets.insert(0, merge);
                } else if self.chance(50) {
                    cases.rotate_left(1);
                }
                self.header(open, vec![merge], End::Switch(targets));
                let inside = Around {
                    switch: Some(merge),
                    ..around
                };
                for (i, &case) in cases.iter().enumerate() {
                    let through = cases.get(i + 1).copied().filter(|_| self.chance(30));
                    self.sequence(case, depth - 1, inside, through.unwrap_or(merge));
                }
            }
            3 => {
                let head = self.new_label();
                self.close(open, End::To(head));
                let end = if self.chance(50) {
                    End::If(head, merge)
                } else {
                    End::If(merge, head)
                };
                self.header(head, vec![merge, head], end);
            }
            4 | 5 => {
                let (head, target, body) = (self.new_label(), self.new_label(), self.new_label());
                self.close(open, End::To(head));
                let end = match self.random.below(4) {
                    0 => End::If(body, merge),
                    1 => End::If(merge, body),
                    2 => End::If(body, target),
                    _ => End::To(body),
                };
                self.header(head, vec![merge, target], end);
                let inside = Around {
                    break_: Some(merge),
                    continue_: Some(target),
                    switch: None,
                    in_continue: around.in_continue,
                };
                self.sequence(body, depth - 1, inside, target);
                let mut latch = target;
                if self.chance(50) {
                    let inside = Around {
                        in_continue: true,
                        ..Around::default()
                    };
                    latch = self.statement(latch, depth - 1, inside);
                }
                let end = match self.random.below(6) {
                    0 => End::If(head, merge),
                    1 => End::If(merge, head),
                    _ => End::To(head),
                };
                self.close(latch, end);
            }
            _ => self.leave(open, around, merge),
        }
        merge
    }

    /// Changes a branch, a merge instruction or the order of blocks.
    fn change(&mut self) {
        let count = self.blocks.len();
        let labels: [usize; 3] = std::array::from_fn(|_| {
            // Nothing may name the entry block.
            let at = 1 + self.random.below(count - 1);
            self.blocks[at].label
        });
        let [a, b, c] = labels;
        let (at, kind) = (self.random.below(count), self.random.below(7));
        let block = &mut self.blocks[at];
        match (kind, &block.end) {
            (0, _) => block.head.clear(),
            (1, _) => block.head = if a < b { vec![a] } else { vec![a, b] },
            (2, End::To(_)) => block.end = End::To(a),
            (3, End::If(_, no)) => block.end = End::If(a, *no),
            (4, _) => block.end = End::If(a, b),
            (5, _) => block.end = End::Switch(vec![a, b, c]),
            (6, _) if at != 0 && at + 1 < count => self.blocks.swap(at, at + 1),
            _ => block.end = End::Return,
        }
    }
}
