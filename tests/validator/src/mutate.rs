//! Systematic changes to a module.

use kernite::spirv::tables::decode::{self, Context, Set};
use kernite::spirv::tables::{self, Category, OperandKind as K};
use std::collections::HashMap;

/// The kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An instruction is left out.
    Drop,
    /// An instruction stands twice.
    Duplicate,
    /// Two neighbours change places.
    Swap,
    /// An id operand names another id.
    OtherId,
    /// An id operand is 0.
    ZeroId,
    /// An id operand is the bound.
    BoundId,
    /// An opcode becomes another with the same operands.
    Opcode,
    /// The result type becomes another type.
    Type,
    /// A literal or enumerant changes by a little.
    Literal,
    /// A bit flips.
    Bit,
    /// The module ends early.
    Truncate,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 11] = [
        Kind::Drop,
        Kind::Duplicate,
        Kind::Swap,
        Kind::OtherId,
        Kind::ZeroId,
        Kind::BoundId,
        Kind::Opcode,
        Kind::Type,
        Kind::Literal,
        Kind::Bit,
        Kind::Truncate,
    ];
}

/// A changed module, and the opcode of the instruction that was changed.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// How it was made.
    pub kind: Kind,
    /// The opcode changed, or 0.
    pub opcode: u16,
    /// The words.
    pub words: Vec<u32>,
}

/// A small generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let high = (self.0 >> 33) as usize;
        high % n
    }
}

#[derive(Default)]
struct Known {
    words: HashMap<u32, usize>,
    types: HashMap<u32, u32>,
}

impl Context for Known {
    fn literal_words(&self, type_id: u32) -> Option<usize> {
        self.words.get(&type_id).copied()
    }

    fn selector_words(&self, selector: u32) -> Option<usize> {
        self.words.get(self.types.get(&selector)?).copied()
    }

    fn ext_set(&self, _: u32) -> Set {
        Set::Ids
    }
}

struct Place {
    at: usize,
    len: usize,
    row: &'static tables::Instruction,
    /// Kind and index of each operand.
    operands: Vec<(K, usize)>,
}

fn places(words: &[u32]) -> (Vec<Place>, Known) {
    let mut known = Known::default();
    let mut out = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let len = (words[at] >> 16) as usize;
        let Some(inst) = words.get(at..at + len).filter(|i| !i.is_empty()) else {
            break;
        };
        if let Some(row) = tables::instruction((words[at] & 0xFFFF) as u16) {
            let mut operands = Vec::new();
            let _ = decode::operands(inst, row, &known, |f| operands.push((f.kind, f.at)));
            match row.name {
                "OpTypeInt" | "OpTypeFloat" => {
                    if let [_, id, width, ..] = *inst {
                        known.words.insert(id, if width > 32 { 2 } else { 1 });
                    }
                }
                _ => {}
            }
            if let [_, type_id, id, ..] = *inst
                && row.has_type
                && row.has_result
            {
                known.types.insert(id, type_id);
            }
            out.push(Place {
                at,
                len,
                row,
                operands,
            });
        }
        at += len;
    }
    (out, known)
}

/// One change of this kind, or `None` if the place that was drawn does not take it.
pub fn mutate(words: &[u32], kind: Kind, random: &mut Random) -> Option<Mutant> {
    let (places, _) = places(words);
    let n = random.below(places.len().max(1));
    let place = places.get(n)?;
    let mut out = words.to_vec();
    let range = place.at..place.at + place.len;
    let ids: Vec<u32> = places
        .iter()
        .filter(|p| p.row.has_result)
        .filter_map(|p| {
            words
                .get(p.at + if p.row.has_type { 2 } else { 1 })
                .copied()
        })
        .collect();
    let operand = |random: &mut Random, fits: &dyn Fn(K) -> bool| {
        let all: Vec<usize> = place
            .operands
            .iter()
            .filter(|(k, _)| fits(*k))
            .map(|(_, at)| *at)
            .collect();
        (!all.is_empty()).then(|| place.at + all[random.below(all.len())])
    };
    let is_id = |k: K| k.category() == Category::Id && k != K::IdResult;
    match kind {
        Kind::Drop => {
            out.drain(range);
        }
        Kind::Duplicate => {
            let copy = words[range].to_vec();
            out.splice(place.at..place.at, copy);
        }
        Kind::Swap => {
            let next = places.get(n + 1)?;
            let mut both = words[next.at..next.at + next.len].to_vec();
            both.extend_from_slice(&words[range]);
            out.splice(place.at..next.at + next.len, both);
        }
        Kind::OtherId => {
            let at = operand(random, &is_id)?;
            out[at] = *ids.get(random.below(ids.len().max(1)))?;
        }
        Kind::ZeroId => out[operand(random, &is_id)?] = 0,
        Kind::BoundId => out[operand(random, &is_id)?] = words[3],
        Kind::Opcode => {
            let same: Vec<u16> = tables::instructions()
                .iter()
                .filter(|r| r.operands == place.row.operands && r.opcode != place.row.opcode)
                .map(|r| r.opcode)
                .collect();
            if same.is_empty() {
                return None;
            }
            let new = same[random.below(same.len())];
            out[place.at] = out[place.at] & 0xFFFF_0000 | u32::from(new);
        }
        Kind::Type => {
            let types: Vec<u32> = places
                .iter()
                .filter(|p| p.row.name.starts_with("OpType") && p.row.has_result)
                .filter_map(|p| words.get(p.at + 1).copied())
                .collect();
            let at = operand(random, &|k| k == K::IdResultType)?;
            out[at] = *types.get(random.below(types.len().max(1)))?;
        }
        Kind::Literal => {
            let at = operand(random, &|k| {
                k.category() != Category::Id && k != K::LiteralString
            })?;
            let delta = [1u32, 2, 4, 8, u32::MAX, 16][random.below(6)];
            out[at] = out[at].wrapping_add(delta);
        }
        Kind::Bit => {
            let at = place.at + random.below(place.len);
            out[at] ^= 1 << random.below(32);
        }
        Kind::Truncate => out.truncate(5 + random.below(words.len() - 5)),
    }
    (out != words).then_some(Mutant {
        kind,
        opcode: place.row.opcode,
        words: out,
    })
}
