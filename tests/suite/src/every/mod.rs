//! Every opcode on every type of its row, as kernels with the inputs that matter: edges of the types, lanes that are not
//! there, indices beside the array.

mod edges;
mod memory;
mod subgroup;
mod values;

use kernite::builder::KernelBuilder;
use kernite::kernel::{Bounds, Kernel, Value as Id};
use kernite::op::Op;
use kernite::reference::{self, Arg, Buffer, Executor, Launch};
use kernite::types::{Access, Type};
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::coverage::Pair;
use crate::run::{Case, Value};

pub use edges::rows;

/// One opcode on one type, or a few that only work together.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it is, for messages.
    pub name: String,
    /// The opcodes and types that it covers.
    pub covers: Vec<(Op, Type)>,
    /// The kernel; its buffers are its only parameters but for scalars given in `args`.
    pub kernel: Kernel,
    /// Workgroups.
    pub grid: u32,
    /// The arguments.
    pub args: Vec<Value>,
    /// How far a float result may be from the reference, in units in the last place. Vulkan's bounds, not kernite's.
    pub ulps: u64,
    /// The result is what the hardware makes of it: only emitted and validated.
    pub approximate: bool,
    /// Results are compared bit for bit, NaNs included.
    pub bits: bool,
    /// The bounds under which it is emitted.
    pub bounds: Bounds,
}

impl Unit {
    fn new(name: String, covers: Vec<(Op, Type)>, kernel: Kernel, args: Vec<Value>) -> Unit {
        Unit {
            name,
            covers,
            kernel,
            grid: 1,
            args,
            ulps: 0,
            approximate: false,
            bits: false,
            bounds: Bounds::Unchecked,
        }
    }

    /// The contents of every buffer after a run on the reference executor, whose checks are those that the unit keeps to.
    ///
    /// # Panics
    /// The executor finds a fault, which would be one of the unit.
    pub fn reference(&self, subgroup_size: u32) -> Vec<Vec<u8>> {
        let mut options = reference::Options::default();
        options.subgroup_size = subgroup_size;
        options.checks.bounds = self.bounds == Bounds::Unchecked;
        options.checks.assume_uniform = false;
        options.checks.buffer_races = false;
        let mut types = self.kernel.buffers().iter().map(|b| b.elem);
        let mut args: Vec<Arg> = self
            .args
            .iter()
            .map(|value| match value {
                Value::Bytes(bytes) => {
                    let ty = types.next().unwrap_or(Type::NONE);
                    let buffer = Buffer::from_bytes(ty, bytes);
                    Arg::Buffer(buffer.unwrap_or_else(|e| panic!("{}: {e}", self.name)))
                }
                Value::Scalar(c) => Arg::Scalar(*c),
            })
            .collect();
        Executor::new(options)
            .run(&self.kernel, Launch::new([self.grid, 1, 1]), &mut args)
            .unwrap_or_else(|e| panic!("{}: reference: {e}", self.name));
        args.iter()
            .filter_map(|a| a.buffer())
            .map(|b| b.bytes().to_vec())
            .collect()
    }
}

impl Unit {
    /// The launch.
    pub fn case(&self) -> Case {
        Case {
            kernel: self.kernel.clone(),
            grid: [self.grid, 1, 1],
            args: self.args.clone(),
            dynamic_shared: 0,
            bounds: self.bounds,
        }
    }
}

/// Threads of a workgroup of the units.
const THREADS: u32 = 64;

/// A kernel that reads one element of each input type, and stores what `make` makes of them.
fn on_elements(
    name: &str,
    ins: &[Type],
    out: Type,
    make: impl FnOnce(&mut KernelBuilder, &[Id]) -> Id,
) -> Kernel {
    let mut b = KernelBuilder::new(name, [THREADS, 1, 1]);
    let buffers: Vec<_> = ins
        .iter()
        .map(|&ty| b.buffer("", carried(ty), Access::Read))
        .collect();
    let to = b.buffer("out", carried(out), Access::Write);
    let i = b.global_id(0);
    let values: Vec<Id> = buffers
        .iter()
        .zip(ins)
        .map(|(&buffer, &ty)| {
            let value = b.load(buffer, i);
            if ty == Type::BOOL {
                b.convert(value, Type::BOOL)
            } else {
                value
            }
        })
        .collect();
    let made = make(&mut b, &values);
    let made = if out == Type::BOOL {
        b.convert(made, Type::U32)
    } else {
        made
    };
    b.store(to, i, made);
    b.finish()
        .unwrap_or_else(|e| panic!("{name} on {ins:?}: {e}"))
}

/// The type in which memory holds a value.
fn carried(ty: Type) -> Type {
    if ty == Type::BOOL { Type::U32 } else { ty }
}

/// Whether a type computes with NaNs.
fn is_float(ty: Type) -> bool {
    ty.scalar().is_some_and(|s| s.is_float())
}

/// Every unit, made once.
pub fn units() -> &'static [Unit] {
    static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(|| {
        let mut units = values::units();
        units.extend(memory::units());
        units.extend(subgroup::units());
        units
    });
    &UNITS
}

/// The opcodes and types of the table that no unit covers, to be read.
pub fn missing(units: &[Unit]) -> Vec<String> {
    let covered: BTreeSet<Pair> = units.iter().flat_map(|u| u.covers.clone()).collect();
    crate::coverage::missing(&covered)
}
