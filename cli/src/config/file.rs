//! The TOML file: tables are flattened to dotted names, each value keeps its line.

use std::{fs::File, io::Read, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    key::{Given, Key},
    keys::{KEYS, find},
    nearest::{did_you_mean, nearest},
    problem::Problem,
};

const LONGEST_FILE: u64 = 1024 * 1024;

/// One known key with its value and place.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: &'static Key,
    pub(crate) given: Given,
    pub(crate) place: String,
}

/// Reads a file whole, if it is a readable text of sane size.
pub(crate) fn read(path: &Path) -> Result<String, Problem> {
    let place = path.display().to_string();
    let unreadable = |error: std::io::Error| Problem::new(&place, format!("cannot be read: {error}"));
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LONGEST_FILE + 1)
        .read_to_string(&mut text)
        .map_err(unreadable)?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(Problem::new(place, "is over 1 MiB, which no configuration needs"));
    }
    Ok(text)
}

/// The entries of a file's text, and everything that is wrong with their names and types.
pub(crate) fn parse(path: &str, text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let mut reading = Reading {
        path,
        text,
        entries: Vec::new(),
        problems: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(table) => reading.table("", table.get_ref()),
        Err(error) => {
            let place = reading.place(error.span().map_or(0, |span| span.start));
            reading
                .problems
                .push(Problem::new(place, error.message().replace('\n', ", ")));
        }
    }
    (reading.entries, reading.problems)
}

struct Reading<'a> {
    path: &'a str,
    text: &'a str,
    entries: Vec<Entry>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let place = self.place(name.span().start);
            let name = format!("{prefix}{}", name.get_ref());
            match (find(&name), value.get_ref()) {
                (Some(key), _) => self.entry(key, value, place),
                // Into unknown tables as well: the full names of their keys are what a known key is near to.
                (None, DeValue::Table(inner)) if is_table(&name) || !inner.is_empty() => {
                    self.table(&format!("{name}."), inner)
                }
                (None, _) => {
                    let what = unknown(&name);
                    self.problems.push(Problem::new(place, what));
                }
            }
        }
    }

    fn entry(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>, place: String) {
        let given = match value.get_ref() {
            DeValue::String(text) => Some(Given::Text(text.to_string())),
            DeValue::Boolean(on) => Some(Given::Switch(*on)),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .map(Given::Number),
            DeValue::Array(items) => {
                let texts = items
                    .iter()
                    .map(|item| item.get_ref().as_str().map(str::to_owned));
                texts.collect::<Option<_>>().map(Given::List)
            }
            DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
        };
        match given {
            Some(given) => self.entries.push(Entry { key, given, place }),
            None => {
                let kind = value.get_ref().type_str();
                let text = format!(
                    "`{}`: expected {}, got a TOML {kind}",
                    key.name,
                    key.kind.expected()
                );
                self.problems.push(Problem::new(place, text));
            }
        }
    }

    fn place(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or_default();
        format!("{}:{}", self.path, before.matches('\n').count() + 1)
    }
}

fn unknown(name: &str) -> String {
    let keys = || KEYS.iter().map(|key| key.name);
    if nearest(name, keys()).is_none()
        && let Some(table) = nearest_table(name)
    {
        return format!("unknown key `{name}`; did you mean the table `[{table}]`?");
    }
    format!("unknown key `{name}`{}", did_you_mean(name, keys()))
}

// Of an unknown table, or of a key in one that is near to no known key.
fn nearest_table(name: &str) -> Option<&'static str> {
    let table = name.rsplit_once('.').map_or(name, |(table, _)| table);
    if is_table(table) {
        return None;
    }
    nearest(table, tables())
}

fn is_table(name: &str) -> bool {
    tables().any(|table| table == name)
}

fn tables() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter_map(|key| Some(key.name.rsplit_once('.')?.0))
}
