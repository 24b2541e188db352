//! Which opcodes of the table kernels hold, and on which types.

use kernite::kernel::{Inst, Kernel};
use kernite::op::{Makes, Op, Operand};
use kernite::types::Type;
use std::collections::BTreeSet;

/// An opcode and the type that it operates on; [`Type::NONE`] for those without.
pub type Pair = (Op, Type);

/// The type that an instruction operates on, as [`Operand`] explains.
pub fn operating_type(kernel: &Kernel, inst: &Inst) -> Type {
    let row = inst.op.row();
    if matches!(row.makes, Makes::T | Makes::Var) {
        return inst.ty;
    }
    let words = kernel.words(inst);
    let operands = row.operands.iter().zip(words.iter());
    let value = operands
        .filter(|(o, _)| **o == Operand::T)
        .map(|(_, &word)| kernel.insts()[word as usize].ty)
        .next();
    value.unwrap_or(Type::NONE)
}

/// What a kernel holds.
pub fn pairs(kernel: &Kernel) -> impl Iterator<Item = Pair> {
    let insts = kernel.insts().iter();
    insts.map(|inst| (inst.op, operating_type(kernel, inst)))
}

/// Everything that the table has.
pub fn wanted() -> BTreeSet<Pair> {
    let mut wanted = BTreeSet::new();
    for op in Op::ALL {
        let types = op.row().types;
        if types.is_empty() {
            wanted.insert((op, Type::NONE));
        }
        wanted.extend(types.iter().map(|ty| (op, ty)));
    }
    wanted
}

/// What the table has and `found` has not, to be read.
pub fn missing(found: &BTreeSet<Pair>) -> Vec<String> {
    let missing = wanted().into_iter().filter(|pair| !found.contains(pair));
    missing.map(|(op, ty)| format!("{op} on {ty}")).collect()
}
