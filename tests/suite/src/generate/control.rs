//! Variables, branches, loops, returns.

use super::Generator;
use super::level::{Frame, Level};
use kernite::builder::KernelBuilder;
use kernite::kernel::Value;
use kernite::types::Type;

impl Generator<'_, '_> {
    /// A new variable, or one that is set, read, or both.
    pub(super) fn variable(&mut self) {
        if self.vars.is_empty() || self.choices.chance(1, 3) {
            let ty = self.any_type();
            let start = self.value(ty);
            let var = self.b.var(start);
            return self.vars.push((var, ty));
        }
        let (var, ty) = self.choices.pick(&self.vars);
        if self.choices.chance(1, 2) {
            let v = self.value(ty);
            self.b.set(var, v);
        }
        let made = self.b.get(var);
        self.made(made, Level::Divergent);
    }

    /// A condition that is as uniform as `most` at least.
    fn condition(&mut self, most: Level) -> Value {
        match self.choices.below(5) {
            0 => self.value_within(Type::BOOL, most),
            1 => self.scalar(Type::BOOL),
            2 if most >= Level::Subgroup && self.config.subgroups => {
                let (id, one) = (self.b.subgroup_id(), self.b.constant(1u32));
                let odd = self.b.and(id, one);
                let condition = self.b.eq(odd, one);
                self.levels.insert(condition.index(), Level::Subgroup);
                condition
            }
            3 if most >= Level::Subgroup
                && self.config.subgroups
                && self.control() < Level::Divergent =>
            {
                let v = self.value(Type::BOOL);
                let condition = if self.choices.chance(1, 2) {
                    self.b.any(v)
                } else {
                    self.b.all(v)
                };
                self.levels.insert(condition.index(), Level::Subgroup);
                condition
            }
            _ => {
                let x = self.value_within(Type::U32, most);
                let few = self.b.constant(self.choices.below(4) as u32);
                self.levels.insert(few.index(), Level::Workgroup);
                let kind = self.choices.below(3);
                self.with_level_of(&[x, few], |b| match kind {
                    0 => b.eq(x, few),
                    1 => b.lt(x, few),
                    _ => b.ge(x, few),
                })
            }
        }
    }

    /// How uniform the next decision shall be.
    fn level(&mut self) -> Level {
        self.choices
            .pick(&[Level::Divergent, Level::Workgroup, Level::Subgroup])
    }

    pub(super) fn branch(&mut self) {
        if self.frames.len() >= 4 {
            return;
        }
        let most = self.level();
        let condition = self.condition(most);
        let level = self.control().max(self.level_of(condition));
        let frame = Frame {
            level,
            is_loop: false,
        };
        let len = 1 + self.choices.below(6);
        let other = self.choices.chance(1, 2);
        self.b.begin_if(condition);
        self.scoped(frame, |g| g.block(len));
        if other {
            self.b.begin_else();
            self.scoped(frame, |g| g.block(len));
        }
        self.b.end();
    }

    /// A loop with a small number of rounds, with a continue or break on the way.
    pub(super) fn repeat(&mut self) {
        let loops = self.frames.iter().filter(|f| f.is_loop).count();
        if loops >= 2 || self.frames.len() >= 4 {
            return;
        }
        let most = self.level();
        let any = self.value_within(Type::U32, most);
        let four = self.b.constant(4u32);
        self.levels.insert(four.index(), Level::Workgroup);
        let end = self.with_level_of(&[any, four], |b| b.rem(any, four));
        let zero = self.b.constant(0u32);
        let counter = self.b.var(zero);
        let level = self.control().max(self.level_of(end));
        let frame = Frame {
            level,
            is_loop: true,
        };
        let (len, leave) = (1 + self.choices.below(5), self.choices.below(4));
        self.b.begin_loop();
        self.scoped(frame, |g| {
            let round = g.b.get(counter);
            g.made(round, level);
            let done = g.b.ge(round, end);
            g.b.when(done, KernelBuilder::break_);
            g.block(len);
            if leave > 1 {
                g.choices.block();
                let condition = g.condition(level);
                g.b.begin_if(condition);
                let frame = Frame {
                    level: g.control().max(g.level_of(condition)),
                    is_loop: false,
                };
                g.scoped(frame, |g| g.block(1));
                if leave == 2 {
                    g.b.break_()
                } else {
                    g.b.continue_()
                }
                g.b.end();
                g.block(1);
            }
            g.b.begin_continuing();
        });
        let now = self.b.get(counter);
        let one = self.b.constant(1u32);
        let next = self.b.add(now, one);
        self.b.set(counter, next);
        self.b.end();
    }

    pub(super) fn guarded_return(&mut self) {
        let most = self.may_return();
        if self.control() > most {
            return;
        }
        let condition = self.condition(most);
        self.left = self.control().max(self.level_of(condition));
        self.b.when(condition, KernelBuilder::return_);
    }
}
