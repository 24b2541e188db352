//! What a file of the cache holds: a header, the key in full, the code.

use super::super::{DriverVersion, LoadOptions};

/// The first bytes; the last is the format's version.
const MAGIC: [u8; 8] = *b"KNCUBIN\x01";
/// Magic, length of the key, length of the code, checksum of both.
const HEADER: usize = 32;

/// Everything that code depends on.
pub(super) struct Key {
    bytes: Vec<u8>,
}

impl Key {
    pub fn new(
        device: &[u8],
        driver: DriverVersion,
        (major, minor): (u32, u32),
        options: &LoadOptions,
        ptx: &str,
    ) -> Key {
        let mut bytes = Vec::with_capacity(ptx.len() + 128);
        let mut part = |part: &[u8]| {
            // With its length, so that no two lists of parts are the same bytes.
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        };
        part(env!("CARGO_PKG_VERSION").as_bytes());
        part(device);
        let LoadOptions {
            optimization_level,
            line_info,
            max_registers,
            // What these say changes the logs, not the code.
            verbose: _,
            log_bytes: _,
        } = *options;
        for number in [
            driver.0,
            major,
            minor,
            optimization_level.min(4),
            u32::from(line_info),
            max_registers,
        ] {
            part(&number.to_le_bytes());
        }
        part(ptx.as_bytes());
        Key { bytes }
    }

    /// The name of the file, from two hashes of the key.
    pub fn file_name(&self) -> String {
        format!(
            "{:016x}{:016x}.cubin",
            hash(1, &[&self.bytes]),
            hash(2, &[&self.bytes])
        )
    }

    /// The file with this code.
    pub fn encode(&self, code: &[u8]) -> Vec<u8> {
        let mut file = Vec::with_capacity(HEADER + self.bytes.len() + code.len());
        file.extend_from_slice(&MAGIC);
        file.extend_from_slice(&(self.bytes.len() as u64).to_le_bytes());
        file.extend_from_slice(&(code.len() as u64).to_le_bytes());
        file.extend_from_slice(&hash(0, &[&self.bytes, code]).to_le_bytes());
        file.extend_from_slice(&self.bytes);
        file.extend_from_slice(code);
        file
    }

    /// The code in a file, if it is whole and of this key.
    pub fn decode<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        let (header, rest) = file.split_at_checked(HEADER)?;
        let (magic, numbers) = header.split_at_checked(MAGIC.len())?;
        let number = |at: usize| {
            Some(u64::from_le_bytes(
                numbers.get(at..at + 8)?.try_into().ok()?,
            ))
        };
        let (key_len, code_len, sum) = (number(0)?, number(8)?, number(16)?);
        if magic != MAGIC || key_len.checked_add(code_len)? != rest.len() as u64 {
            return None;
        }
        let (key, code) = rest.split_at_checked(usize::try_from(key_len).ok()?)?;
        (key == self.bytes && hash(0, &[key, code]) == sum).then_some(code)
    }
}

/// A 64-bit hash of some bytes, eight at a time: against damage and for names, not against malice, which the directory's
/// permissions keep out.
fn hash(seed: u64, parts: &[&[u8]]) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |h: u64, word: u64| {
        let wide = u128::from(h ^ word) * u128::from(K | 1);
        (wide as u64) ^ ((wide >> 64) as u64) ^ h.rotate_left(23)
    };
    let mut h = mix(K, seed);
    for part in parts {
        let (words, tail) = part.as_chunks::<8>();
        for word in words {
            h = mix(h, u64::from_le_bytes(*word));
        }
        let mut last = [0u8; 8];
        for (to, from) in last.iter_mut().zip(tail) {
            *to = *from;
        }
        h = mix(mix(h, u64::from_le_bytes(last)), part.len() as u64);
    }
    mix(h, h >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        Key::new(
            b"GPU",
            DriverVersion(13_000),
            (9, 0),
            &LoadOptions::new(),
            text,
        )
    }

    #[test]
    fn files_are_whole_or_nothing() {
        let key = key(".version 8.0");
        let code: Vec<u8> = (0..100).collect();
        let file = key.encode(&code);
        assert_eq!(key.decode(&file), Some(&code[..]));
        for cut in 0..file.len() {
            assert_eq!(key.decode(&file[..cut]), None, "{cut}");
        }
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[at] ^= 1 << bit;
                assert_eq!(key.decode(&bad), None, "byte {at} bit {bit}");
            }
        }
        let longer = [&file[..], &[0]].concat();
        assert_eq!(key.decode(&longer), None);
        let mut huge = file.clone();
        huge[8..24].fill(0xFF);
        assert_eq!(key.decode(&huge), None);
    }

    #[test]
    fn everything_that_matters_is_in_the_key() {
        let base = Key::new(
            b"GPU",
            DriverVersion(13_000),
            (9, 0),
            &LoadOptions::new(),
            "text",
        );
        let others = [
            Key::new(
                b"GPU2",
                DriverVersion(13_000),
                (9, 0),
                &LoadOptions::new(),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_010),
                (9, 0),
                &LoadOptions::new(),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_000),
                (8, 9),
                &LoadOptions::new(),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_000),
                (9, 0),
                &LoadOptions::new().line_info(true),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_000),
                (9, 0),
                &LoadOptions::new().optimization_level(0),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_000),
                (9, 0),
                &LoadOptions::new().max_registers(32),
                "text",
            ),
            Key::new(
                b"GPU",
                DriverVersion(13_000),
                (9, 0),
                &LoadOptions::new(),
                "text2",
            ),
        ];
        let file = base.encode(b"code");
        for other in others {
            assert_ne!(other.file_name(), base.file_name());
            assert_eq!(other.decode(&file), None);
        }
        let quiet = Key::new(
            b"GPU",
            DriverVersion(13_000),
            (9, 0),
            &LoadOptions::new().verbose(true),
            "text",
        );
        assert_eq!(quiet.file_name(), base.file_name());
    }
}
