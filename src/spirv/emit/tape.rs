//! A growing list of words whose unused memory stays initialised, so that whoever writes does so into a plain slice, of a
//! length known when kernite is compiled wherever that can be.

/// Words, with room behind them and, where it was asked for, in front.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// The words written, between what an earlier module left or zeros.
    memory: Vec<u32>,
    /// Where the words begin. What is in front is kept from one module to the next.
    start: usize,
    end: usize,
}

impl Tape {
    /// An empty one with room for so many words in front.
    pub(super) fn with_front(words: usize) -> Tape {
        Tape {
            memory: Vec::new(),
            start: words,
            end: words,
        }
    }

    pub(super) fn clear(&mut self) {
        self.end = self.start;
    }

    /// Forgets what is behind the first `words`.
    pub(super) fn truncate(&mut self, words: usize) {
        self.end = self.end.min(self.start + words);
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    pub(super) fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// The words written.
    pub(super) fn words(&self) -> &[u32] {
        self.memory.get(self.start..self.end).unwrap_or(&[])
    }

    /// A word that has been written.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut u32> {
        self.memory
            .get_mut(self.start..self.end)
            .and_then(|words| words.get_mut(at))
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

    /// Appends two instructions.
    #[inline(always)]
    pub(super) fn put_both<const A: usize, const B: usize>(&mut self, a: [u32; A], b: [u32; B]) {
        // At most twice, as below.
        loop {
            let room = self.memory.get_mut(self.end..self.end + (A + B));
            if let Some(room) = room
                && let Some((first, rest)) = room.split_first_chunk_mut()
                && let Some(second) = rest.first_chunk_mut()
            {
                (*first, *second) = (a, b);
                break;
            }
            self.grow(A + B);
        }
        self.end += A + B;
    }

    /// Appends the first `count` of these words.
    #[inline(always)]
    pub(super) fn put_first<const N: usize>(&mut self, words: [u32; N], count: usize) {
        // At most twice. Nothing takes the words' address, which would send them through the stack.
        loop {
            let room = self.memory.get_mut(self.end..self.end + N);
            if let Some(room) = room.and_then(|room| room.first_chunk_mut()) {
                *room = words;
                break;
            }
            self.grow(N);
        }
        // At most as many as there was room for.
        self.end += count.min(N);
    }

    /// Appends a copy.
    #[inline]
    pub(super) fn extend_from_slice(&mut self, words: &[u32]) {
        if let Some(room) = self.room(words.len()).get_mut(..words.len()) {
            room.copy_from_slice(words);
            self.end += words.len();
        }
    }

    /// Appends the words of an iterator.
    pub(super) fn extend(&mut self, words: impl Iterator<Item = u32>) {
        words.for_each(|word| self.push(word));
    }

    /// Puts words in front of the one that is at `at`.
    pub(super) fn insert(&mut self, at: usize, words: &[u32]) {
        self.extend_from_slice(words);
        if let Some(tail) = self.memory.get_mut(self.start + at..self.end) {
            tail.rotate_right(words.len());
        }
    }

    /// The room behind the words, at least `least` of it.
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [u32] {
        if self.memory.len().saturating_sub(self.end) < least {
            self.grow(least);
        }
        self.memory.get_mut(self.end..).unwrap_or(&mut [])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        // Lengths are counts of words in memory, so that their sum does not overflow.
        let len = (self.end + more).max(self.memory.len() * 2).max(256);
        self.memory.resize(len, 0);
    }

    /// Takes the first `words` of the room as written.
    #[inline(always)]
    pub(super) fn advance(&mut self, words: usize) {
        self.end = (self.end + words).min(self.memory.len());
    }

    /// So many words in front of the written ones, and those.
    ///
    /// Where there is too little room in front, the words move once, and the room stays for later modules.
    pub(super) fn from_front(&mut self, length: usize) -> &mut [u32] {
        if self.start < length {
            self.widen_front(length * 2);
        }
        self.memory
            .get_mut(self.start - length..self.end)
            .unwrap_or(&mut [])
    }

    #[cold]
    #[inline(never)]
    fn widen_front(&mut self, start: usize) {
        let by = start - self.start;
        // Zeros behind the words, which then change places with them.
        self.room(by);
        let end = self.end + by;
        if let Some(all) = self.memory.get_mut(self.start..end) {
            all.rotate_right(by);
        }
        (self.start, self.end) = (start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_each_other_however_they_are_written() {
        let mut tape = Tape::default();
        for round in 0..3 {
            tape.push(1);
            tape.put([2, 3]);
            tape.put_first([4, 5, 9, 9], 2);
            tape.extend_from_slice(&[6; 300]);
            tape.extend(7..=8);
            tape.insert(1, &[10, 11]);
            let mut expected = vec![1, 10, 11, 2, 3, 4, 5];
            expected.extend([6; 300]);
            expected.extend([7, 8]);
            assert_eq!(tape.words(), expected, "round {round}");
            assert_eq!(tape.get_mut(6), Some(&mut 5));
            assert_eq!(tape.get_mut(309), None);
            assert_eq!(tape.len(), 309);
            tape.clear();
            assert!(tape.is_empty());
        }
    }

    #[test]
    fn what_is_in_front_is_made_room_for() {
        let mut tape = Tape::with_front(2);
        for length in [0, 1, 2, 3, 500, 7, 2000] {
            tape.clear();
            tape.extend(0..1000);
            let all = tape.from_front(length);
            assert_eq!(all.len(), length + 1000);
            all[..length].fill(u32::MAX);
            assert_eq!(tape.words(), (0..1000).collect::<Vec<_>>(), "{length}");
        }
        assert!(Tape::with_front(8).from_front(8).is_empty());
    }
}
