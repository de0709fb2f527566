//! Walks the outermost object of a text that is canonical already; checks nothing.

use std::ops::Range;

/// One member of the outermost object.
pub(super) struct Member<'a> {
    key: &'a [u8],
    /// Where its key begins, the quotation mark included.
    pub(super) start: usize,
    /// Where its value stands.
    pub(super) value: Range<usize>,
}

impl Member<'_> {
    /// For names without characters that JSON escapes, which the contract's are.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.key == name.as_bytes()
    }
}

pub(super) struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    pub(super) fn of(text: &'a [u8]) -> Self {
        let at = if text.starts_with(b"{") { 1 } else { text.len() };
        Self { text, at }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        let start = self.at;
        if self.text.get(start) != Some(&b'"') {
            return None;
        }
        let key_end = string_end(self.text, start);
        let value = key_end + 1..value_end(self.text, key_end + 1);
        self.at = value.end + 1;
        Some(Member {
            key: &self.text[start + 1..key_end - 1],
            start,
            value,
        })
    }
}

// One past the closing quotation mark of the string that begins at `at`.
fn string_end(text: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn value_end(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_u32;
    while at < text.len() {
        match text[at] {
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}
