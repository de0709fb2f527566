//! Pages of lists: how many, and where to go on.
//!
//! A page token holds the key of the last row told, so a list goes on where it was although rows came and went.

use data_encoding::BASE64URL_NOPAD;

use crate::error::Error;

const USUAL: u32 = 50;
const MOST: u32 = 200;
/// No token of ours is longer.
const LONGEST_TOKEN: usize = 1_024;

/// Which part of a list is wanted; `N` texts are the key of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<const N: usize> {
    /// At most this many.
    pub size: usize,
    /// The key of the last row of the page before.
    pub after: Option<[String; N]>,
}

impl<const N: usize> Page<N> {
    /// Reads what a request asks for.
    pub fn asked(size: Option<u32>, token: Option<&str>) -> Result<Self, Error> {
        let size = size.unwrap_or(USUAL);
        if size == 0 || size > MOST {
            return Err(Error::invalid("page_size", "must be 1 to 200"));
        }
        let after = token.filter(|token| !token.is_empty()).map(key).transpose()?;
        Ok(Self {
            size: usize::try_from(size).unwrap_or(1),
            after,
        })
    }

    /// One more than wanted, to see whether there is a next page.
    #[must_use]
    pub fn limit(&self) -> i64 {
        i64::try_from(self.size).unwrap_or(0) + 1
    }

    /// Cuts `rows` to the page, and gives the token of the next one: empty at the end.
    pub fn cut<T>(&self, rows: &mut Vec<T>, key: impl FnOnce(&T) -> [String; N]) -> String {
        if rows.len() <= self.size {
            return String::new();
        }
        rows.truncate(self.size);
        rows.last().map(|last| token(&key(last))).unwrap_or_default()
    }
}

fn token<const N: usize>(key: &[String; N]) -> String {
    let json = serde_json::Value::from(key.to_vec()).to_string();
    BASE64URL_NOPAD.encode(json.as_bytes())
}

fn key<const N: usize>(token: &str) -> Result<[String; N], Error> {
    let bytes = (token.len() <= LONGEST_TOKEN)
        .then(|| BASE64URL_NOPAD.decode(token.as_bytes()).ok())
        .flatten();
    let parts = bytes.and_then(|bytes| serde_json::from_slice::<Vec<String>>(&bytes).ok());
    parts
        .and_then(|parts| parts.try_into().ok())
        .ok_or_else(|| Error::invalid("page_token", "is none of this list; begin without one"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_bounded() {
        assert_eq!(
            Page::<1>::asked(None, None).unwrap(),
            Page {
                size: 50,
                after: None
            }
        );
        assert_eq!(Page::<1>::asked(Some(200), Some("")).unwrap().limit(), 201);
        for wrong in [0, 201, u32::MAX] {
            assert!(Page::<1>::asked(Some(wrong), None).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_token_leads_back_to_its_row(one in ".{0,64}", two in ".{0,64}") {
            let wanted = [one, two];
            let page = Page::<2>::asked(Some(1), Some(&token(&wanted))).unwrap();
            prop_assert_eq!(page.after, Some(wanted));
        }

        #[test]
        fn no_other_text_is_a_token(text in ".{1,80}") {
            prop_assert!(Page::<2>::asked(None, Some(&text)).is_err());
        }
    }

    #[test]
    fn only_a_full_page_with_more_behind_it_has_a_next_one() {
        let page = Page::<1> { size: 2, after: None };
        let cut = |mut rows: Vec<u8>| {
            (
                page.cut(&mut rows, |row| [row.to_string()]).is_empty(),
                rows.len(),
            )
        };
        assert_eq!(cut(vec![]), (true, 0));
        assert_eq!(cut(vec![1, 2]), (true, 2));
        assert_eq!(cut(vec![1, 2, 3]), (false, 2));
    }
}
