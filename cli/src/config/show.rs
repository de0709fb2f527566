//! The settings in force, each with its origin: what `config show` prints.

use serde_json::{Value, json};

use super::{
    key::{Kind, Value as Setting},
    load::{Loaded, Origin},
};

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
    let settings: Vec<Value> = loaded
        .values
        .iter()
        .map(|(key, text, origin)| {
            json!({"key": key.name, "value": typed(key.kind, text), "origin": origin_text(origin)})
        })
        .collect();
    json!({"file": loaded.file.as_ref().map(|path| path.display().to_string()), "settings": settings})
}

// As the file would hold it. The text was read before, so what does not fit stays a text only in theory.
fn typed(kind: Kind, text: &str) -> Value {
    match kind.read_text(text) {
        Ok(Setting::Switch(on)) => json!(on),
        Ok(Setting::Number(number)) => json!(number),
        Ok(Setting::List(names)) => json!(names),
        Ok(
            Setting::Address(_)
            | Setting::OptionalAddress(_)
            | Setting::Path(_)
            | Setting::Database(_)
            | Setting::Text(_),
        )
        | Err(_) => {
            json!(text)
        }
    }
}

fn origin_text(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::File(place) | Origin::Environment(place) | Origin::Flag(place) => place.clone(),
    }
}
