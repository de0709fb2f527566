//! Whatever keeps `toolgate mcp` from serving is told on standard error, with the next step and an exit code, before a byte
//! of the protocol is written.

use toolgate_test_support::{Gateway, run};

/// Words after `toolgate mcp`, variables, the exit code, and a part of what is told.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a str);

#[tokio::test(flavor = "multi_thread")]
async fn what_keeps_a_pipe_from_serving_is_told_before_it_begins() {
    let gateway = Gateway::start(&["--relay-built-in=false"]).await.unwrap();
    let data = gateway.data_dir();
    let dir = data.to_str().unwrap();
    let unknown = ("TOOLGATE_TOKEN", "tgk_00000000000000000000000000_unknown");
    let cases: [Case<'_>; 6] = [
        (&["--data-dir", dir], &[unknown], 3, "next: the token is unknown"),
        (
            &["--core", "http://192.0.2.1:7601"],
            &[],
            2,
            "next: set TOOLGATE_TOKEN",
        ),
        (
            &["--core", "http://127.0.0.1:1"],
            &[unknown],
            4,
            "next: start the gateway",
        ),
        (
            &["--core", "unix:nowhere.sock"],
            &[unknown],
            4,
            "next: start the gateway",
        ),
        (
            &["--data-dir", dir, "--tool-names", "dashes"],
            &[],
            2,
            "tool-names",
        ),
        (
            &["--data-dir", dir],
            &[("TOOLGATE_TOKEN", "two\nlines")],
            2,
            "plain text",
        ),
    ];
    for (arguments, environment, code, told) in cases {
        let arguments: Vec<&str> = std::iter::once("mcp").chain(arguments.iter().copied()).collect();
        let output = run(&arguments, environment, gateway.folder()).await.unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {complaint}");
        assert!(complaint.contains(told), "{arguments:?}: {complaint}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!complaint.contains("tgk_"), "{complaint}");
    }
}
