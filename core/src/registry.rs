//! The closed registry with its schemas compiled once, and the canonical spelling of what callers ask for.
//!
//! Closed at build time: nothing here adds a tool.

mod affordable;

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use jsonschema::{Validator, error::ValidationErrorKind};
use serde_json::value::RawValue;
use toolgate_contract::{
    registry::{self, ToolDef},
    v1::Violation,
};
use unicode_normalization::UnicodeNormalization;

use self::affordable::Cost;
#[cfg(any(test, feature = "conformance"))]
use crate::fixtures;

/// Bytes of one compiled pattern of a schema from outside.
const LARGEST_PATTERN: usize = 64 * 1024;
/// Values of a schema from outside times parts of the arguments: a few milliseconds.
const MOST_LOOKS: u64 = 2_000_000;
/// At most this many violations are told; more help nobody.
const MAX_VIOLATIONS: usize = 32;

static VALIDATORS: LazyLock<HashMap<&'static str, Validator>> = LazyLock::new(|| {
    tools()
        .map(|tool| (tool.name, compile(tool.input_schema)))
        .collect()
});

static REQUIRED: LazyLock<HashMap<&'static str, HashSet<String>>> = LazyLock::new(|| {
    let required = |schema: &str| {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap_or_default();
        serde_json::from_value(schema["required"].clone()).unwrap_or_default()
    };
    tools()
        .map(|tool| (tool.name, required(tool.input_schema)))
        .collect()
});

/// Only debug builds look at these.
static OUTPUTS: LazyLock<HashMap<&'static str, Validator>> = LazyLock::new(|| {
    tools()
        .filter(|tool| !tool.output_schema.is_empty())
        .map(|tool| (tool.name, compile(tool.output_schema)))
        .collect()
});

/// The tool of this canonical name or alias.
#[must_use]
pub fn tool(name: &str) -> Option<&'static ToolDef> {
    let tool = registry::tool(name);
    #[cfg(any(test, feature = "conformance"))]
    let tool = tool.or_else(|| fixtures::tool(name));
    tool
}

/// Every tool there is. What a caller may see of them is its tenant's and its profile's to say.
pub fn tools() -> impl Iterator<Item = &'static ToolDef> {
    let tools = registry::TOOLS.iter();
    #[cfg(any(test, feature = "conformance"))]
    let tools = tools.chain(fixtures::TOOLS);
    tools
}

/// The adapter types of the back ends of agents.
pub const BACK_ENDS: [&str; 3] = ["agent-memory", "agent-operator", "agent-chat"];

/// The adapter type of projects, which bring their tools along.
pub const PROJECT: &str = "project";

/// The adapter types whose targets are reached through a relay of theirs.
pub const RELAYED: [&str; 2] = ["ssh", PROJECT];

/// The adapter types of which targets can be added.
pub const ADDABLE: [&str; 8] = [
    "proxmox",
    "ssh",
    "github",
    "gitea",
    "agent-memory",
    "agent-operator",
    "agent-chat",
    PROJECT,
];

/// The adapter type of this name, if targets of it can be added.
#[must_use]
pub fn addable_adapter(name: &str) -> Option<&'static str> {
    ADDABLE.into_iter().find(|known| *known == name)
}

/// Every place where the arguments do not match the tool's schema; empty when they do.
#[must_use]
pub fn violations(tool: &ToolDef, arguments: &serde_json::Value) -> Vec<Violation> {
    VALIDATORS
        .get(tool.name)
        .map_or_else(Vec::new, |validator| violations_of(validator, arguments))
}

/// A schema that came from outside, compiled once. Fetches nothing, and costs no more than it may.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    cost: Cost,
}

impl Schema {
    /// Compiles a schema on a linear-time engine; `None` where it cannot be, or would cost too much.
    #[must_use]
    pub fn compile(schema: &str) -> Option<Self> {
        let schema = serde_json::from_str(schema).ok()?;
        let cost = affordable::cost(&schema)?;
        let patterns = jsonschema::PatternOptions::regex().size_limit(LARGEST_PATTERN);
        let validator = jsonschema::options()
            .with_pattern_options(patterns)
            .build(&schema);
        validator.ok().map(|validator| Self { validator, cost })
    }

