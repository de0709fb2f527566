//! Drives the real release binary over HTTP/1.1 keep-alive and prints what an audited call costs.
//!
//! `cargo build --release -p toolgate -p toolgate-load --features toolgate/conformance` makes both; the gateway then
//! answers for its hosts in process, so that what is left of a call is the gateway's own cost. A direct call of the
//! same answer, from a process of its own, is measured in the same run. Everything stays on loopback, and every
//! measurement ends by the clock.

mod appends;
mod client;
mod commits;
mod disk;
mod echo;
mod mcp;
mod measure;
mod options;
mod place;
mod report;
mod stage;
mod upstream;

use std::{error::Error, process::ExitCode};

use options::Options;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolgate-load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    // One thread: the generator shares two cores with what it measures and should take little of them.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    if options.echo {
        return Ok(runtime.block_on(echo::serve())?);
    }
    if options.upstream {
        return Ok(runtime.block_on(upstream::serve())?);
    }
    let mut report = runtime.block_on(stage::all(&options))?;
    drop(runtime);
    report.appends = journal_alone(&options)?;
    let table = report.table();
    println!("{table}");
    match &options.write {
        Some(path) => Ok(report::write(path, &table)?),
        None => Ok(()),
    }
}

fn journal_alone(options: &Options) -> Result<Vec<appends::Appends>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let mut found = Vec::new();
    for place in place::Place::all() {
        found.extend(runtime.block_on(appends::all(&place, options.span))?);
    }
    Ok(found)
}
