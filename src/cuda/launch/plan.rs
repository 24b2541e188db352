//! What a launch checks and passes on, laid out once per function.

use super::arg::{ArgKind, Give};
use super::overlap::{self, ALIASED, Range, WRITTEN};
use super::{Arg, ArgumentFault, LaunchError};
use crate::cuda::result::Result;
use crate::cuda::shared::Shared;
use crate::kernel::{ParameterKind, Signature};
use crate::ptx::dynamic_shared_base;
use crate::types::{Scalar, Type};
use core::ffi::c_void;
use std::sync::Arc;

/// A parameter as the launch sees it.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Buffer { elem: Type, class: usize },
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
    slots: Box<[Slot]>,
    /// The arguments whose lengths are passed behind the declared ones.
    lengths: Box<[usize]>,
}

/// Arguments and hidden ones that fit on the stack: the first tier covers nearly all kernels, the second all that fit
/// PTX 8.0's 4352 bytes of pointers.
const FEW: usize = 16;
const MANY: usize = 600;

struct Storage<const N: usize> {
    values: [u64; N],
    pointers: [*mut c_void; N],
    ranges: [Range; N],
}

impl<const N: usize> Storage<N> {
    fn new() -> Storage<N> {
        Storage {
            values: [0; N],
            pointers: [core::ptr::null_mut(); N],
            ranges: [Range::default(); N],
        }
    }
}

