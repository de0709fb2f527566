//! JSON Schemas (2020-12) of tool arguments and results, from messages, comments and rules.
//!
//! Nested messages are inlined and every object is closed. Enums of proto are refused: value sets are strings with
//! `(rules).in`, so that what models read carries no prefixes.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use super::{
    Mistakes, comments,
    options::{Options, RulesOption},
};

/// The dialect of every schema.
pub(crate) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const TARGET_ID: &str = "Id of the target to ask. Only needed when more than one target of this type is \
configured: the error then lists them.";

/// The schema of a tool's arguments. Infrastructure tools get the optional `target_id`.
///
/// Schemas of all other tools travel in the context of models, so they say nothing that goes without saying: neither
/// their dialect nor the bounds of 64-bit integers.
pub(crate) fn arguments(
    message: &MessageDescriptor,
    infrastructure: bool,
    options: &Options,
    mistakes: &mut Mistakes,
) -> Value {
    let mut walk = Walk {
        options,
        mistakes,
        bounded: infrastructure,
        camel: false,
        inside: Vec::new(),
    };
    let mut schema = walk.object(message);
    if infrastructure {
        if message.get_field_by_name("target_id").is_some() {
            let place = format!("field {}.target_id", message.full_name());
            walk.mistakes.at(
                &place,
                "target_id is injected into infrastructure tools; do not declare it",
            );
        }
        schema["properties"]["target_id"] =
            json!({"type": "string", "description": TARGET_ID, "minLength": 1, "maxLength": 64});
        return with_dialect(schema);
    }
    schema
}

/// The schema of a tool's structured result.
pub(crate) fn result(message: &MessageDescriptor, options: &Options, mistakes: &mut Mistakes) -> Value {
    with_dialect(
        Walk {
            options,
            mistakes,
            bounded: false,
            camel: false,
            inside: Vec::new(),
        }
        .object(message),
    )
}

/// The schema of an object that people fill in: keys as REST spells them, properties in the order of the form, and, where
/// fields belong to ways, a `oneOf` of them in which each requires its own fields and refuses all others.
pub(crate) fn form(message: &MessageDescriptor, options: &Options, mistakes: &mut Mistakes) -> Value {
    let description = comments::at(&message.parent_file(), message.path());
    let mut walk = Walk {
        options,
        mistakes,
        bounded: false,
        camel: true,
        inside: Vec::new(),
    };
    let mut schema = with_dialect(walk.object(message));
    schema["description"] = description.into();
    schema
}

/// The schema of one field of a form.
pub(crate) fn form_field(field: &FieldDescriptor, options: &Options, mistakes: &mut Mistakes) -> Value {
    let rules = options.rules(&field.options());
    let mut walk = Walk {
        options,
        mistakes,
        bounded: false,
        camel: true,
        inside: Vec::new(),
    };
    with_dialect(walk.property(field, &rules))
}

fn with_dialect(schema: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("$schema".into(), DIALECT.into());
    if let Value::Object(rest) = schema {
        whole.extend(rest);
    }
    Value::Object(whole)
}

struct Walk<'a> {
    options: &'a Options,
    mistakes: &'a mut Mistakes,
    /// Whether integers get the bounds of their type: arguments must fit when decoded, results do by construction.
    bounded: bool,
    /// Whether keys are spelt as REST spells them.
    camel: bool,
    /// The messages being walked, to find recursion.
    inside: Vec<String>,
}

