//! Operands in a form of fixed size, and the registers that are given out.

/// An operand: a register, a symbol or an immediate.
///
/// `, ` and up to 13 bytes of text, so that an operand that is not the first is stored as it stands; in the last byte the
/// length of both. In memory it is one vector to the processor: see [`Token::bytes`].
///
/// A wide immediate holds its 64 bits and then the letter after the leading 0; its length is [`WIDE`].
///
/// The first byte is that of the lowest address, on every machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(16))]
pub(super) struct Token(u128);

/// What stands before every operand but the first, and its length.
const SEPARATOR: u64 = u16::from_le_bytes(*b", ") as u64;
pub(super) const AHEAD: usize = 2;
/// Where the length is.
const LEN: usize = 15;
/// The length of what does not fit. A line with such an operand is found to be too long.
pub(super) const WIDE: u8 = 128;
/// The least number that takes more than 12 digits; there may be a sign.
pub(super) const LONG: u64 = 1_000_000_000_000;

impl Token {
    /// What stands for no value.
    pub const NONE: Token = Token::from_short_text(0, 0);

    /// What stands where an instruction has no more operands: nothing, not even a separator.
    pub const EMPTY: Token = Token(0);

    /// The text in little-endian order, of at most 13 bytes.
    const fn from_text(text: u128, len: usize) -> Token {
        let all = text << (8 * AHEAD) | SEPARATOR as u128;
        Token::from_halves(all as u64, (all >> 64) as u64, (AHEAD + len) as u8)
    }

    /// As [`Token::from_text`] of at most 6 bytes.
    const fn from_short_text(text: u64, len: usize) -> Token {
        let all = text << (8 * AHEAD) | SEPARATOR;
        Token::from_halves(all, 0, (AHEAD + len) as u8)
    }

    const fn from_halves(low: u64, high: u64, len: u8) -> Token {
        let all = low as u128 | (high as u128 | (len as u128) << (8 * LEN - 64)) << 64;
        Token(all.to_le())
    }

    /// All bytes, the first as the lowest.
    #[inline(always)]
    const fn all(self) -> u128 {
        u128::from_le(self.0)
    }

    /// A prefix of at most 3 bytes and a number.
    #[inline]
    pub const fn numbered(prefix: &str, number: u32) -> Token {
        let prefix = prefix.as_bytes();
        if number < 1000 {
            let (mut text, digits) = short_digits(number);
            let mut i = prefix.len();
            while i > 0 {
                i -= 1;
                text = text << 8 | prefix[i] as u64;
            }
            return Token::from_short_text(text, digits + prefix.len());
        }
        let (mut text, digits) = digits(number as u64);
        let mut i = prefix.len();
        while i > 0 {
            i -= 1;
            text = text << 8 | prefix[i] as u128;
        }
        Token::from_text(text, digits + prefix.len())
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
        Token::from_text(text, name.len())
    }

    /// An unsigned number in decimal digits, which is an immediate too.
    #[inline(always)]
    pub fn decimal(number: u32) -> Token {
        match SMALL.get(number as usize) {
            Some(token) => *token,
            None => Token::long_decimal(number),
        }
    }

    #[inline(never)]
    fn long_decimal(number: u32) -> Token {
        Token::numbered("", number)
    }

    /// An integer immediate: decimal where it is short, hexadecimal otherwise.
    #[inline]
    pub const fn integer(bits: u64, negative: bool) -> Token {
        if bits < 1000 && !negative {
            return Token::numbered("", bits as u32);
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
        Token::from_text(text, len)
    }

    const fn wide(bits: u64, letter: u8) -> Token {
        Token::from_halves(bits, letter as u64, WIDE)
    }

    /// An f32 immediate: `0f` and eight hexadecimal digits, never a decimal.
    pub const fn f32(bits: u32) -> Token {
        let text = (hex8(bits) as u128) << 16 | u16::from_le_bytes(*b"0f") as u128;
        Token::from_text(text, 10)
    }

    /// An f64 immediate: `0d` and sixteen hexadecimal digits.
    pub const fn f64(bits: u64) -> Token {
        Token::wide(bits, b'd')
    }

    /// The bits of a 16-bit float: `0x` and four hexadecimal digits.
    pub const fn b16(bits: u16) -> Token {
        let digits = hex8(bits as u32) >> 32;
        let text = (digits as u128) << 16 | u16::from_le_bytes(*b"0x") as u128;
        Token::from_text(text, 6)
    }

    /// What stands for a vector: where its elements' operands begin among the kept groups.
    pub const fn group(start: u32) -> Token {
        Token::from_short_text(start as u64, 0)
    }

    /// The start of a [`Token::group`].
    pub const fn start(self) -> usize {
        (self.all() >> (8 * AHEAD)) as u32 as usize
    }

    /// Whether this is an immediate.
    #[inline]
    pub const fn is_immediate(self) -> bool {
        // Registers begin with `%`, symbols with `$`; no digit and no sign is before them.
        self.is_wide() || (self.all() >> (8 * AHEAD)) as u8 > b'%'
    }

    /// The separator and the text, loaded by halves.
    #[inline(always)]
    pub const fn halves(self) -> [u8; 16] {
        self.0.to_ne_bytes()
    }

    /// The separator and the text, without loading them as a number: what is only copied is copied as one vector.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8; 16] {
        bytemuck::cast_ref(&self.0)
    }

    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [u8; 16] {
        bytemuck::cast_mut(&mut self.0)
    }

