//! ptxas: its message, its releases, batches.

use kernite_testkit::ptxas::{Batch, Error, Options, Ptxas};
use kernite_testkit::skip;

fn entry(target: &str, name: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target {target}\n.address_size 64\n\
         .visible .entry {name}(.param .u64 p) {{\n\
         .reg .b32 %r<3>;\n{body}\nret;\n}}\n"
    )
}

#[test]
fn a_good_text_is_assembled() {
    let Some(ptxas) = Ptxas::get() else { return };
    let text = entry("sm_75", "k", "mov.u32 %r1, %tid.x;");
    let options = Options {
        cubin: true,
        verbose: true,
        ..Options::default()
    };
    let done = ptxas.assemble_with(&text, "sm_75", &options).unwrap();
    assert_eq!(done.cubin[..4], *b"\x7fELF");
    assert!(done.log.contains("'k'"), "{}", done.log);
    assert_eq!(done.warnings, [] as [String; 0]);
}

#[test]
fn a_bad_text_gives_the_message_and_its_line() {
    let Some(ptxas) = Ptxas::get() else { return };
    let text = entry("sm_75", "k", "add.u8 %r1, %r1, %r1;");
    match ptxas.assemble(&text, "sm_75") {
        Err(Error::Refused { message, line, .. }) => {
            assert!(
                message.contains("Unexpected instruction types"),
                "{message}"
            );
            assert_eq!(line, Some(6));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_target_goes_to_a_release_that_knows_it() {
    let Some(ptxas) = Ptxas::get() else { return };
    let majors: Vec<_> = ptxas.releases().iter().map(|r| r.version().0).collect();
    if majors != [12, 13] {
        return skip::skip("ptxas 12 and 13", &format!("only {majors:?} are there"));
    }
    let text = entry("sm_50", "k", "");
    // sm_50 left with 13; sm_88 came with it.
    let results = ptxas.assemble_for(&text, &["sm_50", "sm_88"], &Options::default());
    let releases: Vec<_> = results.into_iter().map(|r| r.unwrap().release.0).collect();
    assert_eq!(releases, [12, 13]);
    let error = ptxas.assemble(&text, "sm_71").unwrap_err();
    assert!(matches!(error, Error::UnknownTarget { .. }), "{error}");
    assert_eq!(error.message(), None);
}

#[test]
fn a_target_newer_than_the_text_says_is_refused() {
    let Some(ptxas) = Ptxas::get() else { return };
    let text = entry("sm_90", "k", "");
    let error = ptxas.assemble(&text, "sm_75").unwrap_err();
    assert!(
        error.message().is_some_and(|m| m.contains("SM version")),
        "{error}"
    );
}

#[test]
fn a_batch_is_assembled_at_once_and_finds_the_guilty_part() {
    let Some(ptxas) = Ptxas::get() else { return };
    let mut batch = Batch::default();
    for i in 0..20 {
        batch.push(&entry("sm_80", &format!("k{i}"), "")).unwrap();
    }
    ptxas.assemble(&batch.text(), "sm_80").unwrap();
    let bad = entry("sm_80", "bad", "mov.u8 %r1, %r1;");
    batch.push(&bad).unwrap();
    batch.push(&entry("sm_80", "last", "")).unwrap();
    match ptxas.assemble(&batch.text(), "sm_80") {
        Err(Error::Refused {
            line: Some(line), ..
        }) => {
            assert_eq!(batch.locate(line), Some((20, 6)));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_texts_keep_their_order() {
    let Some(ptxas) = Ptxas::get() else { return };
    let good = entry("sm_80", "k", "");
    let bad = entry("sm_80", "k", "nonsense;");
    let jobs = [(&*good, "sm_80"), (&*bad, "sm_80"), (&*good, "sm_90")];
    let results = ptxas.assemble_all(&jobs, &Options::default());
    let ok: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [true, false, true]);
}
