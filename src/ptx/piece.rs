//! Texts in a form of fixed size.
//!
//! What a piece ends in is there twice: the first operand is stored with its separator in front, which falls on the last two
//! bytes of the piece, and those are then stored again.

use super::token::AHEAD;

/// A text of at most 28 bytes, its last two bytes again behind them, then where those are, and its length.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Piece([u8; 32]);

impl Piece {
    /// For constants: refuses what is too long when the constant is evaluated.
    pub const fn new(text: &str) -> Piece {
        let text = text.as_bytes();
        assert!(text.len() < 29);
        let mut bytes = [0; 32];
        let mut i = 0;
        while i < text.len() {
            bytes[i] = text[i];
            i += 1;
        }
        if let [.., before, last] = text {
            bytes[28] = *before;
            bytes[29] = *last;
            bytes[30] = (text.len() - AHEAD) as u8;
        }
        bytes[31] = text.len() as u8;
        Piece(bytes)
    }

    /// The text, and what is behind it.
    #[inline(always)]
    pub const fn whole(&self) -> &[u8; 32] {
        &self.0
    }

    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.0[31] as usize
    }

    /// The last two bytes of a text that has as many.
    #[inline(always)]
    pub const fn end(&self) -> [u8; AHEAD] {
        [self.0[28], self.0[29]]
    }

    /// Where those are.
    #[inline(always)]
    pub const fn end_at(&self) -> usize {
        self.0[30] as usize
    }
}

/// A mnemonic of at most 16 bytes, as [`Piece`], for what many lines begin with.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct ShortPiece {
    pub text: [u8; 16],
    /// Its last two bytes, and where they are.
    pub end: [u8; AHEAD],
    pub end_at: u8,
}

impl ShortPiece {
    pub const EMPTY: ShortPiece = ShortPiece {
        text: [0; 16],
        end: [0; AHEAD],
        end_at: 0,
    };

    /// For constants: refuses what is too long when the constant is evaluated.
    pub const fn of(piece: &Piece) -> ShortPiece {
        let Some((text, _)) = piece.0.split_first_chunk::<16>() else {
            return ShortPiece::EMPTY;
        };
        assert!(piece.len() >= AHEAD && piece.len() <= 16);
        ShortPiece {
            text: *text,
            end: piece.end(),
            end_at: piece.0[30],
        }
    }
}

/// What may stand behind a line's last token.
#[derive(Clone, Copy)]
pub(super) struct Tail {
    pub text: [u8; 4],
    pub len: u8,
}

impl Tail {
    /// Behind an instruction.
    pub const END: Tail = Tail::new(*b";\n\0\0", 2);
    /// Behind an address, or the length of an array.
    pub const CLOSED: Tail = Tail::new(*b"];\n\0", 3);
    /// Behind each parameter but the last.
    pub const LISTED: Tail = Tail::new(*b",\0\0\0", 1);
    /// Behind a label.
    pub const LABEL: Tail = Tail::new(*b":\n\0\0", 2);
    /// Before what an entry does.
    pub const OPENED: Tail = Tail::new(*b"\n{\n\0", 3);
    /// Behind the number of registers.
    pub const COUNTED: Tail = Tail::new(*b">;\n\0", 3);

    const fn new(text: [u8; 4], len: u8) -> Tail {
        Tail { text, len }
    }
}
