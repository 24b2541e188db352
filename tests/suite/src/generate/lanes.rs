//! Statements of subgroups and vectors.

use super::{Generator, TYPES};
use kernite::builder::Scan;
use kernite::kernel::Value;
use kernite::types::Type;

impl Generator<'_, '_> {
    /// An operation among the lanes, where all of them are there.
    pub(super) fn subgroup(&mut self) {
        if self.divergent > 0 || self.returned || !self.config.subgroups {
            return self.pure();
        }
        let lane = self.value(Type::U32);
        let few = self.b.constant(15u32);
        let lane = self.b.and(lane, few);
        let scan = self
            .choices
            .pick(&[Scan::Reduce, Scan::Inclusive, Scan::Exclusive]);
        let any = self.any_type();
        let number = TYPES[self.choices.below(TYPES.len())];
        let int = self.choices.pick(&[
            Type::U32,
            Type::I32,
            Type::U64,
            Type::I64,
            Type::U8,
            Type::I16,
        ]);
        let made = match self.choices.below(13) {
            0 => {
                let v = self.value(any);
                self.b.shuffle(v, lane)
            }
            1 => {
                let v = self.value(any);
                self.b.shuffle_xor(v, lane)
            }
            2 => {
                let v = self.value(any);
                self.b.shuffle_up(v, lane)
            }
            3 => {
                let v = self.value(any);
                self.b.shuffle_down(v, lane)
            }
            4 => {
                let v = self.value(any);
                let first = self.b.constant(self.choices.below(4) as u32);
                self.b.broadcast(v, first)
            }
            5 => {
                let v = self.value(Type::BOOL);
                let mask = self.b.ballot(v);
                self.b.extract(mask, 0)
            }
            6 => {
                let v = self.value(Type::BOOL);
                if scan == Scan::Reduce {
                    self.b.any(v)
                } else {
                    self.b.all(v)
                }
            }
            7 => self.b.elect(),
            8 => {
                let v = self.value(number);
                let made = self.b.subgroup_add(v, scan);
                self.flushed(made)
            }
            9 => {
                let v = self.value(number);
                self.b.subgroup_min(v, scan)
            }
            10 => {
                let v = self.value(number);
                self.b.subgroup_max(v, scan)
            }
            11 => {
                let v = self.value(int);
                self.b.subgroup_xor(v, scan)
            }
            _ => {
                let v = self.value(if scan == Scan::Reduce {
                    Type::BOOL
                } else {
                    int
                });
                if scan == Scan::Inclusive {
                    self.b.subgroup_or(v, scan)
                } else {
                    self.b.subgroup_and(v, scan)
                }
            }
        };
        self.known(made);
    }

    /// A vector put together and taken apart.
    pub(super) fn vector(&mut self) {
        let ty = TYPES[self.choices.below(TYPES.len())];
        let lanes = if self.choices.chance(1, 2) { 2 } else { 4 };
        let elements: Vec<Value> = (0..lanes).map(|_| self.value(ty)).collect();
        let v = self.b.construct(&elements);
        let made = self.b.extract(v, self.choices.below(lanes) as u8);
        self.known(made);
    }
}
