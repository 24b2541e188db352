//! The opcode reference, `docs/opcodes.md`, from the table and from what the emitters write.
//!
//! For each opcode and type a kernel of that one operation is emitted twice, without and with the operation; the lines
//! between are its form.

use crate::filetest::readable;
use kernite::kernel::Kernel;
use kernite::op::{Effect, Makes, Op, Operand, Row, Support};
use kernite::types::{Scalar, Type, TypeSet};
use kernite::{ptx, spirv};
use std::fmt::Write;

const HEAD: &str = "\
<!-- Made from the opcode table by `BLESS=1 cargo test -p kernite-suite --test opcodes`; do not edit. -->

# Opcodes

One section an opcode, by family. *T* is the type that the instruction operates on; the operands are called a, b, c, …
in the order of the text form, in which the first line of each section is written. Flags stand behind the opcode or at
the end of the line, as [the text form](../src/text/mod.rs) says.

The tables say what each target writes: one instruction of its own, or, marked *expanded*, a sequence. Forms are those of
the emitters' default options, with operands from buffers; a form that changes with the target names the first that has
the other. Of long sequences only the number of instructions is given; *no instruction* means that what uses the value
writes it, or that it is there already. *Needs* are SPIR-V capabilities beyond `Shader`
and those of the float controls.
";

/// The families: their names, and the number of the first opcode of each.
const FAMILIES: [(u16, &str); 12] = [
    (1, "Values"),
    (20, "Arithmetic"),
    (50, "Bits"),
    (70, "Comparison and selection"),
    (80, "Conversion"),
    (90, "Float functions"),
    (120, "Vectors"),
    (130, "Memory"),
    (140, "Atomics"),
    (170, "Synchronisation"),
    (180, "Subgroups"),
    (210, "Control flow"),
];

/// The name of an opcode's family.
pub fn family(op: Op) -> &'static str {
    let begun = FAMILIES.iter().take_while(|(first, _)| op as u16 >= *first);
    begun.last().map_or("", |(_, name)| name)
}

/// Instructions of a form that are written out.
const LONGEST: usize = 6;

/// The whole page.
pub fn page() -> String {
    let mut out = String::from(HEAD);
    let mut families = FAMILIES.iter().peekable();
    let forms = Forms::new();
    for op in Op::ALL {
        let mut family = None;
        while let Some((_, name)) = families.next_if(|(first, _)| op as u16 >= *first) {
            family = Some(name);
        }
        if let Some(family) = family {
            let _ = write!(out, "\n## {family}\n");
        }
        section(&mut out, op.row(), &forms);
    }
    out
}

fn section(out: &mut String, row: &Row, forms: &Forms) {
    let _ = write!(
        out,
        "\n### `{}`\n\n`{}`\n\n{}",
        row.name,
        syntax(row),
        row.meaning
    );
    for line in [row.edges.trim(), operands(row).trim(), effect(row.effect)] {
        if !line.is_empty() {
            let _ = write!(out, " {line}");
        }
    }
    out.push('\n');
    if matches!(row.effect, Effect::Block | Effect::Terminator) {
        return;
    }
    let mut types: Vec<Type> = row.types.iter().collect();
    if types.is_empty() {
        types.push(Type::NONE);
    }
    // Types of one form share a line.
    let mut lines: Vec<(String, [String; 3])> = Vec::new();
    let approximations: Vec<Type> = match Flags::of(row) {
        Flags::Fast => row.types.and(TypeSet::FLOATS).iter().collect(),
        _ => Vec::new(),
    };
    let exact = types.into_iter().map(|ty| (ty, false));
    let all = exact.chain(approximations.into_iter().map(|ty| (ty, true)));
    for (ty, fast) in all {
        let cells = forms.cells(row, ty, fast);
        let shown = match ty {
            Type::NONE => "—".into(),
            ty if fast => format!("`{ty}` fast"),
            ty => format!("`{ty}`"),
        };
        match lines.iter_mut().find(|(_, known)| *known == cells) {
            Some((types, _)) => {
                let _ = write!(types, " {shown}");
            }
            None => lines.push((shown, cells)),
        }
    }
    out.push_str("\n| T | PTX | SPIR-V | needs |\n|---|---|---|---|\n");
    for (types, [ptx, spirv, needs]) in lines {
        let _ = writeln!(out, "| {types} | {ptx} | {spirv} | {needs} |");
    }
}

