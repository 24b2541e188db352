//! Where the device's time goes.

use super::result::Result;
use super::stream::{Event, Stream};
use core::fmt;
use core::time::Duration;

/// Measures pieces of work of a stream by events around them, where asked for; nothing else is measured or slowed down.
///
/// ```no_run
/// # use kernite::cuda::{Profile, Stream, Result};
/// # fn work(stream: &Stream) -> Result<()> { Ok(()) }
/// # fn run(stream: &Stream) -> Result<()> {
/// let mut profile = Profile::new(stream);
/// for _ in 0..10 {
///     profile.measure("first half", || work(stream))?;
///     profile.measure("second half", || work(stream))?;
/// }
/// println!("{}", profile.report()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Profile {
    stream: Stream,
    names: Vec<String>,
    /// Number of the name, and the events around the work.
    spans: Vec<(usize, Event, Event)>,
    /// Events to use again.
    spare: Vec<Event>,
}

impl Profile {
    /// Measures nothing yet.
    pub fn new(stream: &Stream) -> Profile {
        Profile {
            stream: stream.clone(),
            names: Vec::new(),
            spans: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Runs `work` and measures what it puts into the stream, under a name. Work that fails is not counted.
    ///
    /// # Errors
    /// Those of `work`, and what the driver answers.
    pub fn measure<R>(&mut self, name: &str, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let (start, end) = (self.event()?, self.event()?);
        start.record(&self.stream)?;
        let result = work()?;
        end.record(&self.stream)?;
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        });
        self.spans.push((number, start, end));
        Ok(result)
    }

    fn event(&mut self) -> Result<Event> {
        match self.spare.pop() {
            Some(event) => Ok(event),
            None => self.stream.context().event(),
        }
    }

    /// Waits for what was measured and sums it up by name, in order of first appearance. Begins anew.
    ///
    /// # Errors
    /// What failed in the meantime.
    pub fn report(&mut self) -> Result<Report> {
        let names = core::mem::take(&mut self.names);
        let mut rows: Vec<ReportRow> = names.into_iter().map(ReportRow::named).collect();
        for (number, start, end) in core::mem::take(&mut self.spans) {
            end.synchronize()?;
            let time = end.since(&start)?;
            if let Some(row) = rows.get_mut(number) {
                row.add(time);
            }
            self.spare.extend([start, end]);
        }
        Ok(Report { rows })
    }
}

/// What a [`Profile`] has measured; prints as a table.
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
    fn named(name: String) -> ReportRow {
        ReportRow {
            name,
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

    /// The mean.
    pub fn mean(&self) -> Duration {
        self.total.checked_div(self.count).unwrap_or_default()
    }
}

impl Report {
    /// The rows, in order of first appearance.
    pub fn rows(&self) -> &[ReportRow] {
        &self.rows
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = self
            .rows
            .iter()
            .map(|row| row.name.chars().count())
            .max()
            .unwrap_or(0)
            .max(4);
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
        let mut row = ReportRow::named("saxpy".into());
        row.add(Duration::from_micros(10));
        row.add(Duration::from_micros(30));
        assert_eq!(row.mean(), Duration::from_micros(20));
        let report = Report { rows: vec![row] };
        let text = report.to_string();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            lines[1].split_whitespace().collect::<Vec<_>>(),
            ["saxpy", "2", "40.0", "20.0", "10.0", "30.0"]
        );
        assert_eq!(lines[0].chars().count(), lines[1].chars().count());
        assert_eq!(Report::default().to_string().lines().count(), 1);
    }
}
