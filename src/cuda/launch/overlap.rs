//! Which buffers of a launch overlap.

/// Where a buffer is, and what the kernel may do with it.
#[derive(Clone, Copy, Default)]
pub(super) struct Range {
    pub start: u64,
    /// Behind the last byte.
    pub end: u64,
    /// The place of the argument.
    pub index: usize,
    /// [`WRITTEN`] and [`ALIASED`].
    pub class: usize,
}

pub(super) const WRITTEN: usize = 1;
pub(super) const ALIASED: usize = 2;

/// Whether buffers of two classes must not overlap.
const fn conflict(a: usize, b: usize) -> bool {
    (a | b) & WRITTEN != 0 && a & b & ALIASED == 0
}

/// Whether no two buffers overlap at all, which says more than a launch needs and is found out faster: behind each begin
/// in order comes an end, before the next begin. `starts` and `ends` are room for all.
pub(super) fn apart(
    ranges: impl Iterator<Item = Range>,
    starts: &mut [u64],
    ends: &mut [u64],
) -> bool {
    let (mut used, mut furthest, mut in_order) = (0, 0, true);
    for (range, (start, end)) in ranges.zip(starts.iter_mut().zip(&mut *ends)) {
        (*start, *end) = (range.start, range.end);
        in_order &= range.start >= furthest;
        furthest = range.end;
        used += 1;
    }
    if in_order {
        // As buffers are that were allocated in a row.
        return true;
    }
    let (Some(starts), Some(ends)) = (starts.get_mut(..used), ends.get_mut(..used)) else {
        return false;
    };
    starts.sort_unstable();
    ends.sort_unstable();
    starts
        .iter()
        .skip(1)
        .zip(&*ends)
        .all(|(start, end)| start >= end)
}

/// Two places whose buffers must not overlap and do, the one that begins first first. Sorts the ranges, so that many
/// buffers take n log n steps.
pub(super) fn find(ranges: &mut [Range]) -> Option<(usize, usize)> {
    ranges.sort_unstable_by_key(|range| range.start);
    // Of each class the one that reaches furthest so far.
    let mut reach: [Option<Range>; 4] = [None; 4];
    for range in ranges {
        for (class, furthest) in reach.iter().enumerate() {
            if let Some(other) = furthest
                && conflict(class, range.class)
                && other.end > range.start
            {
                return Some((other.index, range.index));
            }
        }
        if let Some(furthest) = reach.get_mut(range.class)
            && furthest.is_none_or(|other| other.end < range.end)
        {
            *furthest = Some(*range);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(rows: &[(u64, u64, usize)]) -> Vec<Range> {
        let ranges = rows.iter().enumerate();
        ranges
            .map(|(index, &(start, end, class))| Range {
                start,
                end,
                index,
                class,
            })
            .collect()
    }

    #[test]
    fn overlaps_are_those_of_every_pair() {
        // Small intervals of all classes, against the plain definition.
        let mut state = 1u64;
        let mut next = |n: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..20_000 {
            let n = 1 + next(5);
            let rows: Vec<_> = (0..n)
                .map(|_| {
                    let start = next(12);
                    (start, start + 1 + next(4), next(4) as usize)
                })
                .collect();
            let all = ranges(&rows);
            let wrong = |a: &Range, b: &Range| {
                conflict(a.class, b.class) && a.start < b.end && b.start < a.end
            };
            let expected = all
                .iter()
                .enumerate()
                .any(|(i, a)| all[..i].iter().any(|b| wrong(a, b)));
            let found = find(&mut all.clone());
            assert_eq!(found.is_some(), expected, "{rows:?}");
            let overlaps = |(i, a): (usize, &Range)| {
                all.iter()
                    .take(i)
                    .any(|b| a.start < b.end && b.start < a.end)
            };
            let apart = apart(all.iter().copied(), &mut [0; 8], &mut [0; 8]);
            assert_eq!(apart, !all.iter().enumerate().any(overlaps), "{rows:?}");
            if let Some((a, b)) = found {
                assert!(wrong(&all[a], &all[b]), "{rows:?}");
            }
        }
    }

    #[test]
    fn reads_and_declared_aliases_may_overlap() {
        assert_eq!(find(&mut ranges(&[(0, 8, 0), (0, 8, 0)])), None);
        assert_eq!(
            find(&mut ranges(&[(0, 8, WRITTEN | ALIASED), (4, 8, ALIASED)])),
            None
        );
        assert_eq!(
            find(&mut ranges(&[(4, 8, WRITTEN), (0, 5, 0)])),
            Some((1, 0))
        );
        assert_eq!(find(&mut ranges(&[(4, 8, WRITTEN), (0, 4, WRITTEN)])), None);
        assert_eq!(
            find(&mut ranges(&[(0, 8, WRITTEN | ALIASED), (0, 8, 0)])),
            Some((0, 1))
        );
    }
}
