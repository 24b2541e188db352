//! Text into a kept buffer, without formatting machinery.
//!
//! Everything an instruction is made of has a fixed-size form: a [`Piece`] is a mnemonic in 32 bytes, a [`Token`] an
//! operand in 16. A [`Line`] stores them whole into room that was checked once, and its position advances by their length,
//! so that writing is a few moves of known size. A register's number is turned into digits by counting in text.

/// A text of at most 31 bytes, its length in the last byte.
#[derive(Clone, Copy)]
pub(super) struct Piece([u8; 32]);

impl Piece {
    /// For constants: refuses what is too long when the constant is evaluated.
    pub const fn new(text: &str) -> Piece {
        let text = text.as_bytes();
        assert!(text.len() < 32);
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < text.len() {
            bytes[i] = text[i];
            i += 1;
        }
        bytes[31] = text.len() as u8;
        Piece(bytes)
    }
}

/// An operand: a register, a symbol or an immediate.
///
/// Up to 14 bytes of text, in little-endian order through `low` and `high`; above them a byte of marks and the length. A
/// wide immediate holds its 64 bits in `low` and the letter after the leading 0 in `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    low: u64,
    high: u64,
}

const IMMEDIATE: u64 = 1 << 48;
const WIDE: u64 = 1 << 49;
/// The least number that takes more than 13 digits.
const LONG: u64 = 10_000_000_000_000;

impl Token {
    /// What stands for no value.
    pub const NONE: Token = Token { low: 0, high: 0 };

    /// The text in little-endian order, of at most 14 bytes.
    const fn from_text(text: u128, len: u32) -> Token {
        Token {
            low: text as u64,
            high: (text >> 64) as u64 | (len as u64) << 56,
        }
    }

    /// A prefix of at most 4 bytes and a number.
    #[inline]
    pub const fn numbered(prefix: &str, number: u32) -> Token {
        // The marks cut off: a number is no immediate here, and of 32 bits never wide.
        let digits = Token::integer(number as u64, false);
        let prefix = prefix.as_bytes();
        let len = digits.len() + prefix.len();
        let mut text = digits.text();
        if len <= 8 {
            let mut low = text as u64;
            let mut i = prefix.len();
            while i > 0 {
                i -= 1;
                low = low << 8 | prefix[i] as u64;
            }
            return Token::from_text(low as u128, len as u32);
        }
        let mut i = prefix.len();
        while i > 0 {
            i -= 1;
            text = text << 8 | prefix[i] as u128;
        }
        Token::from_text(text, len as u32)
    }

    /// A symbol of at most 14 bytes.
    pub const fn symbol(name: &str) -> Token {
        let name = name.as_bytes();
        assert!(name.len() < 15);
        let mut text = 0;
        let mut i = name.len();
        while i > 0 {
            i -= 1;
            text = text << 8 | name[i] as u128;
        }
        Token::from_text(text, name.len() as u32)
    }

    /// An integer immediate: decimal where it is short, hexadecimal otherwise.
    #[inline]
    pub const fn integer(bits: u64, negative: bool) -> Token {
        if bits < 10 && !negative {
            return Token {
                low: b'0' as u64 + bits,
                high: IMMEDIATE | 1 << 56,
            };
        }
        Token::long_integer(bits, negative)
    }

    const fn long_integer(bits: u64, negative: bool) -> Token {
        let mut magnitude = if negative { bits.wrapping_neg() } else { bits };
        if magnitude >= LONG {
            return Token {
                low: bits,
                high: WIDE | IMMEDIATE | b'x' as u64,
            };
        }
        let mut text = 0;
        let mut len = 0;
        loop {
            text = text << 8 | (b'0' + (magnitude % 10) as u8) as u128;
            len += 1;
            magnitude /= 10;
            if magnitude == 0 {
                break;
            }
        }
        if negative {
            text = text << 8 | b'-' as u128;
            len += 1;
        }
        let mut token = Token::from_text(text, len);
        token.high |= IMMEDIATE;
        token
    }

    /// An f32 immediate: `0f` and eight hexadecimal digits, never a decimal.
    pub const fn f32(bits: u32) -> Token {
        let text = (hex8(bits) as u128) << 16 | u16::from_le_bytes(*b"0f") as u128;
        let mut token = Token::from_text(text, 10);
        token.high |= IMMEDIATE;
        token
    }

    /// An f64 immediate: `0d` and sixteen hexadecimal digits.
    pub const fn f64(bits: u64) -> Token {
        Token {
            low: bits,
            high: WIDE | IMMEDIATE | b'd' as u64,
        }
    }

    /// Whether this is an immediate.
    #[inline]
    pub const fn is_immediate(self) -> bool {
        self.high & IMMEDIATE != 0
    }

