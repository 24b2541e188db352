//! The fuzz bodies, briefly: over every file, its prefixes, its single bytes and words, and
//! random mutations.
#![forbid(unsafe_code)]

use kernite::dxbc::{Container, FourCc};
use kernite_dxbc_tests::{
    files::{self, File},
    fuzz::{dxbc_edit, dxbc_read, dxbc_roundtrip, shuffled},
    mutate::{EDGES, Rng, mutate, seeds},
};
use kernite_testkit::alloc_counter::{self, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn both(data: &[u8]) {
    dxbc_read(data);
    dxbc_roundtrip(data);
}

/// A few small files of different kinds.
fn few() -> Vec<File> {
    [
        "fixtures/rootsig_1_0.dxil",
        "fixtures/signed/empty.cs_6_0.dxil",
        "fixtures/mesh.as_6_5.dxil",
        "fixtures/tess.hs_6_0.dxil",
        "fixtures/libnode.lib_6_8.Vd.dxil",
        "fixtures/saxpy.cs_6_6.Zs.pdb_container.dxbc",
    ]
    .into_iter()
    .map(|n| File {
        name: n.to_owned(),
        bytes: files::read(n),
    })
    .collect()
}

#[test]
fn every_file() {
    for f in files::fixtures().iter().chain(&files::hostile()) {
        both(&f.bytes);
    }
    both(b"");
}

#[test]
fn every_prefix_of_a_few() {
    for f in few() {
        // Past the header, prefixes of one container differ only in where they end.
        for n in (0..f.bytes.len()).step_by(if f.bytes.len() > 1024 { 7 } else { 1 }) {
            both(&f.bytes[..n]);
        }
    }
}

/// Where single bytes and words are changed: not inside bitcode, which is only copied.
fn places(f: &File) -> Vec<usize> {
    let c = kernite::dxbc::Container::read(&f.bytes).expect("reads");
    let mut list: Vec<_> = (0..32 + 4 * c.part_count() as usize).collect();
    for p in c.parts() {
        let at = p.offset as usize;
        list.extend(at..at + 8 + p.data.len().min(100));
    }
    list
}

#[test]
fn single_bytes_of_a_few() {
    for f in few() {
        let mut data = f.bytes.clone();
        for at in places(&f) {
            let old = data[at];
            for new in [0x80, 0xff, old ^ 1] {
                data[at] = new;
                both(&data);
            }
            data[at] = old;
        }
    }
}

#[test]
fn single_words_of_a_few() {
    for f in few() {
        let mut data = f.bytes.clone();
        for at in places(&f).into_iter().filter(|p| p % 4 == 0) {
            let Ok(old) = <[u8; 4]>::try_from(&data[at..at + 4]) else {
                continue;
            };
            for new in EDGES.into_iter().step_by(2).chain([u32::MAX]) {
                data[at..at + 4].copy_from_slice(&new.to_le_bytes());
                both(&data);
            }
            data[at..at + 4].copy_from_slice(&old);
        }
    }
}

/// `KERNITE_FUZZ_SECONDS` runs this for longer, from another seed each time.
#[test]
fn random_mutations() {
    let seconds = std::env::var("KERNITE_FUZZ_SECONDS")
        .ok()
        .and_then(|s| s.parse().ok());
    let corpus: Vec<_> = files::fixtures()
        .into_iter()
        .chain(files::hostile())
        .collect();
    let start = std::time::Instant::now();
    let seed = match seconds {
        Some(_) => std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(1, |d| d.as_nanos() as u64),
        None => 1,
    };
    let mut rng = Rng::new(seed);
    let (mut runs, most) = (0u64, seeds(3000));
    loop {
        let done = match seconds {
            Some(s) => start.elapsed().as_secs() >= s,
            None => runs == most,
        };
        if done {
            break;
        }
        let mut data = corpus[rng.below(corpus.len())].bytes.clone();
        mutate(&mut data, &mut rng);
        let shown = data.clone();
        let result = std::panic::catch_unwind(|| both(&shown));
        if let Err(panic) = result {
            eprintln!("seed {seed}, run {runs}: {} bytes: {data:02x?}", data.len());
            std::panic::resume_unwind(panic);
        }
        runs += 1;
    }
    println!("{runs} mutations");
}

/// The parts of the whole corpus, but for long ones.
fn parts() -> Vec<(FourCc, Vec<u8>)> {
    let mut list = Vec::new();
    for f in files::fixtures().iter().chain(&files::hostile()) {
        if let Ok(c) = Container::read_lenient(&f.bytes) {
            let short = c.parts().filter(|p| p.data.len() < 2048);
            list.extend(short.map(|p| (p.kind, p.data.to_vec())));
        }
    }
    list
}

#[test]
fn shuffled_parts() {
    let parts = parts();
    let mut rng = Rng::new(3);
    for _ in 0..seeds(1000) {
        let data = shuffled(&parts, &mut rng);
        both(&data);
        dxbc_edit(&data, &parts, &mut rng);
    }
}

/// What is allocated is in proportion to the input, whatever that says.
#[test]
fn allocations_follow_the_input() {
    for f in files::fixtures() {
        let (c, counts) = alloc_counter::count(|| Container::read(&f.bytes));
        let c = c.expect("reads");
        if c.deviations().is_empty() {
            assert_eq!(counts.allocations, 0, "{}", f.name);
        }
    }
    let parts = parts();
    let mut rng = Rng::new(4);
    let mutants = (0..seeds(1000)).map(|_| shuffled(&parts, &mut rng));
    let mutants: Vec<_> = mutants
        .chain(files::hostile().into_iter().map(|f| f.bytes))
        .collect();
    for data in &mutants {
        let ((), counts) = alloc_counter::count(|| {
            if let Ok(c) = Container::read_lenient(data) {
                c.parts().for_each(|p| drop(p.read()));
                drop(c.check());
            }
        });
        // Growing lists count each of their sizes; a small input may have one fault of each kind.
        let most = 64 * data.len() as u64 + 4096;
        assert!(counts.bytes <= most, "{counts:?} for {} bytes", data.len());
    }
}
