//! The same of a tool that a project brings, in the order in which a call looks for it.

use std::{borrow::Cow, fmt::Write as _};

use super::{Rule, Verdict, Why, by_profile, lacks};
use crate::{profiles, snapshot::Standing};

/// Projects that are told by name.
const MOST: usize = 5;

/// A tool of the tenant's projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// Its published name.
    pub name: String,
    /// The projects that bring it.
    pub projects: Vec<String>,
    /// The first of them is the one whose tools the caller has in its list.
    pub is_current: bool,
    /// That project may only be read, and the tool writes.
    pub is_kept_from_writing: bool,
}

impl Brought {
    /// Why a caller of this standing, which may use tools, has it or not.
    #[must_use]
    pub fn why(self, standing: &Standing) -> Why {
        let name = &self.name;
        let (verdict, rule, sentence) = if !profiles::has_projects(standing.profile.as_deref()) {
            let sentence = format!("{name} is hidden: a project brings it, and {}", lacks(standing));
            (Verdict::Hidden, by_profile(standing), sentence)
        } else if self.is_kept_from_writing {
            let by = self.told();
            let sentence = format!(
                "{name} is denied: {by} brings it, may only be read here, and does not say that the tool only reads"
            );
            (Verdict::Denied, Rule::ReadOnly, sentence)
        } else if self.is_current {
            let project = self.projects.first().map_or("", String::as_str);
            let sentence = format!(
                "{name} is listed and can be called: it is a tool of project {project}, which is the current one here; for \
                 callers with another current project it is not in the list"
            );
            (Verdict::Listed, Rule::Project, sentence)
        } else {
            let sentence = format!(
                "{name} can be called but is not in the list: it is a tool of {}, which is not the current one here; name it in \
                 the call as project, or make it the current one with switch_project",
                self.told()
            );
            (Verdict::Callable, Rule::Project, sentence)
        };
        Why {
            verdict,
            rule,
            sentence,
            tool: Some(Cow::Owned(self.name)),
        }
    }

    fn told(&self) -> String {
        let named = &self.projects[..self.projects.len().min(MOST)];
        let mut told = format!("project {}", named.join(" or "));
        if self.projects.len() > MOST {
            let _ = write!(told, " or one of {} more", self.projects.len() - MOST);
        }
        told
    }
}
