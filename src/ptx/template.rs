//! Lines with holes for numbers.
//!
//! What is written once a kernel or once a parameter is the same text but for a few numbers, which have one digit in most
//! kernels: it is stored whole, and the digits into it.

use super::writer::{LINE, Line, SLACK, Token};

/// The longest text of a template.
const LEN: usize = 64;

/// The most holes of a template.
const HOLES: usize = 4;

/// A text of at most 64 bytes with up to four holes: a byte `\0`, `\x01`, … stands for the number of that place.
pub(super) struct Template {
    text: [u8; LEN],
    len: usize,
    /// Where the holes are, in order; the last one again where there are fewer.
    holes: [usize; HOLES],
    /// Which number each takes.
    takes: [usize; HOLES],
}

impl Template {
    /// For constants: refuses what does not fit when the constant is evaluated.
    pub const fn new(text: &str) -> Template {
        let text = text.as_bytes();
        assert!(text.len() <= LEN);
        let mut template = Template {
            text: [0; LEN],
            len: text.len(),
            holes: [0; HOLES],
            takes: [0; HOLES],
        };
        let (mut at, mut hole) = (0, 0);
        while at < text.len() {
            if text[at] < 8 {
                let mut same = hole;
                while same < HOLES {
                    template.holes[same] = at;
                    template.takes[same] = text[at] as usize;
                    same += 1;
                }
                hole += 1;
            }
            template.text[at] = text[at];
            at += 1;
        }
        assert!(hole > 0 && hole <= HOLES);
        template
    }
}

/// A constant [`Template`].
macro_rules! template {
    ($text:expr) => {
        const { &$crate::ptx::template::Template::new($text) }
    };
}
pub(super) use template;

impl<'w> Line<'w> {
    /// A template with its numbers.
    #[inline(always)]
    pub fn fill<const NUMBERS: usize>(
        mut self,
        template: &Template,
        numbers: [u32; NUMBERS],
    ) -> Line<'w> {
        if numbers.iter().any(|&number| number > 9) {
            // The line itself is not handed to the call, so that it can stay in registers.
            self.at = fill_long(self.room, self.at, template, &numbers);
            return self;
        }
        let at = self.at & (LINE - 1);
        let room = self.room.get_mut(at..at + LEN);
        if let Some(room) = room.and_then(|room| room.first_chunk_mut::<LEN>()) {
            *room = template.text;
            for (&hole, &takes) in template.holes.iter().zip(&template.takes) {
                // A constant finds that both are in range, and that the number is below ten.
                room[hole % LEN] = b'0' + numbers[takes % NUMBERS] as u8;
            }
        }
        self.at += template.len;
        self
    }
}

/// As [`Line::fill`], of numbers of any length; gives the line's new end.
#[inline(never)]
fn fill_long(
    room: &mut [u8; LINE + SLACK],
    mut at: usize,
    template: &Template,
    numbers: &[u32],
) -> usize {
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(room) = room.get_mut(at..at.saturating_add(bytes.len())) {
            room.copy_from_slice(bytes);
        }
    };
    // The text up to the next hole, with what follows, which is written over.
    let mut rest = &template.text[..];
    let mut done = 0;
    for (&hole, &takes) in template.holes.iter().zip(&template.takes) {
        put(at, rest);
        if hole < done {
            // The last one again.
            break;
        }
        at = at.saturating_add(hole - done);
        let number = numbers.get(takes).copied().unwrap_or_default();
        let digits = Token::numbered("", number);
        put(at, &digits.text());
        at = at.saturating_add(digits.text_len());
        done = hole + 1;
        rest = template.text.get(done..).unwrap_or(&[]);
    }
    put(at, rest);
    at.saturating_add(template.len.saturating_sub(done))
}

#[cfg(test)]
mod tests {
    use super::super::writer::{Text, Writer};

    #[test]
    fn holes_take_numbers_of_every_length() {
        let text = template!("\tmad %r\x01, %r\0, [%r\x01];\n");
        for (numbers, expected) in [
            ([0, 9], "\tmad %r9, %r0, [%r9];\n"),
            ([10, 9], "\tmad %r9, %r10, [%r9];\n"),
            ([7, u32::MAX], "\tmad %r4294967295, %r7, [%r4294967295];\n"),
        ] {
            let mut out = Text::default();
            let mut w = Writer::new(&mut out);
            let begin = w.position();
            let line = w.line().bytes(b"<");
            line.fill(text, numbers).bytes(b">").done();
            let end = w.position();
            let part = w.assemble(begin, end);
            assert_eq!(out.part(part), format!("<{expected}>").as_bytes());
        }
    }
}
