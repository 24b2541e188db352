//! An assembler for SPIR-V's textual form, by kernite's tables, so that tests need no tool.
//!
//! Ids are `%name` or `%7`; numbers keep their value, names get ids above them. A line that
//! begins with `; SPIR-V 1.N` sets the version, 1.6 otherwise. A literal word may be written as
//! `!0x1234` in place of any operand, and a line `!0x… !0x…` is words as they stand.

use kernite::spirv::tables::{self, Category, Operand, OperandKind as K, Quantifier};
use std::collections::HashMap;

/// The words of a module.
///
/// # Panics
///
/// On text that is no module, naming the line: the texts are the tests' own.
pub fn assemble(text: &str) -> Vec<u32> {
    let mut a = Assembler::default();
    let mut version = 6;
    for line in text.lines() {
        let line = line.trim();
        if let Some(minor) = line.strip_prefix("; SPIR-V 1.") {
            version = minor.trim().parse().expect("a version");
        }
        for token in tokens(line) {
            if let Some(number) = token.strip_prefix('%').and_then(|t| t.parse::<u32>().ok()) {
                a.next = a.next.max(number + 1);
            }
        }
    }
    a.next = a.next.max(1);
    for line in text.lines() {
        a.line(line.trim());
    }
    let mut words = vec![0x0723_0203, 0x0001_0000 | version << 8, 0, a.next, 0];
    words.extend(a.out);
    words
}

/// [`assemble`] as bytes.
pub fn assemble_bytes(text: &str) -> Vec<u8> {
    bytes(&assemble(text))
}

/// Little-endian bytes as words.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let quads = bytes.as_chunks::<4>().0.iter();
    quads.map(|q| u32::from_le_bytes(*q)).collect()
}

/// Words as little-endian bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[derive(Clone, Copy)]
enum Number {
    Int(u32),
    Float(u32),
}

#[derive(Default)]
struct Assembler {
    names: HashMap<String, u32>,
    next: u32,
    numbers: HashMap<u32, Number>,
    types: HashMap<u32, u32>,
    sets: HashMap<u32, &'static tables::ExtSet>,
    out: Vec<u32>,
}

fn tokens(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c == ';' {
            break;
        }
        if c.is_whitespace() {
            chars.next();
            continue;
        }
        let mut token = String::new();
        if c == '"' {
            token.push('"');
            chars.next();
            while let Some(c) = chars.next() {
                match c {
                    '"' => break,
                    '\\' => token.extend(chars.next()),
                    c => token.push(c),
                }
            }
        } else {
            while let Some(&c) = chars.peek() {
                if c.is_whitespace() || c == ';' {
                    break;
                }
                token.push(c);
                chars.next();
            }
        }
        out.push(token);
    }
    out
}

fn raw(token: &str) -> Option<u32> {
    let hex = token.strip_prefix("!0x")?;
    Some(u32::from_str_radix(hex, 16).expect("a hexadecimal word"))
}

impl Assembler {
    fn id(&mut self, token: &str) -> u32 {
        if let Some(word) = raw(token) {
            return word;
        }
        let name = token
            .strip_prefix('%')
            .unwrap_or_else(|| panic!("{token}: expected an id"));
        if let Ok(number) = name.parse() {
            return number;
        }
        if let Some(&id) = self.names.get(name) {
            return id;
        }
        let id = self.next;
        self.next += 1;
        self.names.insert(name.to_owned(), id);
        id
    }

