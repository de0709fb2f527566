//! The types of targets that can be added, with the forms that the contract says, as this gateway takes them.
//!
//! The contract has the schemas; the readers of settings are the judges. Only what depends on this gateway is put in here:
//! which providers of secrets it has, and what a target may dial when its settings say nothing.

use serde_json::{Value, json};
use toolgate_contract::registry::{TARGET_TYPES, TargetTypeDef};

use super::Targets;
use crate::{adapters::Defaults, registry, secrets::ProviderKind};

/// A type of targets, and what is asked of whoever adds one.
#[derive(Debug, Clone)]
pub struct TargetType {
    /// What the contract says of it.
    pub def: &'static TargetTypeDef,
    /// JSON Schema of its settings.
    pub config: String,
    /// JSON Schema of its credential.
    pub credential: String,
    /// Canonical names of the tools that its targets serve, sorted.
    pub tools: Vec<&'static str>,
}

impl Targets {
    /// The types of targets that can be added, with their forms.
    #[must_use]
    pub fn forms(&self) -> Vec<TargetType> {
        let external = [ProviderKind::Aws, ProviderKind::Vault];
        let serves = external.into_iter().any(|it| self.dialling.secrets.serves(it));
        TARGET_TYPES
            .iter()
            .map(|def| target_type(def, self.dialling.defaults, serves))
            .collect()
    }
}

fn target_type(def: &'static TargetTypeDef, defaults: Defaults, serves_references: bool) -> TargetType {
    let tools = registry::tools().filter(|tool| tool.adapter == def.name);
    TargetType {
        def,
        config: with_defaults(def.config_schema, defaults),
        credential: match serves_references {
            true => def.credential_schema.to_owned(),
            false => without_references(def.credential_schema),
        },
        tools: tools.map(|tool| tool.name).collect(),
    }
}

/// What may be dialled by default depends on who reaches this gateway.
fn with_defaults(schema: &str, defaults: Defaults) -> String {
    edited(schema, |schema| {
        for key in ["allowLoopback", "allowHttp"] {
            if let Some(property) = schema.pointer_mut(&format!("/properties/{key}")) {
                property["default"] = defaults.local.into();
            }
        }
    })
}

/// A form that offers what is refused here helps nobody.
fn without_references(schema: &str) -> String {
    const REFERENCE: &str = "secretRef";
    edited(schema, |schema| {
        if let Some(properties) = schema["properties"].as_object_mut() {
            properties.shift_remove(REFERENCE);
        }
        let Some(ways) = schema.get_mut("oneOf").and_then(Value::as_array_mut) else {
            return;
        };
        ways.retain(|way| way["required"] != json!([REFERENCE]));
        for way in ways.iter_mut() {
            if let Some(others) = way["properties"].as_object_mut() {
                others.shift_remove(REFERENCE);
            }
        }
        if let [only] = ways.as_slice() {
            let required = only["required"].clone();
            if let Some(schema) = schema.as_object_mut() {
                schema.shift_remove("oneOf");
                schema.insert("required".into(), required);
            }
        }
    })
}

// The schemas are generated JSON; one that could not be read would be told as it is.
fn edited(schema: &str, edit: impl FnOnce(&mut Value)) -> String {
    match serde_json::from_str(schema) {
        Ok(mut value) => {
            edit(&mut value);
            value.to_string()
        }
        Err(_) => schema.to_owned(),
    }
}

#[cfg(test)]
mod tests;
