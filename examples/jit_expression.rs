//! An arithmetic expression, given at run time, becomes a kernel and runs over arrays.
//!
//! ```text
//! cargo run --release --example jit_expression -- "sqrt(x*x + y*y) * 0.5"
//! ```
//!
//! Names are arrays of numbers. There are `+ - * /`, parentheses, `sqrt abs floor ceil trunc round min max clamp fma`. The
//! kernel runs on the CUDA driver where there is one and on the reference executor otherwise, and its results are compared
//! with those of a plain evaluation, bit for bit.

use kernite::kernel::Value;
use kernite::pipeline::{Arg, Config, KernelPipeline, Options};
use kernite::verify::VerifyError;
use kernite::{Access, Kernel, KernelBuilder, Type};
use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::Instant;

/// Functions and operators by name, with the number of their operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    Abs,
    Floor,
    Ceil,
    Trunc,
    Round,
    Min,
    Max,
    Clamp,
    Fma,
}

const FUNCTIONS: [(&str, Op, usize); 10] = [
    ("sqrt", Op::Sqrt, 1),
    ("abs", Op::Abs, 1),
    ("floor", Op::Floor, 1),
    ("ceil", Op::Ceil, 1),
    ("trunc", Op::Trunc, 1),
    ("round", Op::Round, 1),
    ("min", Op::Min, 2),
    ("max", Op::Max, 2),
    ("clamp", Op::Clamp, 3),
    ("fma", Op::Fma, 3),
];

/// An expression in postfix order: what comes first is computed first, so nothing recurses after parsing.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Number(f32),
    /// An array, by number.
    Array(usize),
    Op(Op),
}

#[derive(Debug, Default)]
struct Expression {
    steps: Vec<Step>,
    arrays: Vec<String>,
}

/// What is wrong with an expression, and where.
#[derive(Debug)]
struct SyntaxError {
    column: usize,
    what: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl Error for SyntaxError {}

/// The deepest nesting of parentheses and signs that is read.
const DEPTH: usize = 200;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    expression: Expression,
}

impl<'a> Parser<'a> {
    fn parse(text: &'a str) -> Result<Expression, SyntaxError> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
            expression: Expression::default(),
        };
        parser.sum()?;
        match parser.peek() {
            None => Ok(parser.expression),
            Some(c) => Err(parser.error(format!("an operator is expected, {c:?} was found"))),
        }
    }

    fn error(&self, what: impl Into<String>) -> SyntaxError {
        let column = self.text[..self.at].chars().count() + 1;
        SyntaxError {
            column,
            what: what.into(),
        }
    }

    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), SyntaxError> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.error(format!("{wanted:?} is expected")))
        }
    }

    fn push(&mut self, step: Step) {
        self.expression.steps.push(step);
    }

    fn sum(&mut self) -> Result<(), SyntaxError> {
        self.product()?;
        loop {
            let op = match self.peek() {
                Some('+') => Op::Add,
                Some('-') => Op::Sub,
                _ => return Ok(()),
            };
            self.at += 1;
            self.product()?;
            self.push(Step::Op(op));
        }
    }

    fn product(&mut self) -> Result<(), SyntaxError> {
        self.factor()?;
        loop {
            let op = match self.peek() {
                Some('*') => Op::Mul,
                Some('/') => Op::Div,
                _ => return Ok(()),
            };
            self.at += 1;
            self.factor()?;
            self.push(Step::Op(op));
        }
    }

    fn factor(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.error(format!("nested deeper than {DEPTH}")));
        }
        match self.peek() {
            Some('-') => {
                self.at += 1;
                self.factor()?;
                self.push(Step::Op(Op::Neg));
            }
            Some('(') => {
                self.at += 1;
                self.sum()?;
                self.expect(')')?;
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => self.name()?,
            Some(c) => {
                return Err(self.error(format!("a number or a name is expected, {c:?} was found")));
            }
            None => return Err(self.error("a number or a name is expected")),
        }
        self.depth -= 1;
        Ok(())
    }

    /// The longest piece from here on whose characters `belong`.
    fn piece(&mut self, belong: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !belong(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let mut piece = self.piece(|c| c.is_ascii_digit() || c == '.');
        if self.text[self.at..].starts_with(['e', 'E']) {
            self.at += 1;
            if self.text[self.at..].starts_with(['+', '-']) {
                self.at += 1;
            }
            self.piece(|c| c.is_ascii_digit());
            piece = &self.text[start..self.at];
        }
        match piece.parse() {
            Ok(number) => self.push(Step::Number(number)),
            Err(_) => {
                self.at = start;
                return Err(self.error(format!("{piece:?} is no number")));
            }
        }
        Ok(())
    }

    fn name(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let name = self.piece(|c| c.is_alphanumeric() || c == '_');
        if !self.take('(') {
            let arrays = &mut self.expression.arrays;
            let number = arrays
                .iter()
                .position(|known| known == name)
                .unwrap_or_else(|| {
                    arrays.push(name.to_owned());
                    arrays.len() - 1
                });
            self.push(Step::Array(number));
            return Ok(());
        }
        let Some(&(_, op, operands)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let known: Vec<_> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
            self.at = start;
            return Err(self.error(format!(
                "there is no function {name:?}; there are {}",
                known.join(" ")
            )));
        };
        for n in 0..operands {
            if n > 0 {
                self.expect(',')?;
            }
            self.sum()?;
        }
        self.expect(')')?;
        self.push(Step::Op(op));
        Ok(())
    }
}

