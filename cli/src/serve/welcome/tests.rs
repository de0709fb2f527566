use super::{Host, Token, Welcome, shell_word};

fn welcome(host: Host, token: Token) -> Welcome {
    Welcome {
        rest: "http://127.0.0.1:7600".into(),
        bound: "http://127.0.0.1:7600".into(),
        grpc: "http://127.0.0.1:7601".into(),
        certificate: None,
        data_dir: "/srv/toolgate-data".into(),
        named_dir: false,
        token,
        host,
        program: "toolgate".into(),
        took_ms: 120,
    }
}

fn made() -> Token {
    Token::Made {
        token: "tgk_T_S".into(),
        code: "tgl_C".into(),
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
    let text = welcome(connected(None), made()).text();
    assert_eq!(text.matches("tgk_T_S").count(), 1);
    assert!(text.contains("http://127.0.0.1:7600/sign-in#code=tgl_C"));

    let text = welcome(connected(None), Token::InFile).text();
    assert!(text.contains("token  in /srv/toolgate-data/admin-token"));
    assert!(text.contains("  pages  http://127.0.0.1:7600/\n"));
    assert!(text.contains("signs you in to the pages: toolgate sign-in\n"));
    assert!(!text.contains("#code="));
}

#[test]
fn the_curl_line_is_one_line_that_starts_and_follows_a_call() {
    let line = welcome(connected(None), Token::InFile).curl();
    assert_eq!(
        line,
        "curl -sN -H \"Authorization: Bearer $(cat /srv/toolgate-data/admin-token)\" \
         \"http://127.0.0.1:7600$(curl -s -H \"Authorization: Bearer $(cat /srv/toolgate-data/admin-token)\" \
         -H 'Content-Type: application/json' \
         -d '{\"name\":\"ssh.run_whitelisted_command\",\"arguments\":{\"command\":\"uptime\"}}' \
         http://127.0.0.1:7600/api/mcp/invoke | grep -o '/api/mcp/stream/[0-9A-Z]*')\""
    );
    assert!(
        welcome(connected(Some("01T")), Token::InFile)
            .curl()
            .contains(r#""targetId":"01T""#)
    );
}

#[test]
fn without_a_host_the_line_lists_the_tools() {
    let line = welcome(Host::Off, Token::InFile).curl();
    assert!(line.ends_with(" http://127.0.0.1:7600/api/mcp/tools"), "{line}");
}

#[test]
fn tls_is_told_to_curl() {
    let mut welcome = welcome(connected(None), Token::InFile);
    welcome.rest = "https://gate.example.org".into();
    welcome.bound = "https://127.0.0.1:7600".into();
    welcome.certificate = Some("/etc/my cert.pem".into());
    assert_eq!(welcome.curl().matches("--cacert '/etc/my cert.pem'").count(), 2);
    assert!(
        welcome
            .text()
            .contains("  REST   https://gate.example.org\n         (bound to https://127.0.0.1:7600)\n")
    );
}

#[test]
fn paths_are_one_word_of_the_shell() {
    assert_eq!(shell_word("/a/b-c_d.e"), "/a/b-c_d.e");
    assert_eq!(shell_word("/a b"), "'/a b'");
    assert_eq!(shell_word("/it's$(x)"), "'/it'\\''s$(x)'");
    assert_eq!(shell_word(""), "''");
}

#[test]
fn behind_a_proxy_the_lines_to_paste_dial_the_bound_address() {
    let mut welcome = welcome(connected(None), Token::InFile);
    welcome.rest = "https://gate.example.org".into();
    welcome.bound = "http://127.0.0.1:17600".into();
    let text = welcome.text();
    assert!(text.contains("  REST   https://gate.example.org\n         (bound to http://127.0.0.1:17600)\n"));
    assert!(welcome.curl().contains(" http://127.0.0.1:17600/api/mcp/invoke"));
    assert!(text.ends_with("\ntoolgate doctor\n"), "{text}");
}

#[test]
fn commands_to_paste_work_from_any_directory_where_the_data_is_not_at_its_default() {
    let mut welcome = welcome(connected(Some("01T")), Token::InFile);
    welcome.named_dir = true;
    let text = welcome.text();
    assert!(text.ends_with(
        "\ntoolgate call ssh.run_whitelisted_command --arg command='df -h' --target 01T --data-dir /srv/toolgate-data\n\
         toolgate doctor --data-dir /srv/toolgate-data\n"
    ), "{text}");
}

#[test]
fn with_a_certificate_for_a_public_name_commands_dial_that_name_and_bring_the_token() {
    let mut welcome = welcome(connected(None), Token::InFile);
    welcome.rest = "https://gate.example.org".into();
    welcome.bound = "https://127.0.0.1:7600".into();
    welcome.certificate = Some("/etc/cert.pem".into());
    let last = "TOOLGATE_TOKEN=$(cat /srv/toolgate-data/admin-token) toolgate doctor --url https://gate.example.org \
                --ca-cert /etc/cert.pem\n";
    assert!(welcome.text().ends_with(last), "{}", welcome.text());
}

#[test]
fn a_token_file_that_is_gone_is_said_to_be_and_how_to_make_another() {
    let mut welcome = welcome(connected(None), Token::Missing);
    welcome.program = "/opt/toolgate".into();
    let text = welcome.text();
    assert!(
        text.contains("  token  none: /srv/toolgate-data/admin-token is not there"),
        "{text}"
    );
    assert!(text.contains(
        "(umask 077; /opt/toolgate token create NAME --role admin --offline --data-dir /srv/toolgate-data > \
         /srv/toolgate-data/admin-token)"
    ), "{text}");
    assert!(!text.contains("$(cat"), "{text}");
    assert!(welcome.json()["tokenFile"].is_null());
}

#[test]
fn the_token_is_not_shown_by_debug() {
    assert!(!format!("{:?}", welcome(Host::Off, made())).contains("tgk_"));
}
