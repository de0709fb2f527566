//! What OpenAI asks of a function's parameters: an object with properties, and in strict mode the narrow subset.

use serde_json::Value;

const DEEPEST: usize = 32;
/// Words of JSON Schema that strict mode does not take.
const UNKNOWN_IN_STRICT: [&str; 10] = [
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "oneOf",
    "unevaluatedProperties",
];

/// Whether a function of this name may have these parameters; else what is wrong.
pub(crate) fn check(name: &str, parameters: &Value, strict: bool) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("Invalid schema for function '{name}': {what}."));
    if parameters["type"] != "object" {
        return wrong("schema must be a JSON Schema of 'type: \"object\"'");
    }
    if !parameters["properties"].is_object() {
        return wrong("object schema missing properties");
    }
    if !strict {
        return Ok(());
    }
    if parameters.get("anyOf").is_some() {
        return wrong("'anyOf' is not permitted at the top level");
    }
    strictly(parameters, 0).or_else(|what| wrong(&what))
}

fn strictly(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("nested deeper than {DEEPEST}"));
    }
    if let Some(word) = UNKNOWN_IN_STRICT.iter().find(|word| schema.get(*word).is_some()) {
        return Err(format!("'{word}' is not permitted"));
    }
    if schema.get("$ref").is_some() && schema.as_object().is_some_and(|fields| fields.len() > 1) {
        return Err("'$ref' may have no siblings".to_owned());
    }
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != false {
            return Err("'additionalProperties' is required to be supplied and to be false".to_owned());
        }
        let required = schema["required"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        if let Some(name) = properties
            .keys()
            .find(|name| !required.iter().any(|given| given == *name))
        {
            return Err(format!(
                "'required' must hold every key of 'properties'; '{name}' is missing"
            ));
        }
    }
    let children = ["properties", "$defs"]
        .into_iter()
        .filter_map(|word| schema[word].as_object());
    let alternatives = schema["anyOf"].as_array().into_iter().flatten();
    let items = schema.get("items");
    for child in children
        .flat_map(|map| map.values())
        .chain(alternatives)
        .chain(items)
    {
        strictly(child, depth + 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
