//! Whom commands run as when the relay runs as root.

use std::fs;

use rustix::{
    io,
    process::{Gid, Uid},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};

/// The number of `nobody` where the host does not name one.
const NOBODY: u32 = 65534;

/// An unprivileged user, and the one group that may read the journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Account {
    user: u32,
    group: u32,
    journal: Option<u32>,
}

impl Account {
    /// Reads the host's own files; no name service is asked.
    pub(super) fn of_this_host() -> Self {
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let group = fs::read_to_string("/etc/group").unwrap_or_default();
        Self::from_files(&passwd, &group)
    }

    fn from_files(passwd: &str, group: &str) -> Self {
        let nobody = entry(passwd, "nobody");
        let number = |index: usize| nobody.as_ref()?.get(index)?.parse().ok().filter(|&id| id != 0);
        Self {
            user: number(2).unwrap_or(NOBODY),
            group: number(3).unwrap_or(NOBODY),
            journal: entry(group, "systemd-journal")
                .and_then(|fields| fields.get(2)?.parse().ok())
                .filter(|&id| id != 0),
        }
    }

    /// Becomes this account for good. The process must have one thread.
    pub(super) fn assume(&self) -> io::Result<()> {
        let groups: Vec<Gid> = self.journal.into_iter().map(Gid::from_raw).collect();
        let (user, group) = (Uid::from_raw(self.user), Gid::from_raw(self.group));
        set_thread_groups(&groups)?;
        set_thread_res_gid(group, group, group)?;
        set_thread_res_uid(user, user, user)
    }
}

fn entry<'a>(file: &'a str, name: &str) -> Option<Vec<&'a str>> {
    file.lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.first() == Some(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_come_from_the_hosts_files() {
        let passwd = "root:x:0:0::/:/bin/sh\nnobody:x:99:98::/:/sbin/nologin\n";
        let group = "systemd-journal:x:190:\n";
        assert_eq!(
            Account::from_files(passwd, group),
            Account {
                user: 99,
                group: 98,
                journal: Some(190)
            }
        );
    }

    #[test]
    fn nobody_is_never_root_and_the_journal_group_is_optional() {
        let nobody = Account {
            user: NOBODY,
            group: NOBODY,
            journal: None,
        };
        assert_eq!(Account::from_files("", ""), nobody);
        assert_eq!(
            Account::from_files("nobody:x:0:0::/:/bin/sh", "systemd-journal:x:0:"),
            nobody
        );
        assert_eq!(Account::from_files("nobody", "systemd-journal:x"), nobody);
    }
}