/// Takes `N` operands off a stack, in order. Parsing has put them there.
fn operands<T: Copy, const N: usize>(stack: &mut Vec<T>) -> [T; N] {
    let rest = stack.split_off(stack.len() - N);
    std::array::from_fn(|n| rest[n])
}

/// The kernel: one buffer for each array, one for the results, one thread an element.
fn kernel(expression: &Expression) -> Result<Kernel, VerifyError> {
    let mut b = KernelBuilder::new("expression", [256, 1, 1]);
    let arrays = expression.arrays.iter();
    let arrays: Vec<_> = arrays
        .map(|name| b.buffer(name, Type::F32, Access::Read))
        .collect();
    let out = b.buffer("out", Type::F32, Access::Write);
    let (i, n) = (b.global_id(0), b.array_length(out));
    let inside = b.lt(i, n);
    b.when(inside, |b| {
        let loaded: Vec<Value> = arrays.iter().map(|&array| b.load(array, i)).collect();
        let mut stack: Vec<Value> = Vec::new();
        for step in &expression.steps {
            let value = match *step {
                Step::Number(number) => b.constant(number),
                Step::Array(number) => loaded[number],
                Step::Op(op) => build(b, op, &mut stack),
            };
            stack.push(value);
        }
        let [result] = operands(&mut stack);
        b.store(out, i, result);
    });
    b.finish()
}

fn build(b: &mut KernelBuilder, op: Op, stack: &mut Vec<Value>) -> Value {
    type Unary = fn(&mut KernelBuilder, Value) -> Value;
    type Binary = fn(&mut KernelBuilder, Value, Value) -> Value;
    type Ternary = fn(&mut KernelBuilder, Value, Value, Value) -> Value;
    let mut unary = |f: Unary, b: &mut KernelBuilder| {
        let [x] = operands(stack);
        f(b, x)
    };
    match op {
        Op::Neg => unary(KernelBuilder::neg, b),
        Op::Sqrt => unary(KernelBuilder::sqrt, b),
        Op::Abs => unary(KernelBuilder::abs, b),
        Op::Floor => unary(KernelBuilder::floor, b),
        Op::Ceil => unary(KernelBuilder::ceil, b),
        Op::Trunc => unary(KernelBuilder::trunc, b),
        Op::Round => unary(KernelBuilder::round_even, b),
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Min | Op::Max => {
            let f: Binary = match op {
                Op::Add => KernelBuilder::add,
                Op::Sub => KernelBuilder::sub,
                Op::Mul => KernelBuilder::mul,
                Op::Div => KernelBuilder::div,
                Op::Min => KernelBuilder::min,
                _ => KernelBuilder::max,
            };
            let [x, y] = operands(stack);
            f(b, x, y)
        }
        Op::Clamp | Op::Fma => {
            let f: Ternary = if op == Op::Fma {
                KernelBuilder::fma
            } else {
                KernelBuilder::clamp
            };
            let [x, y, z] = operands(stack);
            f(b, x, y, z)
        }
    }
}

