//! A growing list of words, for what is written in small pieces: one check a piece.

/// A section of a module.
#[derive(Debug, Default)]
pub(super) struct Section {
    words: Vec<u32>,
}

impl Section {
    pub(super) fn clear(&mut self) {
        self.words.clear();
    }

    /// Forgets what is behind the first `words`.
    #[inline(always)]
    pub(super) fn truncate(&mut self, words: usize) {
        self.words.truncate(words);
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[u32] {
        &self.words
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut u32> {
        self.words.get_mut(at)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, word: u32) {
        self.words.push(word);
    }

    /// Whether so many words more would take memory.
    #[inline(always)]
    pub(super) fn lacks(&self, words: usize) -> bool {
        self.words.capacity() - self.words.len() < words
    }

    #[cold]
    pub(super) fn reserve(&mut self, words: usize) {
        self.words.reserve(words);
    }

    /// Appends words of which the number is known.
    #[inline(always)]
    pub(super) fn put<const N: usize>(&mut self, words: [u32; N]) {
        self.words.extend_from_slice(&words);
    }

    /// Appends the first `count` of these words.
    #[inline(always)]
    pub(super) fn put_first<const N: usize>(&mut self, words: [u32; N], count: usize) {
        let len = self.words.len() + count;
        self.put(words);
        self.truncate(len);
    }

    /// Appends a copy.
    #[inline]
    pub(super) fn extend_from_slice(&mut self, words: &[u32]) {
        self.words.extend_from_slice(words);
    }

    /// Appends the words of an iterator.
    pub(super) fn extend(&mut self, words: impl Iterator<Item = u32>) {
        self.words.extend(words);
    }

    /// Puts the last `count` words in front of the one that is at `at`.
    #[cold]
    pub(super) fn rotate(&mut self, at: usize, count: usize) {
        if let Some(tail) = self.words.get_mut(at..) {
            tail.rotate_right(count.min(tail.len()));
        }
    }

    /// Appends a literal string (SPIR-V section 2.2.1): UTF-8, little-endian in its words, a NUL at the end.
    pub(super) fn string(&mut self, text: &str) {
        let (quads, rest) = text.as_bytes().as_chunks::<4>();
        let last = match text.as_bytes().last_chunk::<4>() {
            // What is left of it behind the quads is in the upper bytes.
            Some(&end) => (u64::from(u32::from_le_bytes(end)) << (8 * rest.len()) >> 32) as u32,
            None => rest
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u32::from(byte)),
        };
        let words = quads.iter().map(|&quad| u32::from_le_bytes(quad));
        self.words.extend(words);
        self.words.push(last);
    }
}

/// The words of a literal string.
pub(super) fn string_words(text: &str) -> usize {
    text.len() / 4 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_each_other_however_they_are_written() {
        let mut section = Section::default();
        for round in 0..3 {
            section.push(1);
            section.put([2, 3]);
            section.put_first([4, 5, 9, 9], 2);
            section.extend_from_slice(&[6; 300]);
            section.extend(7..=8);
            let mut expected = vec![1, 2, 3, 4, 5];
            expected.extend([6; 300]);
            expected.extend([7, 8]);
            assert_eq!(section.words(), expected, "round {round}");
            assert_eq!(section.get_mut(4), Some(&mut 5));
            assert_eq!(section.get_mut(307), None);
            section.truncate(2);
            assert_eq!((section.words(), section.len()), (&[1, 2][..], 2));
            section.clear();
        }
    }

    #[test]
    fn strings_end_with_a_nul() {
        for (text, words) in [
            ("", vec![0]),
            ("abc", vec![0x0063_6261]),
            ("abcd", vec![0x6463_6261, 0]),
            (
                "GLSL.std.450",
                vec![0x4C53_4C47, 0x6474_732E, 0x3035_342E, 0],
            ),
            ("ä", vec![0xA4C3]),
        ] {
            let mut section = Section::default();
            section.string(text);
            assert_eq!(section.words(), words, "{text}");
            assert_eq!(string_words(text), words.len());
        }
    }
}
