//! Walks over the bytes of a file: lines, words, numbers, raw binary; always knows
//! where it is, so that every error names its line.
//!
//! **Guarantee**: never reads outside the bytes, never panics, allocates nothing but
//! error texts. Counts that a header claims are held against the bytes that are left
//! ([`Scanner::claim`]) before anybody reserves memory for them.

use crate::error::{Place, ReadError, ReadErrorKind};

pub(crate) type Result<T> = std::result::Result<T, ReadError>;

#[derive(Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    /// Starts a comment that reaches to the end of its line.
    comment: Option<u8>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
            comment: None,
        }
    }

    /// Skips from `comment` to the end of the line where words are read.
    pub(crate) fn with_comments(bytes: &'a [u8], comment: u8) -> Self {
        Self {
            comment: Some(comment),
            ..Self::new(bytes)
        }
    }

    pub(crate) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    pub(crate) fn line_number(&self) -> usize {
        self.line
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at the current line.
    pub(crate) fn error(
        &self,
        kind: ReadErrorKind,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> ReadError {
        ReadError::new(kind, self.place(), reason, help)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn advance(&mut self) {
        // "\r\n" is one end of line: counted at '\n', or at a '\r' that stands alone.
        match self.bytes[self.at] {
            b'\n' => self.line += 1,
            b'\r' if self.bytes.get(self.at + 1) != Some(&b'\n') => self.line += 1,
            _ => {}
        }
        self.at += 1;
    }

    /// The rest of the current line without its end, or `None` at the end of the file.
    /// The scanner then stands on the next line.
    pub(crate) fn line(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let rest = &self.bytes[self.at..];
        let length = rest
            .iter()
            .position(|&b| b == b'\n' || b == b'\r')
            .unwrap_or(rest.len());
        self.at += length;
        if self.peek() == Some(b'\r') {
            self.advance();
            // Of "\r\n" only the second byte counts a line.
            if self.peek() == Some(b'\n') {
                self.advance();
            }
        } else if self.peek().is_some() {
            self.advance();
        }
        Some(&rest[..length])
    }

    fn skip_blank(&mut self) {
        while let Some(b) = self.peek() {
            if Some(b) == self.comment {
                while self.peek().is_some_and(|b| b != b'\n' && b != b'\r') {
                    self.at += 1;
                }
            } else if b.is_ascii_whitespace() {
                self.advance();
            } else {
                break;
            }
        }
    }

    /// The next word, anywhere after blanks, line ends and comments.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blank();
        let start = self.at;
        while self
            .peek()
            .is_some_and(|b| !b.is_ascii_whitespace() && Some(b) != self.comment)
        {
            self.at += 1;
        }
        (self.at > start).then(|| &self.bytes[start..self.at])
    }

    /// The next word if it is on the current line.
    pub(crate) fn word_on_line(&mut self) -> Option<&'a [u8]> {
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_whitespace() && b != b'\n' && b != b'\r')
        {
            self.at += 1;
        }
        let ends = |b: u8| b == b'\n' || b == b'\r' || Some(b) == self.comment;
        if self.peek().is_none_or(ends) {
            return None;
        }
        self.word()
    }

    /// The next word, which must be there; `what` says what it should be.
    pub(crate) fn expect_word(&mut self, what: &str) -> Result<&'a [u8]> {
        self.word().ok_or_else(|| {
            self.error(
                ReadErrorKind::Truncated,
                format!("the file ends where {what} should be"),
                "it is incomplete: export or download it again",
            )
        })
    }

    /// The next word, which must be this one.
    pub(crate) fn expect(&mut self, word: &str) -> Result<()> {
        let found = self.expect_word(&format!("`{word}`"))?;
        if found == word.as_bytes() {
            return Ok(());
        }
        Err(self.error(
            ReadErrorKind::Syntax,
            format!("`{}` where `{word}` should be", show(found)),
            "an earlier count may be wrong, or the file is damaged: export it again",
        ))
    }

    /// The next word as a number.
    pub(crate) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.expect_word(what)?;
        parse(word).ok_or_else(|| self.not_a_number(word, what))
    }

    /// As [`Scanner::number`], on the current line.
    pub(crate) fn number_on_line<T: std::str::FromStr>(&mut self, what: &str) -> Result<T> {
        let Some(word) = self.word_on_line() else {
            return Err(self.error(
                ReadErrorKind::Syntax,
                format!("the line ends where {what} should be"),
                "correct this line, or export the file again",
            ));
        };
        parse(word).ok_or_else(|| self.not_a_number(word, what))
    }

    pub(crate) fn not_a_number(&self, word: &[u8], what: &str) -> ReadError {
        self.error(
            ReadErrorKind::Syntax,
            format!("`{}` where {what} should be", show(word)),
            "correct this line, or an earlier count that does not fit",
        )
    }

    /// Checks that `count` things of at least `each` bytes can still be in the file.
    pub(crate) fn claim(&self, count: u64, each: usize, what: &str) -> Result<usize> {
        // The very last number needs no separator after it: one byte of grace.
        let room = (self.remaining() + 1) / each.max(1);
        usize::try_from(count)
            .ok()
            .filter(|&c| c <= room)
            .ok_or_else(|| {
                self.error(
                    ReadErrorKind::Truncated,
                    format!(
                        "the file claims {count} {what}, but the {} bytes that follow can hold at most {room}",
                        self.remaining()
                    ),
                    "correct the count, or export the file again if it was cut short",
                )
            })
    }

    /// Moves behind the next occurrence of `mark` at the start of a line, or anywhere
    /// in binary data; false where there is none.
    pub(crate) fn skip_past(&mut self, mark: &[u8]) -> bool {
        let rest = &self.bytes[self.at..];
        let Some(start) = rest.windows(mark.len()).position(|w| w == mark) else {
            return false;
        };
        for _ in 0..start + mark.len() {
            self.advance();
        }
        true
    }

    /// The next `count` raw bytes.
    pub(crate) fn raw(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if count > rest.len() {
            return Err(ReadError::new(
                ReadErrorKind::Truncated,
                Place::Byte(self.bytes.len()),
                format!(
                    "the file ends inside {what} ({} of {count} bytes are there)",
                    rest.len()
                ),
                "it is incomplete: export or download it again",
            ));
        }
        // Lines inside binary data mean nothing to anybody and are not counted.
        self.at += count;
        Ok(&rest[..count])
    }
}

