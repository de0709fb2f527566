//! A place in a list, and the cursor it travels as. Pure.
//!
//! Holds numbers only and is held against limits when it comes back: whoever makes one up gets another page of what they
//! may read anyway.

use data_encoding::BASE64URL_NOPAD;

use super::LONGEST;

/// Pages beyond this are not asked for.
pub(super) const LAST_PAGE: u32 = 1_000_000;
const FORM: &str = "1";

/// A place in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::adapters::gitea) struct Place {
    /// Which list: a letter of the tool's own.
    pub(in crate::adapters::gitea) list: char,
    /// From 1.
    pub(in crate::adapters::gitea) page: u32,
    /// How long pages are.
    pub(in crate::adapters::gitea) size: u32,
    /// Rows of the page that were taken already.
    pub(in crate::adapters::gitea) skip: u32,
    /// Whose rows, where the list is of one owner: the server's id.
    pub(in crate::adapters::gitea) owner: Option<i64>,
}

impl Place {
    /// The start of a list that is read in pages of this size.
    pub(in crate::adapters::gitea) fn start(list: char, size: u32) -> Self {
        Self {
            list,
            page: 1,
            size: size.clamp(1, LONGEST),
            skip: 0,
            owner: None,
        }
    }

    /// The start of the next page.
    pub(super) fn following(&self) -> Self {
        Self {
            page: self.page + 1,
            skip: 0,
            ..self.clone()
        }
    }

    /// As it is handed out.
    pub(in crate::adapters::gitea) fn cursor(&self) -> String {
        let owner = self.owner.map(|owner| owner.to_string()).unwrap_or_default();
        let Self {
            list,
            page,
            size,
            skip,
            ..
        } = self;
        BASE64URL_NOPAD.encode(format!("{FORM}.{list}.{page}.{size}.{skip}.{owner}").as_bytes())
    }

    /// As it was handed out; `None` for anything else.
    pub(in crate::adapters::gitea) fn read(cursor: &str) -> Option<Self> {
        let bytes = BASE64URL_NOPAD.decode(cursor.as_bytes()).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let mut parts = text.split('.');
        let mut next = || parts.next();
        let (form, list) = (next()?, next()?);
        let (page, size, skip) = (
            next()?.parse().ok()?,
            next()?.parse().ok()?,
            next()?.parse().ok()?,
        );
        let owner = match next()? {
            "" => None,
            owner => Some(owner.parse().ok()?),
        };
        let place = Self {
            list: list.chars().next()?,
            page,
            size,
            skip,
            owner,
        };
        let fits = form == FORM
            && (1..=LAST_PAGE).contains(&place.page)
            && (1..=LONGEST).contains(&place.size)
            && place.skip <= place.size;
        // Only the one way to write it is taken.
        (fits && place.cursor() == cursor).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_that_was_made_up_is_refused() {
        let made = |text: &str| Place::read(&BASE64URL_NOPAD.encode(text.as_bytes()));
        assert!(made("1.r.2.30.0.").is_some());
        for wrong in [
            "1.r.0.30.0.",
            "1.r.2.51.0.",
            "1.r.2.0.0.",
            "1.r.2.30.31.",
            "1.r.1000001.30.0.",
            "2.r.2.30.0.",
            "1.rr.2.30.0.",
            "1.r.+2.30.0.",
            "1.r.2.30.0",
            "1.r.2.30.0..",
            "1.r.2.30.0.x",
            "",
        ] {
            assert_eq!(made(wrong), None, "{wrong}");
        }
        assert_eq!(Place::read("no cursor!"), None);
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_as_it_was_written_and_is_short(
            page in 1..=LAST_PAGE, size in 1..=LONGEST, owner in proptest::option::of(any::<i64>())
        ) {
            let place = Place { list: 't', page, size, skip: size / 2, owner };
            prop_assert_eq!(Place::read(&place.cursor()), Some(place.clone()));
            prop_assert!(place.cursor().len() <= 100);
        }

        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in any::<String>()) {
            let _ = Place::read(&text);
        }
    }
}
