//! JSON objects and arrays whose values stay the bytes they are, in their order.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object as they stand; a name that stands twice is there twice.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a name; an explicit null is as good as none.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().find(|(member, _)| member == name);
        found
            .map(|(_, value)| *value)
            .filter(|value| value.get() != "null")
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(member, _)| member == name)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// A name, borrowed where it holds no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The values of an array as they stand, at most [`Values::MOST`].
#[derive(Debug, Default)]
pub(super) struct Values<'a>(pub(super) Vec<&'a RawValue>);

impl Values<'_> {
    /// More than any answer of a model holds; so that a body of commas does not become a list many times its size.
    const MOST: usize = 4096;
}

impl<'de: 'a, 'a> Deserialize<'de> for Values<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Values<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values<'de>, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    if values.len() == Values::MOST {
                        return Err(serde::de::Error::custom(format_args!(
                            "more than {} entries",
                            Values::MOST
                        )));
                    }
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}
