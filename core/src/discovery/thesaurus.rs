//! What people call things, and what the tools call them.
//!
//! Words of the trade only, each with the words of the registry that mean the same or nearly so. It knows no questions:
//! a row belongs here when it is true of the words, whatever is asked.

use std::collections::BTreeSet;

/// Words of one meaning, and what they are called in names and descriptions.
const ROWS: &[(&[&str], &str)] = &[
    // Code forges.
    (
        &[
            "pr",
            "prs",
            "mr",
            "merge request",
            "pull request",
            "pull requests",
            "diff",
        ],
        "pr pull request change",
    ),
    (
        &[
            "ci",
            "pipeline",
            "pipelines",
            "build",
            "builds",
            "actions",
            "checks",
        ],
        "ci run",
    ),
    (&["repository", "repositories", "repos", "project's code"], "repo"),
    (&["organisation", "organization", "org"], "owner"),
    (
        &["ticket", "tickets", "bug", "bugs", "defect", "defects"],
        "issue",
    ),
    (&["suggest", "suggestion", "file", "raise"], "propose"),
    (&["remark", "reply", "respond"], "comment"),
    (
        &["approve", "reject", "lgtm", "reviewer", "code review"],
        "review verdict",
    ),
    // Machines.
    (
        &[
            "vm",
            "vms",
            "guest",
            "guests",
            "virtual machine",
            "virtual machines",
            "lxc",
        ],
        "vm machine container",
    ),
    (&["hypervisor", "hypervisors"], "proxmox node"),
    // Projects of the fleet.
    (&["down", "outage", "healthy", "unhealthy", "alive"], "health"),
    (&["from now on", "change over"], "switch"),
    (&["server", "servers", "machine", "box"], "host"),
    (
        &[
            "cpu",
            "ram",
            "disk usage",
            "uptime",
            "busy",
            "utilisation",
            "utilization",
        ],
        "load memory",
    ),
    (
        &[
            "disk",
            "disks",
            "filesystem",
            "daemon",
            "systemd",
            "syslog",
            "journal",
            "nginx",
            "ssh",
        ],
        "command host",
    ),
    // Code.
    (
        &[
            "function",
            "functions",
            "method",
            "methods",
            "class",
            "classes",
            "type",
            "types",
            "symbol",
            "symbols",
        ],
        "code entity",
    ),
    (&["source", "implementation", "codebase", "logic"], "code"),
    (&["where is", "locate", "look for", "grep"], "search find"),
    (
        &["invoke", "invokes", "invoked", "call site", "call sites"],
        "call",
    ),
    (&["uses", "used by"], "callers dependents"),
    (
        &["breaks", "break", "impact", "affected", "relies on", "rely on"],
        "depend dependents",
    ),
    (
        &["needs", "requires", "library", "libraries"],
        "depend dependencies",
    ),
    (&["includes", "pull in", "pulls in", "uses from"], "import"),
    (
        &["cluster", "clusters", "grouping", "tightly coupled"],
        "communities",
    ),
    (&["central", "hub", "hubs", "core", "key"], "important central"),
    (&["uncertain", "unsure", "unclear"], "ambiguous doubtful certain"),
    (
        &[
            "relation",
            "relations",
            "relationship",
            "relationships",
            "link",
            "links",
        ],
        "edge relation",
    ),
    (&["hop", "hops", "route", "chain"], "path step"),
    (&["similar", "alike", "resembles"], "related likeness"),
    (&["purpose", "understand", "meaning"], "explain"),
    (&["statistics", "how many", "size", "overview"], "stats count"),
    (
        &["kubernetes", "helm", "terraform"],
        "infrastructure resource deployments",
    ),
    // What agents remember.
    (
        &[
            "note",
            "notes",
            "fact",
            "facts",
            "insight",
            "knowledge",
            "learned",
            "lesson",
            "lessons",
            "remember",
        ],
        "memory",
    ),
    (
        &["remember", "save", "store", "keep", "write down"],
        "create memory",
    ),
    (&["know", "known", "knowledge base", "look up"], "query memory"),
    (&["batch", "many", "pile", "mass", "at once"], "bulk several"),
    (&["ingestion", "ingested", "import"], "ingest job"),
    // Work.
    (&["work", "assignment", "work item", "work items"], "task"),
    (&["step", "steps", "todo", "split up", "break down"], "subtask"),
    (&["finished", "complete", "completed", "done"], "phase"),
    (&["refuse", "impossible", "cannot", "can't", "unable"], "decline"),
    (&["obsolete", "long ago", "already"], "already"),
    (
        &["hand over", "successor", "next session", "next agent"],
        "handover",
    ),
    // Rooms.
    (
        &[
            "conversation",
            "conversations",
            "discussion",
            "chat",
            "talk",
            "channel",
        ],
        "chat room",
    ),
    (&["tell", "say", "post"], "send message"),
    (
        &["unread", "inbox", "answered", "new messages"],
        "poll messages seen",
    ),
    (&["history", "transcript", "earlier"], "log"),
    (&["invite"], "add participant"),
    (&["expel", "ban"], "remove participant"),
    (&["member", "members"], "participants"),
    // The platform.
    (
        &["broken", "crash", "crashes", "crashing", "malfunction"],
        "report problem broken fails",
    ),
    // Doing.
    (
        &[
            "delete", "remove", "erase", "discard", "forget", "drop", "get rid",
        ],
        "delete remove",
    ),
    (
        &["new", "make", "start", "begin", "set up", "connect", "link"],
        "create open",
    ),
    (
        &["edit", "modify", "correct", "change", "set", "mark"],
        "update patch",
    ),
    (&["end", "finish", "archive"], "close"),
    (&["state", "status"], "status state"),
];

/// What the words may be called here.
pub(super) fn meant(said: &[&str]) -> BTreeSet<&'static str> {
    let is_said = |term: &str| {
        let words: Vec<&str> = term.split(' ').collect();
        said.windows(words.len()).any(|window| window == words)
    };
    let rows = ROWS
        .iter()
        .filter(|(terms, _)| terms.iter().any(|term| is_said(term)));
    rows.flat_map(|(_, meant)| meant.split(' ')).collect()
}
