//! Text into a kept buffer, without formatting machinery.
//!
//! Everything an instruction is made of has a fixed-size form: a [`Piece`] is a mnemonic in 32 bytes, a [`Token`] an
//! operand in 16. A [`Line`] stores them whole into room that was checked once, and its position advances by their length,
//! so that writing is a few moves of known size. A register's number is turned into digits by counting in text.

/// A text of at most 28 bytes, its last two bytes again behind them, its length in the last byte.
#[derive(Clone, Copy)]
pub(super) struct Piece([u8; 32]);

impl Piece {
    /// For constants: refuses what is too long when the constant is evaluated.
    pub const fn new(text: &str) -> Piece {
        let text = text.as_bytes();
        assert!(text.len() < 29);
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < text.len() {
            bytes[i] = text[i];
            i += 1;
        }
        if let [.., before, last] = text {
            bytes[28] = *before;
            bytes[29] = *last;
        }
        bytes[31] = text.len() as u8;
        Piece(bytes)
    }

    /// Whether a [`ShortLine`] takes it.
    pub const fn is_short(&self) -> bool {
        self.0[31] >= AHEAD as u8 && self.0[31] <= 16
    }
}

/// An operand: a register, a symbol or an immediate.
///
/// `, ` and up to 13 bytes of text, so that an operand that is not the first is stored as it stands, in little-endian
/// order through `low` and `high`; in the highest byte the length of both and marks. A wide immediate holds its 64 bits in
/// `low` and the letter after the leading 0 in `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    low: u64,
    high: u64,
}

/// What stands before every operand but the first, and its length.
const SEPARATOR: u64 = u16::from_le_bytes(*b", ") as u64;
const AHEAD: usize = 2;
/// Where the length is in `high`. The marks stand below it.
const LEN: u32 = 60;
const IMMEDIATE: u64 = 1 << 56;
const WIDE: u64 = 1 << 57;
/// The least number that takes more than 12 digits; there may be a sign.
const LONG: u64 = 1_000_000_000_000;

impl Token {
    /// What stands for no value.
    pub const NONE: Token = Token::from_short_text(0, 0, 0);

    /// The text in little-endian order, of at most 13 bytes.
    const fn from_text(text: u128, len: usize, marks: u64) -> Token {
        let all = text << (8 * AHEAD) | SEPARATOR as u128;
        Token {
            low: all as u64,
            high: (all >> 64) as u64 | ((AHEAD + len) as u64) << LEN | marks,
        }
    }

    /// As [`Token::from_text`] of at most 6 bytes.
    const fn from_short_text(text: u64, len: usize, marks: u64) -> Token {
        Token {
            low: text << (8 * AHEAD) | SEPARATOR,
            high: ((AHEAD + len) as u64) << LEN | marks,
        }
    }

    /// A prefix of at most 3 bytes and a number.
    #[inline]
    pub const fn numbered(prefix: &str, number: u32) -> Token {
        Token::numbered_text(prefix, number, 0)
    }

    #[inline]
    const fn numbered_text(prefix: &str, number: u32, marks: u64) -> Token {
        let prefix = prefix.as_bytes();
        if number < 1000 {
            let (mut text, digits) = short_digits(number);
            let mut i = prefix.len();
            while i > 0 {
                i -= 1;
                text = text << 8 | prefix[i] as u64;
            }
            return Token::from_short_text(text, digits + prefix.len(), marks);
        }
        let (mut text, digits) = digits(number as u64);
        let mut i = prefix.len();
        while i > 0 {
            i -= 1;
            text = text << 8 | prefix[i] as u128;
        }
        Token::from_text(text, digits + prefix.len(), marks)
    }

    /// A symbol of at most 13 bytes.
    pub const fn symbol(name: &str) -> Token {
        let name = name.as_bytes();
        assert!(name.len() < 14);
        let mut text = 0;
        let mut i = name.len();
        while i > 0 {
            i -= 1;
            text = text << 8 | name[i] as u128;
        }
        Token::from_text(text, name.len(), 0)
    }

    /// An integer immediate: decimal where it is short, hexadecimal otherwise.
    #[inline]
    pub const fn integer(bits: u64, negative: bool) -> Token {
        if bits < 1000 && !negative {
            return Token::numbered_text("", bits as u32, IMMEDIATE);
        }
        Token::long_integer(bits, negative)
    }