/// The line of the text form.
fn syntax(row: &Row) -> String {
    let mut out = match row.makes {
        Makes::Nothing => String::new(),
        Makes::T => "vN: T = ".into(),
        Makes::Var => "varN: T = ".into(),
        made => format!("vN: {} = ", made.of(Type::NONE)),
    };
    out += row.name;
    out += match Flags::of(row) {
        Flags::None | Flags::Access | Flags::Scope => "",
        Flags::Axis => ".x|y|z",
        Flags::Lane => ".x|y|z|w",
        Flags::Half => ".low|high",
        Flags::Fast => "[.fast]",
        Flags::Scan => "[.inclusive|exclusive][.native]",
    };
    let letter = |at: usize| (b'a' + at as u8) as char;
    let place = |wanted| row.operands.iter().position(|&o| o == wanted);
    let mut separator = " ";
    for (at, operand) in row.operands.iter().enumerate() {
        match operand {
            Operand::Index | Operand::Offset => continue,
            Operand::Ordering => out += " order scope",
            Operand::Mem => {
                let _ = write!(out, "{separator}{}", letter(at));
                if let Some(index) = place(Operand::Index) {
                    let offset = place(Operand::Offset).map(|at| format!(" + {}", letter(at)));
                    let _ = write!(out, "[{}{}]", letter(index), offset.unwrap_or_default());
                }
            }
            _ => {
                let _ = write!(out, "{separator}{}", letter(at));
            }
        }
        separator = ", ";
    }
    out += match Flags::of(row) {
        Flags::Access => " [volatile] [coherent]",
        Flags::Scope => " workgroup|device",
        _ => "",
    };
    out
}

/// What the flags of an opcode are written as.
enum Flags {
    None,
    Axis,
    Lane,
    Half,
    Fast,
    Scan,
    Access,
    Scope,
}

impl Flags {
    fn of(row: &Row) -> Flags {
        match (row.effect, row.operands) {
            _ if row.flags == 0 => Flags::None,
            (Effect::Fence, _) => Flags::Scope,
            (Effect::Collective, _) => Flags::Scan,
            (_, []) => Flags::Axis,
            (_, [Operand::Mem, ..]) => Flags::Access,
            (_, [Operand::Vector]) => Flags::Lane,
            (_, [Operand::U32]) => Flags::Half,
            _ => Flags::Fast,
        }
    }

    /// What is behind the opcode, and at the end of its line, where a flag must be named.
    fn least(row: &Row, fast: bool) -> (&'static str, &'static str) {
        match Flags::of(row) {
            Flags::Fast if fast => (".fast", ""),
            Flags::None | Flags::Fast | Flags::Scan | Flags::Access => ("", ""),
            Flags::Axis | Flags::Lane => (".x", ""),
            Flags::Half => (".low", ""),
            Flags::Scope => ("", " workgroup"),
        }
    }
}

/// What the operands are.
fn operands(row: &Row) -> String {
    let mut kinds: Vec<(&str, String)> = Vec::new();
    for (at, &operand) in row.operands.iter().enumerate() {
        let kind = match operand {
            Operand::T => "T",
            Operand::Any => "any scalar",
            Operand::Bool => "bool",
            Operand::U32 => "u32",
            Operand::Elem => "T's scalar",
            Operand::Vector => "a vector of T",
            Operand::Mem => "a buffer or an array",
            Operand::Buffer => "a buffer",
            Operand::Index => "u32 or u64",
            Operand::Offset => "a constant",
            Operand::Var => "a variable",
            Operand::Param => "a scalar parameter",
            Operand::Bits => "a constant",
            // Written as words at the end of the line.
            Operand::Ordering => continue,
            other => panic!("the page does not describe {other:?}"),
        };
        let letter = ((b'a' + at as u8) as char).to_string();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, letters)) => *letters += &format!(", {letter}"),
            None => kinds.push((kind, letter)),
        }
    }
    let shown: Vec<String> = kinds
        .iter()
        .map(|(kind, letters)| format!("{letters}: {kind}"))
        .collect();
    match shown.is_empty() {
        true => String::new(),
        false => format!("({})", shown.join("; ")),
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Reads => "*Reads.*",
        Effect::Writes => "*Writes.*",
        Effect::ReadsWrites => "*Reads and writes.*",
        Effect::Barrier => "*Barrier.*",
        Effect::Fence => "*Fence.*",
        Effect::Collective => "*Collective: all lanes of the subgroup take part.*",
        _ => "",
    }
}

/// Emits forms.
struct Forms {
    targets: Vec<ptx::Target>,
}

impl Forms {
    fn new() -> Forms {
        let names = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100"];
        Forms {
            targets: names
                .iter()
                .filter_map(|n| ptx::Target::parse(n).ok())
                .collect(),
        }
    }

    /// What PTX and SPIR-V write for an opcode on a type, and the capabilities.
    fn cells(&self, row: &Row, ty: Type, fast: bool) -> [String; 3] {
        let Some([without, with]) = sample(row, ty, fast) else {
            panic!("{} on {ty}: no kernel could be made", row.name);
        };
        let (spirv, needs) = spirv_form(&without, &with);
        [
            cell(row.ptx, ty, self.ptx_form(&without, &with)),
            cell(row.spirv, ty, spirv),
            needs,
        ]
    }

