//! The three back ends together, as a tenant of agents has them.

use serde_json::Value;

use super::{AgentChat, AgentMemory, AgentOperator, Asked, BackEnd};
use crate::{Caller, Refusal};

/// One of each.
#[derive(Debug)]
pub struct BackEnds {
    /// Memory and the code graph.
    pub memory: AgentMemory,
    /// Projects, tasks and their outcomes.
    pub operator: AgentOperator,
    /// Rooms, participants and messages.
    pub chat: AgentChat,
}

impl BackEnds {
    /// Starts all of them.
    pub async fn start() -> Self {
        Self {
            memory: AgentMemory::start().await,
            operator: AgentOperator::start().await,
            chat: AgentChat::start().await,
        }
    }

    /// Starts all of them and adds them as targets with this access; what they were asked so far is forgotten.
    ///
    /// # Errors
    /// The first that was refused.
    pub async fn added(admin: &Caller, access: &str) -> Result<Self, Refusal> {
        let all = Self::start().await;
        all.add(admin, access).await?;
        all.forget();
        Ok(all)
    }

    /// Adds all of them as targets with this access; gives the answers in the order memory, operator, chat.
    ///
    /// # Errors
    /// The first that was refused.
    pub async fn add(&self, admin: &Caller, access: &str) -> Result<Vec<Value>, Refusal> {
        let mut added = vec![];
        for (adapter, back_end) in self.each() {
            let (settings, credential) = (back_end.settings(access), back_end.credential());
            added.push(admin.add_target(adapter, adapter, settings, credential).await?);
        }
        Ok(added)
    }

    /// By adapter type.
    #[must_use]
    pub fn each(&self) -> [(&'static str, &BackEnd); 3] {
        [
            (AgentMemory::ADAPTER, &self.memory),
            (AgentOperator::ADAPTER, &self.operator),
            (AgentChat::ADAPTER, &self.chat),
        ]
    }

    /// The back end of a group of tools: `memory`, `code_graph`, `operator` or `chat`.
    #[must_use]
    pub fn of_group(&self, group: &str) -> &BackEnd {
        match group {
            "memory" | "code_graph" => &self.memory,
            "operator" => &self.operator,
            _ => &self.chat,
        }
    }

    /// Everything all of them were asked.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.each()
            .into_iter()
            .flat_map(|(_, back_end)| back_end.asked())
            .collect()
    }

    /// Forgets what they were asked.
    pub fn forget(&self) {
        self.each()
            .into_iter()
            .for_each(|(_, back_end)| back_end.forget());
    }
}
