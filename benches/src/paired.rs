//! Paired measurement: contestants run interleaved, round by round, in one process, and a ratio is the median of the
//! ratios within the rounds. A spell in which the machine is slow then hits both sides. What is taken is CPU time.

use cpu_time::ProcessTime;
use std::hint::black_box;
use std::time::Duration;

/// How long one contestant runs in one round.
const BATCH: Duration = Duration::from_micros(1500);

/// Work that is timed.
pub struct Contestant {
    /// What it is called in reports.
    pub name: &'static str,
    /// Instructions of what it makes or reads.
    pub instructions: usize,
    /// Bytes of what it makes or reads.
    pub bytes: usize,
    run: Box<dyn FnMut()>,
}

impl Contestant {
    /// Work on so many instructions and bytes. What `run` returns is not optimised away.
    pub fn new<R>(
        name: &'static str,
        (instructions, bytes): (usize, usize),
        mut run: impl FnMut() -> R + 'static,
    ) -> Contestant {
        let run = Box::new(move || {
            black_box(run());
        });
        Contestant {
            name,
            instructions,
            bytes,
            run,
        }
    }

    /// Does the work once.
    #[inline]
    pub fn run(&mut self) {
        (self.run)();
    }

    fn time(&mut self, times: u64) -> Duration {
        let start = ProcessTime::now();
        for _ in 0..times {
            (self.run)();
        }
        start.elapsed()
    }
}

/// What was measured of some contestants in the same rounds.
#[derive(Debug)]
pub struct Times {
    contestants: Vec<Timed>,
    /// Nanoseconds a run, a list of contestants for each round.
    rounds: Vec<Vec<f64>>,
}

/// Who was measured.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// Its name.
    pub name: &'static str,
    /// Instructions of what it makes or reads.
    pub instructions: usize,
    /// Bytes of what it makes or reads.
    pub bytes: usize,
}

impl Times {
    /// Runs the contestants in turn, `rounds` times; each round begins with another one.
    pub fn measure(contestants: &mut [Contestant], rounds: usize) -> Times {
        let times: Vec<u64> = contestants.iter_mut().map(calibrate).collect();
        let count = contestants.len();
        let mut all = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let mut taken = vec![0.0; count];
            for turn in 0..count {
                let i = (round + turn) % count;
                let spent = contestants[i].time(times[i]);
                taken[i] = spent.as_secs_f64() * 1e9 / times[i] as f64;
            }
            all.push(taken);
        }
        let timed = contestants.iter().map(|c| Timed {
            name: c.name,
            instructions: c.instructions,
            bytes: c.bytes,
        });
        Times {
            contestants: timed.collect(),
            rounds: all,
        }
    }

    fn index(&self, name: &str) -> usize {
        let found = self.contestants.iter().position(|c| c.name == name);
        found.unwrap_or_else(|| panic!("{name} was not measured"))
    }

    /// Nanoseconds of a run: the median over the rounds.
    pub fn median(&self, name: &str) -> f64 {
        let i = self.index(name);
        median(self.rounds.iter().map(|round| round[i]))
    }

    /// How many times as long as `other` it takes: the median of the rounds' ratios.
    pub fn ratio(&self, name: &str, other: &str) -> f64 {
        let (i, j) = (self.index(name), self.index(other));
        median(self.rounds.iter().map(|round| round[i] / round[j]))
    }

    /// How many times as long an instruction takes as one of `other`'s does: the median of the rounds' ratios.
    pub fn ratio_each(&self, name: &str, other: &str) -> f64 {
        let instructions = |name| self.of(name).instructions as f64;
        self.ratio(name, other) * instructions(other) / instructions(name)
    }

    /// Nanoseconds an instruction: the median over the rounds.
    pub fn median_each(&self, name: &str) -> f64 {
        self.median(name) / self.of(name).instructions as f64
    }

    /// How many times the time of the best an instruction takes in the worst: the median of the rounds' ratios.
    pub fn spread(&self) -> f64 {
        median(self.rounds.iter().map(|round| {
            let each = round.iter().zip(&self.contestants);
            let each = each.map(|(time, c)| time / c.instructions as f64);
            let (least, most) = each.fold((f64::INFINITY, 0.0f64), |(least, most), time| {
                (least.min(time), most.max(time))
            });
            most / least
        }))
    }

    /// A contestant.
    pub fn of(&self, name: &str) -> Timed {
        self.contestants[self.index(name)]
    }

    /// The contestants in order.
    pub fn contestants(&self) -> &[Timed] {
        &self.contestants
    }
}

/// How often a contestant runs in a batch; warms it up on the way.
fn calibrate(contestant: &mut Contestant) -> u64 {
    contestant.time(1);
    let mut times = 1;
    loop {
        let spent = contestant.time(times);
        if spent * 4 >= BATCH {
            let wanted = BATCH.as_secs_f64() / spent.as_secs_f64() * times as f64;
            return (wanted as u64).max(1);
        }
        times *= 2;
    }
}

/// The middle of the values, or the mean of the two.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_the_sorted_values() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert!(median(std::iter::empty()).is_nan());
    }

    #[test]
    fn a_ratio_is_taken_within_the_rounds() {
        let timed = |name, instructions| Timed {
            name,
            instructions,
            bytes: 0,
        };
        let times = Times {
            contestants: vec![timed("ours", 4), timed("floor", 2)],
            rounds: vec![vec![2.0, 1.0], vec![20.0, 10.0], vec![3.0, 1.0]],
        };
        assert_eq!(times.ratio("ours", "floor"), 2.0);
        assert_eq!(times.ratio_each("ours", "floor"), 1.0);
        assert_eq!(times.median("ours"), 3.0);
        assert_eq!(times.spread(), 1.0);
    }
}
