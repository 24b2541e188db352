//! The flags of an instruction: behind its opcode, and at the end of its line.

use super::super::error::{ParseError, ParseErrorKind};
use super::super::syntax::{AXES, Flags, HALVES, LANES, SCANS};
use super::{Parser, error};
use crate::kernel::{Inst, Ordering};
use crate::types::{Order, Scope};

impl Parser<'_> {
    /// The flags that stand behind the opcode.
    pub(super) fn suffix(&mut self, kind: Flags) -> Result<u8, ParseError> {
        match kind {
            Flags::None | Flags::Access | Flags::Scope => Ok(0),
            Flags::Axis => {
                self.cursor.sign(b'.', "`.x`, `.y` or `.z`")?;
                self.one_of(&AXES, "`x`, `y` or `z`")
            }
            Flags::Lane => {
                self.cursor.sign(b'.', "`.x`, `.y`, `.z` or `.w`")?;
                self.one_of(&LANES, "`x`, `y`, `z` or `w`")
            }
            Flags::Half => {
                self.cursor.sign(b'.', "`.low` or `.high`")?;
                self.one_of(&HALVES, "`low` or `high`")
            }
            Flags::Fast if self.cursor.accept(b'.') => {
                self.cursor.keyword("fast", "`fast`")?;
                Ok(Inst::FAST)
            }
            Flags::Scan if self.cursor.accept(b'.') => {
                if self.cursor.accept_word("native") {
                    return Ok(Inst::NATIVE_ORDER);
                }
                let scan = self.one_of(&SCANS, "`inclusive`, `exclusive` or `native`")?;
                if !self.cursor.accept(b'.') {
                    return Ok(scan);
                }
                self.cursor.keyword("native", "`native`")?;
                Ok(scan | Inst::NATIVE_ORDER)
            }
            Flags::Fast | Flags::Scan => Ok(0),
        }
    }

    /// The place in `names` of the word that comes next.
    fn one_of(&mut self, names: &[&str], expected: &'static str) -> Result<u8, ParseError> {
        for (number, name) in (0u8..).zip(names) {
            // A name may be empty: that of a number which is not written.
            if !name.is_empty() && self.cursor.accept_word(name) {
                return Ok(number);
            }
        }
        Err(self.cursor.expected(expected))
    }

    pub(super) fn access(&mut self) -> Result<u8, ParseError> {
        let mut flags = 0;
        loop {
            let place = self.cursor.next_place();
            let (word, flag) = if self.cursor.accept_word("volatile") {
                ("volatile", Inst::VOLATILE)
            } else if self.cursor.accept_word("coherent") {
                ("coherent", Inst::COHERENT)
            } else {
                return Ok(flags);
            };
            if flags & flag != 0 {
                return Err(error(place, ParseErrorKind::Twice(word)));
            }
            flags |= flag;
        }
    }

    pub(super) fn scope(&mut self) -> Result<Scope, ParseError> {
        [Scope::Workgroup, Scope::Device]
            .into_iter()
            .find(|s| self.cursor.accept_word(s.name()))
            .ok_or_else(|| self.cursor.expected("`workgroup` or `device`"))
    }

    /// An order and its scope; without them the default.
    pub(super) fn ordering(&mut self) -> Result<Ordering, ParseError> {
        let order = [
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
        ]
        .into_iter()
        .find(|o| self.cursor.accept_word(o.name()));
        match order {
            None => Ok(Ordering::RELAXED),
            Some(order) => Ok(Ordering {
                order,
                scope: self.scope()?,
            }),
        }
    }
}
