//! `self`: who the token is to the gateway.

use super::text;
use crate::{
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output) -> Result<Exit, Failure> {
    let me = gateway.get("/api/self", &[]).await?;
    if output.json {
        output.value(&me)?;
        return Ok(Exit::Done);
    }
    let rows = [
        ("gateway", gateway.url()),
        ("tenant", text(&me, "tenantId")),
        ("principal", text(&me, "principal")),
    ];
    for (name, value) in rows
        .into_iter()
        .chain([("role", text(&me, "role")), ("profile", text(&me, "profile"))])
    {
        if !value.is_empty() {
            output.line(&format!("{name:<9}  {value}"))?;
        }
    }
    Ok(Exit::Done)
}