/// The plain evaluation of one element.
fn evaluate(expression: &Expression, inputs: &[Vec<f32>], i: usize, stack: &mut Vec<f32>) -> f32 {
    // The other operand for a NaN, and −0 below +0.
    let min = |x: f32, y: f32| match () {
        () if x.is_nan() || y.is_nan() => x.min(y),
        () if x == y => f32::from_bits(x.to_bits() | y.to_bits()),
        () => x.min(y),
    };
    let max = |x: f32, y: f32| -min(-x, -y);
    stack.clear();
    for step in &expression.steps {
        let value = match *step {
            Step::Number(number) => number,
            Step::Array(number) => inputs[number][i],
            Step::Op(op @ (Op::Clamp | Op::Fma)) => {
                let [x, y, z] = operands(stack);
                if op == Op::Fma {
                    x.mul_add(y, z)
                } else {
                    min(max(x, y), z)
                }
            }
            Step::Op(
                op @ (Op::Neg | Op::Sqrt | Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Round),
            ) => {
                let [x] = operands(stack);
                match op {
                    Op::Neg => -x,
                    Op::Sqrt => x.sqrt(),
                    Op::Abs => x.abs(),
                    Op::Floor => x.floor(),
                    Op::Ceil => x.ceil(),
                    Op::Trunc => x.trunc(),
                    _ => x.round_ties_even(),
                }
            }
            Step::Op(op) => {
                let [x, y] = operands(stack);
                match op {
                    Op::Add => x + y,
                    Op::Sub => x - y,
                    Op::Mul => x * y,
                    Op::Div => x / y,
                    Op::Min => min(x, y),
                    _ => max(x, y),
                }
            }
        };
        stack.push(value);
    }
    let [result] = operands(stack);
    result
}

#[cfg(feature = "cuda")]
fn has_gpu() -> bool {
    kernite::cuda::Driver::load().is_ok_and(|driver| driver.device_count().is_ok_and(|n| n > 0))
}

#[cfg(not(feature = "cuda"))]
fn has_gpu() -> bool {
    false
}

fn run(text: &str) -> Result<(), Box<dyn Error>> {
    let expression = Parser::parse(text)?;
    let start = Instant::now();
    let kernel = kernel(&expression)?;
    let built = start.elapsed();
    let pipeline = KernelPipeline::with_config(Config::default().with_profile(true));
    let artefacts = pipeline.compile(&kernel, &Options::all())?;
    println!(
        "{text}: {} instructions built in {built:.1?}, {} bytes of PTX, {} of SPIR-V",
        kernel.insts().len(),
        artefacts.ptx.as_ref().map_or(0, |ptx| ptx.text.len()),
        artefacts
            .spirv
            .as_ref()
            .map_or(0, |spirv| 4 * spirv.words.len()),
    );

    // Where there is a GPU there are results enough to be worth it.
    let n: usize = if has_gpu() { 1 << 22 } else { 1 << 14 };
    // Numbers of all sizes and both signs, the same each time.
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 65536.0 - 128.0
    };
    let inputs: Vec<Vec<f32>> = expression
        .arrays
        .iter()
        .map(|_| (0..n).map(|_| next()).collect())
        .collect();
    let mut out = vec![0.0f32; n];
    let grid = [u32::try_from(n.div_ceil(256))?, 1, 1];
    // The second run finds the kernel loaded.
    for round in 0..2 {
        let args = inputs.iter().map(Arg::from).chain([Arg::from(&mut out)]);
        let report = pipeline.run(&kernel, grid, &mut args.collect::<Vec<_>>())?;
        if round == 0 {
            println!("ran on {report}");
        }
    }
    println!("{}", pipeline.take_profile());

    let start = Instant::now();
    let mut stack = Vec::new();
    for (i, &got) in out.iter().enumerate() {
        let expected = evaluate(&expression, &inputs, i, &mut stack);
        if got.to_bits() != expected.to_bits() && !(got.is_nan() && expected.is_nan()) {
            let inputs: Vec<f32> = inputs.iter().map(|input| input[i]).collect();
            return Err(format!("element {i}, {inputs:?}: {got} where {expected} is right").into());
        }
    }
    println!(
        "OK: {n} results are right, checked in {:.1?} by plain evaluation",
        start.elapsed()
    );
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(text), None) = (arguments.next(), arguments.next()) else {
        eprintln!("Usage: jit_expression EXPRESSION, such as \"sqrt(x*x + y*y) * 0.5\"");
        return ExitCode::from(2);
    };
    match run(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
