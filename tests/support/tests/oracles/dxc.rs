//! DXC's container validator.

use kernite_testkit::dxc::{Dxc, Refused};

/// What DXC made of `[numthreads(1, 1, 1)] void main() {}` for cs_6_0.
const EMPTY: &[u8] = include_bytes!("../data/empty.cs_6_0.dxil");

#[test]
fn a_container_of_its_own_is_accepted() {
    let Some(dxc) = Dxc::get() else { return };
    assert_eq!(dxc.validate(EMPTY), Ok(()));
}

#[test]
fn broken_containers_are_refused_in_their_order() {
    let Some(dxc) = Dxc::get() else { return };
    // The bitcode's last words, a part's name, half of the file.
    let mut bitcode = EMPTY.to_vec();
    let end = bitcode.len();
    bitcode[end - 64..].fill(0xFF);
    let mut name = EMPTY.to_vec();
    let place = name.windows(4).position(|w| w == b"PSV0").unwrap();
    name[place..place + 4].copy_from_slice(b"XXXX");
    let results = dxc.validate_all(&[EMPTY, &bitcode, &name, &EMPTY[..end / 2], b"", EMPTY]);
    let ok: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [true, false, false, false, false, true], "{results:?}");
    match &results[2] {
        Err(Refused::Invalid { message, .. }) => {
            assert!(message.contains("XXXX"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_builder_edits_a_container_and_refuses_what_is_none() {
    let Some(dxc) = Dxc::get() else { return };
    let mut session = dxc.session();
    assert!(session.version() >= (1, 8), "{:?}", session.version());
    let private = (*b"PRIV", b"notes".as_slice());
    let built = session.build(EMPTY, &[*b"STAT"], &[private]).unwrap();
    assert!(built.ends_with(b"PRIV\x05\0\0\0notes"));
    assert_eq!(session.validate(&built), Ok(()));
    let refused = session.build(b"no container", &[], &[]);
    assert!(
        matches!(refused, Err(Refused::Invalid { .. })),
        "{refused:?}"
    );
}
