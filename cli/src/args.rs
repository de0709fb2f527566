//! The command line: what can be typed. Settings come from the table in `config/keys.rs`; everything else stands here.
//!
//! Only shapes: nothing here reads a file, the environment or the network.

pub(crate) mod assemble;
mod fleet;
mod profile;
mod target;
mod transcript;
mod wrong;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::{
    assemble::{Parsed, command, parse},
    fleet::{AddProject, FleetCommand, ProjectSettings, UpdateProject},
    profile::{CreateProfile, ProfileGroup, ToolsOfProfile, UpdateProfile, WhyArgs},
    target::{
        AccessArgs, AddTarget, BackEndTarget, CredentialArgs, ReachArgs, TargetCommand, TokenTarget,
        UpdateTarget,
    },
    transcript::{TranscriptCommand, TranscriptTailArgs},
    wrong::{usage, wants_json},
};

/// The gate between AI agents and the systems a company runs.
///
/// Agents see few, well-described tools; every call is checked, limited, routed and put on a tamper-evident record;
/// infrastructure can be read but never changed. Without a command it runs `up`.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What each exit code means; part of the contract with scripts.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed: the tool said no, or something went wrong
  2  the command line or the configuration cannot be used
  3  refused by the gateway (credential, role, write attempt, limit, arguments)
  4  the gateway cannot be reached
  5  the audit record is not intact
  6  nothing was tested: `smoke` without an account";

/// The commands, in the order in which a new user meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything: core, facade and a relay for this host
    Up,
    /// Call a tool and print its result
    Call(CallArgs),
    /// List the tools this token may see, or show one
    Tools(ToolsArgs),
    /// Add, list, test and remove targets
    #[command(subcommand, arg_required_else_help = true)]
    Target(TargetCommand),
    /// Register projects, see how they do, choose the default one
    #[command(subcommand, arg_required_else_help = true)]
    Fleet(FleetCommand),
    /// Make, list and revoke API tokens
    #[command(subcommand, arg_required_else_help = true)]
    Token(TokenCommand),
    /// Show the profiles: named sets of tools
    #[command(subcommand, arg_required_else_help = true)]
    Profile(ProfileCommand),
    /// Show the policy, switch tools off and on
    #[command(subcommand, arg_required_else_help = true)]
    Policy(PolicyCommand),
    /// Read, export and verify the audit record
    #[command(subcommand, arg_required_else_help = true)]
    Audit(AuditCommand),
    /// Show the keys that sign checkpoints, make new keys, retire old ones
    #[command(subcommand, arg_required_else_help = true)]
    Keys(KeysCommand),
    /// Print a new one-time sign-in link for a browser
    ///
    /// The link signs in as the principal whose token is used, whatever its role; agents have none. With --token an admin
    /// makes one for the principal of another live token. It works once, for 15 minutes; an unused one of the same principal
    /// no longer works. A session that comes of it ends with that token, at the latest.
    SignIn(SignInArgs),
    /// Make, bring up to date and check a PostgreSQL database
    #[command(subcommand, arg_required_else_help = true)]
    Db(DbCommand),
    /// Tell who this token is to the gateway
    #[command(name = "self")]
    Myself,
    /// Look for what is wrong and say what to do
    Doctor,
    /// Try every tool of an adapter against a real account
    ///
    /// Starts a gateway of its own that is thrown away afterwards, adds the account as a target, tests it, calls each
    /// tool and reads the record. Without an account it says SKIPPED and ends with exit code 6.
    Smoke(SmokeArgs),
    /// Run the core alone: gRPC, database and record, without HTTP
    Core,
    /// Run the facade alone: HTTP in front of a core that runs elsewhere
    Facade,
    /// Serve MCP over standard input and output, for one client
    ///
    /// The client starts it and speaks to it over its pipes. Where a gateway runs on the data directory, it is that
    /// gateway's facade; with --core, that core's; else it starts a core of its own, which other pipes share for as long
    /// as it runs, and reaches no hosts, whose relays want `toolgate up`. The token is TOOLGATE_TOKEN, or the admin's where the data directory's can be read.
    Mcp(McpArgs),
    /// Run a relay: the agent on a host or beside an MCP server, dialling out only
    #[command(subcommand, arg_required_else_help = true)]
    Relay(RelayCommand),
    /// Follow the transcripts of agents and tell of the issues that they report
    #[command(subcommand, arg_required_else_help = true)]
    Transcript(TranscriptCommand),
    /// Show the settings in force, or the schema of the file
    #[command(subcommand, arg_required_else_help = true)]
    Config(ConfigCommand),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Write one page per command into this directory instead
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// `call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// Name of the tool, such as ssh.run_whitelisted_command
    pub(crate) name: String,
    /// One argument, typed by the tool's schema; may be repeated
    ///
    /// Where the schema is not in your list, because `project` (or `toolgate_project`) names another project or the tool
    /// is not listed, a value that is a JSON number, true, false, null, array or object is sent as that, and everything
    /// else as text. --args says exactly what is meant.
    #[arg(long = "arg", value_name = "KEY=VALUE")]
    pub(crate) arg: Vec<String>,
    /// All arguments as one JSON object; --arg wins over it
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Id or name of the target, where there are several
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
}

