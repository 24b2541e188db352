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
    /// The contestant it is set for.
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
}

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
    /// Compares with what was measured of a group.
    pub fn judge(self, group: Group, times: &Times) -> Verdict {
        let ours = self.ours;
        let found = match self.limit {
            Limit::Ratio(_, other) => times.ratio(ours, other),
            Limit::Faster(_, other) => times.ratio(other, ours),
            Limit::Bytes(_, other) => times.of(ours).bytes as f64 / times.of(other).bytes as f64,
            Limit::EachNanos(_) => times.median_each(ours),
        };
        Verdict {
            group,
            bar: self,
            found,
        }
    }
}

impl Verdict {
    /// Whether the bar is reached.
    pub fn holds(&self) -> bool {
        match self.bar.limit {
            Limit::Ratio(most, _) | Limit::Bytes(most, _) | Limit::EachNanos(most) => {
                self.found <= most
            }
            Limit::Faster(least, _) => self.found >= least,
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
        }
    }
}

impl Verdict {
    /// The value found, with its unit.
    pub fn value(&self) -> String {
        match self.bar.limit {
            Limit::Ratio(..) | Limit::Bytes(..) => format!("{:.2} ×", self.found),
            Limit::Faster(..) => format!("{:.1} ×", self.found),
            Limit::EachNanos(_) => format!("{:.1} ns", self.found),
        }
    }
}
