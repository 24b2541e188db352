//! All 2^32 inputs of one function: `KERNITE_EXHAUSTIVE=exp2`.
//!
//! ```text
//! KERNITE_EXHAUSTIVE=exp2 RUSTFLAGS="-C target-cpu=native" \
//!     cargo test --release -p kernite-accuracy-tests --test exhaustive -- --nocapture
//! ```
//!
//! Without `target-cpu` the fused multiply-add is a call, and minutes become an hour. What is measured is kept in
//! `target/accuracy/`, so that an interrupted run goes on where it was. `KERNITE_THREADS` limits the threads.
#![forbid(unsafe_code)]

use kernite::math::Unary;
use kernite_accuracy_tests::measure::{Worst, worst32};
use kernite_accuracy_tests::reference::truth;
use kernite_accuracy_tests::trace::Trace;
use kernite_accuracy_tests::{UNARY, host32, name};
use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The inputs with these upper eight bits: a monomorphic loop for each function.
fn chunk(function: Unary, upper: u32) -> Worst {
    let inputs = || (0..1 << 24).map(|low| upper << 24 | low);
    macro_rules! each {
        ($($f:ident)*) => {
            match function {
                $(Unary::$f => worst32(inputs(), |x| host32(Unary::$f, x), |x| truth(Unary::$f, x)),)*
            }
        };
    }
    each!(Exp Exp2 Log Log2 Rsqrt Sin Cos Tan Tanh Erf)
}

/// What an earlier run has measured: a line a chunk, its number, the worst input and its error's bits.
fn measured(path: &Path) -> BTreeMap<u32, Worst> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut done = BTreeMap::new();
    for line in text.lines() {
        let mut words = line
            .split(' ')
            .map(|word| u64::from_str_radix(word, 16).expect("hexadecimal words"));
        let mut next = || words.next().expect("three words a line");
        let (upper, input, ulps) = (next() as u32, next() as u32, f64::from_bits(next()));
        done.insert(upper, Worst { ulps, input });
    }
    done
}

#[test]
fn all_inputs_of_the_function_asked_for() {
    let Ok(wanted) = env::var("KERNITE_EXHAUSTIVE") else {
        println!("not asked for: KERNITE_EXHAUSTIVE names a function");
        return;
    };
    let function = UNARY.into_iter().find(|&f| name(f) == wanted);
    let function = function.unwrap_or_else(|| panic!("no function is called {wanted}"));
    let hash = Trace::unary::<f32>(function).hash;
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/accuracy");
    fs::create_dir_all(&folder).expect("a folder for the measurements");
    let path = folder.join(format!("{wanted}-{hash:016x}"));

    let done = measured(&path);
    let todo: Vec<u32> = (0..256).filter(|c| !done.contains_key(c)).collect();
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file: Mutex<File> = Mutex::new(file.expect("a file for the measurements"));
    let next = AtomicU32::new(0);
    let threads = env::var("KERNITE_THREADS").map(|n| n.parse().expect("a number of threads"));
    let threads =
        threads.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(&upper) = todo.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                    let Worst { ulps, input } = chunk(function, upper);
                    let mut file = file.lock().expect("no thread panics");
                    writeln!(file, "{upper:x} {input:x} {:x}", ulps.to_bits())
                        .expect("room on the disk");
                }
            });
        }
    });
    drop(file);
    let done = measured(&path);
    assert_eq!(done.len(), 256);
    let worst = done.into_values().fold(Worst::NONE, Worst::or);
    println!(
        "| {wanted} | {:.4} | {:08X} | {hash:016x} |",
        worst.ulps, worst.input
    );
}
