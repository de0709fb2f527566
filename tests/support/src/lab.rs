//! The systems that are read, simulated, each with one target's credential that may do just enough.

use std::net::{Ipv4Addr, SocketAddr};

use serde_json::{Value, json};
use toolgate_upstream_sim::{
    Seen,
    gitea::{self, Gitea},
    github::{self, GitHub},
    proxmox::{self, Proxmox},
};

use crate::{Caller, Refusal, not_run};

/// The id of the Proxmox VE token.
const TOKEN_ID: &str = "audit@pve!toolgate";
/// Its secret. All three are canaries: a test may look for them anywhere.
const TOKEN_SECRET: &str = "5f0a4c1e-c0de-4000-8000-00000000ca11";
const PAT: &str = "github_pat_ZZCANARY0_thatNobodyMaySee";
const GITEA_TOKEN: &str = "ca11ab1ec0ffee5ca1ab1edecade7ea5f00dbabe";

/// A running GitHub, Gitea and, where `fakepve` is, Proxmox VE.
#[derive(Debug)]
pub struct Lab {
    /// The cluster; a test that needs it says that it did not run where there is none.
    proxmox: Option<Proxmox>,
    /// GitHub.
    pub github: GitHub,
    /// Gitea, of the newest version.
    pub gitea: Gitea,
}

impl Lab {
    /// Starts everything.
    pub async fn start() -> Self {
        let proxmox = match proxmox::program() {
            Some(program) => Some(cluster(&program).await),
            None => {
                let test = std::thread::current()
                    .name()
                    .unwrap_or("a test")
                    .replace("::", ".");
                not_run(
                    &test,
                    "no fakepve: whatever it shows, it does not show of Proxmox VE",
                );
                None
            }
        };
        let github = GitHub::start(anywhere()).await.expect("a simulated GitHub");
        github.token(PAT, github::Token::least());
        let gitea = Gitea::start(anywhere(), gitea::Setup::of(gitea::Version::Gitea1_25))
            .await
            .expect("a simulated Gitea");
        gitea.token(GITEA_TOKEN, gitea::Token::least());
        Self {
            proxmox,
            github,
            gitea,
        }
    }

    /// The cluster; `None` where there is no `fakepve`, which was noted as not run when the lab was started.
    #[must_use]
    pub fn proxmox(&self) -> Option<&Proxmox> {
        self.proxmox.as_ref()
    }

    /// Settings and credential of each target, by adapter type.
    #[must_use]
    pub fn targets(&self) -> Vec<(&'static str, Value, Value)> {
        let mut targets = vec![
            ("github", self.github_settings(), json!({"token": PAT})),
            ("gitea", self.gitea_settings(), json!({"token": GITEA_TOKEN})),
        ];
        if let Some(proxmox) = &self.proxmox {
            targets.push(("proxmox", proxmox_settings(proxmox), proxmox_credential()));
        }
        targets
    }

    /// Settings of the GitHub target.
    #[must_use]
    pub fn github_settings(&self) -> Value {
        json!({"baseUrl": self.github.url(), "allowHttp": true, "allowLoopback": true})
    }

    /// Settings of the Gitea target.
    #[must_use]
    pub fn gitea_settings(&self) -> Value {
        json!({"baseUrl": self.gitea.url(), "allowHttp": true, "allowLoopback": true})
    }

    /// Adds all of them; gives the answers by adapter type.
    pub async fn add_all(&self, admin: &Caller) -> Result<Vec<(&'static str, Value)>, Refusal> {
        let mut added = vec![];
        for (adapter, settings, credential) in self.targets() {
            added.push((
                adapter,
                admin.add_target(adapter, "lab", settings, credential).await?,
            ));
        }
        Ok(added)
    }

    /// What each was asked.
    #[must_use]
    pub fn seen(&self) -> Vec<(&'static str, &Seen)> {
        let mut seen = vec![("github", self.github.seen()), ("gitea", self.gitea.seen())];
        seen.extend(self.proxmox.as_ref().map(|proxmox| ("proxmox", proxmox.seen())));
        seen
    }

    /// How many requests all of them saw.
    #[must_use]
    pub fn contacts(&self) -> usize {
        self.seen().iter().map(|(_, seen)| seen.count()).sum()
    }

    /// What nobody may see.
    #[must_use]
    pub fn canaries() -> [(&'static str, &'static str); 3] {
        [
            ("secret of Proxmox VE", TOKEN_SECRET),
            ("token of GitHub", PAT),
            ("token of Gitea", GITEA_TOKEN),
        ]
    }
}

/// Settings of a target that is this cluster.
#[must_use]
pub fn proxmox_settings(proxmox: &Proxmox) -> Value {
    json!({"host": "127.0.0.1", "port": proxmox.address().port(), "fingerprints": [proxmox.fingerprint()],
           "allowLoopback": true})
}

/// The credential of that target.
#[must_use]
pub fn proxmox_credential() -> Value {
    json!({"tokenId": TOKEN_ID, "tokenSecret": TOKEN_SECRET})
}

async fn cluster(program: &std::path::Path) -> Proxmox {
    let cluster = Proxmox::start(anywhere(), program)
        .await
        .expect("a simulated cluster");
    cluster.token(TOKEN_ID, proxmox::Token::with(TOKEN_SECRET, "PVEAuditor"));
    cluster
}

fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}
