//! That what is timed is right: kernite's output is that of the golden files, and every floor and rival says the same in
//! its own words.

use crate::floor;
use crate::rival;
use kernite::dxbc::Digest;
use kernite::spirv;
use kernite_stages::Case;
use kernite_stages::Ours;
use std::path::Path;

/// Digests of the straight kernels, for which there are no golden files: they would be large.
const DIGESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/digests.txt");

/// Checks that a builder, verifier and emitters that were used before write what the golden files hold.
///
/// # Panics
/// Where they do not, with the first line that differs.
pub fn ours(case: Case) {
    let mut ours = Ours::default();
    let mut text = Vec::new();
    for _ in 0..2 {
        text = ours.whole_ptx(case).to_vec();
        ours.whole_spirv(case);
    }
    let words = last_words(&mut ours, case);
    ours.validate(&words);
    let name = case.name();
    if let Case::Straight(_) = case {
        let found = digests(&text, &words);
        let known = std::fs::read_to_string(DIGESTS).expect("digests.txt");
        let line = known
            .lines()
            .find(|line| line.starts_with(&(name.clone() + " ")));
        let found = format!("{name} {found}");
        assert_eq!(
            line,
            Some(found.as_str()),
            "digests.txt; BLESS=1 rewrites it"
        );
        return;
    }
    same(&name, "ptx", &String::from_utf8_lossy(&text));
    let assembly = kernite_testkit::rspirv::disassemble(&words).expect("a module");
    same(&name, "spvasm", &(assembly + "\n"));
}

/// The words that are timed, which are those that others get.
fn last_words(ours: &mut Ours, case: Case) -> Vec<u32> {
    let kernel = ours.build(case);
    let words = ours.emit_spirv(&kernel).to_vec();
    let emitted = spirv::emit(&kernel, &spirv::Options::default());
    assert_eq!(emitted.as_ref(), Ok(&words), "{case:?}");
    ours.recycle(kernel);
    words
}

fn digests(text: &[u8], words: &[u32]) -> String {
    let words = bytemuck::cast_slice(words);
    format!("ptx {} spirv {}", Digest::md5(text), Digest::md5(words))
}

fn same(name: &str, extension: &str, found: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/suite/goldens");
    let path = folder.join(name).with_extension(extension);
    let golden = std::fs::read_to_string(&path).expect("a golden file");
    let differs = golden.lines().zip(found.lines()).find(|(g, f)| g != f);
    assert_eq!(differs, None, "{name}.{extension}");
    assert_eq!(golden.len(), found.len(), "{name}.{extension}");
}

/// Checks that the floors and rivals of a case make the same.
///
/// # Panics
/// Where they do not.
pub fn others(case: Case) {
    let text = floor::ptx::itoa_fresh(case);
    let mut digits = floor::Digits::default();
    floor::ptx::digits_kept(case, &mut digits);
    assert_eq!(digits.written(), text, "{case:?}: two floors of PTX");
    assert_eq!(floor::ptx::fmt_fresh(case).as_bytes(), text, "{case:?}");
    let words = floor::spirv::fresh(case);
    let mut built = rival::rspirv::build(case);
    // The generator's number, which is the assembler's.
    built[2] = words[2];
    assert_eq!(built, words, "{case:?}: rspirv and the floor");
    let mut ours = Ours::default();
    ours.validate(&words);
    let written = rival::naga::Ready::new(case).validate_and_write();
    assert_eq!(
        rival::rspirv::parse(&written),
        crate::count::spirv(&written)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_timed_is_right() {
        if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
            let mut lines = String::new();
            for case in Case::ALL
                .into_iter()
                .filter(|c| matches!(c, Case::Straight(_)))
            {
                let mut ours = Ours::default();
                let text = ours.whole_ptx(case).to_vec();
                let words = last_words(&mut ours, case);
                let found = digests(&text, &words);
                lines += &format!("{} {found}\n", case.name());
            }
            std::fs::write(DIGESTS, lines).expect("a writable tree");
            return;
        }
        for case in Case::ALL {
            ours(case);
            others(case);
        }
    }
}
