//! The books of the checks: who accessed what since when, and what was written at all.

use super::error::Touch;

/// Accesses of one kind to one place: the first thread since the last barrier, and marks for further ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Noted {
    /// The workgroup; the same for all in shared memory, which nobody else sees.
    pub group: u32,
    /// The time between two barriers; 0 for never. Phases only rise.
    phase: u32,
    /// The thread in its workgroup.
    pub thread: u32,
    /// The instruction, and the marks.
    at: u32,
}

/// Further threads of the workgroup, in the same phase.
const MANY_THREADS: u32 = 1 << 31;
/// Further workgroups.
const MANY_GROUPS: u32 = 1 << 30;

impl Noted {
    /// The instruction; instructions stay below 2^28.
    pub fn at(&self) -> u32 {
        self.at & !(MANY_THREADS | MANY_GROUPS)
    }

    /// Whether some access noted here is of another thread than `now`, with no barrier between.
    #[inline(always)]
    fn apart(&self, now: &Noted) -> bool {
        self.phase != 0
            && (self.group != now.group
                || self.at & MANY_GROUPS != 0
                || self.phase == now.phase
                    && (self.thread != now.thread || self.at & MANY_THREADS != 0))
    }

    /// Notes `now` beside what is there.
    #[inline(always)]
    fn note(&mut self, now: &Noted) {
        let known = self.phase != 0;
        if known && self.group != now.group {
            *self = *now;
            self.at |= MANY_GROUPS;
        } else if known && self.phase == now.phase {
            if self.thread != now.thread {
                self.at |= MANY_THREADS;
            }
        } else {
            let others = self.at & MANY_GROUPS;
            *self = *now;
            self.at |= others;
        }
    }
}

/// The accesses to one place, by kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cell {
    read: Noted,
    write: Noted,
    atomic_read: Noted,
    atomic_write: Noted,
}

impl Cell {
    /// Notes an access, or gives one that it races with.
    #[inline(always)]
    fn touch(&mut self, touch: Touch, now: &Noted) -> Result<(), (Touch, Noted)> {
        if self.write.apart(now) {
            return Err((Touch::Write, self.write));
        }
        let (reads, writes) = match touch {
            Touch::Read => (false, true),
            Touch::Write => (true, true),
            Touch::AtomicRead => (false, false),
            Touch::AtomicWrite => (true, false),
        };
        if reads && self.read.apart(now) {
            return Err((Touch::Read, self.read));
        }
        if writes && self.atomic_write.apart(now) {
            return Err((Touch::AtomicWrite, self.atomic_write));
        }
        if reads && writes && self.atomic_read.apart(now) {
            return Err((Touch::AtomicRead, self.atomic_read));
        }
        match touch {
            Touch::Read => self.read.note(now),
            Touch::Write => self.write.note(now),
            Touch::AtomicRead => self.atomic_read.note(now),
            Touch::AtomicWrite => self.atomic_write.note(now),
        }
        Ok(())
    }

    fn forget_phases(&mut self) {
        for noted in [
            &mut self.read,
            &mut self.write,
            &mut self.atomic_read,
            &mut self.atomic_write,
        ] {
            // Another workgroup's access stays one; the own ones lie behind a barrier.
            if noted.phase != 0 {
                noted.phase = 1;
            }
        }
    }
}

/// Bytes of a cell.
pub(super) const CELL_BYTES: u64 = size_of::<Cell>() as u64;

/// The books of one launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Shadow {
    pub cells: Vec<Cell>,
    /// A bit for each element of shared memory that has been written in this workgroup.
    pub shared: Vec<u64>,
    /// For each element of a private array the lanes that have written it.
    pub private: Vec<u128>,
    phase: u32,
}

impl Shadow {
    /// Begins a launch with this many cells, words of shared bits and masks of private elements.
    pub fn begin(&mut self, cells: usize, shared: usize, private: usize) {
        self.cells.clear();
        self.cells.resize(cells, Cell::default());
        self.shared.clear();
        self.shared.resize(shared, 0);
        self.private.clear();
        self.private.resize(private, 0);
        self.phase = 1;
    }

    /// A barrier has been passed, or a workgroup begins.
    pub fn next_phase(&mut self) {
        self.phase = self.phase.checked_add(1).unwrap_or_else(|| {
            // Once in 2^32 barriers.
            self.cells.iter_mut().for_each(Cell::forget_phases);
            2
        });
    }