    fn line(&mut self, line: &str) {
        let mut tokens = tokens(line);
        if tokens.is_empty() {
            return;
        }
        if tokens.iter().all(|t| t.starts_with('!')) {
            self.out.extend(tokens.iter().filter_map(|t| raw(t)));
            return;
        }
        let mut result = None;
        if tokens.get(1).is_some_and(|t| t == "=") {
            result = Some(self.id(&tokens[0]));
            tokens.drain(..2);
        }
        let row = tables::instructions()
            .iter()
            .find(|r| r.name == tokens[0])
            .unwrap_or_else(|| panic!("{line}: unknown opcode"));
        let mut words = vec![u32::from(row.opcode)];
        let mut at = 1;
        for operand in row.operands {
            if operand.kind == K::IdResult {
                words.push(result.unwrap_or_else(|| panic!("{line}: no result")));
            } else {
                self.operands(&tokens, &mut at, operand, &mut words);
            }
        }
        // What the grammar does not take is taken as numbers, for tests of what is too long.
        for token in &tokens[at.min(tokens.len())..] {
            words.push(raw(token).unwrap_or_else(|| panic!("{line}: left over: {token}")));
        }
        self.note(&words, row);
        words[0] |= u32::try_from(words.len()).expect("a short instruction") << 16;
        self.out.extend(words);
    }

    fn note(&mut self, words: &[u32], row: &tables::Instruction) {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        match row.name {
            "OpTypeInt" => {
                self.numbers.insert(word(1), Number::Int(word(2)));
            }
            "OpTypeFloat" => {
                self.numbers.insert(word(1), Number::Float(word(2)));
            }
            "OpExtInstImport" => {
                let name: Vec<u8> = words[2..]
                    .iter()
                    .flat_map(|w| w.to_le_bytes())
                    .take_while(|b| *b != 0)
                    .collect();
                if let Some(set) = tables::ext_set(&String::from_utf8_lossy(&name)) {
                    self.sets.insert(word(1), set);
                }
            }
            _ => {}
        }
        if row.has_type && row.has_result {
            self.types.insert(word(2), word(1));
        }
    }

    fn operands(
        &mut self,
        tokens: &[String],
        at: &mut usize,
        operand: &Operand,
        words: &mut Vec<u32>,
    ) {
        match operand.quantifier {
            Quantifier::One => self.operand(tokens, at, operand.kind, words),
            Quantifier::Optional => {
                if *at < tokens.len() {
                    self.operand(tokens, at, operand.kind, words);
                }
            }
            Quantifier::Any => {
                while *at < tokens.len() {
                    self.operand(tokens, at, operand.kind, words);
                }
            }
        }
    }

    fn operand(&mut self, tokens: &[String], at: &mut usize, kind: K, words: &mut Vec<u32>) {
        let Some(token) = tokens.get(*at) else {
            return;
        };
        if let Some(word) = raw(token) {
            *at += 1;
            words.push(word);
            return;
        }
        match kind.category() {
            Category::Id => {
                *at += 1;
                let id = self.id(token);
                words.push(id);
            }
            Category::ValueEnum => {
                *at += 1;
                let row = tables::enumerants(kind)
                    .iter()
                    .find(|r| r.name == token)
                    .unwrap_or_else(|| panic!("{token}: no {kind:?}"));
                words.push(row.value);
                for parameter in row.parameters {
                    self.operands(tokens, at, parameter, words);
                }
            }
            Category::BitEnum => {
                *at += 1;
                let mut rows: Vec<_> = token
                    .split('|')
                    .filter(|name| *name != "None")
                    .map(|name| {
                        tables::enumerants(kind)
                            .iter()
                            .find(|r| r.name == name)
                            .unwrap_or_else(|| panic!("{name}: no {kind:?}"))
                    })
                    .collect();
                rows.sort_by_key(|r| r.value);
                words.push(rows.iter().fold(0, |mask, r| mask | r.value));
                for parameter in rows.iter().flat_map(|r| r.parameters) {
                    self.operands(tokens, at, parameter, words);
                }
            }
            Category::Composite => match kind {
                K::PairLiteralIntegerIdRef => {
                    *at += 1;
                    let ty = self.types.get(&words[1]).copied().unwrap_or(0);
                    self.number(token, ty, words);
                    self.operand(tokens, at, K::IdRef, words);
                }
                K::PairIdRefLiteralInteger => {
                    self.operand(tokens, at, K::IdRef, words);
                    self.operand(tokens, at, K::LiteralInteger, words);
                }
                _ => {
                    self.operand(tokens, at, K::IdRef, words);
                    self.operand(tokens, at, K::IdRef, words);
                }
            },
            Category::Literal => {
                *at += 1;
                self.literal(tokens, at, token, kind, words);
            }
        }
    }

