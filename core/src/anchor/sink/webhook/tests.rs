use std::{fs, os::unix::fs::PermissionsExt, sync::Arc, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

use super::*;

/// A peer that answers each request with `answer`, or hangs where there is none, and tells what it was sent.
pub(in crate::anchor::sink) async fn peer(answer: Option<&'static str>) -> (String, mpsc::Receiver<String>) {
    let (tell, told) = mpsc::channel(64);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/in?key=hidden", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, answer, tell.clone()));
        }
    });
    (url, told)
}

async fn serve(mut stream: TcpStream, answer: Option<&'static str>, tell: mpsc::Sender<String>) {
    while let Some(request) = request(&mut stream).await {
        let _ = tell.send(request).await;
        match answer {
            Some(answer) => stream.write_all(answer.as_bytes()).await.unwrap_or_default(),
            None => std::future::pending().await,
        }
    }
}

/// One request with a content length.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")
                .map(str::to_owned)
        })?;
        if body.len() >= length.parse().unwrap() {
            return Some(text);
        }
    }
}

pub(in crate::anchor::sink) fn webhook(url: &str, token_file: Option<PathBuf>) -> Arc<Webhook> {
    // As the binary does at its start.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    Arc::new(Webhook::within(url, token_file, Duration::from_millis(500)).unwrap())
}

const OK: &str = "HTTP/1.1 204 No Content\r\n\r\n";

#[tokio::test]
async fn lines_are_posted_as_they_stand_with_the_token_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    fs::write(&token, "s3cret\n").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let (url, mut told) = peer(Some(OK)).await;

    let sink = webhook(&url, Some(token.clone()));
    sink.append(b"{\"a\":1}\n{\"b\":2}\n".to_vec()).await.unwrap();

    let request = told.recv().await.unwrap();
    assert!(
        request.starts_with("POST /in?key=hidden HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains("content-type: application/x-ndjson\r\n"),
        "{request}"
    );
    assert!(request.contains("authorization: Bearer s3cret\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"a\":1}\n{\"b\":2}\n"), "{request}");
    assert!(!format!("{sink:?}").contains("s3cret"));

    fs::write(&token, "replaced").unwrap();
    sink.append(b"{}\n".to_vec()).await.unwrap();
    assert!(told.recv().await.unwrap().contains("Bearer replaced"));
}

#[tokio::test]
async fn a_peer_that_does_not_take_lines_is_told_apart_and_never_waited_for_longer_than_the_deadline() {
    // A body that never ends after the head of a good answer is nobody's concern.
    let endless = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nxxxx";
    let check = async |answer: Option<&'static str>, expected: Result<(), &str>| {
        let (url, _told) = peer(answer).await;
        let begun = Instant::now();
        let ended = webhook(&url, None).append(b"{}\n".to_vec()).await;
        assert!(begun.elapsed() < Duration::from_secs(5));
        match expected {
            Ok(()) => assert!(ended.is_ok(), "{ended:?}"),
            Err(part) => {
                let error = ended.unwrap_err().to_string();
                assert!(error.contains(part) && !error.contains("hidden"), "{error}");
            }
        }
    };
    check(Some(OK), Ok(())).await;
    check(Some(endless), Ok(())).await;
    check(
        Some("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"),
        Err("answered 500"),
    )
    .await;
    check(
        Some("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"),
        Err("answered 401"),
    )
    .await;
    check(Some("no http at all\r\n\r\n"), Err("cannot be reached")).await;
    check(Some(""), Err("did not answer in time")).await;
    check(None, Err("did not answer in time")).await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (trap, mut sprung) = peer(Some(OK)).await;
    let answer = format!("HTTP/1.1 307 There\r\nLocation: {trap}\r\nContent-Length: 0\r\n\r\n");
    let (url, _told) = peer(Some(answer.leak())).await;
    let error = webhook(&url, None).append(b"{}\n".to_vec()).await.unwrap_err();
    assert_eq!(error.to_string(), "the webhook answered 307");
    assert!(sprung.try_recv().is_err());
}

#[tokio::test]
async fn a_peer_that_resets_or_is_not_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hidden", listener.local_addr().unwrap());
    let resetting = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // Dropped with unread bytes: a reset.
        stream.readable().await.unwrap();
    });
    let sink = webhook(&url, None);
    let error = sink.append(b"{}\n".to_vec()).await.unwrap_err().to_string();
    assert!(
        error.contains("cannot be reached") && !error.contains("hidden"),
        "{error}"
    );
    resetting.await.unwrap();
    let error = sink.append(b"{}\n".to_vec()).await.unwrap_err().to_string();
    assert!(
        error.contains("cannot be reached") && !error.contains("hidden"),
        "{error}"
    );
}

#[tokio::test]
async fn a_token_file_that_is_missing_empty_or_open_is_told_and_nothing_is_posted() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    let (url, mut told) = peer(Some(OK)).await;
    let sink = webhook(&url, Some(token.clone()));
    let check = async |expected: &str| {
        let error = sink.append(b"{}\n".to_vec()).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check("cannot be read").await;
    fs::write(&token, " \n").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    check("is empty").await;
    fs::write(&token, "two\nlines").unwrap();
    check("holds no token").await;
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    check("chmod 0600").await;
    told.try_recv().unwrap_err();
}

#[test]
fn lines_go_over_https_or_to_loopback() {
    let check = |url: &str, expected: bool| {
        assert_eq!(
            Url::parse(url).is_ok_and(|url| route::may_be_dialled(&url)),
            expected,
            "{url}"
        )
    };
    check("https://siem.example/in", true);
    check("https://siem.example:8443/in?k=v", true);
    check("http://127.0.0.1:9/in", true);
    check("http://[::1]:9/in", true);
    check("http://localhost/in", true);
    check("http://siem.example/in", false);
    check("http://127.0.0.1.example/in", false);
    check("http://localhost.example/in", false);
    check("https://user@siem.example/in", false);
    check("https://user:pass@siem.example/in", false);
    check("ftp://siem.example/in", false);
    check("file:///etc/passwd", false);
    check("siem.example", false);
    // However they are written.
    check("https://169.254.169.254/latest", false);
    check("https://0xa9fea9fe/latest", false);
    check("https://[::ffff:169.254.169.254]/", false);
    check("https://[fe80::1]/", false);
    check("https://[fd00:ec2::254]/", false);
    check("https://100.100.100.200/", false);
}

#[test]
fn an_url_with_a_password_is_refused_without_being_printed() {
    for url in [
        "https://user:hunter2@siem.example/in",
        "https://hunter2@siem.example/in",
        "hunter2",
    ] {
        let refused = Webhook::new(url, None).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{refused}");
    }
}
