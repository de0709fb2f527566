//! `cargo run -p toolgate-upstream-sim`: a Proxmox VE cluster, GitHub, Gitea and the back ends of agents on loopback, and
//! the commands that add them to a gateway on the same machine.

mod install;

use std::{
    error::Error,
    net::{Ipv4Addr, SocketAddr},
};

use toolgate_upstream_sim::{agents::Agents, gitea, github, proxmox};

const HELP: &str = "\
Simulators of Proxmox VE, GitHub, Gitea and the back ends of agents on 127.0.0.1, to try Toolgate without an account.

usage: toolgate-upstream-sim [--port-base N]

  --port-base N   Proxmox VE listens on N, GitHub on N+1, Gitea on N+2, the back ends of agents on N+3;
                  default 7660
  -h, --help      this text

They end with Ctrl-C. Targets that were added go on to work after a new start, apart from Proxmox VE's, whose certificate
is made anew.";

const TOKEN_ID: &str = "audit@pve!toolgate";
const TOKEN_SECRET: &str = "5f0a4c1e-0000-4000-8000-000000000001";
const GITEA_TOKEN: &str = "51b0000000000000000000000000000000000003";
const AGENTS_TOKEN: &str = "simulated-token-of-agents";
const PAT: &str = "github_pat_11SIMULATED_only_on_this_machine";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(base) = port_base()? else {
        println!("{HELP}");
        return Ok(());
    };
    let at = |offset: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, base + offset));

    let cluster = match install::fakepve().await {
        Ok(program) => {
            let cluster = proxmox::Proxmox::start(at(0), &program)
                .await
                .map_err(|error| taken(at(0), &error))?;
            cluster.token(TOKEN_ID, proxmox::Token::with(TOKEN_SECRET, "PVEAuditor"));
            println!("Proxmox VE  https://{}", cluster.address());
            Some(cluster)
        }
        Err(error) => {
            println!("Proxmox VE  NOT STARTED: {error}");
            None
        }
    };
    let github = github::GitHub::start(at(1))
        .await
        .map_err(|error| taken(at(1), &error))?;
    github.token(PAT, github::Token::least());
    println!("GitHub      {}", github.url());
    let setup = gitea::Setup::of(gitea::Version::Gitea1_25);
    let gitea = gitea::Gitea::start(at(2), setup)
        .await
        .map_err(|error| taken(at(2), &error))?;
    gitea.token(GITEA_TOKEN, gitea::Token::least());
    println!("Gitea       {}", gitea.url());

    let agents = Agents::start(at(3), AGENTS_TOKEN)
        .await
        .map_err(|error| taken(at(3), &error))?;
    println!("Agents      {}", agents.url());

    println!("\nWith a gateway running on this machine (`cargo run`), in another terminal:\n");
    if let Some(cluster) = &cluster {
        println!(
            "  echo {TOKEN_SECRET} | toolgate target add proxmox lab --credential-stdin --host 127.0.0.1 --port {} \\\n    --fingerprint {} --token-id '{TOKEN_ID}'",
            cluster.address().port(),
            cluster.fingerprint(),
        );
    }
    println!(
        "  echo {PAT} | toolgate target add github acme --credential-stdin --base-url {}",
        github.url()
    );
    println!(
        "  echo {GITEA_TOKEN} | toolgate target add gitea forge --credential-stdin --base-url {}",
        gitea.url()
    );
    for back_end in ["memory", "operator", "chat"] {
        println!(
            "  echo {AGENTS_TOKEN} | toolgate target add agent-{back_end} {back_end} --credential-stdin --access read_write --base-url {}",
            agents.url()
        );
    }
    println!("\nThen, for example:\n");
    println!("  toolgate call proxmox.list_vms");
    println!("  toolgate call github.get_recent_ci_runs --arg owner=acme --arg repo=shop");
    println!("  toolgate call gitea.get_recent_ci_runs --arg owner=acme --arg repo=shop");
    println!("  toolgate call task_get --arg task=task-1");
    println!("\nOr all tools of agents over a pipe, without a gateway:\n");
    let url = agents.url();
    println!(
        "  TATARA_MEMORY_URL={url} TATARA_OPERATOR_URL={url} TATARA_CHAT_URL={url} TATARA_MEMORY_TOKEN={AGENTS_TOKEN} \\\n    TATARA_OPERATOR_TOKEN={AGENTS_TOKEN} TATARA_CHAT_TOKEN={AGENTS_TOKEN} TATARA_PROJECT=acme TATARA_TASK=task-1 toolgate mcp"
    );
    println!("\nCtrl-C ends the simulators.");
    tokio::signal::ctrl_c().await?;
    Ok(())
}

fn port_base() -> Result<Option<u16>, String> {
    let mut arguments = std::env::args().skip(1);
    let wrong = "--port-base takes a number from 1024 to 65000; see --help";
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(Some(7660)),
        (Some("-h" | "--help"), None, _) => Ok(None),
        (Some("--port-base"), Some(number), None) => match number.parse() {
            Ok(number @ 1024..=65_000) => Ok(Some(number)),
            _ => Err(wrong.into()),
        },
        (Some(other), ..) => Err(format!("{other} is not known; see --help")),
    }
}

fn taken(address: SocketAddr, error: &std::io::Error) -> String {
    format!("{address}: {error}; choose other ports with --port-base")
}
