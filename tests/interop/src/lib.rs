//! What the tests of this member share: two kernels with their inputs, and what the reference executor makes of them.
//! Each test gives them to another crate with nothing but the words and the signature.
#![forbid(unsafe_code)]

use kernite::builder::{BufferOptions, KernelBuilder, Scan};
use kernite::kernel::{Kernel, ParameterKind, Signature};
use kernite::reference::{Arg, Buffer, Executor, Launch, Options, compare};
use kernite::types::{Access, Const, Type};

/// Threads that have an element; no multiple of the workgroup.
pub const N: u32 = 150;

/// A launch: a kernel, its workgroups and its arguments in the order of the parameters.
pub struct Case {
    /// The kernel.
    pub kernel: Kernel,
    /// Workgroups.
    pub grid: [u32; 3],
    /// The arguments.
    pub args: Vec<Value>,
}

/// An argument.
#[derive(Clone)]
pub enum Value {
    /// A buffer's elements and their type.
    Buffer(Type, Vec<u8>),
    /// A scalar.
    Scalar(Const),
}

impl Case {
    /// The bytes of every buffer after a run on the reference executor.
    ///
    /// # Panics
    /// The executor finds a fault.
    pub fn reference(&self, subgroup_size: u32) -> Vec<Vec<u8>> {
        let mut options = Options::default();
        options.subgroup_size = subgroup_size;
        let mut args: Vec<Arg> = Vec::new();
        for value in &self.args {
            args.push(match value {
                Value::Buffer(ty, bytes) => match Buffer::from_bytes(*ty, bytes) {
                    Ok(buffer) => buffer.into(),
                    Err(e) => panic!("{e}"),
                },
                Value::Scalar(value) => (*value).into(),
            });
        }
        if let Err(e) = Executor::new(options).run(&self.kernel, Launch::new(self.grid), &mut args)
        {
            panic!("{e}");
        }
        let buffers = args.iter().filter_map(|arg| arg.buffer());
        buffers.map(|buffer| buffer.bytes().to_vec()).collect()
    }

    /// Compares what came of a launch with what the reference executor makes of it.
    ///
    /// # Panics
    /// They differ.
    #[track_caller]
    pub fn check(&self, got: &[Vec<u8>], subgroup_size: u32) {
        let expected = self.reference(subgroup_size);
        assert_eq!(expected.len(), got.len());
        let buffers = self.kernel.buffers().iter().zip(expected.iter().zip(got));
        for (n, (decl, (expected, got))) in buffers.enumerate() {
            if let Some(difference) = compare(expected, got, decl.elem) {
                panic!("buf{n}: {difference}\n{}", self.kernel);
            }
        }
    }

    /// The buffers' bytes before the launch, in the order of the parameters.
    pub fn buffers(&self) -> Vec<&[u8]> {
        let buffers = self.args.iter().filter_map(|value| match value {
            Value::Buffer(_, bytes) => Some(&bytes[..]),
            Value::Scalar(_) => None,
        });
        buffers.collect()
    }
}

/// `y[i] = factor * x[i] + y[i]` for the elements that there are.
pub fn saxpy() -> Case {
    let mut b = KernelBuilder::new("saxpy", [64, 1, 1]);
    let x = b.buffer("x", Type::F32, Access::Read);
    let y = b.buffer("y", Type::F32, Access::ReadWrite);
    let (factor, n) = (b.scalar("factor", Type::F32), b.scalar("n", Type::U32));
    let (i, end) = (b.global_id(0), b.param(n));
    let inside = b.lt(i, end);
    b.when(inside, |b| {
        let (factor, xi, yi) = (b.param(factor), b.load(x, i), b.load(y, i));
        let product = b.mul(factor, xi);
        let sum = b.add(product, yi);
        b.store(y, i, sum);
    });
    let scalars = [Const::from(1.5f32), Const::from(N)];
    case(finish(b), vec![floats(0.25), floats(-3.0)], &scalars)
}

/// Each subgroup's sum of what its threads have, and that sum shifted in f64. Asks for full subgroups and
/// `shaderFloat64`; its scalars are of three sizes, so that the offsets of push constants matter, and its buffers lie in
/// two sets, `totals` at the given binding of the second.
pub fn sums(binding: u32) -> Case {
    let mut b = KernelBuilder::new("sums of \"subgroups\"", [64, 1, 1]);
    let x = b.buffer("x", Type::F32, Access::Read);
    let at = |binding| BufferOptions::new().binding(1, binding);
    let totals = b.buffer_with("totals", Type::F32, Access::Write, at(binding));
    let shifted = b.buffer_with("shifted", Type::F64, Access::Write, at(0));
    let n = b.scalar("n", Type::U32);
    let shift = b.scalar("shift", Type::F64);
    let double = b.scalar("double", Type::BOOL);
    let (i, end) = (b.global_id(0), b.param(n));
    let inside = b.lt(i, end);
    let zero = b.constant(0.0f32);
    let mine = b.var(zero);
    b.when(inside, |b| {
        let xi = b.load(x, i);
        b.set(mine, xi);
    });
    let mine = b.get(mine);
    let sum = b.subgroup_add(mine, Scan::Reduce);
    let (twice, double) = (b.add(sum, sum), b.param(double));
    let sum = b.select(double, twice, sum);
    b.when(inside, |b| {
        b.store(totals, i, sum);
        let (wide, shift) = (b.convert(sum, Type::F64), b.param(shift));
        let moved = b.add(wide, shift);
        b.store(shifted, i, moved);
    });
    let zeros = |ty: Type| Value::Buffer(ty, vec![0; N as usize * ty.bytes() as usize]);
    let scalars = [
        Const::from(N),
        Const::from(-1.0f64 / 3.0),
        Const::from(true),
    ];
    let buffers = vec![floats(0.125), zeros(Type::F32), zeros(Type::F64)];
    case(finish(b), buffers, &scalars)
}

fn finish(mut b: KernelBuilder) -> Kernel {
    b.finish().unwrap_or_else(|e| panic!("{e}"))
}

/// `N` floats, no two the same.
fn floats(step: f32) -> Value {
    let floats = (0..N).map(|i| (i as f32 - 40.0) * step);
    Value::Buffer(Type::F32, floats.flat_map(f32::to_le_bytes).collect())
}

fn case(kernel: Kernel, mut args: Vec<Value>, scalars: &[Const]) -> Case {
    args.extend(scalars.iter().copied().map(Value::Scalar));
    let grid = [N.div_ceil(kernel.workgroup_threads()), 1, 1];
    Case { kernel, grid, args }
}

/// The block of push constants, as the signature lays it out.
///
/// # Panics
/// The arguments are not those of the signature.
pub fn push_constants(signature: &Signature, args: &[Value]) -> Vec<u8> {
    let mut block = vec![0; signature.push_constant_bytes.next_multiple_of(4) as usize];
    for (param, arg) in signature.params.iter().zip(args) {
        match (param.kind, arg) {
            (
                ParameterKind::Scalar {
                    ty,
                    push_constant_offset,
                },
                Value::Scalar(value),
            ) => {
                // Narrower ones and `bool` are widened to 32 bits.
                let size = ty.bytes().max(4) as usize;
                let at = push_constant_offset as usize;
                block[at..at + size].copy_from_slice(&value.bits().to_le_bytes()[..size]);
            }
            (ParameterKind::Buffer { .. }, Value::Buffer(..)) => {}
            (kind, _) => panic!("no argument for {kind:?}"),
        }
    }
    block
}
