//! A growing list of words whose unused memory stays initialised, so that whoever writes does so into a plain slice, of a
//! length known when kernite is compiled wherever that can be.

/// Words, and room behind them.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// The words written, then zeros or what an earlier module left.
    memory: Vec<u32>,
    len: usize,
}

impl Tape {
    /// Begins anew, behind so many words that are written last: see [`Tape::all_from`].
    pub(super) fn begin_at(&mut self, front: usize) {
        self.len = front;
    }

    /// The number of words, with those to be written in front.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A word that has been written.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut u32> {
        let words = self.memory.get_mut(..self.len)?;
        words.get_mut(at)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, word: u32) {
        self.put([word]);
    }

    /// Appends words of which the number is known.
    #[inline(always)]
    pub(super) fn put<const N: usize>(&mut self, words: [u32; N]) {
        self.put_first(words, N);
    }

    /// Appends the first `count` of these words.
    #[inline(always)]
    pub(super) fn put_first<const N: usize>(&mut self, words: [u32; N], count: usize) {
        // At most twice. Nothing takes the words' address, which would send them through the stack.
        loop {
            if let Some(room) = self.behind(self.len) {
                *room = words;
                break;
            }
            self.grow(N);
        }
        // At most as many as there was room for.
        self.len += count.min(N);
    }

    /// Appends a copy.
    #[inline]
    pub(super) fn extend_from_slice(&mut self, words: &[u32]) {
        if let Some(room) = self.room(words.len()).get_mut(..words.len()) {
            room.copy_from_slice(words);
            self.len += words.len();
        }
    }

    /// Puts words in front of the one that is at `at`.
    pub(super) fn insert(&mut self, at: usize, words: &[u32]) {
        self.extend_from_slice(words);
        if let Some(tail) = self.memory.get_mut(at..self.len) {
            tail.rotate_right(words.len());
        }
    }

    /// The words from `at` on, of which the first may not have been written yet.
    pub(super) fn all_from(&mut self, at: usize) -> &mut [u32] {
        self.memory.get_mut(at..self.len).unwrap_or(&mut [])
    }

    /// Moves the words from `at` on up by so many.
    #[cold]
    pub(super) fn move_up(&mut self, at: usize, by: usize) {
        // They change places with what is behind them.
        self.room(by);
        self.len += by;
        if let Some(all) = self.memory.get_mut(at..self.len) {
            all.rotate_right(by);
        }
    }

    /// The room behind the words, at least `least` of it.
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [u32] {
        self.make_room(least);
        self.memory.get_mut(self.len..).unwrap_or(&mut [])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        // Lengths are counts of words in memory, so that their sum does not overflow.
        let len = (self.len + more).max(self.memory.len() * 2).max(256);
        self.memory.resize(len, 0);
    }

    /// The room behind the first `len` words, if there is as much.
    #[inline(always)]
    pub(super) fn behind<const N: usize>(&mut self, len: usize) -> Option<&mut [u32; N]> {
        // It is below; the compiler sees now that the sum does not overflow.
        let len = len & (usize::MAX >> 1);
        self.memory.get_mut(len..len + N)?.first_chunk_mut()
    }

    /// Takes the first `len` words as written: see [`Tape::behind`].
    #[inline(always)]
    pub(super) fn set_len(&mut self, len: usize) {
        self.len = len;
    }

    /// Makes room for so many words if there is none; gives whether there was not.
    #[inline(always)]
    pub(super) fn make_room(&mut self, words: usize) -> bool {
        let full = self.memory.len().saturating_sub(self.len) < words;
        if full {
            self.grow(words);
        }
        full
    }

    /// Takes the first `words` of the room as written.
    #[inline(always)]
    pub(super) fn advance(&mut self, words: usize) {
        self.len = (self.len + words).min(self.memory.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_each_other_however_they_are_written() {
        let mut tape = Tape::default();
        for round in 0..3 {
            tape.begin_at(2);
            tape.push(1);
            tape.put([2, 3]);
            tape.put_first([4, 5, 9, 9], 2);
            tape.extend_from_slice(&[6; 303]);
            tape.insert(3, &[10, 11]);
            let len = tape.len();
            tape.make_room(4);
            if let Some(room) = tape.behind(len) {
                *room = [7, 8, 9, 9];
            }
            tape.set_len(len + 2);
            let mut expected = vec![1, 10, 11, 2, 3, 4, 5];
            expected.extend([6; 303]);
            expected.extend([7, 8]);
            assert_eq!(tape.all_from(2), expected, "round {round}");
            assert_eq!(tape.get_mut(8), Some(&mut 5));
            assert_eq!(tape.get_mut(314), None);
            assert_eq!(tape.len(), 314);
        }
    }

    #[test]
    fn there_is_room_in_front() {
        let mut tape = Tape::default();
        for (front, wider) in [(0, 1), (2, 3), (5, 5), (5, 2000), (2000, 2001)] {
            tape.begin_at(front);
            for word in 0..1000 {
                tape.push(word);
            }
            tape.move_up(front, wider - front);
            let all = tape.all_from(1);
            all[..wider - 1].fill(u32::MAX);
            assert_eq!(all.len(), wider - 1 + 1000);
            assert!(all[wider - 1..].iter().copied().eq(0..1000), "{front}");
        }
    }
}
