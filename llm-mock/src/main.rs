//! `cargo run -p toolgate-llm-mock`: the mock as a program. The first line it prints is its URL.

use std::{
    error::Error,
    fs,
    io::Write,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::Parser;
use toolgate_llm_mock::{LlmMock, Script};

/// A scripted OpenAI-compatible model, for tests only.
///
/// Clients choose what it does by the model they name: mock calls the tool that the user's message names and quotes its
/// answer; mock-bad-json, mock-unknown-tool, mock-parallel, mock-ten-rounds and mock-never-ends misbehave.
#[derive(Debug, Parser)]
#[command(name = "toolgate-llm-mock", version)]
struct Options {
    /// Where it listens; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    listen: SocketAddr,

    /// A script to play beside the built-in ones, as JSON; llm-mock/scenarios holds examples.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let script = match &options.scenario {
        None => Script::named("mock").ok_or("the built-in script is missing")?,
        Some(file) => {
            let at = |error: &dyn Error| format!("{}: {error}", file.display());
            Script::parse(&fs::read_to_string(file).map_err(|error| at(&error))?)
                .map_err(|error| at(&error))?
        }
    };
    let mock = LlmMock::start_at(options.listen, script).await.map_err(|error| {
        format!(
            "{}: {error}; choose another address with --listen",
            options.listen
        )
    })?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", mock.url())?;
    out.flush()?;
    tokio::signal::ctrl_c().await?;
    mock.stop().await;
    Ok(())
}
