//! `ISG1`, `OSG1`, `PSG1`: program signatures (DXC `DxilProgramSignature`).
#![forbid(unsafe_code)]

use super::{ComponentType, MinPrecision, SystemValue, fit_u32, pad4, put_words};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, c_str, len},
};
use std::{borrow::Cow, collections::HashMap};

/// Bytes of the header and of an element.
const HEADER: u64 = 8;
const ELEMENT: u64 = 32;

/// A program signature: one element for each semantic index, then their names.
///
/// Reading checks that every name lies behind the elements, or between header and elements, and
/// ends inside the part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature<'a> {
    /// Bytes between header and elements: none, as DXC writes it.
    pub gap: Cow<'a, [u8]>,
    /// The elements.
    pub elements: Vec<SignatureElement>,
    /// What follows the elements: names with their NULs, and padding.
    pub names: Cow<'a, [u8]>,
}

/// An element of a signature (`DxilProgramSignatureElement`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SignatureElement {
    /// Output stream.
    pub stream: u32,
    /// Offset of the name from the start of the part's data: see [`Signature::name`].
    pub semantic_name: u32,
    /// Semantic index.
    pub semantic_index: u32,
    /// System value.
    pub system_value: SystemValue,
    /// Component type.
    pub component_type: ComponentType,
    /// Register, `u32::MAX` if it has none.
    pub register: u32,
    /// Components.
    pub mask: u8,
    /// Outputs: components never written; inputs: components always read.
    pub rw_mask: u8,
    /// Zero.
    pub pad: u16,
    /// Minimum precision.
    pub min_precision: MinPrecision,
}

/// An element with its name, for [`Signature::build`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ElementDesc<'a> {
    /// Its name.
    pub name: &'a str,
    /// Everything else; `semantic_name` is set by `build`.
    pub element: SignatureElement,
}

/// How names are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum NameLayout {
    /// Equal names once, the part padded to a multiple of 4: validators 1.7 and later.
    #[default]
    Shared,
    /// Each element's own name, no padding: validators before 1.7.
    Repeated,
}

impl<'a> Signature<'a> {
    /// A signature as DXC writes it: names in the order given, elements sorted by stream,
    /// register and name.
    ///
    /// ```
    /// use kernite::dxbc::part::{NameLayout, Signature};
    /// let mut out = Vec::new();
    /// Signature::build(&[], NameLayout::Shared)?.write(&mut out)?;
    /// assert_eq!(out, [0, 0, 0, 0, 8, 0, 0, 0]); // empty, as compute shaders have it
    /// # Ok::<(), kernite::dxbc::WriteError>(())
    /// ```
    ///
    /// # Errors
    /// A name with a NUL inside, or 4 GiB and more of them.
    pub fn build(elements: &[ElementDesc], layout: NameLayout) -> Result<Self, WriteError> {
        let part = FourCc::ISG1;
        let base = HEADER + ELEMENT * elements.len() as u64;
        let mut names = Vec::new();
        let mut seen = HashMap::new();
        let mut list = Vec::with_capacity(elements.len());
        for desc in elements {
            let offset = base + len(&names);
            if desc.name.contains('\0') {
                return Err(WriteError::InnerNul {
                    part,
                    offset,
                    field: "SemanticName",
                });
            }
            let mut element = desc.element;
            let known = match layout {
                NameLayout::Shared => seen.get(desc.name).copied(),
                NameLayout::Repeated => None,
            };
            element.semantic_name = match known {
                Some(offset) => offset,
                None => {
                    let offset = fit_u32(part, offset, "SemanticName", offset)?;
                    names.extend_from_slice(desc.name.as_bytes());
                    names.push(0);
                    seen.insert(desc.name, offset);
                    offset
                }
            };
            list.push(element);
        }
        // Header and elements are multiples of 4 themselves.
        if layout == NameLayout::Shared {
            pad4(&mut names, 0);
        }
        list.sort_by_key(|e| (e.stream, e.register, e.semantic_name));
        Ok(Self {
            gap: Cow::Borrowed(&[]),
            elements: list,
            names: names.into(),
        })
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// Elements that begin inside the header or end past the part; a name inside header or
    /// elements, past the part, or without a NUL in it.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::ISG1, data);
        let count = u64::from(c.u32("ParamCount")?);
        let offset = u64::from(c.u32("ParamOffset")?);
        let limit = len(data);
        let Some(gap) = offset.checked_sub(HEADER) else {
            return Err(c.error(K::BadValue { value: offset }, 4, "ParamOffset"));
        };
        let end = offset + count * ELEMENT;
        if offset > limit {
            let end = offset;
            return Err(c.error(K::OutOfBounds { end, limit }, 4, "ParamOffset"));
        }
        if end > limit {
            return Err(c.error(K::OutOfBounds { end, limit }, 0, "ParamCount"));
        }
        let gap = c.take(gap, "gap")?;
        let mut elements = Vec::new();
        for _ in 0..count {
            elements.push(SignatureElement::read(&mut c)?);
        }
        let signature = Self {
            gap: gap.into(),
            elements,
            names: c.rest().into(),
        };
        match signature.bad_name() {
            None => Ok(signature),
            Some((at, kind, _)) => Err(c.error(kind, at, "SemanticName")),
        }
    }

