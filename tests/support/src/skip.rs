//! Counted, printed skips: a test that could not judge says so.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::io::Write as _;
use std::sync::Mutex;

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

#[derive(Default)]
struct Seen {
    once: HashSet<(String, String)>,
    count: usize,
}

/// Prints `SKIP what: why (in TEST; skip N of this process)` and counts it, once
/// a test and `what`; later calls of the same test do nothing. The line goes to
/// the standard error stream itself, since the test harness swallows what a
/// passing test prints.
///
/// ```
/// use kernite_testkit::skip;
///
/// let before = skip::count();
/// skip::skip("GPU", "no CUDA driver");
/// skip::skip("GPU", "no CUDA driver");
/// assert_eq!(skip::count(), before + 1);
/// ```
pub fn skip(what: &str, why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unnamed thread").to_owned();
    // A test that failed while it held the lock left the set whole.
    let mut guard = SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seen = guard.get_or_insert_default();
    if !seen.once.insert((test.clone(), what.to_owned())) {
        return;
    }
    seen.count += 1;
    let line = format!(
        "SKIP {what}: {why} (in {test}; skip {} of this process)\n",
        seen.count
    );
    // A closed stream is no reason to fail a test.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// How many skips this process has printed.
pub fn count() -> usize {
    let guard = SEEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    guard.as_ref().map_or(0, |seen| seen.count)
}

/// The environment variable that, when `1`, turns a missing GPU into a failure.
pub const REQUIRE_GPU: &str = "KERNITE_REQUIRE_GPU";

/// Whether a missing GPU is a failure.
pub fn gpu_required() -> bool {
    std::env::var(REQUIRE_GPU).is_ok_and(|value| value == "1")
}

/// Says that there is no GPU, or no driver for it: a counted, printed skip.
///
/// # Panics
/// `KERNITE_REQUIRE_GPU` is `1`.
pub fn no_gpu(why: &str) {
    assert!(
        !gpu_required(),
        "{REQUIRE_GPU}=1, but there is no GPU: {why}"
    );
    skip("GPU", why);
}
