//! Members of objects that two readers could see differently.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use toolgate_contract::splice::Key;

/// A member that is there, also when it is null.
pub(in crate::mcp) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads the members named `ours` of an object in one pass; others are skipped.
///
/// # Errors
/// A doubled member, or one that only looks like one of ours, by the name that we read.
pub(in crate::mcp) fn pick<'a, const N: usize>(
    object: &'a str,
    ours: &'static [&'static str; N],
) -> Result<[Option<&'a RawValue>; N], String> {
    if !object.starts_with('{') {
        // The parser would repeat what stands there instead.
        return Err("an object is wanted".into());
    }
    let mut reader = serde_json::Deserializer::from_str(object);
    reader
        .deserialize_map(Members { ours })
        .map_err(|error| without_place(&error))
}

/// serde_json says the place within the object, which is not the place within the message.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

struct Members<const N: usize> {
    ours: &'static [&'static str; N],
}

impl<'de, const N: usize> Visitor<'de> for Members<N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        let mut foreign: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            if let Some(at) = self.ours.iter().position(|ours| *ours == key) {
                if found[at].replace(map.next_value()?).is_some() {
                    return Err(Error::custom(format!("member {} is given twice", self.ours[at])));
                }
                continue;
            }
            if let Some(ours) = self.ours.iter().find(|ours| looks_like(&key, ours)) {
                return Err(Error::custom(format!(
                    "a member looks like {ours} but is spelt otherwise"
                )));
            }
            if !foreign.insert(key) {
                return Err(Error::custom("an unknown member is given twice"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(found)
    }
}

/// Readers that ignore case, fold letters such as the Kelvin sign, or stop at a NUL see our member in the key.
fn looks_like(key: &str, ours: &str) -> bool {
    folded(key).eq(folded(ours))
}

fn folded(key: &str) -> impl Iterator<Item = char> {
    key.chars()
        .filter(|char| char.is_alphanumeric() || *char == '_')
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_two_readers_could_see_differently_is_refused() {
        let check = |object: &str, expected: bool| {
            assert_eq!(
                pick(object, &["name", "task", "_meta"]).is_ok(),
                expected,
                "{object}"
            );
        };
        check("{}", true);
        check(
            r#"{"name":1,"_meta":{},"other":{"name":1,"name":2},"Other":1}"#,
            true,
        );
        check(r#"{"name":1,"name":1}"#, false);
        check(r#"{"na\u006de":1,"name":1}"#, false);
        check(r#"{"Name":1}"#, false);
        check(r#"{"NAME":1,"name":1}"#, false);
        check(r#"{"name\u0000":1}"#, false);
        check(r#"{"ta\u017fk":1}"#, false);
        check(r#"{"tas\u212a":1}"#, false);
        check(r#"{" name ":1}"#, false);
        check(r#"{"_Meta":1}"#, false);
        check(r#"{"x":1,"x":2}"#, false);
        check(r#"{"names":1,"meta":2}"#, true);
    }

    #[test]
    fn names_with_dots_and_slashes_are_compared_alike() {
        let check = |key: &str, expected: bool| {
            let object = format!("{{{key:?}:1}}");
            assert_eq!(
                pick(&object, &["io.x/protocolVersion"]).is_ok(),
                expected,
                "{key}"
            );
        };
        check("io.x/protocolVersion", true);
        check("io.x/protocolversion", false);
        check("IO.X/PROTOCOLVERSION", false);
        check("io.x/protocolVersions", true);
    }

    #[test]
    fn what_is_no_object_is_refused_without_repeating_it() {
        for text in ["\"text\"", "[1]", "7", "null", ""] {
            assert_eq!(pick(text, &["name"]).unwrap_err(), "an object is wanted");
        }
    }

    #[test]
    fn members_come_as_they_were_written() {
        let [name, task] = pick(
            r#"{"x":[1,2],"task": {"n":9007199254740993 } ,"name":null}"#,
            &["name", "task"],
        )
        .unwrap();
        assert_eq!(name.unwrap().get(), "null");
        assert_eq!(task.unwrap().get(), r#"{"n":9007199254740993 }"#);
    }
}
