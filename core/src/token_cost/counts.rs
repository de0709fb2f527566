//! The tokens of every tool's definition, counted once in the life of a process.

use std::{collections::HashMap, sync::OnceLock, thread};

use tokio::{sync::OnceCell, task::spawn_blocking};

use super::definition::definition;
use crate::{error::Error, registry};

/// Tokens by tool.
#[derive(Debug)]
pub struct Counts(HashMap<&'static str, u32>);

// The first is waited for, the second makes sure that a caller who leaves while it counts is not counted for again.
static COUNTED: OnceCell<&'static Counts> = OnceCell::const_new();
static COUNTS: OnceLock<Result<Counts, String>> = OnceLock::new();

/// The counts. The first who asks has them counted, on a thread that may take its time; all others wait for it.
pub async fn counts() -> Result<&'static Counts, Error> {
    let counted = COUNTED.get_or_try_init(|| async {
        let counted = spawn_blocking(|| COUNTS.get_or_init(apart))
            .await
            .map_err(Error::internal)?;
        counted.as_ref().map_err(|why| Error::internal(why.clone()))
    });
    counted.await.copied()
}

impl Counts {
    /// What the definition of this tool costs; nothing for a name that is none.
    #[must_use]
    pub fn of(&self, tool: &str) -> u32 {
        self.0.get(tool).copied().unwrap_or_default()
    }
}

// The tokeniser is a table of 200,000 entries, some 40 MB in small pieces. Freed by a thread that goes on, most of it stays
// with the allocator; a thread of its own gives all of it back with its end.
fn apart() -> Result<Counts, String> {
    let counting = thread::Builder::new().name("token-count".into()).spawn(count);
    let ended = counting
        .map_err(|error| format!("no thread to count on: {error}"))?
        .join();
    ended.unwrap_or_else(|_| Err("the count did not come to its end".into()))
}

fn count() -> Result<Counts, String> {
    let definitions: Vec<_> = registry::tools()
        .map(|tool| (tool.name, definition(tool)))
        .collect();
    // What outlives the tokeniser has its place before it, or it would keep the memory below it.
    let mut counts = HashMap::with_capacity(definitions.len());
    let o200k =
        tiktoken_rs::o200k_base().map_err(|error| format!("the tokeniser cannot be built: {error}"))?;
    for (tool, text) in &definitions {
        let tokens = o200k.count_ordinary(text);
        counts.insert(*tool, u32::try_from(tokens).unwrap_or(u32::MAX));
    }
    Ok(Counts(counts))
}
