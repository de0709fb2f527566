//! Whoever listens to every log line at the finest level hears no secret, no name of one and no token, in any spelling.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
    subscriber::DefaultGuard,
};

use super::ground::Ground;

/// Everything that is logged on this thread while it lives.
pub(in crate::secrets) struct Overheard {
    lines: Arc<Mutex<String>>,
    _guard: DefaultGuard,
}

struct Ear(Arc<Mutex<String>>);

struct Fields<'a>(&'a mut String);

impl Overheard {
    pub(in crate::secrets) fn listen() -> Self {
        let lines = Arc::new(Mutex::new(String::new()));
        let guard = toolgate_test_overheard::listen(Ear(Arc::clone(&lines)));
        Self { lines, _guard: guard }
    }

    /// Fails where one of these was said, plain or encoded.
    pub(in crate::secrets) fn holds_none_of(&self, canaries: &[&str]) {
        let lines = self.lines.lock().unwrap();
        assert!(!lines.is_empty(), "nothing was logged, so nothing was heard");
        for canary in canaries {
            assert!(canary.len() >= 12, "{canary} is too short to be told from chance");
            for spelling in spellings(canary) {
                assert!(!lines.contains(&spelling), "{canary} as {spelling} in {lines}");
            }
        }
    }
}

// Base64 at its three offsets, without the characters that its neighbours change.
fn spellings(canary: &str) -> Vec<String> {
    let mut all = vec![
        canary.to_owned(),
        HEXLOWER.encode(canary.as_bytes()),
        HEXUPPER.encode(canary.as_bytes()),
        BASE64.encode(canary.as_bytes()),
        // As Rust shows bytes.
        format!("{:?}", canary.as_bytes())
            .trim_matches(['[', ']'])
            .to_owned(),
    ];
    for offset in 0..3 {
        let padded = [&vec![0; offset], canary.as_bytes()].concat();
        for encoded in [BASE64_NOPAD.encode(&padded), BASE64URL_NOPAD.encode(&padded)] {
            all.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    all
}

impl Subscriber for Ear {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Fields(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut lines = self.0.lock().unwrap();
        lines.push_str(event.metadata().target());
        event.record(&mut Fields(&mut lines));
        lines.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

#[tokio::test]
async fn the_gateways_own_store_is_overheard() {
    const CANARY: &str = "c4n4ry-0d6a1f52b7e94c3f8a";
    let ground = Ground::new().await;
    let overheard = Overheard::listen();
    let reference = ground.give(CANARY).await;
    ground.secrets.lend(&ground.tenant, &reference).await.unwrap();
    ground
        .tamper(
            &ground.tenant,
            "update secret set version = version + 1 where tenant_id = $1",
        )
        .await;
    ground.clock.advance(std::time::Duration::from_secs(60));
    ground.secrets.lend(&ground.tenant, &reference).await.unwrap_err();
    let id = reference.in_store().unwrap().0.to_string();
    overheard.holds_none_of(&[CANARY, &id]);
}
