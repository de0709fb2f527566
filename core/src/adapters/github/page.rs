//! What the lists have in common: which page is asked for, and what is told of the next one.

use http::HeaderMap;

use super::{Github, link, link::Next, route::Route};

/// What comes behind a page, as the tools tell it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Behind {
    pub(super) more: bool,
    pub(super) next_cursor: Option<String>,
    /// For the text.
    pub(super) note: Option<String>,
}

/// A cursor that is not of this question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Foreign;

pub(super) const FOREIGN: &str = "this cursor is not of this list: take `next_cursor` of the former answer unchanged and keep the other arguments the same, or leave cursor out to begin anew";

impl Github {
    /// The page that a cursor of this question leads to, or the first one.
    pub(super) fn page(&self, first: Route, question: &str, cursor: Option<&str>) -> Result<Route, Foreign> {
        let Some(cursor) = cursor else { return Ok(first) };
        let page = self.cursors.open(question, cursor).ok_or(Foreign)?;
        Ok(first.with_all(&page))
    }

    /// What comes behind the page with these headers.
    pub(super) fn behind(&self, question: &str, headers: &HeaderMap) -> Behind {
        let page = match link::next(headers, self.base.as_str()) {
            Next::Nothing => return Behind::default(),
            Next::Page(page) => self.cursors.seal(question, &page),
            Next::Elsewhere => None,
        };
        let note = match &page {
            // Some clients show nothing but the text.
            Some(cursor) => format!("There are more: ask again with cursor {cursor}"),
            None => {
                "There are more, but GitHub points to them at an address that is not followed; is the target's baseUrl the one that GitHub calls its own?".into()
            }
        };
        Behind {
            more: true,
            next_cursor: page,
            note: Some(note),
        }
    }
}