/// `mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Offer only the tools of this profile [env: TATARA_TOOL_PROFILE]
    #[arg(long, value_name = "PROFILE")]
    pub(crate) tool_profile: Option<String>,
    /// Write nothing at the back ends of agents; their tools that write are left out
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Speak with the server of this project, as it is, instead of the gateway
    #[arg(long, value_name = "NAME")]
    pub(crate) project: Option<String>,
}

/// The profile of one request; it can only narrow.
#[derive(Debug, Args)]
pub(crate) struct ProfileArg {
    /// See only the tools of this profile
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
}

/// `tools`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
    #[command(flatten)]
    pub(crate) profile: ProfileArg,
}

/// `tools …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Show one tool: what it does, its arguments, an example, its targets
    Show {
        /// Name of the tool, such as ssh.run_whitelisted_command
        name: String,
        #[command(flatten)]
        profile: ProfileArg,
    },
}

/// `token …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token; it is shown once
    Create {
        /// Name, also of the principal on the audit record
        name: String,
        /// What the token may do
        #[arg(long)]
        role: Role,
        /// Pin a profile: the token sees only its tools
        #[arg(long, value_name = "PROFILE")]
        profile: Option<String>,
        /// When it ends: a span such as 12h, 30d, 8w, or an RFC 3339 time [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
        /// Write the data directory itself, where no gateway runs: the way back in when every admin token is lost
        #[arg(long)]
        offline: bool,
    },
    /// List the tokens, newest first, without their secrets
    List,
    /// Revoke a token; it is refused everywhere within five seconds
    Revoke {
        /// Id or name
        token: String,
    },
}

/// Roles of tokens.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Role {
    /// Everything
    Admin,
    /// Call tools, test targets, read the own calls on the record
    Engineer,
    /// Read, export and verify the record
    Auditor,
    /// List and call the tools of its profile
    Agent,
}

impl Role {
    /// The name on the wire.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Engineer => "engineer",
            Self::Auditor => "auditor",
            Self::Agent => "agent",
        }
    }
}

/// `profile …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles; those of the contract also where no gateway answers
    List,
    /// Show one profile and its tools
    Show {
        /// Name of the profile
        name: String,
    },
    /// Print the profile of pods for a kind of task: the value of TATARA_TOOL_PROFILE
    ///
    /// Needs no gateway. Prints an empty line for a kind that nobody knows, which leaves everything open.
    ForKind {
        /// Kind of task, such as triageIssue
        kind: String,
    },
    /// Make a profile of your own
    ///
    /// What no profile leaves out is added to the tools that are named.
    Create(CreateProfile),
    /// Change a profile of your own
    ///
    /// What is not named stays as it is. --tool, --group and --from together replace its tools.
    Update(UpdateProfile),
    /// Remove a profile of your own; refused while a live credential pins it
    Delete {
        /// Name of the profile
        name: String,
    },
    /// Say which rule shows, hides or denies a tool
    Why(WhyArgs),
    /// Show what the lists of profiles cost a model, in tokens
    Cost {
        /// Name of the profile, to see its tools; `all` for no profile
        name: Option<String>,
    },
}

/// `policy …`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show which tools are off
    Show,
    /// Switch tools off for the whole tenant
    Disable {
        /// Names of tools
        #[arg(required = true, value_name = "TOOL")]
        tools: Vec<String>,
    },
    /// Switch tools on again
    Enable {
        /// Names of tools
        #[arg(required = true, value_name = "TOOL")]
        tools: Vec<String>,
    },
}

