//! One id for each type, constant and pointer type: a small open-addressed table, kept between modules; and a smaller one
//! for what small numbers name.

use core::hash::{BuildHasher, Hasher};

/// What makes an entry one of its kind: opcode (or a stand-in) and up to three operand words, two in each. Bits are the
/// key, so −0.0 and +0.0, or two NaNs, stay apart.
pub(super) type Key = [u64; 2];

/// The key of four words.
#[inline(always)]
pub(super) const fn key(op: u32, a: u32, b: u32, c: u32) -> Key {
    [op as u64 | (a as u64) << 32, b as u64 | (c as u64) << 32]
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: Key,
    id: u32,
    /// The module that filled it; any other is an empty slot.
    stamp: u32,
}

#[derive(Debug)]
pub(super) struct Interner {
    /// A power of two of slots, at most half of them filled.
    slots: Vec<Slot>,
    /// How many more may be filled.
    left: usize,
    stamp: u32,
    /// Random, so that a stored kernel cannot choose constants that collide. Ids do not depend on it.
    seed: [u64; 2],
}

impl Default for Interner {
    fn default() -> Interner {
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Interner {
            slots: vec![Slot::default(); 256],
            left: 128,
            stamp: 1,
            seed: [random(), random()],
        }
    }
}

impl Interner {
    pub(super) fn clear(&mut self) {
        self.left = self.slots.len() / 2;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            // Stamps repeat after 2^32 modules: forget the old ones.
            self.slots.fill(Slot::default());
            self.stamp = 1;
        }
    }

    #[inline(always)]
    fn hash(&self, [a, b]: Key) -> usize {
        let product = u128::from(a ^ self.seed[0]) * u128::from(b ^ self.seed[1]);
        // Both halves count; the truncations are the hash.
        ((product as u64) ^ (product >> 64) as u64) as usize
    }

    /// Whether it must [`Interner::grow`] before another key.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// The id of `key`. Where it has none, it gets `id`, and nothing is given.
    pub(super) fn find_or_fill(&mut self, key: Key, id: u32) -> Option<u32> {
        if self.is_full() {
            self.grow();
        }
        self.find_or_fill_one(key, id)
    }

    /// The same where it is not full.
    #[inline(always)]
    pub(super) fn find_or_fill_one(&mut self, key: Key, id: u32) -> Option<u32> {
        let mut at = self.hash(key);
        let mask = self.slots.len() - 1;
        // Half of the slots are empty, so this ends.
        loop {
            at &= mask;
            let slot = self.slots.get_mut(at)?;
            if slot.stamp != self.stamp {
                let stamp = self.stamp;
                *slot = Slot { key, id, stamp };
                break;
            }
            if slot.key == key {
                return Some(slot.id);
            }
            at += 1;
        }
        self.left = self.left.wrapping_sub(1);
        None
    }

    #[cold]
    #[inline(never)]
    pub(super) fn grow(&mut self) {
        let bigger = vec![Slot::default(); self.slots.len() * 2];
        let old = core::mem::replace(&mut self.slots, bigger);
        self.left = old.len();
        for slot in old {
            if slot.stamp == self.stamp {
                self.find_or_fill(slot.key, slot.id);
            }
        }
    }
}

/// Ids by numbers below 64 times the number of rows. Emptied by forgetting which there are.
#[derive(Debug)]
pub(super) struct Ids<const ROWS: usize> {
    /// Those there, as bits.
    there: [u64; ROWS],
    ids: [[u32; 64]; ROWS],
}

impl<const ROWS: usize> Default for Ids<ROWS> {
    fn default() -> Ids<ROWS> {
        Ids {
            there: [0; ROWS],
            ids: [[0; 64]; ROWS],
        }
    }
}

impl<const ROWS: usize> Ids<ROWS> {
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.there = [0; ROWS];
    }

    /// The id of the `n`th number of a row, modulo the number of rows, if there is one; of the 64th and later ones there
    /// is none.
    #[inline(always)]
    pub(super) fn get_in(&self, row: usize, n: u32) -> Option<u32> {
        let row = row % ROWS;
        let there = n < 64 && self.there[row] >> n & 1 == 1;
        there.then_some(self.ids[row][n as usize & 63])
    }

    /// Gives the `n`th number of a row its id; the 64th and later ones get none, as is given.
    #[inline(always)]
    pub(super) fn set_in(&mut self, row: usize, n: u32, id: u32) -> bool {
        let row = row % ROWS;
        let small = n < 64;
        if small {
            self.ids[row][n as usize & 63] = id;
            self.there[row] |= 1 << n;
        }
        small
    }

    /// The id of a number, if there is one.
    #[inline(always)]
    pub(super) fn get(&self, n: u32) -> Option<u32> {
        let row = (n >> 6) as usize;
        if row >= ROWS {
            return None;
        }
        self.get_in(row, n & 63)
    }

    /// Gives a number its id; one that is too great gets none, as is given.
    #[inline(always)]
    pub(super) fn set(&mut self, n: u32, id: u32) -> bool {
        let row = (n >> 6) as usize;
        row < ROWS && self.set_in(row, n & 63, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_it_was_given_and_forgets_on_clear() {
        let mut table = Interner::default();
        for round in 0..3 {
            let entries = || (0..2000u32).map(|i| (key(43, 1, i, i.rotate_left(7)), i + round));
            for (key, id) in entries() {
                assert_eq!(table.find_or_fill(key, id), None);
            }
            for (key, id) in entries() {
                assert_eq!(table.find_or_fill(key, 0), Some(id));
            }
            table.clear();
        }
    }

    #[test]
    fn small_numbers_have_ids_of_their_own() {
        let mut ids = Ids::<2>::default();
        for n in [0, 63, 64, 127, 128, u32::MAX] {
            assert_eq!(ids.get(n), None);
            assert_eq!(ids.set(n, n ^ 5), n < 128);
            assert_eq!(ids.get(n), (n < 128).then_some(n ^ 5));
        }
        ids.clear();
        assert_eq!(ids.get(63), None);
    }

    #[test]
    fn a_repeated_stamp_finds_nothing_old() {
        let mut table = Interner::default();
        table.clear();
        let key = key(1, 2, 3, 4);
        assert_eq!(table.find_or_fill(key, 7), None);
        table.stamp = u32::MAX;
        table.clear();
        assert_eq!(table.stamp, 1);
        assert_eq!(table.find_or_fill(key, 8), None);
    }
}
