//! A session ends before its time: by whoever signs out, or by an admin. Once it has, nothing opens with it.

use serde_json::json;
use toolgate_contract::ids::TokenId;

use super::Sessions;
use crate::{
    audit::EventKind,
    changes::{By, Fact},
    error::{Error, Missing},
    store::params,
};

const FIND: &str =
    "select name, revoked_us, expires_us from token where tenant_id = $1 and id = $2 and kind = 'session'";
const END: &str = "update token set revoked_us = $3 \
     where tenant_id = $1 and id = $2 and kind = 'session' and revoked_us is null";

/// Whose sessions one may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One's own. Another's answers like one that does not exist.
    Own,
    /// Everybody's.
    All,
}

impl Sessions {
    /// Ends a session. One that has ended already stays so, without a second row on the record.
    pub(crate) async fn end(&self, by: By, id: TokenId, reach: Reach) -> Result<(), Error> {
        let now_us = self.changes.now_us();
        let (tenant, principal) = (by.tenant.clone(), by.principal.clone());
        self.changes
            .make(by, move |tx| {
                Box::pin(async move {
                    let missing = || Error::NotFound(Missing::Resource("session"));
                    let row = tx
                        .query_opt(FIND, params![&tenant, id])
                        .await?
                        .ok_or_else(missing)?;
                    let name = row.text(0)?.to_owned();
                    if reach == Reach::Own && name != principal {
                        return Err(missing());
                    }
                    let has_ended =
                        row.opt_int(1)?.is_some() || row.opt_int(2)?.is_some_and(|end| end <= now_us);
                    if has_ended || tx.execute(END, params![&tenant, id, now_us]).await? != 1 {
                        return Ok(((), vec![]));
                    }
                    let detail = json!({"id": id.to_string(), "name": name});
                    Ok(((), vec![Fact::new(EventKind::SignedOut, detail)]))
                })
            })
            .await
    }
}
