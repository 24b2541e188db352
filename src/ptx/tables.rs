//! Tables of constants, which are arrays of the module (PTX ISA sections 5.1.3, 5.1.4 and 5.4.4).
//!
//! The first 64 KiB of them lie in constant memory, the others in global memory.

use super::access::{LD_CONST, LD_GLOBAL_NC};
use super::body::Scratch;
use super::memory::Object;
use super::mnemonic::piece;
use super::writer::{Token, Writer};
use crate::kernel::Kernel;

/// The constant memory that a module can declare, in bytes.
const CONST_BYTES_MAX: u32 = 64 * 1024;

/// What the kernels of a module before have taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableCount {
    /// How many tables, for their names.
    tables: u32,
    /// Bytes of constant memory.
    bytes: u32,
}

/// Writes the tables of a kernel, and notes them for its body.
pub(super) fn declare(
    kernel: &Kernel,
    count: &mut TableCount,
    scratch: &mut Scratch,
    w: &mut Writer<'_>,
) {
    scratch.objects.clear();
    for table in kernel.tables() {
        let size = table.elem.bytes();
        let bytes = kernel.table_bytes(table);
        // Kernels have fewer than 2^28 bytes of tables each.
        let needed = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let end = count
            .bytes
            .checked_next_multiple_of(8)
            .and_then(|at| at.checked_add(needed))
            .filter(|&end| end <= CONST_BYTES_MAX);
        let name = Token::numbered("$t", count.tables);
        count.tables = count.tables.saturating_add(1);
        let space = match end {
            Some(end) => {
                count.bytes = end;
                piece!("\n.const .align ")
            }
            None => piece!("\n.global .align "),
        };
        let ty = match size {
            1 => piece!(" .b8 "),
            2 => piece!(" .b16 "),
            4 => piece!(" .b32 "),
            _ => piece!(" .b64 "),
        };
        let line = w.line().piece(space).number(size).piece(ty).token(name);
        line.bytes(b"[").number(table.len).bytes(b"] = {").done();
        for (i, element) in bytes.chunks_exact(size.max(1) as usize).enumerate() {
            let mut bits = 0u64;
            for &byte in element.iter().rev() {
                bits = bits << 8 | u64::from(byte);
            }
            let line = w.line();
            let line = match i {
                0 => line,
                _ if i % 16 == 0 => line.bytes(b",\n"),
                _ => line.bytes(b", "),
            };
            line.token(Token::integer(bits, false)).done();
        }
        w.line().bytes(b"};\n").done();
        let load = if end.is_some() {
            &LD_CONST
        } else {
            &LD_GLOBAL_NC
        };
        scratch.objects.push(Object::new(name, 0, load));
    }
}
