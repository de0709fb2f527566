//! Texts as words that can be compared: parts of names apart, stems, without words that mean nothing by themselves.

use bm25::{DefaultTokenizer, Language, Tokenizer};

use super::thesaurus;

/// More words than this of one question are not looked at.
const MOST: usize = 100;

/// Cuts texts into words.
#[derive(Debug)]
pub(super) struct Words(DefaultTokenizer);

impl Default for Words {
    fn default() -> Self {
        Self(DefaultTokenizer::new(Language::English))
    }
}

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        self.0.tokenize(&apart(text))
    }
}

/// The question and what its words may be called here.
pub(super) fn of_question(query: &str) -> String {
    let plain = apart(query).to_lowercase();
    let said: Vec<&str> = plain.split_whitespace().take(MOST).collect();
    let meant = thesaurus::meant(&said);
    said.into_iter().chain(meant).collect::<Vec<_>>().join(" ")
}

/// `proxmox.list_vms` and `turnId` as the words they are made of.
fn apart(text: &str) -> String {
    let mut apart = String::with_capacity(text.len() + text.len() / 8);
    let mut former = ' ';
    for c in text.chars() {
        if former.is_lowercase() && c.is_uppercase() {
            apart.push(' ');
        }
        apart.push(if c.is_alphanumeric() || c == '\'' { c } else { ' ' });
        former = c;
    }
    apart
}
