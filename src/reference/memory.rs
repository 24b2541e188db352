//! Loads, stores and atomics, and their checks.

use super::bind::Sizes;
use super::error::{Thread, Touch, Trap, TrapKind};
use super::lanes::{self, MAX_LANES, each, every, first};
use super::marks::Marks;
use super::options::Checks;
use super::program::{Place, Step};
use super::shadow::Shadow;
use crate::kernel::{Kernel, Mem};
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;

/// Where elements are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Store {
    /// An argument's buffer, by the argument's number.
    Buffer(usize),
    Shared,
    /// Element by element, each with one place a lane.
    Private,
    Tables,
}

/// A buffer or array of the kernel in this launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub mem: Mem,
    pub store: Store,
    /// The first byte, from the start of the store: aligned to the elements, or to 8 bytes where they are larger.
    pub start: usize,
    /// Elements.
    pub len: usize,
    /// The first of its bits (shared) or masks (private), where reads before writes are reported.
    pub written: Option<usize>,
    /// The first of its cells, where races are reported.
    pub cells: Option<usize>,
    /// The first of its marks, where workgroups run in parallel.
    pub marks: Option<usize>,
    /// Cells or marks of an element.
    pub cells_each: usize,
}

impl Region {
    /// Nothing, for a place that names nothing.
    pub const NONE: Region = Region {
        mem: Mem::Buffer(0),
        store: Store::Shared,
        start: 0,
        len: 0,
        written: None,
        cells: None,
        marks: None,
        cells_each: 1,
    };
}

/// The words of a buffer.
#[derive(Clone, Debug)]
pub(super) enum Words {
    Own(Vec<u64>),
    /// Shared among threads: nobody writes to it.
    Shared(Arc<Vec<u64>>),
}

impl Words {
    pub fn get(&self) -> &[u64] {
        match self {
            Words::Own(words) => words,
            Words::Shared(words) => words,
        }
    }

    /// The words to write to: none where they are shared.
    pub fn get_mut(&mut self) -> &mut [u64] {
        match self {
            Words::Own(words) => words,
            Words::Shared(_) => &mut [],
        }
    }

    /// The words alone; they are copied only where somebody else still holds them.
    pub fn into_own(self) -> Vec<u64> {
        match self {
            Words::Own(words) => words,
            Words::Shared(words) => Arc::unwrap_or_clone(words),
        }
    }
}

/// Which subgroup is running.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    /// The workgroup, linear, counted from 1.
    pub group: u32,
    /// The linear local index of its first lane.
    pub base: u32,
    /// The place of its registers and private arrays.
    pub slot: usize,
    pub active: u128,
}

/// What threads look like to a report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub grid: [u32; 3],
    pub workgroup: [u32; 3],
}

impl Shape {
    /// The thread with a linear place.
    pub fn thread(&self, group: u32, local: u32) -> Thread {
        Thread {
            workgroup: place(self.grid, group.wrapping_sub(1)),
            local: place(self.workgroup, local),
        }
    }
}

/// The place of a linear index in a box; no side of it is 0.
pub(super) fn place([x, y, _]: [u32; 3], linear: u32) -> [u32; 3] {
    let (x, y) = (x.max(1), y.max(1));
    [linear % x, linear / x % y, linear / x / y]
}

/// All memory of a launch but the registers; kept between launches.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// The buffers' words, by argument.
    pub buffers: Vec<Words>,
    pub shared: Vec<u64>,
    pub private: Vec<u64>,
    /// The elements of the constant tables.
    tables: Vec<u64>,
    /// Words of a subgroup's private arrays, and masks of what is written in them.
    pub private_words: usize,
    pub private_masks: usize,
    pub regions: Vec<Region>,
    pub shadow: Shadow,
    pub marks: Marks,
    pub checks: Checks,
    pub shape: Shape,
    /// Lanes of a subgroup.
    pub lanes: usize,
    /// The element that each lane accesses.
    index: [u64; MAX_LANES],
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            buffers: Vec::new(),
            shared: Vec::new(),
            private: Vec::new(),
            tables: Vec::new(),
            private_words: 0,
            private_masks: 0,
            regions: Vec::new(),
            shadow: Shadow::default(),
            marks: Marks::default(),
            checks: Checks::default(),
            shape: Shape::default(),
            lanes: 1,
            index: [0; MAX_LANES],
        }
    }
}