/// A number written as text; signs, exponents, `nan` and `inf` as Rust reads them.
pub(crate) fn parse<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// A word of the file for an error text: printable and short.
pub(crate) fn show(word: &[u8]) -> String {
    let mut text: String = word
        .iter()
        .take(24)
        .flat_map(|&b| std::ascii::escape_default(b))
        .map(char::from)
        .collect();
    if word.len() > 24 {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_system_are_counted_alike() {
        for text in ["a\nb\n\nc", "a\r\nb\r\n\r\nc", "a\rb\r\rc"] {
            let mut scanner = Scanner::new(text.as_bytes());
            let mut lines = Vec::new();
            while let Some(line) = scanner.line() {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
            assert_eq!(lines, ["a", "b", "", "c"], "{text:?}");
            assert_eq!(scanner.line, 4, "{text:?}");

            let mut scanner = Scanner::new(text.as_bytes());
            for _ in 0..3 {
                scanner.word().unwrap();
            }
            assert_eq!(scanner.line, 4, "{text:?}");
        }
    }

    #[test]
    fn words_skip_comments_and_stay_on_their_line() {
        let mut scanner = Scanner::with_comments(b"# head\n 1 2#x\n3\n", b'#');
        assert_eq!(scanner.number::<u32>("a number"), Ok(1));
        assert_eq!(scanner.word_on_line(), Some(&b"2"[..]));
        assert_eq!(scanner.word_on_line(), None);
        assert_eq!(scanner.word(), Some(&b"3"[..]));
        assert_eq!(scanner.place(), Place::Line(3));
        assert_eq!(scanner.word(), None);
    }

    #[test]
    fn claims_are_held_against_the_bytes_left() {
        let scanner = Scanner::new(b"1 2 3 4");
        assert_eq!(scanner.claim(4, 2, "numbers"), Ok(4));
        assert!(scanner.claim(5, 2, "numbers").is_err());
        assert!(scanner.claim(u64::MAX, 2, "numbers").is_err());
    }
}
