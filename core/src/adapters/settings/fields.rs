//! Reading settings key by key, and what is stored of them.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::Error;

/// Settings on their way from what was given to what is stored.
///
/// Each key is taken once; whatever was taken is stored in its canonical spelling, and [`end`](Reading::end) refuses
/// what is left.
#[derive(Debug)]
pub(crate) struct Reading {
    given: Map<String, Value>,
    keys: Vec<&'static str>,
    stored: Map<String, Value>,
}

/// A value that was given, and the key as it was written.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) place: String,
    pub(super) value: Value,
}

impl Reading {
    /// Over what was given. These are the keys there are, beside those of trust and of what may be dialled; they are
    /// named to whoever mistypes one.
    pub(crate) fn new(given: Map<String, Value>, keys: &'static [&'static str]) -> Self {
        Self {
            given,
            keys: keys.to_vec(),
            stored: Map::new(),
        }
    }

    /// A text of 1 to `max` characters on one line, where there is one.
    pub(crate) fn text(&mut self, key: &'static str, max: usize) -> Result<Option<String>, Error> {
        let Some(given) = self.take(key)? else {
            return Ok(None);
        };
        let text = given.text(max)?;
        if text.chars().any(char::is_control) {
            return Err(given.wrong("must be one line without control characters"));
        }
        self.store(key, text.as_str());
        Ok(Some(text))
    }

    /// A port, where there is one.
    pub(crate) fn port(&mut self, key: &'static str) -> Result<Option<u16>, Error> {
        let Some(given) = self.take(key)? else {
            return Ok(None);
        };
        let port = given.value.as_u64().and_then(|port| u16::try_from(port).ok());
        let Some(port) = port.filter(|port| *port > 0) else {
            return Err(given.wrong("must be a whole number from 1 to 65535"));
        };
        self.store(key, port);
        Ok(Some(port))
    }

    /// A whole number of these, where there is one.
    pub(crate) fn number(
        &mut self,
        key: &'static str,
        of: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Error> {
        let Some(given) = self.take(key)? else {
            return Ok(None);
        };
        let Some(number) = given.value.as_u64().filter(|number| of.contains(number)) else {
            let (least, most) = of.into_inner();
            return Err(given.wrong(format!("must be a whole number from {least} to {most}")));
        };
        self.store(key, number);
        Ok(Some(number))
    }

    /// Yes or no, where it is said.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, Error> {
        let Some(given) = self.take(key)? else {
            return Ok(None);
        };
        let Value::Bool(flag) = given.value else {
            return Err(given.wrong("must be true or false"));
        };
        self.store(key, flag);
        Ok(Some(flag))
    }

    /// Stores this under the key, over what was taken for it.
    pub(crate) fn store(&mut self, key: &'static str, value: impl Into<Value>) {
        self.stored.insert(key.to_owned(), value.into());
    }

    /// What is stored. A key that was not taken is an error that names the one that was probably meant.
    pub(crate) fn end(self) -> Result<Map<String, Value>, Error> {
        match self.given.keys().next() {
            None => Ok(self.stored),
            Some(key) => Err(self.unknown(key)),
        }
    }

    /// Takes a value in either spelling of its key. `null` is as good as nothing.
    pub(super) fn take(&mut self, key: &'static str) -> Result<Option<Given>, Error> {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        let snake = snake(key);
        let camel = self.given.shift_remove(key);
        let other = match snake == key {
            true => None,
            false => self.given.shift_remove(&snake),
        };
        let (spelling, value) = match (camel, other) {
            (Some(_), Some(_)) => {
                let place = format!("config.{snake}");
                return Err(Error::invalid(
                    place,
                    format!("stands there as {key} as well; give one"),
                ));
            }
            (Some(value), None) => (key, value),
            (None, Some(value)) => (snake.as_str(), value),
            (None, None) => return Ok(None),
        };
        let place = format!("config.{spelling}");
        Ok((!value.is_null()).then_some(Given { place, value }))
    }

    fn unknown(&self, key: &str) -> Error {
        let short: String = key.chars().take(64).collect();
        let place = format!("config.{}", short.escape_debug());
        let distance = |known: &&&str| strsim::damerau_levenshtein(&snake(&short), &snake(known));
        let nearest = self.keys.iter().min_by_key(distance);
        let what = match nearest {
            Some(near) if distance(&near) <= 1 + near.len() / 3 => {
                format!("is no setting of such a target, did you mean {near}?")
            }
            _ => format!(
                "is no setting of such a target; there are {}",
                self.keys.join(", ")
            ),
        };
        Error::invalid(place, what)
    }
}

impl Given {
    pub(super) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::invalid(self.place.clone(), what)
    }

    pub(super) fn text(&self, max: usize) -> Result<String, Error> {
        let Value::String(text) = &self.value else {
            return Err(self.wrong("must be a string"));
        };
        let text = text.trim();
        match (1..=max).contains(&text.chars().count()) {
            true => Ok(text.to_owned()),
            false => Err(self.wrong(format!("must have 1 to {max} characters"))),
        }
    }

    /// The strings of a list of at most `most`.
    pub(super) fn strings(&self, most: usize) -> Result<Vec<&str>, Error> {
        let wrong = || self.wrong(format!("must be a list of at most {most} strings"));
        let Value::Array(items) = &self.value else {
            return Err(wrong());
        };
        if items.len() > most {
            return Err(wrong());
        }
        items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
    }
}

fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
