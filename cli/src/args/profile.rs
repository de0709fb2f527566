//! `profile …`: what can be typed about profiles of one's own, and about why a tool is there.

use clap::{Args, ValueEnum};

/// `profile create`.
#[derive(Debug, Args)]
pub(crate) struct CreateProfile {
    /// Name: a small letter, then letters, digits, _ and -
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) tools: ToolsOfProfile,
    /// What it is for, in one line
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// How its tools are told
    #[arg(long, value_name = "HOW")]
    pub(crate) disclosure: Option<Disclosure>,
    /// The most tokens that its list may cost a model; it is not saved above that
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) token_budget: Option<u32>,
    /// The most tokens of one result; the rest is fetched
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) result_cap: Option<u32>,
}

/// `profile update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateProfile {
    /// Name of the profile
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) tools: ToolsOfProfile,
    /// A tool to add; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) add: Vec<String>,
    /// A tool to leave out; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) remove: Vec<String>,
    /// What it is for, in one line
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// How its tools are told
    #[arg(long, value_name = "HOW")]
    pub(crate) disclosure: Option<Disclosure>,
    /// The most tokens that its list may cost a model, 0 for any; it is not saved above that
    #[arg(long, value_name = "N")]
    pub(crate) token_budget: Option<u32>,
    /// The most tokens of one result, 0 for any; the rest is fetched
    #[arg(long, value_name = "N")]
    pub(crate) result_cap: Option<u32>,
}

/// Which tools a profile has.
#[derive(Debug, Args)]
pub(crate) struct ToolsOfProfile {
    /// A tool, such as ssh.run_whitelisted_command; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// All tools of a group; may be repeated
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Vec<ProfileGroup>,
    /// All tools of another profile; may be repeated
    #[arg(long, value_name = "PROFILE")]
    pub(crate) from: Vec<String>,
}

/// Tools that go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileGroup {
    /// What agents remember
    Memory,
    /// The graph of the code
    CodeGraph,
    /// Projects, tasks and their outcomes
    Operator,
    /// Rooms in which agents talk
    Chat,
    /// Reads of Proxmox
    Proxmox,
    /// Commands on hosts
    Ssh,
    /// Reads of GitHub
    Github,
    /// Reads of Gitea
    Gitea,
}

/// How the tools of a profile are told.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Disclosure {
    /// In the list
    Direct,
    /// By search: the list holds three tools that find, describe and call the others
    Search,
}

impl Disclosure {
    /// The name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Search => "search",
        }
    }
}

/// `profile why`.
#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Name of the tool, such as ssh.run_whitelisted_command
    pub(crate) tool: String,
    /// Name or id of a live token to ask for; admins only [default: your own]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// The profile that its bearer would ask for
    #[arg(long, value_name = "PROFILE")]
    pub(crate) tool_profile: Option<String>,
}
