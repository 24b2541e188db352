//! Ids: newtypes that print as the text form does and know whose they are.

use core::fmt;
use core::sync::atomic::{AtomicU32, Ordering};

/// Marks the ids of one building of one kernel, so that an id from elsewhere is caught.
///
/// Stamps come from one process-wide counter, the crate's only static; it influences nothing but this check. It repeats
/// after 2^32 kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp(u32);

impl Stamp {
    /// That of a builder whose kernel is finished, which has no ids.
    pub(crate) const FINISHED: Stamp = Stamp(0);

    pub(crate) fn fresh() -> Stamp {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        loop {
            let stamp = Stamp(NEXT.fetch_add(1, Ordering::Relaxed));
            if stamp != Stamp::FINISHED {
                return stamp;
            }
        }
    }
}

/// The index that stands for something already refused; used again it is passed over in silence, since the fault it came
/// from is already on the list.
pub(crate) const REFUSED: u32 = u32::MAX;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            index: u32,
            stamp: Stamp,
        }

        impl $name {
            #[inline]
            pub(crate) const fn new(index: u32, stamp: Stamp) -> $name {
                $name { index, stamp }
            }

            #[inline]
            pub(crate) const fn stamp(self) -> Stamp {
                self.stamp
            }

            /// The number in the text form: for values and variables the index of the instruction, for others the place
            /// in order of declaration. `u32::MAX` for what the builder refused to make.
            #[inline]
            pub const fn index(self) -> u32 {
                self.index
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index)
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
