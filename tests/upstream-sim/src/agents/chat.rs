//! Chat: rooms, who takes part, what was said, and what each has seen of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Asked, done, refused};
use crate::Reply;

/// The rooms.
#[derive(Debug, Default)]
pub(super) struct Chat {
    rooms: BTreeMap<String, Room>,
}

#[derive(Debug, Default)]
struct Room {
    name: String,
    closed: bool,
    participants: Vec<Value>,
    log: Vec<Value>,
    /// How much of the log each participant has seen.
    seen: BTreeMap<String, usize>,
}

impl Chat {
    pub(super) fn answer(&mut self, asked: &Asked) -> Option<Reply> {
        let (method, path) = asked.parts();
        match (method, path.as_slice()) {
            ("POST", ["rooms"]) => {
                let id = format!("room-{}", self.rooms.len() + 1);
                let room = Room {
                    name: asked.text("name").to_owned(),
                    ..Room::default()
                };
                let told = room.told(&id);
                self.rooms.insert(id, room);
                done(201, &told)
            }
            ("GET", ["rooms"]) => {
                let wanted = asked.query("status");
                let rooms: Vec<Value> = self.rooms.iter().map(|(id, room)| room.told(id)).collect();
                let fits = |room: &Value| wanted.is_none_or(|status| room["status"] == status);
                let rooms: Vec<Value> = rooms.into_iter().filter(fits).collect();
                done(200, &json!({"rooms": rooms}))
            }
            (_, ["rooms", id, rest @ ..]) => {
                let room = self.rooms.get_mut(*id)?;
                room.answer(id, method, rest, asked)
            }
            _ => None,
        }
    }
}

impl Room {
    fn told(&self, id: &str) -> Value {
        let status = if self.closed { "archived" } else { "active" };
        json!({"id": id, "name": self.name, "status": status})
    }

    fn answer(&mut self, id: &str, method: &str, rest: &[&str], asked: &Asked) -> Option<Reply> {
        match (method, rest) {
            ("GET", []) => done(200, &self.told(id)),
            ("DELETE", []) => {
                self.closed = true;
                done(200, &self.told(id))
            }
            ("GET", ["participants"]) => done(200, &json!({"participants": self.participants})),
            ("POST", ["participants"]) => {
                let id = format!("p-{}", self.participants.len() + 1);
                let participant = json!({"id": id, "name": asked.text("name"), "role": asked.body["role"]});
                self.participants.push(participant.clone());
                done(201, &participant)
            }
            ("DELETE", ["participants", who]) => {
                self.participants.retain(|participant| participant["id"] != **who);
                Some(Reply::bytes(204, ""))
            }
            ("POST", ["messages"]) if self.closed => Some(refused(409, "the room is closed")),
            ("POST", ["messages"]) => {
                let mut message = asked.body.clone();
                message["number"] = (self.log.len() + 1).into();
                self.log.push(message.clone());
                done(201, &message)
            }
            ("GET", ["messages"]) => {
                let who = asked.query("participant")?.to_owned();
                let seen = self.seen.insert(who, self.log.len()).unwrap_or(0);
                done(200, &json!({"messages": self.log[seen..]}))
            }
            ("GET", ["log"]) => {
                let after = asked
                    .query("after")
                    .and_then(|text| text.parse().ok())
                    .unwrap_or(0);
                let log = self.log.iter().skip(after).take(50).collect::<Vec<_>>();
                done(200, &json!({"messages": log}))
            }
            _ => None,
        }
    }
}
