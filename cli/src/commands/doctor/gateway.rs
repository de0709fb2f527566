//! What the gateway says of itself: reachable, ready, clock, token, relays.

use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use toolgate_core::clock::Clock;

use super::Check;
use crate::{
    client::Gateway,
    commands::{target, text},
    config::{Config, Environment},
    failure::Failure,
};

const TOLERANCE_S: i64 = 30;

/// Every check of the gateway; what cannot be asked is left out.
pub(super) async fn look(config: &Config, environment: &Environment) -> Vec<Check> {
    let gateway = match Gateway::reach(config, environment) {
        Ok(gateway) => gateway,
        Err(failure) => return vec![bad("gateway", &failure)],
    };
    let mut checks = vec![match gateway.probe("/healthz").await {
        Ok(answer) if answer.status == 200 => Check::good("gateway", format!("answers at {}", gateway.url())),
        Ok(answer) => {
            let found = format!(
                "{} answers with status {}; is it a gateway?",
                gateway.url(),
                answer.status
            );
            return vec![Check::bad("gateway", found, "check --url or TOOLGATE_URL")];
        }
        Err(failure) => return vec![bad("gateway", &failure)],
    }];
    checks.extend(readiness(&gateway).await);
    checks.push(token(&gateway).await);
    checks.extend(relays(&gateway).await);
    checks
}

async fn readiness(gateway: &Gateway) -> Vec<Check> {
    match gateway.probe("/readyz").await {
        Ok(answer) => {
            let ready = match answer.status {
                200 => Check::good("ready", "store and record take calls"),
                _ => Check::bad(
                    "ready",
                    answer.body.trim(),
                    "the gateway's log tells more; look at disk space first",
                ),
            };
            [Some(ready), answer.date.as_deref().and_then(clock)]
                .into_iter()
                .flatten()
                .collect()
        }
        Err(failure) => vec![bad("ready", &failure)],
    }
}

fn clock(date: &str) -> Option<Check> {
    let theirs = OffsetDateTime::parse(date, &Rfc2822).ok()?.unix_timestamp();
    let apart = Clock::system().wall_us() / 1_000_000 - theirs;
    if apart.abs() <= TOLERANCE_S {
        return Some(Check::good("clock", "agrees with the gateway's"));
    }
    let found = format!("{apart} s from the gateway's");
    Some(Check::bad(
        "clock",
        found,
        "set one of them right: tokens expire, and the record is dated, by the gateway's",
    ))
}

async fn token(gateway: &Gateway) -> Check {
    if !gateway.has_token() {
        let next = "set TOOLGATE_TOKEN, or give --data-dir where the gateway's admin-token can be read";
        return Check::bad("token", "there is none", next);
    }
    match gateway.get("/api/self", &[]).await {
        Ok(me) => Check::good(
            "token",
            format!("{} with role {}", text(&me, "principal"), text(&me, "role")),
        ),
        Err(failure) => bad("token", &failure),
    }
}

async fn relays(gateway: &Gateway) -> Vec<Check> {
    // Agents may not see targets; that is no fault of the gateway.
    let Ok(targets) = target::all(gateway, Some("ssh".into())).await else {
        return Vec::new();
    };
    targets
        .iter()
        .map(|target| {
            let name = text(target, "name");
            match text(target, "status") {
                "ready" => Check::good("relay", format!("{name} is connected")),
                "waiting" => Check::doubtful(
                    "relay",
                    format!("{name} was never enrolled"),
                    format!("`toolgate target enrol {name}` prints the command to run there"),
                ),
                "revoked" => Check::doubtful(
                    "relay",
                    format!("the relay of {name} was revoked by an admin"),
                    format!("`toolgate target enrol {name}` lets one enrol anew"),
                ),
                "locked" => Check::bad(
                    "relay",
                    format!("{name} is locked: its relay's key was in use twice, so it may have been copied"),
                    format!(
                        "find the second holder, then `toolgate target enrol {name}` makes the key a new one"
                    ),
                ),
                "disabled" => Check::good("relay", format!("{name} is disabled")),
                status => Check::bad(
                    "relay",
                    format!("{name} is {status}"),
                    "start the relay on the host, and see that it can reach the gateway",
                ),
            }
        })
        .collect()
}

fn bad(name: &'static str, failure: &Failure) -> Check {
    let next = failure
        .next
        .clone()
        .unwrap_or_else(|| "the gateway's log tells more".into());
    Check::bad(name, failure.message.clone(), next)
}

#[cfg(test)]
mod tests {
    use super::{super::State, clock};

    #[test]
    fn a_clock_that_went_wrong_is_a_fault() {
        assert_eq!(clock("Tue, 15 Nov 1994 08:12:31 GMT").unwrap().state, State::Bad);
        assert!(clock("yesterday").is_none());
    }
}
