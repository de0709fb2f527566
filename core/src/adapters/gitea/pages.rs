//! Goes through a list page by page, counting for itself: links of a server are made of the address that it believes to
//! have, and a credential does not follow them.
//!
//! How long a page is, the server decides: it lowers what is asked for in silence. So the first page is measured, and
//! whoever goes on asks for pages of that size.

mod place;

use serde_json::Value;

pub(super) use self::place::Place;
use super::{
    Server,
    ask::{No, Said},
};
use crate::{
    journal::Contact,
    upstream::{
        UpstreamError,
        reader::{Answer, ReadPath},
    },
};

/// No server gives more at once.
pub(super) const LONGEST: u32 = 50;

/// A list on its way.
pub(super) struct Pages<'a> {
    server: &'a Server,
    contact: &'a Contact,
    path: ReadPath,
    rows_in: &'static str,
    /// The page that was read last, or the one to read first.
    at: Place,
    /// The place behind what was taken; `None` once the list has ended.
    rest: Option<Place>,
    /// Pages that may still be asked for.
    left: u8,
    /// How many the server counts in all.
    pub(super) total: Option<i64>,
    /// The path that was read in the end, when the server pointed to another.
    pub(super) moved_to: Option<String>,
}

/// What the next page is.
pub(super) enum Page {
    Rows(Vec<Value>),
    No(No),
    /// The list has ended, or enough pages were asked for.
    End,
}

impl<'a> Pages<'a> {
    /// The list at `path`, whose rows stand in the member `rows_in`, from `place`, at most `most` pages of it.
    pub(super) fn of(
        server: &'a Server,
        contact: &'a Contact,
        path: ReadPath,
        rows_in: &'static str,
        place: Place,
        most: u8,
    ) -> Self {
        Self {
            server,
            contact,
            path,
            rows_in,
            rest: Some(place.clone()),
            at: place,
            left: most,
            total: None,
            moved_to: None,
        }
    }

    /// The next page, without the rows before the place to begin at.
    pub(super) async fn next(&mut self) -> Result<Page, UpstreamError> {
        let Some(at) = self.rest.clone().filter(|_| self.left > 0) else {
            return Ok(Page::End);
        };
        self.left -= 1;
        let path = self
            .path
            .clone()
            .with("page", at.page.to_string())
            .with("limit", at.size.to_string());
        let answer = match self.server.ask(self.contact, &path).await? {
            Said::Yes(answer) => answer,
            Said::No(no) => return Ok(Page::No(no)),
        };
        let mut told = Told::read(&answer, self.rows_in)?;
        // Whoever asked for so many gets no more, whatever came.
        told.rows.truncate(usize::try_from(at.size).unwrap_or(usize::MAX));
        self.total = told.total;
        self.moved_to = answer.moved_to.or(self.moved_to.take());
        self.at = Place {
            size: told.size(&at),
            ..at
        };
        self.rest = told.is_more_behind(&self.at).then(|| self.at.following());
        let skipped = usize::try_from(self.at.skip).unwrap_or(usize::MAX);
        Ok(Page::Rows(told.rows.into_iter().skip(skipped).collect()))
    }

    /// Leaves the list at this row of the page that was read last: it was not taken.
    pub(super) fn stop_before(&mut self, row: usize) {
        let skip = self
            .at
            .skip
            .saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
        self.rest = Some(Place {
            skip,
            ..self.at.clone()
        });
    }

    /// Where the list goes on; `None` at its end.
    pub(super) fn rest(&self) -> Option<&Place> {
        self.rest.as_ref()
    }
}

/// A page as it was told.
struct Told {
    rows: Vec<Value>,
    total: Option<i64>,
    /// Whether the server points to another page.
    points_on: bool,
}

impl Told {
    fn read(answer: &Answer, rows_in: &str) -> Result<Self, UpstreamError> {
        let mut told: Value = answer.json()?;
        let rows = match told.get_mut(rows_in).map(Value::take) {
            Some(Value::Array(rows)) => rows,
            // What is empty is null on some versions.
            Some(Value::Null) => vec![],
            None if told.is_object() => vec![],
            _ => return Err(UpstreamError::Invalid),
        };
        let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
        let counted = header("x-total-count").and_then(|text| text.trim().parse().ok());
        Ok(Self {
            rows,
            total: counted
                .or_else(|| told.get("total_count").and_then(Value::as_i64))
                .filter(|total| *total >= 0),
            points_on: header("link").is_some_and(|links| links.contains(r#"rel="next""#)),
        })
    }

    /// How long pages really are: the first is shorter than what was asked for and than the list.
    fn size(&self, at: &Place) -> u32 {
        let rows = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let lowered = at.page == 1 && rows > 0 && rows < at.size && self.goes_beyond(0, at.size);
        if lowered { rows } else { at.size }
    }

    fn is_more_behind(&self, at: &Place) -> bool {
        let before = i64::from(at.page - 1) * i64::from(at.size);
        !self.rows.is_empty() && at.page < place::LAST_PAGE && self.goes_beyond(before, at.size)
    }

    /// Whether there are rows behind this page when so many stand before it. A server that does not count is believed
    /// when it points on, and a full page may have another behind it.
    fn goes_beyond(&self, before: i64, size: u32) -> bool {
        let rows = i64::try_from(self.rows.len()).unwrap_or(i64::MAX);
        match self.total {
            Some(total) => total > before.saturating_add(rows),
            None => self.points_on || rows >= i64::from(size),
        }
    }
}