    const fn long_integer(bits: u64, negative: bool) -> Token {
        let magnitude = if negative { bits.wrapping_neg() } else { bits };
        if magnitude >= LONG {
            return Token::wide(bits, b'x');
        }
        let (mut text, mut len) = digits(magnitude);
        if negative {
            text = text << 8 | b'-' as u128;
            len += 1;
        }
        Token::from_text(text, len, IMMEDIATE)
    }

    const fn wide(bits: u64, letter: u8) -> Token {
        Token {
            low: bits,
            high: WIDE | IMMEDIATE | letter as u64,
        }
    }

    /// An f32 immediate: `0f` and eight hexadecimal digits, never a decimal.
    pub const fn f32(bits: u32) -> Token {
        let text = (hex8(bits) as u128) << 16 | u16::from_le_bytes(*b"0f") as u128;
        Token::from_text(text, 10, IMMEDIATE)
    }

    /// An f64 immediate: `0d` and sixteen hexadecimal digits.
    pub const fn f64(bits: u64) -> Token {
        Token::wide(bits, b'd')
    }

    /// The bits of a 16-bit float: `0x` and four hexadecimal digits.
    pub const fn b16(bits: u16) -> Token {
        let digits = hex8(bits as u32) >> 32;
        let text = (digits as u128) << 16 | u16::from_le_bytes(*b"0x") as u128;
        Token::from_text(text, 6, IMMEDIATE)
    }

    /// What stands for a vector: where its elements' operands begin among the kept groups.
    pub const fn group(start: u32) -> Token {
        Token::from_short_text(start as u64, 0, 0)
    }

    /// The start of a [`Token::group`].
    pub const fn start(self) -> usize {
        (self.low >> (8 * AHEAD)) as u32 as usize
    }

    /// Whether this is an immediate.
    #[inline]
    pub const fn is_immediate(self) -> bool {
        self.high & IMMEDIATE != 0
    }

    #[inline(always)]
    pub const fn is_wide(self) -> bool {
        self.high & WIDE != 0
    }

    /// The length of the separator and the text.
    #[inline(always)]
    const fn len(self) -> usize {
        (self.high >> LEN) as usize
    }
}

/// The decimal digits of a number below 1000, the first in the lowest byte, and how many.
#[inline]
const fn short_digits(number: u32) -> (u64, usize) {
    if number < 10 {
        return (b'0' as u64 + number as u64, 1);
    }
    let (hundreds, tens, ones) = (number / 100, number / 10 % 10, number % 10);
    let zeros = u32::from_le_bytes(*b"000\0");
    let all = (hundreds | tens << 8 | ones << 16) + zeros;
    let absent = (number < 100) as usize;
    ((all >> (8 * absent)) as u64, 3 - absent)
}

/// The decimal digits of a number, the first in the lowest byte, and how many.
const fn digits(mut number: u64) -> (u128, usize) {
    let mut text = 0;
    let mut len = 0;
    loop {
        text = text << 8 | (b'0' + (number % 10) as u8) as u128;
        len += 1;
        number /= 10;
        if number == 0 {
            return (text, len);
        }
    }
}

#[inline(always)]
fn both(low: u64, high: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&low.to_le_bytes());
    bytes[8..].copy_from_slice(&high.to_le_bytes());
    bytes
}

/// Eight hexadecimal digits, the first in the lowest byte.
const fn hex8(bits: u32) -> u64 {
    // A nibble to a byte, then the two ranges of digits at once.
    let x = bits as u64;
    let x = (x << 16 | x) & 0x0000_FFFF_0000_FFFF;
    let x = (x << 8 | x) & 0x00FF_00FF_00FF_00FF;
    let x = (x << 4 | x) & 0x0F0F_0F0F_0F0F_0F0F;
    let letters = (x + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (x + 0x3030_3030_3030_3030 + letters * 7).swap_bytes()
}

/// The text of a wide immediate.
#[cold]
#[inline(never)]
fn wide(token: Token) -> [u8; 18] {
    let mut text = [b'0'; 18];
    text[1] = token.high as u8;
    text[2..10].copy_from_slice(&hex8((token.low >> 32) as u32).to_le_bytes());
    text[10..].copy_from_slice(&hex8(token.low as u32).to_le_bytes());
    text
}

/// A register class: hands out `%r1`, `%r2`, …, counting in text.
///
/// It counts in one half of the text: numbers are taken one after the other, and each must be there at once.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Registers {
    /// The halves of the next one's token.
    next: [u64; 2],
    /// The half that holds the last digit, and a one at its place there.
    half: usize,
    step: u64,
    /// How often that can be added before the last digit is a 9.
    left: u32,
    /// The greatest multiple of ten that is not above the next number.
    tens: u32,
    prefix: &'static str,
}

