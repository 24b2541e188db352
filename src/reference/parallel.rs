//! Workgroups on several threads, with the results of one.
//!
//! Every thread takes workgroups in rising order and runs them on its own copies of the buffers that are written. If then
//! nothing that one thread wrote was read or written by another, each workgroup saw what it would have seen had they run
//! one after the other, and what was written is in one copy alone. Otherwise nothing is kept.

use super::bind::Storage;
use super::executor::Report;
use super::marks::Marks;
use super::memory::{Memory, Words};
use super::options::Options;
use super::program::Program;
use super::runner::{Plan, Runner};
use crate::kernel::Kernel;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::ops::Range;
use std::sync::Arc;
use std::thread;

/// The runners of the threads; their memory is kept between launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Crew(Vec<Runner>);

/// The workgroups that nobody has taken yet.
struct Pool {
    next: AtomicU32,
    /// The last; they count from 1.
    last: u32,
    /// How many are taken at once.
    share: u32,
    /// Somebody failed.
    stopped: AtomicBool,
}

/// Takes workgroups from a pool, share by share.
struct Taken<'a> {
    pool: &'a Pool,
    now: Range<u32>,
}

impl Iterator for Taken<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.now.is_empty() {
            let Pool {
                next,
                last,
                share,
                stopped,
            } = self.pool;
            if stopped.load(Ordering::Relaxed) {
                return None;
            }
            let take = |first: u32| {
                (first <= *last).then(|| first.saturating_add(*share).min(last.saturating_add(1)))
            };
            let first = next
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .ok()?;
            self.now = first..take(first)?;
        }
        self.now.next()
    }
}

impl Crew {
    /// Runs the launch that `memory` is bound for, and puts what was written there. `None`, with nothing changed, where it
    /// cannot be done.
    pub fn run(
        &mut self,
        memory: &mut Memory,
        program: &Program,
        kernel: &Kernel,
        plan: &Plan,
        options: &Options,
        storages: &[Storage],
    ) -> Option<Report> {
        let threads = threads(plan, options, storages)?;
        for (n, words) in memory.buffers.iter_mut().enumerate() {
            if storages.iter().all(|s| s.buffer != n) {
                let own = core::mem::replace(words, Words::Own(Vec::new())).into_own();
                *words = Words::Shared(Arc::new(own));
            }
        }
        let report = self.attempt(threads, memory, program, kernel, plan, options, storages);
        for runner in &mut self.0 {
            runner.memory.buffers.clear();
        }
        for words in &mut memory.buffers {
            let own = core::mem::replace(words, Words::Own(Vec::new())).into_own();
            *words = Words::Own(own);
        }
        report
    }

    #[allow(clippy::too_many_arguments, reason = "what a launch consists of")]
    fn attempt(
        &mut self,
        threads: usize,
        memory: &mut Memory,
        program: &Program,
        kernel: &Kernel,
        plan: &Plan,
        options: &Options,
        storages: &[Storage],
    ) -> Option<Report> {
        let marks = mark_words(storages);
        if self.0.len() < threads {
            self.0.resize_with(threads, Runner::default);
        }
        let runners = self.0.get_mut(..threads)?;
        for runner in &mut *runners {
            runner.memory.marks.begin(marks);
        }
        let pool = Pool {
            next: AtomicU32::new(1),
            last: plan.workgroups,
            // Small enough that threads end together, large enough that taking costs nothing.
            share: (plan.workgroups / (16 * threads as u32)).clamp(1, 64),
            stopped: AtomicBool::new(false),
        };
        let work = |runner: &mut Runner| {
            runner.memory.bind_as(memory);
            runner.begin(program, kernel, plan);
            let groups = Taken {
                pool: &pool,
                now: 0..0,
            };
            let done = runner.run(program, plan.threads, options.step_limit, groups);
            if done.is_err() {
                pool.stopped.store(true, Ordering::Relaxed);
            }
            done.ok()
        };
        let work = &work;
        let (mine, others) = runners.split_first_mut()?;
        let reports: Vec<Option<Report>> = thread::scope(|scope| {
            let start = |runner| thread::Builder::new().spawn_scoped(scope, move || work(runner));
            let started: Vec<_> = others.iter_mut().map(start).collect();
            let mut reports = vec![work(mine)];
            for handle in started {
                // A thread that could not be started took no workgroup.
                reports.extend(handle.ok().map(|handle| match handle.join() {
                    Ok(report) => report,
                    Err(panic) => std::panic::resume_unwind(panic),
                }));
            }
            reports
        });
        let mut sum = Report::default();
        for report in reports {
            let report = report?;
            sum.workgroups += report.workgroups;
            sum.steps = sum.steps.checked_add(report.steps)?;
            sum.thread_steps = sum.thread_steps.wrapping_add(report.thread_steps);
            sum.barriers += report.barriers;
        }
        let all = runners.iter().map(|r| &r.memory.marks);
        if sum.steps > options.step_limit || sum.workgroups != plan.workgroups.into() {
            return None;
        }
        if (0..marks).any(|at| met(all.clone(), at)) {
            return None;
        }
        for runner in &*runners {
            for storage in storages {
                take_over(memory, &runner.memory, storage);
            }
        }
        Some(sum)
    }
}

/// More threads than that take longer to start than they spare, and each has books whose size nothing else bounds.
pub(super) const MAX_THREADS: u32 = 1024;

