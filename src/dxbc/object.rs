//! A container that can be edited.
#![forbid(unsafe_code)]

use super::{
    Container, ContainerWriter, DeviationKind, DigestKind, FourCc, Inconsistency, ReadError,
    WriteDigest, WriteError, check,
    part::Part,
    write::{raw_parts, sign},
};
use std::borrow::Cow;

/// A container as a list of parts, to add to, replace in, remove from and write again.
///
/// Written without an edit, it gives the bytes read, whatever their digest, gaps or order of
/// directory. After an edit the parts are laid out as DXC lays them out, and the digest follows
/// its kind: what was signed is signed anew, and a digest that did not match becomes zero, as
/// DXC's `IDxcContainerBuilder` does it.
///
/// ```
/// use kernite::dxbc::{Container, DigestKind, FourCc, Object, WriteDigest};
/// let mut object = Object::new();
/// object.set_digest(WriteDigest::Retail);
/// object.add(FourCc::PRIV, b"hello".as_slice())?;
/// let bytes = object.write()?;
/// assert_eq!(Container::read(&bytes)?.digest_kind(), DigestKind::Retail);
///
/// let mut object = Object::read(&bytes)?;
/// object.remove(FourCc::PRIV)?;
/// assert_eq!(Container::read(&object.write()?)?.digest_kind(), DigestKind::Retail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    minor: u16,
    digest: WriteDigest,
    /// In the directory's order.
    parts: Vec<(FourCc, Cow<'a, [u8]>)>,
    /// What was read, while its layout is not the one that is written.
    layout: Option<Layout<'a>>,
    /// Anything but the bytes read is to be written.
    edited: bool,
}

/// All bytes given, and how many of them are the container.
#[derive(Clone, Copy, Debug)]
struct Layout<'a> {
    bytes: &'a [u8],
    size: usize,
}

/// What [`Object::strip`] takes out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Strip {
    /// `ILDB`: the program with debug information.
    pub debug: bool,
    /// `ILDN`: the name of the debug file.
    pub debug_name: bool,
    /// `STAT` and `RDEF`: what reflection reads.
    pub reflection: bool,
    /// `RTS0`: the root signature.
    pub root_signature: bool,
    /// `PRIV`: private data.
    pub private: bool,
}

impl Strip {
    /// Everything that a runtime does not need to run the shader, the root signature
    /// excepted.
    pub const RUNTIME: Strip = Strip {
        debug: true,
        debug_name: true,
        reflection: true,
        root_signature: false,
        private: true,
    };

    fn takes(self, kind: FourCc) -> bool {
        match kind {
            FourCc::ILDB => self.debug,
            FourCc::ILDN => self.debug_name,
            FourCc::STAT | FourCc::RDEF => self.reflection,
            FourCc::RTS0 => self.root_signature,
            FourCc::PRIV => self.private,
            _ => false,
        }
    }
}

impl<'a> Object<'a> {
    /// No parts, unsigned.
    #[must_use]
    pub fn new() -> Self {
        Self {
            digest: WriteDigest::Unsigned,
            edited: true,
            ..Self::default()
        }
    }

