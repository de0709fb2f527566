//! The table of settings. A row here is a key in the file, a variable, a flag, a line of the documentation and a
//! property of the JSON Schema; nothing else needs to be written.

use std::path::PathBuf;

use toolgate_core::store::DatabaseUrl;

use super::key::{
    Key, Kind,
    Reader::{self, Client, Core, Database, Facade, Mcp, Record, Relay, Show, Transcript, Up},
    Value,
};

const EVERYONE: &[Reader] = &[
    Up, Core, Facade, Mcp, Relay, Transcript, Client, Record, Database, Show,
];
const SERVERS: &[Reader] = &[Up, Core, Facade, Show];
const CALLS_PER_MINUTE: Kind = Kind::Number {
    min: 1,
    max: 1_000_000_000,
};

/// Every setting, in the order in which people read them.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "data_dir",
        kind: Kind::Path,
        default: "./toolgate-data",
        readers: &[Up, Core, Facade, Mcp, Client, Record, Show],
        doc: "Directory of the data: database, keys, socket and admin token. Made when it is not there.",
        store: |c, v| path(v, &mut c.data_dir),
    },
    Key {
        name: "database_url",
        kind: Kind::Database,
        default: "",
        readers: &[Up, Core, Mcp, Record, Database, Show],
        doc: "The PostgreSQL database that keeps configuration and record instead of the embedded one; keys, socket and \
              admin token stay in the data directory. A password is better given by the variable than by the flag, \
              which other users of the machine may see.",
        store: |c, v| database(v, &mut c.database_url),
    },
    Key {
        name: "http",
        kind: Kind::Address,
        default: "127.0.0.1:7600",
        readers: &[Up, Facade, Show],
        doc: "Address of REST, SSE and the uplinks of relays. Port 0 takes any free port.",
        store: |c, v| put_address(v, &mut c.http),
    },
    Key {
        name: "grpc",
        kind: Kind::Address,
        default: "127.0.0.1:7601",
        readers: &[Up, Core, Show],
        doc: "Address of gRPC. Port 0 takes any free port.",
        store: |c, v| put_address(v, &mut c.grpc),
    },
    Key {
        name: "tls.cert",
        kind: Kind::Path,
        default: "",
        readers: SERVERS,
        doc: "PEM file with the certificate chain of both addresses. Needs `tls.key` as well.",
        store: |c, v| optional_path(v, &mut c.tls.cert),
    },
    Key {
        name: "tls.key",
        kind: Kind::Path,
        default: "",
        readers: SERVERS,
        doc: "PEM file with the private key of the certificate.",
        store: |c, v| optional_path(v, &mut c.tls.key),
    },
    Key {
        name: "behind_proxy",
        kind: Kind::Switch,
        default: "false",
        readers: SERVERS,
        doc: "Says that a proxy in front of the gateway ends TLS, so that it may listen beyond loopback without.",
        store: |c, v| switch(v, &mut c.behind_proxy),
    },
    Key {
        name: "allowed_hosts",
        kind: Kind::Hosts,
        default: "",
        readers: &[Up, Facade, Show],
        doc: "Host names under which HTTP is served besides loopback, the bound address and the host of `public_url`, with a port for that port \
              only. Requests for other names are refused, which keeps foreign web pages out.",
        store: |c, v| list(v, &mut c.allowed_hosts),
    },
    Key {
        name: "public_url",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Facade, Show],
        doc: "The URL under which relays and clients reach the gateway, as shown in enrolment commands and told to \
              clients that look for the issuer of tokens. Empty takes the bound address.",
        store: |c, v| text(v, &mut c.public_url),
    },
    Key {
        name: "tool_names",
        kind: Kind::Choice(&["underscore", "canonical"]),
        default: "underscore",
        readers: &[Up, Facade, Mcp, Show],
        doc: "How MCP lists the names of tools: `proxmox_list_vms`, which every model client takes, or \
              `proxmox.list_vms`, which many refuse. Calls may use either. The tools of OpenAI's APIs always have \
              underscores.",
        store: |c, v| text(v, &mut c.tool_names),
    },
    Key {
        name: "unknown_profile",
        kind: Kind::Choice(&["open", "closed"]),
        default: "open",
        readers: &[Up, Core, Mcp, Show],
        doc: "What becomes of a request that names a profile which nobody knows: with `open` nothing is hidden by it, with \
              `closed` only the tools are there that no profile leaves out. An empty name is none, and never closes.",
        store: |c, v| text(v, &mut c.unknown_profile),
    },
    Key {
        name: "fleet.active_project_scope",
        kind: Kind::Choice(&["caller", "tenant"]),
        default: "caller",
        readers: &[Up, Core, Mcp, Show],
        doc: "Whose default `switch_project` sets: with `caller` that of the MCP session, or outside of sessions that of the \
              principal; with `tenant` one value that all callers share.",
        store: |c, v| text(v, &mut c.active_project_scope),
    },
    Key {
        name: "projects_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "TOML file that registers projects of the first tenant: a table `[projects.NAME]` for each, and `default = \
              \"NAME\"`. It is followed while the gateway runs (`docs/fleet.md`). Empty for `DIR/projects.toml`, where there \
              is one.",
        store: |c, v| optional_path(v, &mut c.projects_file),
    },
    Key {
        name: "limits.user_per_minute",
        kind: CALLS_PER_MINUTE,
        default: "60",
        readers: &[Up, Core, Mcp, Show],
        doc: "Calls per minute of one principal; as many may come in one burst.",
        store: |c, v| number(v, &mut c.limits.user_per_minute),
    },
    Key {
        name: "limits.tenant_per_minute",
        kind: CALLS_PER_MINUTE,
        default: "300",
        readers: &[Up, Core, Mcp, Show],
        doc: "Calls per minute of one tenant; as many may come in one burst.",
        store: |c, v| number(v, &mut c.limits.tenant_per_minute),
    },
    Key {
        name: "limits.tenant_in_flight",
        kind: Kind::Number {
            min: 1,
            max: 1_000_000,
        },
        default: "64",
        readers: &[Up, Core, Mcp, Show],
        doc: "Calls under way at once for one tenant; more are told to try again in a second.",
        store: |c, v| number(v, &mut c.limits.tenant_in_flight),
    },
    Key {
        name: "accept_lost_keys",
        kind: Kind::Switch,
        default: "false",
        readers: &[Up, Core, Show],
        doc: "Starts although keys are lost that the database needs, and makes new ones. Rows sealed with a lost root \
              key can never be verified, and relays must enrol again where the gateway's identity is lost. Needed once.",
        store: |c, v| switch(v, &mut c.accept_lost_keys),
    },
    Key {
        name: "checkpoint.interval",
        kind: Kind::Number { min: 1, max: 3600 },
        default: "60",
        readers: &[Up, Core, Show],
        doc: "Seconds between two rounds of signed checkpoints. What is written and cut again between two of them leaves \
              no trace.",
        store: |c, v| number(v, &mut c.checkpoint.interval),
    },
    Key {
        name: "checkpoint.webhook",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Where checkpoints are posted as NDJSON, so that who holds this machine cannot take them back: https://, or \
              http:// to loopback. Empty posts nothing.",
        store: |c, v| text(v, &mut c.checkpoint.webhook),
    },
    Key {
        name: "checkpoint.webhook_token_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the bearer token of the webhook, closed to other users. Read anew for every post.",
        store: |c, v| optional_path(v, &mut c.checkpoint.webhook_token_file),
    },
    Key {
        name: "aws.region",
        kind: Kind::Text { max: 64 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "Region of AWS Secrets Manager, for targets whose credentials are kept there. Needs a build with the feature `aws`.",
        store: |c, v| text(v, &mut c.aws.region),
    },
    Key {
        name: "aws.endpoint",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Another address than the region's own, such as that of a VPC endpoint.",
        store: |c, v| text(v, &mut c.aws.endpoint),
    },
    Key {
        name: "aws.prefix",
        kind: Kind::Text { max: 256 },
        default: "toolgate/",
        readers: &[Up, Core, Show],
        doc: "What stands before `TENANT/NAME` in the names of secrets: a tenant reaches its own folder only.",
        store: |c, v| text(v, &mut c.aws.prefix),
    },
    Key {
        name: "aws.credentials_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the gateway's own AWS credentials, in the format of the shared credentials file; read at each use.",
        store: |c, v| optional_path(v, &mut c.aws.credentials_file),
    },
    Key {
        name: "aws.credentials_url",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Endpoint of the container platform that hands out the gateway's AWS credentials, in place of the file.",
        store: |c, v| text(v, &mut c.aws.credentials_url),
    },
    Key {
        name: "aws.credentials_token_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the token that `aws.credentials_url` wants, where it wants one.",
        store: |c, v| optional_path(v, &mut c.aws.credentials_token_file),
    },
    Key {
        name: "vault.address",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Address of Vault or OpenBao, for targets whose credentials are kept there. Needs a build with the feature `vault`.",
        store: |c, v| text(v, &mut c.vault.address),
    },
    Key {
        name: "vault.ca_cert",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "PEM file with certificate authorities that are trusted for Vault beside those of the machine.",
        store: |c, v| optional_path(v, &mut c.vault.ca_cert),
    },
    Key {
        name: "vault.namespace",
        kind: Kind::Text { max: 256 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "Namespace in Vault, where there are some.",
        store: |c, v| text(v, &mut c.vault.namespace),
    },
    Key {
        name: "vault.mount",
        kind: Kind::Text { max: 256 },
        default: "secret",
        readers: &[Up, Core, Show],
        doc: "Path under which the KV engine, version 2, is mounted.",
        store: |c, v| text(v, &mut c.vault.mount),
    },
    Key {
        name: "vault.folder",
        kind: Kind::Text { max: 256 },
        default: "toolgate",
        readers: &[Up, Core, Show],
        doc: "What stands before `TENANT/NAME` in paths of secrets: a tenant reaches its own folder only.",
        store: |c, v| text(v, &mut c.vault.folder),
    },
    Key {
        name: "vault.token_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the gateway's Vault token, which something else keeps alive; read at each use.",
        store: |c, v| optional_path(v, &mut c.vault.token_file),
    },
    Key {
        name: "vault.role_id",
        kind: Kind::Text { max: 256 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "Id of the AppRole with which the gateway signs in to Vault, in place of the token file.",
        store: |c, v| text(v, &mut c.vault.role_id),
    },
    Key {
        name: "vault.secret_id_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the secret id of `vault.role_id`.",
        store: |c, v| optional_path(v, &mut c.vault.secret_id_file),
    },
    Key {
        name: "vault.approle_mount",
        kind: Kind::Text { max: 256 },
        default: "approle",
        readers: &[Up, Core, Show],
        doc: "Path under which the AppRole method is mounted.",
        store: |c, v| text(v, &mut c.vault.approle_mount),
    },
    Key {
        name: "jwt.issuer",
        kind: Kind::Url,
        default: "",
        readers: SERVERS,
        doc: "The issuer whose JWTs services present in place of an API token: what `iss` must be, to the byte. Empty \
              takes none. Needs `jwt.audience`, and one of `jwt.jwks_url` and `jwt.jwks_file`.",
        store: |c, v| text(v, &mut c.jwt.issuer),
    },
    Key {
        name: "jwt.audience",
        kind: Kind::Text { max: 256 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "What `aud` must hold, to the byte, so that a token made for another service is none here. Best the address \
              that clients are given, such as `https://gate.example.org/mcp`.",
        store: |c, v| text(v, &mut c.jwt.audience),
    },
    Key {
        name: "jwt.jwks_url",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Where the issuer publishes its keys as a JWK Set: https://, or http:// to loopback. Read every ten minutes, \
              and once a minute at most when a token names another key.",
        store: |c, v| text(v, &mut c.jwt.jwks_url),
    },
    Key {
        name: "jwt.jwks_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the JWK Set, in place of `jwt.jwks_url`; read anew as often.",
        store: |c, v| optional_path(v, &mut c.jwt.jwks_file),
    },
    Key {
        name: "jwt.tenant",
        kind: Kind::Text { max: 26 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "Id of the tenant that callers with a JWT belong to. Empty takes the oldest one.",
        store: |c, v| text(v, &mut c.jwt.tenant),
    },
    Key {
        name: "jwt.role_claim",
        kind: Kind::Text { max: 256 },
        default: "toolgate_role",
        readers: &[Up, Core, Show],
        doc: "The claim that holds the caller's role, as a text or as a list in which one role stands. What begins with a \
              slash is a JSON pointer, such as `/realm_access/roles`.",
        store: |c, v| text(v, &mut c.jwt.role_claim),
    },
    Key {
        name: "jwt.profile_claim",
        kind: Kind::Text { max: 256 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "The claim that holds the profile to pin, where tokens pin one; found as `jwt.role_claim` is.",
        store: |c, v| text(v, &mut c.jwt.profile_claim),
    },
    Key {
        name: "jwt.default_role",
        kind: Kind::Choice(&["none", "agent", "engineer", "auditor"]),
        default: "none",
        readers: &[Up, Core, Show],
        doc: "The role of tokens without the claim. With `none` they are refused, as are tokens that name another role \
              than one of ours.",
        store: |c, v| text(v, &mut c.jwt.default_role),
    },
    Key {
        name: "oidc.issuer",
        kind: Kind::Url,
        default: "",
        readers: &[Up, Core, Show],
        doc: "The provider of OpenID Connect that people sign in with: its issuer, to the byte, below which its discovery \
              document is read. Empty takes none. Needs `oidc.client_id`. Its address to come back to is \
              `PUBLIC_URL/sign-in/oidc/callback`.",
        store: |c, v| text(v, &mut c.oidc.issuer),
    },
    Key {
        name: "oidc.client_id",
        kind: Kind::Text { max: 256 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "The gateway's client id at the provider.",
        store: |c, v| text(v, &mut c.oidc.client_id),
    },
    Key {
        name: "oidc.client_secret_file",
        kind: Kind::Path,
        default: "",
        readers: &[Up, Core, Show],
        doc: "File with the gateway's client secret, closed to other users. Read anew for every sign-in. Empty for a public \
              client, which has none: PKCE is used either way.",
        store: |c, v| optional_path(v, &mut c.oidc.client_secret_file),
    },
    Key {
        name: "oidc.name",
        kind: Kind::Text { max: 64 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "What people call the provider, as the sign-in page shows it. Empty takes the host of the issuer.",
        store: |c, v| text(v, &mut c.oidc.name),
    },
    Key {
        name: "oidc.scopes",
        kind: Kind::Text { max: 256 },
        default: "openid",
        readers: &[Up, Core, Show],
        doc: "Scopes to ask for, with spaces between; those that bring the role claim. `openid` is asked for in any case.",
        store: |c, v| text(v, &mut c.oidc.scopes),
    },
    Key {
        name: "oidc.role_claim",
        kind: Kind::Text { max: 256 },
        default: "toolgate_role",
        readers: &[Up, Core, Show],
        doc: "The claim that decides on a person's role, such as `groups`: a text or a list of texts. What begins with a \
              slash is a JSON pointer, such as `/realm_access/roles`. Looked for in the ID token, then at the \
              provider's userinfo endpoint.",
        store: |c, v| text(v, &mut c.oidc.role_claim),
    },
    Key {
        name: "oidc.roles",
        kind: Kind::Roles,
        default: "",
        readers: &[Up, Core, Show],
        doc: "Which values of the claim give which role; the first that fits counts, and nobody gets in whom none fits. \
              Without any, values are roles. A value with a comma in it can stand in the file only.",
        store: |c, v| list(v, &mut c.oidc.roles),
    },
    Key {
        name: "oidc.default_role",
        kind: Kind::Choice(&["none", "agent", "engineer", "auditor"]),
        default: "none",
        readers: &[Up, Core, Show],
        doc: "The role of people of whom the provider does not claim it at all. With `none` they do not get in.",
        store: |c, v| text(v, &mut c.oidc.default_role),
    },
    Key {
        name: "oidc.tenant",
        kind: Kind::Text { max: 26 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "Id of the tenant that people who sign in so belong to. Empty takes the oldest one.",
        store: |c, v| text(v, &mut c.oidc.tenant),
    },
    Key {
        name: "oidc.profile",
        kind: Kind::Text { max: 64 },
        default: "",
        readers: &[Up, Core, Show],
        doc: "The profile that their sessions pin. Empty for none.",
        store: |c, v| text(v, &mut c.oidc.profile),
    },
    #[cfg(feature = "conformance")]
    Key {
        name: "echo_hosts",
        kind: Kind::Switch,
        default: "false",
        readers: &[Up, Core, Show],
        doc: "Answers for every host in process, without its relay. For load measurements only.",
        store: |c, v| switch(v, &mut c.echo_hosts),
    },
    Key {
        name: "relay.built_in",
        kind: Kind::Switch,
        default: "true",
        readers: &[Up, Show],
        doc: "Runs a relay for this very host inside `up`, enrolled at the first start.",
        store: |c, v| switch(v, &mut c.relay.built_in),
    },
    Key {
        name: "relay.name",
        kind: Kind::Text { max: 64 },
        default: "",
        readers: &[Up, Show],
        doc: "Name of this host as a target of the built-in relay. Empty takes the machine's host name.",
        store: |c, v| text(v, &mut c.relay.name),
    },
    Key {
        name: "core",
        kind: Kind::Endpoint,
        default: "",
        readers: &[Facade, Mcp, Show],
        doc: "Where a facade that runs apart finds the core: path of its Unix socket, or URL of its gRPC address. Empty takes \
              `DIR/core.sock`; `mcp` starts a core of its own where no gateway runs.",
        store: |c, v| text(v, &mut c.core),
    },
    Key {
        name: "metrics_addr",
        kind: Kind::OptionalAddress,
        default: "",
        readers: &[Mcp, Transcript, Show],
        doc: "Address at which `toolgate mcp` and `toolgate transcript tail` answer `/metrics` and `/healthz`, without TLS \
              and without a credential: counts and labels only. Port 0 takes any free port. Empty serves none; `up` has \
              them at the address of `http`.",
        store: |c, v| optional_address(v, &mut c.metrics_addr),
    },
    Key {
        name: "url",
        kind: Kind::Url,
        default: "",
        readers: &[Client, Record, Show],
        doc: "The gateway that client commands talk to. Empty takes the one that runs in the data directory, else the address of `http`.",
        store: |c, v| text(v, &mut c.url),
    },
    Key {
        name: "ca_cert",
        kind: Kind::Path,
        default: "",
        readers: &[Facade, Mcp, Relay, Client, Record, Show],
        doc: "PEM file with a certificate authority: client commands trust it beside those of the machine, a relay or \
              a facade trusts it alone.",
        store: |c, v| optional_path(v, &mut c.ca_cert),
    },
    Key {
        name: "log.format",
        kind: Kind::Choice(&["pretty", "json"]),
        default: "pretty",
        readers: EVERYONE,
        doc: "How logs are written to standard error: for people, or one JSON object a line.",
        store: |c, v| text(v, &mut c.log.format),
    },
    Key {
        name: "log.level",
        kind: Kind::Choice(&["off", "error", "warn", "info", "debug", "trace"]),
        default: "info",
        readers: EVERYONE,
        doc: "The least severe level that is logged.",
        store: |c, v| text(v, &mut c.log.level),
    },
];

/// The key of this name.
pub(crate) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

fn put_address(value: Value, field: &mut std::net::SocketAddr) -> bool {
    if let Value::Address(address) = value {
        *field = address;
        return true;
    }
    false
}

fn optional_address(value: Value, field: &mut Option<std::net::SocketAddr>) -> bool {
    if let Value::OptionalAddress(address) = value {
        *field = address;
        return true;
    }
    false
}

fn path(value: Value, field: &mut PathBuf) -> bool {
    if let Value::Path(Some(path)) = value {
        *field = path;
        return true;
    }
    false
}

fn optional_path(value: Value, field: &mut Option<PathBuf>) -> bool {
    if let Value::Path(path) = value {
        *field = path;
        return true;
    }
    false
}

fn switch(value: Value, field: &mut bool) -> bool {
    if let Value::Switch(on) = value {
        *field = on;
        return true;
    }
    false
}

fn number(value: Value, field: &mut u32) -> bool {
    if let Value::Number(number) = value {
        *field = number;
        return true;
    }
    false
}

fn database(value: Value, field: &mut Option<DatabaseUrl>) -> bool {
    if let Value::Database(url) = value {
        *field = url.map(|url| *url);
        return true;
    }
    false
}

fn list(value: Value, field: &mut Vec<String>) -> bool {
    if let Value::List(names) = value {
        *field = names;
        return true;
    }
    false
}

fn text(value: Value, field: &mut String) -> bool {
    if let Value::Text(text) = value {
        *field = text;
        return true;
    }
    false
}
