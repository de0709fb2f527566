//! What the command is told.

use std::{path::PathBuf, time::Duration};

/// How to measure.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Be the direct host instead of measuring.
    pub(crate) echo: bool,
    /// Be the upstream that takes its time instead of measuring.
    pub(crate) upstream: bool,
    /// Seconds of one measurement.
    pub(crate) span: Duration,
    /// How many call at once.
    pub(crate) callers: Vec<usize>,
    /// Tenants of the second mode; each has five users.
    pub(crate) tenants: usize,
    /// A document whose table is rewritten.
    pub(crate) write: Option<PathBuf>,
}

const USAGE: &str = "usage: toolgate-load [--seconds N] [--callers N,N,…] [--tenants N] [--write FILE]";

impl Options {
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            echo: false,
            upstream: false,
            span: Duration::from_secs(5),
            callers: vec![1, 16, 64, 256],
            tenants: 2_000,
            write: None,
        };
        while let Some(name) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("{name} wants a value\n{USAGE}"))
            };
            match name.as_str() {
                "--echo" => options.echo = true,
                "--upstream" => options.upstream = true,
                "--seconds" => options.span = Duration::from_secs(number(&name, &value()?)?.min(60)),
                "--callers" => {
                    let listed = value()?;
                    let numbers = listed.split(',').map(|each| number(&name, each));
                    options.callers = numbers
                        .map(|number| {
                            number.map(|number| usize::try_from(number).unwrap_or(1).clamp(1, 1024))
                        })
                        .collect::<Result<_, _>>()?;
                }
                "--tenants" => {
                    options.tenants = usize::try_from(number(&name, &value()?)?)
                        .unwrap_or(1)
                        .min(10_000)
                }
                "--write" => options.write = Some(value()?.into()),
                _ => return Err(format!("{name} is no option\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

fn number(name: &str, text: &str) -> Result<u64, String> {
    let parsed = text.parse().ok().filter(|number| *number > 0);
    parsed.ok_or_else(|| format!("{name}: {text:?} is no positive number\n{USAGE}"))
}
