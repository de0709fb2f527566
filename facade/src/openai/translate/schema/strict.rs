//! Whether a schema is one of OpenAI's strict mode: a subset in which every object is closed and every property
//! required. Whatever is not known to be taken is taken for refused, because one refused schema breaks the whole list.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::members::{Members, Values};

const KEYWORDS: [&str; 21] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];
const FORMATS: [&str; 9] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];
const MOST_PROPERTIES: usize = 5000;
const MOST_ENUM_VALUES: usize = 1000;
const DEEPEST: usize = 10;
const LONGEST: usize = 120_000;

/// The schema as strict mode takes it, where it accepts the same values; `required` has to be there even when it is
/// empty.
pub(super) fn form(schema: &str) -> Option<String> {
    if schema.len() > LONGEST {
        return None;
    }
    let mut counts = Counts::default();
    let root: Members<'_> = serde_json::from_str(schema).ok()?;
    if root.has("anyOf") || root.has("$ref") || root.get("type")?.get() != r#""object""# {
        return None;
    }
    counts.schema(schema, 1)?;
    if root.has("required") {
        return Some(schema.to_owned());
    }
    let open = schema.strip_suffix('}')?;
    Some(format!("{open},\"required\":[]}}"))
}

#[derive(Default)]
struct Counts {
    properties: usize,
    enum_values: usize,
}

impl Counts {
    /// `None` for a schema that is not one of the subset.
    fn schema(&mut self, schema: &str, depth: usize) -> Option<()> {
        let members: Members<'_> = serde_json::from_str(schema).ok()?;
        let is_known = |(name, _): &(Cow<'_, str>, _)| KEYWORDS.contains(&&**name);
        if depth > DEEPEST || !members.0.iter().all(is_known) {
            return None;
        }
        if let Some(reference) = members.get("$ref") {
            let to: Cow<'_, str> = serde_json::from_str(reference.get()).ok()?;
            return (members.0.len() == 1 && (to == "#" || to.starts_with("#/$defs/"))).then_some(());
        }
        if !members.has("type") && !members.has("anyOf") {
            return None;
        }
        self.texts(&members)?;
        self.object(&members, depth)?;
        self.array(&members, depth)?;
        if let Some(any) = members.get("anyOf") {
            for each in list(any)? {
                self.schema(each.get(), depth + 1)?;
            }
        }
        if let Some(defined) = members.get("$defs") {
            let defined: Members<'_> = serde_json::from_str(defined.get()).ok()?;
            for (_, each) in &defined.0 {
                self.schema(each.get(), depth + 1)?;
            }
        }
        Some(())
    }

    fn texts(&mut self, members: &Members<'_>) -> Option<()> {
        if let Some(values) = members.get("enum") {
            self.enum_values += list(values)?.len();
        }
        let text = |name: &str| match members.get(name) {
            Some(raw) => serde_json::from_str::<Cow<'_, str>>(raw.get()).ok(),
            None => Some("".into()),
        };
        let format = text("format")?;
        let is_plain = !text("pattern")?.contains("(?");
        let is_known = format.is_empty() || FORMATS.contains(&&*format);
        (is_plain && is_known && self.enum_values <= MOST_ENUM_VALUES).then_some(())
    }

    /// Closed, and every property required.
    fn object(&mut self, members: &Members<'_>, depth: usize) -> Option<()> {
        if !is(members, "object") && !members.has("properties") {
            return Some(());
        }
        if members.get("additionalProperties")?.get() != "false" {
            return None;
        }
        let properties: Members<'_> = match members.get("properties") {
            Some(raw) => serde_json::from_str(raw.get()).ok()?,
            None => return None,
        };
        let required: Vec<Cow<'_, str>> = match members.get("required") {
            Some(raw) => serde_json::from_str(raw.get()).ok()?,
            // What lacks it in the root is completed; elsewhere it is asked for.
            None if depth == 1 => Vec::new(),
            None => return None,
        };
        let all = properties.0.iter().all(|(name, _)| required.contains(name));
        if !all || required.len() != properties.0.len() {
            return None;
        }
        self.properties += properties.0.len();
        if self.properties > MOST_PROPERTIES {
            return None;
        }
        for (_, each) in &properties.0 {
            self.schema(each.get(), depth + 1)?;
        }
        Some(())
    }

    fn array(&mut self, members: &Members<'_>, depth: usize) -> Option<()> {
        match members.get("items") {
            Some(items) => self.schema(items.get(), depth + 1),
            None => (!is(members, "array")).then_some(()),
        }
    }
}

/// Whether the type is, or may be, this one.
fn is(members: &Members<'_>, kind: &str) -> bool {
    members
        .get("type")
        .is_some_and(|raw| raw.get().contains(&format!("\"{kind}\"")))
}

fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str::<Values<'_>>(raw.get())
        .ok()
        .map(|list| list.0)
}