    /// The first name that is not there: where its offset stands, what is wrong, and the offset. A
    /// name ends in its region if it begins no later than the last NUL there does: one look each,
    /// however long the names are.
    fn bad_name(&self) -> Option<(u64, K, u32)> {
        let last_nul = |b: &[u8]| b.iter().rposition(|&b| b == 0).map(|p| p as u64);
        let elements_at = HEADER + len(&self.gap);
        let names_at = elements_at + ELEMENT * self.elements.len() as u64;
        let limit = names_at + len(&self.names);
        let gap_end = last_nul(&self.gap).map(|p| p + HEADER);
        let names_end = last_nul(&self.names).map(|p| p + names_at);
        let fault = |name: u64| {
            if name >= limit {
                Some(K::OutOfBounds { end: name, limit })
            } else if name < HEADER || (elements_at..names_at).contains(&name) {
                Some(K::BadValue { value: name })
            } else {
                let end = if name < elements_at {
                    gap_end
                } else {
                    names_end
                };
                end.is_none_or(|end| name > end)
                    .then_some(K::UnterminatedString)
            }
        };
        self.elements.iter().enumerate().find_map(|(i, e)| {
            let at = elements_at + ELEMENT * i as u64 + 4;
            fault(e.semantic_name.into()).map(|kind| (at, kind, e.semantic_name))
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// A name that would not be found again, or more than 4 GiB.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let part = FourCc::ISG1;
        let count = self.elements.len() as u64;
        let offset = HEADER + len(&self.gap);
        if let Some((offset, _, name)) = self.bad_name() {
            return Err(WriteError::BadValue {
                part,
                offset,
                field: "SemanticName",
                value: name.into(),
            });
        }
        let count = fit_u32(part, 0, "ParamCount", count)?;
        let offset = fit_u32(part, 4, "ParamOffset", offset)?;
        put_words(out, &[count, offset]);
        out.extend_from_slice(&self.gap);
        for e in &self.elements {
            e.write(out);
        }
        out.extend_from_slice(&self.names);
        Ok(())
    }

    /// The element's name, or `None` if its offset leads nowhere (which reading excludes).
    #[must_use]
    pub fn name(&self, element: &SignatureElement) -> Option<&[u8]> {
        let offset = u64::from(element.semantic_name);
        let elements_at = HEADER + len(&self.gap);
        let names_at = elements_at + ELEMENT * self.elements.len() as u64;
        match offset.checked_sub(names_at) {
            Some(offset) => c_str(&self.names, offset),
            None => c_str(&self.gap, offset.checked_sub(HEADER)?),
        }
    }
}

impl SignatureElement {
    fn read(c: &mut Cursor) -> Result<Self, ReadError> {
        Ok(Self {
            stream: c.u32("Stream")?,
            semantic_name: c.u32("SemanticName")?,
            semantic_index: c.u32("SemanticIndex")?,
            system_value: SystemValue(c.u32("SystemValue")?),
            component_type: ComponentType(c.u32("CompType")?),
            register: c.u32("Register")?,
            mask: c.u8("Mask")?,
            rw_mask: c.u8("NeverWrites_Mask")?,
            pad: c.u16("Pad")?,
            min_precision: MinPrecision(c.u32("MinPrecision")?),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(
            out,
            &[
                self.stream,
                self.semantic_name,
                self.semantic_index,
                self.system_value.0,
                self.component_type.0,
                self.register,
            ],
        );
        out.extend_from_slice(&[self.mask, self.rw_mask]);
        out.extend_from_slice(&self.pad.to_le_bytes());
        out.extend_from_slice(&self.min_precision.0.to_le_bytes());
    }
}
