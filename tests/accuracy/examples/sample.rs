//! The worst of every n-th f32, for each function named: `sample 101 exp log`.
use kernite_accuracy_tests::measure::{Worst, worst32};
use kernite_accuracy_tests::reference::truth;
use kernite_accuracy_tests::trace::Trace;
use kernite_accuracy_tests::{UNARY, host32, name};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let step = arguments
        .first()
        .map_or(1009, |n| n.parse().expect("a number"));
    for function in UNARY {
        if arguments.len() > 1 && !arguments.contains(&name(function)) {
            continue;
        }
        let sampled = (0..=u32::MAX).step_by(step);
        let worst: Worst = worst32(sampled, |x| host32(function, x), |x| truth(function, x));
        let trace = Trace::unary::<f32>(function);
        println!(
            "{:8} {:.4} {:08X} operations {}",
            name(function),
            worst.ulps,
            worst.input,
            trace.operations()
        );
    }
}
