//! `sign-in`: a new one-time link for a browser.

use reqwest::Method;
use serde_json::json;

use super::text;
use crate::{
    args::SignInArgs,
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

const PATH: &str = "/api/sign-in/code";

/// Runs the command.
pub(crate) async fn run(gateway: Gateway, output: Output, args: &SignInArgs) -> Result<Exit, Failure> {
    let asked = args
        .token
        .as_ref()
        .map_or_else(|| json!({}), |token| json!({"token": token}));
    let made = gateway.send(Method::POST, PATH, &asked).await?;
    let (code, until) = (text(&made, "code"), text(&made, "expiresAt"));
    let link = link(gateway.url(), code);
    if output.json {
        output.value(&json!({"signIn": link, "code": code, "expiresAt": until}))?;
    } else {
        eprintln!(
            "open this in a browser; it works once, until {until}, and links before it for the same principal no longer do:"
        );
        output.line(&link)?;
    }
    Ok(Exit::Done)
}

/// The link of a code. The code stands in the fragment: browsers keep it to themselves.
pub(crate) fn link(gateway: &str, code: &str) -> String {
    format!("{gateway}/sign-in#code={code}")
}