/// How many threads may run; `None` for one.
fn threads(plan: &Plan, options: &Options, storages: &[Storage]) -> Option<usize> {
    let copies = storages.iter().map(|s| (s.count * s.granule) as u64);
    let each = copies
        .sum::<u64>()
        .saturating_add(16 * mark_words(storages) as u64)
        .saturating_add(plan.scratch)
        .saturating_add(plan.sizes.shared);
    let fit = options.limits.scratch_bytes / each.max(1);
    let threads = options.threads.min(plan.workgroups).min(MAX_THREADS);
    let threads = u64::from(threads).min(fit);
    usize::try_from(threads).ok().filter(|&n| n > 1)
}

fn mark_words(storages: &[Storage]) -> usize {
    let words = |s: &Storage| (s.marks + s.count).div_ceil(64);
    storages.last().map_or(0, words)
}

/// Whether one thread wrote what another read or wrote, among the marks of one word.
fn met<'a>(all: impl Iterator<Item = &'a Marks> + Clone, at: usize) -> bool {
    let (mut once, mut twice) = (0, 0);
    for marks in all.clone() {
        let written = marks.written.word(at);
        twice |= once & written;
        once |= written;
    }
    let mut read = all.map(|marks| marks.read.word(at) & !marks.written.word(at) & once);
    twice != 0 || once != 0 && read.any(|read| read != 0)
}

/// Copies what a thread wrote to a buffer.
fn take_over(memory: &mut Memory, from: &Memory, storage: &Storage) {
    let (Some(to), Some(copy)) = (
        memory.buffers.get_mut(storage.buffer),
        from.buffers.get(storage.buffer),
    ) else {
        return;
    };
    let to: &mut [u8] = bytemuck::cast_slice_mut(to.get_mut());
    let copy: &[u8] = bytemuck::cast_slice(copy.get());
    let mut take = |granules: Range<usize>| {
        let bytes = granules.start * storage.granule..granules.end * storage.granule;
        if let (Some(to), Some(copy)) = (to.get_mut(bytes.clone()), copy.get(bytes)) {
            to.copy_from_slice(copy);
        }
    };
    for at in 0..storage.count.div_ceil(64) {
        let mut bits = from.marks.written.word(storage.marks / 64 + at);
        if bits == u64::MAX {
            take(64 * at..64 * at + 64);
            continue;
        }
        while bits != 0 {
            let granule = 64 * at + bits.trailing_zeros() as usize;
            take(granule..granule + 1);
            bits &= bits - 1;
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn marks_meet_where_somebody_wrote() {
        // What two threads read and wrote, and whether they met.
        for (read, written, expected) in [
            ([0b11, 0b11], [0, 0], false),
            ([0b01, 0b10], [0b01, 0b10], false),
            ([0b10, 0b00], [0b01, 0b10], true),
            ([0b00, 0b01], [0b01, 0b10], true),
            ([0b00, 0b00], [0b11, 0b10], true),
            ([0b01, 0b01], [0b01, 0b00], true),
        ] {
            let marks = |n: usize| {
                let mut marks = Marks::default();
                marks.begin(2);
                for bit in 0..2 {
                    marks.read.set(64 + bit, read[n] >> bit & 1);
                    marks.written.set(64 + bit, written[n] >> bit & 1);
                }
                marks
            };
            let all = [marks(0), marks(1)];
            assert!(!met(all.iter(), 0));
            assert_eq!(met(all.iter(), 1), expected, "{read:?} {written:?}");
        }
    }

    #[test]
    fn threads_are_bounded() {
        let plan = |workgroups, scratch| Plan {
            workgroups,
            threads: 1,
            slots: 1,
            sizes: Default::default(),
            scratch,
        };
        let mut options = Options {
            threads: u32::MAX,
            ..Options::default()
        };
        assert_eq!(threads(&plan(u32::MAX - 1, 0), &options, &[]), Some(1024));
        assert_eq!(threads(&plan(3, 0), &options, &[]), Some(3));
        assert_eq!(threads(&plan(1, 0), &options, &[]), None);
        assert_eq!(threads(&plan(9, 1 << 28), &options, &[]), Some(4));
        assert_eq!(threads(&plan(9, u64::MAX), &options, &[]), None);
        options.threads = 0;
        assert_eq!(threads(&plan(9, 0), &options, &[]), None);
    }

    #[test]
    fn every_workgroup_is_taken_once_and_in_order() {
        for (last, share) in [(0, 1), (1, 64), (7, 3), (9, 3), (u32::MAX - 1, u32::MAX)] {
            let pool = Pool {
                next: AtomicU32::new(1),
                last,
                share,
                stopped: AtomicBool::new(false),
            };
            let taken = || Taken {
                pool: &pool,
                now: 0..0,
            };
            if last > 9 {
                assert_eq!(taken().next(), Some(1));
                continue;
            }
            let (mut a, mut b, mut all) = (taken(), taken(), vec![]);
            loop {
                let (x, y) = (a.next(), b.next());
                all.extend(x.into_iter().chain(y));
                if x.is_none() && y.is_none() {
                    break;
                }
            }
            all.sort_unstable();
            assert_eq!(all, (1..=last).collect::<Vec<_>>());
            pool.stopped.store(true, Ordering::Relaxed);
            assert_eq!(taken().next(), None);
        }
    }
}
