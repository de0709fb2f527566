//! Strings: checked, and written with only the escapes they need.

use super::{CanonicalError, Fault, Scanned, Scanner};

impl Scanner<'_> {
    // Says whether the canonical spelling holds escapes.
    pub(super) fn string(&mut self) -> Scanned<bool> {
        self.copy_byte();
        let mut escaped = false;
        loop {
            let rest = &self.text[self.at..];
            let run = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
                .unwrap_or(rest.len());
            self.out.extend_from_slice(&rest[..run]);
            self.at += run;
            match self.peek() {
                Some(b'"') => {
                    self.copy_byte();
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    escaped |= self.write_character(character);
                }
                None => return self.fail(Fault::Ended),
                Some(_) => return self.fail(Fault::ControlCharacter),
            }
        }
    }

    fn escape(&mut self) -> Scanned<char> {
        let start = self.at;
        self.at += 2;
        let character = match self.text.get(start + 1) {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            None => return Err(CanonicalError::new(Fault::Ended, start + 1)),
            Some(_) => return Err(CanonicalError::new(Fault::Escape, start)),
        };
        Ok(character)
    }

    fn unicode_escape(&mut self, start: usize) -> Scanned<char> {
        let lone = Err(CanonicalError::new(Fault::LoneSurrogate, start));
        let high = self.four_digits(start)?;
        if let Some(character) = char::from_u32(high) {
            return Ok(character);
        }
        if high >= 0xdc00 || !self.text[self.at..].starts_with(b"\\u") {
            return lone;
        }
        self.at += 2;
        let low = self.four_digits(start)?;
        if !(0xdc00..0xe000).contains(&low) {
            return lone;
        }
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        char::from_u32(code).map_or(lone, Ok)
    }

    fn four_digits(&mut self, start: usize) -> Scanned<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                None => return self.fail(Fault::Ended),
                Some(byte) => char::from(byte).to_digit(16),
            };
            code = code * 16 + digit.ok_or_else(|| CanonicalError::new(Fault::Escape, start))?;
            self.at += 1;
        }
        Ok(code)
    }

    fn write_character(&mut self, character: char) -> bool {
        let short = match character {
            '"' => b'"',
            '\\' => b'\\',
            '\u{8}' => b'b',
            '\u{c}' => b'f',
            '\n' => b'n',
            '\r' => b'r',
            '\t' => b't',
            '\0'..='\x1f' => {
                let code = format!("\\u{:04x}", u32::from(character));
                self.out.extend_from_slice(code.as_bytes());
                return true;
            }
            _ => {
                self.out
                    .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return false;
            }
        };
        self.out.extend_from_slice(&[b'\\', short]);
        true
    }
}
