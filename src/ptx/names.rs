//! Names as PTX allows them (PTX ISA section 4.4, Identifiers).

use std::borrow::Cow;

/// The name under which the entry of the kernel `name` stands in the text: what `cuModuleGetFunction` must be given.
///
/// Letters, digits and `_` stay as they are, and so does a `$` within the name unless two upper-case hexadecimal digits
/// follow it. Every other byte of the UTF-8 text becomes `$` and two such digits, as do a leading digit or `$`, a lone
/// `_` and the first letter of the reserved `WARP_SZ`. Two different names never become one.
///
/// ```
/// use kernite::ptx::entry_name;
/// assert_eq!(entry_name("vector_add"), "vector_add");
/// assert_eq!(entry_name("t,0"), "t$2C0");
/// assert_eq!(entry_name("1a"), "$31a");
/// assert_eq!(entry_name("é"), "$C3$A9");
/// assert_eq!(entry_name("_"), "$5F");
/// assert_eq!(entry_name("k$1"), "k$1");
/// ```
pub fn entry_name(name: &str) -> Cow<'_, str> {
    if is_plain(name.as_bytes()) {
        return Cow::Borrowed(name);
    }
    let mut mapped = String::with_capacity(name.len() + 16);
    escape(name.as_bytes(), |byte| mapped.push(char::from(byte)));
    Cow::Owned(mapped)
}

/// Whether a name needs no mapping, for the common case of no `$`.
pub(super) fn is_plain(name: &[u8]) -> bool {
    let Some((first, rest)) = name.split_first() else {
        return false;
    };
    /// Letters, digits and `_`. A look at a table is less than the comparisons it stands for.
    static PLAIN: [bool; 256] = {
        let mut plain = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            plain[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
            byte += 1;
        }
        plain
    };
    (first.is_ascii_alphabetic() || *first == b'_' && !rest.is_empty())
        && rest.iter().all(|&b| PLAIN[usize::from(b)])
        && name != b"WARP_SZ"
}

/// Gives the bytes of the mapped name, all of them ASCII.
pub(super) fn escape(name: &[u8], mut put: impl FnMut(u8)) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if name.is_empty() {
        // A leading `$` is followed by a digit in every other mapped name.
        put(b'$');
        put(b'_');
        return;
    }
    let reserved = name == b"_" || name == b"WARP_SZ";
    let hex = |at: usize| {
        name.get(at)
            .is_some_and(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'))
    };
    for (i, &byte) in name.iter().enumerate() {
        let literal = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => i > 0 || !reserved,
            b'0'..=b'9' => i > 0,
            b'$' => i > 0 && !(hex(i + 1) && hex(i + 2)),
            _ => false,
        };
        if literal {
            put(byte);
        } else {
            put(b'$');
            put(DIGITS[usize::from(byte >> 4)]);
            put(DIGITS[usize::from(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn allowed(name: &str) -> bool {
        let b = name.as_bytes();
        let first = b[0].is_ascii_alphabetic() || b"_$".contains(&b[0]) && b.len() > 1;
        first
            && name != "WARP_SZ"
            && b.iter().all(|c| c.is_ascii_alphanumeric() || b"_$".contains(c))
            // Our own symbols.
            && !["$L", "$d", "$p", "$n", "$s", "$l"].iter().any(|own| name.starts_with(own))
    }

    #[test]
    fn names_are_mapped_to_what_ptx_allows() {
        for (name, mapped) in [
            ("a.b", "a$2Eb"),
            ("a-b", "a$2Db"),
            ("WARP_SZ", "$57ARP_SZ"),
            ("", "$_"),
            ("$x", "$24x"),
            ("$L1", "$24L1"),
            ("%k", "$25k"),
            ("a$2Eb", "a$242Eb"),
            ("add", "add"),
            ("_x", "_x"),
            ("x$", "x$"),
        ] {
            assert_eq!(entry_name(name), mapped);
        }
        let long = "n".repeat(1100);
        assert_eq!(entry_name(&long), long);
    }

    #[test]
    fn different_names_stay_different() {
        let alphabet = ["", "_", "$", "2", "E", "L", "p", ".", "é", "\u{1}"];
        let mut seen = HashMap::new();
        for a in alphabet {
            for b in alphabet {
                for c in alphabet {
                    for d in alphabet {
                        let name = [a, b, c, d].concat();
                        let mapped = entry_name(&name).into_owned();
                        assert!(allowed(&mapped), "{name:?} gives {mapped}");
                        let other = seen.insert(mapped, name.clone());
                        assert!(other.is_none_or(|o| o == name));
                    }
                }
            }
        }
        assert_ne!(entry_name("WARP_SZ"), entry_name("$57ARP_SZ"));
    }
}
