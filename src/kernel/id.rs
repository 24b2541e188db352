//! Ids: newtypes that print as the text form does and know whose they are.

use super::Mem;
use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// Marks the ids of one building of one kernel, so that an id from elsewhere is caught.
///
/// Stamps come from one process-wide counter, the crate's only static; it influences nothing but this check. It repeats
/// after 2^32 kernels.
///
/// It stands in the upper half of an id, above the index, so that an id is one machine word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// That of a builder whose kernel is finished, which has no ids.
    pub(crate) const FINISHED: Stamp = Stamp(0);

    pub(crate) fn fresh() -> Stamp {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        loop {
            let stamp = Stamp(u64::from(NEXT.fetch_add(1, Ordering::Relaxed)) << 32);
            if stamp != Stamp::FINISHED {
                return stamp;
            }
        }
    }
}

/// Where an id is found in the kernel of a stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place(u64);

impl Place {
    #[inline(always)]
    pub(crate) const fn of(index: u32) -> Place {
        Place(index as u64)
    }

    /// That of the element of a list; no list has 2^32.
    #[inline(always)]
    pub(crate) const fn of_index(index: usize) -> Place {
        Place(index as u64)
    }

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// Of an operand word of [`Mem`] its kind and number; of what is from elsewhere a kind that does not exist.
    #[inline(always)]
    pub(crate) fn kind_and_number(self) -> (usize, usize) {
        let word = self.index();
        (word >> Mem::SHIFT, word & Mem::MAX as usize)
    }

    /// The operand word, where it was found in a list.
    #[inline(always)]
    pub(crate) const fn word(self) -> u32 {
        self.0 as u32
    }
}

/// The index that stands for something already refused; used again it is passed over in silence, since the fault it came
/// from is already on the list.
pub(crate) const REFUSED: u32 = u32::MAX;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name(u64);

        #[allow(dead_code, reason = "not every kind of id needs everything")]
        impl $name {
            #[inline(always)]
            pub(crate) const fn new(index: u32, stamp: Stamp) -> $name {
                $name(stamp.0 | index as u64)
            }

            #[inline(always)]
            pub(crate) const fn stamp(self) -> Stamp {
                Stamp(self.0 >> 32 << 32)
            }

            /// The index in the kernel of this stamp. Of what belongs elsewhere or was refused it is past the end of every
            /// list, so that the look into the list tells.
            #[inline(always)]
            pub(crate) const fn place(self, stamp: Stamp) -> Place {
                Place(self.0.wrapping_sub(stamp.0))
            }

            /// The id that has this place.
            #[inline(always)]
            pub(crate) const fn at(place: Place, stamp: Stamp) -> $name {
                $name(stamp.0.wrapping_add(place.0))
            }

            /// The number in the text form: for values and variables the index of the instruction, for others the place
            /// in order of declaration. `u32::MAX` for what the builder refused to make.
            #[inline]
            pub const fn index(self) -> u32 {
                self.0 as u32
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

ids! {
    /// A value: what one instruction made. Prints as `v3`.
    Value "v";
    /// A mutable variable. Prints as `var3`.
    Var "var";
    /// A buffer parameter. Prints as `buf0`.
    Buffer "buf";
    /// A scalar parameter. Prints as `arg0`.
    Scalar "arg";
    /// An array in shared memory. Prints as `shared0`.
    Shared "shared";
    /// An array private to each thread. Prints as `private0`.
    Private "private";
    /// A table of constants.
    Table "table";
}
