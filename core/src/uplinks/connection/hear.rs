//! What the relay of a project says outside of answers: notifications, questions of its server, and their withdrawal.
//!
//! Runs in the reader, so nothing here waits for anybody: what has no room is passed over or refused at once. A relay is
//! believed only about its own project: which request something belongs to is looked up among our own.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::value::RawValue;
use toolgate_contract::frame::{Frame, FrameId, Kind, Refusal, RefusalCode};

use super::{
    Break, Connection,
    inbox::{FromServer, Undelivered},
    joining::{Joined, Joining},
    talk::{Heard, Talk, Words},
};
use crate::{
    uplinks::{
        enrolments::{Said, UplinkEvents},
        server::ServerState,
    },
    upstream::Reports,
};

/// How the relay tells of its server.
const SERVER: &str = "toolgate/server";
/// How the relay tells that a conversation has ended.
const CLOSED: &str = "toolgate/closed";
/// Methods between relay and gateway; no server says them.
const OURS: &str = "toolgate/";
/// The one notification that is nothing to anybody but the caller of a request.
const PROGRESS: &str = "notifications/progress";
const CANCELLED: &str = "notifications/cancelled";

/// Whoever waits for one of our requests.
pub(super) struct Caller {
    pub(super) counter: u64,
    pub(super) conversation: Option<FrameId>,
    pub(super) reports: Reports,
}

impl Connection {
    /// Takes a notification, a request or a cancel.
    pub(super) fn hear(
        &self,
        talk: &Talk,
        frame: Frame,
        joining: &mut Joining,
        events: &dyn UplinkEvents,
    ) -> Result<(), Break> {
        match frame.header.kind {
            Kind::Notify => match joining.join(frame)? {
                Joined::Whole(whole) => self.said(talk, whole, events),
                Joined::Part => {}
                Joined::TooLarge => talk.pass_over(),
            },
            Kind::Request => return self.asked(talk, frame, joining),
            _ => return self.withdrawn(talk, &frame.header.id, joining),
        }
        Ok(())
    }

    fn said(&self, talk: &Talk, frame: Frame, events: &dyn UplinkEvents) {
        let header = frame.header;
        let method = header.method.as_deref().unwrap_or_default();
        match (method, &header.conversation) {
            (SERVER, _) => self.server_said(talk, &frame.body, events),
            (CLOSED, Some(conversation)) => self.over(talk, conversation),
            _ if method.starts_with(OURS) => talk.pass_over(),
            _ => {
                let is_heard = params(frame.body).is_some_and(|params| {
                    self.pass_on(
                        talk,
                        method,
                        params,
                        header.about.as_ref(),
                        header.conversation.as_ref(),
                        events,
                    )
                });
                if !is_heard {
                    talk.pass_over();
                }
            }
        }
    }

    /// Gives a notification to whom it is for. False where there is nobody, or no room.
    fn pass_on(
        &self,
        talk: &Talk,
        method: &str,
        params: Bytes,
        about: Option<&FrameId>,
        conversation: Option<&FrameId>,
        events: &dyn UplinkEvents,
    ) -> bool {
        if let Some(about) = about {
            // Of a request that is over, or never was: nobody's.
            let caller = self.caller(about);
            let told = caller.map(|caller| caller.reports.said(method, params.clone()));
            if conversation.is_some() || method == PROGRESS {
                return told.is_some();
            }
        }
        let Some(conversation) = conversation else {
            // Also what a server says in the stream of a call: a list that has changed concerns all callers, and that
            // something was said at all is how the project is seen to live.
            events.said(&self.relay, Said::Notification { method, params });
            return true;
        };
        let said = FromServer::Said {
            method: method.into(),
            params: params.clone(),
        };
        match talk.tell(conversation, said) {
            Ok(()) => true,
            Err(Undelivered::NoListener) => {
                let caller = self.newest_in(conversation);
                caller.map(|caller| caller.reports.said(method, params)).is_some()
            }
            Err(Undelivered::NoConversation | Undelivered::Full) => false,
        }
    }

    fn server_said(&self, talk: &Talk, body: &[u8], events: &dyn UplinkEvents) {
        match ServerState::read(body) {
            Some(state) => {
                talk.set_server(state.clone());
                events.said(&self.relay, Said::Server(state));
            }
            None => talk.pass_over(),
        }
    }

    fn over(&self, talk: &Talk, conversation: &FrameId) {
        for number in talk.close(conversation).into_iter().flatten() {
            // Its answer would come too late; an end that reads nothing is found dead by its silence.
            let _ = self.refuse(talk, number, RefusalCode::Cancelled);
        }
    }

    fn asked(&self, talk: &Talk, frame: Frame, joining: &mut Joining) -> Result<(), Break> {
        let id = frame.header.id.clone();
        let number = self.session.counter(&id).ok_or(Break::Protocol)?;
        if !joining.is_open(Kind::Request, &id) {
            let patience = frame.header.deadline_ms.map(Duration::from_millis);
            if let Err(code) = talk.admit(number, patience) {
                joining.skip(Kind::Request, &id, frame.header.more)?;
                return self.refuse(talk, number, code);
            }
        }
        match joining.join(frame)? {
            Joined::Part => Ok(()),
            // Given up before it was whole: answered then.
            Joined::Whole(_) | Joined::TooLarge if !talk.is_open(number) => Ok(()),
            Joined::TooLarge => self.give_back(talk, number, RefusalCode::TooLarge),
            Joined::Whole(whole) => match self.ask_somebody(talk, number, whole) {
                Ok(()) => Ok(()),
                Err(code) => self.give_back(talk, number, code),
            },
        }
    }

