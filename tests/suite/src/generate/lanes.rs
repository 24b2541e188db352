//! Statements of subgroups.

use super::level::Level;
use super::{Generator, TYPES};
use kernite::builder::{KernelBuilder, Scan};
use kernite::kernel::Value;
use kernite::types::Type;

type Shuffle = fn(&mut KernelBuilder, Value, Value) -> Value;
type Reduce = fn(&mut KernelBuilder, Value, Scan) -> Value;

impl Generator<'_, '_> {
    /// An operation among the lanes, where all of them are there.
    pub(super) fn subgroup(&mut self) {
        if self.control() == Level::Divergent || !self.config.subgroups {
            return;
        }
        match self.choices.below(8) {
            0..=2 => self.shuffle(),
            3 => self.vote(),
            4 => self.b.subgroup_barrier(),
            _ => self.reduce(),
        }
    }

    fn shuffle(&mut self) {
        let shuffles: [Shuffle; 4] = [
            |b, v, lane| b.shuffle(v, lane),
            |b, v, mask| b.shuffle_xor(v, mask),
            |b, v, by| b.shuffle_up(v, by),
            |b, v, by| b.shuffle_down(v, by),
        ];
        let ty = self.any_type();
        let v = self.value(ty);
        let which = self.choices.below(shuffles.len() + 1);
        if let Some(shuffle) = shuffles.get(which) {
            let mut lane = self.value(Type::U32);
            // Mostly lanes that are there.
            if self.choices.chance(3, 4) {
                let few = self.b.constant(15u32);
                lane = self.b.and(lane, few);
            }
            let made = shuffle(&mut self.b, v, lane);
            return self.made(made, Level::Divergent);
        }
        // The lane of a broadcast may differ between subgroups, and is the same for all lanes of one.
        let lane = self.value_within(Type::U32, Level::Subgroup);
        let few = self.b.constant(self.choices.pick(&[3u32, 7, 63]));
        self.levels.insert(few.index(), Level::Workgroup);
        let lane = self.with_level_of(&[lane, few], |b| b.and(lane, few));
        let made = self.b.broadcast(v, lane);
        // From a lane that is not there each gets its own.
        self.made(made, Level::Subgroup);
    }

    fn vote(&mut self) {
        let v = self.value(Type::BOOL);
        match self.choices.below(4) {
            0 => {
                let mask = self.b.ballot(v);
                self.made(mask, Level::Subgroup);
                let made = self.b.extract(mask, self.choices.below(4) as u8);
                self.computed(&[mask], made);
            }
            1 => {
                let made = self.b.any(v);
                self.made(made, Level::Subgroup);
            }
            2 => {
                let made = self.b.all(v);
                self.made(made, Level::Subgroup);
            }
            _ => {
                let made = self.b.elect();
                self.made(made, Level::Divergent);
            }
        }
    }

    fn reduce(&mut self) {
        let numbers: [Reduce; 3] = [
            |b, v, scan| b.subgroup_add(v, scan),
            |b, v, scan| b.subgroup_min(v, scan),
            |b, v, scan| b.subgroup_max(v, scan),
        ];
        let bits: [Reduce; 3] = [
            |b, v, scan| b.subgroup_and(v, scan),
            |b, v, scan| b.subgroup_or(v, scan),
            |b, v, scan| b.subgroup_xor(v, scan),
        ];
        let scan = self
            .choices
            .pick(&[Scan::Reduce, Scan::Inclusive, Scan::Exclusive]);
        let reduce = self.choices.below(3);
        let (ty, reduce) = if self.choices.chance(1, 2) {
            let ints = TYPES
                .into_iter()
                .filter(|t| t.scalar().is_some_and(|s| s.is_int()));
            let types: Vec<Type> = ints.chain([Type::BOOL]).collect();
            (self.choices.pick(&types), bits[reduce])
        } else {
            (TYPES[self.choices.below(TYPES.len())], numbers[reduce])
        };
        let v = self.value(ty);
        let made = reduce(&mut self.b, v, scan);
        let level = if scan == Scan::Reduce {
            Level::Subgroup
        } else {
            Level::Divergent
        };
        self.levels.insert(made.index(), level);
        let made = self.flushed(made);
        self.made(made, level);
    }
}
