//! Where the lines of a PTX template go: three ways to write a number.

use std::fmt::Write;

/// Takes pieces of text and numbers.
pub trait Sink {
    /// Appends text.
    fn text(&mut self, text: &str);
    /// Appends a number in decimal.
    fn number(&mut self, number: u32);
    /// Called in front of each line; no line is longer than `LINE`.
    #[inline(always)]
    fn line(&mut self) {}
}

/// The most bytes of a line.
pub const LINE: usize = 128;

/// Text and numbers by the crate `itoa`, appended to a vector.
#[derive(Debug, Default)]
pub struct Itoa(pub Vec<u8>);

impl Sink for Itoa {
    #[inline(always)]
    fn text(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    #[inline(always)]
    fn number(&mut self, number: u32) {
        let mut buffer = itoa::Buffer::new();
        self.0.extend_from_slice(buffer.format(number).as_bytes());
    }
}

/// Text and numbers by `core::fmt`, appended to a string.
#[derive(Debug, Default)]
pub struct Fmt(pub String);

impl Sink for Fmt {
    #[inline(always)]
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    #[inline(always)]
    fn number(&mut self, number: u32) {
        write!(self.0, "{number}").expect("a string takes everything");
    }
}

/// A kept buffer with room made once a line, numbers by a table of two digits.
#[derive(Debug, Default)]
pub struct Digits {
    bytes: Vec<u8>,
    at: usize,
}

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

impl Digits {
    /// Begins again in the same memory.
    pub fn clear(&mut self) {
        self.at = 0;
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline(always)]
    fn pair(&mut self, number: u32) {
        self.put(&PAIRS[number as usize]);
    }

    /// Below 100, without a leading zero.
    #[inline(always)]
    fn leading(&mut self, number: u32) {
        if number < 10 {
            self.put(&[b'0' + number as u8]);
        } else {
            self.pair(number);
        }
    }
}

impl Sink for Digits {
    #[inline(always)]
    fn line(&mut self) {
        if self.bytes.len() - self.at < LINE {
            self.bytes.resize(2 * self.bytes.len() + 4096, 0);
        }
    }

    #[inline(always)]
    fn text(&mut self, text: &str) {
        self.put(text.as_bytes());
    }

    #[inline(always)]
    fn number(&mut self, number: u32) {
        if number < 100 {
            self.leading(number);
        } else if number < 10_000 {
            self.leading(number / 100);
            self.pair(number % 100);
        } else {
            self.put(itoa::Buffer::new().format(number).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sink_writes_the_same_numbers() {
        let mut digits = Digits::default();
        for number in [
            0,
            9,
            10,
            99,
            100,
            101,
            999,
            1000,
            9999,
            10_000,
            123_456,
            u32::MAX,
        ] {
            let (mut itoa, mut fmt) = (Itoa::default(), Fmt::default());
            itoa.number(number);
            fmt.number(number);
            digits.clear();
            digits.line();
            digits.number(number);
            assert_eq!(fmt.0, number.to_string());
            assert_eq!(itoa.0, fmt.0.as_bytes());
            assert_eq!(digits.written(), fmt.0.as_bytes());
        }
    }
}