/// `audit …`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Print the latest events
    Tail(TailArgs),
    /// Write the whole record, with the fields of its chain
    ///
    /// Into a folder it goes with the signed checkpoints, their public keys, a manifest and digests of all files, so
    /// that `toolgate audit verify --export DIR` needs no gateway and no database. An export that broke off, or an older
    /// one, is gone on with when the same folder is given again.
    Export(ExportArgs),
    /// Recompute the chain, hold it against the signed checkpoints, and tell the first fault
    ///
    /// Asks the running gateway. When none answers and the data directory is not in use, reads the database itself. With
    /// --export it needs neither.
    Verify(VerifyArgs),
}

/// `audit export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Folder to write to
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(crate) out: Option<PathBuf>,
    /// File to write rows alone to; standard output without it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// How rows are written
    #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
    pub(crate) format: RecordFormat,
    /// Begin with the row of this place in the chain
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub(crate) from_seq: Option<u64>,
    /// Start after this place in the chain
    #[arg(long, value_name = "SEQ", conflicts_with = "from_seq", value_parser = clap::value_parser!(u64).range(..i64::MAX as u64))]
    pub(crate) after: Option<u64>,
}

impl ExportArgs {
    /// The place before the first that is wanted; `None` where nothing was said.
    pub(crate) fn begins_after(&self) -> Option<u64> {
        self.after.or(self.from_seq.map(|first| first.saturating_sub(1)))
    }
}

/// How the rows of an export are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RecordFormat {
    /// One JSON object a line
    Ndjson,
    /// RFC 4180, for spreadsheets; cells that would be formulas get an apostrophe before them
    Csv,
}

/// `audit verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Begin where the last verification ended, if it was intact
    #[arg(long, conflicts_with = "export")]
    pub(crate) incremental: bool,
    /// Verify the export in this folder instead of a record
    #[arg(long, value_name = "DIR")]
    pub(crate) export: Option<PathBuf>,
    /// Folder with the root keys of the gateway, to check the MACs of an export as well
    #[arg(long, value_name = "DIR", requires = "export")]
    pub(crate) keys: Option<PathBuf>,
    /// The first checkpoint key of the record, or a file with it: what an export must lead back to
    #[arg(long, value_name = "KEY", requires = "export")]
    pub(crate) trust: Option<String>,
}

/// `audit tail`.
#[derive(Debug, Args)]
pub(crate) struct TailArgs {
    /// Go on printing events as they come
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// How many to start with
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) lines: u32,
    /// Only this principal
    #[arg(long)]
    pub(crate) principal: Option<String>,
    /// Only this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this target's id
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// Only this result: success, failure, refused, cancelled or unknown
    #[arg(long)]
    pub(crate) result: Option<String>,
    /// Only this kind of event
    #[arg(long)]
    pub(crate) event: Option<String>,
    /// Only this call
    #[arg(long, value_name = "ID")]
    pub(crate) correlation_id: Option<String>,
    /// Not before: an RFC 3339 time, or a span back from now such as 2h
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Before: an RFC 3339 time, or a span back from now
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

/// `keys …`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Print the public checkpoint keys, and the first one, which auditors pin
    Show,
    /// Make a new key, beside a running gateway or without one
    ///
    /// What the old one signed or sealed still verifies, so it stays where it is. A running gateway takes up the new one
    /// by itself: a checkpoint key with its next round, a root key within a second.
    Rotate {
        /// Which key
        key: RotatedKey,
    },
    /// Remove a root key that nothing needs any more, where no gateway runs
    ///
    /// Refused while a secret is wrapped with it or a row of the record was sealed with it.
    Retire {
        /// Id of the root, from the name of its file
        root: String,
    },
}

/// Keys that can be replaced.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RotatedKey {
    /// The key that signs checkpoints
    Checkpoint,
    /// The key that the record is sealed and secrets are wrapped with
    Root,
}

/// `db …`.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Make roles, schemas and tables where they are missing
    ///
    /// Run it as a superuser of the server the first time, later as toolgate_migrator. What is there already is never
    /// changed; each migration is applied whole or not at all.
    Migrate {
        /// Set the password of toolgate_app to the first line of this file
        #[arg(long, value_name = "FILE")]
        app_password_file: Option<PathBuf>,
    },
    /// Tell everything that would keep a gateway from starting on it
    Check,
}