    /// How many patterns it holds in memory.
    #[must_use]
    pub fn patterns(&self) -> usize {
        self.cost.patterns
    }

    /// Every place where the arguments do not match; empty when they do, and where looking would take too long: then
    /// whoever gets them looks alone.
    #[must_use]
    pub fn violations(&self, arguments: &serde_json::Value, bytes: &[u8]) -> Vec<Violation> {
        let parts = bytes
            .iter()
            .filter(|byte| matches!(byte, b',' | b'[' | b'{'))
            .count();
        let looks = self.cost.values.saturating_mul(parts as u64 + 1);
        match looks <= MOST_LOOKS {
            true => violations_of(&self.validator, arguments),
            false => vec![],
        }
    }
}

fn violations_of(validator: &Validator, arguments: &serde_json::Value) -> Vec<Violation> {
    validator
        .iter_errors(arguments)
        .take(MAX_VIOLATIONS)
        .map(|error| Violation {
            pointer: error.instance_path().to_string(),
            keyword: error.kind().keyword().to_owned(),
            message: message(&error),
        })
        .collect()
}

/// The caller's values do not come back in texts that end up in logs. Of a closed set every value is told: a model that is
/// told two of seven cannot mend its call.
fn message(error: &jsonschema::ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().into_iter().flatten();
            let options: Vec<String> = options.map(ToString::to_string).collect();
            format!("value is not one of {}", options.join(", "))
        }
        _ => error.masked().to_string(),
    }
}

/// Whether the tool must be given this argument.
#[must_use]
pub fn is_required(tool: &ToolDef, argument: &str) -> bool {
    REQUIRED
        .get(tool.name)
        .is_some_and(|required| required.contains(argument))
}

/// Whether the tool promises structured results of a schema.
#[must_use]
pub fn has_output(tool: &str) -> bool {
    OUTPUTS.contains_key(tool)
}

/// Whether a structured result is one of the tool's output schema. Too dear for every call of a release: adapters write
/// results from types, and tests and debug builds hold them against the schema here.
#[must_use]
pub fn fits_output(tool: &str, structured: &RawValue) -> bool {
    let Ok(value) = serde_json::from_str::<serde_json::Value>(structured.get()) else {
        return false;
    };
    OUTPUTS
        .get(tool)
        .is_some_and(|validator| validator.is_valid(&value))
}

/// Two names of infrastructure differ by more.
const SLIP: usize = 2;
/// A name is told back up to here.
const TOLD: usize = 100;

/// The tool among those shown whose name or alias this one is but for a slip or two of the hand.
///
/// A function of the name and of what is shown, and of nothing else: it tells nobody what is hidden.
#[must_use]
pub fn near(name: &str, shown: impl Fn(&ToolDef) -> bool) -> Option<&'static str> {
    let plain = plain_spelling(name);
    let distance = |tool: &ToolDef| {
        let to = |known: &str| strsim::damerau_levenshtein(&plain, known);
        to(tool.name).min(to(tool.function_name))
    };
    tools()
        .filter(|tool| shown(tool))
        .map(|tool| (distance(tool), tool.name))
        .filter(|(distance, _)| *distance <= SLIP)
        .min()
        .map(|(_, name)| name)
}

/// A name that no tool has, as it is told to whoever configures the gateway: bounded, escaped, with the nearest one.
#[must_use]
pub fn not_known(name: &str) -> String {
    let short: String = name.chars().take(TOLD).collect();
    let told = short.escape_debug().to_string();
    let likeness = |tool: &ToolDef| strsim::normalized_damerau_levenshtein(&short.to_lowercase(), tool.name);
    let nearest = registry::TOOLS
        .iter()
        .map(|tool| (likeness(tool), tool.name))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .filter(|(likeness, _)| *likeness >= 0.5);
    nearest.map_or(told.clone(), |(_, near)| {
        format!("{told} (the nearest is {near})")
    })
}

/// Compiles every schema now, so that the first call does not pay for it.
pub fn warm_up() {
    LazyLock::force(&VALIDATORS);
}

