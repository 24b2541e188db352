//! Arguments and arrays become regions: checked, laid out, counted.

use super::args::Arg;
use super::error::ExecError;
use super::memory::{Memory, Region, Store, Words};
use super::options::{Launch, Options};
use super::shadow::CELL_BYTES;
use crate::kernel::{Kernel, Mem, ParamRef, SharedLen, Uses};
use crate::types::{Const, Type};

/// A buffer parameter's bytes within an argument's buffer.
#[derive(Clone, Copy, Debug)]
struct Span {
    buffer: usize,
    start: usize,
    end: usize,
    param: u32,
    writable: bool,
    may_alias: bool,
}

/// What a launch knows of one argument's buffer.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    /// A parameter sees it.
    seen: bool,
    /// The least size of an element through which it is seen; 0 before the first.
    granule: usize,
    /// The kernel writes to it.
    written: bool,
    /// The kernel accesses it atomically.
    atomic: bool,
    /// Its first cell.
    cells: usize,
}

/// Where the marks of a buffer that is written are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Storage {
    /// The argument.
    pub buffer: usize,
    /// The first mark, a multiple of 64.
    pub marks: usize,
    /// How many there are.
    pub count: usize,
    /// Bytes of each.
    pub granule: usize,
}

/// What the launch needs, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub shared: u64,
    /// Of one subgroup.
    pub private: u64,
    /// Masks of one subgroup.
    pub private_masks: u64,
    /// Bits.
    pub shared_bits: u64,
    /// Cells.
    pub cells: u64,
    pub tables: u64,
}

impl Sizes {
    /// The bytes of the books and, for `slots` subgroups with registers of `registers` bytes each, of their values.
    pub fn scratch(&self, slots: u64, registers: u64) -> u64 {
        let each = registers
            .saturating_add(self.private)
            .saturating_add(self.private_masks.saturating_mul(16));
        slots
            .saturating_mul(each)
            .saturating_add(self.cells.saturating_mul(CELL_BYTES))
            .saturating_add(self.shared_bits / 8)
            .saturating_add(self.tables)
    }
}

/// Binds arguments; its memory is kept between launches.
#[derive(Clone, Debug, Default)]
pub(super) struct Binder {
    /// By number.
    pub scalars: Vec<Const>,
    /// By number.
    pub lengths: Vec<u64>,
    /// The first regions of shared and private arrays and of tables.
    pub shared: u32,
    pub private: u32,
    pub tables: u32,
    spans: Vec<Span>,
    behind: Vec<Behind>,
    storages: Vec<Storage>,
}

impl Binder {
    /// Checks the arguments and lays the regions of `kernel` out. Allocates nothing that grows with the sizes it gives.
    pub fn bind(
        &mut self,
        memory: &mut Memory,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        options: &Options,
    ) -> Result<Sizes, ExecError> {
        let mut sizes = Sizes::default();
        memory.regions.clear();
        memory.regions.resize(kernel.buffers().len(), Region::NONE);
        self.params(memory, kernel, args)?;
        if options.checks.aliasing {
            self.overlaps()?;
        }
        if options.checks.buffer_races {
            self.buffer_cells(memory, kernel, args, &mut sizes);
        }
        self.lengths.clear();
        let lengths = memory.regions.iter().map(|r| r.len as u64);
        self.lengths.extend(lengths);
        self.arrays(memory, kernel, launch, options, &mut sizes)?;
        Ok(sizes)
    }

