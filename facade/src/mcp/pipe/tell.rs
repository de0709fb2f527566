//! What a client says without wanting an answer: its notifications, its answers to the server, and the end.

use toolgate_contract::v1::{
    ClientAnswer, HangUpRequest, ServerNotification, TellRequest, client_answer::Answer,
    tell_request::Message,
};

use super::Within;
use crate::mcp::{
    envelope::{Notification, Outcome, Response},
    failure,
    fault::Fault,
    server::Server,
};

/// A notification. What takes a request back is not told: the request's end tells it.
pub(in crate::mcp) async fn notification(
    server: &Server,
    within: Within,
    heard: Notification,
) -> Result<(), Fault> {
    if heard.method == "notifications/cancelled" {
        return server.hear(heard, within.caller, within.scope).await;
    }
    let notification = ServerNotification {
        method: heard.method,
        params: heard.params.raw,
    };
    tell(server, within, Message::Notification(notification)).await
}

/// The client's answer to a request of the server. One that names none reaches nobody.
pub(in crate::mcp) async fn answer(server: &Server, within: Within, response: Response) -> Result<(), Fault> {
    let answer = match response.outcome {
        Outcome::Result(result) if !result.starts_with(b"{") => {
            return Err(Fault::no_message("member result must be an object"));
        }
        Outcome::Result(result) => Answer::Result(result),
        Outcome::Error(error) => Answer::Error(error),
    };
    let Some(id) = response.id else {
        return server.accept(within.caller).await;
    };
    let answer = ClientAnswer {
        id: id.text(),
        answer: Some(answer),
    };
    tell(server, within, Message::Answer(answer)).await
}

async fn tell(server: &Server, within: Within, message: Message) -> Result<(), Fault> {
    let request = within.caller.request(TellRequest {
        project: within.project,
        message: Some(message),
    });
    let mut pipe = server.link.pipe();
    let told = server.link.ask(pipe.tell(request)).await;
    told.map(drop)
        .map_err(|problem| failure::of_nothing(&problem.into_failure()))
}

/// The end of a conversation.
pub(in crate::mcp) async fn end(server: &Server, within: Within) -> Result<(), Fault> {
    let request = within.caller.request(HangUpRequest {
        project: within.project,
    });
    let mut pipe = server.link.pipe();
    let ended = server.link.ask(pipe.hang_up(request)).await;
    ended
        .map(drop)
        .map_err(|problem| failure::of_nothing(&problem.into_failure()))
}
