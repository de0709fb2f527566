//! What a model asks for, out of whatever its client has at hand: an assistant message, a whole chat completion, the
//! items of a response or a whole response.
//!
//! What is no such thing at all is refused whole. What is wrong with one call is that call's answer, so that the other
//! calls are carried out and the conversation goes on. Names and arguments are not looked at: the core judges them.

use std::{borrow::Cow, collections::HashMap, fmt};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, de::Visitor};
use serde_json::value::RawValue;
use toolgate_contract::v1::{ErrorReason, Failure};

use super::{
    Form,
    members::{Members, Values},
};

/// Most calls of one turn; OpenAI takes no more tools than that either.
const MOST: usize = 128;

/// The calls of one turn, in the order in which they are asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    /// How the answer is written.
    pub(crate) form: Form,
    pub(crate) asked: Vec<Asked>,
}

/// One id that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// The id by which the answer is paired: `id` of a tool call, `call_id` of an item.
    pub(crate) id: String,
    /// The call, or why there is none.
    pub(crate) call: Result<Call, Box<Failure>>,
}

/// A call as the model wrote it. `Debug` tells no arguments.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The bytes of the arguments' text, which may be no JSON at all.
    pub(crate) arguments: Bytes,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({:?}, {} bytes, ***)", self.name, self.arguments.len())
    }
}

/// Reads a turn out of a body.
pub(crate) fn read(body: &Bytes) -> Result<Turn, Box<Failure>> {
    let text = std::str::from_utf8(body)
        .map_err(|error| malformed(format!("the body is no UTF-8 at byte {}", error.valid_up_to())))?;
    let mut turn = match text.trim_start().bytes().next() {
        Some(b'{') => of_object(body, &parse(text, "the body")?)?,
        Some(b'[') => of_items(body, "", &parse(text, "the body")?)?,
        Some(_) => return Err(malformed(WANTED)),
        None => return Err(malformed(format!("the body is empty; {WANTED}"))),
    };
    if turn.asked.len() > MOST {
        let message = format!(
            "{} tool calls are asked for; at most {MOST} are carried out in one request",
            turn.asked.len()
        );
        return Err(Box::new(Failure::new(ErrorReason::RequestTooLarge, message)));
    }
    refuse_doubles(&mut turn.asked);
    Ok(turn)
}

const WANTED: &str = "an assistant message with tool_calls, a chat completion, a response or a list of its output \
                      items is wanted";

fn of_object(body: &Bytes, object: &Members<'_>) -> Result<Turn, Box<Failure>> {
    let keys = ["tool_calls", "choices", "output"];
    let mut found = keys.iter().filter(|key| object.get(key).is_some());
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => Err(malformed(format!(
            "the body has both {one} and {other}, so that it has two readings; {WANTED}"
        ))),
        (Some(&"choices"), None) => of_completion(body, object),
        (Some(&"output"), None) => {
            let items = parse(raw(object, "output")?, "output")?;
            of_items(body, "output", &items)
        }
        (Some(_), None) => of_message(body, "", object),
        (None, _) if object.has("role") || object.has("tool_calls") => of_message(body, "", object),
        (None, _) => Err(malformed(WANTED)),
    }
}

fn of_completion(body: &Bytes, completion: &Members<'_>) -> Result<Turn, Box<Failure>> {
    let choices: Values<'_> = parse(raw(completion, "choices")?, "choices")?;
    let first = choices.0.first().ok_or_else(|| malformed("choices is empty"))?;
    let choice: Members<'_> = parse(first.get(), "choices[0]")?;
    refuse_double(&choice, &["message"], "choices[0]")?;
    let message = choice.get("message").ok_or_else(|| {
        malformed("choices[0].message is missing; a streamed answer has to be put together first")
    })?;
    let place = "choices[0].message";
    of_message(body, place, &parse(message.get(), place)?)
}

fn of_message(body: &Bytes, place: &str, message: &Members<'_>) -> Result<Turn, Box<Failure>> {
    let at = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    refuse_double(message, &["role", "tool_calls"], place)?;
    if let Some(role) = message.get("role") {
        let role: Cow<'_, str> = parse(role.get(), &at("role"))?;
        if role != "assistant" {
            return Err(malformed(format!("{} is not assistant", at("role"))));
        }
    }
    let calls = match message.get("tool_calls") {
        Some(calls) => parse::<Values<'_>>(calls.get(), &at("tool_calls"))?,
        None if message.get("function_call").is_some() => {
            return Err(malformed(format!(
                "{} is the older form, which has no id to answer to; ask the model with tools instead of functions",
                at("function_call")
            )));
        }
        None => Values::default(),
    };
    let asked = calls.0.iter().enumerate().map(|(n, call)| {
        let place = format!("{}[{n}]", at("tool_calls"));
        let call: Members<'_> = parse(call.get(), &place)?;
        Ok(Asked {
            id: id(&call, "id", &place)?,
            call: tool_call(body, &call),
        })
    });
    Ok(Turn {
        form: Form::Chat,
        asked: asked.collect::<Result<_, Box<Failure>>>()?,
    })
}

