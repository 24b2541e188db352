//! A place in a text, and the few shapes that can be read there.

use super::error::{ParseError, ParseErrorKind, Place};

/// Characters of a found text that errors show.
const SHOWN: usize = 40;

/// Reads a text from front to back and never goes back; each byte is looked at a bounded number of times.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            at: 0,
            line: 1,
            line_start: 0,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        // All ends stand beside ASCII characters or at the ends of whole ones.
        self.text.get(from..to).unwrap_or("")
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn run(&mut self, accept: impl Fn(u8) -> bool) -> &'a str {
        self.blanks();
        let from = self.at;
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
        self.slice(from, self.at)
    }

    /// The next word: letters, digits and `_`. Empty where there is none.
    pub(super) fn word(&mut self) -> &'a str {
        self.run(|b| b.is_ascii_alphanumeric() || b == b'_')
    }

    /// The next word, left where it is.
    pub(super) fn peek_word(&self) -> &'a str {
        self.clone().word()
    }

    /// Whether the next word has a colon behind it.
    pub(super) fn names_result(&self) -> bool {
        let mut after = self.clone();
        !after.word().is_empty() && after.accept(b':')
    }

    /// The next literal: a word that may hold `.`, `+` and `-` too.
    pub(super) fn literal(&mut self) -> &'a str {
        self.run(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-'))
    }

    /// Passes over `sign` if it comes next.
    pub(super) fn accept(&mut self, sign: u8) -> bool {
        self.blanks();
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    /// Passes over `word` if it comes next.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let mut after = self.clone();
        let there = after.word() == word;
        if there {
            *self = after;
        }
        there
    }

    /// Passes over `sign`, which must come next.
    pub(super) fn sign(&mut self, sign: u8, expected: &'static str) -> Result<(), ParseError> {
        if self.accept(sign) {
            Ok(())
        } else {
            Err(self.expected(expected))
        }
    }

    /// Passes over `word`, which must come next.
    pub(super) fn keyword(&mut self, word: &str, expected: &'static str) -> Result<(), ParseError> {
        if self.accept_word(word) {
            Ok(())
        } else {
            Err(self.expected(expected))
        }
    }

    /// Passes over a comment, if there is one, and the end of the line, which must come next.
    pub(super) fn end_of_line(&mut self) -> Result<(), ParseError> {
        self.blanks();
        if self.peek() == Some(b';') {
            let rest = self.slice(self.at, self.text.len());
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                self.line = self.line.saturating_add(1);
                self.line_start = self.at;
                Ok(())
            }
            Some(_) => Err(self.expected("the end of the line")),
        }
    }

    /// Goes on to the next line with something on it. False at the end of the text.
    pub(super) fn next_line(&mut self) -> bool {
        loop {
            self.blanks();
            match self.peek() {
                None => return false,
                Some(b'\n' | b';') => {
                    // Nothing but a comment stands there, so this cannot fail.
                    if self.end_of_line().is_err() {
                        return true;
                    }
                }
                Some(_) => return true,
            }
        }
    }

    /// Whether a string comes next.
    pub(super) fn at_string(&mut self) -> bool {
        self.blanks();
        self.peek() == Some(b'"')
    }

    /// Reads the string that comes next and adds what it stands for to `out`.
    pub(super) fn string(&mut self, out: &mut String) -> Result<(), ParseError> {
        let open = self.place();
        self.sign(b'"', "a string")?;
        loop {
            let rest = self.slice(self.at, self.text.len());
            let stop = rest.find(['"', '\\', '\n']);
            let plain = rest.get(..stop.unwrap_or(0)).unwrap_or("");
            out.push_str(plain);
            self.at += plain.len();
            match self.peek().filter(|_| stop.is_some()) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => {
                    return Err(ParseError {
                        place: open,
                        kind: ParseErrorKind::UnclosedString,
                    });
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, ParseError> {
        let rest = self.slice(self.at + 1, self.text.len());
        let simple = match rest.as_bytes().first() {
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(b'0') => Some('\0'),
            Some(b'"') => Some('"'),
            Some(b'\'') => Some('\''),
            Some(b'\\') => Some('\\'),
            _ => None,
        };
        if let Some(c) = simple {
            self.at += 2;
            return Ok(c);
        }
        // At most six digits: a longer search could not succeed.
        let digits = rest.strip_prefix("u{").and_then(|r| {
            let end = r.bytes().take(7).position(|b| b == b'}')?;
            r.get(..end)
        });
        let hex = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let found = hex
            .and_then(|d| u32::from_str_radix(d, 16).ok())
            .and_then(char::from_u32);
        match (found, digits) {
            (Some(c), Some(d)) => {
                self.at += d.len() + 4;
                Ok(c)
            }
            (_, Some(d)) => Err(self.no_escape(format!("u{{{d}}}"))),
            (_, None) => Err(self.no_escape(rest.chars().take(1).collect())),
        }
    }

    #[cold]
    fn no_escape(&self, escape: String) -> ParseError {
        ParseError {
            place: self.place(),
            kind: ParseErrorKind::Escape(escape),
        }
    }

    /// Where the cursor stands. Takes time in proportion to the column, so only once for each thing that is read.
    pub(super) fn place(&self) -> Place {
        let before = self.slice(self.line_start, self.at).chars().count();
        Place {
            line: self.line,
            column: u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1),
        }
    }

    /// Where the next thing on the line begins.
    pub(super) fn next_place(&mut self) -> Place {
        self.blanks();
        self.place()
    }

    /// The error that something else comes next.
    #[cold]
    pub(super) fn expected(&mut self, expected: &'static str) -> ParseError {
        let place = self.next_place();
        let word = self.peek_word();
        let found = match self.peek() {
            None => "the end of the text".into(),
            Some(b'\n' | b';') => "the end of the line".into(),
            Some(b'"') => "a string".into(),
            Some(_) if !word.is_empty() => format!("`{}`", shown(word)),
            Some(_) => {
                let c = self.slice(self.at, self.text.len()).chars().next();
                format!(
                    "`{}`",
                    c.unwrap_or(char::REPLACEMENT_CHARACTER).escape_debug()
                )
            }
        };
        ParseError {
            place,
            kind: ParseErrorKind::Expected { expected, found },
        }
    }
}

/// A found text, cut to what an error shows.
#[cold]
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or("")),
        None => text.into(),
    }
}
