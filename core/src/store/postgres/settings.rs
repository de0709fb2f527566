//! What a server must be and how it must be set, or nothing that it says it has written can be relied on.

use tokio::time::{Instant, timeout_at};

use super::{failure::store_error, line::Line};
use crate::store::StoreError;

const ASK: &str = "select current_setting('server_version_num'), current_setting('server_version'), \
    current_setting('synchronous_commit'), current_setting('fsync'), current_setting('full_page_writes')";

/// Versions below tell what row security should hide (CVE-2025-8713), each major's first one that does not.
const SOUND: [(u32, u32); 2] = [(16, 10), (17, 6)];

/// Refuses a server that is too old.
pub(super) async fn check_version(line: &Line, until: Instant) -> Result<(), StoreError> {
    let found = ask(line, until).await?;
    is_sound(&found[0], &found[1])
}

/// Refuses a server that may lose what it has committed.
pub(super) async fn check_durability(line: &Line, until: Instant) -> Result<(), StoreError> {
    let found = ask(line, until).await?;
    for (setting, found, sound) in [
        (
            "synchronous_commit",
            &found[2],
            ["on", "remote_write", "remote_apply"].as_slice(),
        ),
        ("fsync", &found[3], &["on"]),
        ("full_page_writes", &found[4], &["on"]),
    ] {
        is_set(setting, found, sound)?;
    }
    Ok(())
}

async fn ask(line: &Line, until: Instant) -> Result<[String; 5], StoreError> {
    let row = match timeout_at(until, line.query_one(ASK, &[])).await {
        Ok(answer) => answer.map_err(|failure| store_error(&failure))?,
        Err(_) => return Err(StoreError::Timeout),
    };
    let text = |column| row.try_get(column).map_err(|_| StoreError::Column(column));
    Ok([text(0)?, text(1)?, text(2)?, text(3)?, text(4)?])
}

fn is_sound(number: &str, shown: &str) -> Result<(), StoreError> {
    let number: u32 = number.parse().unwrap_or(0);
    let (major, minor) = (number / 10_000, number % 10_000);
    let old = major < 16 || SOUND.iter().any(|(of, least)| major == *of && minor < *least);
    if old {
        return Err(StoreError::Unfit(format!(
            "the server has version {shown}; PostgreSQL 16.10, 17.6 or newer is needed"
        )));
    }
    Ok(())
}

fn is_set(setting: &str, found: &str, sound: &[&str]) -> Result<(), StoreError> {
    if sound.contains(&found) {
        return Ok(());
    }
    Err(StoreError::Unfit(format!(
        "{setting} is {found}, so what was committed may be lost; set {setting} = on for the server and for the role"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_are_refused() {
        let check = |number: &str, fit: bool| assert_eq!(is_sound(number, "x").is_ok(), fit, "{number}");
        check("150018", false);
        check("160009", false);
        check("160010", true);
        check("170005", false);
        check("170006", true);
        check("180000", true);
        check("", false);
    }

    #[test]
    fn a_setting_that_may_lose_commits_is_named() {
        assert!(is_set("fsync", "on", &["on"]).is_ok());
        let told = is_set("fsync", "off", &["on"]).unwrap_err().to_string();
        assert!(told.contains("set fsync = on"), "{told}");
    }
}
