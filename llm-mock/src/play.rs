//! Plays a script: from what the request says to what the model does. Pure: the same request, the same answer.

use crate::{
    conversation::Conversation,
    quote,
    script::{Act, Choice, Pick, Script},
    tool::ToolChoice,
    wanted,
};

/// What the model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Text(String),
    Calls(Vec<Call>),
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON as a text; or no JSON, where the script says so.
    pub(crate) arguments: String,
}

pub(crate) fn play(script: &Script, conversation: &Conversation) -> Said {
    match script.act(conversation.round) {
        Act::Say(text) => Said::Text(text.to_owned()),
        Act::Quote(fields) => Said::Text(quote::sentence(fields, &conversation.results)),
        Act::Call(_) if conversation.toolbox.choice == ToolChoice::None => {
            Said::Text("I may call no tool.".to_owned())
        }
        Act::Call(choices) => calls(choices, conversation),
    }
}

fn calls(choices: &[Choice], conversation: &Conversation) -> Said {
    let most = if conversation.toolbox.parallel {
        usize::MAX
    } else {
        1
    };
    let mut calls = Vec::new();
    for choice in choices.iter().take(most) {
        let Some(name) = name(&choice.tool, conversation) else {
            return Said::Text(missing(&choice.tool, conversation));
        };
        calls.push(Call {
            id: format!("call_{:03}_{:02}", conversation.steps, calls.len()),
            name,
            arguments: arguments(choice, conversation),
        });
    }
    Said::Calls(calls)
}

fn name(pick: &Pick, conversation: &Conversation) -> Option<String> {
    let names = &conversation.toolbox.names;
    if let Pick::Unlisted(name) = pick {
        return Some(name.clone());
    }
    if let ToolChoice::Named(name) = &conversation.toolbox.choice {
        return Some(name.clone());
    }
    let found = match pick {
        Pick::Wanted => wanted::tool(&conversation.asked, names),
        Pick::Named(wanted) => names.iter().find(|name| *name == wanted).map(String::as_str),
        Pick::Matching(pattern) => names
            .iter()
            .find(|name| matches(pattern, name))
            .map(String::as_str),
        Pick::Unlisted(_) => None,
    };
    let must = conversation.toolbox.choice == ToolChoice::Required;
    found
        .map(str::to_owned)
        .or_else(|| names.first().filter(|_| must).cloned())
}

fn arguments(choice: &Choice, conversation: &Conversation) -> String {
    let written = choice.arguments.as_ref().map(|json| json.get());
    let given = choice.raw_arguments.as_deref().or(written);
    let asked = || wanted::arguments(&conversation.asked);
    given.or_else(asked).unwrap_or("{}").to_owned()
}

fn missing(pick: &Pick, conversation: &Conversation) -> String {
    let sought = match pick {
        Pick::Wanted => "that the message names",
        Pick::Named(name) | Pick::Matching(name) | Pick::Unlisted(name) => name,
    };
    let names = &conversation.toolbox.names;
    let given: Vec<&str> = names.iter().map(String::as_str).collect();
    format!(
        "There is no tool {sought} among {}: [{}].",
        names.len(),
        given.join(", ")
    )
}

/// Whether a name fits a pattern in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((front, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(front) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests;
