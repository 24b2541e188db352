//! How many instructions a text or module has.

/// Instructions of PTX: statements in bodies that declare nothing.
pub fn ptx(text: &[u8]) -> usize {
    let statement = |line: &&[u8]| {
        let line = line.trim_ascii();
        line.ends_with(b";") && !line.starts_with(b".")
    };
    text.split(|b| *b == b'\n').filter(statement).count()
}

/// Instructions of a SPIR-V module, declarations among them.
///
/// # Panics
/// Where an instruction says that it has no words.
pub fn spirv(words: &[u32]) -> usize {
    let mut rest = words.get(5..).unwrap_or(&[]);
    let mut count = 0;
    while let [head, ..] = rest {
        let length = (head >> 16) as usize;
        assert_ne!(length, 0, "an instruction of no words");
        rest = rest.get(length..).unwrap_or(&[]);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use crate::floor;
    use kernite_stages::Case;

    #[test]
    fn the_floors_have_the_instructions_that_they_should() {
        // Of PTX and SPIR-V; bytes of both.
        let expected = [
            (24, 60, 1024, 936),
            (21, 61, 886, 968),
            (1020, 1043, 34_296, 24_692),
            (10_020, 10_043, 355_303, 240_692),
            (40, 109, 1393, 1664),
            (62, 122, 2049, 1996),
        ];
        for (case, expected) in Case::ALL.into_iter().zip(expected) {
            let text = floor::ptx::itoa_fresh(case);
            let words = floor::spirv::fresh(case);
            let found = (
                super::ptx(&text),
                super::spirv(&words),
                text.len(),
                4 * words.len(),
            );
            assert_eq!(found, expected, "{case:?}");
        }
    }
}