    fn literal(
        &mut self,
        tokens: &[String],
        at: &mut usize,
        token: &str,
        kind: K,
        words: &mut Vec<u32>,
    ) {
        match kind {
            K::LiteralString => {
                let text = token.strip_prefix('"').expect("a string");
                let mut bytes = text.as_bytes().to_vec();
                bytes.push(0);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                words.extend(
                    bytes
                        .as_chunks::<4>()
                        .0
                        .iter()
                        .map(|c| u32::from_le_bytes(*c)),
                );
            }
            K::LiteralContextDependentNumber => {
                let ty = words[1];
                self.number(token, ty, words);
            }
            K::LiteralExtInstInteger => {
                let set = self.sets.get(&words[3]).copied();
                let row = (0..=200)
                    .filter_map(|n| set?.instruction(n))
                    .find(|r| r.name == token);
                words.push(row.map_or_else(
                    || token.parse().unwrap_or_else(|_| panic!("{token}: unknown")),
                    |r| u32::from(r.number),
                ));
                while *at < tokens.len() {
                    self.operand(tokens, at, K::IdRef, words);
                }
            }
            K::LiteralSpecConstantOpInteger => {
                let row = tables::instructions()
                    .iter()
                    .find(|r| r.name.strip_prefix("Op") == Some(token))
                    .unwrap_or_else(|| panic!("{token}: no operation"));
                words.push(u32::from(row.opcode));
                for operand in &row.operands[2..] {
                    self.operands(tokens, at, operand, words);
                }
            }
            _ => words.push(integer(token)),
        }
    }

    fn number(&mut self, token: &str, ty: u32, words: &mut Vec<u32>) {
        let number = self.numbers.get(&ty).copied().unwrap_or(Number::Int(32));
        let bits = match number {
            Number::Float(width) if token.contains(['p', 'P']) => hexadecimal(token, width),
            Number::Float(64) => parse_float(token).to_bits(),
            Number::Float(32) => u64::from((parse_float(token) as f32).to_bits()),
            Number::Float(_) => u64::from(integer(token)),
            Number::Int(_) if token.starts_with("0x") => u64::from(integer(token)),
            Number::Int(_) => match token.parse::<i64>() {
                Ok(value) => value.cast_unsigned(),
                Err(_) => token.parse().expect("a number"),
            },
        };
        words.push(bits as u32);
        if matches!(number, Number::Float(64) | Number::Int(64)) {
            words.push((bits >> 32) as u32);
        }
    }
}

fn parse_float(token: &str) -> f64 {
    token
        .parse()
        .unwrap_or_else(|_| panic!("{token}: no decimal number"))
}

/// The bits of `0x1.8p-3`, written without a loss, as a float of a width.
fn hexadecimal(token: &str, width: u32) -> u64 {
    let (sign, text) = match token.strip_prefix('-') {
        Some(rest) => (1, rest),
        None => (0, token),
    };
    let (digits, exponent) = text.split_once('p').expect("a binary exponent");
    let digits = digits.strip_prefix("0x").expect("hexadecimal digits");
    let (_, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent: i32 = exponent.parse().expect("an exponent");
    let fraction = u64::from_str_radix(&format!("{fraction:0<13}"), 16).expect("a fraction");
    let (exponent_bits, mantissa_bits) = match width {
        16 => (5, 10),
        32 => (8, 23),
        _ => (11, 52),
    };
    let bias = (1 << (exponent_bits - 1)) - 1;
    let mantissa = fraction >> (52 - mantissa_bits);
    let magnitude = if exponent + bias > 0 {
        u64::from((exponent + bias).cast_unsigned()) << mantissa_bits | mantissa
    } else {
        (1 << mantissa_bits | mantissa) >> (1 - exponent - bias)
    };
    sign << (width - 1) | magnitude
}

fn integer(token: &str) -> u32 {
    match token.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).expect("a number"),
        None => token
            .parse()
            .unwrap_or_else(|_| panic!("{token}: no number")),
    }
}
