//! One connection of a project: requests in, answers out, in whatever order they are ready.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use toolgate_contract::frame::{Assembler, Frame, FrameId, GoAway, Kind, MAX_CHUNK, Refusal, RefusalCode};

use super::{Asked, Does, Notified, shared::Shared};
use crate::uplink::Link;

/// What the test wants of the session.
#[derive(Debug)]
pub(super) enum Order {
    /// This frame sent.
    Send(Frame),
    /// Nothing sent any more.
    FallSilent,
    /// The socket cut.
    Cut,
}

struct Session {
    link: Link,
    shared: Arc<Shared>,
    answers: mpsc::Sender<Order>,
    assembler: Assembler,
    /// What is being worked on; a cancelled request ends its work.
    open: HashMap<FrameId, AbortHandle>,
    work: JoinSet<()>,
    silent: bool,
}

/// Serves one connection to its end.
pub(super) async fn serve(
    link: Link,
    shared: Arc<Shared>,
    mut orders: mpsc::Receiver<Order>,
    answers: mpsc::Sender<Order>,
) {
    let mut session = Session {
        link,
        shared,
        answers,
        assembler: Assembler::new(64 * 1024 * 1024),
        open: HashMap::new(),
        work: JoinSet::new(),
        silent: false,
    };
    let name = &session.shared.name;
    let up = format!(r#"{{"state":"up","name":"{name}","version":"1.0.0","revision":"2025-11-25"}}"#);
    if session.send(Frame::notify("toolgate/server", up)).await.is_err() {
        return;
    }
    loop {
        let carried = tokio::select! {
            frame = session.link.receive() => match frame {
                Ok(frame) => session.take(frame).await,
                Err(error) => Err(error),
            },
            order = orders.recv() => match order {
                Some(Order::Send(frame)) => session.send(frame).await,
                Some(Order::FallSilent) => {
                    session.silent = true;
                    Ok(())
                }
                Some(Order::Cut) | None => Err("told to".to_owned()),
            },
            Some(_) = session.work.join_next() => Ok(()),
        };
        if carried.is_err() {
            return;
        }
    }
}

impl Session {
    async fn take(&mut self, frame: Frame) -> Result<(), String> {
        let frame = match frame.header.kind {
            Kind::Request | Kind::Response | Kind::Notify => {
                match self.assembler.push(frame).map_err(|error| error.to_string())? {
                    Some(whole) => whole,
                    None => return Ok(()),
                }
            }
            _ => frame,
        };
        match frame.header.kind {
            Kind::Request => self.request(&frame),
            Kind::Response => self.shared.see(|seen| seen.answered.push(frame)),
            Kind::Notify => {
                let notified = Notified {
                    method: frame.header.method.clone().unwrap_or_default(),
                    params: text(&frame),
                    conversation: frame.header.conversation.map(|id| id.to_string()),
                };
                self.shared.see(|seen| seen.notified.push(notified));
            }
            Kind::Ping => {
                let pong = Frame::new(Kind::Pong, frame.header.id, frame.body);
                return self.send(pong).await;
            }
            Kind::Cancel => return self.cancel(frame.header.id).await,
            Kind::GoAway => {
                let away = frame.read::<GoAway>(Kind::GoAway).ok();
                self.shared.see(|seen| seen.goaway = away.map(|away| away.reason));
            }
            _ => {}
        }
        Ok(())
    }

    fn request(&mut self, frame: &Frame) {
        let asked = Asked {
            id: frame.header.id.clone(),
            method: frame.header.method.clone().unwrap_or_default(),
            params: text(frame),
            conversation: frame.header.conversation.as_ref().map(FrameId::to_string),
            deadline: frame.header.deadline_ms.map(Duration::from_millis),
            at: Instant::now(),
            cancelled: None,
        };
        let does = self.shared.does(&asked);
        self.shared.see(|seen| seen.asked.push(asked.clone()));
        if self.silent {
            return;
        }
        let (shared, answers) = (Arc::clone(&self.shared), self.answers.clone());
        let work = self.work.spawn(async move {
            if let Some(order) = answer(&shared, &asked, does, &answers).await {
                let _ = answers.send(order).await;
            }
        });
        self.open.insert(frame.header.id.clone(), work);
    }

    async fn cancel(&mut self, id: FrameId) -> Result<(), String> {
        self.shared.see(|seen| {
            if let Some(asked) = seen.asked.iter_mut().rev().find(|asked| asked.id == id) {
                asked.cancelled = Some(Instant::now());
            }
            seen.cancelled += 1;
        });
        match self.open.remove(&id) {
            Some(work) if !work.is_finished() => {
                work.abort();
                let refusal = Refusal::new(RefusalCode::Cancelled, "cancelled");
                self.send(Frame::refusal(id, &refusal)).await
            }
            _ => Ok(()),
        }
    }

    /// In pieces, without the bounds that a well-behaved relay keeps.
    async fn send(&mut self, frame: Frame) -> Result<(), String> {
        if self.silent {
            return Ok(());
        }
        let body = frame.body.clone();
        let mut rest = &body[..];
        loop {
            let piece = rest.len().min(MAX_CHUNK);
            let mut part = frame.clone();
            part.body = body.slice_ref(&rest[..piece]);
            rest = &rest[piece..];
            part.header.more = !rest.is_empty();
            self.link.send(&part).await?;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

/// What is sent in the end.
async fn answer(
    shared: &Shared,
    asked: &Asked,
    mut does: Does,
    answers: &mpsc::Sender<Order>,
) -> Option<Order> {
    let conversation = asked.conversation.as_deref().and_then(FrameId::parse);
    let response = |body: Vec<u8>| {
        let frame = Frame::new(Kind::Response, asked.id.clone(), body);
        Some(Order::Send(frame.within(conversation.clone())))
    };
    loop {
        does = match does {
            Does::Echoes => shared.echo_of(asked),
            Does::Answers(result) => return response(result.into_bytes()),
            Does::Garbage(bytes) => return response(bytes),
            Does::Huge(bytes) => {
                let text = "x".repeat(bytes);
                let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
                return response(result.into_bytes());
            }
            Does::Errs(error) => {
                let frame = Frame::answered_with_error(asked.id.clone(), error);
                return Some(Order::Send(frame.within(conversation)));
            }
            Does::Refuses(code) => {
                let refusal = Refusal::new(code, "told to refuse");
                return Some(Order::Send(Frame::refusal(asked.id.clone(), &refusal)));
            }
            Does::Drops => return Some(Order::Cut),
            Does::Hangs => std::future::pending().await,
            Does::After(wait, then) => {
                // A slow project; nothing is waited for.
                tokio::time::sleep(wait).await;
                *then
            }
            Does::WhenTold(then) => {
                shared.until_told().await;
                *then
            }
            Does::Notifies(told, then) => {
                for (method, params) in told {
                    let params = params.replace("TOKEN", &token(asked));
                    let frame = Frame::notify(method, params)
                        .within(conversation.clone())
                        .about(Some(asked.id.clone()));
                    answers.send(Order::Send(frame)).await.ok()?;
                }
                *then
            }
        }
    }
}

/// The token by which the asker wants to hear of progress, as it is written.
fn token(asked: &Asked) -> String {
    let token = toolgate_contract::splice::at(&asked.params, &["_meta", "progressToken"]);
    token.ok().flatten().unwrap_or("null").to_owned()
}

fn text(frame: &Frame) -> String {
    String::from_utf8_lossy(&frame.body).into_owned()
}
