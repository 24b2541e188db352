//! Vector clocks: what is known to be over, seen from a stream or from the host.

use std::collections::HashMap;

/// For each stream the number of its operations that come before.
#[derive(Clone, Default, Debug)]
pub struct Clock(HashMap<usize, u64>);

impl Clock {
    /// Everything that `other` has seen is seen.
    pub fn merge(&mut self, other: &Clock) {
        for (&stream, &count) in &other.0 {
            let mine = self.0.entry(stream).or_default();
            *mine = (*mine).max(count);
        }
    }

    /// The last operation of each stream that comes before.
    pub fn uses(&self) -> impl Iterator<Item = Use> {
        self.0.iter().map(|(&stream, &count)| Use { stream, count })
    }

    /// Whether an operation comes before.
    pub fn has_seen(&self, use_: Use) -> bool {
        self.0.get(&use_.stream).copied().unwrap_or(0) >= use_.count
    }

    /// The next operation of the clock's own stream.
    pub fn advance(&mut self, stream: usize) -> Use {
        let count = self.0.entry(stream).or_default();
        *count += 1;
        Use {
            stream,
            count: *count,
        }
    }
}

/// An operation of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub stream: usize,
    pub count: u64,
}
