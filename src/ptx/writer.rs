//! Text into a `Vec<u8>`, without formatting machinery.
//!
//! Everything an instruction is made of has a fixed-size form: a [`Piece`] is a mnemonic in 32 bytes, a [`Token`] an
//! operand in 16. Both are stored whole, and the position advances by their length, so that a copy is a few moves of
//! known size. A register's number is turned into digits once, when the register is made.

/// A text of at most 31 bytes, its length in the last byte.
#[derive(Clone, Copy)]
pub(super) struct Piece([u8; 32]);

impl Piece {
    /// Compile-time only: refuses what is too long when the constant is evaluated.
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
/// Up to 15 bytes of text, in little-endian order through `low` and `high`; the top byte of `high` holds the length and
/// two marks. A wide immediate holds its 64 bits in `low` and the letter after the leading 0 in `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    low: u64,
    high: u64,
}

const LENGTH: u64 = 31;
const IMMEDIATE: u64 = 1 << 62;
const WIDE: u64 = 1 << 63;

impl Token {
    /// What stands for no value.
    pub const NONE: Token = Token { low: 0, high: 0 };

    /// The text, of at most 15 bytes.
    const fn from_bytes(bytes: [u8; 16], len: usize) -> Token {
        let all = u128::from_le_bytes(bytes);
        Token {
            low: all as u64,
            high: (all >> 64) as u64 | (len as u64) << 56,
        }
    }

    /// A prefix of at most 5 bytes and a number.
    pub fn numbered(prefix: &[u8], number: u32) -> Token {
        let mut bytes = [0; 16];
        let mut len = 0;
        let digits = Digits::of(u64::from(number));
        for (to, &from) in bytes[..15]
            .iter_mut()
            .zip(prefix.iter().chain(digits.get()))
        {
            *to = from;
            len += 1;
        }
        Token::from_bytes(bytes, len)
    }

    /// A symbol of at most 15 bytes.
    pub const fn symbol(text: &[u8]) -> Token {
        let mut bytes = [0; 16];
        let mut len = 0;
        while len < text.len() && len < 15 {
            bytes[len] = text[len];
            len += 1;
        }
        Token::from_bytes(bytes, len)
    }

    /// An integer immediate: decimal where it is short, hexadecimal otherwise.
    pub fn integer(bits: u64, negative: bool) -> Token {
        let magnitude = if negative { bits.wrapping_neg() } else { bits };
        if magnitude >= 100_000_000_000_000 {
            return Token {
                low: bits,
                high: WIDE | IMMEDIATE | u64::from(b'x'),
            };
        }
        let mut bytes = [0; 16];
        let sign: &[u8] = if negative { b"-" } else { b"" };
        let mut len = 0;
        let digits = Digits::of(magnitude);
        for (to, &from) in bytes[..15].iter_mut().zip(sign.iter().chain(digits.get())) {
            *to = from;
            len += 1;
        }
        let mut token = Token::from_bytes(bytes, len);
        token.high |= IMMEDIATE;
        token
    }

    /// An f32 immediate: `0f` and eight hexadecimal digits, never a decimal.
    pub fn f32(bits: u32) -> Token {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(b"0f");
        bytes[2..10].copy_from_slice(&hex8(bits));
        let mut token = Token::from_bytes(bytes, 10);
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
}

fn hex8(bits: u32) -> [u8; 8] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = [0; 8];
    for (i, digit) in text.iter_mut().enumerate() {
        *digit = DIGITS[(bits >> (28 - 4 * i)) as usize & 15];
    }
    text
}

/// The decimal digits of a number.
struct Digits {
    bytes: [u8; 20],
    start: usize,
}

impl Digits {
    fn of(mut number: u64) -> Digits {
        let mut bytes = [b'0'; 20];
        let mut start = 20;
        // 2^64 has 20 digits.
        for place in bytes.iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            start -= 1;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        Digits { bytes, start }
    }

    fn get(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or(&[])
    }
}

/// A register class: hands out `%r1`, `%r2`, …, counting in text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Registers {
    prefix: &'static str,
    next: Token,
    /// What to add to count up: a one at the place of the last digit.
    step: Token,
    last_digit: u8,
    count: u32,
}

