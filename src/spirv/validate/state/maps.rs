//! What is looked up for every operand: ids and capabilities.

use super::Idx;

/// Ids to definitions: a table of as many ids as the module has words, which is all of them in
/// any module that means them. Those beyond are in pages that are made on first mention, so that
/// a high bound alone costs a few bytes for each 256 ids.
#[derive(Debug, Default)]
pub(in super::super) struct IdMap {
    near: Vec<Idx>,
    top: Vec<u32>,
    pages: Vec<[Idx; 256]>,
}

impl IdMap {
    pub(super) fn reset(&mut self, bound: u32, words: usize) {
        let near = words.min(bound as usize);
        self.near.clear();
        self.near.resize(near, 0);
        self.top.clear();
        self.top.resize((bound as usize - near).div_ceil(256), 0);
        self.pages.clear();
    }

    #[inline]
    pub(in super::super) fn get(&self, id: u32) -> Idx {
        match self.near.get(id as usize) {
            Some(&idx) => idx,
            None => self.far(id),
        }
    }

    #[cold]
    fn far(&self, id: u32) -> Idx {
        let id = id as usize - self.near.len();
        let page = match self.top.get(id >> 8) {
            Some(&page) if page != 0 => page as usize - 1,
            _ => return 0,
        };
        self.pages.get(page).map_or(0, |page| page[id & 0xFF])
    }

    /// The place of an id below the bound.
    #[inline]
    pub(super) fn slot(&mut self, id: u32) -> Option<&mut Idx> {
        if (id as usize) < self.near.len() {
            self.near.get_mut(id as usize)
        } else {
            self.far_slot(id)
        }
    }

    #[cold]
    fn far_slot(&mut self, id: u32) -> Option<&mut Idx> {
        let id = (id as usize).checked_sub(self.near.len())?;
        let top = self.top.get_mut(id >> 8)?;
        if *top == 0 {
            self.pages.push([0; 256]);
            *top = u32::try_from(self.pages.len()).ok()?;
        }
        self.pages
            .get_mut(*top as usize - 1)
            .map(|page| &mut page[id & 0xFF])
    }
}

/// A set of capabilities, by their rows.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct CapSet([u64; 6]);

impl CapSet {
    pub(in super::super) fn insert(&mut self, row: u16) -> bool {
        match self.0.get_mut(usize::from(row) / 64) {
            Some(word) => {
                let bit = 1 << (row % 64);
                let new = *word & bit == 0;
                *word |= bit;
                new
            }
            None => false,
        }
    }

    #[inline]
    pub(in super::super) fn contains(&self, row: u16) -> bool {
        self.0
            .get(usize::from(row) / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Whether one of these is in the set; true of no rows.
    #[inline]
    pub(in super::super) fn any(&self, rows: &[u16]) -> bool {
        rows.is_empty() || rows.iter().any(|&row| self.contains(row))
    }
}
