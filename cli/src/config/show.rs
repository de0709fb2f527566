//! The settings in force, each with its origin: what `config show` prints.

use serde_json::{Value, json};

use super::load::{Loaded, Origin};

/// One row per key: name, value, origin.
pub(crate) fn rows(loaded: &Loaded) -> Vec<[String; 3]> {
    loaded
        .values
        .iter()
        .map(|(key, text, origin)| [key.name.into(), text.clone(), origin_text(origin)])
        .collect()
}

/// The same for programs.
pub(crate) fn json(loaded: &Loaded) -> Value {
    let settings: Vec<Value> = rows(loaded)
        .into_iter()
        .map(|[key, value, origin]| json!({"key": key, "value": value, "origin": origin}))
        .collect();
    json!({"file": loaded.file.as_ref().map(|path| path.display().to_string()), "settings": settings})
}

fn origin_text(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::File(place) | Origin::Environment(place) | Origin::Flag(place) => place.clone(),
    }
}