/// The name spaces of infrastructure, which are public: an unregistered name in them is a write attempt.
const INFRASTRUCTURE: [&str; 4] = ["proxmox", "ssh", "github", "gitea"];

/// Whether a name that is in no catalog is an attempt at infrastructure (`gateway.md` D1).
///
/// No verb lists: those have holes.
#[must_use]
pub fn is_write_attempt(name: &str) -> bool {
    is_infrastructure_name(name) && tool(&plain_spelling(name)).is_none()
}

/// Whether a name, however it is spelt, stands in a name space of infrastructure.
#[must_use]
pub fn is_infrastructure_name(name: &str) -> bool {
    let plain = plain_spelling(name);
    INFRASTRUCTURE.iter().any(|space| {
        plain
            .strip_prefix(space)
            .is_some_and(|rest| rest.starts_with(['.', '_', '/', ':']))
    })
}

/// NFKC, percent-decoding and lower case, until nothing changes; bounded, because each round only shortens escapes.
fn plain_spelling(name: &str) -> String {
    let mut plain = name.to_owned();
    for _ in 0..8 {
        let decoded = percent_encoding::percent_decode_str(&plain)
            .decode_utf8_lossy()
            .into_owned();
        let next: String = decoded
            .nfkc()
            .flat_map(char::to_lowercase)
            .filter(|c| !is_invisible(*c))
            .collect();
        if next == plain {
            break;
        }
        plain = next;
    }
    plain.trim().to_owned()
}

