//! Where the verifier's faults stand in the text.

use super::error::{ParseError, ParseErrorKind, Place};
use crate::kernel::{Draft, Mem, Name};
use crate::verify::{Fault, FaultKind, MAX_NAME, VerifyError};

/// The places of everything in a kernel.
#[derive(Debug)]
pub(super) struct Places {
    kernel: Place,
    /// The closing brace.
    pub(super) end: Place,
    pub(super) buffers: Vec<Place>,
    pub(super) scalars: Vec<Place>,
    pub(super) shared: Vec<Place>,
    pub(super) private: Vec<Place>,
    pub(super) insts: Vec<Place>,
    /// The declarations whose names the verifier will refuse, in its order.
    names: Vec<Place>,
    /// Set, binding and number of each buffer.
    bindings: Vec<(u32, u32, usize)>,
}

impl Places {
    pub(super) fn new() -> Places {
        let start = Place { line: 1, column: 1 };
        Places {
            kernel: start,
            end: start,
            buffers: Vec::new(),
            scalars: Vec::new(),
            shared: Vec::new(),
            private: Vec::new(),
            insts: Vec::new(),
            names: Vec::new(),
            bindings: Vec::new(),
        }
    }

    /// Begins a kernel.
    pub(super) fn clear(&mut self, at: Place) {
        let Places {
            kernel,
            end,
            buffers,
            scalars,
            shared,
            private,
            insts,
            names,
            bindings,
        } = self;
        (*kernel, *end) = (at, at);
        buffers.clear();
        scalars.clear();
        shared.clear();
        private.clear();
        insts.clear();
        names.clear();
        bindings.clear();
    }

    /// Notes what only the draft knows, before the verifier takes it.
    pub(super) fn note(&mut self, draft: &Draft) {
        let bad = |name: Name| {
            let name = draft.name_of(name);
            name.len() > MAX_NAME || name.as_bytes().contains(&0)
        };
        if draft.name_of(draft.name).is_empty() {
            self.names.push(self.kernel);
        }
        let places = core::iter::once(&self.kernel)
            .chain(&self.buffers)
            .chain(&self.scalars)
            .chain(&self.shared)
            .chain(&self.private);
        let bad = draft.all_names().zip(places).filter(|&(n, _)| bad(n));
        self.names.extend(bad.map(|(_, place)| place));
        let bindings = draft.buffers.iter().enumerate();
        self.bindings
            .extend(bindings.map(|(i, b)| (b.set, b.binding, i)));
    }

    /// The error that the verifier refused the kernel.
    #[cold]
    pub(super) fn locate(&mut self, refused: VerifyError) -> ParseError {
        self.bindings.sort_unstable();
        // The verifier names each pair of neighbours with one binding once, in this order; the later one is to blame.
        let mut doubles = self
            .bindings
            .windows(2)
            .filter_map(|pair| match *pair {
                [(set, binding, _), (s, b, later)] if (set, binding) == (s, b) => Some(later),
                _ => None,
            })
            .map(|later| self.buffers.get(later).copied());
        let mut names = self.names.iter().copied();
        let places: Vec<Place> = refused
            .faults()
            .iter()
            .map(|fault| {
                let place = match &fault.kind {
                    FaultKind::Name(_) => names.next(),
                    FaultKind::Binding { .. } => doubles.next().flatten(),
                    _ => self.place(fault),
                };
                place.unwrap_or(self.kernel)
            })
            .collect();
        ParseError {
            place: places.first().copied().unwrap_or(self.kernel),
            kind: ParseErrorKind::Verify {
                error: refused,
                lines: places.iter().map(|p| p.line).collect(),
            },
        }
    }

    /// The place of a fault that tells its own; `None` for one of the kernel as a whole.
    fn place(&self, fault: &Fault) -> Option<Place> {
        if let Some(at) = fault.at {
            return Some(self.insts.get(at as usize).copied().unwrap_or(self.end));
        }
        match &fault.kind {
            FaultKind::ArrayLen { mem, .. } | FaultKind::SecondDynamic(mem) => match *mem {
                Mem::Buffer(n) => self.buffers.get(n as usize),
                Mem::Shared(n) => self.shared.get(n as usize),
                Mem::Private(n) => self.private.get(n as usize),
            },
            FaultKind::DeclType { what, .. } => {
                let kinds = [
                    ("buf", &self.buffers),
                    ("arg", &self.scalars),
                    ("shared", &self.shared),
                    ("private", &self.private),
                ];
                kinds.into_iter().find_map(|(prefix, places)| {
                    let number = what.strip_prefix(prefix)?.parse::<usize>().ok()?;
                    places.get(number)
                })
            }
            _ => None,
        }
        .copied()
    }
}
