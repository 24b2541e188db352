//! Text to kernels: one pass, line by line, driven by the opcode table.

use super::constant;
use super::cursor::{Cursor, shown};
use super::error::{ParseError, ParseErrorKind, Place};
use super::faults::Places;
use super::syntax::{AXES, Flags};
use crate::kernel::{
    BufferDecl, Draft, Inst, Kernel, Mem, Name, Ordering, ParamRef, PrivateDecl, ScalarDecl,
    SharedDecl, SharedLen,
};
use crate::op::{Form, Makes, Op, Operand, Row};
use crate::types::{Access, Order, Scope, Type};
use crate::verify;

/// Every kernel of the text, with the place of its first line.
pub(super) fn kernels(text: &str) -> Result<Vec<(Place, Kernel)>, ParseError> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        draft: Draft::default(),
        places: Places::new(),
    };
    let mut kernels = Vec::new();
    while parser.cursor.next_line() {
        let place = parser.cursor.place();
        kernels.push((place, parser.kernel(place)?));
    }
    Ok(kernels)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    draft: Draft,
    places: Places,
}

#[cold]
fn error(place: Place, kind: ParseErrorKind) -> ParseError {
    ParseError { place, kind }
}

impl<'a> Parser<'a> {
    fn kernel(&mut self, place: Place) -> Result<Kernel, ParseError> {
        self.draft.clear();
        self.places.clear(place);
        self.header()?;
        loop {
            if !self.cursor.next_line() {
                let name = shown(self.draft.name_of(self.draft.name));
                return Err(error(
                    self.cursor.place(),
                    ParseErrorKind::UnclosedKernel(name),
                ));
            }
            self.places.end = self.cursor.place();
            if self.cursor.accept(b'}') {
                break;
            }
            self.line()?;
            self.cursor.end_of_line()?;
        }
        self.cursor.end_of_line()?;
        let draft = core::mem::take(&mut self.draft);
        self.places.note(&draft);
        verify::verify(draft).map_err(|e| self.places.locate(e))
    }

