//! A cache that makes each thing once, however many ask for it at the same time.

use super::lru::Lru;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A lock that outlives a panic of the thread that held it: nothing under it is left half-changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a cache holds and did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CacheStats {
    /// Things that are kept.
    pub entries: usize,
    /// What they count for, in bytes.
    pub bytes: u64,
    /// Requests that found what they wanted.
    pub hits: u64,
    /// Requests that waited for another thread that was making the same.
    pub waits: u64,
    /// Requests for which something was made, or failed to be.
    pub misses: u64,
    /// Things that had to go to make room.
    pub evictions: u64,
}

/// Keeps values of type `V` by keys of type `K`, up to a number of bytes; those used longest ago go first.
#[derive(Debug)]
pub(super) struct Flights<K, V, E> {
    state: Mutex<State<K, V, E>>,
    max_bytes: u64,
}

#[derive(Debug)]
struct State<K, V, E> {
    lru: Lru<Entry<K, V, E>>,
    stats: CacheStats,
}

#[derive(Debug)]
struct Entry<K, V, E> {
    key: K,
    bytes: u64,
    slot: Slot<V, E>,
}

#[derive(Debug)]
enum Slot<V, E> {
    /// A thread is making it.
    Flying(Arc<Flight<V, E>>),
    Ready(Arc<V>),
}

/// One making, and those who wait for it.
#[derive(Debug)]
struct Flight<V, E> {
    outcome: Mutex<Outcome<V, E>>,
    landed: Condvar,
}

#[derive(Debug)]
enum Outcome<V, E> {
    Flying,
    Landed(Result<Arc<V>, E>),
    /// The thread that was making it panicked.
    Lost,
}

impl<V, E: Clone> Flight<V, E> {
    /// Waits until it has landed; `None` where it never will.
    fn wait(&self) -> Option<Result<Arc<V>, E>> {
        let mut outcome = lock(&self.outcome);
        loop {
            match &*outcome {
                Outcome::Flying => {}
                Outcome::Landed(result) => return Some(result.clone()),
                Outcome::Lost => return None,
            }
            outcome = self
                .landed
                .wait(outcome)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Lands a flight whatever happens: also when the thread that makes the value panics.
struct Landing<'a, K, V, E> {
    flights: &'a Flights<K, V, E>,
    at: usize,
    flight: Arc<Flight<V, E>>,
}

impl<K, V, E> Landing<'_, K, V, E> {
    fn settle(&self, outcome: Outcome<V, E>) {
        *lock(&self.flight.outcome) = outcome;
        self.flight.landed.notify_all();
    }
}

impl<K, V, E> Drop for Landing<'_, K, V, E> {
    fn drop(&mut self) {
        if matches!(*lock(&self.flight.outcome), Outcome::Flying) {
            lock(&self.flights.state).lru.remove(self.at);
            self.settle(Outcome::Lost);
        }
    }
}

impl<K, V, E: Clone> Flights<K, V, E> {
    pub fn new(max_bytes: u64) -> Flights<K, V, E> {
        Flights {
            state: Mutex::new(State {
                lru: Lru::default(),
                stats: CacheStats::default(),
            }),
            max_bytes,
        }
    }

