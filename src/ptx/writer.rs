//! Text into a kept buffer, without formatting machinery.
//!
//! Everything an instruction is made of has a fixed-size form: a [`Piece`] is a mnemonic in 32 bytes, a [`Token`] an
//! operand in 16. A [`Line`] or [`ShortLine`] stores them whole into room that was checked once, and its position advances
//! by their length, so that writing is a few moves of known size. A register's number is turned into digits by counting in
//! text. Common lines have functions of their own, so that who writes one is a short call.

pub(super) use super::piece::{Piece, ShortPiece, Tail};
pub(super) use super::short::{ITEM, Lines, ShortLine};
use super::short::{LINES, SHORT};
use super::token::{AHEAD, wide};
pub(super) use super::token::{Registers, Token};

/// What a [`Writer`] writes into: kept at its greatest length, so that nothing is allocated or cleared again.
#[derive(Debug)]
pub(super) struct Text {
    bytes: Vec<u8>,
    /// Where a line would go without room, which cannot be: the hot path then needs no panic.
    spare: [u8; LINE + SLACK],
}

impl Default for Text {
    fn default() -> Text {
        Text {
            bytes: Vec::new(),
            spare: [0; LINE + SLACK],
        }
    }
}

/// A stretch of a text.
#[derive(Clone, Copy)]
pub(super) struct Part {
    from: usize,
    to: usize,
}

impl Text {
    /// What was written there.
    pub fn part(&self, part: Part) -> &[u8] {
        self.bytes.get(part.from..part.to).unwrap_or(&[])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        let more = self.bytes.len().max(4096).max(room);
        self.bytes.resize(self.bytes.len().saturating_add(more), 0);
    }
}

/// Writes a [`Text`], leaving room in front of it.
pub(super) struct Writer<'a> {
    text: &'a mut Text,
    position: usize,
}

/// The room in front of a text, for what stands before it and is written behind it: see [`Writer::assemble`].
const GAP: usize = 4096;
/// The longest line; a compare-exchange with the longest operands has about 130 bytes.
pub(super) const LINE: usize = 256;
/// What a line may store beyond its end, since pieces, tokens and templates are stored whole.
pub(super) const SLACK: usize = 64;

/// One line of text being written. It counts once [`Line::done`] is called.
pub(super) struct Line<'w> {
    pub(super) room: &'w mut [u8; LINE + SLACK],
    pub(super) at: usize,
    position: &'w mut usize,
}

