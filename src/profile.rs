//! Times by name, and the table that they print as.
//!
//! [`crate::pipeline`] and the streams of `cuda` measure; this is what they hand out.
#![forbid(unsafe_code)]

use core::fmt;
use core::time::Duration;

/// How long pieces of work took, summed up by name; prints as a table.
///
/// ```
/// use kernite::profile::Report;
/// use std::time::Duration;
/// let mut report = Report::default();
/// report.add("load", Duration::from_micros(10));
/// report.add("load", Duration::from_micros(30));
/// assert_eq!(report.rows()[0].mean(), Duration::from_micros(20));
/// assert!(report.to_string().contains("load"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    rows: Vec<ReportRow>,
}

/// The times of one name.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ReportRow {
    /// The name.
    pub name: String,
    /// How often.
    pub count: u32,
    /// All together.
    pub total: Duration,
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
}

impl ReportRow {
    fn named(name: &str) -> ReportRow {
        ReportRow {
            name: name.into(),
            count: 0,
            total: Duration::ZERO,
            min: Duration::MAX,
            max: Duration::ZERO,
        }
    }

    fn add(&mut self, time: Duration) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(time);
        self.min = self.min.min(time);
        self.max = self.max.max(time);
    }

    /// The mean; zero where nothing was counted.
    pub fn mean(&self) -> Duration {
        self.total.checked_div(self.count).unwrap_or_default()
    }
}

impl Report {
    /// The rows, in order of first appearance.
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }

    /// The row of a name, if something was counted under it.
    pub fn row(&self, name: &str) -> Option<&ReportRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Counts a time under a name.
    pub fn add(&mut self, name: &str, time: Duration) {
        let known = self.rows.iter().position(|row| row.name == name);
        let at = known.unwrap_or_else(|| {
            self.rows.push(ReportRow::named(name));
            self.rows.len() - 1
        });
        if let Some(row) = self.rows.get_mut(at) {
            row.add(time);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.rows.iter().map(|row| row.name.chars().count());
        let widest = widths.max().unwrap_or(0).max(4);
        let micro = |time: Duration| time.as_secs_f64() * 1e6;
        write!(
            f,
            "{:widest$}  {:>8} {:>12} {:>12} {:>12} {:>12}",
            "work", "count", "total µs", "mean µs", "min µs", "max µs"
        )?;
        for row in &self.rows {
            let times = [row.total, row.mean(), row.min, row.max].map(micro);
            let [total, mean, min, max] = times;
            write!(
                f,
                "\n{:widest$}  {:>8} {total:>12.1} {mean:>12.1} {min:>12.1} {max:>12.1}",
                row.name, row.count
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_tables() {
        let mut report = Report::default();
        assert_eq!(report.to_string().lines().count(), 1);
        report.add("saxpy", Duration::from_micros(10));
        report.add("saxpy", Duration::from_micros(30));
        assert_eq!(
            report.row("saxpy").map(ReportRow::mean),
            Some(Duration::from_micros(20))
        );
        assert_eq!(report.row("nothing"), None);
        let text = report.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[1].split_whitespace().collect::<Vec<_>>(),
            ["saxpy", "2", "40.0", "20.0", "10.0", "30.0"]
        );
        assert_eq!(lines[0].chars().count(), lines[1].chars().count());
    }
}
