//! A server of this machine stands for a cluster; fixtures are small and made by the fields that releases are known to
//! send.

mod metrics;
mod status;
mod tokens;
mod vms;
mod whole;

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_contract::ids::CallId;

use super::*;
use crate::{
    registry,
    upstream::{
        Payload, Reports,
        reader::peer::{Asked, Peer, Reply, contact},
    },
};

const TOKEN: &str = "audit@pve!toolgate";
const SECRET: &str = "5f0a4c1e-9d11-4000-8000-0123456789ab";
const API: &str = "/api2/json";

/// Answers by path and query below the base; what is not there is not implemented.
#[derive(Debug, Clone, Default)]
struct Answers(BTreeMap<String, Reply>);

impl Answers {
    fn with(mut self, path: &str, reply: Reply) -> Self {
        self.0.insert(path.to_owned(), reply);
        self
    }

    fn data(self, path: &str, data: Value) -> Self {
        self.with(path, Reply::json(&json!({"data": data})))
    }

    fn without(mut self, path: &str) -> Self {
        self.0.remove(path);
        self
    }

    fn answer(&self, asked: &Asked) -> Reply {
        if asked.header("authorization") != format!("PVEAPIToken={TOKEN}={SECRET}") {
            return failed(401, "authentication failure");
        }
        let below = asked.path_and_query.strip_prefix(API).unwrap_or("?");
        let known = self.0.get(below).cloned();
        known.unwrap_or_else(|| failed(501, &format!("Method 'GET {below}' not implemented")))
    }

    fn peer(self) -> Peer {
        Peer::answering(move |asked| self.answer(asked))
    }
}

/// A no as servers word it: behind the status, and in the body; then the connection ends.
fn failed(status: u16, text: &str) -> Reply {
    Reply::json(&json!({"data": null, "message": format!("{text}\n")}))
        .with_status(status)
        .reason(text)
        .closing()
}

fn secret() -> SecretValue {
    SecretValue::new(format!("{TOKEN}={SECRET}").as_bytes()).unwrap()
}

fn cluster(peer: &Peer) -> Cluster {
    Cluster::new(peer.destination(API), &secret()).unwrap()
}

/// What a tool answered.
#[derive(Debug)]
struct Answered {
    text: String,
    structured: Value,
    is_error: bool,
}

/// Calls a tool. Whatever is answered fits the tool's schema.
async fn call(peer: &Peer, tool: &'static str, arguments: Value) -> Result<Answered, UpstreamError> {
    let call = UpstreamCall {
        call: CallId::mint(),
        tool,
        arguments: Payload(arguments.to_string().into()),
        secret: None,
        deadline: Duration::from_secs(10),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    };
    let result = cluster(peer).call(&contact(), call).await?;
    let content: Value = serde_json::from_str(result.content.get()).unwrap();
    assert_eq!(content[0]["type"], "text");
    let structured = match &result.structured {
        None => Value::Null,
        Some(structured) => {
            assert!(registry::fits_output(tool, structured), "{structured}");
            serde_json::from_str(structured.get()).unwrap()
        }
    };
    assert_eq!(result.is_error, structured.is_null());
    let text = content[0]["text"].as_str().unwrap().to_owned();
    assert!(text.lines().count() <= 110, "{text}");
    Ok(Answered {
        text,
        structured,
        is_error: result.is_error,
    })
}

/// Paths and queries of what was asked, below the base. Everything was a GET, with the token in its header and nowhere
/// else.
fn asked(peer: &Peer) -> Vec<String> {
    let each = |asked: &Asked| {
        assert_eq!((asked.method.as_str(), asked.body.len()), ("GET", 0));
        assert!(!asked.path_and_query.contains(SECRET));
        assert_eq!(asked.header("cookie"), "");
        assert_eq!(
            asked.header("authorization"),
            format!("PVEAPIToken={TOKEN}={SECRET}")
        );
        let below = asked.path_and_query.strip_prefix(API);
        below.unwrap().to_owned()
    };
    peer.asked().iter().map(each).collect()
}