impl<'w> Line<'w> {
    /// Stores all of `bytes`, advances by `len`. The mask changes nothing, as lines are shorter; it lets the compiler see
    /// that the store is within the room.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        const { assert!(N <= SLACK) };
        let at = self.at & (LINE - 1);
        if let Some(room) = self.room.get_mut(at..at + N) {
            room.copy_from_slice(bytes);
        }
        self.at += len;
    }

    #[inline(always)]
    pub fn piece(mut self, piece: &Piece) -> Line<'w> {
        self.put(piece.whole(), piece.len());
        self
    }

    /// A mnemonic and its first operand, which is a register.
    #[inline(always)]
    pub fn begin(mut self, piece: &Piece, to: Token) -> Line<'w> {
        self = self.piece(piece);
        // The separator falls on the space behind the mnemonic and what is before it, which are put there again.
        self.at = self.at.wrapping_sub(AHEAD);
        self.put(&to.halves(), 0);
        self.put(&piece.end(), to.len());
        self
    }

    /// `, [` and a register.
    #[inline(always)]
    pub fn bracket(mut self, base: Token) -> Line<'w> {
        self.at += 1;
        self.put(&base.halves(), 0);
        self.at -= 1;
        self.put(b", [", 1 + base.len());
        self
    }

    /// `+offset]`, or `]`.
    #[inline(always)]
    pub fn offset(self, offset: u32) -> Line<'w> {
        let mut line = self;
        if offset != 0 {
            line = line.bytes(b"+").number(offset);
        }
        line.bytes(b"]")
    }

    /// `[` and a register behind the space that ends a mnemonic.
    #[inline(always)]
    pub fn first_bracket(mut self, base: Token) -> Line<'w> {
        self.at = self.at.wrapping_sub(1);
        self.put(&base.halves(), 0);
        self.put(b" [", base.len());
        self
    }

    /// An operand that is the first.
    #[inline(always)]
    pub fn token(mut self, token: Token) -> Line<'w> {
        if token.is_wide() {
            // The line itself is not handed to the call, so that it can stay in registers.
            self.put(&wide(token), 18);
            return self;
        }
        self.register(token)
    }

    /// An operand that is the first, and no wide immediate.
    #[inline(always)]
    pub fn register(mut self, token: Token) -> Line<'w> {
        self.put(&token.text(), token.text_len());
        self
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(mut self, token: Token) -> Line<'w> {
        if token.is_wide() {
            return self.bytes(b", ").token(token);
        }
        self.put(&token.halves(), token.len());
        self
    }

    /// A few bytes, all of them.
    #[inline(always)]
    pub fn bytes<const N: usize>(mut self, bytes: &[u8; N]) -> Line<'w> {
        self.put(bytes, N);
        self
    }

    /// A decimal number.
    #[inline(always)]
    pub fn number(self, number: u32) -> Line<'w> {
        match u8::try_from(number) {
            Ok(digit @ 0..10) => self.bytes(&[b'0' + digit]),
            _ => self.token(Token::numbered("", number)),
        }
    }

    /// Ends the line as it stands.
    #[inline(always)]
    pub fn done(self) {
        *self.position += self.at;
    }

    /// Ends the line with `;`.
    #[inline(always)]
    pub fn end(self) {
        self.bytes(b";\n").done();
    }
}

impl<'a> Writer<'a> {
    pub fn new(text: &'a mut Text) -> Writer<'a> {
        if text.bytes.len() < GAP {
            text.grow(GAP);
        }
        Writer {
            text,
            position: GAP,
        }
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// Writes again what was written between two positions.
    pub fn repeat(&mut self, from: usize, to: usize) {
        let len = to.saturating_sub(from);
        if len == 0 {
            return;
        }
        if self.text.bytes.len().saturating_sub(self.position) < len {
            self.text.grow(len);
        }
        let (before, behind) = self.text.bytes.split_at_mut(self.position);
        if let (Some(from), Some(to)) = (before.get(from..to), behind.get_mut(..len)) {
            to.copy_from_slice(from);
            self.position += len;
        }
    }

    /// Ends the text: what was written from `end` on is its head, what was written from `begin` to there its body. The
    /// body stays where it is, and the head is moved to before it, as long as there is room.
    pub fn assemble(self, begin: usize, end: usize) -> Part {
        let top = self.position;
        let len = top.saturating_sub(end);
        let Some(from) = begin.checked_sub(len) else {
            if let Some(all) = self.text.bytes.get_mut(begin..top) {
                all.rotate_right(len);
            }
            return Part {
                from: begin,
                to: top,
            };
        };
        let (before, behind) = self.text.bytes.split_at_mut(end.min(top));
        if let (Some(to), Some(head)) = (before.get_mut(from..begin), behind.get(..len)) {
            to.copy_from_slice(head);
        }
        Part { from, to: end }
    }

    /// The room behind what is written, for a loop that keeps it to itself.
    #[inline(always)]
    pub fn lines(&mut self) -> Lines<'_> {
        self.lines_of(LINES)
    }

    /// The same, with room for so many bytes and a line.
    #[inline(always)]
    pub fn lines_of(&mut self, bytes: usize) -> Lines<'_> {
        let room = bytes.saturating_add(SHORT);
        if self.text.bytes.len().wrapping_sub(self.position) < room {
            self.text.grow(room);
        }
        match self.text.bytes.get_mut(self.position..) {
            Some(room) => Lines { room },
            None => Lines { room: &mut [] },
        }
    }

