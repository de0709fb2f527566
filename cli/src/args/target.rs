//! `target …`: what can be typed about targets. A credential is never an argument: those stand in process lists and in
//! the shell's history.

use std::path::PathBuf;

use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};

/// `target …`.
#[derive(Debug, Subcommand)]
pub(crate) enum TargetCommand {
    /// Add a target
    ///
    /// A project, which brings tools of its own, is registered with `toolgate fleet add`.
    #[command(subcommand, arg_required_else_help = true)]
    Add(AddTarget),
    /// List the targets
    List {
        /// Only this type
        #[arg(long, value_name = "TYPE")]
        r#type: Option<String>,
    },
    /// Show a target: its settings, and what its last validation found
    Show {
        /// Id or name
        target: String,
    },
    /// Change a target: its name, its settings, its credential, whether it is used
    Update(Box<UpdateTarget>),
    /// Test the connection to a target
    Test {
        /// Id or name
        target: String,
    },
    /// Remove a target, its credential and its relay's key
    Remove {
        /// Id or name
        target: String,
    },
    /// Make a new one-time enrolment token for a host
    Enrol {
        /// Id or name
        target: String,
    },
    /// Forget the key of a host's relay and disconnect it
    RevokeRelay {
        /// Id or name
        target: String,
    },
}

/// `target add …`, by type.
#[derive(Debug, Subcommand)]
pub(crate) enum AddTarget {
    /// A host, reached through a relay that runs there
    Ssh {
        /// Name of the target
        name: String,
        /// Host name shown to people [default: NAME]
        #[arg(long, value_name = "HOST")]
        hostname: Option<String>,
        /// Port shown to people
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
    },
    /// A Proxmox VE node or cluster, read with an API token of the role PVEAuditor
    Proxmox {
        /// Name of the target
        name: String,
        /// Host name or address of a node, or of what stands in front of the cluster
        #[arg(long, value_name = "HOST")]
        host: String,
        /// Port [default: 8006]
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        /// Id of the API token: USER@REALM!NAME
        #[arg(
            long,
            value_name = "ID",
            required_unless_present = "secret_ref",
            conflicts_with = "secret_ref"
        )]
        token_id: Option<String>,
        #[command(flatten)]
        credential: CredentialArgs,
        #[command(flatten)]
        reach: ReachArgs,
    },
    /// GitHub, read with a fine-grained personal access token: metadata and actions, read-only
    Github(Box<TokenTarget>),
    /// Gitea or Forgejo, read with an access token of the scope read:repository
    Gitea(Box<TokenTarget>),
    /// The memory of agents and the graph of their code
    AgentMemory(Box<BackEndTarget>),
    /// The projects and tasks of agents
    AgentOperator(Box<BackEndTarget>),
    /// The rooms in which agents talk
    AgentChat(Box<BackEndTarget>),
}

/// A target that is a back end of agents: a token, or a client that asks for tokens.
#[derive(Debug, Args)]
pub(crate) struct BackEndTarget {
    /// Name of the target
    pub(crate) name: String,
    /// Where it is: the address below which it has its paths
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: String,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Id of the client that asks for tokens; its secret is then the credential. Without it the credential is a token
    #[arg(
        long,
        value_name = "ID",
        help_heading = "Credential",
        conflicts_with = "secret_ref"
    )]
    pub(crate) client_id: Option<String>,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// What `--access` may be: the contract's words, and as people type them.
pub(super) fn access() -> PossibleValuesParser {
    PossibleValuesParser::new([
        PossibleValue::new("read_only").alias("read-only"),
        PossibleValue::new("read_write").alias("read-write"),
    ])
}

/// What may be done at a back end of agents, and where tokens for it come from.
#[derive(Debug, Default, Args)]
pub(crate) struct AccessArgs {
    /// What agents may do there [default: read_only]
    #[arg(
        long,
        value_name = "ACCESS",
        value_parser = access()
    )]
    pub(crate) access: Option<String>,
    /// Where the client gets its tokens
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "issuer",
        help_heading = "Credential"
    )]
    pub(crate) token_url: Option<String>,
    /// Who hands out tokens, and says where
    #[arg(long, value_name = "URL", help_heading = "Credential")]
    pub(crate) issuer: Option<String>,
    /// What the client asks its tokens for
    #[arg(long, value_name = "SCOPE", help_heading = "Credential")]
    pub(crate) scope: Option<String>,
}

