//! The books.

use crate::clock::{Clock, Use};
use crate::image::Entry;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};

/// Calls return at once and leave no trace: for measuring what stands above the driver.
pub static FAST: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    /// The thread's stack of contexts.
    pub static CURRENT: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

pub struct Guard(MutexGuard<'static, Option<State>>);

impl std::ops::Deref for Guard {
    type Target = State;
    fn deref(&self) -> &State {
        self.0.as_ref().expect("made by lock")
    }
}

impl std::ops::DerefMut for Guard {
    fn deref_mut(&mut self) -> &mut State {
        self.0.as_mut().expect("made by lock")
    }
}

pub fn lock() -> Guard {
    let mut guard = STATE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    guard.get_or_insert_with(State::default);
    Guard(guard)
}

/// What a handle stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    Context,
    Stream,
    Event,
    Module,
    Function,
    Pool,
    Graph,
    Exec,
    Node,
    Link,
}

pub struct Object {
    pub kind: Kind,
    pub context: usize,
    /// Uses of a module, by launches of its functions.
    pub uses: Vec<Use>,
    /// What an event was recorded behind.
    pub recorded: Option<Clock>,
    pub timing: bool,
    /// A module's or a linker's text.
    pub text: String,
    /// A function's parameters, and the module it is of.
    pub entry: Entry,
    pub parent: usize,
    /// What a linker made.
    pub bytes: Vec<u8>,
    /// A graph's memory: what its nodes touch.
    pub addresses: Vec<u64>,
}

pub struct Memory {
    pub bytes: Vec<u128>,
    pub len: usize,
    pub context: usize,
    pub host: bool,
    pub freed: bool,
    pub uses: Vec<Use>,
    /// The operation that allocated it, in stream order.
    pub allocated: Option<Use>,
}

/// A capture under way.
pub struct Capture {
    pub graph: usize,
    pub last: Option<usize>,
    /// Something forbidden ended it.
    pub invalid: bool,
    /// What `cuStreamGetCaptureInfo` points to.
    pub shown: Box<usize>,
}

struct Injection {
    name: String,
    /// Calls to let pass before it.
    after: u32,
    code: u32,
}

#[derive(Default)]
pub struct State {
    pub log: Vec<String>,
    pub violations: Vec<String>,
    pub settings: HashMap<String, i64>,
    injections: Vec<Injection>,
    /// An error of work on the device, which every later call returns.
    pub sticky: u32,
    pub objects: HashMap<usize, Object>,
    pub memory: BTreeMap<u64, Memory>,
    pub clocks: HashMap<usize, Clock>,
    pub host: Clock,
    next: usize,
    /// Streams that are being captured.
    pub captures: HashMap<usize, Capture>,
    /// The primary context of each device and how often it is retained.
    pub primaries: HashMap<i32, (usize, u32)>,
}

/// Calls that a lost context does not keep from working.
const UNTOUCHED: [&str; 14] = [
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetUuid_v2",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuCtxGetDevice",
];

impl State {
    /// Logs a call and says how it is to fail; 0 for not at all.
    pub fn enter(&mut self, name: &str, args: &[&dyn Debug]) -> u32 {
        let args: Vec<String> = args.iter().map(|arg| format!("{arg:?}")).collect();
        self.log.push(format!("{name}({})", args.join(", ")));
        if let Some(at) = self.injections.iter().position(|i| i.name == name) {
            let injection = &mut self.injections[at];
            if injection.after == 0 {
                let code = self.injections.remove(at).code;
                // A lost context stays lost.
                if matches!(code, 700 | 702 | 710 | 714..=719) && !UNTOUCHED.contains(&name) {
                    self.sticky = code;
                }
                return code;
            }
            injection.after -= 1;
        }
        if let Some(code) = self.settings.remove(&format!("fail_at.{name}")) {
            self.sticky = code as u32;
        }
        if UNTOUCHED.contains(&name) {
            0
        } else {
            self.sticky
        }
    }

    pub fn inject(&mut self, name: &str, after: u32, code: u32) {
        self.injections.push(Injection {
            name: name.into(),
            after,
            code,
        });
    }

    pub fn pending_injections(&self) -> usize {
        self.injections.len()
    }

    pub fn violation(&mut self, what: impl Into<String>) {
        let call = self.log.last().cloned().unwrap_or_default();
        self.violations.push(format!("{} in {call}", what.into()));
    }

    pub fn setting(&self, name: &str) -> Option<i64> {
        self.settings.get(name).copied()
    }

    pub fn current(&self) -> usize {
        CURRENT.with_borrow(|stack| stack.last().copied().unwrap_or(0))
    }

    /// The current context; none is an error, as with a real driver.
    pub fn context(&mut self) -> Result<usize, u32> {
        match self.current() {
            0 => {
                self.violation("no current context");
                Err(crate::INVALID_CONTEXT)
            }
            context => Ok(context),
        }
    }