impl Registers {
    pub const fn new(prefix: &'static str) -> Registers {
        let mut registers = Registers::from(prefix, 0);
        // %r0 stays unused.
        registers.left -= 1;
        registers.next[registers.half] += registers.step;
        registers
    }

    /// From a number that is a multiple of ten.
    const fn from(prefix: &'static str, number: u32) -> Registers {
        let next = Token::numbered(prefix, number);
        let place = next.len() - 1;
        Registers {
            next: [next.low, next.high],
            half: place / 8,
            step: 1 << (8 * (place % 8)),
            left: 9,
            tens: number,
            prefix,
        }
    }

    /// A new register.
    #[inline(always)]
    pub fn take(&mut self) -> Token {
        let token = self.next();
        self.count_up();
        token
    }

    /// The register that is taken next.
    #[inline(always)]
    pub fn next(&self) -> Token {
        let [low, high] = self.next;
        Token { low, high }
    }

    #[inline(always)]
    pub fn count_up(&mut self) {
        if self.left == 0 {
            self.carry();
        } else {
            self.left -= 1;
            self.next[self.half & 1] += self.step;
        }
    }

    /// Counts up where the last digit is 9.
    #[inline(never)]
    fn carry(&mut self) {
        // At most a few an instruction, of which there are fewer than 2^28.
        self.tens = self.tens.saturating_add(10);
        self.left = 9;
        let [low, high] = self.next;
        let mut text = u128::from(low) | u128::from(high) << 64;
        let mut at = 8 * (self.next().len() - 1);
        while at > 8 * (AHEAD + self.prefix.len()) {
            text -= 9 << at;
            at -= 8;
            if (text >> at) as u8 != b'9' {
                text += 1 << at;
                self.next = [text as u64, (text >> 64) as u64];
                return;
            }
        }
        *self = Registers::from(self.prefix, self.tens);
    }

    /// How many were taken.
    pub fn count(&self) -> u32 {
        self.tens
            .saturating_add(9 - self.left.min(9))
            .saturating_sub(1)
    }
}

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

impl Text {
    /// What was written from one position to another.
    pub fn part(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or(&[])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        let more = self.bytes.len().max(4096).max(room);
        self.bytes.resize(self.bytes.len().saturating_add(more), 0);
    }
}

/// Writes a [`Text`] from its start.
pub(super) struct Writer<'a> {
    text: &'a mut Text,
    position: usize,
}

/// The longest line; a compare-exchange with the longest operands has about 130 bytes.
const LINE: usize = 256;
/// What a line may store beyond its end, since pieces and tokens are stored whole.
const SLACK: usize = 32;

/// One line of text being written. It counts once [`Line::done`] is called.
pub(super) struct Line<'w> {
    room: &'w mut [u8; LINE + SLACK],
    at: usize,
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
        let len = usize::from(piece.0[31]);
        if len <= 16
            && let Some(short) = piece.0.first_chunk::<16>()
        {
            self.put(short, len);
        } else {
            self.put(&piece.0, len);
        }
        self
    }

    /// A mnemonic and its first operand, which is a register.
    #[inline(always)]
    pub fn begin(mut self, piece: &Piece, to: Token) -> Line<'w> {
        self = self.piece(piece);
        // The separator falls on the space behind the mnemonic and what is before it, which are put there again.
        self.at = self.at.wrapping_sub(AHEAD);
        self.put(&both(to.low, to.high), 0);
        self.put(&[piece.0[28], piece.0[29]], to.len());
        self
    }

    /// `, [` and a register.
    #[inline(always)]
    pub fn bracket(mut self, base: Token) -> Line<'w> {
        self.at += 1;
        self.put(&both(base.low, base.high), 0);
        self.at -= 1;
        self.put(b", [", 1 + base.len());
        self
    }

    /// `[` and a register behind the space that ends a mnemonic.
    #[inline(always)]
    pub fn first_bracket(mut self, base: Token) -> Line<'w> {
        self.at = self.at.wrapping_sub(1);
        self.put(&both(base.low, base.high), 0);
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
        let low = token.low >> (8 * AHEAD) | token.high << (64 - 8 * AHEAD);
        let high = token.high >> (8 * AHEAD);
        self.put(&both(low, high), token.len() - AHEAD);
        self
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(mut self, token: Token) -> Line<'w> {
        if token.is_wide() {
            return self.bytes(b", ").token(token);
        }
        self.put(&both(token.low, token.high), token.len());
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
        self.token(Token::numbered("", number))
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

