//! `fleet …`: what can be typed about projects.

use clap::{Args, Subcommand};

use super::target::access;

/// `fleet …`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Register a project, and make the one-time token of its relay
    Add(Box<AddProject>),
    /// List the projects: how they are registered and how they do
    List,
    /// Show a project: its settings, its relay, its tools, what it told last
    Show {
        /// Name of the project
        name: String,
    },
    /// Tell how every project does: connected, last heard, how stale its events are
    Health,
    /// Ask every project for the status of its pipeline: counts of stages, and what is blocked or failing
    Status,
    /// Compare the key that each relay enrolled with against the one it shows
    Identity,
    /// Make a project the one that your own calls go to when they name none
    Switch {
        /// Name of the project
        name: String,
    },
    /// Show or set the project that the tenant's calls go to when neither they nor their caller name one
    Default {
        /// Name of the project
        #[arg(conflicts_with = "none")]
        name: Option<String>,
        /// There is none any more
        #[arg(long)]
        none: bool,
    },
    /// Change the settings of a project
    Update(Box<UpdateProject>),
    /// Use a project again
    Enable {
        /// Name of the project
        name: String,
    },
    /// Use a project no more: calls answer as if it were not there
    Disable {
        /// Name of the project
        name: String,
    },
    /// Accept the changed tools of a project, which are kept back where --on-drift is block
    Accept {
        /// Name of the project
        name: String,
        /// Only this list, by its SHA-256 as `fleet show` tells it [default: the one that is kept back now]
        #[arg(long, value_name = "SHA256")]
        hash: Option<String>,
    },
    /// Pin the key that a project's relay shows now, in place of the one it enrolled with
    ///
    /// Look at the relay's own log first: it prints its key. A key that you cannot find there is somebody else's.
    Repin {
        /// Name of the project
        name: String,
        /// That key, as `fleet identity` tells it
        #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
        key: String,
    },
    /// Make a new one-time enrolment token for the relay of a project
    Enrol {
        /// Name of the project
        name: String,
    },
    /// Forget the key of a project's relay and disconnect it
    Revoke {
        /// Name of the project
        name: String,
    },
    /// Remove a project and its relay's key
    Remove {
        /// Name of the project
        name: String,
    },
}

/// `fleet add`.
#[derive(Debug, Args)]
pub(crate) struct AddProject {
    /// Name of the project: small letters, digits and -, at most 40; none of proxmox, ssh, github, gitea
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) settings: ProjectSettings,
    /// Calls of the tenant go to it when neither they nor their caller name a project
    #[arg(long)]
    pub(crate) default: bool,
}

/// `fleet update`. Only what is typed changes.
#[derive(Debug, Args)]
pub(crate) struct UpdateProject {
    /// Name of the project
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) settings: ProjectSettings,
}

/// The settings of a project.
#[derive(Debug, Default, Args)]
pub(crate) struct ProjectSettings {
    /// Which of its tools may be called: those that say of themselves that they only read, or all [default: read_only]
    #[arg(
        long,
        value_name = "ACCESS",
        value_parser = access()
    )]
    pub(crate) access: Option<String>,
    /// Where people find it; the gateway never dials it. An empty one takes it away. (`--url` is the gateway's own)
    #[arg(long, value_name = "URL", help_heading = "Labels for people")]
    pub(crate) project_url: Option<String>,
    /// Port of its ssh
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Labels for people")]
    pub(crate) ssh_port: Option<u16>,
    /// Its folder on its host. An empty one takes it away
    #[arg(long, value_name = "PATH", help_heading = "Labels for people")]
    pub(crate) host_path: Option<String>,
    /// It was adopted, where others are built in
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true, help_heading = "Labels for people")]
    pub(crate) adopted: Option<bool>,
    /// The tool that tells the status of its pipeline [default: get_pipeline_status]
    #[arg(long, value_name = "TOOL")]
    pub(crate) status_tool: Option<String>,
    /// What happens when its tools or their texts change: put on the record, or kept back until an admin accepts them
    /// [default: record]
    #[arg(long, value_name = "WHAT", value_parser = ["record", "block"])]
    pub(crate) on_drift: Option<String>,
    /// How long a call may take, 1 to 3600 seconds [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) timeout: Option<u32>,
}
