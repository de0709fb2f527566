//! A session of somebody whom the provider vouched for begins: its row and the record's, in one transaction.

use std::time::Duration;

use serde_json::json;
use toolgate_contract::ids::TenantId;

use crate::{
    audit::EventKind,
    changes::{By, Changes, Fact},
    error::Error,
    identity::Kind,
    rfc3339,
    sessions::Session,
    tokens::{Holder, NewCredential},
};

const LIFE: Duration = Duration::from_secs(12 * 3_600);

/// Begins it.
pub(super) async fn begin(
    changes: &Changes,
    tenant: &TenantId,
    holder: Holder,
    facade: &'static str,
) -> Result<Session, Error> {
    let now_us = changes.now_us();
    let expires_us = now_us.saturating_add(i64::try_from(LIFE.as_micros()).unwrap_or(i64::MAX));
    let by = By {
        tenant: tenant.clone(),
        principal: holder.name.clone(),
        role: holder.role.as_str(),
        facade,
    };
    let holder = Holder {
        expires_us: Some(expires_us),
        ..holder
    };
    let made = NewCredential::mint(Kind::Session, tenant, holder, now_us)?;
    let token = made.text.clone();
    changes
        .make(by, move |tx| {
            Box::pin(async move {
                made.insert(tx).await?;
                let detail = json!({
                    "id": made.id.to_string(),
                    "expires_at": rfc3339::format(expires_us),
                    "method": "oidc",
                });
                Ok(((), vec![Fact::new(EventKind::SignedIn, detail)]))
            })
        })
        .await?;
    Ok(Session { token, expires_us })
}
