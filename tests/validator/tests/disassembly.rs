//! The disassembler beside spirv-dis and spirv-as, and back through the tests' own assembler.

use kernite::spirv::disassemble;
use kernite_validator_tests::corpus::{self, Sample};
use kernite_validator_tests::oracle::{self, Tool};
use kernite_validator_tests::{asm, cases};

fn samples() -> Vec<Sample> {
    let mut samples = corpus::by_hand();
    samples.extend(corpus::glsl());
    samples.extend(cases::all().into_iter().map(|case| Sample {
        producer: corpus::Producer::ByHand,
        words: asm::assemble(&case.text),
        name: case.place,
    }));
    samples
}

/// The lines but the one with the generator's name.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|l| !l.starts_with("; Generator"));
    lines.map(str::trim_end).collect()
}

#[test]
fn the_text_is_what_spirv_dis_writes() {
    let Some(tool) = oracle::find(Tool::SpirvDis) else {
        return;
    };
    for sample in samples() {
        let arguments = ["--no-color", "--raw-id", "-"];
        let (good, theirs) = oracle::run(&tool, &arguments, &asm::bytes(&sample.words));
        let theirs = String::from_utf8_lossy(&theirs).into_owned();
        // What it stops at is printed on by kernite.
        if !good {
            continue;
        }
        let ours = disassemble(&sample.words);
        for (ours, theirs) in lines(&ours).iter().zip(lines(&theirs)) {
            assert_eq!(*ours, theirs, "{}", sample.name);
        }
        assert_eq!(lines(&ours).len(), lines(&theirs).len(), "{}", sample.name);
    }
}

#[test]
fn spirv_as_gives_the_module_back() {
    let Some(tool) = oracle::find(Tool::SpirvAs) else {
        return;
    };
    for sample in corpus::by_hand().into_iter().chain(corpus::glsl()) {
        let text = disassemble(&sample.words);
        let env = format!("spv1.{}", sample.words[1] >> 8 & 0xFF);
        let arguments = [
            "--preserve-numeric-ids",
            "--target-env",
            &env,
            "-o",
            "-",
            "-",
        ];
        let (good, bytes) = oracle::run(&tool, &arguments, text.as_bytes());
        assert!(good, "{}: {}", sample.name, String::from_utf8_lossy(&bytes));
        let words: Vec<u32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|c| u32::from_le_bytes(*c))
            .collect();
        // Word 2 is the generator, word 3 a bound that may be lower.
        assert!(words[4..] == sample.words[4..], "{}", sample.name);
    }
}

#[test]
fn the_text_assembles_to_the_module() {
    for sample in corpus::by_hand().into_iter().chain(corpus::glsl()) {
        let text = disassemble(&sample.words);
        let words = asm::assemble(&text.replace("; Version: ", "; SPIR-V "));
        assert!(words[4..] == sample.words[4..], "{}", sample.name);
    }
}
