//! Kernels run through the executor.

mod checks;
mod control;
mod launch;
mod memory;
mod narrow;
mod parallel;
mod precise;
mod subgroups;
mod support;
mod values;
mod vectors;

use super::{Arg, Buffer, Checks, Executor, Options, Report, Trap};
use crate::builder::KernelBuilder;
use crate::kernel::{Kernel, Value};

/// Every size of subgroup that tests try, partial ones among them.
const SUBGROUPS: [u32; 5] = [1, 4, 8, 32, 128];

/// The kernel that `body` builds.
fn kernel(workgroup: [u32; 3], body: impl FnOnce(&mut KernelBuilder)) -> Kernel {
    let mut b = KernelBuilder::new("test", workgroup);
    body(&mut b);
    b.finish().unwrap()
}

/// Options with every check.
fn strict(subgroup_size: u32) -> Options {
    Options {
        subgroup_size,
        checks: Checks::ALL,
        ..Options::default()
    }
}

/// Runs with every check and the given subgroup size.
fn run(kernel: &Kernel, subgroup_size: u32, grid: [u32; 3], args: &mut [Arg]) -> Report {
    let run = Executor::new(strict(subgroup_size)).run(kernel, grid, args);
    run.unwrap()
}

/// What a run with every check reports.
fn trap(kernel: &Kernel, subgroup_size: u32, grid: [u32; 3], args: &mut [Arg]) -> Trap {
    let run = Executor::new(strict(subgroup_size)).run(kernel, grid, args);
    run.unwrap_err().trap().unwrap().clone()
}

fn u32s(n: usize) -> Arg {
    Arg::from(vec![0u32; n])
}

fn got(arg: &Arg) -> &[u32] {
    arg.as_slice().unwrap()
}

/// The indices of the instructions with this opcode.
fn places(kernel: &Kernel, op: crate::op::Op) -> Vec<u32> {
    let insts = kernel.insts().iter().enumerate();
    insts
        .filter(|(_, i)| i.op == op)
        .map(|(at, _)| at as u32)
        .collect()
}

/// What `make` computes of 1 to 3 columns of operands, one thread a row.
fn compute(columns: Vec<Buffer>, make: impl Fn(&mut KernelBuilder, &[Value]) -> Value) -> Buffer {
    use crate::types::{Access, Type};
    let rows = columns.iter().map(Buffer::len).max().unwrap();
    let mut ty = Type::NONE;
    let k = kernel([rows as u32, 1, 1], |b| {
        let columns: Vec<_> = columns
            .iter()
            .map(|c| b.buffer("", c.ty(), Access::Read))
            .collect();
        let i = b.global_id(0);
        let operands: Vec<_> = columns.iter().map(|&c| b.load(c, i)).collect();
        let mut result = make(b, &operands);
        ty = b.type_of(result);
        if ty == Type::BOOL {
            ty = Type::U32;
            result = b.convert(result, ty);
        }
        let out = b.buffer("out", ty, Access::Write);
        b.store(out, i, result);
    });
    let mut results = SUBGROUPS.map(|subgroup_size| {
        let mut args: Vec<Arg> = columns.iter().cloned().map(Arg::from).collect();
        let out = Buffer::from_bytes(ty, &vec![0xA5; rows * ty.bytes() as usize]);
        args.push(out.unwrap().into());
        run(&k, subgroup_size, [1, 1, 1], &mut args);
        match args.pop() {
            Some(Arg::Buffer(buffer)) => buffer,
            other => panic!("{other:?}"),
        }
    });
    results.sort_by(|a, b| a.bytes().cmp(b.bytes()));
    let [first, .., last] = results;
    assert_eq!(first, last, "subgroup sizes agree");
    first
}

#[test]
fn public_types_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<Executor>();
    check::<Arg>();
    check::<super::ExecError>();
}
