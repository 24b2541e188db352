//! A global allocator that counts, for tests that a warm path allocates nothing.
//!
//! A test binary installs it and asks what a closure allocated on its thread:
//!
//! ```
//! use kernite_testkit::alloc_counter::{self, CountingAllocator};
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let mut text = String::with_capacity(16);
//! alloc_counter::assert_allocates_nothing(|| text.push_str("warm"));
//! let (boxed, counts) = alloc_counter::count(|| Box::new([0_u8; 64]));
//! assert_eq!((counts.allocations, counts.bytes), (1, 64));
//! drop(boxed);
//! ```
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting for each thread what it hands out.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// What a thread asked of the allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that handed out memory, a reallocation among them.
    pub allocations: u64,
    /// Bytes asked for by those calls; for a reallocation its new size.
    pub bytes: u64,
    /// Calls that gave memory back.
    pub frees: u64,
}

thread_local! {
    // Constant and without a destructor, so that reading it never allocates.
    static COUNTS: Cell<Counts> = const {
        Cell::new(Counts { allocations: 0, bytes: 0, frees: 0 })
    };
}

fn update(change: impl FnOnce(&mut Counts)) {
    // A thread that is being torn down may no longer have the cell.
    let _ = COUNTS.try_with(|cell| {
        let mut counts = cell.get();
        change(&mut counts);
        cell.set(counts);
    });
}

fn allocated(size: usize) {
    update(|counts| {
        counts.allocations += 1;
        counts.bytes += size as u64;
    });
}

// SAFETY: each method passes its arguments on to the system's allocator, which
// keeps the contract; counting touches a thread-local cell only, never memory
// that was handed out, and cannot unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps `GlobalAlloc::alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps `GlobalAlloc::alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        allocated(new_size);
        // SAFETY: the block came from the system's allocator by way of this one,
        // and the caller keeps `GlobalAlloc::realloc`'s contract.
        unsafe { System.realloc(block, layout, new_size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        update(|counts| counts.frees += 1);
        // SAFETY: the block came from the system's allocator by way of this one,
        // and the caller keeps `GlobalAlloc::dealloc`'s contract.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs the closure and says what it allocated on this thread.
///
/// # Panics
/// The binary has not installed [`CountingAllocator`].
pub fn count<R>(f: impl FnOnce() -> R) -> (R, Counts) {
    let before = COUNTS.get();
    drop(std::hint::black_box(Box::new(0_u8)));
    let start = COUNTS.get();
    assert_ne!(
        before, start,
        "this binary has not installed CountingAllocator as its global allocator"
    );
    let result = f();
    let end = COUNTS.get();
    let counts = Counts {
        allocations: end.allocations - start.allocations,
        bytes: end.bytes - start.bytes,
        frees: end.frees - start.frees,
    };
    (result, counts)
}

/// Runs the closure and asserts that it allocated nothing on this thread.
///
/// # Panics
/// The closure allocated, or the binary has not installed [`CountingAllocator`].
#[track_caller]
pub fn assert_allocates_nothing<R>(f: impl FnOnce() -> R) -> R {
    let (result, counts) = count(f);
    assert_eq!(
        counts.allocations, 0,
        "{} allocations of {} bytes in all where none was expected",
        counts.allocations, counts.bytes
    );
    result
}
