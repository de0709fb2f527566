//! Reads how a node is doing: its present state and its samples, asked at once.
//!
//! A node that is down, or has no samples, is an answer with less in it: of one that is down the samples of before stay.

mod sample;
mod state;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Cluster,
    ask::{No, Said},
    nodes::{self, Node},
};
use crate::{
    adapters::said::{self, shown},
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::ReadPath},
};

/// What is asked.
#[derive(Debug, Deserialize)]
struct Asked {
    node: String,
    timeframe: Option<String>,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct Told {
    node: String,
    timeframe: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(flatten)]
    state: Map<String, Value>,
    samples: Vec<Map<String, Value>>,
    /// What is missing and why; told in the text alone.
    #[serde(skip)]
    notes: Vec<String>,
}

/// Runs the tool.
pub(super) async fn get(
    cluster: &Cluster,
    contact: &Contact,
    arguments: &[u8],
) -> Result<ToolResult, UpstreamError> {
    let Ok(asked) = serde_json::from_slice::<Asked>(arguments) else {
        return said::no("the arguments cannot be read");
    };
    let node = match nodes::named(cluster, contact, &asked.node).await? {
        Ok(node) => node,
        Err(no) => return said::no(&no),
    };
    let is_offline = node.is_offline();
    let mut told = Told::of(node, asked.timeframe);
    let (state_path, samples_path) = paths(&told.node, &told.timeframe);
    if is_offline {
        // Its own state is with itself; samples are kept by every node of a cluster.
        told.notes
            .push("The node is offline, so there are no present figures.".into());
        let samples = cluster.ask(contact, &samples_path).await;
        told.take_samples(samples)?;
        return told.result();
    }
    let (state, samples) = futures::join!(
        cluster.ask(contact, &state_path),
        cluster.ask(contact, &samples_path)
    );
    match state? {
        Said::Yes(row) if row.is_object() => told.state = state::read(&row),
        Said::Yes(_) => return Err(UpstreamError::Invalid),
        Said::No(No::NodeAway) => told
            .notes
            .push("The node gives no answer to the cluster, so there are no present figures.".into()),
        Said::No(no) => return said::no(&no.told(&format!("the state of {}", shown(&told.node)))),
    }
    told.take_samples(samples)?;
    told.result()
}

fn paths(node: &str, timeframe: &str) -> (ReadPath, ReadPath) {
    let samples = ReadPath::of(["nodes", node, "rrddata"])
        .with("timeframe", timeframe)
        .with("cf", "AVERAGE");
    (ReadPath::of(["nodes", node, "status"]), samples)
}

/// How much of an answer is read as a state and as samples, for whoever wants to try the reading alone.
pub(super) fn counted(data: &Value) -> usize {
    state::read(data).len() + sample::read(data).len()
}

impl Told {
    fn of(node: Node, timeframe: Option<String>) -> Self {
        Self {
            node: node.name,
            timeframe: timeframe.unwrap_or_else(|| "hour".into()),
            status: node.status,
            state: Map::new(),
            samples: vec![],
            notes: vec![],
        }
    }

    /// Samples that cannot be had cost nothing but themselves.
    fn take_samples(&mut self, samples: Result<Said, UpstreamError>) -> Result<(), UpstreamError> {
        match samples {
            Ok(Said::Yes(rows)) => self.samples = sample::read(&rows),
            Ok(Said::No(No::Missing)) => self.notes.push("The node keeps no samples.".into()),
            Ok(Said::No(no)) => self.notes.push(no.told("No samples")),
            Err(UpstreamError::Failed | UpstreamError::Invalid) => {
                self.notes.push("The samples cannot be read now.".into());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn result(&self) -> Result<ToolResult, UpstreamError> {
        let mut lines = vec![format!(
            "{}: {}",
            shown(&self.node),
            shown(self.status.as_deref().unwrap_or("state not told"))
        )];
        lines.extend(state::lines(&self.state));
        lines.extend(sample::lines(&self.samples, &self.timeframe));
        lines.extend(self.notes.iter().cloned());
        said::result(&lines.join("\n"), self)
    }
}
