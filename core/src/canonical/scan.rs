//! One pass over the text: checks it and writes the canonical form.
//!
//! Members are written as they come; at the end of an object that was not in order they are put in order. Recursion
//! is bounded by the limit of depth.

mod strings;

use std::{ops::Range, str};

use super::{CanonicalError, CanonicalFault as Fault, DEEPEST, LONGEST, MOST_NODES};

type Scanned<T = ()> = Result<T, CanonicalError>;

pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    nodes: u32,
    depth: u32,
    out: Vec<u8>,
    /// Members of the objects that are still open, the innermost last.
    members: Vec<Member>,
    /// Their decoded keys, end to end.
    keys: Vec<u8>,
    scratch: Vec<u8>,
}

struct Member {
    /// In `keys`.
    key: Range<usize>,
    /// In `out`, from the key to the end of the value.
    written: Range<usize>,
    /// In `text`, where the key begins.
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Scanned<Self> {
        if text.len() > LONGEST {
            return Err(CanonicalError::new(Fault::TooLong, LONGEST));
        }
        if let Err(error) = str::from_utf8(text) {
            return Err(CanonicalError::new(Fault::Utf8, error.valid_up_to()));
        }
        if text.starts_with("\u{feff}".as_bytes()) {
            return Err(CanonicalError::new(Fault::ByteOrderMark, 0));
        }
        Ok(Self {
            text,
            at: 0,
            nodes: 0,
            depth: 0,
            out: Vec::with_capacity(text.len()),
            members: Vec::new(),
            keys: Vec::new(),
            scratch: Vec::new(),
        })
    }

    pub(super) fn finish(mut self) -> Scanned<Vec<u8>> {
        self.value()?;
        self.skip_space();
        if self.at < self.text.len() {
            return self.fail(Fault::Trailing);
        }
        Ok(self.out)
    }

    fn value(&mut self) -> Scanned {
        self.skip_space();
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return self.fail(Fault::TooManyNodes);
        }
        match self.peek() {
            None => self.fail(Fault::Ended),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(_) => self.fail(Fault::Value),
        }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Scanned) -> Scanned {
        if self.depth == DEEPEST {
            return self.fail(Fault::TooDeep);
        }
        self.depth += 1;
        inner(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn array(&mut self) -> Scanned {
        self.copy_byte();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.copy_byte();
            return Ok(());
        }
        let mut index = 0;
        loop {
            self.value().map_err(|mut error| {
                error.inside_item(index);
                error
            })?;
            if self.ends_after_value(b']')? {
                return Ok(());
            }
            self.out.push(b',');
            index += 1;
        }
    }

    fn object(&mut self) -> Scanned {
        self.copy_byte();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.copy_byte();
            return Ok(());
        }
        let first = self.members.len();
        let first_key = self.keys.len();
        let mut in_order = true;
        loop {
            self.member()?;
            in_order &= self.last_is_greater(first)?;
            let ended = self.ends_after_value(b'}')?;
            if ended && !in_order {
                self.put_in_order(first)?;
            }
            if ended {
                self.members.truncate(first);
                self.keys.truncate(first_key);
                return Ok(());
            }
            self.out.push(b',');
        }
    }

    fn member(&mut self) -> Scanned {
        self.skip_space();
        let (at, start) = (self.at, self.out.len());
        match self.peek() {
            Some(b'"') => {}
            None => return self.fail(Fault::Ended),
            Some(_) => return self.fail(Fault::Key),
        }
        let escaped = self.string()?;
        let key = self.keep_key(start, escaped);
        self.skip_space();
        match self.peek() {
            Some(b':') => self.copy_byte(),
            None => return self.fail(Fault::Ended),
            Some(_) => return self.fail(Fault::Colon),
        }
        if let Err(mut error) = self.value() {
            error.inside_key(&self.keys[key]);
            return Err(error);
        }
        let written = start..self.out.len();
        self.members.push(Member { key, written, at });
        Ok(())
    }

    // The order is that of the keys themselves, not of their escaped spelling.
    fn keep_key(&mut self, written_from: usize, escaped: bool) -> Range<usize> {
        let start = self.keys.len();
        let written = &self.out[written_from..];
        let decoded = escaped
            .then(|| serde_json::from_slice::<String>(written).ok())
            .flatten();
        match decoded {
            Some(key) => self.keys.extend_from_slice(key.as_bytes()),
            None => self.keys.extend_from_slice(&written[1..written.len() - 1]),
        }
        start..self.keys.len()
    }

    fn last_is_greater(&self, first: usize) -> Scanned<bool> {
        match &self.members[first..] {
            [.., former, last] => self.compare(former, last).map(std::cmp::Ordering::is_lt),
            _ => Ok(true),
        }
    }

    fn compare(&self, one: &Member, other: &Member) -> Scanned<std::cmp::Ordering> {
        let order = self.keys[one.key.clone()].cmp(&self.keys[other.key.clone()]);
        if order.is_ne() {
            return Ok(order);
        }
        let mut error = CanonicalError::new(Fault::DuplicateKey, one.at.max(other.at));
        error.inside_key(&self.keys[one.key.clone()]);
        Err(error)
    }

    fn put_in_order(&mut self, first: usize) -> Scanned {
        let keys = &self.keys;
        self.members[first..]
            .sort_unstable_by(|one, other| keys[one.key.clone()].cmp(&keys[other.key.clone()]));
        let members = &self.members[first..];
        for pair in members.windows(2) {
            self.compare(&pair[0], &pair[1])?;
        }
        self.scratch.clear();
        for member in members {
            self.scratch.extend_from_slice(&self.out[member.written.clone()]);
            self.scratch.push(b',');
        }
        self.scratch.pop();
        // The same bytes in another order, so the end stays where it was: just before the closing bracket.
        let end = self.out.len() - 1;
        let start = end - self.scratch.len();
        self.out[start..end].copy_from_slice(&self.scratch);
        Ok(())
    }

    // Takes the comma, or the closing bracket and says so.
    fn ends_after_value(&mut self, closing: u8) -> Scanned<bool> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == closing => {
                self.copy_byte();
                Ok(true)
            }
            None => self.fail(Fault::Ended),
            Some(_) => self.fail(Fault::Comma),
        }
    }

    fn number(&mut self) -> Scanned {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.digits();
        let mut plain = true;
        let mut valid = whole > 0 && !(leading_zero && whole > 1);
        if self.peek() == Some(b'.') {
            self.at += 1;
            valid &= self.digits() > 0;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            plain = false;
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            valid &= self.digits() > 0;
        }
        let number = &self.text[start..self.at];
        if !valid {
            return Err(CanonicalError::new(Fault::Number, start));
        }
        // Every whole number of up to 300 digits is a finite float; the others are asked.
        if !(plain && whole <= 300) && serde_json::from_slice::<f64>(number).is_err() {
            return Err(CanonicalError::new(Fault::NumberRange, start));
        }
        self.out.extend_from_slice(number);
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let count = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        self.at += count;
        count
    }

    fn word(&mut self, word: &'static [u8]) -> Scanned {
        if !self.text[self.at..].starts_with(word) {
            return self.fail(Fault::Value);
        }
        self.at += word.len();
        self.out.extend_from_slice(word);
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn copy_byte(&mut self) {
        self.out.extend(self.text.get(self.at));
        self.at += 1;
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, fault: Fault) -> Scanned<T> {
        Err(CanonicalError::new(fault, self.at.min(self.text.len())))
    }
}
