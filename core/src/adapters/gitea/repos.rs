//! Lists repositories: all that the token can see, or those of one owner.
//!
//! One search serves both, as a token that reads repositories and nothing else can ask no other. The search narrows by
//! an owner's id, and ids are told by rows only, so the owner is looked for by name first.

mod repo;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::repo::Repo;
use super::{
    Server,
    ask::Said,
    pages::{LONGEST, Page, Pages, Place},
    row, said,
};
use crate::{
    journal::Contact,
    upstream::{ToolResult, UpstreamError, reader::ReadPath},
};

const LIST: char = 'p';
const LIMIT: u32 = 30;
/// Pages of names that are looked through for an owner.
const LOOKED_THROUGH: u8 = 4;

/// What is asked.
#[derive(Debug, Deserialize)]
struct Asked {
    owner: Option<String>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// What is answered.
#[derive(Debug, Serialize)]
struct Told {
    repos: Vec<Repo>,
    more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_count: Option<i64>,
}

/// Runs the tool.
pub(super) async fn list(
    server: &Server,
    contact: &Contact,
    arguments: &[u8],
) -> Result<ToolResult, UpstreamError> {
    let Ok(asked) = serde_json::from_slice::<Asked>(arguments) else {
        return said::no("the arguments cannot be read");
    };
    let mut place = match &asked.cursor {
        None => Place::start(LIST, asked.limit.unwrap_or(LIMIT)),
        Some(cursor) => match Place::read(cursor).filter(|place| place.list == LIST) {
            Some(place) if place.owner.is_some() == asked.owner.is_some() => place,
            _ => return said::no(super::BAD_CURSOR),
        },
    };
    if let (Some(owner), None) = (&asked.owner, place.owner) {
        place.owner = match owner_id(server, contact, owner).await? {
            Found::Id(id) => Some(id),
            Found::Nobody => {
                return said::no(&format!(
                    "no repository of {owner} is visible to the token of this target; check the name, or list without owner"
                ));
            }
            Found::No(text) => return said::no(&text),
        };
    }
    page(server, contact, place, asked.owner.as_deref()).await
}

/// One page from this place.
async fn page(
    server: &Server,
    contact: &Contact,
    place: Place,
    owner: Option<&str>,
) -> Result<ToolResult, UpstreamError> {
    let uid = place.owner.map(|id| id.to_string());
    let path = search()
        .with_some("exclusive", uid.as_ref().map(|_| "true"))
        .with_some("uid", uid);
    let mut pages = Pages::of(server, contact, path, "data", place, 1);
    let rows = match pages.next().await? {
        Page::Rows(rows) => rows,
        Page::No(no) => return said::no(&no.told("the list of repositories")),
        Page::End => vec![],
    };
    let repos: Vec<Repo> = rows
        .iter()
        .filter_map(Repo::read)
        .filter(|repo| repo.is_of(owner))
        .collect();
    let rest = pages.rest();
    let told = Told {
        more: rest.is_some(),
        next_cursor: rest.map(Place::cursor),
        total_count: pages.total,
        repos,
    };
    said::result(&told.text(), &told)
}

/// Oldest first: whatever comes to be meanwhile comes last, so that pages neither repeat nor miss any.
fn search() -> ReadPath {
    ReadPath::of(["repos", "search"])
        .with("sort", "id")
        .with("order", "asc")
}

enum Found {
    Id(i64),
    Nobody,
    No(String),
}

/// The id of an owner, out of a row of theirs.
async fn owner_id(server: &Server, contact: &Contact, owner: &str) -> Result<Found, UpstreamError> {
    // A keyword with a slash is matched against owner and name; an owner's name may be part of another's.
    let path = search().with("q", format!("{owner}/"));
    let mut pages = Pages::of(
        server,
        contact,
        path,
        "data",
        Place::start(LIST, LONGEST),
        LOOKED_THROUGH,
    );
    loop {
        let rows = match pages.next().await? {
            Page::Rows(rows) => rows,
            Page::No(no) => return Ok(Found::No(no.told("the list of repositories"))),
            Page::End => return Ok(Found::Nobody),
        };
        let is_theirs =
            |row: &&Value| row::login(row, "owner").is_some_and(|login| login.eq_ignore_ascii_case(owner));
        let id = |row: &Value| row.get("owner").and_then(|owner| row::number(owner, "id"));
        if let Some(id) = rows.iter().filter(is_theirs).find_map(id) {
            return Ok(Found::Id(id));
        }
    }
}

/// One repository as the server has it now, or what a caller hears when there is none.
pub(super) async fn one(
    server: &Server,
    contact: &Contact,
    owner: &str,
    name: &str,
) -> Result<Result<Value, String>, UpstreamError> {
    match server.ask(contact, &ReadPath::of(["repos", owner, name])).await? {
        Said::Yes(answer) => answer.json().map(Ok),
        Said::No(no) => Ok(Err(no.told(&format!("the repository {owner}/{name}")))),
    }
}

impl Told {
    fn text(&self) -> String {
        let mut text = match (self.repos.is_empty(), self.more) {
            (true, true) => "No repository on this page.".to_owned(),
            (true, false) => "No repositories.".to_owned(),
            (false, _) => said::lines(self.repos.iter().map(Repo::line)),
        };
        if let Some(more) = said::goes_on(self.next_cursor.as_deref()) {
            text.push('\n');
            text.push_str(&more);
        }
        text
    }
}