    /// The caller it belongs to, else the listener of its conversation, else a caller in it, else whoever comes soon.
    fn ask_somebody(&self, talk: &Talk, number: u64, frame: Frame) -> Result<(), RefusalCode> {
        let header = frame.header;
        let words = Words {
            id: header.id.as_str().into(),
            method: header.method.unwrap_or_default().into(),
            params: params(frame.body).ok_or(RefusalCode::Malformed)?,
        };
        let caller = header.about.as_ref().and_then(|about| self.caller(about));
        let conversation = match &caller {
            Some(caller) => caller.conversation.clone(),
            None => header.conversation,
        };
        if caller.is_some_and(|caller| ask(talk, number, caller, &words)) {
            return Ok(());
        }
        // Nobody speaks for all callers, and nobody for a message that stands for itself.
        let conversation = conversation
            .filter(|conversation| *conversation != FrameId::raw())
            .ok_or(RefusalCode::UnknownMethod)?;
        talk.put(number, &conversation, words)?;
        self.find_hearers(talk);
        Ok(())
    }

    /// Gives questions that nobody has heard to callers in their conversations.
    pub(super) fn find_hearers(&self, talk: &Talk) {
        for (number, conversation, words) in talk.unheard() {
            if let Some(caller) = self.newest_in(&conversation)
                && !ask(talk, number, caller, &words)
            {
                // Left for a listener; its time goes on as before.
                let _ = talk.put(number, &conversation, words);
            }
        }
    }

    fn withdrawn(&self, talk: &Talk, id: &FrameId, joining: &mut Joining) -> Result<(), Break> {
        // Of another session, or answered already: as a cancel may cross its answer, that is no breach.
        let Some(number) = self.session.counter(id) else {
            return Ok(());
        };
        let is_open = joining.is_open(Kind::Request, id);
        let Some(heard) = talk.take(number) else {
            return Ok(());
        };
        joining.skip(Kind::Request, id, is_open)?;
        let (method, params) = (
            Arc::from(CANCELLED),
            Bytes::from(format!(r#"{{"requestId":"{id}"}}"#)),
        );
        match heard {
            Heard::Nobody => {}
            Heard::Listener(conversation) => {
                let _ = talk.tell(&conversation, FromServer::Said { method, params });
            }
            Heard::Caller(counter) => {
                if let Some(caller) = self.caller(&self.session.request(counter)) {
                    caller.reports.said(&method, params);
                }
            }
        }
        self.refuse(talk, number, RefusalCode::Cancelled)
    }

    /// Refuses questions whose time is up, or whose caller is gone, and looks for hearers of the others.
    pub(super) fn sweep(&self, talk: &Talk) -> Result<(), Break> {
        self.find_hearers(talk);
        let waits = |counter| {
            self.calls()
                .open
                .get(&counter)
                .is_some_and(|call| call.asker.is_some())
        };
        for (number, code) in talk.sweep(waits) {
            self.refuse(talk, number, code)?;
        }
        Ok(())
    }

    fn give_back(&self, talk: &Talk, number: u64, code: RefusalCode) -> Result<(), Break> {
        match talk.take(number) {
            Some(_) => self.refuse(talk, number, code),
            None => Ok(()),
        }
    }

    pub(super) fn refuse(&self, talk: &Talk, number: u64, code: RefusalCode) -> Result<(), Break> {
        let refusal = Refusal::new(code, "nobody answers this here");
        talk.debts
            .owe(Frame::refusal(self.session.request(number), &refusal).encode()?)
    }

    fn caller(&self, id: &FrameId) -> Option<Caller> {
        let counter = self.session.counter(id)?;
        let calls = self.calls();
        let call = calls.open.get(&counter).filter(|call| call.asker.is_some())?;
        Some(call.caller(counter))
    }

    fn newest_in(&self, conversation: &FrameId) -> Option<Caller> {
        let calls = self.calls();
        let theirs = calls
            .open
            .iter()
            .filter(|(_, call)| call.asker.is_some() && call.conversation.as_ref() == Some(conversation));
        let (counter, call) = theirs.max_by_key(|(counter, _)| **counter)?;
        Some(call.caller(*counter))
    }
}

/// Asks the caller of a request; false where it takes no questions.
fn ask(talk: &Talk, number: u64, caller: Caller, words: &Words) -> bool {
    // Noted before it is asked, so that its answer finds the question.
    if !talk.give(number, caller.conversation, caller.counter) {
        return false;
    }
    let is_asked = caller
        .reports
        .asked(&words.id, &words.method, words.params.clone());
    if !is_asked {
        talk.take_back(number);
    }
    is_asked
}

/// Parameters as they may be passed on: one JSON object, or nothing.
fn params(body: Bytes) -> Option<Bytes> {
    if body.is_empty() {
        return Some(body);
    }
    let json: &RawValue = serde_json::from_slice(&body).ok()?;
    json.get().starts_with('{').then_some(body)
}