    /// The value of the key that `matches`, whose hash is `hash`; made by `make`, which also says how many bytes it counts
    /// for, if it is not there. `key` gives the key to keep it by.
    ///
    /// One thread makes it, others that ask meanwhile wait and get the same value, or the same error. An error is not
    /// kept: who asks later tries again. Where the thread that makes it panics, one of those that wait takes over.
    pub fn get_or_make(
        &self,
        hash: u64,
        matches: impl Fn(&K) -> bool,
        key: impl FnOnce() -> K,
        make: impl FnOnce() -> Result<(V, u64), E>,
    ) -> Result<Arc<V>, E> {
        let landing = loop {
            let flight = {
                let mut guard = lock(&self.state);
                let state = &mut *guard;
                let Some(at) = state.lru.find(hash, |entry| matches(&entry.key)) else {
                    let flight = Arc::new(Flight {
                        outcome: Mutex::new(Outcome::Flying),
                        landed: Condvar::new(),
                    });
                    let entry = Entry {
                        key: key(),
                        bytes: 0,
                        slot: Slot::Flying(flight.clone()),
                    };
                    let at = state.lru.insert(hash, entry);
                    state.stats.misses += 1;
                    break Landing {
                        flights: self,
                        at,
                        flight,
                    };
                };
                state.lru.touch(at);
                match state.lru.get(at).map(|entry| &entry.slot) {
                    Some(Slot::Ready(value)) => {
                        state.stats.hits += 1;
                        return Ok(value.clone());
                    }
                    Some(Slot::Flying(flight)) => {
                        state.stats.waits += 1;
                        flight.clone()
                    }
                    // It was found above.
                    None => continue,
                }
            };
            if let Some(result) = flight.wait() {
                return result;
            }
        };
        let result = make();
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let result = match result {
            Ok((value, bytes)) => {
                let value = Arc::new(value);
                if bytes > self.max_bytes {
                    state.lru.remove(landing.at);
                } else if let Some(entry) = state.lru.get_mut(landing.at) {
                    entry.bytes = bytes;
                    entry.slot = Slot::Ready(value.clone());
                    state.stats.bytes = state.stats.bytes.saturating_add(bytes);
                    // It is the one used last, so it does not go again for its own sake.
                    state.lru.touch(landing.at);
                }
                Ok(value)
            }
            Err(error) => {
                state.lru.remove(landing.at);
                Err(error)
            }
        };
        // What goes is dropped after the lock is free: dropping may call the driver.
        let evicted = state.shrink(self.max_bytes);
        drop(guard);
        landing.settle(Outcome::Landed(result.clone()));
        drop(evicted);
        result
    }

    pub fn stats(&self) -> CacheStats {
        let state = lock(&self.state);
        let flying = |at: &usize| {
            let entry = state.lru.get(*at);
            entry.is_some_and(|entry| matches!(entry.slot, Slot::Flying(_)))
        };
        let flying = state.lru.by_age().filter(flying).count();
        CacheStats {
            entries: state.lru.len() - flying,
            ..state.stats
        }
    }

    /// Forgets everything that is not being made just now.
    pub fn clear(&self) {
        let forgotten = lock(&self.state).forget(|_| true);
        drop(forgotten);
    }
}

impl<K, V, E> State<K, V, E> {
    /// Takes out what was used longest ago until the rest fits.
    fn shrink(&mut self, max_bytes: u64) -> Vec<Entry<K, V, E>> {
        if self.stats.bytes <= max_bytes {
            return Vec::new();
        }
        let evicted = self.forget(|bytes| bytes > max_bytes);
        self.stats.evictions += evicted.len() as u64;
        evicted
    }

    /// Takes out what was used longest ago as long as `more` holds of the bytes that are left.
    fn forget(&mut self, more: impl Fn(u64) -> bool) -> Vec<Entry<K, V, E>> {
        let mut bytes = self.stats.bytes;
        let mut places = Vec::new();
        for at in self.lru.by_age() {
            if !more(bytes) {
                break;
            }
            if let Some(entry) = self.lru.get(at)
                && matches!(entry.slot, Slot::Ready(_))
            {
                bytes = bytes.saturating_sub(entry.bytes);
                places.push(at);
            }
        }
        self.stats.bytes = bytes;
        let removed = places.into_iter().map(|at| self.lru.remove(at));
        removed.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    type Cache = Flights<u32, u32, &'static str>;

    fn get(
        cache: &Cache,
        key: u32,
        make: impl FnOnce() -> Result<(u32, u64), &'static str>,
    ) -> Result<Arc<u32>, &'static str> {
        cache.get_or_make(u64::from(key % 2), |k| *k == key, || key, make)
    }

    /// Lets the thread that makes the value go on only once so many others wait for it.
    fn until_waiting(cache: &Cache, threads: u64) {
        while cache.stats().waits < threads {
            thread::yield_now();
        }
    }

