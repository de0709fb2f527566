use serde_json::{Value, json};

use super::*;

const TEXT: &str = r#"[{"type":"text","text":"up"}]"#;
const OUTPUT: &str =
    r#"{"command":"uptime","exit_code":0,"stdout":"up","stderr":"","truncated":false,"duration_ms":7}"#;

fn answer(content: &str, structured: &str) -> String {
    format!(r#"{{"content":{content},"structuredContent":{structured},"isError":false}}"#)
}

fn with(member: &str, value: &str) -> String {
    let mut output: Vec<(&str, &str)> = vec![
        ("command", r#""uptime""#),
        ("exit_code", "0"),
        ("stdout", r#""up""#),
        ("stderr", r#""""#),
        ("truncated", "false"),
        ("duration_ms", "7"),
    ];
    output.retain(|(name, _)| *name != member);
    output.push((member, value));
    let members: Vec<String> = output
        .iter()
        .map(|(name, value)| format!(r#""{name}":{value}"#))
        .collect();
    answer(TEXT, &format!("{{{}}}", members.join(",")))
}

fn told(answer: &str) -> (Value, Value) {
    let result = read(answer.as_bytes()).unwrap_or_else(|error| panic!("{error}: {answer}"));
    let json = |raw: &RawValue| serde_json::from_str(raw.get()).expect("JSON");
    (
        json(&result.content),
        result.structured.as_deref().map_or(Value::Null, json),
    )
}

#[test]
fn an_honest_answer_is_told_in_full() {
    let (content, structured) = told(&answer(TEXT, OUTPUT));
    assert_eq!(content, json!([{"type": "text", "text": "up"}]));
    assert_eq!(structured, serde_json::from_str::<Value>(OUTPUT).expect("JSON"));
    let (content, structured) = told(&with("exit_code", "3"));
    assert_eq!(content[0]["text"], "up\n[exit code 3]\n");
    assert_eq!(structured["exit_code"], 3);
}

#[test]
fn an_answer_that_does_not_fit_is_invalid() {
    let cases = [
        String::new(),
        "[]".to_owned(),
        "{}".to_owned(),
        "\u{0}{not json".to_owned(),
        // The frame of the result.
        r#"{"content":[],"content":[{"type":"text","text":"x"}],"isError":false,"isError":true}"#.to_owned(),
        format!(r#"{{"content":{TEXT},"structuredContent":{OUTPUT},"structuredContent":{OUTPUT}}}"#),
        format!(r#"{{"content":{TEXT},"structuredContent":{OUTPUT},"isError":"no"}}"#),
        format!(r#"{{"content":{TEXT},"isError":false}}"#),
        format!("{} x", answer(TEXT, OUTPUT)),
        // Content.
        answer(r#""up""#, OUTPUT),
        answer("[]", OUTPUT),
        answer(
            r#"[{"type":"image","data":"AAAA","mimeType":"image/png"}]"#,
            OUTPUT,
        ),
        answer(
            r#"[{"type":"resource_link","uri":"file:///etc/shadow","name":"x"}]"#,
            OUTPUT,
        ),
        answer(
            r#"[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"}]"#,
            OUTPUT,
        ),
        answer(r#"[{"type":"text","type":"image","text":"a"}]"#, OUTPUT),
        // Structured content.
        answer(TEXT, "[]"),
        answer(TEXT, "null"),
        answer(TEXT, "{}"),
        with("exit_code", r#""zero""#),
        with("exit_code", "1e999"),
        with("exit_code", "1.5"),
        with("exit_code", "99999999999"),
        with("signal", "[9]"),
        with("stdout", "5"),
        with("stdout", r#""\ud800""#),
        with("stdout", r#"["a"]"#),
        with("stderr", "null"),
        with("truncated", r#""false""#),
        with("duration_ms", "-1"),
        with("duration_ms", "1e999"),
        with("duration_ms", "18446744073709551615"),
        with("command", &format!(r#""{}""#, "a".repeat(MAX_COMMAND + 1))),
        answer(TEXT, &OUTPUT.replace(r#""stderr""#, r#""stdout""#)),
        answer(
            TEXT,
            &OUTPUT.replace(r#""stderr":"""#, r#""stderr":"","st\u0064out":"""#),
        ),
    ];
    for case in cases {
        let refused = read(case.as_bytes()).err();
        assert_eq!(refused, Some(UpstreamError::Invalid), "{case}");
    }
    let mut bad_utf8 = answer(TEXT, OUTPUT).into_bytes();
    let at = bad_utf8
        .windows(2)
        .rposition(|pair| pair == b"up")
        .expect("there");
    bad_utf8[at] = 0xff;
    assert_eq!(read(&bad_utf8).err(), Some(UpstreamError::Invalid));
    let huge = vec![b' '; MAX_ANSWER + 1];
    assert_eq!(read(&huge).err(), Some(UpstreamError::TooLarge));
}

#[test]
fn what_is_not_known_is_dropped() {
    for extra in [r#""<script>""#, "1e999", r#""\ud800""#, r#"{"a":[{}]}"#] {
        let (_, structured) = told(&with("evil", extra));
        assert_eq!(
            structured,
            serde_json::from_str::<Value>(OUTPUT).expect("JSON"),
            "{extra}"
        );
    }
    let meta = format!(
        r#"{{"content":[{{"type":"text","text":"up","annotations":{{"a":1}}}}],"structuredContent":{OUTPUT},"_meta":{{"x":1}}}}"#
    );
    assert_eq!(told(&meta).0, json!([{"type": "text", "text": "up"}]));
}

#[test]
fn the_text_for_people_is_that_of_the_output_and_not_the_relays() {
    let lie = answer(r#"[{"type":"text","text":"all is well"}]"#, OUTPUT);
    assert_eq!(told(&lie).0, json!([{"type": "text", "text": "up"}]));
}

#[test]
fn nothing_that_steers_a_terminal_gets_through() {
    let hostile = r#""a\u001b[31m\u0000b\r\u0007\u007f\u009b31m\tc\n●""#;
    for member in ["stdout", "stderr", "command"] {
        let (content, structured) = told(&with(member, hostile));
        assert_eq!(structured[member], "a[31mb31m\tc\n●", "{member}");
        let text = content[0]["text"].as_str().expect("text");
        assert!(
            text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()),
            "{text:?}"
        );
    }
}

#[test]
fn output_over_the_limit_is_cut_at_a_character_and_said_to_be_cut() {
    let check = |stdout: String, stderr: String, kept: (usize, usize), truncated: bool| {
        let output = json!({
            "command": "uptime", "stdout": stdout, "stderr": stderr, "truncated": false, "duration_ms": 1
        });
        let (content, structured) = told(&answer(TEXT, &output.to_string()));
        let length = |member: &str| structured[member].as_str().expect("text").len();
        assert_eq!((length("stdout"), length("stderr")), kept);
        assert_eq!(structured["truncated"], truncated);
        let text = content[0]["text"].as_str().expect("text");
        assert_eq!(text.contains("[output cut at 256 KiB]"), truncated);
    };
    check("a".repeat(MAX_OUTPUT), String::new(), (MAX_OUTPUT, 0), false);
    check("a".repeat(1_000_000), "b".repeat(10), (MAX_OUTPUT, 0), true);
    check(
        "a".repeat(MAX_OUTPUT - 3),
        "b".repeat(4),
        (MAX_OUTPUT - 3, 3),
        true,
    );
    check("€".repeat(MAX_OUTPUT), String::new(), (MAX_OUTPUT - 1, 0), true);
}

#[test]
fn a_host_that_says_no_is_heard_in_a_few_clean_words() {
    let no = |text: &str| {
        format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{OUTPUT},"isError":true}}"#
        )
    };
    let result = read(no(r"df is not\u001b[0m here").as_bytes()).expect("an outcome");
    assert!(result.is_error && result.structured.is_none());
    assert_eq!(
        result.content.get(),
        r#"[{"type":"text","text":"df is not[0m here"}]"#
    );
    let (content, _) = told(&no(&"é".repeat(MAX_WORDS)));
    assert_eq!(content[0]["text"].as_str().map(str::len), Some(MAX_WORDS));
    for content in [
        "[]",
        r#"[{"type":"text","text":"\ud800"}]"#,
        r#"[{"type":"text","text":5}]"#,
    ] {
        let answer = format!(r#"{{"content":{content},"isError":true}}"#);
        assert_eq!(
            read(answer.as_bytes()).err(),
            Some(UpstreamError::Invalid),
            "{content}"
        );
    }
}
