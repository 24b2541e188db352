//! What a validator allocates: memory for a module in a burst, nothing for an instruction, and nothing at all for a second
//! module of like size.

use kernite::spirv::{self, Validator, validate};
use kernite_suite::kernels;
use kernite_testkit::alloc_counter::{self, CountingAllocator};
use kernite_validator_tests::{asm, corpus};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn words(name: &str) -> Vec<u32> {
    let (_, make) = kernels::ALL
        .iter()
        .find(|(n, _)| *n == name)
        .expect("a kernel");
    let mut words = Vec::new();
    spirv::Emitter::new()
        .emit(&make(), &spirv::Options::default(), &mut words)
        .expect("SPIR-V");
    words
}

#[test]
fn a_second_module_of_like_size_allocates_nothing() {
    let mut modules: Vec<Vec<u32>> = corpus::by_hand().into_iter().map(|s| s.words).collect();
    modules.extend(["matmul16", "straight_1000"].map(words));
    for words in &modules {
        let mut validator = Validator::new();
        assert!(validator.words(words).is_valid());
        let (verdict, counts) = alloc_counter::count(|| validator.words(words));
        assert!(verdict.is_valid());
        assert_eq!(counts.allocations, 0, "{counts:?}");
    }
    // Whatever came before, and from bytes too.
    let mut validator = Validator::new();
    let bytes: Vec<Vec<u8>> = modules.iter().map(|w| asm::bytes(w)).collect();
    bytes
        .iter()
        .for_each(|b| assert!(validator.bytes(b).is_valid()));
    for bytes in &bytes {
        let (verdict, counts) = alloc_counter::count(|| validator.bytes(bytes));
        assert!(verdict.is_valid());
        assert_eq!(counts.allocations, 0, "{counts:?}");
    }
}

#[test]
fn nothing_is_allocated_for_an_instruction() {
    let of = |name: &str| {
        let bytes = asm::bytes(&words(name));
        let (verdict, counts) = alloc_counter::count(|| validate(&bytes));
        assert!(verdict.is_valid());
        (counts, bytes.len() as u64)
    };
    let (small, _) = of("straight_1000");
    let (large, len) = of("straight_10000");
    println!("{small:?}, {large:?} for {len} bytes");
    // Tables grow by doubling: ten times the instructions are four more steps for each of a few.
    assert!(
        large.allocations < small.allocations + 60,
        "{small:?} {large:?}"
    );
    assert!(large.bytes < 20 * len, "{large:?} for {len} bytes");
}

/// A number in the module does not size anything but the table of ids.
#[test]
fn a_huge_bound_costs_little() {
    let mut words = words("matmul16");
    let (_, small) = alloc_counter::count(|| Validator::new().words(&words));
    words[3] = 0x3F_FFFF;
    let (verdict, huge) = alloc_counter::count(|| Validator::new().words(&words));
    assert!(verdict.is_valid());
    assert!(huge.bytes < small.bytes + (1 << 17), "{small:?} {huge:?}");
}