/// `{"id", "type": "function", "function": {"name", "arguments"}}`.
fn tool_call(body: &Bytes, call: &Members<'_>) -> Result<Call, Box<Failure>> {
    refuse_double(call, &["type", "function"], "")?;
    if text(call, "type")?.is_some_and(|kind| kind != "function") {
        return Err(malformed(
            "calls of this type are not carried out here; only functions are",
        ));
    }
    let function = call
        .get("function")
        .ok_or_else(|| malformed("the call has no function"))?;
    let function: Members<'_> = parse(function.get(), "function")?;
    named(body, &function)
}

/// The items of a response: `function_call` items are calls, an output of theirs in the same list answers them already,
/// and everything else is the client's own.
fn of_items(body: &Bytes, place: &str, items: &Values<'_>) -> Result<Turn, Box<Failure>> {
    let mut asked = Vec::new();
    let mut answered = Vec::new();
    for (n, item) in items.0.iter().enumerate() {
        let place = format!("{place}[{n}]");
        let item: Members<'_> = parse(item.get(), &place)?;
        refuse_double(&item, &["type", "call_id"], &place)?;
        let kind = item
            .get("type")
            .map(|kind| parse::<Cow<'_, str>>(kind.get(), &place));
        match kind.transpose()?.as_deref() {
            Some("function_call") => asked.push(Asked {
                id: id(&item, "call_id", &place)?,
                call: named(body, &item),
            }),
            Some("function_call_output") => answered.push(id(&item, "call_id", &place)?),
            Some("function") => {
                return Err(malformed(format!(
                    "{place} is a tool call of a chat completion; send the whole message"
                )));
            }
            Some(_) | None => {}
        }
    }
    asked.retain(|asked| !answered.contains(&asked.id));
    Ok(Turn {
        form: Form::Responses,
        asked,
    })
}

/// The name and arguments of a call.
fn named(body: &Bytes, call: &Members<'_>) -> Result<Call, Box<Failure>> {
    refuse_double(call, &["name", "arguments"], "")?;
    let name = text(call, "name")?.ok_or_else(|| malformed("the call names no function"))?;
    let arguments = call
        .get("arguments")
        .map_or(Ok(Bytes::new()), |raw| arguments(body, raw))?;
    Ok(Call {
        name: name.into_owned(),
        arguments,
    })
}

/// The text of the arguments as bytes. Some models' servers write the object itself instead of its text.
fn arguments(body: &Bytes, raw: &RawValue) -> Result<Bytes, Box<Failure>> {
    if !raw.get().starts_with('"') {
        return Ok(body.slice_ref(raw.get().as_bytes()));
    }
    let decoded: Text<'_> = parse(raw.get(), "arguments")?;
    Ok(match decoded.0 {
        Cow::Borrowed(text) => body.slice_ref(text),
        Cow::Owned(text) => text.into(),
    })
}

/// The text of a JSON string as bytes: half a surrogate pair has no UTF-8, and is the core's to refuse.
struct Text<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_bytes<E>(self, text: &'de [u8]) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_bytes<E>(self, text: &[u8]) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_bytes(Reader)
    }
}

/// An id belongs to one call. Where it does not, nobody can say which of them an answer would be to, so none is carried
/// out and the id is answered once.
fn refuse_doubles(asked: &mut Vec<Asked>) {
    let mut times: HashMap<String, usize> = HashMap::new();
    for each in asked.iter() {
        *times.entry(each.id.clone()).or_default() += 1;
    }
    if times.len() == asked.len() {
        return;
    }
    asked.retain_mut(|each| match times.remove(&each.id) {
        Some(1) => true,
        Some(number) => {
            each.call = Err(malformed(format!(
                "{number} calls have this id, so none of them was carried out; each needs an id of its own"
            )));
            true
        }
        None => false,
    });
}

fn id(members: &Members<'_>, name: &str, place: &str) -> Result<String, Box<Failure>> {
    refuse_double(members, &[name], place)?;
    let raw = members
        .get(name)
        .ok_or_else(|| malformed(format!("{place}.{name} is missing; nothing could be answered to")))?;
    parse(raw.get(), &format!("{place}.{name}"))
}

fn text<'a>(members: &Members<'a>, name: &str) -> Result<Option<Cow<'a, str>>, Box<Failure>> {
    members.get(name).map(|raw| parse(raw.get(), name)).transpose()
}

fn raw<'a>(members: &Members<'a>, name: &str) -> Result<&'a str, Box<Failure>> {
    refuse_double(members, &[name], "")?;
    members
        .get(name)
        .map(RawValue::get)
        .ok_or_else(|| malformed(format!("{name} is missing")))
}

/// Two readers of a doubled name could each see another value.
fn refuse_double(members: &Members<'_>, names: &[&str], place: &str) -> Result<(), Box<Failure>> {
    for name in names {
        if members.0.iter().filter(|(member, _)| member == name).count() > 1 {
            let dot = if place.is_empty() { "" } else { "." };
            return Err(malformed(format!("{place}{dot}{name} stands twice")));
        }
    }
    Ok(())
}

fn parse<'a, T: Deserialize<'a>>(text: &'a str, place: &str) -> Result<T, Box<Failure>> {
    serde_json::from_str(text).map_err(|error| malformed(format!("{place} cannot be read: {error}")))
}

fn malformed(message: impl Into<String>) -> Box<Failure> {
    Box::new(Failure::new(ErrorReason::RequestMalformed, message))
}
