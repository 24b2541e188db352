//! What is to be reached, in one table.

use crate::group::*;
use crate::paired::Times;
use kernite_stages::Case;
use std::fmt;

/// A bar for some groups.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// The groups.
    pub groups: fn(Group) -> bool,
    /// The contestant it is set for; that of [`Limit::Spread`] is [`EVERY`].
    pub ours: &'static str,
    /// What must hold.
    pub limit: Limit,
}

/// What must hold of a contestant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// It takes at most so many times the time of another.
    Ratio(f64, &'static str),
    /// Another takes at least so many times its time.
    Faster(f64, &'static str),
    /// It makes at most so many times the bytes of another.
    Bytes(f64, &'static str),
    /// It takes at most so many nanoseconds an instruction.
    EachNanos(f64),
    /// It takes at most so many nanoseconds more than another.
    NanosMore(f64, &'static str),
    /// It executes at least so many million instructions a second.
    Millions(f64),
    /// Among all of the group, an instruction takes at most so many times what it takes in the best.
    Spread(f64),
}

/// All contestants of a group.
pub const EVERY: &str = "kernite: every one";

const SMALL: [Case; 2] = [Case::VectorAdd, Case::Saxpy];
const STRAIGHT: [Case; 2] = [Case::Straight(1_000), Case::Straight(10_000)];

fn ptx(group: Group) -> bool {
    matches!(group, Group::Ptx(_))
}

fn spirv(group: Group) -> bool {
    matches!(group, Group::Spirv(_))
}

fn small_spirv(group: Group) -> bool {
    matches!(group, Group::Spirv(case) if SMALL.contains(&case))
}

fn straight_spirv(group: Group) -> bool {
    matches!(group, Group::Spirv(case) if STRAIGHT.contains(&case))
}

fn validation(group: Group) -> bool {
    matches!(
        group,
        Group::Validate(Case::Matmul16 | Case::Straight(10_000))
    )
}

fn dxbc(group: Group) -> bool {
    group == Group::Dxbc
}

fn reference(group: Group) -> bool {
    matches!(group, Group::Reference(_))
}

fn growth(group: Group) -> bool {
    matches!(group, Group::Growth(_))
}

fn worst(group: Group) -> bool {
    matches!(group, Group::Worst(_))
}

const fn bar(groups: fn(Group) -> bool, ours: &'static str, limit: Limit) -> Bar {
    Bar {
        groups,
        ours,
        limit,
    }
}

/// Every bar.
pub const BARS: &[Bar] = &[
    bar(ptx, WHOLE, Limit::Ratio(1.0, ITOA)),
    bar(ptx, EMIT, Limit::Ratio(0.5, ITOA)),
    bar(ptx, EMIT, Limit::Bytes(1.3, ITOA)),
    bar(small_spirv, WHOLE, Limit::Ratio(1.0, PUSH_FRESH)),
    bar(straight_spirv, WHOLE, Limit::Ratio(2.0, PUSH_FRESH)),
    bar(spirv, EMIT, Limit::Ratio(1.2, PUSH_FRESH)),
    bar(spirv, EMIT, Limit::Bytes(1.3, PUSH_FRESH)),
    bar(spirv, WHOLE, Limit::Faster(9.0, RSPIRV)),
    bar(spirv, WHOLE, Limit::Faster(20.0, NAGA)),
    bar(validation, VALIDATE, Limit::EachNanos(100.0)),
    bar(validation, VALIDATE, Limit::Faster(2.0, RSPIRV_PARSE)),
    bar(validation, VALIDATE, Limit::Faster(30.0, SPIRV_TOOLS)),
    bar(dxbc, CONTAINER, Limit::NanosMore(1000.0, CONTAINER_DIGESTS)),
    bar(dxbc, DIGEST, Limit::Faster(0.9, MD5)),
    bar(reference, UNCHECKED, Limit::Millions(100.0)),
    bar(reference, CHECKED, Limit::Millions(20.0)),
    bar(growth, EVERY, Limit::Spread(2.0)),
    bar(worst, EVERY, Limit::Spread(4.0)),
];

/// What was measured for a bar in a group.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The group.
    pub group: Group,
    /// The bar.
    pub bar: Bar,
    /// The value found, in the limit's unit.
    pub found: f64,
}

impl Bar {
    /// Compares with what was measured of a group. `None` where a rival is not installed.
    pub fn judge(self, group: Group, times: &Times) -> Option<Verdict> {
        let ours = self.ours;
        if let Limit::Ratio(_, other) | Limit::Faster(_, other) = self.limit
            && !times.contestants().iter().any(|c| c.name == other)
        {
            return None;
        }
        let found = match self.limit {
            Limit::Ratio(_, other) => times.ratio(ours, other),
            Limit::Faster(_, other) => times.ratio(other, ours),
            Limit::Bytes(_, other) => times.of(ours).bytes as f64 / times.of(other).bytes as f64,
            Limit::EachNanos(_) => times.median_each(ours),
            Limit::NanosMore(_, other) => times.median(ours) - times.median(other),
            Limit::Millions(_) => 1e3 / times.median_each(ours),
            Limit::Spread(_) => times.spread(),
        };
        Some(Verdict {
            group,
            bar: self,
            found,
        })
    }
}

impl Verdict {
    /// Whether the bar is reached.
    pub fn holds(&self) -> bool {
        match self.bar.limit {
            Limit::Ratio(most, _)
            | Limit::Bytes(most, _)
            | Limit::EachNanos(most)
            | Limit::NanosMore(most, _)
            | Limit::Spread(most) => self.found <= most,
            Limit::Faster(least, _) | Limit::Millions(least) => self.found >= least,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Ratio(most, other) => write!(f, "at most {most} × {other}"),
            Limit::Faster(least, other) => write!(f, "{other} at least {least} ×"),
            Limit::Bytes(most, other) => write!(f, "at most {most} × the bytes of {other}"),
            Limit::EachNanos(most) => write!(f, "at most {most} ns an instruction"),
            Limit::NanosMore(most, other) => write!(f, "at most {most} ns more than {other}"),
            Limit::Millions(least) => write!(f, "at least {least} million instructions a second"),
            Limit::Spread(most) => write!(f, "an instruction at most {most} × the best"),
        }
    }
}

impl Verdict {
    /// The value found, with its unit.
    pub fn value(&self) -> String {
        match self.bar.limit {
            Limit::Ratio(..) | Limit::Bytes(..) => format!("{:.2} ×", self.found),
            Limit::Faster(..) | Limit::Spread(_) => format!("{:.1} ×", self.found),
            Limit::EachNanos(_) => format!("{:.1} ns", self.found),
            Limit::NanosMore(..) => format!("{:.0} ns", self.found),
            Limit::Millions(_) => format!("{:.0} M/s", self.found),
        }
    }
}
