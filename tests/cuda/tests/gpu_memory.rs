//! Memory, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::{Code, Error, LoadOptions, args};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels;
use kernite_testkit::skip;
use std::time::Instant;

#[test]
fn copies_and_fills() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let numbers: Vec<u32> = (0..1 << 20).collect();
    let mut a = context.upload(&numbers).unwrap();
    let mut b = stream.alloc::<u32>(1 << 20).unwrap();
    stream.copy(&a, &mut b).unwrap();
    assert_eq!(b.to_vec().unwrap(), numbers);
    stream.fill(a.get_mut(10..20).unwrap(), 7u32).unwrap();
    assert_eq!(
        a.get(9..21).unwrap().to_vec().unwrap(),
        [9, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 20]
    );
    let mut bytes = stream.alloc_zeroed::<u8>(1001).unwrap();
    stream
        .fill(bytes.get_mut(1..1000).unwrap(), 0xABu8)
        .unwrap();
    let read = bytes.to_vec().unwrap();
    assert!(read[0] == 0 && read[1000] == 0 && read[1..1000].iter().all(|&x| x == 0xAB));
    let mut halves = stream.alloc_zeroed::<u16>(33).unwrap();
    stream.fill(&mut halves, 0x1234u16).unwrap();
    assert_eq!(halves.to_vec().unwrap(), [0x1234; 33]);
    let mut doubles = stream.alloc_zeroed::<f64>(33).unwrap();
    stream.fill(&mut doubles, 0.1).unwrap();
    assert_eq!(doubles.to_vec().unwrap(), [0.1; 33]);
}

#[test]
fn pinned_copies_run_beside_the_host() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let n = 1 << 20;
    let config = function.config_for(n as u64).unwrap();
    let mut source = context.pinned::<u32>(n).unwrap();
    let mut result = context.pinned::<u32>(n).unwrap();
    let mut device = stream.alloc::<u32>(n).unwrap();
    for round in 0..20u32 {
        // The host writes the source anew, which waits for the copy of the round before.
        source.as_mut_slice().unwrap().fill(round);
        stream.upload(&source, &mut device).unwrap();
        gpu::launch(&function, &stream, &config, &args![&mut device, 5u32]).unwrap();
        stream.download(&device, &mut result).unwrap();
        if round % 3 == 0 {
            assert!(
                result.as_slice().unwrap().iter().all(|&x| x == round + 5),
                "round {round}"
            );
        }
    }
    assert!(result.as_slice().unwrap().iter().all(|&x| x == 24));
    // Dropped while a copy is under way.
    stream.upload(&source, &mut device).unwrap();
    drop(source);
    drop(device);
    stream.synchronize().unwrap();
}

#[test]
fn pinned_copies_run_both_ways_at_once() {
    let Some(context) = gpu::context() else {
        return;
    };
    let (up, down) = (context.stream().unwrap(), context.stream().unwrap());
    let n = 16 << 20;
    let bytes = size_of::<u32>() * n;
    let mut source = context.pinned::<u32>(n).unwrap();
    let mut result = context.pinned::<u32>(n).unwrap();
    let mut there = up.alloc::<u32>(n).unwrap();
    let mut back = down.alloc::<u32>(n).unwrap();
    let mut gigabytes_per_second = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..8u32 {
        let fill = source.as_mut_slice().unwrap();
        (0..).zip(fill).for_each(|(i, x)| *x = i ^ round << 24);
        down.fill(&mut back, round).unwrap();
        context.synchronize().unwrap();
        let mut measured = |which: usize, copied: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            let seconds = start.elapsed().as_secs_f64();
            gigabytes_per_second[which].push(copied as f64 / seconds / 1e9);
        };
        measured(0, bytes, &mut || {
            up.upload(&source, &mut there).unwrap();
            up.synchronize().unwrap();
        });
        measured(1, bytes, &mut || {
            down.download(&back, &mut result).unwrap();
            down.synchronize().unwrap();
        });
        measured(2, 2 * bytes, &mut || {
            up.upload(&source, &mut there).unwrap();
            down.download(&back, &mut result).unwrap();
            up.synchronize().unwrap();
            down.synchronize().unwrap();
        });
        assert!(result.as_slice().unwrap().iter().all(|&x| x == round));
        // What was copied there comes back as what is filled in the next round is not.
        down.wait_for(&up).unwrap();
        down.download(&there, &mut result).unwrap();
        assert_eq!(result.as_slice().unwrap(), source.as_slice().unwrap());
    }
    let [up, down, both] = gigabytes_per_second.map(|all| all.into_iter().fold(0.0, f64::max));
    gpu::note(&format!(
        "64 MiB of pinned memory, best of 8: {up:.1} GB/s to the device, {down:.1} from it, {both:.1} both ways at once"
    ));
}

