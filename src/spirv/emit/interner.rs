//! One id for each type, constant and pointer type: a small open-addressed table, kept between modules.

use core::hash::{BuildHasher, Hasher};

/// What makes an entry one of its kind: opcode (or a stand-in), and up to three operand words. Bits are the key, so
/// −0.0 and +0.0, or two NaNs, stay apart.
pub(super) type Key = [u32; 4];

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
    filled: usize,
    stamp: u32,
    /// Random, so that a stored kernel cannot choose constants that collide. Ids do not depend on it.
    seed: [u64; 2],
}

impl Default for Interner {
    fn default() -> Interner {
        let random = || std::hash::RandomState::new().build_hasher().finish();
        Interner {
            slots: vec![Slot::default(); 256],
            filled: 0,
            stamp: 1,
            seed: [random(), random()],
        }
    }
}

/// What a look-up found.
pub(super) enum Found {
    /// The id.
    Id(u32),
    /// The slot to fill.
    Vacant(usize),
}

impl Interner {
    pub(super) fn clear(&mut self) {
        self.filled = 0;
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            // Stamps repeat after 2^32 modules: forget the old ones.
            self.slots.fill(Slot::default());
            self.stamp = 1;
        }
    }

    #[inline]
    fn hash(&self, key: &Key) -> usize {
        let a = (u64::from(key[0]) | u64::from(key[1]) << 32) ^ self.seed[0];
        let b = (u64::from(key[2]) | u64::from(key[3]) << 32) ^ self.seed[1];
        let product = u128::from(a) * u128::from(b);
        // Both halves count; the truncations are the hash.
        ((product as u64) ^ (product >> 64) as u64) as usize
    }

    /// Looks `key` up. A vacant slot must be filled before the next look-up.
    #[inline]
    pub(super) fn find(&self, key: &Key) -> Found {
        let mask = self.slots.len() - 1;
        let mut at = self.hash(key) & mask;
        // At least half of the slots are empty, so this ends.
        loop {
            match self.slots.get(at) {
                Some(slot) if slot.stamp != self.stamp => return Found::Vacant(at),
                Some(slot) if slot.key == *key => return Found::Id(slot.id),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Fills the slot that [`Interner::find`] gave.
    #[inline]
    pub(super) fn fill(&mut self, at: usize, key: Key, id: u32) {
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot {
                key,
                id,
                stamp: self.stamp,
            };
            self.filled += 1;
            if self.filled * 2 > self.slots.len() {
                self.grow();
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let bigger = vec![Slot::default(); self.slots.len() * 2];
        let old = core::mem::replace(&mut self.slots, bigger);
        self.filled = 0;
        for slot in old {
            if slot.stamp == self.stamp
                && let Found::Vacant(at) = self.find(&slot.key)
            {
                self.fill(at, slot.key, slot.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_it_was_given_and_forgets_on_clear() {
        let mut table = Interner::default();
        for round in 0..3 {
            for i in 0..2000u32 {
                let key = [43, 1, i, i.rotate_left(7)];
                match table.find(&key) {
                    Found::Vacant(at) => table.fill(at, key, i + round),
                    Found::Id(id) => panic!("{id} was never put in"),
                }
            }
            for i in 0..2000u32 {
                assert!(matches!(
                    table.find(&[43, 1, i, i.rotate_left(7)]),
                    Found::Id(id) if id == i + round
                ));
            }
            table.clear();
        }
    }

    #[test]
    fn a_repeated_stamp_finds_nothing_old() {
        let mut table = Interner::default();
        table.clear();
        let key = [1, 2, 3, 4];
        if let Found::Vacant(at) = table.find(&key) {
            table.fill(at, key, 7);
        }
        table.stamp = u32::MAX;
        table.clear();
        assert_eq!(table.stamp, 1);
        assert!(matches!(table.find(&key), Found::Vacant(_)));
    }
}
