use super::{Host, Welcome, shell_word};

fn welcome(host: Host, first: Option<(&str, &str)>) -> Welcome {
    Welcome {
        rest: "http://127.0.0.1:7600".into(),
        grpc: "127.0.0.1:7601".parse().unwrap(),
        tls: false,
        certificate: None,
        data_dir: "/srv/toolgate-data".into(),
        first: first.map(|(token, code)| (token.into(), code.into())),
        host,
        client_flags: String::new(),
        took_ms: 120,
    }
}

fn connected(target_id: Option<&str>) -> Host {
    Host::Connected {
        name: "web-1".into(),
        target_id: target_id.map(str::to_owned),
    }
}

#[test]
fn the_first_start_prints_the_token_and_the_link_once() {
    let text = welcome(connected(None), Some(("tgk_T_S", "tgl_C"))).text();
    assert_eq!(text.matches("tgk_T_S").count(), 1);
    assert!(text.contains("http://127.0.0.1:7600/sign-in#code=tgl_C"));

    let text = welcome(connected(None), None).text();
    assert!(text.contains("token  in /srv/toolgate-data/admin-token"));
    assert!(!text.contains("sign-in"));
}

#[test]
fn the_curl_line_is_one_line_that_starts_and_follows_a_call() {
    let line = welcome(connected(None), None).curl();
    assert_eq!(
        line,
        "curl -sN -H \"Authorization: Bearer $(cat /srv/toolgate-data/admin-token)\" \
         \"http://127.0.0.1:7600$(curl -s -H \"Authorization: Bearer $(cat /srv/toolgate-data/admin-token)\" \
         -H 'Content-Type: application/json' \
         -d '{\"name\":\"ssh.run_whitelisted_command\",\"arguments\":{\"command\":\"uptime\"}}' \
         http://127.0.0.1:7600/api/mcp/invoke | grep -o '/api/mcp/stream/[0-9A-Z]*')\""
    );
    assert!(
        welcome(connected(Some("01T")), None)
            .curl()
            .contains(r#""targetId":"01T""#)
    );
}

#[test]
fn without_a_host_the_line_lists_the_tools() {
    let line = welcome(Host::Off, None).curl();
    assert!(line.ends_with(" http://127.0.0.1:7600/api/mcp/tools"), "{line}");
}

#[test]
fn tls_is_told_to_curl() {
    let mut welcome = welcome(connected(None), None);
    welcome.tls = true;
    welcome.rest = "https://gate.example.org".into();
    welcome.certificate = Some("/etc/my cert.pem".into());
    assert_eq!(welcome.curl().matches("--cacert '/etc/my cert.pem'").count(), 2);
    assert!(
        welcome
            .text()
            .contains("  REST   https://gate.example.org\n  gRPC   https://127.0.0.1:7601\n")
    );
}

#[test]
fn paths_are_one_word_of_the_shell() {
    assert_eq!(shell_word("/a/b-c_d.e"), "/a/b-c_d.e");
    assert_eq!(shell_word("/a b"), "'/a b'");
    assert_eq!(shell_word("/it's$(x)"), "'/it'\\''s$(x)'");
    assert_eq!(shell_word(""), "''");
}
