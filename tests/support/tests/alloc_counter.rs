//! The counting allocator, installed.
#![forbid(unsafe_code)]

use kernite_testkit::alloc_counter::{self, CountingAllocator, Counts};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn allocations_are_counted() {
    let (vec, counts) = alloc_counter::count(|| {
        let mut vec: Vec<u8> = Vec::with_capacity(16);
        vec.reserve_exact(100);
        vec
    });
    let expected = Counts {
        allocations: 2,
        bytes: 116,
        frees: 0,
    };
    assert_eq!(counts, expected);
    let ((), counts) = alloc_counter::count(|| drop(vec));
    assert_eq!((counts.allocations, counts.frees), (0, 1));
}

#[test]
fn another_threads_allocations_do_not_count() {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while receiver.recv().is_ok() {
                drop(std::hint::black_box(vec![0_u8; 4096]));
            }
        });
        alloc_counter::assert_allocates_nothing(|| {
            for i in 0..1000_u32 {
                std::hint::black_box(i);
            }
        });
        drop(sender);
    });
}

#[test]
#[should_panic(expected = "1 allocations of 4 bytes in all where none was expected")]
fn an_allocation_fails_the_assertion() {
    alloc_counter::assert_allocates_nothing(|| std::hint::black_box(Box::new(1_u32)));
}
