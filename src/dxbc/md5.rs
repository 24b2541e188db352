//! The MD5 compression function (RFC 1321, section 3.4), shared by the container
//! digests and by the shader hash.
#![forbid(unsafe_code)]

/// The four state words A, B, C, D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State([u32; 4]);

impl State {
    /// RFC 1321, section 3.3.
    pub(crate) const START: State = State([0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]);

    /// The digest in file order.
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let mut out = [0; 16];
        for (o, w) in out.chunks_exact_mut(4).zip(self.0) {
            o.copy_from_slice(&w.to_le_bytes());
        }
        out
    }

    /// Takes in one block of 64 bytes.
    #[inline]
    pub(crate) fn block(&mut self, block: &[u8; 64]) {
        // Reading each word where it is used lets it be an operand from memory.
        macro_rules! m {
            ($k:literal) => {
                u32::from_le_bytes([
                    block[4 * $k],
                    block[4 * $k + 1],
                    block[4 * $k + 2],
                    block[4 * $k + 3],
                ])
            };
        }
        let [mut a, mut b, mut c, mut d] = self.0;

        // `(b & d) + (c & !d)` equals the `|` of the RFC, the halves being disjoint; a sum
        // lets `c & !d` be added before `b`, the value the step waits for, is known.
        macro_rules! f {
            ($a:ident, $b:ident, $c:ident, $d:ident, $k:literal, $s:literal, $t:literal) => {
                $a = $a.wrapping_add(m!($k)).wrapping_add($t);
                $a = $a.wrapping_add(($c ^ $d) & $b ^ $d);
                $a = $a.rotate_left($s).wrapping_add($b);
            };
        }
        macro_rules! g {
            ($a:ident, $b:ident, $c:ident, $d:ident, $k:literal, $s:literal, $t:literal) => {
                $a = $a.wrapping_add(m!($k)).wrapping_add($t);
                $a = $a.wrapping_add($c & !$d);
                $a = $a.wrapping_add($b & $d);
                $a = $a.rotate_left($s).wrapping_add($b);
            };
        }
        macro_rules! h {
            ($a:ident, $b:ident, $c:ident, $d:ident, $k:literal, $s:literal, $t:literal) => {
                $a = $a.wrapping_add(m!($k)).wrapping_add($t);
                $a = $a.wrapping_add(($c ^ $d) ^ $b);
                $a = $a.rotate_left($s).wrapping_add($b);
            };
        }
        macro_rules! i {
            ($a:ident, $b:ident, $c:ident, $d:ident, $k:literal, $s:literal, $t:literal) => {
                $a = $a.wrapping_add(m!($k)).wrapping_add($t);
                $a = $a.wrapping_add($c ^ ($b | !$d));
                $a = $a.rotate_left($s).wrapping_add($b);
            };
        }
        f!(a, b, c, d, 0, 7, 0xd76a_a478);
        f!(d, a, b, c, 1, 12, 0xe8c7_b756);
        f!(c, d, a, b, 2, 17, 0x2420_70db);
        f!(b, c, d, a, 3, 22, 0xc1bd_ceee);
        f!(a, b, c, d, 4, 7, 0xf57c_0faf);
        f!(d, a, b, c, 5, 12, 0x4787_c62a);
        f!(c, d, a, b, 6, 17, 0xa830_4613);
        f!(b, c, d, a, 7, 22, 0xfd46_9501);
        f!(a, b, c, d, 8, 7, 0x6980_98d8);
        f!(d, a, b, c, 9, 12, 0x8b44_f7af);
        f!(c, d, a, b, 10, 17, 0xffff_5bb1);
        f!(b, c, d, a, 11, 22, 0x895c_d7be);
        f!(a, b, c, d, 12, 7, 0x6b90_1122);
        f!(d, a, b, c, 13, 12, 0xfd98_7193);
        f!(c, d, a, b, 14, 17, 0xa679_438e);
        f!(b, c, d, a, 15, 22, 0x49b4_0821);

        g!(a, b, c, d, 1, 5, 0xf61e_2562);
        g!(d, a, b, c, 6, 9, 0xc040_b340);
        g!(c, d, a, b, 11, 14, 0x265e_5a51);
        g!(b, c, d, a, 0, 20, 0xe9b6_c7aa);
        g!(a, b, c, d, 5, 5, 0xd62f_105d);
        g!(d, a, b, c, 10, 9, 0x0244_1453);
        g!(c, d, a, b, 15, 14, 0xd8a1_e681);
        g!(b, c, d, a, 4, 20, 0xe7d3_fbc8);
        g!(a, b, c, d, 9, 5, 0x21e1_cde6);
        g!(d, a, b, c, 14, 9, 0xc337_07d6);
        g!(c, d, a, b, 3, 14, 0xf4d5_0d87);
        g!(b, c, d, a, 8, 20, 0x455a_14ed);
        g!(a, b, c, d, 13, 5, 0xa9e3_e905);
        g!(d, a, b, c, 2, 9, 0xfcef_a3f8);
        g!(c, d, a, b, 7, 14, 0x676f_02d9);
        g!(b, c, d, a, 12, 20, 0x8d2a_4c8a);

        h!(a, b, c, d, 5, 4, 0xfffa_3942);
        h!(d, a, b, c, 8, 11, 0x8771_f681);
        h!(c, d, a, b, 11, 16, 0x6d9d_6122);
        h!(b, c, d, a, 14, 23, 0xfde5_380c);
        h!(a, b, c, d, 1, 4, 0xa4be_ea44);
        h!(d, a, b, c, 4, 11, 0x4bde_cfa9);
        h!(c, d, a, b, 7, 16, 0xf6bb_4b60);
        h!(b, c, d, a, 10, 23, 0xbebf_bc70);
        h!(a, b, c, d, 13, 4, 0x289b_7ec6);
        h!(d, a, b, c, 0, 11, 0xeaa1_27fa);
        h!(c, d, a, b, 3, 16, 0xd4ef_3085);
        h!(b, c, d, a, 6, 23, 0x0488_1d05);
        h!(a, b, c, d, 9, 4, 0xd9d4_d039);
        h!(d, a, b, c, 12, 11, 0xe6db_99e5);
        h!(c, d, a, b, 15, 16, 0x1fa2_7cf8);
        h!(b, c, d, a, 2, 23, 0xc4ac_5665);

        i!(a, b, c, d, 0, 6, 0xf429_2244);
        i!(d, a, b, c, 7, 10, 0x432a_ff97);
        i!(c, d, a, b, 14, 15, 0xab94_23a7);
        i!(b, c, d, a, 5, 21, 0xfc93_a039);
        i!(a, b, c, d, 12, 6, 0x655b_59c3);
        i!(d, a, b, c, 3, 10, 0x8f0c_cc92);
        i!(c, d, a, b, 10, 15, 0xffef_f47d);
        i!(b, c, d, a, 1, 21, 0x8584_5dd1);
        i!(a, b, c, d, 8, 6, 0x6fa8_7e4f);
        i!(d, a, b, c, 15, 10, 0xfe2c_e6e0);
        i!(c, d, a, b, 6, 15, 0xa301_4314);
        i!(b, c, d, a, 13, 21, 0x4e08_11a1);
        i!(a, b, c, d, 4, 6, 0xf753_7e82);
        i!(d, a, b, c, 11, 10, 0xbd3a_f235);
        i!(c, d, a, b, 2, 15, 0x2ad7_d2bb);
        i!(b, c, d, a, 9, 21, 0xeb86_d391);
        let [a0, b0, c0, d0] = self.0;
        self.0 = [
            a0.wrapping_add(a),
            b0.wrapping_add(b),
            c0.wrapping_add(c),
            d0.wrapping_add(d),
        ];
    }

    /// Takes in the whole blocks of `data`; returns what is left, under 64 bytes.
    #[inline]
    pub(crate) fn blocks<'a>(&mut self, data: &'a [u8]) -> &'a [u8] {
        let (blocks, rest) = data.as_chunks::<64>();
        for block in blocks {
            self.block(block);
        }
        rest
    }
}

/// Plain MD5 (RFC 1321) of `data`.
pub(crate) fn md5(data: &[u8]) -> [u8; 16] {
    let mut state = State::START;
    let tail = state.blocks(data);
    let mut block = [0u8; 64];
    let bits = (data.len() as u64).wrapping_mul(8).to_le_bytes();
    for (b, t) in block.iter_mut().zip(tail.iter().chain(&[0x80])) {
        *b = *t;
    }
    if tail.len() >= 56 {
        state.block(&block);
        block = [0; 64];
    }
    for (b, l) in block.iter_mut().skip(56).zip(bits) {
        *b = l;
    }
    state.block(&block);
    state.to_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(d: [u8; 16]) -> String {
        d.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn rfc_1321_appendix_a_5() {
        for (text, want) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "abcdefghijklmnopqrstuvwxyz",
                "c3fcd3d76192e4007dfb496cca67e13b",
            ),
            (
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(hex(md5(text.as_bytes())), want, "{text:?}");
        }
    }
}
