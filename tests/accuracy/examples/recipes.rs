//! Each recipe's operations and hash, for `docs/accuracy.md`.
use kernite_accuracy_tests::trace::Trace;
use kernite_accuracy_tests::{BINARY, UNARY};

fn print(name: String, width: &str, trace: &Trace) {
    let (name, operations, hash) = (name.to_lowercase(), trace.operations(), trace.hash);
    println!("{name} {width} {operations} {hash:016x} {:?}", trace.counts);
}

fn main() {
    for f in UNARY {
        print(format!("{f:?}"), "f32", &Trace::unary::<f32>(f));
        print(format!("{f:?}"), "f64", &Trace::unary::<f64>(f));
    }
    for f in BINARY {
        print(format!("{f:?}"), "f32", &Trace::binary::<f32>(f));
        print(format!("{f:?}"), "f64", &Trace::binary::<f64>(f));
    }
}
