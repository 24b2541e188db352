//! What a launch checks and passes on, laid out once per function.

use super::arg::{ArgKind, Give};
use super::overlap::{self, ALIASED, Range, WRITTEN};
use super::{Arg, ArgumentFault, LaunchError};
use crate::cuda::result::Result;
use crate::cuda::shared::Shared;
use crate::cuda::slots::Slot;
use crate::kernel::{ParameterKind, Signature};
use crate::ptx::dynamic_shared_base;
use crate::types::{Scalar, Type};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use std::sync::Arc;

/// A parameter as the launch sees it.
#[derive(Clone, Copy, Debug)]
enum Place {
    Buffer {
        elem: Type,
        class: usize,
        /// Elements that the kernel can count.
        max_len: u64,
    },
    Scalar(Scalar),
}

/// The checks of a signature.
#[derive(Debug)]
pub(crate) struct Plan {
    pub signature: Signature,
    /// Whether the kernel checks the bounds of every access.
    pub checked: bool,
    /// Bytes of dynamic shared memory in front of the dynamic array, which hold what was declared static.
    pub moved_shared_bytes: u32,
    slots: Box<[Place]>,
    /// The arguments whose lengths are passed behind the declared ones.
    lengths: Box<[usize]>,
    /// Whether the kernel may write some buffer.
    writes: bool,
}

/// Arguments and hidden ones that fit on the stack: the first tier covers nearly all kernels, the second all that fit
/// PTX 8.0's 4352 bytes of pointers.
const FEW: usize = 32;
const MANY: usize = 600;

/// A value for each parameter and a pointer to each, as `cuLaunchKernel` takes them. Left as it is until it is filled:
/// to clear it would cost more than all checks.
struct Storage<const N: usize> {
    values: [MaybeUninit<u64>; N],
    pointers: [MaybeUninit<*mut c_void>; N],
}

impl<const N: usize> Storage<N> {
    #[inline]
    fn new() -> Storage<N> {
        Storage {
            values: [const { MaybeUninit::uninit() }; N],
            pointers: [const { MaybeUninit::uninit() }; N],
        }
    }
}

impl Plan {
    pub fn new(signature: &Signature, checked: bool) -> Plan {
        let mut buffers = Vec::new();
        let mut slots = Vec::with_capacity(signature.params.len());
        let mut writes = false;
        for (index, parameter) in signature.params.iter().enumerate() {
            slots.push(match parameter.kind {
                ParameterKind::Buffer {
                    elem,
                    access,
                    may_alias,
                    used,
                    ..
                } => {
                    buffers.push(index);
                    writes |= access.writes();
                    let written = if access.writes() { WRITTEN } else { 0 };
                    let aliased = if may_alias { ALIASED } else { 0 };
                    Place::Buffer {
                        elem,
                        class: written | aliased,
                        max_len: if used.length_u32 {
                            u64::from(u32::MAX)
                        } else {
                            u64::MAX
                        },
                    }
                }
                ParameterKind::Scalar { ty, .. } => Place::Scalar(ty),
            });
        }
        // A signature's lengths name its own buffers.
        let lengths = signature.lengths.iter();
        let lengths = lengths.filter_map(|length| buffers.get(length.buffer as usize).copied());
        let moved_shared_bytes = dynamic_shared_base(signature.static_shared_bytes);
        Plan {
            checked,
            moved_shared_bytes,
            slots: slots.into(),
            lengths: lengths.collect(),
            writes,
            signature: signature.clone(),
        }
    }

