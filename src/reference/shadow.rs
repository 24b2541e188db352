//! The books of the checks: who accessed what since when, and what was written at all.

use super::error::Touch;

/// Accesses of one kind to one place: the first thread since the last barrier, and marks for further ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Noted {
    /// The workgroup; the same for all in shared memory, which nobody else sees.
    pub group: u32,
    /// The time between two barriers, of any subgroup or of the workgroup; 0 for never. Phases only rise.
    phase: u32,
    /// The thread in its workgroup.
    pub thread: u32,
    /// The instruction, and the marks.
    at: u32,
}

/// Further threads of the subgroup, with no barrier of it between.
const MANY_THREADS: u32 = 1 << 31;
/// Further workgroups.
const MANY_GROUPS: u32 = 1 << 30;
/// Further subgroups of the workgroup, with no barrier of it between.
const MANY_SUBGROUPS: u32 = 1 << 29;

/// An access about to be noted, and which others lie behind a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Now {
    pub noted: Noted,
    /// The first phase after the workgroup's last barrier.
    since: u32,
    /// The first phase after the last barrier of the subgroup or the workgroup.
    since_own: u32,
    /// Log2 of the lanes of a subgroup.
    shift: u32,
}

impl Now {
    /// Whether a thread is of another subgroup.
    #[inline(always)]
    fn elsewhere(&self, thread: u32) -> bool {
        (self.noted.thread ^ thread) >> self.shift != 0
    }

    /// Whether an access by the workgroup lies behind a barrier.
    pub fn ordered(&self, other: &Noted) -> bool {
        let since = if self.elsewhere(other.thread) {
            self.since
        } else {
            self.since_own
        };
        self.noted.group == other.group && other.phase < since
    }
}

impl Noted {
    /// The instruction; instructions stay below 2^28.
    pub fn at(&self) -> u32 {
        self.at & !(MANY_THREADS | MANY_GROUPS | MANY_SUBGROUPS)
    }

    /// Whether all that is noted here is of the thread of `now`: by far the most frequent case.
    #[inline(always)]
    fn own(&self, now: &Now) -> bool {
        let unmarked = self.at < MANY_SUBGROUPS;
        self.thread == now.noted.thread && self.group == now.noted.group && unmarked
    }

    /// Whether some access noted here is of another thread than `now`, with no barrier between.
    #[inline(always)]
    fn apart(&self, now: &Now) -> bool {
        self.phase != 0 && !self.own(now) && self.apart_from_others(now)
    }

    #[inline(never)]
    fn apart_from_others(&self, now: &Now) -> bool {
        if self.group != now.noted.group || self.at & MANY_GROUPS != 0 {
            return true;
        }
        if self.at & MANY_SUBGROUPS != 0 || now.elsewhere(self.thread) {
            return self.phase >= now.since;
        }
        // Either it is another thread, or there were several.
        self.phase >= now.since_own
    }

    /// Notes `now` beside what is there.
    #[inline(always)]
    fn note(&mut self, now: &Now) {
        if self.own(now) {
            self.phase = now.noted.phase;
            self.at = now.noted.at;
        } else {
            self.note_beside(now);
        }
    }

