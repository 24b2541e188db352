//! naga's SPIR-V reader. It reads only part of SPIR-V, so what it lacks is a
//! table of named gaps, each of which must be met by some module of the run.
#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use ::naga::front::spv;
use ::naga::{Module, back, valid};

/// naga does not take the module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("naga: {0}")]
pub struct Refused(pub String);

/// Something that naga lacks, recognised by the text of its error.
#[derive(Clone, Copy, Debug)]
pub struct NagaGap {
    /// What naga lacks, in words.
    pub reason: &'static str,
    /// Whether an error text comes from this gap.
    pub matches: fn(&str) -> bool,
}

/// A table of gaps that counts how often each row was met.
///
/// ```
/// use kernite_testkit::naga::{Gaps, NagaGap, Verdict};
///
/// let gaps: Gaps<1> = Gaps::new([NagaGap {
///     reason: "no Kernel capability",
///     matches: |error| error.contains("UnsupportedCapability"),
/// }]);
/// # let words = [];
/// match gaps.read(&words) {
///     Verdict::Read(module) => assert_eq!(module.entry_points.len(), 1),
///     Verdict::Excused(reason) => println!("naga has {reason}"),
///     Verdict::Refused(error) => eprintln!("{error}"),
/// }
/// assert_eq!(gaps.unused(), ["no Kernel capability"]);
/// ```
#[derive(Debug)]
pub struct Gaps<const N: usize> {
    rows: [NagaGap; N],
    met: [AtomicUsize; N],
}

/// What naga says of a module, in view of its gaps.
#[derive(Debug)]
pub enum Verdict {
    /// It reads the module.
    Read(Box<Module>),
    /// It does not, for a reason that the table lists.
    Excused(&'static str),
    /// It does not, and no row of the table says why.
    Refused(Refused),
}

impl<const N: usize> Gaps<N> {
    /// A table none of whose rows has been met.
    pub const fn new(rows: [NagaGap; N]) -> Self {
        Self {
            rows,
            met: [const { AtomicUsize::new(0) }; N],
        }
    }

    /// Reads a module; the first row that matches the error excuses it.
    pub fn read(&self, words: &[u32]) -> Verdict {
        match read(words) {
            Ok(module) => Verdict::Read(Box::new(module)),
            Err(refused) => match self.excuse(&refused.0) {
                Some(reason) => Verdict::Excused(reason),
                None => Verdict::Refused(refused),
            },
        }
    }

    /// The reason of the first row that matches an error text; the row then counts
    /// as met.
    pub fn excuse(&self, error: &str) -> Option<&'static str> {
        let index = self.rows.iter().position(|row| (row.matches)(error))?;
        self.met[index].fetch_add(1, Ordering::Relaxed);
        Some(self.rows[index].reason)
    }

    /// The reasons of the rows that no module has met.
    pub fn unused(&self) -> Vec<&'static str> {
        let rows = self.rows.iter().zip(&self.met);
        rows.filter(|(_, met)| met.load(Ordering::Relaxed) == 0)
            .map(|(row, _)| row.reason)
            .collect()
    }

    /// Asserts that each row was met: one that never is has become untrue, or
    /// never was true.
    ///
    /// # Panics
    /// Some row was not met.
    #[track_caller]
    pub fn assert_all_met(&self) {
        let unused = self.unused();
        assert!(
            unused.is_empty(),
            "no module met these gaps of naga, so they should go: {unused:?}"
        );
    }
}

/// Reads a module with naga's SPIR-V front end.
///
/// # Errors
/// naga refuses the words, or panics on them. The text starts with the name of
/// naga's error variant, which is what a [`NagaGap`] matches best.
pub fn read(words: &[u32]) -> Result<Module, Refused> {
    let options = spv::Options {
        adjust_coordinate_space: false,
        ..spv::Options::default()
    };
    let bytes: &[u8] = bytemuck::cast_slice(words);
    match catch_unwind(AssertUnwindSafe(|| spv::parse_u8_slice(bytes, &options))) {
        Ok(Ok(module)) => Ok(module),
        Ok(Err(error)) => Err(Refused(format!("{error:?}: {error}"))),
        Err(panic) => Err(Refused(format!("Panic: {}", panic_text(&*panic)))),
    }
}

/// Validates a module that naga read, with every capability allowed, and writes it
/// as WGSL.
///
/// # Errors
/// The validator or the writer refuses it.
pub fn to_wgsl(module: &Module) -> Result<String, Refused> {
    let capabilities = valid::Capabilities::all();
    let info = valid::Validator::new(valid::ValidationFlags::all(), capabilities)
        .validate(module)
        .map_err(|error| Refused(format!("{:?}", error.into_inner())))?;
    back::wgsl::write_string(module, &info, back::wgsl::WriterFlags::empty())
        .map_err(|error| Refused(error.to_string()))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "no text"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_what_they_excuse() {
        let gaps = Gaps::new([
            NagaGap {
                reason: "first",
                matches: |e| e.contains("one"),
            },
            NagaGap {
                reason: "second",
                matches: |e| e.contains("two"),
            },
        ]);
        assert_eq!(gaps.excuse("one and two"), Some("first"));
        assert_eq!(gaps.excuse("three"), None);
        assert_eq!(gaps.unused(), ["second"]);
        assert_eq!(gaps.excuse("two"), Some("second"));
        gaps.assert_all_met();
    }
}