/// `relay …`.
#[derive(Debug, Subcommand)]
pub(crate) enum RelayCommand {
    /// Make this host a target: six read-only commands, nothing else
    Host(RelayHostArgs),
    /// Bring an MCP server of your own to the gateway, as a project
    ///
    /// The server is a command that speaks MCP on standard input and output, given after `--`, or one that is there
    /// already, given by --url. It keeps the environment and the working directory of this command.
    #[command(override_usage = RELAY_PROJECT_USAGE)]
    Project(RelayProjectArgs),
}

const RELAY_PROJECT_USAGE: &str = "\
toolgate relay project [OPTIONS] --gateway <URL> --name <NAME> -- <COMMAND>...
       toolgate relay project [OPTIONS] --gateway <URL> --name <NAME> --url <URL>";

/// Where a relay dials, and what it is let in with at first.
#[derive(Debug, Args)]
pub(crate) struct DialArgs {
    /// The gateway to dial
    #[arg(long, value_name = "URL")]
    pub(crate) gateway: String,
    /// One-time enrolment token; needed at the first start only. TOOLGATE_ENROLMENT_TOKEN keeps it out of `ps`
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

/// `relay host`.
#[derive(Debug, Args)]
pub(crate) struct RelayHostArgs {
    #[command(flatten)]
    pub(crate) dial: DialArgs,
    /// Name of the host for people [default: the machine's host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Directory of the relay's key and of the gateway's pinned identity
    #[arg(long = "data-dir", value_name = "DIR", default_value = "./toolgate-relay")]
    pub(crate) dir: PathBuf,
    /// Allow running as root; commands run as an unprivileged user all the same
    #[arg(long)]
    pub(crate) allow_root: bool,
}

/// `relay project`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("server").required(true).args(["url", "command"]))]
pub(crate) struct RelayProjectArgs {
    #[command(flatten)]
    pub(crate) dial: DialArgs,
    /// Name of the project for people; may be left out once the relay is enrolled
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Address of a server that is there already: Streamable HTTP, or HTTP+SSE of 2024-11-05
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Directory of the relay's key and of the gateway's pinned identity
    #[arg(long = "data-dir", value_name = "DIR", default_value = "./toolgate-project")]
    pub(crate) dir: PathBuf,
    /// Allow running as root; the server then runs as root as well
    #[arg(long)]
    pub(crate) allow_root: bool,
    /// The server, as a command that speaks MCP on standard input and output
    #[arg(last = true, value_name = "COMMAND", num_args = 1..)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// `sign-in`.
#[derive(Debug, Args)]
pub(crate) struct SignInArgs {
    /// For admins: sign in as the principal of this live token, by name or id
    #[arg(long, value_name = "NAME_OR_ID")]
    pub(crate) token: Option<String>,
}

/// `smoke`.
#[derive(Debug, Args)]
#[command(after_help = SMOKE_VARIABLES)]
pub(crate) struct SmokeArgs {
    /// Which adapter
    pub(crate) adapter: SmokeAdapter,
}

const SMOKE_VARIABLES: &str = "\
Environment:
  github   TOOLGATE_SMOKE_GITHUB_TOKEN; TOOLGATE_SMOKE_GITHUB_URL for another server than api.github.com
  gitea    TOOLGATE_SMOKE_GITEA_URL, TOOLGATE_SMOKE_GITEA_TOKEN
  proxmox  TOOLGATE_SMOKE_PROXMOX_HOST, TOOLGATE_SMOKE_PROXMOX_TOKEN_ID, TOOLGATE_SMOKE_PROXMOX_TOKEN_SECRET;
           TOOLGATE_SMOKE_PROXMOX_PORT, TOOLGATE_SMOKE_PROXMOX_FINGERPRINT (several with commas between)
  all      TOOLGATE_SMOKE_ALLOW_PRIVATE: private networks that may be dialled, such as 10.0.0.5/32";

/// Adapters that need an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmokeAdapter {
    /// GitHub, by a fine-grained token
    Github,
    /// Gitea or Forgejo
    Gitea,
    /// Proxmox VE
    Proxmox,
}

impl SmokeAdapter {
    /// Its name as everywhere.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Gitea => "gitea",
            Self::Proxmox => "proxmox",
        }
    }
}

/// `config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting in force and where it came from
    Show,
    /// Print the JSON Schema of toolgate.toml
    Schema,
    /// Print the page about every setting, as Markdown
    Docs,
}

#[cfg(test)]
mod tests;