    /// Goes on where such a loop left so much room.
    #[inline(always)]
    pub fn resume(&mut self, left: usize) {
        self.position = self.text.bytes.len().wrapping_sub(left);
    }

    /// Goes on behind so many bytes that were written into [`Writer::short`].
    #[inline(always)]
    pub fn next(&mut self, len: usize) {
        self.position += len;
    }

    /// Begins a short line, where there is room. What is not gone on behind is as if it had not been begun.
    #[inline(always)]
    pub fn short(&mut self) -> Option<ShortLine<'_>> {
        let room = self.text.bytes.get_mut(self.position..)?;
        let room = room.first_chunk_mut()?;
        Some(ShortLine { room, at: 0 })
    }

    /// `mnemonic a, b, …;`, the first of which is no wide immediate; says whether there was room, and none was wide.
    #[inline(always)]
    fn short_instruction(&mut self, mnemonic: &Piece, operands: &[Token; 4]) -> bool {
        let [a, b, c, d] = operands;
        let Some(line) = self.short() else {
            return false;
        };
        let line = line.piece(mnemonic, *a).operand(*b).operand(*c).operand(*d);
        let Some(end) = line.end() else {
            return false;
        };
        self.position += end;
        true
    }

    /// `mnemonic a, b, …;`, the first of which is no wide immediate.
    #[inline(always)]
    pub fn instruction(&mut self, mnemonic: &Piece, operands: &[Token; 4]) {
        if !self.short_instruction(mnemonic, operands) {
            self.long_instruction(mnemonic, operands);
        }
    }

    #[cold]
    #[inline(never)]
    fn long_instruction(&mut self, mnemonic: &Piece, operands: &[Token; 4]) {
        let [first, rest @ ..] = *operands;
        self.make_room();
        let mut line = self.line().begin(mnemonic, first);
        for operand in rest {
            if operand.len() > 0 {
                line = line.operand(operand);
            }
        }
        line.end();
    }

    /// Room for a short line.
    fn make_room(&mut self) {
        if self.text.bytes.len().wrapping_sub(self.position) < SHORT {
            self.text.grow(SHORT);
        }
    }

    /// `mnemonic to, [base+offset];`
    #[inline(always)]
    pub fn load(&mut self, mnemonic: &Piece, to: Token, base: Token, offset: u32) {
        match self.short() {
            Some(line) => {
                let line = line.piece(mnemonic, to).bracket(&base, offset);
                self.position += line.tail(Tail::END);
            }
            None => self.load_again(mnemonic, to, base, offset),
        }
    }

    #[cold]
    #[inline(never)]
    fn load_again(&mut self, mnemonic: &Piece, to: Token, base: Token, offset: u32) {
        self.make_room();
        self.load(mnemonic, to, base, offset);
    }

    /// `mnemonic [base+offset], value;`
    #[inline(always)]
    pub fn store(&mut self, mnemonic: &Piece, base: Token, offset: u32, value: Token) {
        let short = self.short();
        let line = short.map(|line| line.first_bracket(mnemonic, &base, offset).operand(value));
        match line.and_then(ShortLine::end) {
            Some(end) => self.position += end,
            None => self.long_store(mnemonic, base, offset, value),
        }
    }

    #[cold]
    #[inline(never)]
    fn long_store(&mut self, mnemonic: &Piece, base: Token, offset: u32, value: Token) {
        self.make_room();
        let line = self.line().piece(mnemonic).first_bracket(base);
        line.offset(offset).operand(value).end();
    }

    /// A piece and a token, which is not wide, and a tail. The piece has at least two bytes.
    #[inline(never)]
    pub fn item(&mut self, piece: &Piece, token: Token, tail: Tail) {
        match self.short() {
            Some(line) => self.position += line.piece(piece, token).tail(tail),
            None => self.item_again(piece, token, tail),
        }
    }

    #[cold]
    #[inline(never)]
    fn item_again(&mut self, piece: &Piece, token: Token, tail: Tail) {
        self.make_room();
        self.item(piece, token, tail);
    }

    /// Twice a piece and a token, and a tail, as [`Writer::item`].
    #[inline(never)]
    pub fn items(&mut self, first: &Piece, a: Token, second: &Piece, b: Token, tail: Tail) {
        match self.short() {
            Some(line) => self.position += line.piece(first, a).piece(second, b).tail(tail),
            None => self.items_again(first, a, second, b, tail),
        }
    }

    #[cold]
    #[inline(never)]
    fn items_again(&mut self, first: &Piece, a: Token, second: &Piece, b: Token, tail: Tail) {
        self.make_room();
        self.items(first, a, second, b, tail);
    }

    /// A piece alone.
    #[inline(never)]
    pub fn piece(&mut self, piece: &Piece) {
        match self.short() {
            Some(mut line) => {
                line.put(piece.whole());
                self.position += piece.len();
            }
            None => self.piece_again(piece),
        }
    }

    #[cold]
    #[inline(never)]
    fn piece_again(&mut self, piece: &Piece) {
        self.make_room();
        self.piece(piece);
    }

    /// Begins a line, or a part of one of at most 255 bytes.
    #[inline(always)]
    pub fn line(&mut self) -> Line<'_> {
        // No text comes near 2^64 bytes.
        let end = self.position.wrapping_add(LINE + SLACK);
        if end > self.text.bytes.len() {
            self.text.grow(LINE + SLACK);
        }
        let room = self.text.bytes.get_mut(self.position..end);
        Line {
            room: match room.and_then(|r| r.first_chunk_mut()) {
                Some(room) => room,
                None => &mut self.text.spare,
            },
            at: 0,
            position: &mut self.position,
        }
    }

    /// Any text.
    pub fn text(&mut self, text: &[u8]) {
        if self.text.bytes.len().saturating_sub(self.position) < text.len() {
            self.text.grow(text.len());
        }
        let room = self.text.bytes.get_mut(self.position..);
        if let Some(room) = room.and_then(|r| r.get_mut(..text.len())) {
            room.copy_from_slice(text);
            self.position += text.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::LONG;
    use super::*;

    fn text(write: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut out = Text::default();
        let mut w = Writer::new(&mut out);
        let begin = w.position();
        write(&mut w);
        let end = w.position();
        let part = w.assemble(begin, end);
        String::from_utf8(out.part(part).to_vec()).unwrap()
    }

    #[test]
    fn a_head_comes_before_the_body_whatever_their_lengths() {
        for (head, body) in [(1, 1), (10, 9000), (4096, 10), (4097, 10), (20_000, 30_000)] {
            let (head, body) = ("h".repeat(head), "b".repeat(body));
            let mut out = Text::default();
            let mut w = Writer::new(&mut out);
            w.text(b"first");
            let begin = w.position();
            w.text(body.as_bytes());
            let end = w.position();
            w.repeat(begin - 5, begin);
            w.text(head.as_bytes());
            let part = w.assemble(begin, end);
            let expected = format!("first{head}{body}");
            assert!(out.part(part) == expected.as_bytes());
        }
    }

    #[test]
    fn registers_count_as_numbers_do() {
        for prefix in ["%p", "%rd"] {
            let mut registers = Registers::new(prefix);
            for n in 1..=100_050 {
                assert_eq!(registers.number(), n);
                let token = registers.take();
                assert_eq!(token, Token::numbered(prefix, n));
                if n % 997 == 0 || n < 120 {
                    let shown = text(|w| w.line().token(token).done());
                    assert_eq!(shown, format!("{prefix}{n}"));
                }
            }
            assert_eq!(registers.number(), 100_051);
        }
        let last = Token::numbered("%rd", u32::MAX);
        assert_eq!(text(|w| w.line().token(last).done()), "%rd4294967295");
    }

    #[test]
    fn immediates_keep_every_bit() {
        let shown = |t: Token| text(|w| w.line().token(t).done());
        for (bits, expected) in [
            (0x7FC0_0000, "0f7FC00000"),
            (0x7F80_0001, "0f7F800001"),
            (0x8000_0000, "0f80000000"),
            (0x0123_4567, "0f01234567"),
            (0x89AB_CDEF, "0f89ABCDEF"),
        ] {
            assert_eq!(shown(Token::f32(bits)), expected);
        }
        assert_eq!(shown(Token::f64(f64::NAN.to_bits())), "0d7FF8000000000000");
        for (bits, negative, expected) in [
            (0, false, "0"),
            (4_294_967_295, false, "4294967295"),
            (-1i64 as u64, true, "-1"),
            (999, false, "999"),
            (1000, false, "1000"),
            (LONG - 1, false, "999999999999"),
            ((LONG - 1).wrapping_neg(), true, "-999999999999"),
            (LONG, false, "0x000000E8D4A51000"),
            (i64::MIN as u64, true, "0x8000000000000000"),
            (u64::MAX, false, "0xFFFFFFFFFFFFFFFF"),
        ] {
            assert_eq!(shown(Token::integer(bits, negative)), expected);
        }
        let operand = text(|w| w.line().operand(Token::f64(1)).done());
        assert_eq!(operand, ", 0d0000000000000001");
    }

    #[test]
    fn integers_have_their_digits() {
        let powers = (0..12).flat_map(|n| [10u64.pow(n) - 1, 10u64.pow(n), 10u64.pow(n) + 1]);
        let spread = (0..2000u64).map(|n| n * n * n * 112 + n * 7919);
        for number in powers.chain(spread).filter(|&n| n < LONG) {
            let token = Token::integer(number, false);
            assert_eq!(text(|w| w.line().token(token).done()), number.to_string());
        }
    }

    #[test]
    fn lines_are_the_same_at_the_end_of_the_room() {
        let (r, none) = (Token::numbered("%rd", 12_345), Token::EMPTY);
        let wide = Token::f64(1);
        let got = text(|w| {
            for _ in 0..200 {
                w.piece(&Piece::new("\tret;\n"));
                w.instruction(&Piece::new("\tadd.f64 "), &[r, r, wide, none]);
                w.instruction(
                    &Piece::new("\tbar.sync "),
                    &[Token::decimal(0), none, none, none],
                );
                w.load(&Piece::new("\tld "), r, r, 0);
                w.load(&Piece::new("\tld "), r, r, u32::MAX);
                w.store(&Piece::new("\tst "), r, 256, r);
                w.store(&Piece::new("\tst "), r, 9, wide);
                w.item(&Piece::new("$L"), Token::decimal(257), Tail::LABEL);
                let (when, bra) = (Piece::new("\t@"), Piece::new(" bra $L"));
                w.items(&when, r, &bra, Token::decimal(7), Tail::END);
            }
        });
        let (n, d) = ("%rd12345", "0d0000000000000001");
        let expected = format!(
            "\tret;\n\tadd.f64 {n}, {n}, {d};\n\tbar.sync 0;\n\tld {n}, [{n}];\n\tld {n}, [{n}+4294967295];\n\
             \tst [{n}+256], {n};\n\tst [{n}+9], {d};\n$L257:\n\t@{n} bra $L7;\n"
        );
        assert_eq!(got, expected.repeat(200));
    }

    #[test]
    fn growing_loses_nothing() {
        let long = "x".repeat(50_000);
        let got = text(|w| {
            for _ in 0..500 {
                let line = w.line().piece(&Piece::new("\tadd.rn.f32 "));
                line.operand(Token::numbered("%f", 12)).number(7).end();
            }
            w.text(long.as_bytes());
            w.text(b"end");
        });
        assert_eq!(got, "\tadd.rn.f32 , %f127;\n".repeat(500) + &long + "end");
    }
}
