//! The tools of one project: what it told, and under which names callers see it.
//!
//! A name of the gateway's own, or in the name space of infrastructure, is never a project's: the gateway's tool wins, and
//! the project's is published behind the name of its project. What would still collide is left out and told.

use std::{collections::HashMap, sync::Arc};

use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};

use super::definition::{Definition, Published, function_name};
use crate::registry;

/// Tools of one project.
pub(super) const MOST_TOOLS: usize = 512;
/// Bytes of their definitions.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// The list of one project.
#[derive(Debug)]
pub struct ToolList {
    /// The project it is published for.
    pub project: Arc<str>,
    /// SHA-256 of every definition, in hexadecimal; equal hashes mean equal texts.
    pub hash: Arc<str>,
    /// By published name.
    tools: Vec<Published>,
    by_name: HashMap<Arc<str>, usize>,
}

impl ToolList {
    /// Publishes what a project told.
    #[must_use]
    pub fn publish(project: &str, told: Vec<Arc<Definition>>) -> Self {
        let hash = hash(&told);
        let mut tools: Vec<Published> = Vec::with_capacity(told.len());
        let mut taken: HashMap<Arc<str>, ()> = HashMap::new();
        for tool in told {
            let Some(published) = publish(project, &tool) else {
                tracing::warn!(
                    project,
                    tool = &*tool.own_name,
                    "a tool of a project cannot be published and is left out"
                );
                continue;
            };
            if taken.contains_key(&published.name) || taken.contains_key(&published.function_name) {
                tracing::warn!(
                    project,
                    tool = &*tool.own_name,
                    "two tools of a project have one name; the second is left out"
                );
                continue;
            }
            taken.insert(Arc::clone(&published.name), ());
            taken.insert(Arc::clone(&published.function_name), ());
            tools.push(published);
        }
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        let mut by_name = HashMap::new();
        // A published name wins over another tool's own name, and that over a name made fit.
        for name in [
            |tool: &Published| Arc::clone(&tool.function_name),
            |tool: &Published| Arc::clone(&tool.tool.own_name),
            |tool: &Published| Arc::clone(&tool.name),
        ] {
            by_name.extend(tools.iter().enumerate().map(|(at, tool)| (name(tool), at)));
        }
        Self {
            project: project.into(),
            hash,
            tools,
            by_name,
        }
    }

    /// The tools, by published name.
    #[must_use]
    pub fn tools(&self) -> &[Published] {
        &self.tools
    }

    /// The tool that a call names: as it is published, as it is published for clients of OpenAI, or as its project
    /// calls it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Published> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    /// The tool that its project calls so.
    #[must_use]
    pub fn own(&self, own_name: &str) -> Option<&Published> {
        self.tools.iter().find(|tool| *tool.tool.own_name == *own_name)
    }

    /// The same tools under another name of their project.
    #[must_use]
    pub fn renamed(&self, project: &str) -> Self {
        Self::publish(
            project,
            self.tools.iter().map(|tool| Arc::clone(&tool.tool)).collect(),
        )
    }
}

fn publish(project: &str, tool: &Arc<Definition>) -> Option<Published> {
    // Also where it would only read so to a client of OpenAI.
    let taken = |name: &str| is_the_gateways(name) || is_the_gateways(&function_name(name));
    if !taken(&tool.own_name) {
        return tool.publish(&tool.own_name, project);
    }
    let name = format!("{project}_{}", tool.own_name);
    if taken(&name) {
        return None;
    }
    tool.publish(&name, project)
}

// As callers may spell it, so that no spelling of a gateway's tool leads to a project.
fn is_the_gateways(name: &str) -> bool {
    registry::tool(name).is_some() || registry::is_infrastructure_name(name)
}

// Sorted, so that another order is no other list.
fn hash(tools: &[Arc<Definition>]) -> Arc<str> {
    let mut texts: Vec<&str> = tools.iter().map(|tool| tool.raw()).collect();
    texts.sort_unstable();
    let mut context = Context::new(&SHA256);
    for text in texts {
        context.update(&(text.len() as u64).to_be_bytes());
        context.update(text.as_bytes());
    }
    HEXLOWER.encode(context.finish().as_ref()).into()
}