    /// Reads a container leniently.
    ///
    /// # Errors
    /// As [`Container::read_lenient`].
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Ok(Self::from_container(&Container::read_lenient(bytes)?))
    }

    /// The parts of a container that was read in either mode.
    #[must_use]
    pub fn from_container(container: &Container<'a>) -> Self {
        let digest = match container.digest_kind() {
            DigestKind::Retail => WriteDigest::Retail,
            DigestKind::Debug => WriteDigest::Debug,
            DigestKind::Unsigned => WriteDigest::Unsigned,
            DigestKind::Bypass => WriteDigest::Bypass,
            DigestKind::PreviewBypass => WriteDigest::PreviewBypass,
            DigestKind::Mismatch => WriteDigest::Raw(container.digest()),
        };
        let odd = container.deviations().iter().any(|d| match d.kind {
            DeviationKind::Gap(_)
            | DeviationKind::OutOfOrder(_)
            | DeviationKind::TrailingBytes(_) => true,
            DeviationKind::MinorVersion(_) | DeviationKind::DuplicatePart { .. } => false,
        });
        let layout = odd.then(|| Layout {
            bytes: container.input(),
            size: container.bytes().len(),
        });
        Self {
            minor: container.version().1,
            digest,
            parts: container.parts().map(|p| (p.kind, p.data.into())).collect(),
            layout,
            edited: false,
        }
    }

    /// The parts in the directory's order.
    pub fn parts(&self) -> impl Iterator<Item = (FourCc, &[u8])> {
        self.parts.iter().map(|(k, d)| (*k, &**d))
    }

    /// The data of the first part of a kind.
    #[must_use]
    pub fn get(&self, kind: FourCc) -> Option<&[u8]> {
        self.parts().find(|(k, _)| *k == kind).map(|(_, d)| d)
    }

    /// The digest that will be written.
    #[must_use]
    pub fn digest(&self) -> WriteDigest {
        self.digest
    }

    /// Chooses the digest to write. Gaps and order of what was read stay.
    pub fn set_digest(&mut self, digest: WriteDigest) {
        self.digest = digest;
        self.edited = true;
    }

    /// The parts change: lay out anew, and let no stale digest live on.
    fn edit(&mut self) {
        self.edited = true;
        self.layout = None;
        if matches!(self.digest, WriteDigest::Raw(_)) {
            self.digest = WriteDigest::Unsigned;
        }
    }

    /// Adds a part at the end, or before `PRIV`, which stays last.
    ///
    /// # Errors
    /// A part of that kind is there; the data is itself a container; its size is no multiple of
    /// 4, which only `PRIV` may have, unless some other part has such a size too (validators
    /// before 1.7 wrote them).
    pub fn add(&mut self, part: FourCc, data: impl Into<Cow<'a, [u8]>>) -> Result<(), WriteError> {
        let data = data.into();
        if self.get(part).is_some() {
            return Err(WriteError::DuplicatePart { part });
        }
        self.admit(part, &data)?;
        let at = match self.parts.last() {
            Some((FourCc::PRIV, _)) => self.parts.len() - 1,
            _ => self.parts.len(),
        };
        self.edit();
        self.parts.insert(at, (part, data));
        Ok(())
    }

    /// Replaces the data of the part of a kind.
    ///
    /// # Errors
    /// No part of that kind, or two; else as [`add`](Self::add).
    pub fn replace(
        &mut self,
        part: FourCc,
        data: impl Into<Cow<'a, [u8]>>,
    ) -> Result<(), WriteError> {
        let data = data.into();
        let mut found = self
            .parts
            .iter()
            .enumerate()
            .filter(|(_, (k, _))| *k == part)
            .map(|(i, _)| i);
        let Some(at) = found.next() else {
            return Err(WriteError::MissingPart { part });
        };
        if found.next().is_some() {
            return Err(WriteError::DuplicatePart { part });
        }
        self.admit(part, &data)?;
        self.edit();
        if let Some((_, old)) = self.parts.get_mut(at) {
            *old = data;
        }
        Ok(())
    }

    /// Encodes a part and replaces the one of its kind, or adds it.
    ///
    /// # Errors
    /// As [`Part::write`], [`replace`](Self::replace) and [`add`](Self::add).
    pub fn set_part(&mut self, kind: FourCc, part: &Part) -> Result<(), WriteError> {
        let mut data = Vec::new();
        part.write(&mut data)?;
        match self.get(kind) {
            Some(_) => self.replace(kind, data),
            None => self.add(kind, data),
        }
    }

    /// Removes all parts of a kind.
    ///
    /// # Errors
    /// There is none.
    pub fn remove(&mut self, part: FourCc) -> Result<(), WriteError> {
        match self.retain(|k| k != part) {
            0 => Err(WriteError::MissingPart { part }),
            _ => Ok(()),
        }
    }

    /// Removes what `what` names and is there; gives how many parts that were.
    pub fn strip(&mut self, what: Strip) -> usize {
        self.retain(|k| !what.takes(k))
    }

    fn retain(&mut self, keep: impl Fn(FourCc) -> bool) -> usize {
        let before = self.parts.len();
        if self.parts.iter().all(|(k, _)| keep(*k)) {
            return 0;
        }
        self.edit();
        self.parts.retain(|(k, _)| keep(*k));
        before - self.parts.len()
    }

    fn admit(&self, part: FourCc, data: &[u8]) -> Result<(), WriteError> {
        if data.starts_with(&FourCc::DXBC.0) {
            return Err(WriteError::NestedContainer { part });
        }
        let odd = |k: FourCc, d: &[u8]| k != FourCc::PRIV && !d.len().is_multiple_of(4);
        let unaligned = self.parts().any(|(k, d)| k != part && odd(k, d));
        if odd(part, data) && !unaligned {
            let size = data.len() as u64;
            return Err(WriteError::Unaligned { part, size });
        }
        Ok(())
    }

    /// What contradicts itself among the parts: see [`Container::check`].
    #[must_use]
    pub fn check(&self) -> Vec<Inconsistency> {
        check::check(&raw_parts(&self.parts))
    }

    /// The container.
    ///
    /// After an edit the parts are checked first, unless the digest is to be zero: what contradicts
    /// itself is never signed, nor let past the hash check.
    ///
    /// # Errors
    /// [`WriteError::Inconsistent`], or more than 2 GiB.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        let mut out = Vec::new();
        self.write_into(&mut out)?;
        Ok(out)
    }

    /// Appends the container to `out`, which is left alone on error.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_into(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if self.edited && self.digest != WriteDigest::Unsigned {
            let faults = self.check();
            if !faults.is_empty() {
                return Err(WriteError::Inconsistent(faults));
            }
        }
        if let Some(layout) = &self.layout {
            let start = out.len();
            out.extend_from_slice(layout.bytes);
            let copy = out.get_mut(start..).unwrap_or_default();
            if let Some(container) = copy.get_mut(..layout.size) {
                sign(container, self.digest);
            }
            return Ok(());
        }
        let mut writer = ContainerWriter::new();
        writer.minor_version(self.minor);
        for (kind, data) in self.parts() {
            writer.part(kind, data);
        }
        writer.assemble_into(self.digest, out)
    }
}
