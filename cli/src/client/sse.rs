//! Server-sent events (WHATWG HTML §9.2), as far as the gateway uses them: id, event, data, comments.

const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind; `message` when the stream does not say.
    pub(crate) name: String,
    /// The data lines, joined.
    pub(crate) data: String,
}

/// An event was over the limit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Turns pieces of bytes, cut anywhere, into events.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    name: String,
    data: Option<String>,
    after_cr: bool,
}

impl Decoder {
    /// Takes a piece and gives the events that it completes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let second_of_pair = std::mem::take(&mut self.after_cr) && byte == b'\n';
            match byte {
                b'\n' if second_of_pair => {}
                b'\n' | b'\r' => {
                    self.after_cr = byte == b'\r';
                    events.extend(self.end_of_line());
                }
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > LARGEST_EVENT {
                return Err(TooLarge);
            }
        }
        Ok(events)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = self.data.take()?;
            return Some(Event {
                name: if name.is_empty() { "message".into() } else { name },
                data,
            });
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.into(),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.into()),
            },
            // Comments keep the connection alive; ids are for those who come back.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, Event, LARGEST_EVENT, TooLarge};

    const STREAM: &str = ": hello\n\nid: 1-1\nevent: tool_result\ndata: {\"a\":1,\r\ndata:\"ü\":2}\r\n\r\n\
                          :\nretry: 5\ndata\n\nevent: done\rdata: {}\r\r";

    fn expected() -> Vec<Event> {
        [
            ("tool_result", "{\"a\":1,\n\"ü\":2}"),
            ("message", ""),
            ("done", "{}"),
        ]
        .map(|(name, data)| Event {
            name: name.into(),
            data: data.into(),
        })
        .into()
    }

    #[test]
    fn events_are_the_same_wherever_the_stream_is_cut() {
        for cut in 0..=STREAM.len() {
            let (first, second) = STREAM.as_bytes().split_at(cut);
            let mut decoder = Decoder::default();
            let mut events = decoder.push(first).unwrap();
            events.extend(decoder.push(second).unwrap());
            assert_eq!(events, expected(), "cut at {cut}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(&vec![b'x'; LARGEST_EVENT + 1]), Err(TooLarge));
    }
}