/// A target that is read with one token.
#[derive(Debug, Args)]
pub(crate) struct TokenTarget {
    /// Name of the target
    pub(crate) name: String,
    /// Where it is: `https://git.example`, or of GitHub Enterprise Server `https://HOST/api/v3`. GitHub itself needs none
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}

/// Where the credential comes from.
#[derive(Debug, Default, Args)]
pub(crate) struct CredentialArgs {
    /// Read the credential from standard input, one line; otherwise it is asked for on the terminal, without echo
    #[arg(long, help_heading = "Credential")]
    pub(crate) credential_stdin: bool,
    /// Where the credential is kept instead: aws:NAME, vault:PATH or vault:PATH#VERSION
    #[arg(
        long,
        value_name = "REFERENCE",
        conflicts_with = "credential_stdin",
        help_heading = "Credential"
    )]
    pub(crate) secret_ref: Option<String>,
}

/// How far a target is trusted, and where it may be.
#[derive(Debug, Default, Args)]
pub(crate) struct ReachArgs {
    /// PEM file of the authorities to trust, instead of this machine's
    #[arg(long, value_name = "FILE", help_heading = "Reach")]
    pub(crate) ca_certificate: Option<PathBuf>,
    /// SHA-256 of a certificate that is accepted, and no other is; may be given several times
    #[arg(
        long,
        value_name = "SHA256",
        conflicts_with = "ca_certificate",
        help_heading = "Reach"
    )]
    pub(crate) fingerprint: Vec<String>,
    /// Private network that may be dialled, such as 10.0.0.5/32; may be given several times
    #[arg(long, value_name = "NETWORK", help_heading = "Reach")]
    pub(crate) allow_private: Vec<String>,
    /// Whether the target may be on the gateway's own machine
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true, help_heading = "Reach")]
    pub(crate) allow_loopback: Option<bool>,
    /// Whether it may be read without TLS
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true, help_heading = "Reach")]
    pub(crate) allow_http: Option<bool>,
}

/// `target update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateTarget {
    /// Id or name
    pub(crate) target: String,
    /// New name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Use it again
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Use it no more: calls answer as if it were not there
    #[arg(long)]
    pub(crate) disable: bool,
    /// New credential in place of the present one, which is used until the new one has been validated
    #[arg(long, help_heading = "Credential", conflicts_with = "secret_ref")]
    pub(crate) new_credential: bool,
    /// Id of the new API token, of a Proxmox target: USER@REALM!NAME
    #[arg(
        long,
        value_name = "ID",
        help_heading = "Credential",
        requires = "new_credential"
    )]
    pub(crate) token_id: Option<String>,
    /// Id of the new client, of a back end of agents
    #[arg(
        long,
        value_name = "ID",
        help_heading = "Credential",
        requires = "new_credential",
        conflicts_with = "token_id"
    )]
    pub(crate) client_id: Option<String>,
    #[command(flatten)]
    pub(crate) credential: CredentialArgs,
    /// All settings at once, as a JSON object; what it leaves out is gone
    #[arg(long, value_name = "JSON", help_heading = "Settings of the target")]
    pub(crate) settings: Option<String>,
    /// Host name of an ssh target, shown to people
    #[arg(long, value_name = "HOST", help_heading = "Settings of the target")]
    pub(crate) hostname: Option<String>,
    /// Host name or address of a Proxmox target
    #[arg(long, value_name = "HOST", help_heading = "Settings of the target")]
    pub(crate) host: Option<String>,
    /// Port of an ssh or Proxmox target
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Settings of the target")]
    pub(crate) port: Option<u16>,
    /// Where a GitHub or Gitea target is, or a back end of agents
    #[arg(long, value_name = "URL", help_heading = "Settings of the target")]
    pub(crate) base_url: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}
