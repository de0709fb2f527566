//! What a caller works for and on: what a call falls back to where its arguments do not say.
//!
//! It decides nothing about what a caller may do; it only saves an agent from repeating what its pod knows.

use std::sync::Arc;

use toolgate_contract::registry;

use crate::names;

/// The longest project or task, in characters.
const LONGEST: usize = 256;

/// A project and a task, where they are known. Taken as they were told: whether one can be used is asked with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    project: Option<Arc<str>>,
    task: Option<Arc<str>>,
}

/// A project or task that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfit;

impl Context {
    /// Of these; what is empty is as good as nothing.
    #[must_use]
    pub fn new(project: Option<&str>, task: Option<&str>) -> Self {
        let told = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(Arc::from);
        Self {
            project: told(project),
            task: told(task),
        }
    }

    /// This, and where it says nothing the weaker.
    #[must_use]
    pub fn over(self, weaker: &Self) -> Self {
        Self {
            project: self.project.or_else(|| weaker.project.clone()),
            task: self.task.or_else(|| weaker.task.clone()),
        }
    }

    /// What stands in for an argument.
    ///
    /// # Errors
    /// When it is no short line of printable characters.
    pub fn of(&self, which: registry::Context) -> Result<Option<&str>, Unfit> {
        let told = match which {
            registry::Context::Project => &self.project,
            registry::Context::Task => &self.task,
        };
        match told.as_deref() {
            Some(text) if text.chars().count() > LONGEST || !names::is_one_line(text) => Err(Unfit),
            told => Ok(told),
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_contract::registry::Context::{Project, Task};

    use super::*;

    #[test]
    fn the_stronger_counts_where_it_says_something() {
        let header = Context::new(Some("shop"), Some("t-1"));
        let token = Context::new(None, Some("t-2"));
        let both = token.over(&header);
        assert_eq!(
            (both.of(Project), both.of(Task)),
            (Ok(Some("shop")), Ok(Some("t-2")))
        );
        let nothing = Context::new(Some(""), None).over(&Context::default());
        assert_eq!((nothing.of(Project), nothing.of(Task)), (Ok(None), Ok(None)));
    }

    #[test]
    fn what_is_no_short_line_cannot_be_used() {
        for unfit in ["a\nb", " a", "a\u{202e}b", &"a".repeat(257)] {
            assert_eq!(
                Context::new(Some(unfit), None).of(Project),
                Err(Unfit),
                "{unfit:?}"
            );
        }
        assert_eq!(
            Context::new(Some("größe 1/2"), None).of(Project),
            Ok(Some("größe 1/2"))
        );
    }
}
