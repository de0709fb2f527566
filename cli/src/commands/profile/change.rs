//! `profile create`, `profile update` and `profile delete`: profiles of one's own.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_contract::registry::{self, Group, TOOLS, ToolDef};

use super::{
    super::{list, text},
    PATH, path,
    show::show,
};
use crate::{
    args::{CreateProfile, ProfileGroup, ToolsOfProfile, UpdateProfile},
    client::Gateway,
    failure::{Exit, Failure},
    output::Output,
};

/// Makes a profile.
pub(super) async fn create(gateway: &Gateway, output: Output, args: CreateProfile) -> Result<Exit, Failure> {
    let tools = named(gateway, &args.tools).await?;
    if tools.is_empty() {
        return Err(Failure::usage("a profile of no tools was asked for")
            .next("name some with --tool, --group or --from"));
    }
    let mut body = json!({"name": args.name, "tools": tools});
    put(&mut body, "description", args.description.map(Value::from));
    put(
        &mut body,
        "disclosure",
        args.disclosure.map(|how| how.as_str().into()),
    );
    put(&mut body, "tokenBudget", args.token_budget.map(Value::from));
    put(&mut body, "resultCap", args.result_cap.map(Value::from));
    let made = gateway.send(Method::POST, PATH, &body).await?;
    show(output, &made["profile"])?;
    Ok(Exit::Done)
}

/// Changes a profile: it is read, changed here, and replaced.
pub(super) async fn update(gateway: &Gateway, output: Output, args: UpdateProfile) -> Result<Exit, Failure> {
    let before = gateway.get(&path(&args.name), &[]).await?;
    let mut tools = named(gateway, &args.tools).await?;
    if tools.is_empty() {
        tools = tools_of(&before["profile"]);
    }
    tools.extend(args.add);
    for left_out in &args.remove {
        let canonical = registry::tool(left_out).map_or(left_out.as_str(), |tool| tool.name);
        if !tools.remove(canonical) {
            return Err(Failure::new(
                Exit::Refused,
                format!("the profile {} has no tool named {left_out}", args.name),
            ));
        }
    }
    let mut body = json!({
        "description": text(&before["profile"], "description"),
        "tools": tools,
        "disclosure": text(&before["profile"], "disclosure"),
    });
    put(&mut body, "description", args.description.map(Value::from));
    put(
        &mut body,
        "disclosure",
        args.disclosure.map(|how| how.as_str().into()),
    );
    for (member, given) in [("tokenBudget", args.token_budget), ("resultCap", args.result_cap)] {
        let number = given.map_or_else(
            || before["profile"][member].as_u64(),
            |number| Some(number.into()),
        );
        put(
            &mut body,
            member,
            number.filter(|number| *number > 0).map(Value::from),
        );
    }
    let now = gateway.send(Method::PUT, &path(&args.name), &body).await?;
    show(output, &now["profile"])?;
    Ok(Exit::Done)
}

/// Removes a profile.
pub(super) async fn delete(gateway: &Gateway, output: Output, name: &str) -> Result<Exit, Failure> {
    gateway.delete(&path(name)).await?;
    match output.json {
        true => output.value(&json!({"name": name}))?,
        false => output.line(&format!("the profile {name} is gone"))?,
    }
    Ok(Exit::Done)
}

fn put(body: &mut Value, member: &str, value: Option<Value>) {
    if let Some(value) = value {
        body[member] = value;
    }
}

/// The tools that were named, by themselves, by group or by another profile.
async fn named(gateway: &Gateway, args: &ToolsOfProfile) -> Result<BTreeSet<String>, Failure> {
    let mut tools: BTreeSet<String> = args.tool.iter().cloned().collect();
    let of_groups = TOOLS
        .iter()
        .filter(|tool| args.group.iter().any(|group| group.has(tool)));
    tools.extend(of_groups.map(|tool| tool.name.to_owned()));
    for name in &args.from {
        match registry::profile(name) {
            Some(found) => tools.extend(found.tools.iter().map(|tool| (*tool).to_owned())),
            None => tools.extend(tools_of(&gateway.get(&path(name), &[]).await?["profile"])),
        }
    }
    Ok(tools)
}

fn tools_of(profile: &Value) -> BTreeSet<String> {
    let tools = list(profile, "tools").iter().filter_map(Value::as_str);
    tools.map(str::to_owned).collect()
}

impl ProfileGroup {
    fn has(self, tool: &ToolDef) -> bool {
        match self {
            Self::Memory => tool.group == Some(Group::Memory),
            Self::CodeGraph => tool.group == Some(Group::CodeGraph),
            Self::Operator => tool.group == Some(Group::Operator),
            Self::Chat => tool.group == Some(Group::Chat),
            Self::Proxmox => tool.adapter == "proxmox",
            Self::Ssh => tool.adapter == "ssh",
            Self::Github => tool.adapter == "github",
            Self::Gitea => tool.adapter == "gitea",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::fake::{self, Fake};

    fn none() -> ToolsOfProfile {
        ToolsOfProfile {
            tool: vec![],
            group: vec![],
            from: vec![],
        }
    }

    fn body(asked: &str) -> Value {
        serde_json::from_str(asked.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    #[tokio::test]
    async fn tools_are_named_by_themselves_by_group_and_by_profile() {
        let own = json!({"profile": {"name": "mine", "tools": ["query"]}}).to_string();
        let fake = Fake::answering([("GET /api/profiles/mine ", fake::json(200, &own))]).await;
        let check = async |args: ToolsOfProfile| named(&fake.gateway, &args).await.unwrap().len();
        let ssh = || vec!["ssh.run_whitelisted_command".to_owned()];
        assert_eq!(
            check(ToolsOfProfile {
                tool: ssh(),
                ..none()
            })
            .await,
            1
        );
        for (group, many) in [
            (ProfileGroup::Memory, 13),
            (ProfileGroup::CodeGraph, 19),
            (ProfileGroup::Operator, 20),
            (ProfileGroup::Chat, 10),
            (ProfileGroup::Proxmox, 3),
            (ProfileGroup::Ssh, 1),
            (ProfileGroup::Github, 3),
            (ProfileGroup::Gitea, 2),
        ] {
            let group = ToolsOfProfile {
                group: vec![group],
                ..none()
            };
            assert_eq!(check(group).await, many);
        }
        let from = |name: &str| ToolsOfProfile {
            from: vec![name.to_owned()],
            ..none()
        };
        assert_eq!(check(from("review")).await, 40);
        assert_eq!(check(from("mine")).await, 1);
    }

    #[tokio::test]
    async fn an_update_keeps_what_is_not_named() {
        let before = json!({"profile": {"name": "mine", "description": "d", "tools": ["query", "task_get"],
            "disclosure": "search", "tokenBudget": 900, "resultCap": 80}});
        let fake = Fake::answering([
            ("GET /api/profiles/mine ", fake::json(200, &before.to_string())),
            ("PUT /api/profiles/mine ", fake::json(200, &before.to_string())),
        ])
        .await;
        let args = UpdateProfile {
            name: "mine".into(),
            tools: none(),
            add: vec!["describe".into()],
            remove: vec!["query".into()],
            description: None,
            disclosure: None,
            token_budget: Some(0),
            result_cap: None,
        };
        update(&fake.gateway, Output::new(true, true), args)
            .await
            .unwrap();
        let expected = json!({"description": "d", "tools": ["describe", "task_get"], "disclosure": "search",
            "resultCap": 80});
        assert_eq!(body(&fake.asked()[1]), expected);
    }
}
