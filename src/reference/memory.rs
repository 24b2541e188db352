//! Loads, stores and atomics, and their checks.

use super::bind::Sizes;
use super::error::{Thread, Touch, Trap, TrapKind};
use super::lanes::{self, MAX_LANES, each, every, first};
use super::options::Checks;
use super::program::{Place, Step, Width};
use super::shadow::Shadow;
use crate::kernel::Mem;
use bytemuck::Pod;

/// Where elements are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Store {
    /// An argument's buffer, by the argument's number.
    Buffer(usize),
    Shared,
    /// Element by element, each with one place a lane.
    Private,
}

/// A buffer or array of the kernel in this launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub mem: Mem,
    pub store: Store,
    /// The first element, counted in elements from the start of the store.
    pub start: usize,
    /// Elements.
    pub len: usize,
    /// The first of its bits (shared) or masks (private), where reads before writes are reported.
    pub written: Option<usize>,
    /// The first of its cells, where races are reported.
    pub cells: Option<usize>,
    /// Cells of an element.
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
        cells_each: 1,
    };
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
    pub buffers: Vec<Vec<u64>>,
    pub shared: Vec<u64>,
    pub private: Vec<u64>,
    /// Words of a subgroup's private arrays, and masks of what is written in them.
    pub private_words: usize,
    pub private_masks: usize,
    pub regions: Vec<Region>,
    pub shadow: Shadow,
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
            private_words: 0,
            private_masks: 0,
            regions: Vec::new(),
            shadow: Shadow::default(),
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
    /// Makes room for a launch.
    pub fn begin(&mut self, sizes: &Sizes, slots: usize) {
        // What was checked against its limit fits.
        self.private_words = (sizes.private / 8) as usize;
        self.private_masks = sizes.private_masks as usize;
        self.shared.resize(sizes.shared.div_ceil(8) as usize, 0);
        self.private.resize(slots * self.private_words, 0);
        self.shadow.begin(
            sizes.cells as usize,
            sizes.shared_bits.div_ceil(64) as usize,
            slots * self.private_masks,
        );
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
        match place.index_width {
            Width::W32 => {
                let from = lanes::get::<u32>(regs, place.index, n);
                for (to, &from) in index.iter_mut().zip(from) {
                    *to = u64::from(from) + offset;
                }
            }
            Width::W64 => {
                let from = lanes::get::<u64>(regs, place.index, n);
                for (to, &from) in index.iter_mut().zip(from) {
                    // No length reaches u64::MAX, so what passes it is out of bounds too.
                    *to = from.saturating_add(offset);
                }
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
        let index = match place.index_width {
            Width::W32 => lanes::get::<u32>(regs, place.index, self.lanes)[lane].into(),
            Width::W64 => lanes::get::<u64>(regs, place.index, self.lanes)[lane],
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
            Store::Shared | Store::Private => 1,
        };
        let mut now = shadow.now(group, running.base, access.step.at);
        let found = each(inside, self.lanes, |lane| {
            now.thread = running.base + lane as u32;
            let first = cells + index[lane] as usize * region.cells_each;
            shadow
                .touch(first, region.cells_each, access.touch, &now)
                .map_err(|other| (lane, other))
        });
        found.map_err(|(lane, (other_touch, other))| {
            let other_group = match region.store {
                Store::Buffer(_) => other.group,
                Store::Shared | Store::Private => running.group,
            };
            let me = self.shape.thread(running.group, running.base + lane as u32);
            let kind = TrapKind::Race {
                mem: region.mem,
                element: self.index[lane],
                touch: access.touch,
                other: Some(self.shape.thread(other_group, other.thread)).filter(|t| *t != me),
                other_at: other.at(),
                other_touch,
            };
            self.trap(access.step, running, lane, kind)
        })
    }

    /// The elements of a region, as far as the running subgroup sees it, and each lane's element.
    ///
    /// In bounds: regions were laid out within their stores when the arguments were bound.
    #[inline(always)]
    fn elements<T: Pod>(&mut self, region: &Region, running: &Running) -> (&mut [T], &[u64]) {
        let words = match region.store {
            Store::Buffer(n) => self.buffers.get_mut(n).map_or(&mut [][..], |words| words),
            Store::Shared => &mut self.shared,
            Store::Private => {
                let start = running.slot * self.private_words;
                &mut self.private[start..start + self.private_words]
            }
        };
        let len = match region.store {
            Store::Buffer(_) | Store::Shared => region.len,
            Store::Private => region.len * self.lanes,
        };
        let all: &mut [T] = bytemuck::cast_slice_mut(words);
        (
            &mut all[region.start..region.start + len],
            &self.index[..self.lanes],
        )
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
        let (data, index) = self.elements::<T>(&region, running);
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
        let (data, index) = self.elements::<T>(&region, running);
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
