//! DXBC containers: reading, writing, digests, and wrapping precompiled DXIL.
//!
//! Direct3D takes its shaders in DXBC containers: a header with a digest, a directory, and parts.
//! This module reads any of them ([`Container`], [`part`]), edits them ([`Object`]), writes them
//! ([`ContainerWriter`]), checks and computes the digest without which a runtime refuses them
//! ([`Digest`]), and packs bitcode that DXC made into a complete compute container
//! ([`ComputePackager`]). It does not make DXIL itself.
//!
//! ```
//! use kernite::dxbc::{Container, DigestKind, FourCc, Object, Strip, WriteDigest};
//! # use kernite::dxbc::ContainerWriter;
//! # let mut w = ContainerWriter::new();
//! # w.part(FourCc::SFI0, &[0; 8]).part(FourCc::PRIV, b"notes".as_slice());
//! # let file = w.finish(WriteDigest::Unsigned)?;
//! let container = Container::read(&file)?; // as strict as DXC itself
//! for part in container.parts() {
//!     println!("{} at {:#x}: {:?}", part.kind, part.offset, part.read());
//! }
//! let mut object = Object::from_container(&container);
//! object.strip(Strip::RUNTIME);
//! object.set_digest(WriteDigest::Retail);
//! let signed = object.write()?; // refused if the parts contradict each other
//! assert_eq!(Container::read(&signed)?.digest_kind(), DigestKind::Retail);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Hostile bytes give an error with offset, part and field. Nothing here panics on any input,
//! nothing allocates by a number that was not checked against the input's size, and time grows
//! with that size (times its logarithm, for directories out of order).
//!
//! Offsets and sums are 64 bits wide. Plain `+` and `*` work on two things only: fields of at most
//! 32 bits, and lengths of what is in memory. No sum of a few of these, and no product of two of
//! the fields, passes 64 bits; what comes from a caller in full width is added with a check.
//!
//! The layouts follow DXC's headers (`include/dxc/DxilContainer/`); the digest follows DXC's
//! `lib/DxilHash/DxilHash.cpp` and hlsl-specs INF-0004.
#![forbid(unsafe_code)]

mod bytes;
mod check;
mod digest;
mod encode;
mod error;
mod fourcc;
mod md5;
mod object;
mod pack;
pub mod part;
mod read;
mod source_bytes;
mod write;

pub use check::{Inconsistency, InconsistencyKind};
pub use digest::{Digest, DigestKind, WriteDigest};
pub use error::{InterfaceRule, PackError, ReadError, ReadErrorKind, WriteError};
pub use fourcc::FourCc;
pub use object::{Object, Strip};
pub use pack::{
    BufferShape, ComputeInterface, ComputePackager, PackRootSignature, PushConstantHome,
    PushConstants, ResourceBinding, SignatureMapping, WaveLanes,
};
pub use read::{Container, Deviation, DeviationKind, Mode, RawPart};
pub use write::ContainerWriter;

#[cfg(test)]
mod tests {
    use super::*;

    fn send_sync<T: Send + Sync>() {}

    #[test]
    fn everything_crosses_threads() {
        send_sync::<Container>();
        send_sync::<Object>();
        send_sync::<ContainerWriter>();
        send_sync::<ComputePackager>();
        send_sync::<part::Part>();
        send_sync::<ReadError>();
        send_sync::<WriteError>();
        send_sync::<PackError>();
    }
}