    /// Accesses of thread `thread` of workgroup `group` by instruction `at`, now.
    pub fn now(&self, group: u32, thread: u32, at: u32) -> Noted {
        Noted {
            group,
            phase: self.phase,
            thread,
            at,
        }
    }

    /// Notes an access to a run of cells, or gives one that it races with.
    #[inline(always)]
    pub fn touch(
        &mut self,
        first: usize,
        count: usize,
        touch: Touch,
        now: &Noted,
    ) -> Result<(), (Touch, Noted)> {
        for cell in self.cells.get_mut(first..first + count).unwrap_or(&mut []) {
            cell.touch(touch, now)?;
        }
        Ok(())
    }

    /// Whether a bit of shared memory is set.
    #[inline(always)]
    pub fn shared_written(&self, bit: usize) -> bool {
        self.shared
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }

    /// Sets it, and gives true.
    #[inline(always)]
    pub fn write_shared(&mut self, bit: usize) -> bool {
        if let Some(word) = self.shared.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
        true
    }

    /// Whether a lane has written a private element.
    #[inline(always)]
    pub fn private_written(&self, mask: usize, lane: usize) -> bool {
        self.private
            .get(mask)
            .is_some_and(|mask| mask >> lane & 1 != 0)
    }

    /// Notes that it has, and gives true.
    #[inline(always)]
    pub fn write_private(&mut self, mask: usize, lane: usize) -> bool {
        if let Some(mask) = self.private.get_mut(mask) {
            *mask |= 1 << lane;
        }
        true
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use Touch::*;

    fn noted(group: u32, phase: u32, thread: u32) -> Noted {
        Noted {
            group,
            phase,
            thread,
            at: 9,
        }
    }

    #[test]
    fn every_pair_of_accesses() {
        for (first, second, races) in [
            (Read, Read, false),
            (Read, Write, true),
            (Read, AtomicRead, false),
            (Read, AtomicWrite, true),
            (Write, Write, true),
            (Write, AtomicRead, true),
            (Write, AtomicWrite, true),
            (AtomicRead, AtomicRead, false),
            (AtomicRead, AtomicWrite, false),
            (AtomicWrite, AtomicWrite, false),
        ] {
            for (first, second) in [(first, second), (second, first)] {
                let after = |now: Noted| {
                    let mut cell = Cell::default();
                    assert_eq!(cell.touch(first, &noted(1, 2, 5)), Ok(()));
                    cell.touch(second, &now).is_err()
                };
                assert_eq!(after(noted(1, 2, 6)), races, "{first} then {second}");
                assert!(!after(noted(1, 2, 5)), "the same thread");
                assert!(!after(noted(1, 3, 6)), "after a barrier");
                assert_eq!(after(noted(2, 3, 5)), races, "another workgroup");
            }
        }
    }

    #[test]
    fn a_reader_among_many_does_not_hide_the_others() {
        let mut cell = Cell::default();
        for thread in [1, 2] {
            assert_eq!(cell.touch(Read, &noted(1, 2, thread)), Ok(()));
        }
        assert!(cell.touch(Write, &noted(1, 2, 1)).is_err());
        assert!(cell.touch(Write, &noted(1, 2, 2)).is_err());
        assert!(cell.touch(Write, &noted(1, 3, 2)).is_ok());

        let mut cell = Cell::default();
        for group in [1, 2] {
            assert_eq!(cell.touch(Read, &noted(group, group, 0)), Ok(()));
        }
        // Its own read lies behind a barrier, that of workgroup 1 does not.
        assert!(cell.touch(Write, &noted(2, 3, 0)).is_err());
        assert_eq!(cell.touch(Read, &noted(2, 3, 0)), Ok(()));
        assert!(cell.touch(Write, &noted(2, 4, 0)).is_err());
    }

    #[test]
    fn phases_start_over() {
        let mut shadow = Shadow::default();
        shadow.begin(2, 1, 0);
        shadow.phase = u32::MAX;
        let now = shadow.now(1, 0, 9);
        assert_eq!(shadow.touch(0, 2, Write, &now), Ok(()));
        shadow.next_phase();
        let now = shadow.now(1, 7, 9);
        assert_eq!(shadow.touch(0, 2, Write, &now), Ok(()));
        let now = shadow.now(2, 7, 9);
        assert!(shadow.touch(0, 1, Write, &now).is_err());
        shadow.write_shared(63);
        assert!(shadow.shared_written(63) && !shadow.shared_written(62));
    }
}