/// An access about to be made.
#[derive(Clone, Copy, Debug)]
struct Access<'a> {
    place: &'a Place,
    touch: Touch,
    /// Whether it looks at the element, as a plain or atomic store does not.
    reads: bool,
    step: &'a Step,
}

impl Memory {
    /// Binds this memory as `bound` is: its own copies of the buffers that are not shared.
    pub fn bind_as(&mut self, bound: &Memory) {
        self.buffers.clone_from(&bound.buffers);
        self.regions.clone_from(&bound.regions);
        self.checks = bound.checks;
        self.shape = bound.shape;
        self.lanes = bound.lanes;
    }

    /// Makes room for a launch.
    pub fn begin(&mut self, sizes: &Sizes, slots: usize, kernel: &Kernel) {
        // What was checked against its limit fits.
        self.private_words = (sizes.private / 8) as usize;
        self.private_masks = sizes.private_masks as usize;
        self.shared.resize(sizes.shared.div_ceil(8) as usize, 0);
        self.private.resize(slots * self.private_words, 0);
        self.shadow.begin(
            sizes.cells as usize,
            sizes.shared_bits.div_ceil(64) as usize,
            slots * self.private_masks,
            slots,
        );
        self.tables.resize(sizes.tables.div_ceil(8) as usize, 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.tables);
        for region in &self.regions {
            if let Mem::Table(n) = region.mem
                && let Some(decl) = kernel.tables().get(n as usize)
            {
                let from = kernel.table_bytes(decl);
                let to = bytes.get_mut(region.start..region.start + from.len());
                if let Some(to) = to {
                    to.copy_from_slice(from);
                }
            }
        }
    }

    /// A workgroup finds its shared memory zero; where that is not promised, reads before writes are reported.
    pub fn begin_workgroup(&mut self) {
        self.shared.fill(0);
        self.shadow.shared.fill(0);
        self.shadow.next_phase();
    }

    /// A subgroup finds its private arrays zero, or unwritten where that is reported.
    pub fn begin_subgroup(&mut self, slot: usize) {
        if self.checks.uninitialized {
            let start = slot * self.private_masks;
            self.shadow.private[start..start + self.private_masks].fill(0);
        } else {
            let start = slot * self.private_words;
            self.private[start..start + self.private_words].fill(0);
        }
        self.shadow.begin_subgroup(slot);
    }

    /// A report of what a lane did.
    #[cold]
    pub fn trap(&self, step: &Step, running: &Running, lane: usize, kind: TrapKind) -> Box<Trap> {
        // A lane is below 128.
        let local = running.base + lane as u32;
        Box::new(Trap {
            at: step.at,
            op: step.op,
            thread: self.shape.thread(running.group, local),
            kind,
        })
    }

    /// Resolves a place and checks the access of every active lane. Gives the region and the lanes that may go on; where
    /// bounds are not reported the others are out of them. Leaves each lane's element in `index`.
    fn resolve(
        &mut self,
        regs: &[u64],
        access: &Access<'_>,
        running: &Running,
    ) -> Result<(u128, Region), Box<Trap>> {
        let n = self.lanes;
        let place = access.place;
        let Some(&region) = self.regions.get(place.region as usize) else {
            return Ok((0, Region::NONE));
        };
        let offset = u64::from(place.offset);
        let index = &mut self.index[..n];
        if place.index_is_wide {
            let from = lanes::get::<u64>(regs, place.index, n);
            for (to, &from) in index.iter_mut().zip(from) {
                // No length reaches u64::MAX, so what passes it is out of bounds too.
                *to = from.saturating_add(offset);
            }
        } else {
            let from = lanes::get::<u32>(regs, place.index, n);
            for (to, &from) in index.iter_mut().zip(from) {
                *to = u64::from(from) + offset;
            }
        }
        let len = region.len as u64;
        let mut inside = running.active;
        if index.iter().fold(false, |over, &i| over | (i >= len)) {
            every(running.active, n, |lane| {
                if index[lane] >= len {
                    inside &= !(1 << lane);
                }
            });
            let outside = running.active & !inside;
            if self.checks.bounds && outside != 0 {
                return Err(self.out_of_bounds(regs, access, running, outside, region));
            }
        }
        if let Some(written) = region.written {
            self.initialized(&region, written, inside, access, running)?;
        }
        if let Some(cells) = region.cells {
            self.race(&region, cells, inside, access, running)?;
        }
        if let Some(first) = region.marks {
            let (index, marks) = (&self.index, &mut self.marks);
            let marks = if access.reads {
                &mut marks.read
            } else {
                &mut marks.written
            };
            every(inside, n, |lane| {
                let first = first + index[lane] as usize * region.cells_each;
                marks.set(first, region.cells_each);
            });
        }
        if region.store == Store::Private {
            for (lane, i) in self.index[..n].iter_mut().enumerate() {
                // Lanes that go on are within the array, whose places were counted; the others are not looked at.
                *i = i.wrapping_mul(n as u64).wrapping_add(lane as u64);
            }
        }
        Ok((inside, region))
    }

