//! One subgroup: its mask, its control stack, its run through the steps.

use super::error::{Trap, TrapKind};
use super::lanes::{self, each, first, truths};
use super::memory::{Memory, Running, place};
use super::program::{Code, Modify, Program, Step, Width, With};
use crate::types::Const;
use bytemuck::Pod;
use std::collections::HashMap;

/// An open block of a subgroup.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// Lanes whose turn comes later: those of the `else`, or at a `continue`.
    waiting: u128,
    /// Lanes that go on behind the block: those past the first part of an `if`, or out of the loop.
    done: u128,
    /// How often the loop has repeated.
    round: u64,
}

/// A subgroup on its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Subgroup {
    pub running: Running,
    /// Its place in its workgroup.
    pub number: u32,
    /// Every lane it has.
    pub full: u128,
    pub ended: bool,
    /// The step it goes on with.
    pub pc: u32,
    frames: Vec<Frame>,
}

/// Why a subgroup stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    Ended,
    /// At the barrier before its `pc`.
    Barrier,
}

/// What is counted in a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Steps left.
    pub left: u64,
    pub limit: u64,
    /// Steps, counted once for each active lane.
    pub lanes: u64,
}

/// What other subgroups promised to be uniform: by instruction and rounds of the loops around it, the value and thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Promises {
    seen: HashMap<(u32, u64), (u64, u32)>,
    /// Whether there are other subgroups.
    pub shared: bool,
}

/// Promises remembered between barriers.
const MOST_PROMISES: usize = 1 << 20;

impl Promises {
    /// A barrier has been passed, or a workgroup begins.
    pub fn forget(&mut self) {
        if !self.seen.is_empty() {
            self.seen.clear();
        }
    }
}

/// What a subgroup runs in.
pub(super) struct Surroundings<'a> {
    pub program: &'a Program,
    pub memory: &'a mut Memory,
    pub promises: &'a mut Promises,
    pub counts: &'a mut Counts,
    /// The subgroup's registers.
    pub regs: &'a mut [u64],
}

impl Subgroup {
    /// Begins subgroup `number` of workgroup `group` (counted from 1) of `threads` threads.
    pub fn begin(
        &mut self,
        env: &mut Surroundings<'_>,
        number: u32,
        slot: usize,
        group: u32,
        threads: u32,
    ) {
        let n = env.memory.lanes;
        // Both below 2^32: the subgroup begins within the workgroup.
        let base = number * n as u32;
        self.full = first(n.min((threads - base) as usize));
        self.running = Running {
            group,
            base,
            slot,
            active: self.full,
        };
        self.number = number;
        self.ended = false;
        self.pc = 0;
        self.frames.clear();
        env.memory.begin_subgroup(slot);
        let shape = env.memory.shape;
        let workgroup = place(shape.grid, group - 1);
        for fill in &env.program.built_ins {
            let d = lanes::get_mut::<u32>(env.regs, fill.slot, n);
            // Lanes beyond the workgroup hold anything.
            let linear = |lane: usize| base.wrapping_add(lane as u32);
            let local = |lane: usize, axis: usize| place(shape.workgroup, linear(lane))[axis];
            for (lane, d) in d.iter_mut().enumerate() {
                *d = match fill.with {
                    With::Bits(bits, _) => bits as u32,
                    With::LocalId(axis) => local(lane, axis),
                    With::WorkgroupId(axis) => workgroup[axis],
                    With::GlobalId(axis) => workgroup[axis]
                        .wrapping_mul(shape.workgroup[axis])
                        .wrapping_add(local(lane, axis)),
                    With::LocalIndex => linear(lane),
                    With::Lane => lane as u32,
                    With::SubgroupId => number,
                };
            }
        }
    }

