//! A gateway on a PostgreSQL of its own, a host, and a caller that keeps what was acknowledged: what fault drills are
//! done on.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use toolgate_test_support::{Answer, Gateway, Outcome, Postgres, Proxy, Refusal, Relay, Reply, until};

use crate::record;

/// A call is refused so soon, whatever the store does.
pub(crate) const REFUSED_WITHIN: Duration = Duration::from_secs(2);
/// What a measured answer may take longer on a machine that does other things too.
pub(crate) const GRACE: Duration = Duration::from_millis(300);
/// Calls are carried again so soon after the store is back.
pub(crate) const BACK_WITHIN: Duration = Duration::from_secs(5);
/// Long enough for anything that is going to happen.
pub(crate) const SOON: Duration = Duration::from_secs(20);

const FLAGS: [&str; 3] = [
    "--relay-built-in=false",
    "--limits-user-per-minute=1000000000",
    "--limits-tenant-per-minute=1000000000",
];

/// The ground of one drill.
pub(crate) struct Drill {
    pub(crate) gateway: Gateway,
    pub(crate) relay: Relay,
    pub(crate) postgres: Arc<Postgres>,
    acknowledged: Arc<Mutex<BTreeMap<String, String>>>,
    calls: AtomicU32,
}

impl Drill {
    /// Everything up, one call carried.
    pub(crate) async fn on(postgres: Postgres) -> Self {
        let postgres = Arc::new(postgres);
        let gateway = Gateway::start_on(Arc::clone(&postgres), &FLAGS).await.unwrap();
        let (target, token) = gateway.admin().add_host("web-1").await.unwrap();
        let relay = Relay::enrol(gateway.url(), &target, &token).await.unwrap();
        relay.replies(Reply::Prints("up\n".into()));
        let drill = Self {
            gateway,
            relay,
            postgres,
            acknowledged: Arc::default(),
            calls: AtomicU32::new(0),
        };
        drill.call().await.expect("all is well");
        drill
    }

    pub(crate) fn proxy(&self) -> &Proxy {
        self.postgres.proxy()
    }

    /// Starts a call of its own; an answer is kept.
    pub(crate) fn calling(&self) -> tokio::task::JoinHandle<Option<Result<Outcome, Refusal>>> {
        let (admin, acknowledged) = (self.gateway.admin(), Arc::clone(&self.acknowledged));
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let command = format!("systemctl status d{number}");
        tokio::spawn(async move {
            let body =
                serde_json::json!({"name": "ssh.run_whitelisted_command", "arguments": {"command": command}});
            let request = admin
                .request("POST".parse().unwrap(), "/api/mcp/invoke")
                .header("prefer", "wait")
                .json(&body);
            // Nobody may be there any more.
            let answer: Answer = admin.try_send(request).await?;
            let took = answer.took;
            let told = answer.ok().map(|body| Outcome {
                correlation_id: body["correlationId"].as_str().unwrap_or_default().to_owned(),
                result: body,
            });
            if let Ok(outcome) = &told {
                let mut acknowledged = acknowledged.lock().unwrap();
                acknowledged.insert(command, outcome.correlation_id.clone());
            }
            println!("a call: {} after {took:?}", told_of(&told));
            Some(told)
        })
    }

    /// Makes a call of its own and waits for its answer.
    pub(crate) async fn call(&self) -> Result<Outcome, Refusal> {
        self.calling().await.unwrap().expect("the gateway answers")
    }

    /// Makes a call that must be refused for want of a record, in time.
    pub(crate) async fn is_refused(&self, when: &str) {
        let refusal = self.call().await.expect_err(when);
        fits(&refusal, when);
    }

    /// The same, and the host does not hear of it.
    pub(crate) async fn is_refused_before_contact(&self, when: &str) {
        let heard = self.relay.received().len();
        self.is_refused(when).await;
        assert_eq!(
            self.relay.received().len(),
            heard,
            "{when}: the host was contacted"
        );
    }

    /// The process lives, is not ready, and says why.
    pub(crate) async fn is_unready(&self, when: &str) {
        let admin = self.gateway.admin();
        let health = admin.get("/healthz").await;
        assert_eq!(health.status, 200, "{when}: {}", health.text);
        let ready = admin.get("/readyz").await;
        assert_eq!(ready.status, 503, "{when}: {}", ready.text);
        assert!(ready.took < REFUSED_WITHIN + GRACE, "{when}: {:?}", ready.took);
        let checks = ready.json()["checks"].as_array().cloned().unwrap_or_default();
        let failed = checks.iter().filter(|check| check["ok"] == false);
        let why: Vec<String> = failed
            .map(|check| format!("{}: {}", check["name"], check["detail"]))
            .collect();
        assert!(
            why.iter()
                .any(|why| why.contains("audit") || why.contains("store")),
            "{when}: {}",
            ready.text
        );
        assert!(
            !ready.text.contains("127.0.0.1"),
            "{when}: tells an address: {}",
            ready.text
        );
        println!("{when}: not ready, {why:?}");
    }

    /// Calls until one is carried and the gateway is ready again; both in time.
    pub(crate) async fn is_back(&self, when: &str) {
        let began = Instant::now();
        let carried = until(BACK_WITHIN, || async { self.call().await.ok() }).await;
        let log = || self.gateway.log();
        assert!(carried.is_some(), "{when}: no call is carried\n{}", log());
        let took = began.elapsed();
        assert!(took < BACK_WITHIN + GRACE, "{when}: {took:?}");
        let admin = self.gateway.admin();
        let ready = until(SOON, || async {
            (admin.get("/readyz").await.status == 200).then_some(())
        });
        assert!(ready.await.is_some(), "{when}: not ready again\n{}", log());
        println!("{when}: a call is carried after {took:?}");
    }

    /// The record is whole and tells everything.
    pub(crate) async fn holds(&self, when: &str) -> record::Found {
        let admin = self.gateway.admin();
        record::is_whole(&admin, &self.gateway.store(), when).await;
        let acknowledged = self.acknowledged.lock().unwrap().clone();
        record::tells_all(&admin, &acknowledged, self.relay.received()).await
    }

    /// How many rows tell of calls.
    pub(crate) async fn rows(&self) -> i64 {
        let rows = "select count(*) from audit_event where kind = 'adapter.capability_invoked'";
        self.gateway.store().count(rows).await.unwrap()
    }
}

/// Whether a refusal is the one for want of a record, in time.
pub(crate) fn fits(refusal: &Refusal, when: &str) {
    assert_eq!(
        (refusal.status, refusal.reason.as_str()),
        (503, "AUDIT_UNAVAILABLE"),
        "{when}: {refusal:?}"
    );
    assert!(
        refusal.took < REFUSED_WITHIN + GRACE,
        "{when}: {:?}",
        refusal.took
    );
}

fn told_of(told: &Result<Outcome, Refusal>) -> String {
    match told {
        Ok(_) => "carried".into(),
        Err(refusal) => format!("{} {}", refusal.status, refusal.reason),
    }
}
