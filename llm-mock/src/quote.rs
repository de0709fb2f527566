//! Quotes what the tools answered: the data itself, so that a test sees whether it arrived.

use serde_json::Value;

const VALUES: usize = 1_000;
const TEXT: usize = 4_000;
const SPOKEN: usize = 64 * 1024;

/// A sentence with the values of these fields, or with the whole answers where none has such a field.
pub(crate) fn sentence(fields: &[String], results: &[String]) -> String {
    if results.is_empty() {
        return "No tool has answered.".to_owned();
    }
    let mut values = Vec::new();
    for result in results {
        if let Ok(data) = serde_json::from_str::<Value>(result) {
            gather(&data, fields, &mut values);
        }
    }
    if values.is_empty() {
        let whole: Vec<String> = results.iter().map(|result| cut(result, TEXT)).collect();
        return cut(&format!("The tools answered: {}", whole.join("; ")), SPOKEN);
    }
    cut(&format!("The tools answered: {}.", values.join(", ")), SPOKEN)
}

fn gather(data: &Value, fields: &[String], values: &mut Vec<String>) {
    match data {
        Value::Object(map) => {
            for (name, value) in map {
                match value.as_str() {
                    Some(text) if fields.contains(name) => keep(text, values),
                    _ => gather(value, fields, values),
                }
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| gather(entry, fields, values)),
        _ => {}
    }
}

fn keep(text: &str, values: &mut Vec<String>) {
    if values.len() < VALUES && !values.iter().any(|kept| kept == text) {
        values.push(text.to_owned());
    }
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests;
