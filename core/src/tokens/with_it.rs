//! What ends with a token: the sessions that its principal began by sign-in links, and the links that are unused.
//!
//! Principals are told apart by name, and of live tokens each has its own: so whatever a link began under the name came of
//! this token, whoever made the link.

use serde_json::json;
use toolgate_contract::ids::TenantId;

use crate::{
    audit::EventKind,
    changes::Fact,
    store::{StoreError, Tx, params},
};

// Sessions from before there was a choice came by a link.
const OPEN: &str = "select id from token where tenant_id = $1 and kind = 'session' and name = $2 \
     and coalesce(method, 'link') = 'link' and revoked_us is null and expires_us > $3 order by created_us, id limit 100";
const END: &str = "update token set revoked_us = $3 where tenant_id = $1 and id = $2 and kind = 'session'";
const DROP_UNUSED: &str = "delete from token where tenant_id = $1 and name = $2 and kind = 'sign_in' \
     and revoked_us is null";

pub(super) async fn end(
    tx: &mut Tx,
    tenant: &TenantId,
    name: &str,
    now_us: i64,
) -> Result<Vec<Fact>, StoreError> {
    tx.execute(DROP_UNUSED, params![tenant, name]).await?;
    // Of one principal fewer are open than are read here.
    let open = tx.query(OPEN, params![tenant, name, now_us]).await?;
    let mut facts = Vec::with_capacity(open.len());
    for row in &open {
        let id = row.text(0)?;
        tx.execute(END, params![tenant, id, now_us]).await?;
        let detail = json!({"id": id, "name": name, "why": "token_revoked"});
        facts.push(Fact::new(EventKind::SignedOut, detail));
    }
    Ok(facts)
}
