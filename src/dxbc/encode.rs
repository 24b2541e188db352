//! The container's own structures as bytes. Nothing here remembers anything:
//! [`ContainerWriter`](super::ContainerWriter) keeps the books.
#![forbid(unsafe_code)]

use super::{
    Digest, FourCc,
    read::{DIGEST_AT, MAJOR},
};

/// Appends the header (`DxilContainerHeader`), the digest zero.
pub(crate) fn header(out: &mut Vec<u8>, minor: u16, size: u32, part_count: u32) {
    out.extend_from_slice(&FourCc::DXBC.0);
    out.extend_from_slice(&Digest::UNSIGNED.0);
    out.extend_from_slice(&MAJOR.to_le_bytes());
    out.extend_from_slice(&minor.to_le_bytes());
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&part_count.to_le_bytes());
}

/// Appends a directory entry.
pub(crate) fn entry(out: &mut Vec<u8>, offset: u32) {
    out.extend_from_slice(&offset.to_le_bytes());
}

/// Appends a part's header (`DxilPartHeader`).
pub(crate) fn part_header(out: &mut Vec<u8>, kind: FourCc, size: u32) {
    out.extend_from_slice(&kind.0);
    out.extend_from_slice(&size.to_le_bytes());
}

/// Puts the digest into a container that is otherwise complete.
pub(crate) fn digest(container: &mut [u8], digest: Digest) {
    // A small constant.
    for (b, d) in container.iter_mut().skip(DIGEST_AT as usize).zip(digest.0) {
        *b = d;
    }
}