    fn params(
        &mut self,
        memory: &mut Memory,
        kernel: &Kernel,
        args: &[Arg],
    ) -> Result<(), ExecError> {
        let params = kernel.params();
        self.spans.clear();
        self.scalars.clear();
        let unset = Const::from(0u32);
        self.scalars.resize(kernel.scalars().len(), unset);
        self.behind.clear();
        self.behind.resize(args.len(), Behind::default());
        for (index, (&param, arg)) in params.iter().zip(args).enumerate() {
            let typed = |expected: Type, found: Type| match expected == found {
                true => Ok(()),
                false => Err(ExecError::ArgType {
                    index,
                    param,
                    expected,
                    found,
                }),
            };
            match (param, arg) {
                (ParamRef::Scalar(n), Arg::Scalar(value)) => {
                    let decl = kernel.scalars().get(n as usize);
                    typed(decl.map_or(Type::NONE, |d| d.ty), value.ty())?;
                    if let Some(place) = self.scalars.get_mut(n as usize) {
                        *place = *value;
                    }
                }
                (ParamRef::Buffer(n), Arg::Buffer(_) | Arg::View(_)) => {
                    let Some(decl) = kernel.buffers().get(n as usize) else {
                        continue;
                    };
                    let size = decl.elem.bytes() as usize;
                    let (buffer, offset, len) = match arg {
                        Arg::View(view) => {
                            typed(decl.elem, view.ty)?;
                            let error = ExecError::View { index, of: view.of };
                            let behind = args.get(view.of).and_then(Arg::buffer);
                            let bytes = view.len.checked_mul(size);
                            let end = bytes.and_then(|bytes| view.offset.checked_add(bytes));
                            let within = behind
                                .zip(end)
                                .is_some_and(|(behind, end)| end <= behind.bytes().len());
                            if !within || !view.offset.is_multiple_of(size) {
                                return Err(error);
                            }
                            (view.of, view.offset, view.len)
                        }
                        Arg::Buffer(_) | Arg::Scalar(_) => {
                            let buffer = arg.buffer();
                            typed(decl.elem, buffer.map_or(Type::NONE, |b| b.ty()))?;
                            (index, 0, buffer.map_or(0, |b| b.len()))
                        }
                    };
                    self.spans.push(Span {
                        buffer,
                        start: offset,
                        end: offset + len * size,
                        param: n,
                        writable: decl.access.writes(),
                        may_alias: decl.may_alias,
                    });
                    if let Some(behind) = self.behind.get_mut(buffer) {
                        let used = kernel.buffer_uses().get(n as usize);
                        behind.seen = true;
                        behind.written |= used.is_some_and(|used| used.written);
                        behind.atomic |= used.is_some_and(|used| used.atomic);
                        behind.granule = match behind.granule {
                            0 => size,
                            granule => granule.min(size),
                        };
                    }
                    if let Some(region) = memory.regions.get_mut(n as usize) {
                        *region = Region {
                            mem: Mem::Buffer(n),
                            store: Store::Buffer(buffer),
                            start: offset,
                            len,
                            ..Region::NONE
                        };
                    }
                }
                (ParamRef::Scalar(_), Arg::Buffer(_) | Arg::View(_))
                | (ParamRef::Buffer(_), Arg::Scalar(_)) => {
                    return Err(ExecError::ArgKind { index, param });
                }
            }
        }
        let extra = self.behind.get(params.len()..).unwrap_or(&[]);
        let stored = extra.iter().filter(|behind| behind.seen).count();
        if args.len() != params.len() + stored {
            return Err(ExecError::ArgCount {
                expected: params.len(),
                stored,
                found: args.len(),
            });
        }
        Ok(())
    }

    /// Refuses overlaps that the kernel does not allow: in order of their starts, each span against the furthest end of
    /// those before it, kept apart by whether they can be written and may alias.
    fn overlaps(&mut self) -> Result<(), ExecError> {
        self.spans
            .sort_unstable_by_key(|s| (s.buffer, s.start, s.param));
        let mut furthest: [Option<Span>; 4] = [None; 4];
        for span in self.spans.iter().filter(|s| s.start < s.end) {
            for before in furthest.iter().flatten() {
                let overlap = before.buffer == span.buffer && span.start < before.end;
                let allowed =
                    !before.writable && !span.writable || before.may_alias && span.may_alias;
                if overlap && !allowed {
                    return Err(ExecError::Overlap {
                        first: ParamRef::Buffer(before.param),
                        second: ParamRef::Buffer(span.param),
                    });
                }
            }
            let kind = usize::from(span.writable) + 2 * usize::from(span.may_alias);
            if let Some(place) = furthest.get_mut(kind)
                && place.is_none_or(|p| p.buffer != span.buffer || p.end < span.end)
            {
                *place = Some(*span);
            }
        }
        Ok(())
    }

    /// Gives cells to the buffers that are written; what is only read cannot race.
    fn buffer_cells(
        &mut self,
        memory: &mut Memory,
        kernel: &Kernel,
        args: &[Arg],
        sizes: &mut Sizes,
    ) {
        for (behind, arg) in self.behind.iter_mut().zip(args) {
            if behind.written && behind.granule > 0 {
                behind.cells = sizes.cells as usize;
                let bytes = arg.buffer().map_or(0, |b| b.bytes().len());
                sizes.cells += bytes.div_ceil(behind.granule) as u64;
            }
        }
        for (region, decl) in memory.regions.iter_mut().zip(kernel.buffers()) {
            if let Store::Buffer(n) = region.store
                && let Some(behind) = self.behind.get(n).filter(|b| b.written)
                && behind.granule > 0
            {
                let each = decl.elem.bytes() as usize / behind.granule;
                region.cells_each = each;
                region.cells = Some(behind.cells + region.start / behind.granule);
            }
        }
    }

    /// Whether workgroups may meet in a buffer: atomics are what they do that with.
    pub fn needs_order(&self) -> bool {
        self.behind.iter().any(|b| b.written && b.atomic)
    }

