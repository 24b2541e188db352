//! `ILDN`: the name of the debug file (DXC `DxilShaderDebugName`).
#![forbid(unsafe_code)]

use super::pad4;
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, len},
};
use std::borrow::Cow;

/// The `ILDN` part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DebugName<'a> {
    /// Reserved, 0.
    pub flags: u16,
    /// The name, UTF-8 as a rule, by its length: a NUL inside is kept.
    pub name: Cow<'a, [u8]>,
    /// What follows the NUL that ends the name: zeros to a multiple of 4.
    pub trailing: Cow<'a, [u8]>,
}

impl<'a> DebugName<'a> {
    /// The part as DXC writes it.
    ///
    /// # Errors
    /// A name of 64 KiB and more, or with a NUL inside.
    pub fn new(name: &'a str) -> Result<Self, WriteError> {
        check_len(name.as_bytes())?;
        if name.contains('\0') {
            return Err(WriteError::InnerNul {
                part: FourCc::ILDN,
                offset: 4,
                field: "Name",
            });
        }
        let mut pad = vec![0; 4 + name.len() + 1];
        let used = pad.len();
        pad4(&mut pad, 0);
        Ok(Self {
            flags: 0,
            name: name.as_bytes().into(),
            trailing: pad.split_off(used).into(),
        })
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// Fewer bytes than the name's length says, or no NUL behind it.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::ILDN, data);
        let flags = c.u16("Flags")?;
        let length = c.u16("NameLength")?;
        let name = c.take(length.into(), "Name")?;
        let at = c.pos();
        if c.u8("Name")? != 0 {
            return Err(c.error(K::UnterminatedString, at, "Name"));
        }
        Ok(Self {
            flags,
            name: name.into(),
            trailing: c.rest().into(),
        })
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// A name of 64 KiB and more.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let length = check_len(&self.name)?;
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&self.name);
        out.push(0);
        out.extend_from_slice(&self.trailing);
        Ok(())
    }
}

fn check_len(name: &[u8]) -> Result<u16, WriteError> {
    u16::try_from(name.len()).map_err(|_| WriteError::TooLarge {
        part: FourCc::ILDN,
        offset: 2,
        field: "NameLength",
        value: len(name),
        limit: u16::MAX.into(),
    })
}
