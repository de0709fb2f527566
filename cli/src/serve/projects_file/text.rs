//! The text of the file: a table for each project, and which is the default. Everything that is wrong is told with its
//! line.

use std::path::Path;

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};
use toolgate_core::projects::Entry;

use crate::config::{file, nearest::did_you_mean, problem::Problem};

const TOP: [&str; 2] = ["default", "projects"];
const KEYS: [&str; 8] = [
    "url",
    "ssh_port",
    "host_path",
    "adopted",
    "access",
    "status_tool",
    "on_drift",
    "timeout_seconds",
];
const MOST: usize = 1_000;

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) entries: Vec<Entry>,
    pub(super) default: Option<String>,
}

/// Reads the file.
pub(super) fn read(path: &Path) -> Result<Wanted, Vec<Problem>> {
    let text = file::read(path).map_err(|problem| vec![problem])?;
    parse(&path.display().to_string(), &text)
}

/// Reads its text.
pub(super) fn parse(path: &str, text: &str) -> Result<Wanted, Vec<Problem>> {
    let mut reading = Reading {
        path,
        text,
        problems: Vec::new(),
    };
    let table = DeTable::parse(text).map_err(|error| {
        let place = reading.place(error.span().map_or(0, |span| span.start));
        vec![Problem::new(place, error.message().replace('\n', ", "))]
    })?;
    let wanted = reading.whole(table.get_ref());
    if reading.problems.is_empty() {
        return Ok(wanted);
    }
    // Tables give their keys by name; people read from the top.
    reading.problems.sort_by_key(|(offset, _)| *offset);
    Err(reading.problems.into_iter().map(|(_, problem)| problem).collect())
}

struct Reading<'a> {
    path: &'a str,
    text: &'a str,
    problems: Vec<(usize, Problem)>,
}

impl Reading<'_> {
    fn whole(&mut self, table: &DeTable<'_>) -> Wanted {
        let mut wanted = Wanted::default();
        for (key, value) in table {
            let at = key.span().start;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("projects", DeValue::Table(projects)) => wanted.entries = self.projects(projects),
                ("default", DeValue::String(name)) => wanted.default = Some(name.to_string()),
                ("projects", other) => {
                    self.wrong(at, &format!("`projects`: expected tables, got {}", kind(other)))
                }
                ("default", other) => {
                    self.wrong(
                        at,
                        &format!("`default`: expected the name of a project, got {}", kind(other)),
                    );
                }
                (name, _) => self.wrong(at, &format!("unknown key `{name}`{}", did_you_mean(name, TOP))),
            }
        }
        if let Some(name) = &wanted.default
            && self.problems.is_empty()
            && !wanted.entries.iter().any(|entry| entry.name() == name)
        {
            let meant = did_you_mean(name, wanted.entries.iter().map(Entry::name));
            let at = table.get("default").map_or(0, |value| value.span().start);
            self.wrong(
                at,
                &format!("`default`: no project of this file is called {name}{meant}"),
            );
        }
        wanted
    }

    fn projects(&mut self, projects: &DeTable<'_>) -> Vec<Entry> {
        if projects.len() > MOST {
            self.wrong(0, &format!("holds more than {MOST} projects"));
            return Vec::new();
        }
        let read = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| self.project(name, value);
        projects.iter().filter_map(read).collect()
    }

    fn project(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Entry> {
        let (at, name) = (name.span().start, name.get_ref().as_ref());
        if let Err(error) = Entry::read(name, Map::new()) {
            self.wrong(at, &format!("`projects.{name}`: the {error}"));
            return None;
        }
        let DeValue::Table(table) = value.get_ref() else {
            let got = kind(value.get_ref());
            self.wrong(at, &format!("`projects.{name}`: expected a table, got {got}"));
            return None;
        };
        let mut settings = Map::new();
        for (key, value) in table {
            let (at, key) = (key.span().start, key.get_ref().as_ref());
            match self.setting(name, key, value.get_ref()) {
                Ok(value) => drop(settings.insert(key.to_owned(), value)),
                Err(what) => self.wrong(at, &what),
            }
        }
        Entry::read(name, settings).ok()
    }

    // Each by itself, so that what is wrong has its line.
    fn setting(&self, project: &str, key: &str, value: &DeValue<'_>) -> Result<Value, String> {
        if !KEYS.contains(&key) {
            return Err(format!(
                "unknown key `projects.{project}.{key}`{}",
                did_you_mean(key, KEYS)
            ));
        }
        let place = format!("`projects.{project}.{key}`");
        let value = json(value).ok_or_else(|| format!("{place}: expected one value, got {}", kind(value)))?;
        let alone = Map::from_iter([(key.to_owned(), value.clone())]);
        match Entry::read(project, alone) {
            Ok(_) => Ok(value),
            Err(error) => {
                let text = error.to_string();
                let what = text.split_once(": ").map_or(&*text, |(_, what)| what);
                Err(format!("{place}: {what}"))
            }
        }
    }

    fn wrong(&mut self, offset: usize, what: &str) {
        self.problems
            .push((offset, Problem::new(self.place(offset), what)));
    }

    fn place(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or_default();
        format!("{}:{}", self.path, before.matches('\n').count() + 1)
    }
}

fn json(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::String(text) => Some(Value::String(text.to_string())),
        DeValue::Boolean(on) => Some(Value::Bool(*on)),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(Value::from),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn kind(value: &DeValue<'_>) -> String {
    format!("a TOML {}", value.type_str())
}