impl Registers {
    pub fn new(prefix: &'static str) -> Registers {
        let mut registers = Registers {
            prefix,
            next: Token::NONE,
            step: Token::NONE,
            last_digit: 0,
            count: 0,
        };
        registers.render();
        registers
    }

    /// Renders number `count + 1` from scratch.
    fn render(&mut self) {
        let number = self.count.saturating_add(1);
        self.next = Token::numbered(self.prefix.as_bytes(), number);
        self.last_digit = (number % 10) as u8;
        let place = 8 * ((self.next.high >> 56 & LENGTH) as u32 - 1);
        let step = 1u128 << place;
        self.step = Token {
            low: step as u64,
            high: (step >> 64) as u64,
        };
    }

    /// A new register.
    #[inline(always)]
    pub fn take(&mut self) -> Token {
        let token = self.next;
        self.count += 1;
        if self.last_digit == 9 {
            self.render();
        } else {
            self.last_digit += 1;
            self.next.low += self.step.low;
            self.next.high += self.step.high;
        }
        token
    }

    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    pub fn count(&self) -> u32 {
        self.count
    }
}

/// Writes at the end of a buffer that is kept longer than its text, so that the hot path only compares and stores.
pub(super) struct Writer<'a> {
    buffer: &'a mut Vec<u8>,
    position: usize,
}

impl<'a> Writer<'a> {
    /// Appends to `buffer`; makes room for `estimate` bytes at once.
    pub fn new(buffer: &'a mut Vec<u8>, estimate: usize) -> Writer<'a> {
        let position = buffer.len();
        buffer.resize(position.saturating_add(estimate), 0);
        Writer { buffer, position }
    }

    /// Cuts what was not written.
    pub fn finish(self) {
        self.buffer.truncate(self.position);
    }

    pub fn position(&self) -> usize {
        self.position
    }

    /// Stores all of `bytes`, advances by `len`.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N], len: usize) {
        let room = self.buffer.get_mut(self.position..);
        if let Some(room) = room.and_then(|r| r.first_chunk_mut::<N>()) {
            *room = *bytes;
            self.position += len;
        } else {
            self.grow(bytes.get(..len).unwrap_or(bytes));
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, text: &[u8]) {
        self.buffer.truncate(self.position);
        self.buffer.extend_from_slice(text);
        self.position = self.buffer.len();
        let more = (self.position / 2).max(1024);
        self.buffer.resize(self.position.saturating_add(more), 0);
    }

    #[inline(always)]
    pub fn piece(&mut self, piece: &Piece) {
        self.put(&piece.0, usize::from(piece.0[31]));
    }

    /// An operand.
    #[inline(always)]
    pub fn token(&mut self, token: Token) {
        if token.high & WIDE != 0 {
            return self.wide(token);
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&token.low.to_le_bytes());
        bytes[8..].copy_from_slice(&token.high.to_le_bytes());
        self.put(&bytes, (token.high >> 56 & LENGTH) as usize);
    }

    /// `, ` and an operand.
    #[inline(always)]
    pub fn operand(&mut self, token: Token) {
        if token.high & WIDE != 0 {
            self.put(b", ", 2);
            return self.wide(token);
        }
        let mut bytes = [0; 18];
        bytes[..2].copy_from_slice(b", ");
        bytes[2..10].copy_from_slice(&token.low.to_le_bytes());
        bytes[10..].copy_from_slice(&token.high.to_le_bytes());
        self.put(&bytes, 2 + (token.high >> 56 & LENGTH) as usize);
    }

    #[cold]
    #[inline(never)]
    fn wide(&mut self, token: Token) {
        let mut text = [b'0'; 18];
        text[1] = token.high as u8;
        text[2..10].copy_from_slice(&hex8((token.low >> 32) as u32));
        text[10..].copy_from_slice(&hex8(token.low as u32));
        self.put(&text, 18);
    }

    /// `;` and the end of the line.
    #[inline(always)]
    pub fn end(&mut self) {
        self.put(b";\n", 2);
    }

    /// A few bytes, all of them.
    #[inline(always)]
    pub fn bytes<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.put(bytes, N);
    }

