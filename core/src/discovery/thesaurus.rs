//! What people call things, and what the tools call them.
//!
//! Words of the trade only, each with the words of the registry that mean the same or nearly so. It knows no questions:
//! a row belongs here when it is true of the words, whatever is asked.

/// Words of one meaning, and what they are called in names and descriptions.
const ROWS: &[(&[&str], &str)] = &[
    (
        &[
            "pr",
            "prs",
            "mr",
            "pull request",
            "merge request",
            "pull requests",
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
        "ci run workflow",
    ),
    (
        &[
            "vm",
            "vms",
            "guest",
            "guests",
            "virtual machine",
            "virtual machines",
            "lxc",
            "container",
            "containers",
        ],
        "vm machine container",
    ),
    (&["hypervisor", "hypervisors"], "proxmox node"),
    (&["server", "servers", "machine", "box"], "host"),
    (
        &["disk", "ram", "cpu", "load", "uptime", "usage", "busy"],
        "metrics uptime df free",
    ),
    (
        &[
            "service", "services", "daemon", "unit", "units", "systemd", "nginx",
        ],
        "systemctl service",
    ),
    (&["journal", "syslog"], "journalctl log"),
    (&["repository", "repositories", "repos"], "repo"),
    (&["organisation", "organization", "org"], "org owner"),
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
        "code entity function type",
    ),
    (
        &[
            "source",
            "implementation",
            "implemented",
            "codebase",
            "module",
            "modules",
            "package",
            "packages",
        ],
        "code module",
    ),
    (
        &[
            "invoke",
            "invokes",
            "invoked",
            "invoking",
            "uses",
            "used",
            "caller",
            "callers",
            "call site",
        ],
        "call callers callees",
    ),
    (
        &["breaks", "break", "impact", "affected", "relies", "rely"],
        "depend dependents break",
    ),
    (
        &["needs", "requires", "require", "library", "libraries"],
        "depend dependencies import",
    ),
    (&["import", "imports", "includes"], "imports"),
    (&["cluster", "clusters", "grouping"], "communities groups"),
    (&["central", "key", "hub", "hubs", "core"], "important central"),
    (
        &["uncertain", "unsure", "doubtful", "ambiguous"],
        "ambiguous doubtful certain",
    ),
    (
        &[
            "edge",
            "edges",
            "relation",
            "relations",
            "relationship",
            "relationships",
            "link",
            "links",
        ],
        "edge relation",
    ),
    (&["link", "connect", "relate"], "create edge relation"),
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
            "remembered",
        ],
        "memory remember",
    ),
    (
        &["remember", "save", "store", "keep", "write down", "record"],
        "create memory",
    ),
    (&["forget", "erase", "drop", "discard"], "delete remove"),
    (&["delete", "remove"], "delete remove"),
    (&["add", "new", "make", "start", "open", "set up"], "create open"),
    (
        &["change", "edit", "modify", "correct", "fix", "set"],
        "update patch change",
    ),
    (&["ask", "know", "known", "knowledge base"], "query memory"),
    (&["batch", "many", "several", "mass"], "bulk"),
    (&["ingestion", "import", "ingest"], "ingest job"),
    (&["ticket", "tickets", "bug", "bugs", "defect"], "issue"),
    (&["suggest", "file", "raise", "report a bug"], "propose"),
    (&["reply", "remark", "answer"], "comment message"),
    (&["work", "assignment", "work item", "work items"], "task"),
    (&["step", "steps", "todo", "smaller"], "subtask"),
    (
        &["finished", "done", "complete", "completed"],
        "phase result outcome already done",
    ),
    (&["progress"], "update note task"),
    (&["approve", "reject", "review", "reviewer"], "review verdict"),
    (&["refuse", "impossible", "cannot", "can't", "unable"], "decline"),
    (&["already", "exists already", "obsolete"], "already done"),
    (
        &["hand over", "handover", "hand", "successor", "next session"],
        "handover",
    ),
    (&["nothing", "skip", "pass"], "skip"),
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
    (&["tell", "say", "write", "post"], "send message comment"),
    (&["unread", "new messages", "inbox"], "poll messages new"),
    (&["history", "transcript", "earlier"], "log"),
    (&["invite", "join", "bring"], "add participant"),
    (&["expel", "ban"], "remove participant"),
    (&["member", "members", "attends", "participates"], "participants"),
    (&["end", "finish", "archive"], "close"),
    (
        &[
            "broken",
            "crash",
            "crashes",
            "contradict",
            "contradicts",
            "malfunction",
        ],
        "report internal issue problem broken",
    ),
    (&["similar", "alike", "resembles"], "related likeness"),
    (&["purpose", "understand", "meaning"], "explain"),
    (
        &["statistics", "figures", "how many", "size", "overview"],
        "stats count",
    ),
    (&["state", "status", "progress of"], "status state get"),
    (
        &[
            "deployment",
            "deployments",
            "kubernetes",
            "helm",
            "infrastructure",
        ],
        "resource deployments",
    ),
];

/// What the words may be called here.
pub(super) fn meant(said: &[&str]) -> Vec<&'static str> {
    let is_said = |term: &str| {
        let words: Vec<&str> = term.split(' ').collect();
        said.windows(words.len()).any(|window| window == words)
    };
    ROWS.iter()
        .filter(|(terms, _)| terms.iter().any(|term| is_said(term)))
        .map(|(_, meant)| *meant)
        .collect()
}
