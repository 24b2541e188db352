//! What runs workgroups one after the other: memory, registers and subgroups.

use super::bind::Sizes;
use super::error::{Trap, TrapKind};
use super::executor::Report;
use super::lanes;
use super::memory::Memory;
use super::program::{Program, Width, With};
use super::subgroup::{Counts, Promises, Stop, Subgroup, Surroundings};
use crate::kernel::Kernel;

/// What is known of a launch before it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    pub workgroups: u32,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Subgroups that are kept.
    pub slots: usize,
    pub sizes: Sizes,
    /// Bytes of values, private arrays and books.
    pub scratch: u64,
}

/// Runs workgroups; its memory is kept between launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Runner {
    pub memory: Memory,
    promises: Promises,
    /// The registers of every subgroup that is kept.
    regs: Vec<u64>,
    subgroups: Vec<Subgroup>,
}

impl Runner {
    /// Makes room for a launch; what the memory knows of it is there already.
    pub fn begin(&mut self, program: &Program, kernel: &Kernel, plan: &Plan) {
        self.memory.begin(&plan.sizes, plan.slots, kernel);
        self.registers(program, plan.slots);
    }

    /// Makes the register files and fills in what stays the same throughout the launch.
    fn registers(&mut self, program: &Program, slots: usize) {
        let n = self.memory.lanes;
        let words = program.words;
        self.regs.resize(slots * words, 0);
        self.subgroups.resize_with(slots, Subgroup::default);
        if words == 0 {
            return;
        }
        for regs in self.regs.chunks_exact_mut(words) {
            for fill in &program.constants {
                match fill.with {
                    // Bits stand in the type's width alone.
                    With::Bits(bits, Width::W8) => {
                        lanes::get_mut::<u8>(regs, fill.slot, n).fill(bits as u8);
                    }
                    With::Bits(bits, Width::W16) => {
                        lanes::get_mut::<u16>(regs, fill.slot, n).fill(bits as u16);
                    }
                    With::Bits(bits, Width::W32) => {
                        lanes::get_mut::<u32>(regs, fill.slot, n).fill(bits as u32);
                    }
                    With::Bits(bits, Width::W64) => {
                        lanes::get_mut::<u64>(regs, fill.slot, n).fill(bits);
                    }
                    // There are no constants of vectors.
                    With::Bits(_, Width::W128 | Width::W256) => {}
                    With::GlobalId(_)
                    | With::LocalId(_)
                    | With::WorkgroupId(_)
                    | With::LocalIndex
                    | With::Lane
                    | With::SubgroupId => {}
                }
            }
        }
    }

    /// Runs workgroups of `threads` threads, each given by its number, which counts from 1; in all at most `limit` steps.
    pub fn run(
        &mut self,
        program: &Program,
        threads: u32,
        limit: u64,
        groups: impl Iterator<Item = u32>,
    ) -> Result<Report, Box<Trap>> {
        // A subgroup has a lane at least.
        let count = threads.div_ceil(self.memory.lanes as u32);
        let mut counts = Counts {
            left: limit,
            limit,
            lanes: 0,
        };
        let mut report = Report::default();
        self.promises.shared = count > 1;
        for group in groups {
            self.memory.begin_workgroup();
            self.promises.forget();
            if self.subgroups.len() > 1 {
                report.barriers += self.together(program, group, threads, &mut counts)?;
            } else {
                for number in 0..count {
                    let (mut env, subgroups) = self.surroundings(program, &mut counts, 0);
                    let Some(subgroup) = subgroups.first_mut() else {
                        break;
                    };
                    subgroup.begin(&mut env, number, 0, group, threads);
                    while subgroup.run(&mut env)? == Stop::Barrier {
                        env.memory.shadow.next_phase();
                        env.promises.forget();
                        report.barriers += 1;
                    }
                }
            }
            report.workgroups += 1;
        }
        report.steps = limit - counts.left;
        report.thread_steps = counts.lanes;
        Ok(report)
    }

    /// Runs the subgroups of a workgroup from barrier to barrier. Gives the number of barriers.
    fn together(
        &mut self,
        program: &Program,
        group: u32,
        threads: u32,
        counts: &mut Counts,
    ) -> Result<u64, Box<Trap>> {
        for slot in 0..self.subgroups.len() {
            let (mut env, subgroups) = self.surroundings(program, counts, slot);
            if let Some(subgroup) = subgroups.get_mut(slot) {
                // There are no more subgroups than threads.
                subgroup.begin(&mut env, slot as u32, slot, group, threads);
            }
        }
        let mut barriers = 0;
        loop {
            let mut waiting = None;
            for slot in 0..self.subgroups.len() {
                let (mut env, subgroups) = self.surroundings(program, counts, slot);
                if let Some(subgroup) = subgroups.get_mut(slot)
                    && !subgroup.ended
                    && subgroup.run(&mut env)? == Stop::Barrier
                {
                    waiting = waiting.or(Some(slot));
                }
            }
            let Some(slot) = waiting else {
                return Ok(barriers);
            };
            self.met(program, counts, slot)?;
            self.memory.shadow.next_phase();
            self.promises.forget();
            barriers += 1;
        }
    }

    /// Checks that every subgroup waits where the one in `slot` does, the first to wait.
    fn met(
        &mut self,
        program: &Program,
        counts: &mut Counts,
        slot: usize,
    ) -> Result<(), Box<Trap>> {
        if !self.memory.checks.barriers {
            return Ok(());
        }
        let (env, subgroups) = self.surroundings(program, counts, slot);
        let Some(waits) = subgroups.get(slot) else {
            return Ok(());
        };
        let Some(other) = subgroups.iter().find(|s| s.ended || s.pc != waits.pc) else {
            return Ok(());
        };
        // A subgroup goes on behind the barrier it waits at.
        let barrier = |s: &Subgroup| env.program.steps.get((s.pc as usize).wrapping_sub(1));
        let kind = TrapKind::Barrier {
            missing: other.thread(&env, other.full),
            waits_at: barrier(other).filter(|_| !other.ended).map(|step| step.at),
        };
        match barrier(waits) {
            Some(step) => Err(env.memory.trap(step, &waits.running, 0, kind)),
            None => Ok(()),
        }
    }

    /// What the subgroup in `slot` runs in, and the subgroups.
    fn surroundings<'a>(
        &'a mut self,
        program: &'a Program,
        counts: &'a mut Counts,
        slot: usize,
    ) -> (Surroundings<'a>, &'a mut [Subgroup]) {
        let words = program.words;
        let env = Surroundings {
            program,
            memory: &mut self.memory,
            promises: &mut self.promises,
            counts,
            regs: &mut self.regs[slot * words..(slot + 1) * words],
        };
        (env, &mut self.subgroups)
    }
}