    fn header(&mut self) -> Result<(), ParseError> {
        self.cursor.keyword("kernel", "`kernel`")?;
        self.draft.name = if self.cursor.at_string() {
            self.name()?
        } else {
            let place = self.cursor.next_place();
            let mut ahead = self.cursor.clone();
            let word = ahead.word();
            if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(self.cursor.expected("the kernel's name"));
            }
            self.cursor = ahead;
            self.intern(place, word)?
        };
        self.cursor.keyword("workgroup", "`workgroup`")?;
        for axis in 0..3 {
            let size = self.number("workgroup size (a number below 2^32)")?;
            if let Some(slot) = self.draft.workgroup_size.get_mut(axis) {
                *slot = size;
            }
        }
        self.draft.contract = self.cursor.accept_word("contract");
        self.cursor.sign(b'{', "`{`")?;
        self.cursor.end_of_line()
    }

    /// One declaration or instruction, without the end of its line.
    fn line(&mut self) -> Result<(), ParseError> {
        let place = self.cursor.place();
        let declared = match self.cursor.peek_word() {
            "buffer" => self.buffer(place),
            "scalar" => self.scalar(place),
            "shared" => self.shared(place),
            "private" => self.private(place),
            _ => return self.instruction(place),
        };
        if self.draft.insts.is_empty() {
            declared
        } else {
            Err(error(place, ParseErrorKind::LateDeclaration))
        }
    }

    fn buffer(&mut self, place: Place) -> Result<(), ParseError> {
        let number = self.declared("buf", self.draft.buffers.len())?;
        let name = self.optional_name()?;
        let elem = self.ty()?;
        let access = [Access::Read, Access::Write, Access::ReadWrite]
            .into_iter()
            .find(|a| self.cursor.accept_word(a.name()));
        let Some(access) = access else {
            return Err(self.cursor.expected("`read`, `write` or `read_write`"));
        };
        self.cursor.keyword("set", "`set`")?;
        let set = self.number("descriptor set (a number below 2^32)")?;
        self.cursor.keyword("binding", "`binding`")?;
        let binding = self.number("binding (a number below 2^32)")?;
        let may_alias = self.cursor.accept_word("may_alias");
        self.draft.params.push(ParamRef::Buffer(number));
        self.draft.buffers.push(BufferDecl {
            name,
            elem,
            access,
            may_alias,
            set,
            binding,
        });
        self.places.buffers.push(place);
        Ok(())
    }

    fn scalar(&mut self, place: Place) -> Result<(), ParseError> {
        let number = self.declared("arg", self.draft.scalars.len())?;
        let name = self.optional_name()?;
        let ty = self.ty()?;
        self.draft.params.push(ParamRef::Scalar(number));
        self.draft.scalars.push(ScalarDecl { name, ty });
        self.places.scalars.push(place);
        Ok(())
    }

    fn shared(&mut self, place: Place) -> Result<(), ParseError> {
        self.declared("shared", self.draft.shared.len())?;
        let name = self.optional_name()?;
        let elem = self.ty()?;
        let len = if self.cursor.accept_word("dynamic") {
            SharedLen::Dynamic
        } else {
            self.cursor.keyword("x", "`x` and a length, or `dynamic`")?;
            SharedLen::Static(self.number("length (a number below 2^32)")?)
        };
        let zeroed = self.cursor.accept_word("zeroed");
        self.draft.shared.push(SharedDecl {
            name,
            elem,
            len,
            zeroed,
        });
        self.places.shared.push(place);
        Ok(())
    }

    fn private(&mut self, place: Place) -> Result<(), ParseError> {
        self.declared("private", self.draft.private.len())?;
        let name = self.optional_name()?;
        let elem = self.ty()?;
        self.cursor.keyword("x", "`x` and a length")?;
        let len = self.number("length (a number below 2^32)")?;
        self.draft.private.push(PrivateDecl { name, elem, len });
        self.places.private.push(place);
        Ok(())
    }

    /// The keyword and the id of a declaration, which must have the next number of its kind.
    fn declared(&mut self, prefix: &'static str, next: usize) -> Result<u32, ParseError> {
        // The keyword was seen before.
        self.cursor.word();
        let place = self.cursor.next_place();
        let number = self.id(prefix)?;
        if u32::try_from(next) == Ok(number) && number <= Mem::MAX {
            return Ok(number);
        }
        Err(error(
            place,
            ParseErrorKind::Numbering {
                found: format!("{prefix}{number}"),
                expected: format!("{prefix}{next}"),
            },
        ))
    }

    fn instruction(&mut self, place: Place) -> Result<(), ParseError> {
        let first = self.cursor.peek_word();
        let result = if self.cursor.names_result() {
            Some(self.result()?)
        } else {
            None
        };
        let op_place = self.cursor.next_place();
        let name = self.cursor.peek_word();
        if name.is_empty() {
            let expected = match result {
                Some(_) => "an opcode",
                None => "a declaration, an instruction or `}`",
            };
            return Err(self.cursor.expected(expected));
        }
        let Some(op) = Op::from_name(name) else {
            return Err(error(op_place, ParseErrorKind::Opcode(shown(name))));
        };
        self.cursor.word();
        let row = op.row();
        let is_var = first.starts_with("var");
        let ty = match (row.makes, result) {
            (Makes::Nothing, None) => Type::NONE,
            (Makes::T | Makes::Bool | Makes::U32, Some(ty)) if !is_var => ty,
            (Makes::Var, Some(ty)) if is_var => ty,
            (_, None) => return Err(error(op_place, ParseErrorKind::NoResult(op))),
            (_, Some(_)) => {
                let found = shown(first);
                return Err(error(place, ParseErrorKind::Result { op, found }));
            }
        };
        let mut inst = Inst::new(op, ty);
        let flags = Flags::of(row);
        if flags == Flags::Axis {
            self.cursor.sign(b'.', "`.x`, `.y` or `.z`")?;
            inst.flags = self.axis()?;
        }
        let words = self.operands(row, ty)?;
        match flags {
            Flags::None | Flags::Axis => {}
            Flags::Access => inst.flags = self.access()?,
            Flags::Scope => match self.scope()? {
                Scope::Workgroup => {}
                Scope::Device => inst.flags = Inst::DEVICE,
            },
        }
        self.place_words(&mut inst, row, &words)?;
        self.draft.insts.push(inst);
        self.places.insts.push(place);
        Ok(())
    }

    /// `vN: type =` or `varN: type =`, where N is the index of the instruction.
    fn result(&mut self) -> Result<Type, ParseError> {
        let place = self.cursor.next_place();
        let prefix = match self.cursor.peek_word() {
            word if word.starts_with("var") => "var",
            _ => "v",
        };
        let number = self.id(prefix)?;
        let next = self.draft.insts.len();
        if u32::try_from(next) != Ok(number) {
            return Err(error(
                place,
                ParseErrorKind::Numbering {
                    found: format!("{prefix}{number}"),
                    expected: format!("{prefix}{next}"),
                },
            ));
        }
        self.cursor.sign(b':', "`:`")?;
        let ty = self.ty()?;
        self.cursor.sign(b'=', "`=`")?;
        Ok(ty)
    }

    /// The operand words in the order of the row.
    fn operands(&mut self, row: &Row, ty: Type) -> Result<[u32; 6], ParseError> {
        // No row has more: a test of the table checks it.
        let mut words = [0; 6];
        let place_of = |wanted| row.operands.iter().position(|&o| o == wanted);
        let mut set = |at: Option<usize>, word: u32| {
            if let Some(slot) = at.and_then(|at| words.get_mut(at)) {
                *slot = word;
            }
        };
        let mut first = true;
        for (at, operand) in row.operands.iter().enumerate() {
            match operand {
                Operand::Index | Operand::Offset => continue,
                Operand::Ordering => {
                    set(Some(at), self.ordering()?.word());
                    continue;
                }
                Operand::T
                | Operand::Any
                | Operand::Bool
                | Operand::U32
                | Operand::Mem
                | Operand::Buffer
                | Operand::Var
                | Operand::Param
                | Operand::Bits => {}
            }
            if !core::mem::take(&mut first) {
                self.cursor.sign(b',', "`,`")?;
            }
            match operand {
                Operand::T | Operand::Any | Operand::Bool | Operand::U32 => {
                    set(Some(at), self.id("v")?);
                }
                Operand::Var => set(Some(at), self.id("var")?),
                Operand::Param => set(Some(at), self.id("arg")?),
                Operand::Mem | Operand::Buffer => {
                    set(Some(at), self.mem()?.word());
                    let index = place_of(Operand::Index);
                    if index.is_some() {
                        self.cursor.sign(b'[', "`[`")?;
                        set(index, self.id("v")?);
                        if self.cursor.accept(b'+') {
                            let offset = self.number("offset (a number below 2^32)")?;
                            set(place_of(Operand::Offset), offset);
                        }
                        self.cursor.sign(b']', "`+` or `]`")?;
                    }
                }
                Operand::Bits => {
                    let bits = self.constant(ty)?;
                    // The low and the high half.
                    set(Some(at), bits as u32);
                    set(Some(at + 1), (bits >> 32) as u32);
                }
                Operand::Index | Operand::Offset | Operand::Ordering => {}
            }
        }
        Ok(words)
    }

    /// Puts the operand words where the row's form keeps them.
    fn place_words(
        &mut self,
        inst: &mut Inst,
        row: &Row,
        words: &[u32; 6],
    ) -> Result<(), ParseError> {
        let used = words.get(..row.words()).unwrap_or(words);
        let in_line = match row.form {
            Form::Inline => true,
            Form::Side => false,
            Form::Store if used.last() == Some(&0) => true,
            Form::Store => {
                inst.flags |= Inst::OFFSET;
                false
            }
        };
        let [a, b, c, ..] = *words;
        (inst.a, inst.b, inst.c) = (a, b, c);
        if !in_line {
            let start = u32::try_from(self.draft.side.len());
            inst.c = start
                .map_err(|_| error(self.cursor.place(), ParseErrorKind::TooMany("side words")))?;
            self.draft.side.extend(used.iter().skip(2));
        }
        Ok(())
    }

    fn constant(&mut self, ty: Type) -> Result<u64, ParseError> {
        let place = self.cursor.next_place();
        let mut ahead = self.cursor.clone();
        let literal = ahead.literal();
        if literal.is_empty() {
            return Err(self.cursor.expected("a constant"));
        }
        self.cursor = ahead;
        let scalar = ty.scalar().filter(|_| ty.lanes() == 1);
        match scalar.and_then(|s| constant::parse(literal, s)) {
            Some(constant) => Ok(constant.bits()),
            None => {
                let found = shown(literal);
                Err(error(place, ParseErrorKind::Constant { found, ty }))
            }
        }
    }

    fn axis(&mut self) -> Result<u8, ParseError> {
        for (axis, name) in (0u8..).zip(AXES) {
            if self.cursor.accept_word(name) {
                return Ok(axis);
            }
        }
        Err(self.cursor.expected("`x`, `y` or `z`"))
    }

    fn access(&mut self) -> Result<u8, ParseError> {
        let mut flags = 0;
        loop {
            let place = self.cursor.next_place();
            let (word, flag) = if self.cursor.accept_word("volatile") {
                ("volatile", Inst::VOLATILE)
            } else if self.cursor.accept_word("coherent") {
                ("coherent", Inst::COHERENT)
            } else {
                return Ok(flags);
            };
            if flags & flag != 0 {
                return Err(error(place, ParseErrorKind::Twice(word)));
            }
            flags |= flag;
        }
    }

    fn scope(&mut self) -> Result<Scope, ParseError> {
        [Scope::Workgroup, Scope::Device]
            .into_iter()
            .find(|s| self.cursor.accept_word(s.name()))
            .ok_or_else(|| self.cursor.expected("`workgroup` or `device`"))
    }

    /// An order and its scope; without them the default.
    fn ordering(&mut self) -> Result<Ordering, ParseError> {
        let order = [
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
        ]
        .into_iter()
        .find(|o| self.cursor.accept_word(o.name()));
        match order {
            None => Ok(Ordering::RELAXED),
            Some(order) => Ok(Ordering {
                order,
                scope: self.scope()?,
            }),
        }
    }

    fn mem(&mut self) -> Result<Mem, ParseError> {
        let word = self.cursor.peek_word();
        let (prefix, make): (_, fn(u32) -> Mem) = if word.starts_with("buf") {
            ("buf", Mem::Buffer)
        } else if word.starts_with("shared") {
            ("shared", Mem::Shared)
        } else if word.starts_with("private") {
            ("private", Mem::Private)
        } else {
            return Err(self.cursor.expected("a buffer, shared or private array"));
        };
        let place = self.cursor.next_place();
        let number = self.id(prefix)?;
        if number > Mem::MAX {
            let found = format!("{prefix}{number}");
            let what = "id with a number below 2^28";
            return Err(error(place, ParseErrorKind::Number { found, what }));
        }
        Ok(make(number))
    }

    /// The id that comes next, which must begin with `prefix`: its number.
    fn id(&mut self, prefix: &'static str) -> Result<u32, ParseError> {
        let place = self.cursor.next_place();
        let word = self.cursor.peek_word();
        let digits = word
            .strip_prefix(prefix)
            .filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        let Some(digits) = digits else {
            return Err(self.cursor.expected(match prefix {
                "v" => "a value such as `v0`",
                "var" => "a variable such as `var0`",
                "arg" => "a scalar parameter such as `arg0`",
                "buf" => "a buffer such as `buf0`",
                "shared" => "a shared array such as `shared0`",
                _ => "a private array such as `private0`",
            }));
        };
        self.cursor.word();
        digits.parse().map_err(|_| {
            let found = shown(word);
            let what = "id with a number below 2^32";
            error(place, ParseErrorKind::Number { found, what })
        })
    }

    fn number(&mut self, what: &'static str) -> Result<u32, ParseError> {
        let place = self.cursor.next_place();
        let word = self.cursor.peek_word();
        if word.is_empty() {
            return Err(self.cursor.expected(what));
        }
        self.cursor.word();
        let all_digits = word.bytes().all(|b| b.is_ascii_digit());
        match word.parse() {
            Ok(number) if all_digits => Ok(number),
            _ => {
                let found = shown(word);
                Err(error(place, ParseErrorKind::Number { found, what }))
            }
        }
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        let place = self.cursor.next_place();
        let word = self.cursor.peek_word();
        if word.is_empty() {
            return Err(self.cursor.expected("a type"));
        }
        self.cursor.word();
        Type::parse(word).ok_or_else(|| error(place, ParseErrorKind::Type(shown(word))))
    }

    fn optional_name(&mut self) -> Result<Name, ParseError> {
        if self.cursor.at_string() {
            return self.name();
        }
        let place = self.cursor.next_place();
        self.intern(place, "")
    }

    fn name(&mut self) -> Result<Name, ParseError> {
        let place = self.cursor.next_place();
        let start = self.draft.names.len();
        self.cursor.string(&mut self.draft.names)?;
        let name = u32::try_from(start).ok().and_then(|start| {
            let end = u32::try_from(self.draft.names.len()).ok()?;
            let len = end.checked_sub(start)?;
            Some(Name { start, len })
        });
        name.ok_or_else(|| error(place, ParseErrorKind::TooMany("bytes of names")))
    }

    fn intern(&mut self, place: Place, name: &str) -> Result<Name, ParseError> {
        self.draft
            .intern(name)
            .ok_or_else(|| error(place, ParseErrorKind::TooMany("bytes of names")))
    }
}