    pub fn add(&mut self, kind: Kind, context: usize) -> usize {
        self.next += 1;
        let handle = 0x1000 + self.next * 16;
        let object = Object {
            kind,
            context,
            uses: Vec::new(),
            recorded: None,
            timing: false,
            text: String::new(),
            entry: Entry::default(),
            parent: 0,
            bytes: Vec::new(),
            addresses: Vec::new(),
        };
        self.objects.insert(handle, object);
        handle
    }

    /// An object that must be alive, of this kind and of the current context.
    pub fn object(&mut self, handle: usize, kind: Kind) -> Result<&mut Object, u32> {
        let current = self.current();
        match self.objects.get(&handle) {
            Some(object) if object.kind != kind => {
                self.violation(format!("{handle:#x} is no {kind:?}"));
                Err(crate::INVALID_HANDLE)
            }
            Some(object) if object.context != current && kind != Kind::Context => {
                let owner = object.context;
                self.violation(format!(
                    "{kind:?} of context {owner:#x} used in {current:#x}"
                ));
                Err(crate::INVALID_CONTEXT)
            }
            Some(_) => Ok(self.objects.get_mut(&handle).expect("found above")),
            None => {
                self.violation(format!("{kind:?} {handle:#x} is gone"));
                Err(crate::INVALID_HANDLE)
            }
        }
    }

    pub fn remove(&mut self, handle: usize, kind: Kind) -> Result<(), u32> {
        self.object(handle, kind)?;
        self.objects.remove(&handle);
        Ok(())
    }

    /// A stream that may be used in the current context; the null stream always may.
    pub fn check_stream(&mut self, stream: usize) -> Result<(), u32> {
        self.context()?;
        if stream == 0 {
            return Ok(());
        }
        self.object(stream, Kind::Stream).map(|_| ())
    }

    /// A stream that may be used in the current context and is not being captured, which would end the capture.
    pub fn check_running(&mut self, stream: usize) -> Result<(), u32> {
        self.check_stream(stream)?;
        if let Some(capture) = self.captures.get_mut(&stream) {
            capture.invalid = true;
            self.violation("not for a stream that is being captured");
            return Err(crate::CAPTURE_UNSUPPORTED);
        }
        Ok(())
    }

    /// What a stream's next operation comes behind. What the host knows to be over comes before all that is put in now.
    pub fn clock(&mut self, stream: usize) -> &mut Clock {
        let clock = self.clocks.entry(stream).or_default();
        clock.merge(&self.host);
        clock
    }

    /// The next operation of a stream.
    pub fn operation(&mut self, stream: usize) -> Use {
        self.clock(stream).advance(stream)
    }

    /// The piece of memory that an address lies in, freed or not, and the offset in it.
    pub fn find(&mut self, address: u64) -> Option<(u64, &mut Memory)> {
        let (&start, memory) = self.memory.range_mut(..=address).next_back()?;
        (address < start + memory.len as u64).then_some((start, memory))
    }

    /// Notes that an operation of a stream uses the memory at an address; `len` bytes must lie in it.
    pub fn touch(
        &mut self,
        address: u64,
        len: usize,
        stream: usize,
        operation: Use,
    ) -> Result<(), u32> {
        let seen = self.clock(stream).clone();
        let Some((start, memory)) = self.find(address) else {
            self.violation(format!("address {address:#x} is no memory"));
            return Err(crate::INVALID_VALUE);
        };
        memory.uses.push(operation);
        let early = memory
            .allocated
            .is_some_and(|allocated| !seen.has_seen(allocated));
        let (freed, end) = (memory.freed, start + memory.len as u64);
        if freed {
            self.violation(format!("use after free of {start:#x}"));
        }
        if early {
            self.violation(format!("{start:#x} used before its allocation"));
        }
        if address + len as u64 > end {
            self.violation(format!(
                "{len} bytes at {address:#x} pass the end at {end:#x}"
            ));
            return Err(crate::INVALID_VALUE);
        }
        Ok(())
    }

    /// What is alive, by kind.
    pub fn live(&self) -> BTreeMap<String, usize> {
        let mut live = BTreeMap::new();
        for object in self.objects.values() {
            // Functions and nodes go with what holds them; contexts stay, and count as retained.
            if !matches!(object.kind, Kind::Function | Kind::Node | Kind::Context) {
                *live.entry(format!("{:?}", object.kind)).or_default() += 1;
            }
        }
        for memory in self.memory.values().filter(|memory| !memory.freed) {
            let kind = if memory.host {
                "PinnedMemory"
            } else {
                "Memory"
            };
            *live.entry(kind.into()).or_default() += 1;
        }
        let retained: u32 = self.primaries.values().map(|(_, count)| count).sum();
        if retained != 0 {
            live.insert("Retained".into(), retained as usize);
        }
        live
    }
}
