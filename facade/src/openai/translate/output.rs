//! A tool's result as what stands in a model's history.
//!
//! | result | Chat Completions, always a text | Responses |
//! | --- | --- | --- |
//! | one text | the text | the text |
//! | several texts | joined by line ends | list of `input_text` |
//! | image | a line that says that there is one | `input_image` with a data URI |
//! | audio, resource, any other block | the block's JSON | the same as a text |
//! | structured content | its JSON, byte for byte, in the place of the texts that tell it | the same |
//! | structured content of a project's tool beside texts that say something else | the texts | the same |
//! | `isError` | `{"error":{"message"}}`, with `structuredContent` where there is any | the same |
//! | nothing | `{}` | `{}` |

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use toolgate_contract::v1::ToolResult;

use super::{Form, failure, members::Values};

/// What a history may hold as the answer to a call.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

/// One entry of a list in the Responses API.
#[derive(Debug, Serialize, PartialEq, Eq)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    InputText { text: Cow<'a, str> },
    InputImage { image_url: String },
}

/// Some model servers take no empty text.
const NOTHING: &str = "{}";

/// The images that OpenAI's models take; any other type breaks the turn that holds it.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl<'a> Output<'a> {
    /// Writes a result in a form.
    pub(super) fn of(form: Form, result: &'a ToolResult) -> serde_json::Result<Self> {
        let pieces = pieces(result)?;
        Ok(match form {
            Form::Chat => Self::text(pieces),
            Form::Responses => Self::parts(pieces),
        })
    }

    fn text(pieces: Vec<Piece<'a>>) -> Self {
        let mut texts: Vec<_> = pieces.into_iter().map(Piece::into_text).collect();
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => texts.join("\n").into(),
        };
        Self::non_empty(text)
    }

    fn parts(mut pieces: Vec<Piece<'a>>) -> Self {
        if pieces.len() < 2 && !matches!(pieces.as_slice(), [Piece::Image(_)]) {
            return Self::non_empty(pieces.pop().map_or(NOTHING.into(), Piece::into_text));
        }
        let part = |piece| match piece {
            Piece::Image(image) if image.is_shown() => Part::InputImage {
                image_url: format!("data:{};base64,{}", image.mime_type, image.data),
            },
            other => Part::InputText {
                text: other.into_text(),
            },
        };
        Self::Parts(pieces.into_iter().map(part).collect())
    }

    fn non_empty(text: Cow<'a, str>) -> Self {
        Self::Text(if text.is_empty() { NOTHING.into() } else { text })
    }
}

/// A block of a result, as far as models take it.
enum Piece<'a> {
    Text(Cow<'a, str>),
    Image(Image<'a>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image<'a> {
    #[serde(borrow)]
    mime_type: Cow<'a, str>,
    #[serde(borrow)]
    data: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

fn pieces(result: &ToolResult) -> serde_json::Result<Vec<Piece<'_>>> {
    let structured: Option<&RawValue> = match &*result.structured_content {
        [] => None,
        json => Some(serde_json::from_slice(json)?),
    };
    let blocks: Values<'_> = match &*result.content {
        [] => Values::default(),
        json => serde_json::from_slice(json)?,
    };
    let mut pieces = Vec::with_capacity(blocks.0.len());
    for block in blocks.0 {
        pieces.push(Piece::of(block)?);
    }
    let is_text = |piece: &Piece<'_>| matches!(piece, Piece::Text(_));
    if result.is_error {
        let (texts, mut others): (Vec<_>, Vec<_>) = pieces.into_iter().partition(is_text);
        let texts: Vec<_> = texts.into_iter().map(Piece::into_text).collect();
        let message = texts.join("\n");
        let message = match message.as_str() {
            "" => "the tool failed and does not say why",
            message => message,
        };
        others.insert(0, Piece::Text(failure::said_no(message, structured).into()));
        return Ok(others);
    }
    if let Some(structured) = structured
        && tells_it(result, &pieces, structured)
    {
        pieces.retain(|piece| !is_text(piece));
        pieces.insert(0, Piece::Text(structured.get().into()));
    }
    Ok(pieces)
}

/// Whether the texts say what the structured content says, so that it can take their place. The gateway's own tools are
/// made so. A project's texts may be all that it meant a model to read.
fn tells_it(result: &ToolResult, pieces: &[Piece<'_>], structured: &RawValue) -> bool {
    if result.raw.is_empty() {
        return true;
    }
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text),
        Piece::Image(_) => None,
    });
    let structured = serde_json::from_str::<Value>(structured.get());
    let mut others = texts.filter(|text| match (serde_json::from_str::<Value>(text), &structured) {
        (Ok(text), Ok(structured)) => text != *structured,
        _ => true,
    });
    others.next().is_none()
}

impl<'a> Piece<'a> {
    fn of(raw: &'a RawValue) -> serde_json::Result<Self> {
        let block: Block<'a> = serde_json::from_str(raw.get())?;
        Ok(match (&*block.r#type, block.text) {
            ("text", Some(text)) => Self::Text(text),
            ("image", _) => Self::Image(serde_json::from_str(raw.get())?),
            _ => Self::Text(raw.get().into()),
        })
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => text,
            Self::Image(image) => image.told().into(),
        }
    }
}

impl Image<'_> {
    /// Whether a model takes it.
    fn is_shown(&self) -> bool {
        IMAGES.contains(&&*self.mime_type) && BASE64.decode(self.data.as_bytes()).is_ok()
    }

    fn told(&self) -> String {
        // Three bytes of an image are four characters.
        let bytes = self.data.trim_end_matches('=').len() * 3 / 4;
        format!("[an image of {bytes} bytes, which cannot be shown here]")
    }
}
