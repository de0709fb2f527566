//! `profile why`: which rule shows, hides or denies a tool, in one sentence.

use super::{super::text, segment};
use crate::{
    args::WhyArgs,
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

/// Runs the command.
pub(super) async fn run(gateway: &Gateway, output: Output, args: &WhyArgs) -> Result<Exit, Failure> {
    let mut query = Vec::new();
    for (name, value) in [("token", &args.token), ("profile", &args.tool_profile)] {
        if let Some(value) = value {
            query.push((name, value.clone()));
        }
    }
    let path = format!("/api/tools/{}/why", segment(&args.tool));
    let why = gateway.get(&path, &query).await?;
    match output.json {
        true => output.value(&why)?,
        false => output.line(text(&why, "sentence"))?,
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::fake::{self, Fake};

    #[tokio::test]
    async fn a_tool_is_asked_for_with_the_token_and_the_profile() {
        let why = json!({"verdict": "hidden", "rule": "policy", "sentence": "it is off"}).to_string();
        let fake = Fake::answering([(
            "GET /api/tools/a%2Fb/why?token=ci&profile=review ",
            fake::json(200, &why),
        )])
        .await;
        let output = Output::new(true, true);
        let args = WhyArgs {
            tool: "a/b".into(),
            token: Some("ci".into()),
            tool_profile: Some("review".into()),
        };
        run(&fake.gateway, output, &args).await.unwrap();
        assert_eq!(fake.asked().len(), 1);
    }
}
