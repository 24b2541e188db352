//! A map of items by hash, in the order in which they were last used.

use std::collections::HashMap;

/// Items with a hash each. Two items may have the same hash: finding compares the items themselves.
///
/// Finding and touching allocate nothing; every operation takes a constant number of steps where hashes differ.
#[derive(Debug)]
pub(super) struct Lru<T> {
    nodes: Vec<Node<T>>,
    /// Places of `nodes` without an item.
    free: Vec<usize>,
    /// The first item of each hash.
    index: HashMap<u64, usize>,
    newest: Option<usize>,
    oldest: Option<usize>,
}

#[derive(Debug)]
struct Node<T> {
    item: Option<T>,
    hash: u64,
    /// The next item of the same hash.
    same_hash: Option<usize>,
    newer: Option<usize>,
    older: Option<usize>,
}

impl<T> Default for Lru<T> {
    fn default() -> Lru<T> {
        Lru {
            nodes: Vec::new(),
            free: Vec::new(),
            index: HashMap::new(),
            newest: None,
            oldest: None,
        }
    }
}

impl<T> Lru<T> {
    /// The place of the item that `matches`, among those of this hash.
    pub fn find(&self, hash: u64, matches: impl Fn(&T) -> bool) -> Option<usize> {
        let mut place = self.index.get(&hash).copied();
        while let Some(at) = place {
            let node = self.nodes.get(at)?;
            if node.item.as_ref().is_some_and(&matches) {
                return Some(at);
            }
            place = node.same_hash;
        }
        None
    }

    pub fn get(&self, at: usize) -> Option<&T> {
        self.nodes.get(at)?.item.as_ref()
    }

    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.nodes.get_mut(at)?.item.as_mut()
    }

    /// Makes an item the one used last.
    pub fn touch(&mut self, at: usize) {
        if self.newest != Some(at) {
            self.unlink(at);
            self.link(at);
        }
    }

    /// Adds an item as the one used last. Gives its place, which stays the same until it is removed.
    pub fn insert(&mut self, hash: u64, item: T) -> usize {
        let node = Node {
            item: Some(item),
            hash,
            same_hash: self.index.get(&hash).copied(),
            newer: None,
            older: None,
        };
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(place) = self.nodes.get_mut(at) {
                    *place = node;
                }
                at
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.index.insert(hash, at);
        self.link(at);
        at
    }

    pub fn remove(&mut self, at: usize) -> Option<T> {
        self.unlink(at);
        let node = self.nodes.get_mut(at)?;
        let item = node.item.take()?;
        let (hash, next) = (node.hash, node.same_hash.take());
        // Out of the chain of its hash.
        if self.index.get(&hash) == Some(&at) {
            match next {
                Some(next) => self.index.insert(hash, next),
                None => self.index.remove(&hash),
            };
        } else {
            let mut place = self.index.get(&hash).copied();
            while let Some(before) = place.and_then(|place| self.nodes.get_mut(place)) {
                if before.same_hash == Some(at) {
                    before.same_hash = next;
                    break;
                }
                place = before.same_hash;
            }
        }
        self.free.push(at);
        Some(item)
    }

    /// The places from the item used longest ago to the one used last.
    pub fn by_age(&self) -> impl Iterator<Item = usize> {
        let newer = |&at: &usize| self.nodes.get(at)?.newer;
        core::iter::successors(self.oldest, newer)
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    fn link(&mut self, at: usize) {
        let newest = self.newest.replace(at);
        if let Some(node) = self.nodes.get_mut(at) {
            (node.older, node.newer) = (newest, None);
        }
        match newest.and_then(|newest| self.nodes.get_mut(newest)) {
            Some(node) => node.newer = Some(at),
            None => self.oldest = Some(at),
        }
    }

    fn unlink(&mut self, at: usize) {
        let Some(node) = self.nodes.get_mut(at) else {
            return;
        };
        let (older, newer) = (node.older.take(), node.newer.take());
        match older.and_then(|older| self.nodes.get_mut(older)) {
            Some(node) => node.newer = newer,
            None if self.oldest == Some(at) => self.oldest = newer,
            None => {}
        }
        match newer.and_then(|newer| self.nodes.get_mut(newer)) {
            Some(node) => node.older = older,
            None if self.newest == Some(at) => self.newest = older,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, as plainly as can be: oldest first.
    #[derive(Default)]
    struct Plain(Vec<(u64, u32)>);

    #[test]
    fn it_does_what_a_list_does() {
        let (mut lru, mut plain) = (Lru::default(), Plain::default());
        let mut state = 7u64;
        let mut next = |n: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for step in 0..20_000u32 {
            // Few hashes, so that many items share one.
            let value = next(24) as u32;
            let hash = u64::from(value % 3);
            let found = lru.find(hash, |item| *item == value);
            let known = plain.0.iter().position(|entry| *entry == (hash, value));
            assert_eq!(found.is_some(), known.is_some(), "step {step}");
            match (found, known, next(3)) {
                (Some(at), Some(known), 0) => {
                    assert_eq!(lru.remove(at), Some(value));
                    assert_eq!(lru.remove(at), None);
                    plain.0.remove(known);
                }
                (Some(at), Some(known), _) => {
                    lru.touch(at);
                    let entry = plain.0.remove(known);
                    plain.0.push(entry);
                }
                _ => {
                    lru.insert(hash, value);
                    plain.0.push((hash, value));
                }
            }
            let order: Vec<_> = lru.by_age().filter_map(|at| lru.get(at)).copied().collect();
            let expected: Vec<_> = plain.0.iter().map(|entry| entry.1).collect();
            assert_eq!(order, expected, "step {step}");
            assert_eq!(lru.len(), expected.len());
        }
    }
}