    #[inline(never)]
    fn note_beside(&mut self, now: &Now) {
        let marks = if self.phase == 0 {
            0
        } else if self.group != now.noted.group {
            MANY_GROUPS
        } else if self.phase < now.since {
            self.at & MANY_GROUPS
        } else if now.elsewhere(self.thread) {
            self.at |= MANY_SUBGROUPS;
            return;
        } else if self.phase < now.since_own {
            self.at & (MANY_GROUPS | MANY_SUBGROUPS)
        } else {
            if self.thread != now.noted.thread {
                self.at |= MANY_THREADS;
            }
            return;
        };
        *self = now.noted;
        self.at |= marks;
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
    fn touch(&mut self, touch: Touch, now: &Now) -> Result<(), (Touch, Noted)> {
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

    /// Puts phases from `since` on down to 2 and those before to 1.
    fn compress(&mut self, since: u32) {
        for noted in [
            &mut self.read,
            &mut self.write,
            &mut self.atomic_read,
            &mut self.atomic_write,
        ] {
            if noted.phase != 0 {
                noted.phase = if noted.phase < since { 1 } else { 2 };
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
    /// The first phase after the workgroup's last barrier.
    since: u32,
    /// The first phase after the last barrier of each subgroup that is kept; 0 without any.
    since_own: Vec<u32>,
}

impl Shadow {
    /// Begins a launch with this many cells, words of shared bits, masks of private elements and subgroups that are kept.
    pub fn begin(&mut self, cells: usize, shared: usize, private: usize, subgroups: usize) {
        self.cells.clear();
        self.cells.resize(cells, Cell::default());
        self.shared.clear();
        self.shared.resize(shared, 0);
        self.private.clear();
        self.private.resize(private, 0);
        self.since_own.clear();
        self.since_own.resize(subgroups, 0);
        self.phase = 1;
        self.since = 1;
    }

    /// A subgroup begins.
    pub fn begin_subgroup(&mut self, slot: usize) {
        if let Some(since) = self.since_own.get_mut(slot) {
            *since = 0;
        }
    }

    /// A barrier of the workgroup has been passed, or a workgroup begins.
    pub fn next_phase(&mut self) {
        self.phase = self.phase.checked_add(1).unwrap_or_else(|| {
            // Once in 2^32 barriers. Another workgroup's access stays one; the own ones lie behind a barrier.
            self.cells
                .iter_mut()
                .for_each(|cell| cell.compress(u32::MAX));
            self.since_own.fill(0);
            3
        });
        self.since = self.phase;
    }

    /// A barrier of a subgroup has been passed.
    pub fn subgroup_barrier(&mut self, slot: usize) {
        self.phase = self.phase.checked_add(1).unwrap_or_else(|| {
            // What other subgroups did is taken for done before their last barrier.
            let since = self.since;
            self.cells.iter_mut().for_each(|cell| cell.compress(since));
            self.since_own.fill(3);
            self.since = 2;
            3
        });
        if let Some(since) = self.since_own.get_mut(slot) {
            *since = self.phase;
        }
    }

    /// Accesses of thread `thread` of workgroup `group` by instruction `at`, now; its subgroup is kept in `slot` and has
    /// 2^`shift` lanes.
    pub fn now(&self, group: u32, thread: u32, at: u32, slot: usize, shift: u32) -> Now {
        let since_own = self.since_own.get(slot).copied().unwrap_or(0);
        Now {
            noted: Noted {
                group,
                phase: self.phase,
                thread,
                at,
            },
            since: self.since,
            since_own: since_own.max(self.since),
            shift,
        }
    }

    /// Notes an access to a run of cells, or gives one that it races with.
    #[inline(always)]
    pub fn touch(
        &mut self,
        first: usize,
        count: usize,
        touch: Touch,
        now: &Now,
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

    /// An access in a phase that began with a barrier of the workgroup; subgroups have 4 lanes.
    fn noted(group: u32, phase: u32, thread: u32) -> Now {
        Now {
            noted: Noted {
                group,
                phase,
                thread,
                at: 9,
            },
            since: phase,
            since_own: phase,
            shift: 2,
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
                let after = |now: Now| {
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
    fn a_barrier_of_a_subgroup_orders_its_own_accesses_alone() {
        let mut shadow = Shadow::default();
        shadow.begin(4, 0, 0, 2);
        // Threads 0 to 3 are in subgroup 0, 4 to 7 in subgroup 1.
        let mut access = |cell, touch, thread, barrier: Option<usize>| {
            if let Some(slot) = barrier {
                shadow.subgroup_barrier(slot);
            }
            let now = shadow.now(1, thread, 9, thread as usize / 4, 2);
            let raced = shadow.touch(cell, 1, touch, &now);
            raced
                .err()
                .map(|(_, other)| (other.thread, now.ordered(&other)))
        };
        assert_eq!(access(0, Write, 0, None), None);
        assert_eq!(
            access(0, Read, 1, None),
            Some((0, false)),
            "without a barrier"
        );
        assert_eq!(
            access(0, Read, 1, Some(1)),
            Some((0, false)),
            "the other's barrier"
        );
        assert_eq!(access(0, Read, 1, Some(0)), None, "behind it");
        assert_eq!(access(0, Read, 2, None), None);
        assert_eq!(
            access(0, Write, 1, None),
            Some((1, false)),
            "2 has read too"
        );
        assert_eq!(access(0, Write, 1, Some(0)), None);
        assert_eq!(
            access(0, Read, 4, None),
            Some((1, false)),
            "another subgroup"
        );
        assert_eq!(
            access(0, Read, 4, Some(1)),
            Some((1, false)),
            "whatever its barriers"
        );

        // A barrier of one of two subgroups that have read leaves the other's read.
        assert_eq!(access(1, Read, 0, None), None);
        assert_eq!(access(1, Read, 5, None), None);
        assert_eq!(
            access(1, Write, 1, Some(0)),
            Some((0, true)),
            "not that of 0"
        );
        assert_eq!(access(1, Read, 1, None), None);
        assert_eq!(access(1, Write, 2, Some(0)), Some((1, true)));
        assert_eq!(access(1, Write, 5, Some(1)), Some((1, false)));
        shadow.next_phase();
        let now = shadow.now(1, 2, 9, 0, 2);
        assert_eq!(
            shadow.touch(1, 1, Write, &now),
            Ok(()),
            "behind the workgroup's"
        );
    }

    #[test]
    fn phases_start_over() {
        let mut shadow = Shadow::default();
        shadow.begin(3, 1, 0, 2);
        shadow.phase = u32::MAX - 1;
        shadow.since = u32::MAX - 1;
        let now = shadow.now(1, 0, 9, 0, 2);
        assert_eq!(shadow.touch(0, 2, Write, &now), Ok(()));
        shadow.next_phase();
        shadow.next_phase();
        let now = shadow.now(1, 7, 9, 0, 2);
        assert_eq!(shadow.touch(0, 2, Write, &now), Ok(()));
        let now = shadow.now(2, 7, 9, 0, 2);
        assert!(shadow.touch(0, 1, Write, &now).is_err());

        shadow.phase = u32::MAX;
        shadow.since = u32::MAX;
        let now = shadow.now(1, 0, 9, 0, 2);
        assert_eq!(shadow.touch(2, 1, Write, &now), Ok(()));
        shadow.subgroup_barrier(0);
        let now = shadow.now(1, 1, 9, 0, 2);
        assert_eq!(shadow.touch(2, 1, Read, &now), Ok(()));
        let now = shadow.now(1, 4, 9, 1, 2);
        assert!(shadow.touch(2, 1, Read, &now).is_err(), "another subgroup");

        shadow.write_shared(63);
        assert!(shadow.shared_written(63) && !shadow.shared_written(62));
    }
}
