//! What printer and parser share.

use crate::op::{Effect, Row};

/// What the flags of an instruction mean, which decides how they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flags {
    /// There are none.
    None,
    /// An axis, written `.x` behind the opcode.
    Axis,
    /// Volatile and coherent, written as words at the end.
    Access,
    /// A fence's scope, written as a word at the end.
    Scope,
}

/// The axes by number.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

impl Flags {
    /// What they mean for the opcode of `row`.
    pub(super) fn of(row: &Row) -> Flags {
        if row.flags == 0 {
            Flags::None
        } else if row.effect == Effect::Fence {
            Flags::Scope
        } else if row.operands.is_empty() {
            Flags::Axis
        } else {
            Flags::Access
        }
    }
}

/// Whether a kernel's name is written without quotes.
pub(super) fn is_word(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Inst;
    use crate::op::{Makes, Op, Operand};

    #[test]
    fn every_flag_of_the_table_has_a_way_to_be_written() {
        for op in Op::ALL {
            let row = op.row();
            let written = match Flags::of(row) {
                Flags::None => 0,
                Flags::Axis => 3,
                Flags::Access => Inst::VOLATILE | Inst::COHERENT,
                Flags::Scope => Inst::DEVICE,
            };
            assert_eq!(row.flags, written, "{op}");
            if Flags::of(row) == Flags::Axis {
                assert_eq!(row.makes, Makes::U32, "{op}");
            }
            if Flags::of(row) == Flags::Access {
                assert!(row.operands.contains(&Operand::Mem), "{op}");
            }
        }
    }

    #[test]
    fn operands_come_in_an_order_that_can_be_written() {
        for op in Op::ALL {
            let operands = op.row().operands;
            let place = |wanted| operands.iter().position(|&o| o == wanted);
            for (i, operand) in operands.iter().enumerate() {
                // Each of these is found by its kind, so there is one at most.
                let single = matches!(
                    operand,
                    Operand::Mem
                        | Operand::Buffer
                        | Operand::Index
                        | Operand::Offset
                        | Operand::Ordering
                );
                assert!(
                    !single || place(*operand) == Some(i),
                    "{op}: two {operand:?}"
                );
                // Two words, so that those behind it would be found at the wrong place.
                assert!(*operand != Operand::Bits || operands.len() == 1, "{op}");
            }
            // The index stands in the brackets behind its memory object.
            let behind = place(Operand::Mem).map(|m| m + 1);
            assert!(
                place(Operand::Index).is_none_or(|i| Some(i) == behind),
                "{op}"
            );
            assert!(
                place(Operand::Index).is_some() || place(Operand::Offset).is_none(),
                "{op}"
            );
            assert!(
                place(Operand::Ordering).is_none_or(|p| p + 1 == operands.len()),
                "{op}: the ordering is last"
            );
        }
    }
}