    #[cold]
    fn out_of_bounds(
        &self,
        regs: &[u64],
        access: &Access<'_>,
        running: &Running,
        outside: u128,
        region: Region,
    ) -> Box<Trap> {
        let lane = outside.trailing_zeros() as usize;
        let place = access.place;
        let index = if place.index_is_wide {
            lanes::get::<u64>(regs, place.index, self.lanes)[lane]
        } else {
            lanes::get::<u32>(regs, place.index, self.lanes)[lane].into()
        };
        let kind = TrapKind::OutOfBounds {
            mem: region.mem,
            index,
            offset: place.offset,
            len: region.len as u64,
        };
        self.trap(access.step, running, lane, kind)
    }

    /// Notes writes and reports the first lane that reads what was not written.
    fn initialized(
        &mut self,
        region: &Region,
        written: usize,
        inside: u128,
        access: &Access<'_>,
        running: &Running,
    ) -> Result<(), Box<Trap>> {
        let (index, shadow) = (&self.index, &mut self.shadow);
        let masks = written + running.slot * self.private_masks;
        let found = each(inside, self.lanes, |lane| {
            let i = index[lane] as usize;
            let sound = match (region.store == Store::Private, access.reads) {
                (true, true) => shadow.private_written(masks + i, lane),
                (true, false) => shadow.write_private(masks + i, lane),
                (false, true) => shadow.shared_written(written + i),
                (false, false) => shadow.write_shared(written + i),
            };
            if sound { Ok(()) } else { Err(lane) }
        });
        found.map_err(|lane| {
            let kind = TrapKind::Uninitialized {
                mem: region.mem,
                element: self.index[lane],
            };
            self.trap(access.step, running, lane, kind)
        })
    }

    /// Notes accesses and reports the first lane's that races.
    fn race(
        &mut self,
        region: &Region,
        cells: usize,
        inside: u128,
        access: &Access<'_>,
        running: &Running,
    ) -> Result<(), Box<Trap>> {
        let (index, shadow) = (&self.index, &mut self.shadow);
        // Nobody else sees a workgroup's shared memory.
        let group = match region.store {
            Store::Buffer(_) => running.group,
            Store::Shared | Store::Private | Store::Tables => 1,
        };
        let shift = self.lanes.trailing_zeros();
        let mut now = shadow.now(group, running.base, access.step.at, running.slot, shift);
        let found = each(inside, self.lanes, |lane| {
            now.noted.thread = running.base + lane as u32;
            let first = cells + index[lane] as usize * region.cells_each;
            shadow
                .touch(first, region.cells_each, access.touch, &now)
                .map_err(|other| (lane, other))
        });
        found.map_err(|(lane, (other_touch, other))| {
            let other_group = match region.store {
                Store::Buffer(_) => other.group,
                Store::Shared | Store::Private | Store::Tables => running.group,
            };
            let me = self.shape.thread(running.group, running.base + lane as u32);
            let kind = TrapKind::Race {
                mem: region.mem,
                element: self.index[lane],
                touch: access.touch,
                other: Some(self.shape.thread(other_group, other.thread))
                    .filter(|t| *t != me && !now.ordered(&other)),
                other_at: other.at(),
                other_touch,
            };
            self.trap(access.step, running, lane, kind)
        })
    }

    /// The bytes of a region's elements in its store, as far as the running subgroup sees it.
    fn range<T>(&self, region: &Region, running: &Running) -> Range<usize> {
        let (start, len) = match region.store {
            Store::Buffer(_) | Store::Shared | Store::Tables => (region.start, region.len),
            Store::Private => (
                8 * running.slot * self.private_words + region.start,
                region.len * self.lanes,
            ),
        };
        start..start + len * size_of::<T>()
    }