    fn ptx_form(&self, without: &Kernel, with: &Kernel) -> Result<String, String> {
        let body = |kernel, target| {
            let text = ptx::emit(kernel, &ptx::Options::new(target)).map_err(|e| e.to_string())?;
            let lines = text.lines().map(str::trim).skip_while(|l| *l != "{");
            let code = lines.filter(|l| !l.starts_with(['.', '{', '}', '$']));
            Ok::<_, String>(code.map(String::from).collect::<Vec<_>>())
        };
        let mut out = String::new();
        let mut last = None;
        let mut refusal = None;
        for &target in &self.targets {
            let lines = match (body(without, target), body(with, target)) {
                (Ok(without), Ok(with)) => added(&without, &with),
                (_, Err(e)) | (Err(e), _) => {
                    refusal = Some(e);
                    continue;
                }
            };
            let form = written(lines.iter().map(|line| {
                let words = line.split_whitespace();
                let mut words = words.skip_while(|w| w.starts_with('@'));
                words.next().unwrap_or("").trim_end_matches(';').to_owned()
            }));
            if last.as_ref() == Some(&form) {
                continue;
            }
            if !out.is_empty() || refusal.is_some() {
                let separator = if out.is_empty() { "" } else { "; " };
                let _ = write!(out, "{separator}from {target} ");
            }
            out += &form;
            last = Some(form);
        }
        match refusal {
            Some(e) if out.is_empty() => Err(e),
            _ => Ok(out),
        }
    }
}

fn spirv_form(without: &Kernel, with: &Kernel) -> (Result<String, String>, String) {
    let module = |kernel| {
        let words = spirv::emit(kernel, &spirv::Options::default()).map_err(|e| e.to_string())?;
        kernite_testkit::rspirv::disassemble(&words).map_err(|e| e.to_string())
    };
    let (without, with) = match (module(without), module(with)) {
        (Ok(without), Ok(with)) => (without, with),
        (_, Err(e)) | (Err(e), _) => return (Err(e), String::new()),
    };
    let needs: Vec<String> = with
        .lines()
        .filter_map(|line| line.strip_prefix("OpCapability "))
        .filter(|c| {
            !matches!(
                *c,
                "Shader" | "SignedZeroInfNanPreserve" | "RoundingModeRTE" | "DenormPreserve"
            )
        })
        .map(|c| format!("`{c}`"))
        .collect();
    let lines = added(&readable(&without), &readable(&with));
    let names = lines.iter().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = match words.as_slice() {
            [_, "=", words @ ..] | words => words,
        };
        match words {
            // The set's own instruction says more.
            ["OpExtInst", _, _, name, ..] => format!("OpExtInst {name}"),
            [op, ..] => (*op).to_owned(),
            [] => String::new(),
        }
    });
    (Ok(written(names)), needs.join(" "))
}

fn cell(support: Support, ty: Type, form: Result<String, String>) -> String {
    let marked = |mark: &str| match &form {
        Ok(form) => format!("{mark}{form}"),
        // The emitter is behind the table.
        Err(_) => format!("{mark}(not emitted)"),
    };
    if support.native.contains(ty) || ty.is_none() {
        marked("")
    } else if support.expanded.contains(ty) {
        marked("*expanded* ")
    } else {
        "Unsupported".into()
    }
}

