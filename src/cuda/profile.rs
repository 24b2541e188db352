//! Where the device's time goes.

use super::result::Result;
use super::stream::{Event, Stream};
use crate::profile::Report;

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
        let mut report = Report::default();
        for (number, start, end) in core::mem::take(&mut self.spans) {
            end.synchronize()?;
            let time = end.since(&start)?;
            if let Some(name) = names.get(number) {
                report.add(name, time);
            }
            self.spare.extend([start, end]);
        }
        Ok(report)
    }
}
