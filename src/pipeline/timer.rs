//! Measuring, where it was asked for.

use super::flights::lock;
use crate::profile::Report;
use std::sync::Mutex;
use std::time::Instant;

/// Sums up how long things took, or does nothing at all.
#[derive(Debug)]
pub(super) struct Timer(Option<Mutex<Report>>);

impl Timer {
    pub fn new(on: bool) -> Timer {
        Timer(on.then(Mutex::default))
    }

    pub fn time<R>(&self, name: &str, work: impl FnOnce() -> R) -> R {
        let Some(report) = &self.0 else {
            return work();
        };
        let start = Instant::now();
        let result = work();
        let time = start.elapsed();
        lock(report).add(name, time);
        result
    }

    pub fn take(&self) -> Report {
        let report = self.0.as_ref();
        report.map_or_else(Report::default, |report| {
            core::mem::take(&mut *lock(report))
        })
    }
}

#[cfg(feature = "cuda")]
impl Timer {
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Adds what was measured elsewhere, each row once.
    pub fn merge(&self, rows: &Report) {
        if let Some(report) = &self.0 {
            let mut report = lock(report);
            for row in rows.rows() {
                report.add(&row.name, row.total);
            }
        }
    }
}
