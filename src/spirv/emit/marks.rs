//! The `NoContraction` decorations, of which a long kernel has as many as sums and products: they stand ready in memory but
//! for the ids.

use super::sections::head;
use spirv::{Decoration, Op};

/// The word of a decoration that is the id.
pub(super) const ID: usize = 1;

/// A list of ids to be decorated.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The decorations, and more behind them.
    memory: Vec<[u32; 3]>,
    len: usize,
}

impl Marks {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The decorations' words.
    pub(super) fn words(&self) -> &[u32] {
        self.memory.get(..self.len).unwrap_or(&[]).as_flattened()
    }

    pub(super) fn push(&mut self, id: u32) {
        if let Some(mark) = self.room(1).first_mut() {
            set(mark, id);
            self.advance(1);
        }
    }

    /// As [`Marks::push`], unless that takes memory; gives nothing then.
    #[inline(always)]
    pub(super) fn push_in_room(&mut self, id: u32) -> Option<()> {
        set(self.memory.get_mut(self.len)?, id);
        self.len += 1;
        Some(())
    }

    /// The same of two.
    #[inline(always)]
    pub(super) fn push_both_in_room(&mut self, a: u32, b: u32) -> Option<()> {
        let [first, second] = self.memory.get_mut(self.len..)?.first_chunk_mut()?;
        set(first, a);
        set(second, b);
        self.len += 2;
        Some(())
    }

    /// Takes memory for two if there is none; gives whether there was not.
    pub(super) fn make_room(&mut self) -> bool {
        let full = self.memory.len() - self.len < 2;
        if full {
            self.grow(2);
        }
        full
    }

    /// At least `least` decorations behind the list, whose ids are to be [`set`].
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [[u32; 3]] {
        if self.memory.len() - self.len < least {
            self.grow(least);
        }
        self.memory.get_mut(self.len..).unwrap_or(&mut [])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        const NONE: [u32; 3] = [head(Op::Decorate, 3), 0, Decoration::NoContraction as u32];
        // Lengths are counts of what is in memory, so that their sum does not overflow.
        let len = (self.len + more).max(self.memory.len() * 2).max(128);
        self.memory.resize(len, NONE);
    }

    /// Takes the first `marks` of the room into the list.
    #[inline(always)]
    pub(super) fn advance(&mut self, marks: usize) {
        self.len = (self.len + marks).min(self.memory.len());
    }
}

/// Decorates another id.
#[inline(always)]
fn set(mark: &mut [u32; 3], id: u32) {
    mark[ID] = id;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_decorations() {
        let mut marks = Marks::default();
        for first in [1, 7] {
            marks.clear();
            assert!(marks.is_empty());
            for id in first..first + 300 {
                marks.push(id);
            }
            let expected = (first..first + 300).flat_map(|id| [3 << 16 | 71, id, 42]);
            assert!(marks.words().iter().copied().eq(expected), "from {first}");
        }
    }
}