impl Walk<'_> {
    fn object(&mut self, message: &MessageDescriptor) -> Value {
        let name = message.full_name().to_owned();
        if self.inside.contains(&name) {
            self.mistakes.at(
                &format!("message {name}"),
                "a message of a tool may not contain itself",
            );
            return json!({});
        }
        self.inside.push(name);
        let mut members = Members::default();
        self.gather(message, &mut members);
        self.inside.pop();
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        let ways = members.one_way();
        schema.insert("properties".into(), Value::Object(members.properties));
        if !members.required.is_empty() {
            schema.insert("required".into(), Value::Array(members.required));
        }
        schema.insert("additionalProperties".into(), false.into());
        if !ways.is_empty() {
            schema.insert("oneOf".into(), Value::Array(ways));
        }
        Value::Object(schema)
    }

    fn gather(&mut self, message: &MessageDescriptor, members: &mut Members) {
        for field in message.fields() {
            let rules = self.options.rules(&field.options());
            if let (true, Kind::Message(inner)) = (rules.flatten, field.kind()) {
                self.gather(&inner, members);
                continue;
            }
            let name = match self.camel {
                true => field.json_name().to_owned(),
                false => rules.published(&field),
            };
            if rules.required {
                members.required.push(Value::from(name.clone()));
            }
            if !rules.way.is_empty() {
                members.ways.push((rules.way.clone(), name.clone()));
            }
            let schema = self.property(&field, &rules);
            members.properties.insert(name, schema);
        }
    }

    fn property(&mut self, field: &FieldDescriptor, rules: &RulesOption) -> Value {
        let place = format!("field {}", field.full_name());
        let description = comments::of_field(field);
        if description.is_empty() {
            self.mistakes.at(
                &place,
                "a field of a tool needs a comment; it is the field's description",
            );
        }
        let single = !field.is_list() && !field.is_map() && !matches!(field.kind(), Kind::Message(_));
        if rules.required && single && !field.supports_presence() {
            self.mistakes.at(
                &place,
                "a required scalar must be `optional`, or its absence could not be seen",
            );
        }
        let mut schema = if field.is_map() {
            self.map(field, rules, &place)
        } else if field.is_list() {
            let items = self.value(field, rules, &place);
            let mut list = Map::from_iter([
                ("type".into(), "array".into()),
                ("items".into(), Value::Object(items)),
            ]);
            if let Some(most) = rules.max_items {
                list.insert("maxItems".into(), most.into());
            }
            list
        } else {
            self.value(field, rules, &place)
        };
        if !rules.title.is_empty() {
            schema.insert("title".into(), rules.title.as_str().into());
        }
        schema.insert("description".into(), description.into());
        if rules.secret {
            schema.insert("writeOnly".into(), true.into());
        }
        for (keyword, text) in [
            ("default", &rules.default_json),
            ("examples", &rules.example_json),
        ] {
            if text.is_empty() {
                continue;
            }
            match serde_json::from_str::<Value>(text) {
                Ok(value) if keyword == "examples" => {
                    schema.insert(keyword.into(), Value::Array(vec![value]))
                }
                Ok(value) => schema.insert(keyword.into(), value),
                Err(error) => {
                    self.mistakes
                        .at(&place, format!("the {keyword} is not JSON: {error}"));
                    None
                }
            };
        }
        Value::Object(schema)
    }

    fn map(&mut self, field: &FieldDescriptor, rules: &RulesOption, place: &str) -> Map<String, Value> {
        let Kind::Message(entry) = field.kind() else {
            return Map::new();
        };
        let value = self.value(&entry.map_entry_value_field(), rules, place);
        Map::from_iter([
            ("type".into(), "object".into()),
            ("additionalProperties".into(), Value::Object(value)),
        ])
    }

    fn value(&mut self, field: &FieldDescriptor, rules: &RulesOption, place: &str) -> Map<String, Value> {
        match field.kind() {
            Kind::Message(message) => match self.object(&message) {
                Value::Object(object) => object,
                _ => Map::new(),
            },
            Kind::Enum(_) => {
                self.mistakes.at(
                    place,
                    "a value set of a tool is a `string` with `(rules).in`, not an enum",
                );
                Map::new()
            }
            Kind::String => self.text(rules, place),
            Kind::Bytes if self.options.json(&field.options()) => match rules.json_type.as_str() {
                "" => Map::new(),
                "object" => typed(json!({"type": "object"})),
                other => {
                    self.mistakes.at(
                        place,
                        format!("{other} is no JSON type that a raw value may have"),
                    );
                    Map::new()
                }
            },
            Kind::Bytes => typed(json!({"type": "string", "contentEncoding": "base64"})),
            Kind::Bool => typed(json!({"type": "boolean"})),
            Kind::Double | Kind::Float => typed(json!({"type": "number"})),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                self.integer(rules, i32::MIN.into(), i32::MAX.into())
            }
            Kind::Uint32 | Kind::Fixed32 => self.integer(rules, json!(0), u32::MAX.into()),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                self.integer(rules, i64::MIN.into(), i64::MAX.into())
            }
            Kind::Uint64 | Kind::Fixed64 => self.integer(rules, json!(0), u64::MAX.into()),
        }
    }

    fn text(&mut self, rules: &RulesOption, place: &str) -> Map<String, Value> {
        let mut schema = typed(json!({"type": "string"}));
        if !rules.r#in.is_empty() {
            schema.insert("enum".into(), json!(rules.r#in));
        }
        if let Some(length) = rules.min_length {
            schema.insert("minLength".into(), length.into());
        }
        if let Some(length) = rules.max_length {
            schema.insert("maxLength".into(), length.into());
        }
        if rules.not_blank {
            schema.insert("pattern".into(), "\\S".into());
        }
        if !rules.pattern.is_empty() {
            // JSON Schema searches; the rule promises that the whole text must match.
            if !(rules.pattern.starts_with('^') && rules.pattern.ends_with('$')) {
                self.mistakes
                    .at(place, "a pattern must start with `^` and end with `$`");
            }
            schema.insert("pattern".into(), rules.pattern.as_str().into());
        }
        for (keyword, hint) in [("format", &rules.format), ("contentMediaType", &rules.media_type)] {
            if !hint.is_empty() {
                schema.insert(keyword.into(), hint.as_str().into());
            }
        }
        schema
    }

    fn integer(&self, rules: &RulesOption, least: Value, most: Value) -> Map<String, Value> {
        let mut schema = typed(json!({"type": "integer"}));
        let bound =
            |rule: Option<i64>, natural: Value| rule.map(Value::from).or(self.bounded.then_some(natural));
        if let Some(min) = bound(rules.min, least) {
            schema.insert("minimum".into(), min);
        }
        if let Some(max) = bound(rules.max, most) {
            schema.insert("maximum".into(), max);
        }
        schema
    }
}

/// The members of an object, as they are gathered.
#[derive(Default)]
struct Members {
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// Members that belong to one of several ways, with its title.
    ways: Vec<(String, String)>,
}

impl Members {
    /// The ways: each requires its members and refuses those of the others.
    fn one_way(&self) -> Vec<Value> {
        let mut titles: Vec<&str> = self.ways.iter().map(|(title, _)| title.as_str()).collect();
        titles.dedup();
        let way = |title: &&str| {
            let (own, others): (Vec<_>, Vec<_>) = self.ways.iter().partition(|(of, _)| of == title);
            let own: Vec<&str> = own.into_iter().map(|(_, name)| name.as_str()).collect();
            let others: Map<String, Value> = others
                .into_iter()
                .map(|(_, name)| (name.clone(), false.into()))
                .collect();
            json!({"title": title, "required": own, "properties": others})
        };
        titles.iter().map(way).collect()
    }
}

fn typed(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