    /// Becomes another.
    #[inline(always)]
    pub fn copy_from(&mut self, other: &Token) {
        self.bytes_mut().copy_from_slice(other.bytes());
    }

    /// The text alone.
    #[inline(always)]
    pub const fn text(self) -> [u8; 16] {
        (self.all() >> (8 * AHEAD)).to_le_bytes()
    }

    #[inline(always)]
    pub const fn is_wide(self) -> bool {
        (self.all() >> (8 * LEN)) as u8 >= WIDE
    }

    /// The length of the text alone.
    #[inline(always)]
    pub const fn text_len(self) -> usize {
        self.len() - AHEAD
    }

    /// The length of the separator and the text.
    #[inline(always)]
    pub const fn len(self) -> usize {
        (self.all() >> (8 * LEN)) as usize
    }

    /// The same of a token that is not loaded as a number.
    #[inline(always)]
    pub fn stored_len(&self) -> usize {
        usize::from(self.bytes()[LEN])
    }
}

/// The most frequent numbers.
static SMALL: [Token; 257] = {
    let mut all = [Token::NONE; 257];
    let mut number = 0;
    while number < all.len() {
        all[number] = Token::numbered("", number as u32);
        number += 1;
    }
    all
};

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

/// The decimal digits of a number below 10^12, the first in the lowest byte, and how many.
const fn digits(number: u64) -> (u128, usize) {
    const HALF: u64 = 100_000_000;
    if number < HALF {
        let (text, len) = without_zeros(eight_digits(number));
        return (text as u128, len);
    }
    // Below 10^4.
    let high = number / HALF;
    let (text, len) = if high < 1000 {
        short_digits(high as u32)
    } else {
        without_zeros(eight_digits(high))
    };
    let low = eight_digits(number % HALF) + ZEROS;
    (text as u128 | ((low as u128) << (8 * len)), len + 8)
}

/// Eight digits `0`.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The values of eight decimal digits, the first in the lowest byte: halved by 10^4, by 100 and by 10, each time for all
/// parts at once.
const fn eight_digits(number: u64) -> u64 {
    let x = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((x * 5243) >> 19) & 0x0000_007F_0000_007F;
    let x = hundreds | ((x - hundreds * 100) << 16);
    let tens = ((x * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | ((x - tens * 10) << 8)
}

/// The text of eight digits without leading zeros, and its length; of zero, one digit.
const fn without_zeros(digits: u64) -> (u64, usize) {
    // The first digit is in the lowest byte.
    let zeros = (digits.trailing_zeros() / 8) as usize;
    let zeros = if zeros < 7 { zeros } else { 7 };
    ((digits + ZEROS) >> (8 * zeros), 8 - zeros)
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
pub(super) fn wide(token: Token) -> [u8; 18] {
    let mut text = [b'0'; 18];
    let all = token.all();
    text[1] = (all >> 64) as u8;
    text[2..10].copy_from_slice(&hex8((all >> 32) as u32).to_le_bytes());
    text[10..].copy_from_slice(&hex8(all as u32).to_le_bytes());
    text
}

/// A register class: hands out `%r1`, `%r2`, …, counting in text.
///
/// It counts all bytes at once, as one vector: a processor forwards what was just stored to a read of the same width, and
/// lets a wider one wait.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Registers {
    next: Token,
    /// A one at the place of the last digit.
    step: Token,
    /// How often that can be added before the last digit is a 9.
    left: u32,
    /// The greatest multiple of ten that is not above the next number.
    tens: u32,
    /// Where the first digit is.
    first: usize,
}

impl Registers {
    /// Counts from 1: the register 0 stays unused.
    pub const fn new(prefix: &str) -> Registers {
        let next = Token::numbered(prefix, 1);
        let place = next.len() - 1;
        Registers {
            next,
            step: Token((1u128 << (8 * place)).to_le()),
            left: 8,
            tens: 0,
            first: AHEAD + prefix.len(),
        }
    }

    /// A new register.
    #[inline(always)]
    pub fn take(&mut self) -> Token {
        let token = self.next;
        self.advance();
        token
    }

    /// As [`Registers::count_up`]. Apart from what reads the token by halves, as the compiler would else count up those.
    #[inline(never)]
    fn advance(&mut self) {
        self.count_up();
    }

    /// The register that is taken next.
    #[inline(always)]
    pub fn next(&self) -> &Token {
        &self.next
    }

    /// Counts up the token that [`Registers::next`] gave.
    #[inline(always)]
    pub fn count_up(&mut self) {
        if self.left == 0 {
            self.carry();
        } else {
            self.left -= 1;
            let steps = self.step.bytes();
            for (digit, step) in self.next.bytes_mut().iter_mut().zip(steps) {
                *digit = digit.wrapping_add(*step);
            }
        }
    }

    /// Counts up where the last digit is 9.
    #[inline(never)]
    fn carry(&mut self) {
        // At most a few an instruction, of which there are fewer than 2^28.
        self.tens = self.tens.saturating_add(10);
        self.left = 9;
        let end = self.next.len();
        let bytes = self.next.bytes_mut();
        for digit in bytes.get_mut(self.first..end).into_iter().flatten().rev() {
            if *digit != b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // One digit more; ten of them always fit.
        if let Some([one, .., zero]) = bytes.get_mut(self.first..=end) {
            (*one, *zero) = (b'1', b'0');
        }
        bytes[LEN] += 1;
        self.step = Token((self.step.all() << 8).to_le());
    }

    /// The number of the register that is taken next; 1 where none has been.
    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.tens.saturating_add(9 - self.left.min(9))
    }
}
