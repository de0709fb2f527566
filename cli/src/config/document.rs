//! The page `docs/configuration.md`, written from the table; a test keeps the committed page true.

use std::fmt::Write;

use super::{
    key::{Key, Kind},
    keys::KEYS,
};

const HEAD: &str = "\
# Configuration

Written from the table in `cli/src/config/keys.rs` by `UPDATE=1 cargo test -p toolgate`; do not edit by hand.

Every setting has one key and three spellings: `limits.user_per_minute` in the file, `TOOLGATE_LIMITS_USER_PER_MINUTE`
in the environment, `--limits-user-per-minute` on the command line. From weakest to strongest: default, file,
environment, flag. `toolgate config show` prints every value with its origin, `toolgate config schema` the JSON Schema
of the file.

The file is `--config FILE`, else `DIR/toolgate.toml` (DIR is the data directory), else `./toolgate.toml`. Relative
paths start at the current directory. A key that nobody knows is an error, in the file as well as in the environment.
All faults are told at once, before anything starts.

";

const FOOT: &str = "\
## Not settings

Credentials have no key and never stand in the file.

| variable | for | instead |
| --- | --- | --- |
| `TOOLGATE_TOKEN` | client commands: the API token | `DIR/admin-token`, where it can be read |
| `TOOLGATE_ENROLMENT_TOKEN` | `relay host`: the one-time enrolment token | `--token` |

## Variables of agent pods

`toolgate mcp` reads these (`docs/agent-pods.md`). An empty one counts as not set; one that begins with `TATARA_` and is
not listed is told in the log and is no error. The addresses and credentials count where the command has a core of its
own, which is where neither `--core` names one nor a gateway runs on the data directory.

| variable | for |
| --- | --- |
| `TATARA_TOOL_PROFILE` | the profile, where `--tool-profile` gives none |
| `TATARA_PROJECT`, `TATARA_TASK` | what calls fall back to where their arguments name no project or task |
| `TATARA_REPO`, `TATARA_KIND` | repository and kind of the task, for records of `report_internal_issue` |
| `TATARA_MEMORY_URL`, `TATARA_OPERATOR_URL`, `TATARA_CHAT_URL` | addresses of the back ends |
| `TATARA_MEMORY_TOKEN`, `TATARA_OPERATOR_TOKEN`, `TATARA_CHAT_TOKEN` | their tokens |
| `TATARA_CLIENT_ID`, `TATARA_CLIENT_SECRET`, `OIDC_ISSUER` | the client that gets tokens of this issuer, for back ends without a token of their own |

`NO_COLOR` switches colours off.
";

/// The whole page.
pub(crate) fn document() -> String {
    let mut page = String::from(HEAD);
    // Writing to a string cannot fail.
    for key in KEYS {
        let _ = write!(page, "{}", section(key));
    }
    page.push_str(FOOT);
    page
}

fn section(key: &Key) -> String {
    let default = match (key.default, key.kind) {
        ("", _) => "none".into(),
        (text, Kind::Switch | Kind::Number { .. }) => format!("`{text}`"),
        (text, _) => format!("`\"{text}\"`"),
    };
    format!(
        "## `{}`\n\n{}\n\n- value: {}\n- default: {default}\n- variable `{}`, flag `--{}`\n\n",
        key.name,
        key.doc,
        key.kind.expected(),
        key.variable(),
        key.flag()
    )
}