    /// Any text.
    pub fn text(&mut self, text: &[u8]) {
        match self
            .position
            .checked_add(text.len())
            .and_then(|end| self.buffer.get_mut(self.position..end))
        {
            Some(room) => {
                room.copy_from_slice(text);
                self.position += text.len();
            }
            None => self.grow(text),
        }
    }

    pub fn number(&mut self, number: u64) {
        if number < 10 {
            return self.put(&[b'0' + number as u8], 1);
        }
        self.text(Digits::of(number).get());
    }

    /// Moves what was written since `from` to `to`: with `to` before `from` a piece that was written last comes first.
    pub fn rotate(&mut self, to: usize, from: usize) {
        let len = self.position.saturating_sub(from);
        let mut block = [0; 256];
        let (Some(block), true) = (block.get_mut(..len), to <= from) else {
            return;
        };
        if let Some(text) = self.buffer.get(from..self.position) {
            block.copy_from_slice(text);
            self.buffer.copy_within(to..from, to + len);
            if let Some(place) = self.buffer.get_mut(to..to + len) {
                place.copy_from_slice(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Writer<'_>)) -> String {
        // No room at first, so that every kind of write also takes the growing path somewhere in these tests.
        let mut out = b"before ".to_vec();
        let mut w = Writer::new(&mut out, 0);
        write(&mut w);
        w.finish();
        String::from_utf8(out.split_off(7)).unwrap()
    }

    #[test]
    fn registers_count_as_numbers_do() {
        for prefix in ["%p", "%rd"] {
            let mut registers = Registers::new(prefix);
            for n in 1..=100_050 {
                let token = registers.take();
                assert_eq!(token, Token::numbered(prefix.as_bytes(), n));
                if n % 997 == 0 || n < 120 {
                    assert_eq!(text(|w| w.token(token)), format!("{prefix}{n}"));
                }
            }
            assert_eq!(registers.count(), 100_050);
        }
        assert_eq!(
            text(|w| w.token(Token::numbered(b"%rd", u32::MAX))),
            "%rd4294967295"
        );
    }

    #[test]
    fn immediates_keep_every_bit() {
        let shown = |t: Token| text(|w| w.token(t));
        assert_eq!(shown(Token::f32(0x7FC0_0000)), "0f7FC00000");
        assert_eq!(shown(Token::f32(0x7F80_0001)), "0f7F800001");
        assert_eq!(shown(Token::f32(0x8000_0000)), "0f80000000");
        assert_eq!(shown(Token::f64(f64::NAN.to_bits())), "0d7FF8000000000000");
        assert_eq!(shown(Token::integer(0, false)), "0");
        assert_eq!(shown(Token::integer(4_294_967_295, false)), "4294967295");
        assert_eq!(shown(Token::integer(-1i64 as u64, true)), "-1");
        assert_eq!(
            shown(Token::integer(99_999_999_999_999, false)),
            "99999999999999"
        );
        assert_eq!(
            shown(Token::integer(100_000_000_000_000, false)),
            "0x00005AF3107A4000"
        );
        assert_eq!(
            shown(Token::integer(i64::MIN as u64, true)),
            "0x8000000000000000"
        );
        assert_eq!(text(|w| w.operand(Token::f64(1))), ", 0d0000000000000001");
    }

    #[test]
    fn growing_loses_nothing() {
        let long = "x".repeat(5000);
        let got = text(|w| {
            for _ in 0..500 {
                w.piece(&Piece::new("\tadd.rn.f32 "));
                w.operand(Token::numbered(b"%f", 12));
                w.end();
                w.number(18_446_744_073_709_551_615);
            }
            w.text(long.as_bytes());
        });
        let line = "\tadd.rn.f32 , %f12;\n18446744073709551615";
        assert_eq!(got, line.repeat(500) + &long);
    }

    #[test]
    fn rotate_puts_the_last_first() {
        let got = text(|w| {
            w.text(b"body ");
            let at = w.position();
            w.text(b"head ");
            w.rotate(7, at);
        });
        assert_eq!(got, "head body ");
    }
}
