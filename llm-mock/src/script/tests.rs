use super::{Act, Script};

fn refused(text: &str) -> String {
    Script::parse(text).expect_err(text).to_string()
}

#[test]
fn every_built_in_script_is_read_and_named_once() {
    let scripts = Script::builtin().expect("they are read");
    let models: Vec<&str> = scripts.iter().map(Script::model).collect();
    assert_eq!(
        models,
        [
            "mock",
            "mock-bad-json",
            "mock-unknown-tool",
            "mock-parallel",
            "mock-ten-rounds",
            "mock-never-ends"
        ]
    );
}

#[test]
fn what_is_no_script_is_told_its_place() {
    let cases = [
        (r#"{"model": "m"}"#, "missing field `rounds`"),
        (r#"{"model": "m", "rounds": []}"#, "rounds: from 1"),
        (r#"{"model": "", "rounds": [{"say": "x"}]}"#, "model: "),
        (r#"{"model": "m", "rounds": [{}]}"#, "rounds[0]: one of"),
        (
            r#"{"model": "m", "rounds": [{"say": "x", "quote": []}]}"#,
            "rounds[0]: one of",
        ),
        (
            r#"{"model": "m", "rounds": [{"shout": "x"}]}"#,
            "unknown field `shout`",
        ),
        (
            r#"{"model": "m", "rounds": [{"say": "x"}, {"call": []}]}"#,
            "rounds[1]: call",
        ),
        (
            r#"{"model": "m", "rounds": [{"say": "x", "repeat": 0}]}"#,
            "rounds[0]: repeat",
        ),
        (
            r#"{"model": "m", "rounds": [{"say": "x", "repeat": "forever"}, {"say": "y"}]}"#,
            "only the last",
        ),
        (
            r#"{"model": "m", "rounds": [{"call": [{"tool": "guessed"}]}]}"#,
            "unknown variant `guessed`",
        ),
        (
            r#"{"model": "m", "rounds": [{"call": [{"tool": "wanted", "arguments": {}, "raw_arguments": "{"}]}]}"#,
            "not both",
        ),
    ];
    for (text, expected) in cases {
        let told = refused(text);
        assert!(told.contains(expected), "{text}: {told}");
    }
    let long = format!(
        r#"{{"model": "m", "rounds": [{{"say": "{}"}}]}}"#,
        "x".repeat(1 << 20)
    );
    assert!(refused(&long).contains("at most"));
}

#[test]
fn rounds_are_counted_with_their_repeats_and_the_last_that_speaks_stays() {
    let script = Script::parse(
        r#"{"model": "m", "rounds": [
            {"call": [{"tool": "wanted"}], "repeat": 2}, {"say": "a"}, {"call": [{"tool": "wanted"}]}]}"#,
    )
    .expect("a script");
    let told: Vec<char> = (0..6)
        .map(|number| match script.act(number) {
            Act::Call(_) => 'c',
            Act::Say(_) => 's',
            Act::Quote(_) => 'q',
        })
        .collect();
    assert_eq!(told, ['c', 'c', 's', 'c', 's', 's']);
}