const TOOLS: [(&str, &str); 3] = [
    ("proxmox.list_vms", "{}"),
    ("proxmox.get_vm_status", r#"{"vmid": 100}"#),
    ("proxmox.get_node_metrics", r#"{"node": "pve1"}"#),
];

#[tokio::test]
async fn what_a_cluster_answers_becomes_the_reason_that_fits() {
    let check = async |reply: Reply, expected: UpstreamError| {
        let peer = Peer::answering(move |_| reply.clone());
        for (tool, arguments) in TOOLS {
            let answered = call(&peer, tool, serde_json::from_str(arguments).unwrap()).await;
            assert_eq!(answered.unwrap_err(), expected, "{tool}");
        }
    };
    check(
        failed(401, "authentication failure"),
        UpstreamError::CredentialRejected,
    )
    .await;
    check(failed(500, "boom"), UpstreamError::Failed).await;
    check(failed(599, "Too many redirections"), UpstreamError::Failed).await;
    check(Reply::status(503), UpstreamError::Failed).await;
    check(
        Reply::status(200).with_body("<html>sign in</html>"),
        UpstreamError::Invalid,
    )
    .await;
    check(Reply::json(&json!({"data": null})), UpstreamError::Invalid).await;
    check(Reply::json(&json!([1])), UpstreamError::Invalid).await;
    let wait = UpstreamError::RateLimited(Duration::from_secs(7));
    check(Reply::status(429).header("retry-after", "7"), wait).await;
}

#[tokio::test]
async fn a_refusal_is_an_outcome_that_says_nothing_of_the_server() {
    let check = async |reply: Reply, says: &str| {
        let peer = Peer::answering(move |_| reply.clone());
        for (tool, arguments) in TOOLS {
            let answered = call(&peer, tool, serde_json::from_str(arguments).unwrap())
                .await
                .unwrap();
            assert!(answered.is_error && answered.text.contains(says), "{answered:?}");
            assert!(!answered.text.contains("/etc/pve"), "{answered:?}");
        }
    };
    check(
        failed(403, "Permission check failed (/vms/100, VM.Audit)"),
        "lacks VM.Audit on /vms/100",
    )
    .await;
    check(failed(403, "cannot open /etc/pve/user.cfg"), "may not read it").await;
    check(failed(404, "/etc/pve"), "HTTP 404").await;
    check(failed(400, "/etc/pve"), "does not take the arguments").await;
    check(failed(501, "no such file '/etc/pve'"), "version of Proxmox VE").await;
}

/// A certificate that nobody vouches for, and its fingerprint.
fn self_signed() -> (tokio_rustls::rustls::ServerConfig, String) {
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let made = rcgen::generate_simple_self_signed(vec!["pve1.example".into()]).unwrap();
    let print = ring::digest::digest(&ring::digest::SHA256, made.cert.der());
    let print: Vec<String> = print.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
    let key = made.signing_key.serialize_der().try_into().unwrap();
    let tls = tokio_rustls::rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (tls, print.join(":"))
}

#[tokio::test]
async fn a_self_signed_node_is_read_by_its_fingerprint() {
    let (tls, print) = self_signed();
    let answers = Answers::default().data("/cluster/resources?type=vm", json!([]));
    let peer = Peer::over_tls(tls, move |asked| answers.answer(asked));
    let Value::Object(given) =
        json!({"host": "127.0.0.1", "port": peer.port(), "fingerprints": [print], "allowLoopback": true})
    else {
        panic!("an object")
    };
    let stored = Value::Object(settings(given, crate::adapters::Defaults::default()).unwrap());
    let call = UpstreamCall {
        call: CallId::mint(),
        tool: "proxmox.list_vms",
        arguments: Payload("{}".into()),
        secret: None,
        deadline: Duration::from_secs(10),
        cancelled: CancellationToken::new(),
        reports: Reports::none(),
        message: None,
    };
    let result = open(&stored, &json!({}), &secret())
        .unwrap()
        .call(&contact(), call)
        .await
        .unwrap();
    assert!(!result.is_error);
    assert_eq!(asked(&peer), ["/cluster/resources?type=vm"]);
}

#[test]
fn a_cluster_that_is_shown_shows_no_token() {
    let settings = json!({"host": "pve.example", "port": 8006});
    let shown = format!("{:?}", open(&settings, &json!({}), &secret()).unwrap());
    assert!(
        shown.contains("pve.example") && !shown.contains(SECRET) && !shown.contains("audit"),
        "{shown}"
    );
}

proptest! {
    #[test]
    fn no_bytes_make_reading_panic(bytes in any::<Vec<u8>>()) {
        parse(&bytes);
    }

    #[test]
    fn no_answer_makes_reading_panic(row in row(), lists in row()) {
        parse(json!({"data": [row, null, 7, [row], {"ha": row}]}).to_string().as_bytes());
        parse(json!({"data": row}).to_string().as_bytes());
        parse(json!({"data": {"roles": [{"roleid": "PVEAuditor", "special": 1, "privs": "Sys.Audit"}, row],
            "permissions": {"/": lists}, "acl": [row], "users": [row, lists]}}).to_string().as_bytes());
    }
}

/// A row with known names and values of any kind.
fn row() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        "[0-9.e-]{1,20}".prop_map(Value::from),
        Just(json!({"total": "x", "used": 1e300, "model": 7, "managed": "1"})),
        Just(json!(["0.5", "x"])),
    ];
    let name = prop::sample::select(vec![
        "id",
        "vmid",
        "node",
        "type",
        "status",
        "name",
        "template",
        "tags",
        "uptime",
        "cpu",
        "mem",
        "maxmem",
        "time",
        "loadavg",
        "memory",
        "cpuinfo",
        "kversion",
        "current-kernel",
        "roleid",
        "ugid",
        "groups",
        "tokens",
        "/",
        "privs",
    ]);
    prop::collection::hash_map(name, value, 0..24).prop_map(|row| {
        row.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<serde_json::Map<_, _>>()
            .into()
    })
}
