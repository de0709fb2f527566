//! An answer as a stream of events: `response.created`, each item added, told in deltas and done, `response.completed`.

use serde_json::{Value, json};

use super::{
    Frame,
    whole::{items, opened, write as completed},
};
use crate::{fragments::fragments, play::Said};

pub(super) fn write(frame: &Frame<'_>, said: &Said) -> Vec<String> {
    let mut stream = Stream::default();
    stream.event("response.created", json!({"response": opened(frame)}));
    stream.event("response.in_progress", json!({"response": opened(frame)}));
    let items = items(frame, said);
    for (index, item) in items.iter().enumerate() {
        stream.item(index, item);
    }
    stream.event(
        "response.completed",
        json!({"response": completed(frame, &items)}),
    );
    stream.events
}

#[derive(Default)]
struct Stream {
    events: Vec<String>,
}

impl Stream {
    fn item(&mut self, index: usize, item: &Value) {
        let mut begun = item.clone();
        begun["status"] = json!("in_progress");
        if item["type"] == "message" {
            begun["content"] = json!([]);
        } else {
            begun["arguments"] = json!("");
        }
        self.event(
            "response.output_item.added",
            json!({"output_index": index, "item": begun}),
        );
        if item["type"] == "message" {
            self.text(index, item);
        } else {
            self.arguments(index, item);
        }
        self.event(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }

    fn arguments(&mut self, index: usize, item: &Value) {
        let id = &item["id"];
        for fragment in fragments(item["arguments"].as_str().unwrap_or_default()) {
            self.event(
                "response.function_call_arguments.delta",
                json!({"item_id": id, "output_index": index, "delta": fragment}),
            );
        }
        self.event(
            "response.function_call_arguments.done",
            json!({"item_id": id, "output_index": index, "name": item["name"], "arguments": item["arguments"]}),
        );
    }

    fn text(&mut self, index: usize, item: &Value) {
        let part = &item["content"][0];
        let place = |more: Value| {
            let mut event = json!({"item_id": item["id"], "output_index": index, "content_index": 0});
            for (name, value) in more.as_object().into_iter().flatten() {
                event[name] = value.clone();
            }
            event
        };
        let mut begun = part.clone();
        begun["text"] = json!("");
        self.event("response.content_part.added", place(json!({"part": begun})));
        for fragment in fragments(part["text"].as_str().unwrap_or_default()) {
            self.event(
                "response.output_text.delta",
                place(json!({"delta": fragment, "logprobs": []})),
            );
        }
        self.event(
            "response.output_text.done",
            place(json!({"text": part["text"], "logprobs": []})),
        );
        self.event("response.content_part.done", place(json!({"part": part})));
    }

    fn event(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.events.len());
        self.events.push(format!("event: {kind}\ndata: {data}\n\n"));
    }
}
