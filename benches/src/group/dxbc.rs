//! DXBC containers, beside MD5 from the crate `md-5`.

use super::names::{CONTAINER, CONTAINER_DIGESTS, DIGEST, MD5};
use crate::paired::Contestant;
use kernite::dxbc::{Container, Digest, DigestKind};
use md5::{Digest as _, Md5};
use std::rc::Rc;

/// A compute shader of about 3 KB, as DXC 1.8 wrote and signed it.
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/dxbc/fixtures/signed/vecadd_raw.cs_6_5.dxil"
);

/// Reads strictly, compares every part with the others, and says what the digest is. The check of the HASH part is a
/// second digest, of the bitcode.
fn read_and_check(bytes: &[u8]) {
    let container = Container::read(bytes).expect("a container");
    assert!(container.check().is_empty());
    assert_eq!(container.digest_kind(), DigestKind::Retail);
}

pub(super) fn contestants() -> Vec<Contestant> {
    let bytes = std::fs::read(FILE).expect("the fixture");
    read_and_check(&bytes);
    let container = Container::read(&bytes).expect("a container");
    let hashed: Rc<[u8]> = container.hashed().into();
    let bitcode: Rc<[u8]> = match container.program() {
        Ok(Some(program)) => program.bitcode[..].into(),
        _ => panic!("the container holds a program"),
    };
    assert_eq!(Digest::md5(&hashed).0[..], Md5::digest(&hashed)[..]);
    let size = (1, bytes.len());
    let (both, other) = (hashed.clone(), hashed.clone());
    vec![
        Contestant::new(MD5, size, move || Md5::digest(&other)),
        Contestant::new(DIGEST, size, move || Digest::retail(&hashed)),
        Contestant::new(CONTAINER_DIGESTS, size, move || {
            (Digest::retail(&both), Digest::md5(&bitcode))
        }),
        Contestant::new(CONTAINER, size, move || read_and_check(&bytes)),
    ]
}
