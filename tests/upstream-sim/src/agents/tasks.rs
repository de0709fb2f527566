//! Tasks: one project `acme` with one task `task-1`, whose outcome is whatever it is told last.

use serde_json::{Value, json};

use super::{Asked, done};
use crate::Reply;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Tasks {
    task: Value,
    steps: Vec<Value>,
    told: Vec<Value>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            task: json!({"id": "task-1", "project": "acme", "kind": "implement", "title": "Retry payments", "state": "running"}),
            steps: vec![json!({"id": "step-1", "title": "Read the code", "phase": "done"})],
            told: Vec::new(),
        }
    }
}

impl Tasks {
    pub(super) fn answer(&mut self, asked: &Asked) -> Option<Reply> {
        let (method, path) = asked.parts();
        match (method, path.as_slice()) {
            ("GET", ["projects"]) => done(200, &json!({"projects": [{"name": "acme"}]})),
            ("GET", ["projects", "acme"]) => done(200, &json!({"name": "acme", "repositories": 1})),
            ("GET", ["projects", "acme", "repositories"]) => {
                done(200, &json!({"repositories": [{"name": "shop"}]}))
            }
            ("GET", ["projects", "acme", "tasks"]) => done(200, &json!({"tasks": [self.task]})),
            ("GET", ["tasks", "task-1"]) => done(200, &json!({"task": self.task, "told": self.told})),
            ("PATCH", ["tasks", "task-1"]) => {
                for (name, value) in asked.body.as_object()? {
                    self.task[name] = value.clone();
                }
                done(200, &self.task)
            }
            ("GET", ["tasks", "task-1", "subtasks"]) => done(200, &json!({"subtasks": self.steps})),
            ("POST", ["tasks", "task-1", "subtasks"]) => {
                let id = format!("step-{}", self.steps.len() + 1);
                let step = json!({"id": id, "title": asked.text("title"), "phase": "open"});
                self.steps.push(step.clone());
                done(201, &step)
            }
            ("PATCH", ["subtasks", id]) => {
                let step = self.steps.iter_mut().find(|step| step["id"] == **id)?;
                for (name, value) in asked.body.as_object()? {
                    step[name] = value.clone();
                }
                done(200, step)
            }
            ("POST", ["tasks", "task-1", what] | ["projects", "acme", what]) => {
                self.told.push(json!({"what": what, "said": asked.body}));
                done(201, &json!({"accepted": what}))
            }
            _ => None,
        }
    }
}