/// The lines that stand in `with` between the beginning and the end that it shares with `without`.
fn added(without: &[String], with: &[String]) -> Vec<String> {
    let pairs = |a: &[String], b: &[String]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let begin = pairs(without, with);
    let (without, with) = (&without[begin..], &with[begin..]);
    let end = without
        .iter()
        .rev()
        .zip(with.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    with[..with.len() - end].to_vec()
}

fn written(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    match names.len() {
        0 => "no instruction".into(),
        n if n > LONGEST => format!("{n} instructions"),
        _ => {
            let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            quoted.join(" ")
        }
    }
}

/// A kernel that loads what the opcode needs, and one that carries it out besides.
fn sample(row: &Row, ty: Type, fast: bool) -> Option<[Kernel; 2]> {
    let mut text = Sample::default();
    let index = text.value("u32", "const 0");
    let mem = match row.operands.contains(&Operand::Mem) {
        true => Some(text.used(ty, index)),
        false => None,
    };
    let mut words = Vec::new();
    for operand in row.operands {
        words.push(match operand {
            Operand::T => text.load(ty, index),
            Operand::Any => text.load(other(row.op, ty), index),
            Operand::Bool => text.load(Type::BOOL, index),
            Operand::U32 => text.load(Type::U32, index),
            Operand::Elem => text.load(Type::of(ty.scalar()?), index),
            Operand::Vector => text.load(Type::vector(ty.scalar()?, 4)?, index),
            Operand::Mem => format!("buf{}[v{index}]", mem?),
            Operand::Buffer => format!("buf{}", text.used(Type::F32, index)),
            Operand::Var => {
                let from = text.load(ty, index);
                let at = text.made;
                text.line(format!("var{at}: {ty} = var {from}"));
                format!("var{at}")
            }
            Operand::Param => {
                text.declarations += &format!("scalar arg0 {ty}\n");
                "arg0".into()
            }
            Operand::Bits if ty == Type::BOOL => "true".into(),
            Operand::Bits => "1".into(),
            Operand::Index | Operand::Offset | Operand::Ordering => continue,
            other => panic!("no kernel is made with {other:?}"),
        });
    }
    let without = text.kernel()?;
    let made = text.made;
    let result = match row.makes {
        Makes::Nothing => String::new(),
        Makes::Var => format!("var{made}: {ty} = "),
        makes => format!("v{made}: {} = ", makes.of(ty)),
    };
    let (behind, end) = Flags::least(row, fast);
    text.line(format!(
        "{result}{}{behind} {}{end}",
        row.name,
        words.join(", ")
    ));
    Some([without, text.kernel()?])
}

/// What `convert` and `bitcast` are shown from.
fn other(op: Op, ty: Type) -> Type {
    let scalar = ty.scalar().unwrap_or(Scalar::U32);
    match (op, scalar.bits()) {
        (Op::Bitcast, 8) => Type::I8,
        (Op::Bitcast, 16) => Type::I16,
        (Op::Bitcast, 64) if ty == Type::F64 => Type::I64,
        (Op::Bitcast, 64) => Type::F64,
        (_, _) if ty == Type::F32 => Type::I32,
        (_, _) => Type::F32,
    }
}

/// The text of a kernel in the making.
#[derive(Default)]
struct Sample {
    declarations: String,
    body: String,
    buffers: u32,
    made: u32,
}

impl Sample {
    fn line(&mut self, line: String) {
        self.body += &line;
        self.body.push('\n');
        self.made += 1;
    }

    fn value(&mut self, ty: &str, made_by: &str) -> u32 {
        let at = self.made;
        self.line(format!("v{at}: {ty} = {made_by}"));
        at
    }

    fn buffer(&mut self, elem: Type) -> u32 {
        let n = self.buffers;
        self.declarations += &format!("buffer buf{n} {elem} read_write set 0 binding {n}\n");
        self.buffers += 1;
        n
    }

    /// A buffer that is already loaded from, so that its address is there.
    fn used(&mut self, elem: Type, index: u32) -> u32 {
        let n = self.buffer(elem);
        self.value(&elem.to_string(), &format!("load buf{n}[v{index}]"));
        n
    }

    /// A value of the type from a buffer.
    fn load(&mut self, ty: Type, index: u32) -> String {
        if ty == Type::BOOL {
            let word = self.load(Type::U32, index);
            return format!("v{}", self.value("bool", &format!("convert {word}")));
        }
        let n = self.buffer(ty);
        format!(
            "v{}",
            self.value(&ty.to_string(), &format!("load buf{n}[v{index}]"))
        )
    }

    fn kernel(&self) -> Option<Kernel> {
        let text = format!(
            "kernel sample workgroup 32 1 1 {{\n{}{}}}",
            self.declarations, self.body
        );
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_what_the_emitters_write() {
        let forms = Forms::new();
        let [ptx, spirv, needs] = forms.cells(Op::Add.row(), Type::F32, false);
        assert_eq!((&*ptx, &*spirv, &*needs), ("`add.rn.f32`", "`OpFAdd`", ""));
        let [ptx, ..] = forms.cells(Op::MinNan.row(), Type::F32, false);
        assert!(ptx.ends_with("from sm_80 `min.NaN.f32`"), "{ptx}");
        let [_, _, needs] = forms.cells(Op::Add.row(), Type::U64, false);
        assert_eq!(needs, "`Int64`");
        assert_eq!(
            syntax(Op::Store.row()),
            "store a[b + d], c [volatile] [coherent]"
        );
        assert_eq!(
            syntax(Op::AtomicCompareExchange.row()),
            "vN: T = atomic_compare_exchange a[b + e], c, d order scope"
        );
    }

    #[test]
    fn every_family_begins_with_an_opcode_of_the_table() {
        for (first, family) in FAMILIES {
            let op = Op::from_number(first);
            assert!(op.is_some() || first == 120 || first == 180, "{family}");
        }
    }
}
