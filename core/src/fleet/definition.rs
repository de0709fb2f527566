//! One tool as its project defines it, and as it is published: the project's bytes but for name and routing argument.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use toolgate_contract::splice;

use crate::registry::Schema;

/// The longest name of a project's tool, in bytes.
const LONGEST_NAME: usize = 128;
/// The longest schema that calls are held against here; behind a longer one the project alone looks.
const LONGEST_SCHEMA: usize = 64 * 1024;
/// The longest name that clients of OpenAI take.
const LONGEST_FUNCTION: usize = 64;

/// The argument that names the project a call is for.
pub const ROUTING: &str = "project";
/// Its name where a tool has an argument of its own that is called so.
pub const ROUTING_BESIDE: &str = "toolgate_project";

/// A tool as its project told it.
#[derive(Debug)]
pub struct Definition {
    /// The whole of it, byte for byte.
    raw: String,
    /// Its name, which is how it is called there.
    pub own_name: Arc<str>,
    /// Whether it says of itself that it only reads. Narrows what may be called, and never widens it.
    pub read_only: bool,
    /// Whether it has an argument called `project` of its own.
    pub has_project: bool,
    schema: Option<Schema>,
}

/// A tool as callers see it.
#[derive(Debug, Clone)]
pub struct Published {
    /// Its name in lists and calls.
    pub name: Arc<str>,
    /// Its name for clients of OpenAI.
    pub function_name: Arc<str>,
    /// A title for people.
    pub title: String,
    /// What the project says that it does.
    pub description: String,
    /// The project's definition with name and routing argument.
    pub definition: Bytes,
    /// The schema of its arguments, out of the definition.
    pub input_schema: Bytes,
    /// The schema of its structured result, out of the definition; empty where there is none.
    pub output_schema: Bytes,
    /// What it is out of.
    pub tool: Arc<Definition>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    name: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(borrow, default)]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output_schema: Option<&'a RawValue>,
    #[serde(borrow, default)]
    annotations: Option<&'a RawValue>,
}

/// What is in it is the project's word; of another type than it should be it says nothing, and costs no tool.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(default)]
    title: Option<Value>,
    #[serde(default)]
    read_only_hint: Option<Value>,
}

impl Told<'_> {
    fn hints(&self) -> Annotations {
        let raw = self.annotations.map(RawValue::get);
        raw.and_then(|raw| serde_json::from_str(raw).ok())
            .unwrap_or_default()
    }
}

impl Definition {
    /// Reads one; `None` for what is no tool, or has no name that could be called.
    #[must_use]
    pub fn read(raw: &str) -> Option<Self> {
        let told: Told<'_> = serde_json::from_str(raw).ok()?;
        let fits = (1..=LONGEST_NAME).contains(&told.name.len()) && !told.name.chars().any(unwanted);
        let schema = told.input_schema.map(RawValue::get);
        let read_only = told.hints().read_only_hint == Some(Value::Bool(true));
        fits.then(|| Self {
            own_name: told.name.into(),
            read_only,
            has_project: schema.is_some_and(has_routing),
            schema: schema
                .filter(|schema| schema.len() <= LONGEST_SCHEMA)
                .and_then(Schema::compile),
            raw: raw.to_owned(),
        })
    }

    /// The whole of it, byte for byte.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The schema of its arguments, where calls can be held against it here.
    #[must_use]
    pub fn schema(&self) -> Option<&Schema> {
        self.schema.as_ref()
    }

    /// Leaves its arguments to its project alone.
    #[must_use]
    pub fn without_schema(self) -> Self {
        Self { schema: None, ..self }
    }

    /// By which argument a call of it names a project.
    #[must_use]
    pub fn routing(&self) -> &'static str {
        match self.has_project {
            true => ROUTING_BESIDE,
            false => ROUTING,
        }
    }

    /// The tool under a name of its project; `None` where its text cannot be edited without guessing.
    #[must_use]
    pub fn publish(self: &Arc<Self>, name: &str, project: &str) -> Option<Published> {
        let named = match *self.own_name == *name {
            true => self.raw.clone(),
            false => splice::with(&self.raw, "name", &serde_json::to_string(name).ok()?).ok()?,
        };
        let definition = self.with_routing(&named, project)?;
        let told: Told<'_> = serde_json::from_str(&definition).ok()?;
        let hints = told.hints();
        let title = told
            .title
            .or_else(|| hints.title.as_ref().and_then(Value::as_str).map(str::to_owned))
            .unwrap_or_default();
        let bytes = |raw: Option<&RawValue>| {
            raw.map_or_else(Bytes::new, |raw| Bytes::copy_from_slice(raw.get().as_bytes()))
        };
        let (input_schema, output_schema) = (bytes(told.input_schema), bytes(told.output_schema));
        Some(Published {
            name: name.into(),
            function_name: function_name(name).into(),
            title,
            description: told.description.unwrap_or_default(),
            input_schema,
            output_schema,
            definition: definition.into(),
            tool: Arc::clone(self),
        })
    }

    fn with_routing(&self, definition: &str, project: &str) -> Option<String> {
        let schema = splice::member(definition, "inputSchema").ok()?;
        // What a project says in another form than a list of properties is left as it is: a call can name the project all
        // the same.
        if schema.is_some_and(|schema| !schema.starts_with('{')) {
            return Some(definition.to_owned());
        }
        let properties = splice::at(definition, &["inputSchema", "properties"]).ok()?;
        if properties.is_some_and(|own| !own.starts_with('{')) {
            return Some(definition.to_owned());
        }
        let definition = match schema {
            Some(_) => definition.to_owned(),
            None => splice::with(definition, "inputSchema", r#"{"type":"object"}"#).ok()?,
        };
        let what = format!(
            "Name of the project to call instead of {project}, which brings this tool and wrote its texts; list_projects \
             names them all."
        );
        let property = serde_json::json!({"type": "string", "description": what}).to_string();
        splice::with_at(
            &definition,
            &["inputSchema", "properties", self.routing()],
            &property,
        )
        .ok()
    }
}

fn has_routing(schema: &str) -> bool {
    let properties = splice::member(schema, "properties").ok().flatten();
    properties.is_some_and(|properties| splice::member(properties, ROUTING) != Ok(None))
}

/// The name with what no client of OpenAI takes replaced, cut where they cut.
pub(super) fn function_name(name: &str) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    name.chars().map(fit).take(LONGEST_FUNCTION).collect()
}

// A name that plays tricks on whoever reads it is none.
fn unwanted(c: char) -> bool {
    c.is_control() || c.is_whitespace() || crate::registry::is_invisible(c)
}