/// What no reader sees: controls, all of category Cf, variation selectors and the rest of what Unicode lets a renderer
/// leave out (Default_Ignorable_Code_Point), unassigned ones included.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[allow(
    clippy::expect_used,
    reason = "the schemas are ours and a test compiles every one"
)]
fn compile(schema: &str) -> Validator {
    let schema = serde_json::from_str(schema).expect("generated schemas are JSON");
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&schema)
        .expect("generated schemas are valid")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_contract::registry::Group;

    use super::*;

    #[test]
    fn every_schema_compiles() {
        warm_up();
        assert_eq!(VALIDATORS.len(), registry::TOOLS.len() + fixtures::TOOLS.len());
        let promising = registry::TOOLS
            .iter()
            .filter(|tool| tool.is_infrastructure() || tool.group == Some(Group::Fleet));
        assert_eq!(OUTPUTS.len(), promising.count());
    }

    #[test]
    fn every_violation_is_told_with_its_place() {
        let tool = tool("ssh.run_whitelisted_command").unwrap();
        let found = violations(tool, &json!({"command": 5, "extra": true, "target_id": []}));
        let mut places: Vec<_> = found
            .iter()
            .map(|v| (v.pointer.as_str(), v.keyword.as_str()))
            .collect();
        places.sort_unstable();
        assert_eq!(
            places,
            [
                ("", "additionalProperties"),
                ("/command", "type"),
                ("/target_id", "type")
            ]
        );
        assert_eq!(violations(tool, &json!({}))[0].keyword, "required");
    }

    #[test]
    fn a_result_is_held_against_the_output_schema_of_its_tool() {
        let fits = |structured: serde_json::Value| {
            let raw = serde_json::value::to_raw_value(&structured).unwrap();
            fits_output("ssh.run_whitelisted_command", &raw)
        };
        let good =
            json!({"command": "uptime", "stdout": "", "stderr": "", "truncated": false, "duration_ms": 1});
        assert!(fits(good.clone()));
        assert!(!fits(json!({})));
        assert!(has_output("ssh.run_whitelisted_command"));
        for (member, value) in [
            ("stdout", json!(5)),
            ("exit_code", json!("zero")),
            ("evil", json!(1)),
        ] {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(!fits(bad), "{member}");
        }
    }

    #[test]
    fn a_slip_of_the_hand_finds_the_tool_that_was_meant_among_those_shown() {
        for (name, expected) in [
            ("ssh.run_whitelisted_comand", Some("ssh.run_whitelisted_command")),
            ("ssh_run_whitelisted_commnad", Some("ssh.run_whitelisted_command")),
            (
                "SSH.run_whitelisted_commands",
                Some("ssh.run_whitelisted_command"),
            ),
            ("proxmox.list_vm", Some("proxmox.list_vms")),
            ("proxmox.shutdown_vm", None),
            ("create_story", None),
            ("", None),
        ] {
            assert_eq!(near(name, |_| true), expected, "{name}");
            assert_eq!(near(name, |_| false), None, "{name}");
        }
    }

    #[test]
    fn no_name_of_infrastructure_is_near_another_so_that_a_hidden_one_reads_like_none() {
        for tool in registry::TOOLS.iter().filter(|tool| tool.is_infrastructure()) {
            for name in [tool.name, tool.function_name] {
                assert_eq!(near(name, |other| other.name != tool.name), None, "{name}");
            }
        }
    }

    // Names of agents' tools are near each other, as code_callers and code_callees are. What is told is shown to whom it
    // is told, so it is what a name that is not registered would be told.
    #[test]
    fn what_is_near_a_hidden_tool_is_never_a_hidden_one() {
        for tool in registry::TOOLS {
            let told = near(tool.name, |other| other.name != tool.name);
            assert_ne!(told, Some(tool.name));
        }
        assert_eq!(
            near("code_callees", |tool| tool.name == "code_callers"),
            Some("code_callers")
        );
        assert_eq!(near("code_callees", |_| false), None);
    }

    #[test]
    fn unregistered_names_in_infrastructure_name_spaces_are_write_attempts() {
        let attempts = [
            "proxmox.shutdown_vm",
            "PROXMOX.SHUTDOWN_VM",
            "proxmox/POST /nodes/pve/qemu/100/status/stop",
            "github:repos/delete",
            "gitea_delete_repo",
            "ssh.exec",
            "%70roxmox.shutdown_vm",
            "%2570roxmox.shutdown_vm",
            "proxmox%2Eshutdown_vm",
            "ｐｒｏｘｍｏｘ.shutdown_vm",
            " proxmox.shutdown_vm",
            "prox\u{200b}mox.shutdown_vm",
            "proxmox\u{ff0e}shutdown_vm",
            "proxmox.list_vms_and_more",
        ];
        for name in attempts {
            assert!(is_write_attempt(name), "{name}");
        }
        for name in [
            "",
            "proxmox",
            "proxmoxer.x",
            "create_story",
            "PROXMOX.list_vms",
            "proxmox_list_vms",
            "my.ssh.x",
        ] {
            assert!(!is_write_attempt(name), "{name}");
        }
    }

    #[test]
    fn a_name_space_behind_characters_nobody_sees_is_still_a_write_attempt() {
        let runs = [
            ('\u{ad}', '\u{ad}'),
            ('\u{34f}', '\u{34f}'),
            ('\u{600}', '\u{605}'),
            ('\u{61c}', '\u{61c}'),
            ('\u{115f}', '\u{1160}'),
            ('\u{180b}', '\u{180f}'),
            ('\u{200b}', '\u{200f}'),
            ('\u{202a}', '\u{202e}'),
            ('\u{2060}', '\u{206f}'),
            ('\u{3164}', '\u{3164}'),
            ('\u{fe00}', '\u{fe0f}'),
            ('\u{feff}', '\u{feff}'),
            ('\u{fff9}', '\u{fffb}'),
            ('\u{110bd}', '\u{110bd}'),
            ('\u{13430}', '\u{1343f}'),
            ('\u{1bca0}', '\u{1bca3}'),
            ('\u{1d173}', '\u{1d17a}'),
            ('\u{e0000}', '\u{e01ef}'),
        ];
        for c in runs.into_iter().flat_map(|(first, last)| first..=last) {
            for name in [
                format!("{c}proxmox.shutdown_vm"),
                format!("prox{c}mox.shutdown_vm"),
                format!("proxmox{c}.shutdown_vm"),
            ] {
                assert!(is_write_attempt(&name), "{}", name.escape_unicode());
            }
        }
        // What is seen stays: another word is another name.
        assert!(!is_write_attempt("prox\u{301}mox.shutdown_vm"));
    }
}
