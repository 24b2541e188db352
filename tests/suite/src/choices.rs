//! Where random decisions come from: a list of numbers, so that a failing case can shrink by shortening the list and
//! lowering its numbers, and so that a fuzzer can supply it.

/// Decisions of one statement. Statements take theirs from blocks of so many, so that one can be left out, or made simpler,
/// without a change to those behind it.
pub const BLOCK: usize = 24;

/// Decisions of a kernel of usual size: its head and forty statements.
pub const DECISIONS: usize = 41 * BLOCK;

/// A run of decisions. When it is used up every answer is 0, which is always the simplest choice.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    words: &'a [u32],
    at: usize,
    /// Where the block ends; past it every answer is 0.
    end: usize,
    /// Where the next block begins.
    next: usize,
}

impl<'a> Choices<'a> {
    /// Takes the decisions from `words`, without regard to blocks until [`Choices::block`] is called.
    pub fn new(words: &'a [u32]) -> Choices<'a> {
        Choices {
            words,
            at: 0,
            end: words.len(),
            next: BLOCK,
        }
    }

    /// Goes on with the next block.
    pub fn block(&mut self) {
        self.at = self.next;
        self.next += BLOCK;
        self.end = self.next.min(self.words.len());
    }

    /// The next number.
    pub fn word(&mut self) -> u32 {
        let word = match self.words.get(self.at) {
            Some(&word) if self.at < self.end => word,
            _ => 0,
        };
        self.at += 1;
        word
    }

    /// A number below `n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let word = self.word() as usize;
        if n == 0 { 0 } else { word % n }
    }

    /// True in `yes` of `of` cases; false for a 0.
    pub fn chance(&mut self, yes: u32, of: u32) -> bool {
        of - 1 - self.word() % of < yes
    }

    /// One of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Whether no block is left.
    pub fn is_empty(&self) -> bool {
        self.next >= self.words.len()
    }
}

/// A stream of numbers by SplitMix64 (Steele, Lea and Flood, 2014), the same on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// The stream of a seed.
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The first `n` decisions of a seed.
    pub fn decisions(seed: u64, n: usize) -> Vec<u32> {
        let mut stream = SplitMix::new(seed);
        (0..n).map(|_| (stream.next_u64() >> 32) as u32).collect()
    }
}
