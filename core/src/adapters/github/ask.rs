//! One question to GitHub: what keeps it back, what it brings, and what an answer that is no yes means.

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use super::{Github, cool_down, no::No, route::Route};
use crate::{
    journal::Contact,
    upstream::{UpstreamError, reader::Answer},
};

/// What a question came to, if not to an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Miss {
    /// There is none that could be used.
    Fault(Lack),
    /// GitHub says no.
    No(No),
}

/// Why there is no answer, and a text for the admin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lack {
    pub(super) error: UpstreamError,
    pub(super) detail: String,
}

impl Github {
    /// Asks once, unless the credential is to be left alone.
    pub(super) async fn ask(&self, contact: &Contact, route: &Route) -> Result<Answer, Miss> {
        if let Some(left) = self.cool_down.left() {
            return Err(limited(left));
        }
        let answer = self
            .transport
            .get(contact, route)
            .await
            .map_err(|fault| lack(fault.error, fault.detail))?;
        self.judge(answer)
    }

    /// The same for a page: where GitHub could not make it in time, a smaller one, once.
    pub(super) async fn ask_for_page(&self, contact: &Contact, route: &Route) -> Result<Answer, Miss> {
        match self.ask(contact, route).await {
            Err(Miss::Fault(Lack {
                error: UpstreamError::Timeout,
                detail,
            })) if detail == SLOW => {}
            answer => return answer,
        }
        match smaller(route) {
            Some(smaller) => self.ask(contact, &smaller).await,
            None => Err(lack(UpstreamError::Timeout, SLOW)),
        }
    }

    fn judge(&self, answer: Answer) -> Result<Answer, Miss> {
        let status = answer.status;
        if status.is_success() {
            self.cool_down.over();
            return Ok(answer);
        }
        let body = if status.is_client_error() {
            answer.json::<Value>().unwrap_or_default()
        } else {
            Value::Null
        };
        let no = No::read(status, &answer.headers, &body);
        if let Some(limit) = cool_down::limit(status, &answer.headers, &no.message) {
            return Err(limited(self.cool_down.begin(limit)));
        }
        Err(match status {
            StatusCode::UNAUTHORIZED => lack(
                UpstreamError::CredentialRejected,
                "GitHub does not accept the token: it has expired, was revoked, or is not one of this GitHub; make a new one and give it to the target",
            ),
            // Its own limit is as long as ours, and this is how it says that it was reached.
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => lack(UpstreamError::Timeout, SLOW),
            status if status.is_server_error() => lack(
                UpstreamError::Failed,
                format!(
                    "GitHub answered {}; look at its status page, or at the server's log",
                    status.as_u16()
                ),
            ),
            status if status.is_client_error() => Miss::No(no),
            status => lack(
                UpstreamError::Invalid,
                format!("GitHub answered {}, which is not expected here", status.as_u16()),
            ),
        })
    }
}

/// How a lack is told that is GitHub's own time, run out.
pub(super) const SLOW: &str = "GitHub could not answer within its own time; ask for less, or try again later";

/// A page of fewer rows that begins at the same row.
fn smaller(route: &Route) -> Option<Route> {
    let size: u64 = route.value("per_page")?.parse().ok().filter(|size| *size > 1)?;
    let Some(page) = route.value("page") else {
        return Some(route.clone().with("per_page", size.div_ceil(4).to_string()));
    };
    let page: u64 = page.parse().ok().filter(|page| *page > 0)?;
    let fewer = (1..=size / 2).rev().find(|fewer| size.is_multiple_of(*fewer))?;
    let page = (page - 1).checked_mul(size / fewer)?.checked_add(1)?;
    Some(
        route
            .clone()
            .with("per_page", fewer.to_string())
            .with("page", page.to_string()),
    )
}

fn limited(wait: Duration) -> Miss {
    Miss::Fault(left_alone(wait))
}

/// That nothing is sent with the token for so long.
pub(super) fn left_alone(wait: Duration) -> Lack {
    let detail = format!(
        "GitHub limits how often this token may ask; it is left alone for another {} s",
        wait.as_secs().max(1)
    );
    Lack {
        error: UpstreamError::RateLimited(wait),
        detail,
    }
}

pub(super) fn lack(error: UpstreamError, detail: impl Into<String>) -> Miss {
    Miss::Fault(Lack {
        error,
        detail: detail.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_page_begins_at_the_same_row() {
        let check = |size: &str, page: Option<&str>, expected: Option<(&str, Option<&str>)>| {
            let route = Route::of(["x"]).with("per_page", size).with_some("page", page);
            let made = smaller(&route);
            let told = made
                .as_ref()
                .map(|route| (route.value("per_page").unwrap(), route.value("page")));
            assert_eq!(told, expected, "{size} {page:?}");
        };
        check("100", None, Some(("25", None)));
        check("1", None, None);
        check("100", Some("2"), Some(("50", Some("3"))));
        check("30", Some("3"), Some(("15", Some("5"))));
        check("97", Some("2"), Some(("1", Some("98"))));
        check("100", Some("18446744073709551615"), None);
        check("x", None, None);
        assert_eq!(smaller(&Route::of(["x"])), None);
    }
}
