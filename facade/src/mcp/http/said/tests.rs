use super::*;

fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::try_from(*value).unwrap());
    }
    headers
}

#[test]
fn who_names_a_form_gets_it_and_who_names_none_gets_json() {
    let check = |accept: &[&'static str], json: bool, events: bool| {
        let lines: Vec<_> = accept.iter().map(|line| ("accept", *line)).collect();
        assert_eq!(takes(&headers(&lines)), Takes { json, events }, "{accept:?}");
    };
    check(&[], true, false);
    check(&["*/*"], true, false);
    check(&["application/json"], true, false);
    check(&["application/json, text/event-stream"], true, true);
    check(&["application/json", "text/event-stream"], true, true);
    check(&["text/event-stream;q=0.9,*/*;q=0.1"], true, true);
    check(&["text/event-stream"], false, true);
    check(&["text/event-stream; q=0, */*"], true, false);
    check(&["text/event-streams"], true, false);
    check(&["nonsense,;,"], true, false);
}

#[test]
fn the_revision_of_a_session_is_read_from_its_id() {
    let check = |id: &str, expected: Option<Legacy>| {
        let said = Said::read(&headers(&[("mcp-session-id", id)])).unwrap();
        assert_eq!(said.revision_of_session(), expected, "{id}");
    };
    check("2025-06-18.abc.def", Some(Legacy::Structured));
    check("2025-11-25.abc.def", Some(Legacy::Latest));
    check("2026-07-28.abc.def", None);
    check("2025-06-18", None);
    check("abc.def", None);
}