    #[test]
    fn equal_requests_are_made_once() {
        let cache = Cache::new(100);
        let made = AtomicU32::new(0);
        let values: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        get(&cache, 5, || {
                            made.fetch_add(1, Ordering::Relaxed);
                            until_waiting(&cache, 7);
                            Ok((50, 10))
                        })
                    })
                })
                .collect();
            let ends = threads.into_iter().map(|thread| thread.join());
            ends.map(|end| end.expect("no panic").expect("a value"))
                .collect()
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert!(values.iter().all(|value| Arc::ptr_eq(value, &values[0])));
        let stats = cache.stats();
        assert_eq!(
            (
                stats.entries,
                stats.bytes,
                stats.misses,
                stats.waits,
                stats.hits
            ),
            (1, 10, 1, 7, 0)
        );
    }

    #[test]
    fn an_error_is_told_to_all_and_kept_for_nobody() {
        let cache = Cache::new(100);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                get(&cache, 1, || {
                    until_waiting(&cache, 2);
                    Err("no")
                })
            });
            while cache.stats().misses == 0 {
                thread::yield_now();
            }
            let waiting = [(); 2].map(|()| scope.spawn(|| get(&cache, 1, || Err("made twice"))));
            assert_eq!(first.join().expect("no panic"), Err("no"));
            for thread in waiting {
                assert_eq!(thread.join().expect("no panic"), Err("no"));
            }
        });
        assert_eq!(cache.stats().entries, 0);
        assert_eq!(get(&cache, 1, || Ok((1, 1))).as_deref(), Ok(&1));
    }

    #[test]
    fn a_panic_is_taken_over_from() {
        let cache = Cache::new(100);
        let others = AtomicU32::new(0);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                get(&cache, 1, || {
                    until_waiting(&cache, 3);
                    panic!("while it was made, on purpose")
                })
            });
            while cache.stats().misses == 0 {
                thread::yield_now();
            }
            let waiting = [(); 3].map(|()| {
                scope.spawn(|| {
                    get(&cache, 1, || {
                        others.fetch_add(1, Ordering::Relaxed);
                        Ok((7, 1))
                    })
                })
            });
            assert!(first.join().is_err());
            for thread in waiting {
                assert_eq!(thread.join().expect("no panic").as_deref(), Ok(&7));
            }
        });
        assert_eq!(others.load(Ordering::Relaxed), 1);
        assert_eq!(get(&cache, 1, || Err("kept")).as_deref(), Ok(&7));
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let cache = Cache::new(30);
        for key in 0..3 {
            assert!(get(&cache, key, || Ok((key, 10))).is_ok());
        }
        // 0 is used again, so 1 is the one that goes when 3 comes.
        assert!(get(&cache, 0, || Err("gone")).is_ok());
        assert!(get(&cache, 3, || Ok((3, 10))).is_ok());
        for (key, kept) in [(0, true), (1, false), (2, true), (3, true)] {
            assert_eq!(get(&cache, key, || Err("gone")).is_ok(), kept, "{key}");
        }
        // A large one drives all others out; one that is too large is not kept.
        assert!(get(&cache, 4, || Ok((4, 30))).is_ok());
        assert_eq!((cache.stats().entries, cache.stats().bytes), (1, 30));
        assert!(get(&cache, 5, || Ok((5, 31))).is_ok());
        assert_eq!((cache.stats().entries, cache.stats().bytes), (1, 30));
        assert_eq!(cache.stats().evictions, 4);
        cache.clear();
        assert_eq!((cache.stats().entries, cache.stats().bytes), (0, 0));
    }

    #[test]
    fn what_is_being_made_stays_when_all_is_forgotten() {
        let cache = Cache::new(5);
        let value = get(&cache, 1, || {
            cache.clear();
            assert!(get(&cache, 2, || Ok((2, 5))).is_ok());
            Ok((1, 5))
        });
        assert_eq!(value.as_deref(), Ok(&1));
        assert!(get(&cache, 1, || Err("gone")).is_ok());
        assert!(get(&cache, 2, || Err("gone")).is_err());
    }
}