#[test]
fn managed_memory_is_seen_by_both() {
    let Some(context) = gpu::context() else {
        return;
    };
    let limits = context.limits();
    if !limits.managed_memory || !limits.concurrent_managed_access {
        assert!(matches!(
            context.unified::<u32>(4),
            Err(Error::Unsupported(_))
        ));
        skip::skip(
            "managed memory",
            "host and device may not access it at the same time",
        );
        return;
    }
    let stream = context.stream().unwrap();
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let mut data = context.unified::<u32>(10_000).unwrap();
    let config = function.config_for(10_000).unwrap();
    for round in 1..=5u32 {
        data.as_mut_slice().unwrap()[17] += 100;
        gpu::launch(&function, &stream, &config, &args![&mut data, 1u32]).unwrap();
        let seen = data.as_slice().unwrap();
        assert_eq!((seen[16], seen[17]), (round, 101 * round));
    }
    gpu::launch(&function, &stream, &config, &args![&mut data, 1u32]).unwrap();
    drop(data);
    stream.synchronize().unwrap();
}

#[test]
fn memory_in_stream_order() {
    let Some(context) = gpu::context() else {
        return;
    };
    if !context.allocates_in_stream_order().unwrap() {
        skip::skip("memory pools", "the device has none");
        return;
    }
    let (a, b) = (context.stream().unwrap(), context.stream().unwrap());
    let function = context
        .load_kernel(&kernels::count_up(), &LoadOptions::new())
        .unwrap();
    let n = 1 << 16;
    let config = function.config_for(n as u64).unwrap();
    for round in 0..200 {
        // Allocated on one, used on the other, dropped at once: the next round gets the same memory.
        let mut data = a.alloc_zeroed::<u32>(n).unwrap();
        b.wait_for(&a).unwrap();
        gpu::launch(&function, &b, &config, &args![&mut data, 50u32]).unwrap();
        if round % 50 == 0 {
            assert!(
                data.to_vec().unwrap().iter().all(|&x| x == 50),
                "round {round}"
            );
        }
        if round % 7 == 0 {
            data.free_on(&b).unwrap();
        }
    }
    context.set_pool_threshold(0).unwrap();
    context.synchronize().unwrap();
    context.trim_pool(0).unwrap();
    context.set_pool_threshold(u64::MAX).unwrap();
}

#[test]
fn too_much_memory_is_an_error() {
    let Some(context) = gpu::context() else {
        return;
    };
    let (_, total) = context.memory_info().unwrap();
    let error = context.alloc::<u8>(total as usize * 4).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
    assert!(!error.is_late());
    let stream = context.stream().unwrap();
    let error = stream.alloc::<u8>(total as usize * 4).unwrap_err();
    assert_eq!(error.code(), Some(Code::OUT_OF_MEMORY));
    assert!(matches!(
        context.alloc::<u64>(usize::MAX / 2),
        Err(Error::TooLarge { .. })
    ));
    stream.alloc_zeroed::<u8>(1 << 20).unwrap();
}
