//! Lines that are written without a check of each store: one comparison finds room for all of a line.

use super::piece::{Piece, ShortPiece, Tail};
use super::token::{Token, WIDE};

/// Room for many short lines, each of which begins where the one before ends.
pub(super) struct Lines<'w> {
    pub room: &'w mut [u8],
}

/// The room that a short line needs: a store may begin at any sum of a few `u8`, which the compiler knows to be below this.
pub(super) const SHORT: usize = 2048 + 32;
/// The room that a loop has at least.
pub(super) const LINES: usize = 4096;
/// The most that [`Lines::item`] takes.
pub(super) const ITEM: usize = 28 + 13 + 4;

/// A line of a mnemonic and up to four operands: at most 28 + 4 * 15 + 2 bytes, if none is wide.
pub(super) struct ShortLine<'w> {
    pub room: &'w mut [u8; SHORT],
    pub at: usize,
}

impl Lines<'_> {
    /// Begins a line, if there is room. What is not ended is as if it had not been begun.
    #[inline(always)]
    pub fn line(&mut self) -> Option<ShortLine<'_>> {
        let room = self.room.first_chunk_mut()?;
        Some(ShortLine { room, at: 0 })
    }

    /// As [`super::writer::Writer::item`], if there is room.
    #[inline(always)]
    pub fn item(&mut self, piece: &Piece, token: Token, tail: Tail) {
        if let Some(line) = self.line() {
            let end = line.piece(piece, token).tail(tail);
            self.next(end);
        }
    }

    /// Ends a line, at the position that [`ShortLine::end`] gave.
    #[inline(always)]
    pub fn next(&mut self, end: usize) {
        let room = core::mem::take(&mut self.room);
        self.room = room.get_mut(end..).unwrap_or(&mut []);
    }

    pub fn left(&self) -> usize {
        self.room.len()
    }
}

impl ShortLine<'_> {
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        if let Some(room) = self.room.get_mut(self.at..self.at + N) {
            room.copy_from_slice(bytes);
        }
    }

    /// A piece of at least two bytes and a first operand, as that of [`super::writer::Line::begin`].
    #[inline(always)]
    pub fn piece(mut self, piece: &Piece, first: Token) -> Self {
        self.put(piece.whole());
        self.at += piece.end_at();
        self.put(&first.halves());
        self.put(&piece.end());
        self.at += first.len();
        self
    }

    /// `, [base+offset]`
    #[inline(always)]
    pub fn bracket(mut self, base: &Token, offset: u32) -> Self {
        let begin = self.at;
        self.at += 1;
        self.put(base.bytes());
        let end = self.at + base.stored_len();
        self.at = begin;
        self.put(b", [");
        self.at = end;
        self.offset(offset)
    }

    /// A mnemonic, and `[base+offset]`.
    #[inline(always)]
    pub fn first_bracket(mut self, mnemonic: &Piece, base: &Token, offset: u32) -> Self {
        self.put(mnemonic.whole());
        // A space ends it.
        self.at += mnemonic.end_at() + 1;
        self.put(base.bytes());
        self.put(b" [");
        self.at += base.stored_len();
        self.offset(offset)
    }

    #[inline(always)]
    fn offset(mut self, offset: u32) -> Self {
        if offset != 0 {
            let offset = Token::decimal(offset);
            self.put(b"+");
            self.at += 1;
            self.put(&offset.text());
            // The mask changes nothing.
            self.at += offset.text_len() & 15;
        }
        self.put(b"]");
        self.at += 1;
        self
    }

    /// `mnemonic to`, the latter as it lies in memory.
    #[inline(always)]
    pub fn begin(mut self, mnemonic: &ShortPiece, to: &Token) -> Self {
        self.put(&mnemonic.text);
        self.at = usize::from(mnemonic.end_at);
        self.put(to.bytes());
        self.put(&mnemonic.end);
        self.at += to.stored_len();
        self
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(mut self, token: Token) -> Self {
        self.put(&token.halves());
        self.at += token.len();
        self
    }

    /// Gives the position behind the tail.
    #[inline(always)]
    pub fn tail(mut self, tail: Tail) -> usize {
        self.put(&tail.text);
        self.at + usize::from(tail.len)
    }

    /// `;`, where another line follows in the same room. No operand was wide.
    #[inline(always)]
    pub fn ended(mut self) -> Self {
        self.put(b";\n");
        self.at += 2;
        self
    }

    /// `;`; gives the position behind it, unless an operand was wide.
    #[inline(always)]
    pub fn end(self) -> Option<usize> {
        if self.at >= usize::from(WIDE) {
            return None;
        }
        Some(self.ended().at)
    }
}