/// Room for many short lines.
pub(super) struct Lines<'w> {
    room: &'w mut [u8],
}

/// What a short line takes at most: a power of two above its length, and a store that may begin there.
const SHORT: usize = SHORT_MASK + 1 + 16;
const SHORT_MASK: usize = 127;
/// The room that a loop has at least.
const LINES: usize = 4096;

/// A line of a mnemonic of at most 16 bytes and up to four operands, none of them wide: at most 16 + 4 * 15 + 2 bytes.
pub(super) struct ShortLine<'l, 'w> {
    room: &'l mut &'w mut [u8],
    at: usize,
}

impl<'w> Lines<'w> {
    /// Begins a line, if there is room. What is not ended is as if it had not been begun.
    #[inline(always)]
    pub fn line(&mut self) -> Option<ShortLine<'_, 'w>> {
        if self.room.len() < SHORT {
            return None;
        }
        Some(ShortLine {
            room: &mut self.room,
            at: 0,
        })
    }

    pub fn left(&self) -> usize {
        self.room.len()
    }
}

impl ShortLine<'_, '_> {
    /// Stores bytes; the mask changes nothing, as lines are shorter.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        const { assert!(N <= 16) };
        let at = self.at & SHORT_MASK;
        if let Some(room) = self.room.get_mut(at..at + N) {
            room.copy_from_slice(bytes);
        }
    }

    /// `mnemonic to`, as [`Line::begin`].
    #[inline(always)]
    pub fn begin(mut self, mnemonic: &Piece, to: Token) -> Self {
        if let Some(short) = mnemonic.0.first_chunk::<16>() {
            self.put(short);
        }
        self.at = usize::from(mnemonic.0[31]).wrapping_sub(AHEAD);
        self.put(&both(to.low, to.high));
        self.put(&[mnemonic.0[28], mnemonic.0[29]]);
        self.at += to.len();
        self
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(mut self, token: Token) -> Self {
        self.put(&both(token.low, token.high));
        self.at += token.len();
        self
    }

    /// `;`
    #[inline(always)]
    pub fn end(mut self) {
        self.put(b";\n");
        let room = core::mem::take(self.room);
        *self.room = room
            .get_mut((self.at + 2) & SHORT_MASK..)
            .unwrap_or(&mut []);
    }
}

impl<'a> Writer<'a> {
    pub fn new(text: &'a mut Text) -> Writer<'a> {
        Writer { text, position: 0 }
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// The room behind what is written, for a loop that keeps it to itself.
    pub fn lines(&mut self) -> Lines<'_> {
        let room = self.text.bytes.len().saturating_sub(self.position);
        if room < LINES {
            self.text.grow(LINES);
        }
        Lines {
            room: self.text.bytes.get_mut(self.position..).unwrap_or(&mut []),
        }
    }

    /// Goes on where such a loop left so much room.
    pub fn resume(&mut self, left: usize) {
        self.position = self.text.bytes.len().saturating_sub(left);
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
    use super::*;

    fn text(write: impl FnOnce(&mut Writer<'_>)) -> String {
        let mut out = Text::default();
        let mut w = Writer::new(&mut out);
        write(&mut w);
        let end = w.position();
        String::from_utf8(out.part(0, end).to_vec()).unwrap()
    }

    #[test]
    fn registers_count_as_numbers_do() {
        for prefix in ["%p", "%rd"] {
            let mut registers = Registers::new(prefix);
            for n in 1..=100_050 {
                let token = registers.take();
                assert_eq!(token, Token::numbered(prefix, n));
                if n % 997 == 0 || n < 120 {
                    let shown = text(|w| w.line().token(token).done());
                    assert_eq!(shown, format!("{prefix}{n}"));
                }
            }
            assert_eq!(registers.count(), 100_050);
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