    const fn text(self) -> u128 {
        self.low as u128 | ((self.high & (IMMEDIATE - 1)) as u128) << 64
    }

    #[inline(always)]
    const fn len(self) -> usize {
        (self.high >> 56) as usize
    }
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    prefix: &'static str,
    next: Token,
    /// What to add to count up: a one at the place of the last digit.
    step: Token,
    /// The last digit of the next number, and that number without it.
    last_digit: u32,
    tens: u32,
}

impl Registers {
    pub const fn new(prefix: &'static str) -> Registers {
        Registers {
            prefix,
            next: Token::numbered(prefix, 1),
            step: Registers::step(prefix.len()),
            last_digit: 1,
            tens: 0,
        }
    }

    /// A one at a byte of the text.
    const fn step(place: usize) -> Token {
        Token::from_text(1 << (8 * place), 0)
    }

    /// A new register.
    #[inline(always)]
    pub fn take(&mut self) -> Token {
        let token = self.next;
        if self.last_digit == 9 {
            self.carry();
        } else {
            self.last_digit += 1;
            self.next.low += self.step.low;
            self.next.high += self.step.high;
        }
        token
    }

    /// Counts up where the last digit is 9.
    #[inline(never)]
    fn carry(&mut self) {
        self.last_digit = 0;
        // At most a few an instruction, of which there are fewer than 2^28.
        self.tens += 1;
        let len = self.next.len();
        if len > self.prefix.len() + 1 && len <= 8 {
            let at = 8 * (len - 2);
            if (self.next.low >> at) as u8 != b'9' {
                self.next.low += 1 << at;
                self.next.low -= 9 << (at + 8);
                return;
            }
        }
        let mut text = self.next.text();
        let mut place = len;
        while place > self.prefix.len() {
            place -= 1;
            let at = 8 * place;
            if (text >> at) as u8 != b'9' {
                text += 1 << at;
                self.next = Token::from_text(text, len as u32);
                return;
            }
            text -= 9 << at;
        }
        self.next = Token::numbered(self.prefix, self.count().saturating_add(1));
        self.step = Registers::step(len);
    }

    /// How many were taken.
    pub fn count(&self) -> u32 {
        self.tens.saturating_mul(10).saturating_add(self.last_digit) - 1
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

    /// An operand.
    #[inline(always)]
    pub fn token(mut self, token: Token) -> Line<'w> {
        if token.high & WIDE != 0 {
            // The line itself is not handed to the call, so that it can stay in registers.
            self.put(&wide(token), 18);
            return self;
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&token.low.to_le_bytes());
        bytes[8..].copy_from_slice(&token.high.to_le_bytes());
        self.put(&bytes, token.len());
        self
    }

    /// An operand that is a register.
    #[inline(always)]
    pub fn register(mut self, token: Token) -> Line<'w> {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&token.low.to_le_bytes());
        bytes[8..].copy_from_slice(&token.high.to_le_bytes());
        self.put(&bytes, token.len());
        self
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(mut self, token: Token) -> Line<'w> {
        if token.high & WIDE != 0 {
            return self.bytes(b", ").token(token);
        }
        // In one word where it fits: stores are what a line costs.
        let low = token.low << 16 | u64::from(u16::from_le_bytes(*b", "));
        let len = 2 + token.len();
        self.put(&low.to_le_bytes(), 8);
        if len > 8 {
            let high = token.high << 16 | token.low >> 48;
            self.put(&high.to_le_bytes(), len - 8);
        } else {
            self.at -= 8 - len;
        }
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

impl<'a> Writer<'a> {
    pub fn new(text: &'a mut Text) -> Writer<'a> {
        Writer { text, position: 0 }
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// Begins a line, or a part of one of at most 255 bytes.
    #[inline(always)]
    pub fn line(&mut self) -> Line<'_> {
        // No text comes near 2^64 bytes.
        let end = self.position.wrapping_add(LINE + SLACK);
        if end > self.text.bytes.len() {
            self.grow(LINE + SLACK);
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

    #[cold]
    #[inline(never)]
    fn grow(&mut self, room: usize) {
        let bytes = &mut self.text.bytes;
        let more = bytes.len().max(4096).max(room);
        bytes.resize(bytes.len().saturating_add(more), 0);
    }

    /// Any text.
    pub fn text(&mut self, text: &[u8]) {
        if self.text.bytes.len().saturating_sub(self.position) < text.len() {
            self.grow(text.len());
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
            (LONG - 1, false, "9999999999999"),
            ((LONG - 1).wrapping_neg(), true, "-9999999999999"),
            (LONG, false, "0x000009184E72A000"),
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
