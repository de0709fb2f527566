//! Every way to make the gateway dial what it should not, against a trap that counts who comes.

use std::net::TcpListener;

use super::*;

/// Listens on every address of this machine and counts.
struct Trap {
    listener: TcpListener,
    port: u16,
}

impl Trap {
    fn set() -> Self {
        // With IPv6 and without: one listener takes both where there are both.
        let listener = TcpListener::bind("[::]:0")
            .or_else(|_| TcpListener::bind("0.0.0.0:0"))
            .unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { listener, port }
    }

    /// How many came since the last look. A connection is in the queue once its maker knows of it.
    fn caught(&self) -> usize {
        std::iter::from_fn(|| self.listener.accept().ok()).count()
    }
}

fn allow(private: &[&str], loopback: bool) -> Allow {
    Allow {
        private: private.iter().map(|text| Network::parse(text).unwrap()).collect(),
        loopback,
        http: true,
    }
}

/// What comes of reading from this host at the trap's port; the name service says these addresses of every name.
async fn dialled(trap: &Trap, host: &str, allow: Allow, names: Arc<Names>) -> Result<(), String> {
    let base = Base::parse(&format!("http://{host}:{}/x", trap.port))?;
    let destination = Destination {
        base,
        trust: Trust::default(),
        allow,
    };
    let reader = Reader::over(destination, headers(), names, Duration::from_secs(1)).unwrap();
    let fault = get(&reader, &["x"]).await.unwrap_err();
    match fault.error {
        UpstreamError::Forbidden => Err(fault.detail),
        _ => Ok(()),
    }
}

#[tokio::test]
async fn the_trap_catches_whoever_comes() {
    let trap = Trap::set();
    for host in ["127.0.0.1", "2130706433", "localhost", "[::ffff:127.0.0.1]"] {
        let names = Names::saying(&[&["127.0.0.1"]]);
        assert_eq!(
            dialled(&trap, host, allow(&[], true), names).await,
            Ok(()),
            "{host}"
        );
        assert_eq!(trap.caught(), 1, "{host}");
    }
}

#[tokio::test]
async fn no_spelling_of_an_address_reaches_what_is_not_allowed() {
    let trap = Trap::set();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "%31%32%37.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "0.0.0.0",
        "0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "user@127.0.0.1",
        "good.example@127.0.0.1",
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "168.63.129.16",
        "metadata.google.internal",
        "10.0.0.5",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "[fc00::1]",
        "[fe80::1]",
        "[ff02::1]",
    ] {
        let names = Names::saying(&[&["1.1.1.1"]]);
        let refused = dialled(&trap, host, allow(&[], false), names).await;
        assert!(refused.is_err(), "{host}: {refused:?}");
    }
    assert_eq!(trap.caught(), 0);
}

#[tokio::test]
async fn no_name_reaches_what_is_not_allowed() {
    let trap = Trap::set();
    for answer in [
        &["127.0.0.1"][..],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["0.0.0.0"],
        &["169.254.169.254"],
        &["fd00:ec2::254"],
        &["10.0.0.6"],
        &["64:ff9b::7f00:1"],
        &["2002:7f00:1::"],
        // One that may not be dialled is enough, wherever it stands.
        &["1.1.1.1", "127.0.0.1"],
        &["127.0.0.1", "1.1.1.1"],
        &["10.0.0.5", "10.0.0.6"],
        &["1.1.1.1", "1.0.0.1", "fe80::1"],
    ] {
        for host in ["git.example", "localhost", "localhost."] {
            let names = Names::saying(&[answer]);
            let refused = dialled(&trap, host, allow(&["10.0.0.5/32"], false), names).await;
            let told = refused.unwrap_err();
            assert!(told.starts_with(host.trim_end_matches('.')), "{told}");
        }
    }
    assert_eq!(trap.caught(), 0);
}

#[tokio::test]
async fn a_name_that_moves_is_checked_at_each_dial() {
    let trap = Trap::set();
    let names = Names::saying(&[&["10.0.0.6"], &["127.0.0.1"], &["169.254.169.254"]]);
    for expected in ["10.0.0.6", "127.0.0.1", "169.254.169.254", "169.254.169.254"] {
        let names = Arc::clone(&names);
        let refused = dialled(&trap, "git.example", allow(&["10.0.0.5/32"], false), names).await;
        assert!(refused.as_ref().unwrap_err().contains(expected), "{refused:?}");
    }
    assert_eq!(trap.caught(), 0);
}

#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_dialled() {
    // The second answer would lead into the trap; it is never asked for.
    let peer = Peer::answering(|_| Reply::json(&json!({})));
    let names = Names::saying(&[&["127.0.0.1"], &["127.0.0.2"], &["127.0.0.3"]]);
    let mut destination = peer.destination("");
    destination.base = Base::parse(&format!("http://git.example:{}", peer.port())).unwrap();
    let reader = Reader::over(destination, headers(), Arc::clone(&names) as _, DEADLINE).unwrap();
    for _ in 0..3 {
        get(&reader, &["x"]).await.unwrap();
    }
    assert_eq!(names.left(), 2);
    assert_eq!(
        peer.asked()[0].header("host"),
        format!("git.example:{}", peer.port())
    );
}

#[tokio::test]
async fn the_next_address_is_dialled_when_one_does_not_answer() {
    let peer = Peer::answering(|_| Reply::json(&json!({})));
    let names = Names::saying(&[&["127.0.0.9", "127.0.0.1"]]);
    let mut destination = peer.destination("");
    destination.base = Base::parse(&format!("http://git.example:{}", peer.port())).unwrap();
    let reader = Reader::over(destination, headers(), names, DEADLINE).unwrap();
    assert_eq!(get(&reader, &["x"]).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_name_without_an_address_or_with_too_many_is_none() {
    let many: Vec<String> = (0..65).map(|n| format!("1.1.1.{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for answer in [&[][..], &many] {
        let destination = Destination {
            base: Base::parse("http://git.example").unwrap(),
            trust: Trust::default(),
            allow: allow(&[], false),
        };
        let reader = Reader::over(destination, headers(), Names::saying(&[answer]), DEADLINE).unwrap();
        let fault = get(&reader, &["x"]).await.unwrap_err();
        assert_eq!(fault.error, UpstreamError::Unreachable);
        assert!(fault.detail.contains("git.example"), "{fault:?}");
    }
}

#[test]
fn plain_http_is_read_only_where_it_is_allowed() {
    let destination = Destination {
        base: Base::parse("http://git.example").unwrap(),
        trust: Trust::default(),
        allow: Allow::default(),
    };
    let fault = Reader::new(destination, headers()).unwrap_err();
    assert_eq!(fault.error, UpstreamError::Forbidden);
    assert!(fault.detail.contains("allowHttp true"), "{fault:?}");
}