    /// The elements of a region and each lane's element.
    ///
    /// In bounds: regions were laid out within their stores when the arguments were bound.
    #[inline(always)]
    fn elements<T: Pod>(&self, region: &Region, running: &Running) -> (&[T], &[u64]) {
        let range = self.range::<T>(region, running);
        let words = match region.store {
            Store::Buffer(n) => self.buffers.get(n).map_or(&[][..], Words::get),
            Store::Shared => &self.shared,
            Store::Private => &self.private,
            Store::Tables => &self.tables,
        };
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let elements = bytemuck::cast_slice(&bytes[range]);
        (elements, &self.index[..self.lanes])
    }

    /// As [`Memory::elements`], to write to.
    #[inline(always)]
    fn elements_mut<T: Pod>(&mut self, region: &Region, running: &Running) -> (&mut [T], &[u64]) {
        let range = self.range::<T>(region, running);
        let words = match region.store {
            Store::Buffer(n) => self.buffers.get_mut(n).map_or(&mut [][..], Words::get_mut),
            Store::Shared => &mut self.shared,
            Store::Private => &mut self.private,
            Store::Tables => &mut self.tables,
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
        let elements = bytemuck::cast_slice_mut(&mut bytes[range]);
        (elements, &self.index[..self.lanes])
    }

    pub fn load<T: Pod>(
        &mut self,
        regs: &mut [u64],
        step: &Step,
        place: &Place,
        touch: Touch,
        running: &Running,
    ) -> Result<(), Box<Trap>> {
        let access = Access {
            place,
            touch,
            reads: true,
            step,
        };
        let (inside, region) = self.resolve(regs, &access, running)?;
        let n = self.lanes;
        let (data, index) = self.elements::<T>(&region, running);
        let d = lanes::get_mut::<T>(regs, step.slots.d, n);
        if inside == first(n) {
            for (d, &i) in d.iter_mut().zip(index) {
                *d = data.get(i as usize).copied().unwrap_or(T::zeroed());
            }
        } else {
            every(running.active & !inside, n, |lane| d[lane] = T::zeroed());
            every(inside, n, |lane| {
                if let Some(&value) = data.get(index[lane] as usize) {
                    d[lane] = value;
                }
            });
        }
        Ok(())
    }

    pub fn store<T: Pod>(
        &mut self,
        regs: &mut [u64],
        step: &Step,
        place: &Place,
        touch: Touch,
        running: &Running,
    ) -> Result<(), Box<Trap>> {
        let access = Access {
            place,
            touch,
            reads: false,
            step,
        };
        let (inside, region) = self.resolve(regs, &access, running)?;
        let n = self.lanes;
        let (data, index) = self.elements_mut::<T>(&region, running);
        let values = lanes::get::<T>(regs, step.slots.a, n);
        every(inside, n, |lane| {
            if let Some(element) = data.get_mut(index[lane] as usize) {
                *element = values[lane];
            }
        });
        Ok(())
    }

    /// Atomics one lane after the other: `f` gives what becomes of the element.
    pub fn modify<T: Pod>(
        &mut self,
        regs: &mut [u64],
        step: &Step,
        place: &Place,
        running: &Running,
        f: impl Fn(T, T, T) -> T,
    ) -> Result<(), Box<Trap>> {
        let access = Access {
            place,
            touch: Touch::AtomicWrite,
            reads: true,
            step,
        };
        let (inside, region) = self.resolve(regs, &access, running)?;
        let n = self.lanes;
        let (data, index) = self.elements_mut::<T>(&region, running);
        let (before, after) = regs.split_at_mut(step.slots.d as usize);
        let a = lanes::get::<T>(before, step.slots.a, n);
        let b = lanes::get::<T>(before, step.slots.b, n);
        let d = lanes::get_mut::<T>(after, 0, n);
        every(running.active & !inside, n, |lane| d[lane] = T::zeroed());
        every(inside, n, |lane| {
            if let Some(element) = data.get_mut(index[lane] as usize) {
                d[lane] = *element;
                *element = f(*element, a[lane], b[lane]);
            }
        });
        Ok(())
    }
}
