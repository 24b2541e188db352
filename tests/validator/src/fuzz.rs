//! Fuzz bodies: any bytes; a panic is a fault.

use crate::asm;
use crate::mutate::{self, Kind, Random};
use kernite::spirv::validate::{Environment, Fault, Group, Options, Validator, Verdict};
use kernite::spirv::{Printed, disassemble};

/// The options that are tried.
fn options() -> [Options; 3] {
    [
        Options::default(),
        Options {
            beyond_spirv_val: false,
            scalar_block_layout: true,
            ..Options::default()
        },
        Options {
            environment: Environment::Vulkan1_0,
            uniform_buffer_standard_layout: true,
            allow_local_size_id: true,
            ..Options::default()
        },
    ]
}

/// Any bytes get a verdict: the same from a fresh validator and from one that has seen other modules, in either byte
/// order, with places inside of the module and a printed form. Whether they are a valid module.
///
/// # Panics
///
/// Where that does not hold.
pub fn spirv_validate(bytes: &[u8]) -> bool {
    let [default, plain, old] = options();
    let mut validator = Validator::with_options(default.clone());
    let verdict = validator.bytes(bytes);
    check(&verdict, bytes.len());
    let printed = verdict.to_string();
    // What a module left behind changes nothing.
    let again = validator.bytes(bytes).to_string();
    assert_eq!(again, printed);
    if let (quads, []) = bytes.as_chunks::<4>() {
        let swapped: Vec<u8> = quads
            .iter()
            .flat_map(|q| [q[3], q[2], q[1], q[0]])
            .collect();
        // A module that begins with a magic number means the same from its other end.
        if printed.contains("magic") || bytes.is_empty() {
            let _ = validator.bytes(&swapped);
        } else {
            assert_eq!(validator.bytes(&swapped).to_string(), printed);
        }
    }
    for options in [plain, old] {
        let mut validator = Validator::with_options(options);
        let verdict = validator.bytes(bytes);
        check(&verdict, bytes.len());
        let beyond = |f: &Fault| f.rule().group() == Group::Beyond;
        assert!(
            validator.options().beyond_spirv_val || !verdict.faults().any(beyond),
            "{verdict}"
        );
    }
    verdict.is_valid()
}

fn check(verdict: &Verdict, len: usize) {
    assert!(!verdict.to_string().is_empty());
    for fault in verdict.faults() {
        assert!(fault.word() <= len / 4, "{fault}");
        assert!(!fault.to_string().is_empty());
    }
}

/// Any bytes have a textual form; what a valid module prints is no comment.
///
/// # Panics
///
/// Where that does not hold.
pub fn spirv_disassemble(bytes: &[u8]) {
    let words = asm::words(bytes);
    let text = disassemble(&words);
    assert!(text.ends_with('\n'), "{text}");
    // Every instruction alone, and every word as if one began there.
    for at in 0..words.len().min(256) {
        let len = (words[at] >> 16) as usize;
        // Not all that a long word count covers, which would be quadratic.
        let end = words.len().min(at + len.min(32));
        let _ = Printed::new(words.get(at..end).unwrap_or_default()).to_string();
    }
    if words.len() * 4 == bytes.len() && Validator::new().words(&words).is_valid() {
        let broken = text.lines().find(|l| l.starts_with("; word"));
        assert_eq!(broken, None, "{text}");
    }
}

/// A change as [`mutate`] makes them, for a fuzzer that wants more modules that parse than bytes give: the module after
/// it, or nothing where the bytes are no module.
pub fn change(bytes: &[u8], seed: u32) -> Option<Vec<u8>> {
    let words = asm::words(bytes);
    if words.len() < 6 {
        return None;
    }
    let mut random = Random::new(u64::from(seed));
    let kind = Kind::ALL[random.below(Kind::ALL.len())];
    let mutant = mutate::mutate(&words, kind, &mut random)?;
    Some(mutant.words.iter().flat_map(|w| w.to_le_bytes()).collect())
}