    /// Runs until the end or a barrier.
    pub fn run(&mut self, env: &mut Surroundings<'_>) -> Result<Stop, Box<Trap>> {
        let n = env.memory.lanes;
        let steps = &env.program.steps[..];
        let mut pc = self.pc;
        let mut width = u64::from(self.running.active.count_ones());
        while let Some(step) = steps.get(pc as usize) {
            if env.counts.left == 0 {
                return Err(self.out_of_steps(env, step));
            }
            env.counts.left -= 1;
            env.counts.lanes += width;
            pc += 1;
            let running = &mut self.running;
            let active = running.active;
            let s = &step.slots;
            match &step.code {
                Code::Pure(f) => {
                    f(env.regs, s, n);
                    continue;
                }
                Code::Load(place, width, touch) => {
                    match width {
                        Width::W32 => env
                            .memory
                            .load::<u32>(env.regs, step, place, *touch, running)?,
                        Width::W64 => env
                            .memory
                            .load::<u64>(env.regs, step, place, *touch, running)?,
                    }
                    continue;
                }
                Code::Store(place, width, touch) => {
                    match width {
                        Width::W32 => env
                            .memory
                            .store::<u32>(env.regs, step, place, *touch, running)?,
                        Width::W64 => env
                            .memory
                            .store::<u64>(env.regs, step, place, *touch, running)?,
                    }
                    continue;
                }
                Code::Set(width) => {
                    match width {
                        Width::W32 => lanes::copy::<u32>(env.regs, s.a, s.d, n, active),
                        Width::W64 => lanes::copy::<u64>(env.regs, s.a, s.d, n, active),
                    }
                    continue;
                }
                Code::Modify(place, how) => {
                    match *how {
                        Modify::W32(f) => env.memory.modify::<u32>(
                            env.regs,
                            step,
                            place,
                            running,
                            |old, a, _| f(old, a),
                        )?,
                        Modify::W64(f) => env.memory.modify::<u64>(
                            env.regs,
                            step,
                            place,
                            running,
                            |old, a, _| f(old, a),
                        )?,
                    }
                    continue;
                }
                Code::CompareExchange(place, width) => {
                    match width {
                        Width::W32 => env
                            .memory
                            .modify::<u32>(env.regs, step, place, running, exchange)?,
                        Width::W64 => env
                            .memory
                            .modify::<u64>(env.regs, step, place, running, exchange)?,
                    }
                    continue;
                }
                Code::AssumeUniform(width) => {
                    if env.memory.checks.assume_uniform {
                        match width {
                            Width::W32 => self.uniform::<u32>(env, step)?,
                            Width::W64 => self.uniform::<u64>(env, step)?,
                        }
                    }
                    super::pure::copy(env.regs, s, n);
                    continue;
                }
                Code::Fence => continue,
                Code::If { closer } => {
                    let then = active & truths(lanes::get::<u32>(env.regs, s.a, n));
                    self.frames.push(Frame {
                        waiting: active & !then,
                        ..Frame::default()
                    });
                    running.active = then;
                    if then == 0 {
                        pc = *closer;
                    }
                }
                Code::Else { end } => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.done |= active;
                        running.active = core::mem::take(&mut frame.waiting);
                    }
                    if running.active == 0 {
                        pc = *end;
                    }
                }
                Code::EndIf { outer } => {
                    if let Some(frame) = self.frames.pop() {
                        running.active |= frame.waiting | frame.done;
                    }
                    if running.active == 0 {
                        pc = *outer;
                    }
                }
                Code::Loop => self.frames.push(Frame::default()),
                Code::Continuing { end } => {
                    if let Some(frame) = self.frames.last_mut() {
                        running.active |= core::mem::take(&mut frame.waiting);
                    }
                    if running.active == 0 {
                        pc = *end;
                    }
                }
                Code::EndLoop { body, outer } => {
                    if active != 0 {
                        if let Some(frame) = self.frames.last_mut() {
                            frame.round += 1;
                        }
                        pc = *body;
                    } else {
                        running.active = self.frames.pop().map_or(0, |frame| frame.done);
                        if running.active == 0 {
                            pc = *outer;
                        }
                    }
                }
                Code::Break { up } => {
                    if let Some(frame) = self.frames.iter_mut().nth_back(*up as usize) {
                        frame.done |= active;
                    }
                    running.active = 0;
                }
                Code::Continue { up } => {
                    if let Some(frame) = self.frames.iter_mut().nth_back(*up as usize) {
                        frame.waiting |= active;
                    }
                    running.active = 0;
                }
                Code::Return => running.active = 0,
                Code::Barrier => {
                    self.pc = pc;
                    let missing = self.full & !active;
                    if missing != 0 && env.memory.checks.barriers {
                        let missing = self.thread(env, missing);
                        let kind = TrapKind::Barrier {
                            missing,
                            waits_at: None,
                        };
                        let lane = active.trailing_zeros() as usize;
                        return Err(env.memory.trap(step, &self.running, lane, kind));
                    }
                    return Ok(Stop::Barrier);
                }
            }
            width = u64::from(self.running.active.count_ones());
        }
        self.ended = true;
        Ok(Stop::Ended)
    }

    /// The thread of the first lane of a mask.
    pub fn thread(&self, env: &Surroundings<'_>, mask: u128) -> super::Thread {
        let local = self.running.base + mask.trailing_zeros();
        env.memory.shape.thread(self.running.group, local)
    }

    #[cold]
    fn out_of_steps(&self, env: &Surroundings<'_>, step: &Step) -> Box<Trap> {
        let limit = env.counts.limit;
        let lane = self.running.active.trailing_zeros() as usize % env.memory.lanes;
        env.memory
            .trap(step, &self.running, lane, TrapKind::StepLimit { limit })
    }

    /// Checks a promise: within the subgroup, and against those that ran the same instruction in the same round before.
    fn uniform<T: Pod + PartialEq + Into<u64>>(
        &self,
        env: &mut Surroundings<'_>,
        step: &Step,
    ) -> Result<(), Box<Trap>> {
        let n = env.memory.lanes;
        let active = self.running.active;
        let values = lanes::get::<T>(env.regs, step.slots.a, n);
        let leader = active.trailing_zeros() as usize;
        let Some(&led) = values.get(leader) else {
            return Ok(());
        };
        let broken = |lane: usize, other: u32, other_value: u64| {
            let kind = TrapKind::NotUniform {
                value: constant(step, values.get(lane).map_or(0, |&v| v.into())),
                other: env.memory.shape.thread(self.running.group, other),
                other_value: constant(step, other_value),
            };
            env.memory.trap(step, &self.running, lane, kind)
        };
        // Below the number of threads of the workgroup.
        let first = self.running.base + leader as u32;
        each(active, n, |lane| match values[lane] == led {
            true => Ok(()),
            false => Err(broken(lane, first, led.into())),
        })?;
        if env.promises.shared {
            let rounds = self.frames.iter().fold(0u64, |hash, frame| {
                (hash ^ frame.round)
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .rotate_left(29)
            });
            let key = (step.at, rounds);
            match env.promises.seen.get(&key) {
                Some(&(value, thread)) if value != led.into() => {
                    return Err(broken(leader, thread, value));
                }
                Some(_) => {}
                None if env.promises.seen.len() < MOST_PROMISES => {
                    env.promises.seen.insert(key, (led.into(), first));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// What a compare-exchange leaves.
fn exchange<T: PartialEq>(old: T, comparand: T, new: T) -> T {
    if old == comparand { new } else { old }
}

/// The operand of a step as a constant.
fn constant(step: &Step, bits: u64) -> Const {
    Const::new(step.ty, bits).unwrap_or(Const::from(bits))
}
