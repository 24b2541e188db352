//! Mutations that are the same in every run.
#![forbid(unsafe_code)]

/// A small generator (xorshift64*): reproducible, and no dependency.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Seeded; 0 is as good as any other.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n` (0 if `n` is 0).
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % (n.max(1) as u64)) as usize
    }
}

/// How many mutants a test takes: `KERNITE_SEEDS`, or `default`.
///
/// # Panics
/// If the variable is no number.
#[must_use]
pub fn seeds(default: u64) -> u64 {
    match std::env::var("KERNITE_SEEDS") {
        Ok(n) => n
            .parse()
            .unwrap_or_else(|e| panic!("KERNITE_SEEDS={n}: {e}")),
        Err(_) => default,
    }
}

/// Words that sit on edges.
pub const EDGES: [u32; 16] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    16,
    24,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fff0,
    0xffff_fff8,
    0xffff_fffe,
    0xffff_ffff,
];

/// Changes `data` in one to four places: bits, bytes, words on edges, words slightly off, cuts,
/// inserts, copies.
pub fn mutate(data: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        if data.is_empty() {
            data.push(rng.next_u64() as u8);
            continue;
        }
        let at = rng.below(data.len());
        let word_at = if rng.below(4) == 0 { at } else { at & !3 };
        match rng.below(8) {
            0 => data[at] ^= 1 << rng.below(8),
            1 => data[at] = rng.next_u64() as u8,
            2 | 3 => {
                let w = EDGES[rng.below(EDGES.len())];
                put(data, word_at, w);
            }
            4 => {
                let old = get(data, word_at);
                let by = rng.below(17) as u32;
                put(data, word_at, old.wrapping_add(by).wrapping_sub(8));
            }
            5 => {
                let n = rng.below(data.len() - at).min(64);
                data.drain(at..at + n);
            }
            6 => {
                let n = 1 + rng.below(16);
                let fill = rng.next_u64() as u8;
                data.splice(at..at, std::iter::repeat_n(fill, n));
            }
            _ => {
                let from = rng.below(data.len());
                let w = get(data, from & !3);
                put(data, word_at, w);
            }
        }
    }
}

fn get(data: &[u8], at: usize) -> u32 {
    let mut w = [0; 4];
    for (b, d) in w.iter_mut().zip(data.iter().skip(at)) {
        *b = *d;
    }
    u32::from_le_bytes(w)
}

fn put(data: &mut [u8], at: usize, w: u32) {
    for (d, b) in data.iter_mut().skip(at).zip(w.to_le_bytes()) {
        *d = b;
    }
}