    /// Gives marks to the buffers that are written.
    pub fn storages(&mut self, memory: &mut Memory, kernel: &Kernel) -> &[Storage] {
        self.storages.clear();
        let mut marks = 0;
        for (buffer, behind) in self.behind.iter().enumerate() {
            if behind.written && behind.granule > 0 {
                let words = memory.buffers.get(buffer).map_or(&[][..], Words::get);
                let count = size_of_val(words) / behind.granule;
                self.storages.push(Storage {
                    buffer,
                    marks,
                    count,
                    granule: behind.granule,
                });
                marks += count.next_multiple_of(64);
            }
        }
        for (region, decl) in memory.regions.iter_mut().zip(kernel.buffers()) {
            if let Store::Buffer(n) = region.store
                && let Some(storage) = self.storages.iter().find(|s| s.buffer == n)
            {
                region.cells_each = decl.elem.bytes() as usize / storage.granule;
                region.marks = Some(storage.marks + region.start / storage.granule);
            }
        }
        &self.storages
    }

    /// Lays shared and private arrays and tables out.
    fn arrays(
        &mut self,
        memory: &mut Memory,
        kernel: &Kernel,
        launch: &Launch,
        options: &Options,
        sizes: &mut Sizes,
    ) -> Result<(), ExecError> {
        let checks = options.checks;
        // The verifier keeps all of them below 2^28.
        self.shared = memory.regions.len() as u32;
        let races = checks.shared_races && kernel.uses().has(Uses::WRITES_SHARED);
        let mut has_dynamic = false;
        for (n, decl) in kernel.shared().iter().enumerate() {
            let size = u64::from(decl.elem.bytes());
            let len = match decl.len {
                SharedLen::Static(len) => len,
                SharedLen::Dynamic => {
                    has_dynamic = true;
                    if launch
                        .dynamic_shared
                        .checked_mul(decl.elem.bytes())
                        .is_none()
                    {
                        return Err(ExecError::DynamicShared(launch.dynamic_shared));
                    }
                    launch.dynamic_shared
                }
            };
            let start = sizes.shared.next_multiple_of(16);
            let cells = sizes.cells as usize;
            let bits = sizes.shared_bits as usize;
            sizes.shared = start + size * u64::from(len);
            limit(
                "bytes of shared memory",
                sizes.shared,
                options.limits.shared_bytes,
            )?;
            let tracked = checks.uninitialized && !decl.zeroed;
            sizes.cells += if races { u64::from(len) } else { 0 };
            sizes.shared_bits += if tracked { u64::from(len) } else { 0 };
            memory.regions.push(Region {
                mem: Mem::Shared(n as u32),
                store: Store::Shared,
                start: start as usize,
                len: len as usize,
                written: tracked.then_some(bits),
                cells: races.then_some(cells),
                marks: None,
                cells_each: 1,
            });
        }
        if launch.dynamic_shared > 0 && !has_dynamic {
            return Err(ExecError::DynamicShared(launch.dynamic_shared));
        }
        self.private = memory.regions.len() as u32;
        for (n, decl) in kernel.private().iter().enumerate() {
            let size = u64::from(decl.elem.bytes());
            let start = aligned(sizes.private, size.max(8));
            let lanes = u64::from(options.subgroup_size);
            let masks = sizes.private_masks as usize;
            // Below 2^32 bytes a lane, and there are 128 lanes at most.
            sizes.private = start.saturating_add(size * u64::from(decl.len) * lanes);
            sizes.private_masks += if checks.uninitialized {
                u64::from(decl.len)
            } else {
                0
            };
            limit(
                "bytes of private arrays",
                sizes.private,
                options.limits.scratch_bytes,
            )?;
            memory.regions.push(Region {
                mem: Mem::Private(n as u32),
                store: Store::Private,
                start: start as usize,
                len: decl.len as usize,
                written: checks.uninitialized.then_some(masks),
                ..Region::NONE
            });
        }
        sizes.private = aligned(sizes.private, 8);
        self.tables = memory.regions.len() as u32;
        for (n, decl) in kernel.tables().iter().enumerate() {
            // The verifier keeps the bytes of all of them below 2^32.
            let start = sizes.tables.next_multiple_of(8);
            sizes.tables = start + kernel.table_bytes(decl).len() as u64;
            memory.regions.push(Region {
                mem: Mem::Table(n as u32),
                store: Store::Tables,
                start: start as usize,
                len: decl.len as usize,
                ..Region::NONE
            });
        }
        Ok(())
    }
}

fn aligned(size: u64, to: u64) -> u64 {
    size.checked_next_multiple_of(to).unwrap_or(u64::MAX)
}

/// Refuses a size above its limit.
pub(super) fn limit(what: &'static str, needed: u64, limit: u64) -> Result<(), ExecError> {
    // Nothing larger can be allocated, whatever the caller allows.
    let limit = limit.min(isize::MAX as u64);
    if needed <= limit {
        return Ok(());
    }
    Err(ExecError::Limit {
        what,
        needed,
        limit,
    })
}