    /// Offset and size of each parameter, hidden ones last.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        let declared = self.signature.params.iter().zip(&self.slots);
        let declared = declared.map(|(parameter, slot)| {
            let size = match slot {
                Place::Buffer { .. } => 8,
                Place::Scalar(ty) => u64::from(ty.bytes().max(1)),
            };
            (parameter.ptx_offset, size)
        });
        declared.chain(
            self.signature
                .lengths
                .iter()
                .map(|length| (length.ptx_offset, 8)),
        )
    }

    /// Checks the arguments and hands them to `act` as `cuLaunchKernel` takes them: a pointer to each value. They live
    /// until it returns; each is aligned to 8 bytes. `act` also learns whether all memory is marked as used on the stream of
    /// `slot` already, so that nothing is left to do for it.
    #[inline]
    pub fn with_arguments<R>(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        slot: Option<Slot>,
        act: impl FnOnce(*mut *mut c_void, bool) -> Result<R>,
    ) -> Result<R> {
        let count = self.slots.len() + self.lengths.len();
        if args.len() != self.slots.len() {
            return Err(LaunchError::ArgumentCount {
                expected: self.slots.len(),
                found: args.len(),
            }
            .into());
        }
        if count <= FEW {
            let mut storage = Storage::<FEW>::new();
            let Storage { values, pointers } = &mut storage;
            let marked = self.fill(shared, args, slot, values, pointers)?;
            act(pointers.as_mut_ptr().cast(), marked)
        } else if count <= MANY {
            self.with_many(shared, args, slot, act)
        } else {
            self.with_any(count, shared, args, slot, act)
        }
    }

    #[inline(never)]
    fn with_many<R>(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        slot: Option<Slot>,
        act: impl FnOnce(*mut *mut c_void, bool) -> Result<R>,
    ) -> Result<R> {
        let mut storage = Storage::<MANY>::new();
        let Storage { values, pointers } = &mut storage;
        let marked = self.fill(shared, args, slot, values, pointers)?;
        act(pointers.as_mut_ptr().cast(), marked)
    }

    /// The only way that allocates: kernels of more parameters than PTX 8.0 has room for pointers.
    #[cold]
    fn with_any<R>(
        &self,
        count: usize,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        slot: Option<Slot>,
        act: impl FnOnce(*mut *mut c_void, bool) -> Result<R>,
    ) -> Result<R> {
        let mut values = vec![MaybeUninit::uninit(); count];
        let mut pointers = vec![MaybeUninit::uninit(); count];
        let marked = self.fill(shared, args, slot, &mut values, &mut pointers)?;
        act(pointers.as_mut_ptr().cast(), marked)
    }

    /// Checks the arguments and writes values and pointers to them; each slice has room for all parameters. What the
    /// driver reads, one pointer for each parameter, is written where this gives `Ok`. Tells whether all memory is marked as
    /// used on the stream of `slot` already.
    fn fill(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        slot: Option<Slot>,
        values: &mut [MaybeUninit<u64>],
        pointers: &mut [MaybeUninit<*mut c_void>],
    ) -> Result<bool> {
        // There is room for all; the checks of the split are for the compiler.
        let declared = self.slots.len();
        let (Some((values, more_values)), Some((pointers, more_pointers))) = (
            values.split_at_mut_checked(declared),
            pointers.split_at_mut_checked(declared),
        ) else {
            return Ok(false);
        };
        let bit = slot.map_or(0, Slot::bit);
        let mut marked = bit;
        let put = |place: &mut MaybeUninit<u64>, to: &mut MaybeUninit<*mut c_void>, value: u64| {
            // Little-endian, so that a narrow type's own bytes come first; `bool` is a byte of 0 or 1.
            to.write((place.write(value.to_le()) as *mut u64).cast());
        };
        // Whether only addresses can tell that no two overlap.
        let mut unproved = false;
        let places = values.iter_mut().zip(pointers);
        let given = self.slots.iter().zip(args).zip(places).enumerate();
        for (index, ((slot, arg), (value, pointer))) in given {
            match (slot, &arg.0) {
                (
                    Place::Buffer {
                        elem,
                        class,
                        max_len,
                    },
                    ArgKind::Buffer {
                        view,
                        elem: found,
                        give,
                    },
                ) => {
                    // Sizes of element types are powers of two.
                    let align = u64::from(elem.bytes());
                    let fits = found == elem
                        && match give {
                            Give::Exclusive => true,
                            Give::Shared => class & WRITTEN == 0,
                            Give::Aliased => class & ALIASED != 0,
                        }
                        && Arc::ptr_eq(shared, view.shared)
                        && view.ptr & align.wrapping_sub(1) == 0
                        && view.len as u64 <= *max_len;
                    if !fits {
                        return self.refuse(shared, index, slot, arg);
                    }
                    match view.owner {
                        Some(owner) => {
                            unproved |= *give == Give::Aliased;
                            marked &= owner.marks();
                        }
                        None => unproved = true,
                    }
                    put(value, pointer, view.ptr);
                }
                (Place::Scalar(expected), ArgKind::Scalar(given)) => {
                    if given.ty() != Type::of(*expected) {
                        return self.refuse(shared, index, slot, arg);
                    }
                    put(value, pointer, given.bits());
                }
                (Place::Buffer { .. }, ArgKind::Scalar(_))
                | (Place::Scalar(_), ArgKind::Buffer { .. }) => {
                    return self.refuse(shared, index, slot, arg);
                }
            }
        }
        // A buffer that the kernel may write is borrowed exclusively, so that it overlaps nothing; but for those given as
        // aliased, and for memory of others, of which the borrow says nothing.
        if unproved && self.writes {
            self.check_overlap(args)?;
        }
        let places = more_values.iter_mut().zip(more_pointers);
        for (&index, (value, pointer)) in self.lengths.iter().zip(places) {
            let len = match args.get(index).map(|arg| &arg.0) {
                Some(ArgKind::Buffer { view, .. }) => view.len as u64,
                Some(ArgKind::Scalar(_)) | None => 0,
            };
            put(value, pointer, len);
        }
        Ok(marked != 0)
    }

    /// Compares the addresses of all buffers.
    #[inline(never)]
    fn check_overlap(&self, args: &[Arg<'_>]) -> Result<()> {
        let (mut starts, mut ends) = ([0; FEW], [0; FEW]);
        if args.len() > FEW {
            self.check_overlap_of_many(args)
        } else if overlap::apart(self.ranges(args), &mut starts, &mut ends) {
            Ok(())
        } else {
            self.find_overlap(args, &mut [Range::default(); FEW])
        }
    }

    #[inline(never)]
    fn check_overlap_of_many(&self, args: &[Arg<'_>]) -> Result<()> {
        let (mut starts, mut ends) = ([0; MANY], [0; MANY]);
        if args.len() > MANY {
            self.find_overlap(args, &mut vec![Range::default(); args.len()])
        } else if overlap::apart(self.ranges(args), &mut starts, &mut ends) {
            Ok(())
        } else {
            self.find_overlap(args, &mut [Range::default(); MANY])
        }
    }

    /// The buffers that are not empty.
    fn ranges(&self, args: &[Arg<'_>]) -> impl Iterator<Item = Range> {
        let given = self.slots.iter().zip(args).enumerate();
        given.filter_map(|(index, (slot, arg))| match (slot, &arg.0) {
            (Place::Buffer { elem, class, .. }, ArgKind::Buffer { view, .. }) if view.len != 0 => {
                Some(Range {
                    start: view.ptr,
                    // Slices were checked to end within the address space.
                    end: view.ptr + view.len as u64 * u64::from(elem.bytes()),
                    index,
                    class: *class,
                })
            }
            (
                Place::Buffer { .. } | Place::Scalar(_),
                ArgKind::Buffer { .. } | ArgKind::Scalar(_),
            ) => None,
        })
    }

    /// `room` is for all arguments.
    #[inline(never)]
    fn find_overlap(&self, args: &[Arg<'_>], room: &mut [Range]) -> Result<()> {
        let mut used = 0;
        for (range, place) in self.ranges(args).zip(&mut *room) {
            *place = range;
            used += 1;
        }
        match room.get_mut(..used).and_then(overlap::find) {
            Some((first, second)) => Err(LaunchError::Overlap { first, second }.into()),
            None => Ok(()),
        }
    }

    /// Says what is wrong with an argument that does not fit.
    #[cold]
    fn refuse(
        &self,
        shared: &Arc<Shared>,
        index: usize,
        slot: &Place,
        arg: &Arg<'_>,
    ) -> Result<bool> {
        let fault = match (slot, &arg.0) {
            (Place::Scalar(expected), ArgKind::Scalar(given)) => ArgumentFault::Type {
                expected: *expected,
                found: given.ty(),
            },
            (Place::Buffer { elem, .. }, ArgKind::Scalar(_)) => {
                ArgumentFault::ExpectedBuffer(*elem)
            }
            (Place::Scalar(ty), ArgKind::Buffer { .. }) => ArgumentFault::ExpectedScalar(*ty),
            (
                Place::Buffer {
                    elem,
                    class,
                    max_len,
                },
                ArgKind::Buffer {
                    view,
                    elem: found,
                    give,
                },
            ) => {
                let align = elem.bytes();
                let len = view.len as u64;
                if found != elem {
                    ArgumentFault::Element {
                        expected: *elem,
                        found: *found,
                    }
                } else if *give == Give::Aliased && class & ALIASED == 0 {
                    ArgumentFault::NotAliased
                } else if *give == Give::Shared && class & WRITTEN != 0 {
                    ArgumentFault::ReadOnly
                } else if !Arc::ptr_eq(shared, view.shared) {
                    ArgumentFault::OtherContext
                } else if len > *max_len {
                    ArgumentFault::TooLong { len }
                } else {
                    ArgumentFault::Misaligned {
                        address: view.ptr,
                        align,
                    }
                }
            }
        };
        let name = self.signature.params.get(index);
        Err(LaunchError::Argument {
            index,
            name: name.map(|p| p.name.clone()).unwrap_or_default(),
            fault,
        }
        .into())
    }
}
