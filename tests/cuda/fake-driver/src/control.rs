//! What tests ask and tell.

use crate::state::{CURRENT, FAST, Kind, State, lock};
use std::sync::atomic::Ordering;

unsafe fn text<'a>(ptr: *const u8, len: usize) -> &'a str {
    // SAFETY: the tests pass the parts of a `&str`.
    unsafe { std::str::from_utf8(std::slice::from_raw_parts(ptr, len)).expect("tests pass text") }
}

/// Copies as much as fits and answers the whole length.
unsafe fn give(text: &str, to: *mut u8, room: usize) -> usize {
    let len = text.len().min(room);
    // SAFETY: the tests pass a buffer of `room` bytes.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), to, len) };
    text.len()
}

/// Lets a call of this name fail, after `after` calls that do not.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn fake_inject(name: *const u8, len: usize, after: u32, code: u32) {
    // SAFETY: the tests pass the parts of a `&str`.
    lock().inject(unsafe { text(name, len) }, after, code);
}

/// How many of the failures asked for have not come yet.
#[unsafe(no_mangle)]
pub extern "system" fn fake_pending() -> usize {
    lock().pending_injections()
}

/// Sets a number: `driver_version`, `devices`, `device.N` and `function.N` (attributes), `log` (see `module`),
/// `fail_at.NAME` (the code with which work on the device fails from the next call of NAME on).
#[unsafe(no_mangle)]
pub unsafe extern "system" fn fake_set(name: *const u8, len: usize, value: i64) {
    // SAFETY: the tests pass the parts of a `&str`.
    let name = unsafe { text(name, len) }.to_owned();
    lock().settings.insert(name, value);
}

/// Begins books afresh.
#[unsafe(no_mangle)]
pub extern "system" fn fake_reset() {
    CURRENT.with_borrow_mut(Vec::clear);
    *lock() = State::default();
}

/// Work on the device fails with this code from now on.
#[unsafe(no_mangle)]
pub extern "system" fn fake_fail(code: u32) {
    lock().sticky = code;
}

/// All work put in so far is over.
#[unsafe(no_mangle)]
pub extern "system" fn fake_complete() {
    let mut state = lock();
    let clocks: Vec<_> = state.clocks.values().cloned().collect();
    for clock in clocks {
        state.host.merge(&clock);
    }
}

/// The calls since the last answer, a line each.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn fake_log(to: *mut u8, room: usize) -> usize {
    let mut state = lock();
    let log = state.log.join("\n");
    if log.len() <= room {
        state.log.clear();
    }
    // SAFETY: the tests pass a buffer of `room` bytes.
    unsafe { give(&log, to, room) }
}

/// What a real driver would have let pass into undefined behaviour, a line each.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn fake_violations(to: *mut u8, room: usize) -> usize {
    // SAFETY: the tests pass a buffer of `room` bytes.
    unsafe { give(&lock().violations.join("\n"), to, room) }
}

/// What is alive: `Kind=count`, a line each.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn fake_live(to: *mut u8, room: usize) -> usize {
    let live = lock().live();
    let lines: Vec<_> = live
        .iter()
        .map(|(kind, count)| format!("{kind}={count}"))
        .collect();
    // SAFETY: the tests pass a buffer of `room` bytes.
    unsafe { give(&lines.join("\n"), to, room) }
}

/// A context that is nobody's primary, as another library would make one.
#[unsafe(no_mangle)]
pub extern "system" fn fake_foreign_context(device: i32) -> usize {
    let mut state = lock();
    let context = state.add(Kind::Context, 0);
    state
        .settings
        .insert(format!("context.{context}"), i64::from(device));
    context
}

/// The context on top of the calling thread's stack, and the depth of the stack.
#[unsafe(no_mangle)]
pub extern "system" fn fake_current(depth: &mut usize) -> usize {
    CURRENT.with_borrow(|stack| {
        *depth = stack.len();
        stack.last().copied().unwrap_or(0)
    })
}

/// Calls return at once and leave no trace.
#[unsafe(no_mangle)]
pub extern "system" fn fake_fast(on: bool) {
    FAST.store(on, Ordering::Relaxed);
}
