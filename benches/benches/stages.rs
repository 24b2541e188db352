//! Every group of contestants in Criterion. `cargo bench -p kernite-benches --bench stages -- ptx/` takes some of them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernite_benches::group::Group;
use std::env;

/// Criterion's filter, where one is given: groups that it cannot match are not built.
fn filter() -> Option<String> {
    env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
}

fn stages(criterion: &mut Criterion) {
    let filter = filter();
    let wanted = |name: &str| {
        filter
            .as_ref()
            .is_none_or(|f| f.contains(name) || name.contains(f.as_str()))
    };
    for group in Group::all() {
        let name = group.name();
        if !wanted(&name) {
            continue;
        }
        let mut timed = criterion.benchmark_group(&name);
        timed.sample_size(20);
        for mut contestant in group.contestants() {
            timed.throughput(Throughput::Elements(contestant.instructions as u64));
            timed.bench_function(contestant.name, |b| b.iter(|| contestant.run()));
        }
        timed.finish();
    }
}

criterion_group!(benches, stages);
criterion_main!(benches);
