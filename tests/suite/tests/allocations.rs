//! A warm loop of build, verify and emit allocates nothing.

use kernite::builder::KernelBuilder;
use kernite::{ptx, spirv};
use kernite_suite::kernels;
use kernite_testkit::alloc_counter::{self, CountingAllocator};

type Describe = fn(&mut KernelBuilder);

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn building_and_emitting_allocate_nothing_once_warm() {
    let makes: [(&str, Describe); 8] = [
        ("vector_add", kernels::vector_add),
        ("saxpy", kernels::saxpy),
        ("dot", kernels::dot),
        ("prefix_sum", kernels::prefix_sum),
        ("matmul_tiled", kernels::matmul_tiled),
        ("transpose", kernels::transpose),
        ("histogram", kernels::histogram),
        ("mandelbrot", kernels::mandelbrot),
    ];
    let mut builder = KernelBuilder::new("warm", [1, 1, 1]);
    let (mut ptx_emitter, mut spirv_emitter) = (ptx::Emitter::new(), spirv::Emitter::new());
    let (mut text, mut words) = (Vec::new(), Vec::new());
    let mut round = |make: Describe| {
        make(&mut builder);
        let kernel = builder.finish().unwrap();
        text.clear();
        words.clear();
        ptx_emitter
            .emit(&kernel, &ptx::Options::default(), &mut text)
            .unwrap();
        spirv_emitter
            .emit(&kernel, &spirv::Options::default(), &mut words)
            .unwrap();
        builder.recycle(kernel);
        assert!(!text.is_empty() && !words.is_empty());
    };
    // Once through all of them, so that memory for the largest is there.
    for (_, make) in makes {
        round(make);
    }
    for (name, make) in makes {
        let ((), allocations) = alloc_counter::count(|| round(make));
        assert_eq!(allocations, Default::default(), "{name}");
    }
}
