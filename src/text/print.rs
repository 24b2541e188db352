//! Kernels as text.

use super::constant;
use super::syntax::{AXES, Flags, is_word};
use crate::kernel::{Inst, Kernel, Mem, Module, Name, Ordering, ParamRef, SharedLen};
use crate::op::{Makes, Op, Operand};
use crate::types::Scope;
use core::fmt::{self, Write};

/// Blocks nested deeper are indented no further, so that a text stays linear in the size of its kernel.
const MAX_INDENT: usize = 32;

/// Prints the text form, which [`super::parse`] reads back to the same bytes.
///
/// ```
/// use kernite::builder::KernelBuilder;
/// use kernite::kernel::Kernel;
/// let mut b = KernelBuilder::new("nan", [1, 1, 1]);
/// b.constant(f32::from_bits(0x7F80_0001));
/// let kernel = b.finish()?;
/// assert_eq!(
///     kernel.to_string(),
///     "kernel nan workgroup 1 1 1 {\n  v0: f32 = const 0x7F800001\n}\n"
/// );
/// assert_eq!(kernel.to_string().parse::<Kernel>()?.to_bytes(), kernel.to_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("kernel ")?;
        if is_word(self.name()) {
            f.write_str(self.name())?;
        } else {
            quoted(f, self.name())?;
        }
        let [x, y, z] = self.workgroup_size();
        write!(f, " workgroup {x} {y} {z}")?;
        if self.contract() {
            f.write_str(" contract")?;
        }
        f.write_str(" {\n")?;
        declarations(f, self)?;
        let mut depth = 1usize;
        for (at, inst) in self.insts().iter().enumerate() {
            let closes = matches!(inst.op, Op::Else | Op::Continuing | Op::End);
            let opens = matches!(inst.op, Op::If | Op::Else | Op::Loop | Op::Continuing);
            depth = depth.saturating_sub(usize::from(closes));
            let indent = 2 * depth.min(MAX_INDENT);
            write!(f, "{:indent$}", "")?;
            instruction(f, self, at, inst)?;
            f.write_char('\n')?;
            depth += usize::from(opens);
        }
        f.write_str("}\n")
    }
}

/// Prints the kernels one after the other, with an empty line between them.
impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, kernel) in self.kernels().iter().enumerate() {
            if i > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{kernel}")?;
        }
        Ok(())
    }
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '\'' => f.write_char(c)?,
            _ => write!(f, "{}", c.escape_debug())?,
        }
    }
    f.write_char('"')
}

fn declarations(f: &mut fmt::Formatter<'_>, kernel: &Kernel) -> fmt::Result {
    let name = |f: &mut fmt::Formatter<'_>, name: Name| match kernel.name_of(name) {
        "" => Ok(()),
        text => {
            f.write_char(' ')?;
            quoted(f, text)
        }
    };
    for &param in kernel.params() {
        match param {
            ParamRef::Buffer(n) => {
                // The verifier and the decoder have seen that the parameter exists; so below.
                let Some(d) = kernel.buffers().get(n as usize) else {
                    continue;
                };
                write!(f, "  buffer {param}")?;
                name(f, d.name)?;
                write!(
                    f,
                    " {} {} set {} binding {}",
                    d.elem, d.access, d.set, d.binding
                )?;
                if d.may_alias {
                    f.write_str(" may_alias")?;
                }
            }
            ParamRef::Scalar(n) => {
                let Some(d) = kernel.scalars().get(n as usize) else {
                    continue;
                };
                write!(f, "  scalar {param}")?;
                name(f, d.name)?;
                write!(f, " {}", d.ty)?;
            }
        }
        f.write_char('\n')?;
    }
    for (i, d) in kernel.shared().iter().enumerate() {
        write!(f, "  shared shared{i}")?;
        name(f, d.name)?;
        match d.len {
            SharedLen::Static(len) => write!(f, " {} x {len}", d.elem)?,
            SharedLen::Dynamic => write!(f, " {} dynamic", d.elem)?,
        }
        f.write_str(if d.zeroed { " zeroed\n" } else { "\n" })?;
    }
    for (i, d) in kernel.private().iter().enumerate() {
        write!(f, "  private private{i}")?;
        name(f, d.name)?;
        writeln!(f, " {} x {}", d.elem, d.len)?;
    }
    Ok(())
}

fn instruction(f: &mut fmt::Formatter<'_>, kernel: &Kernel, at: usize, inst: &Inst) -> fmt::Result {
    let row = inst.op.row();
    match row.makes {
        Makes::Nothing => {}
        Makes::T | Makes::Bool | Makes::U32 => write!(f, "v{at}: {} = ", inst.ty)?,
        Makes::Var => write!(f, "var{at}: {} = ", inst.ty)?,
    }
    f.write_str(row.name)?;
    let flags = Flags::of(row);
    if flags == Flags::Axis {
        let axis = AXES.get(usize::from(inst.flags)).copied().unwrap_or("");
        write!(f, ".{axis}")?;
    }
    operands(f, kernel, inst, row.operands)?;
    match flags {
        Flags::None | Flags::Axis => Ok(()),
        Flags::Access => {
            if inst.flags & Inst::VOLATILE != 0 {
                f.write_str(" volatile")?;
            }
            if inst.flags & Inst::COHERENT != 0 {
                f.write_str(" coherent")?;
            }
            Ok(())
        }
        Flags::Scope => {
            let scope = match inst.flags & Inst::DEVICE {
                0 => Scope::Workgroup,
                _ => Scope::Device,
            };
            write!(f, " {}", scope.name())
        }
    }
}

fn operands(
    f: &mut fmt::Formatter<'_>,
    kernel: &Kernel,
    inst: &Inst,
    operands: &[Operand],
) -> fmt::Result {
    let words = kernel.words(inst);
    // An index and an offset are printed with their memory object.
    let find = |wanted| {
        let place = operands.iter().position(|&o| o == wanted)?;
        words.get(place).copied()
    };
    let mut separator = " ";
    for (operand, &word) in operands.iter().zip(words.iter()) {
        match operand {
            Operand::T | Operand::Any | Operand::Bool | Operand::U32 => {
                write!(f, "{separator}v{word}")?;
            }
            Operand::Var => write!(f, "{separator}var{word}")?,
            Operand::Param => write!(f, "{separator}{}", ParamRef::Scalar(word))?,
            Operand::Mem | Operand::Buffer => {
                f.write_str(separator)?;
                if let Some(mem) = Mem::from_word(word) {
                    write!(f, "{mem}")?;
                }
                if let Some(index) = find(Operand::Index) {
                    write!(f, "[v{index}")?;
                    match find(Operand::Offset) {
                        Some(0) | None => {}
                        Some(offset) => write!(f, " + {offset}")?,
                    }
                    f.write_char(']')?;
                }
            }
            Operand::Bits => {
                f.write_str(separator)?;
                if let Some(scalar) = inst.ty.scalar() {
                    constant::print(f, scalar, inst.const_bits())?;
                }
            }
            Operand::Index | Operand::Offset => continue,
            Operand::Ordering => match Ordering::from_word(word) {
                Some(Ordering::RELAXED) | None => {}
                Some(ordering) => write!(f, " {ordering}")?,
            },
        }
        separator = ", ";
    }
    Ok(())
}
