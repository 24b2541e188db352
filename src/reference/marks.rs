//! What a thread read and wrote in the buffers, where workgroups run in parallel.

/// A bit for each granule of the buffers that are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub read: Bits,
    pub written: Bits,
}

impl Marks {
    /// Begins with no mark set.
    pub fn begin(&mut self, words: usize) {
        self.read.begin(words);
        self.written.begin(words);
    }
}

/// A set of granules.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    fn begin(&mut self, words: usize) {
        self.0.clear();
        self.0.resize(words, 0);
    }

    /// Sets `count` bits from `first` on.
    #[inline(always)]
    pub fn set(&mut self, first: usize, count: usize) {
        for bit in first..first + count {
            if let Some(word) = self.0.get_mut(bit / 64) {
                *word |= 1 << (bit % 64);
            }
        }
    }

    /// 64 bits, the first of them at 64 times `at`.
    pub fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}
