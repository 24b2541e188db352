//! Functions whose definition is a recipe of `crate::math`: the one place where the executor calls them.
//!
//! 16-bit floats are converted to f32, which keeps their values, and the result is rounded once more.

use crate::op::Op;
use crate::reference::lanes::Pure;
use crate::types::Type;

/// The function of an opcode on a type; `None` where there is no recipe yet.
pub(in crate::reference) fn function(op: Op, ty: Type) -> Option<Pure> {
    let _ = (op, ty);
    None
}
