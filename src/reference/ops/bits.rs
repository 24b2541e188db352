//! Bits of integers. Amounts of shifts and rotations are taken modulo the width; fields are bounded by it.

/// The operations on the bits of an integer.
pub(in crate::reference) trait Bits: bytemuck::Pod {
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn not(self) -> Self;
    fn shl(self, b: u32) -> Self;
    /// Filled with the sign for signed types.
    fn shr(self, b: u32) -> Self;
    fn rotate_left(self, b: u32) -> Self;
    fn rotate_right(self, b: u32) -> Self;
    fn clz(self) -> u32;
    fn ctz(self) -> u32;
    fn popcount(self) -> u32;
    fn reverse_bits(self) -> Self;
    fn bitfield_extract(self, offset: u32, count: u32) -> Self;
    fn bitfield_insert(self, b: Self, offset: u32, count: u32) -> Self;
    /// The high half of `self:b << c`.
    fn funnel_shl(self, b: Self, c: u32) -> Self;
    /// The low half of `self:b >> c`.
    fn funnel_shr(self, b: Self, c: u32) -> Self;
}

macro_rules! bits {
    ($($t:ident $unsigned:ident;)*) => {$(
        impl Bits for $t {
            #[inline(always)]
            fn and(self, b: $t) -> $t {
                self & b
            }
            #[inline(always)]
            fn or(self, b: $t) -> $t {
                self | b
            }
            #[inline(always)]
            fn xor(self, b: $t) -> $t {
                self ^ b
            }
            #[inline(always)]
            fn not(self) -> $t {
                !self
            }
            #[inline(always)]
            fn shl(self, b: u32) -> $t {
                self.wrapping_shl(b)
            }
            #[inline(always)]
            fn shr(self, b: u32) -> $t {
                self.wrapping_shr(b)
            }
            #[inline(always)]
            fn rotate_left(self, b: u32) -> $t {
                $t::rotate_left(self, b % $t::BITS)
            }
            #[inline(always)]
            fn rotate_right(self, b: u32) -> $t {
                $t::rotate_right(self, b % $t::BITS)
            }
            #[inline(always)]
            fn clz(self) -> u32 {
                self.leading_zeros()
            }
            #[inline(always)]
            fn ctz(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn popcount(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn reverse_bits(self) -> $t {
                $t::reverse_bits(self)
            }
            #[inline(always)]
            fn bitfield_extract(self, offset: u32, count: u32) -> $t {
                let offset = offset.min($t::BITS);
                let count = count.min($t::BITS - offset);
                if count == 0 {
                    return 0;
                }
                // Both amounts lie below the width, since the field has a bit.
                (self << ($t::BITS - offset - count)) >> ($t::BITS - count)
            }
            #[inline(always)]
            fn bitfield_insert(self, b: $t, offset: u32, count: u32) -> $t {
                let offset = offset.min($t::BITS);
                let count = count.min($t::BITS - offset);
                if count == 0 {
                    return self;
                }
                let mask = (($unsigned::MAX >> ($t::BITS - count)) << offset) as $t;
                self & !mask | (b << offset) & mask
            }
            #[inline(always)]
            fn funnel_shl(self, b: $t, c: u32) -> $t {
                let c = c % $t::BITS;
                if c == 0 {
                    return self;
                }
                self << c | (b as $unsigned >> ($t::BITS - c)) as $t
            }
            #[inline(always)]
            fn funnel_shr(self, b: $t, c: u32) -> $t {
                let c = c % $t::BITS;
                if c == 0 {
                    return b;
                }
                self << ($t::BITS - c) | (b as $unsigned >> c) as $t
            }
        }
    )*};
}
bits! {
    i8 u8; i16 u16; i32 u32; i64 u64;
    u8 u8; u16 u16; u32 u32; u64 u64;
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn amounts_are_taken_modulo_the_width() {
        assert_eq!(Bits::shl(1u32, 32), 1);
        assert_eq!(Bits::shl(1u32, 33), 2);
        assert_eq!(Bits::shl(1u64, 64), 1);
        assert_eq!(Bits::shl(1u64, 32), 1 << 32);
        assert_eq!(Bits::shl(1u16, 16), 1);
        assert_eq!(Bits::shr(i32::MIN, 31), -1);
        assert_eq!(Bits::shr(i32::MIN, 32), i32::MIN);
        assert_eq!(Bits::shr(0x8000_0000u32, 31), 1);
        assert_eq!(Bits::shr(i64::MIN, u32::MAX), -1);
        assert_eq!(Bits::rotate_left(0x8000_0001u32, 33), 3);
        assert_eq!(Bits::rotate_right(1i64, 65), i64::MIN);
    }

    #[test]
    fn counts_of_zero_are_the_width() {
        assert_eq!((Bits::clz(0u32), Bits::ctz(0u32)), (32, 32));
        assert_eq!((Bits::clz(0i64), Bits::ctz(0i64)), (64, 64));
        assert_eq!((Bits::clz(1i32), Bits::ctz(i32::MIN)), (31, 31));
        assert_eq!(Bits::popcount(-1i64), 64);
        assert_eq!(Bits::reverse_bits(1u32), 0x8000_0000);
    }

    #[test]
    fn fields_are_bounded_by_the_width() {
        assert_eq!(Bits::bitfield_extract(0xABCD_1234u32, 8, 8), 0x12);
        assert_eq!(Bits::bitfield_extract(0x0000_0F00i32, 8, 4), -1);
        assert_eq!(Bits::bitfield_extract(u32::MAX, 28, 8), 0xF);
        assert_eq!(Bits::bitfield_extract(u32::MAX, 32, 1), 0);
        assert_eq!(Bits::bitfield_extract(-1i32, u32::MAX, u32::MAX), 0);
        assert_eq!(Bits::bitfield_extract(-1i32, 3, 0), 0);
        assert_eq!(Bits::bitfield_extract(0xABCDu32, 0, 32), 0xABCD);
        assert_eq!(Bits::bitfield_extract(i64::MIN, 63, 64), -1);
        assert_eq!(Bits::bitfield_insert(u32::MAX, 0, 8, 8), 0xFFFF_00FF);
        assert_eq!(Bits::bitfield_insert(0u32, u32::MAX, 28, 8), 0xF000_0000);
        assert_eq!(Bits::bitfield_insert(7u32, 0, 0, 0), 7);
        assert_eq!(Bits::bitfield_insert(7u32, 0, 40, 4), 7);
        assert_eq!(Bits::bitfield_insert(7i64, -1, 0, 64), -1);
    }

    #[test]
    fn funnels_shift_the_double_width() {
        let (a, b) = (0x1234_5678u32, 0x9ABC_DEF0u32);
        for c in 0..64 {
            let wide = u64::from(a) << 32 | u64::from(b);
            assert_eq!(Bits::funnel_shl(a, b, c), (wide << (c % 32) >> 32) as u32);
            assert_eq!(Bits::funnel_shr(a, b, c), (wide >> (c % 32)) as u32);
        }
        assert_eq!(Bits::funnel_shl(0i32, i32::MIN, 1), 1);
        assert_eq!(Bits::funnel_shr(1i64, 0, 1), i64::MIN);
        assert_eq!(Bits::funnel_shr(0i64, i64::MIN, 64), i64::MIN);
    }
}