impl Plan {
    pub fn new(signature: &Signature, checked: bool) -> Plan {
        let mut buffers = Vec::new();
        let mut slots = Vec::with_capacity(signature.params.len());
        for (index, parameter) in signature.params.iter().enumerate() {
            slots.push(match parameter.kind {
                ParameterKind::Buffer {
                    elem,
                    access,
                    may_alias,
                    ..
                } => {
                    buffers.push(index);
                    let written = if access.writes() { WRITTEN } else { 0 };
                    let aliased = if may_alias { ALIASED } else { 0 };
                    Slot::Buffer {
                        elem,
                        class: written | aliased,
                    }
                }
                ParameterKind::Scalar { ty, .. } => Slot::Scalar(ty),
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
            signature: signature.clone(),
        }
    }

    /// Offset and size of each parameter, hidden ones last.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        let declared = self.signature.params.iter().zip(&self.slots);
        let declared = declared.map(|(parameter, slot)| {
            let size = match slot {
                Slot::Buffer { .. } => 8,
                Slot::Scalar(ty) => u64::from(ty.bytes().max(1)),
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
    /// until it returns; each is aligned to 8 bytes.
    #[inline]
    pub fn with_arguments<R>(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        act: impl FnOnce(*mut *mut c_void) -> Result<R>,
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
            self.fill(
                shared,
                args,
                &mut storage.values,
                &mut storage.pointers,
                &mut storage.ranges,
            )?;
            act(storage.pointers.as_mut_ptr())
        } else if count <= MANY {
            self.with_many(shared, args, act)
        } else {
            self.with_any(count, shared, args, act)
        }
    }

    #[inline(never)]
    fn with_many<R>(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        act: impl FnOnce(*mut *mut c_void) -> Result<R>,
    ) -> Result<R> {
        let mut storage = Storage::<MANY>::new();
        self.fill(
            shared,
            args,
            &mut storage.values,
            &mut storage.pointers,
            &mut storage.ranges,
        )?;
        act(storage.pointers.as_mut_ptr())
    }

    /// The only way that allocates: kernels of more parameters than PTX 8.0 has room for pointers.
    #[cold]
    fn with_any<R>(
        &self,
        count: usize,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        act: impl FnOnce(*mut *mut c_void) -> Result<R>,
    ) -> Result<R> {
        let mut values = vec![0u64; count];
        let mut pointers = vec![core::ptr::null_mut(); count];
        let mut ranges = vec![Range::default(); count];
        self.fill(shared, args, &mut values, &mut pointers, &mut ranges)?;
        act(pointers.as_mut_ptr())
    }

    /// Checks the arguments and writes values, pointers to them, and ranges; each slice has room for all parameters.
    fn fill(
        &self,
        shared: &Arc<Shared>,
        args: &[Arg<'_>],
        values: &mut [u64],
        pointers: &mut [*mut c_void],
        ranges: &mut [Range],
    ) -> Result<()> {
        let (mut used, mut written) = (0, 0);
        for (index, ((slot, arg), value)) in self
            .slots
            .iter()
            .zip(args)
            .zip(values.iter_mut())
            .enumerate()
        {
            match (slot, &arg.0) {
                (Slot::Scalar(expected), ArgKind::Scalar(given)) => {
                    if given.ty() != Type::of(*expected) {
                        return self.refuse(
                            index,
                            ArgumentFault::Type {
                                expected: *expected,
                                found: given.ty(),
                            },
                        );
                    }
                    // Little-endian, so that the type's own bytes come first; `bool` is a byte of 0 or 1.
                    *value = given.bits().to_le();
                }
                (
                    Slot::Buffer { elem, class },
                    ArgKind::Buffer {
                        view,
                        elem: found,
                        give,
                    },
                ) => {
                    if found != elem {
                        return self.refuse(
                            index,
                            ArgumentFault::Element {
                                expected: *elem,
                                found: *found,
                            },
                        );
                    }
                    if *give == Give::Aliased && class & ALIASED == 0 {
                        return self.refuse(index, ArgumentFault::NotAliased);
                    }
                    if *give == Give::Shared && class & WRITTEN != 0 {
                        return self.refuse(index, ArgumentFault::ReadOnly);
                    }
                    if !Arc::ptr_eq(shared, view.shared) {
                        return self.refuse(index, ArgumentFault::OtherContext);
                    }
                    let align = elem.bytes();
                    // Sizes of element types are powers of two.
                    if view.ptr & u64::from(align).wrapping_sub(1) != 0 {
                        return self.refuse(
                            index,
                            ArgumentFault::Misaligned {
                                address: view.ptr,
                                align,
                            },
                        );
                    }
                    *value = view.ptr.to_le();
                    if view.len != 0
                        && let Some(range) = ranges.get_mut(used)
                    {
                        // Slices were checked to end within the address space.
                        let end = view.ptr + view.len as u64 * u64::from(align);
                        *range = Range {
                            start: view.ptr,
                            end,
                            index,
                            class: *class,
                        };
                        used += 1;
                        written += class & WRITTEN;
                    }
                }
                (Slot::Buffer { elem, .. }, ArgKind::Scalar(_)) => {
                    return self.refuse(index, ArgumentFault::ExpectedBuffer(*elem));
                }
                (Slot::Scalar(ty), ArgKind::Buffer { .. }) => {
                    return self.refuse(index, ArgumentFault::ExpectedScalar(*ty));
                }
            }
        }
        if used > 1
            && written != 0
            && let Some((first, second)) = ranges.get_mut(..used).and_then(overlap::find)
        {
            return Err(LaunchError::Overlap { first, second }.into());
        }
        let hidden = values.iter_mut().skip(self.slots.len());
        for (value, &index) in hidden.zip(&self.lengths) {
            if let Some(ArgKind::Buffer { view, .. }) = args.get(index).map(|arg| &arg.0) {
                *value = (view.len as u64).to_le();
            }
        }
        for (pointer, value) in pointers.iter_mut().zip(values) {
            *pointer = (value as *mut u64).cast();
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, index: usize, fault: ArgumentFault) -> Result<()> {
        let name = self
            .signature
            .params
            .get(index)
            .map(|parameter| parameter.name.clone());
        Err(LaunchError::Argument {
            index,
            name: name.unwrap_or_default(),
            fault,
        }
        .into())
    }
}
