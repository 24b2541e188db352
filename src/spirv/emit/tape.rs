//! A growing list of words whose unused memory stays initialised, so that the fast path writes into a plain slice.

/// Words, and room behind them.
#[derive(Debug, Default)]
pub(super) struct Tape {
    /// The words written, then zeros or what an earlier module left.
    memory: Vec<u32>,
    len: usize,
}

impl Tape {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The words written.
    pub(super) fn words(&self) -> &[u32] {
        self.memory.get(..self.len).unwrap_or(&[])
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut u32> {
        if at < self.len {
            self.memory.get_mut(at)
        } else {
            None
        }
    }

    #[inline]
    pub(super) fn push(&mut self, word: u32) {
        self.extend_from_slice(&[word]);
    }

    #[inline(always)]
    pub(super) fn extend_from_slice(&mut self, words: &[u32]) {
        // Lengths are counts of words in memory, so that their sum does not overflow.
        let end = self.len + words.len();
        if end > self.memory.len() {
            self.grow(words.len());
        }
        if let Some(room) = self.memory.get_mut(self.len..end) {
            room.copy_from_slice(words);
        }
        self.len = end;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let len = (self.len + more).max(self.memory.len() * 2).max(256);
        self.memory.resize(len, 0);
    }

    /// The room behind the words, at least `least` of it.
    #[inline]
    pub(super) fn room(&mut self, least: usize) -> &mut [u32] {
        if self.memory.len() - self.len < least {
            self.grow(least);
        }
        self.memory.get_mut(self.len..).unwrap_or(&mut [])
    }

    /// Takes the first `words` of the room as written.
    #[inline]
    pub(super) fn advance(&mut self, words: usize) {
        self.len = (self.len + words).min(self.memory.len());
    }
}
