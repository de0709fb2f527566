//! Settings are checked whole before anything starts: an unknown key is told with the nearest known one, a taken port
//! with its holder, and the process ends with the code for it.

use std::{fs, net::TcpListener};

use toolgate_test_support::run;

#[tokio::test]
async fn a_wrong_setting_is_named_with_the_nearest_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolgate.toml");
    let cases = [
        ("htpp = \"127.0.0.1:0\"\n", vec!["htpp", "http"]),
        (
            "[limits]\nuser_per_minut = 5\n",
            vec!["user_per_minut", "user_per_minute"],
        ),
        ("http = 7\n", vec!["http"]),
        ("http = \"nowhere\"\n", vec!["http", "nowhere"]),
        ("[limits]\nuser_per_minute = 0\n", vec!["limits.user_per_minute"]),
        ("http = \n", vec!["toolgate.toml"]),
        (
            "htpp = \"x\"\n[log]\nlevle = \"info\"\n",
            vec!["htpp", "levle", "level"],
        ),
    ];
    for (text, expected) in cases {
        fs::write(&file, text).unwrap();
        let output = run(&["up"], &[], folder.path()).await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text:?}: {told}");
        for word in expected {
            assert!(told.contains(word), "{text:?} is not told {word}: {told}");
        }
        assert!(!told.contains("panicked"), "{told}");
    }
    assert!(
        !folder.path().join("toolgate-data").exists(),
        "nothing was started"
    );
}

#[tokio::test]
async fn flags_and_variables_are_checked_like_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let flag = run(&["up", "--limits-user-per-minut", "5"], &[], folder.path())
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&flag.stderr);
    assert_eq!(flag.status.code(), Some(2), "{told}");
    assert!(told.contains("--limits-user-per-minute"), "{told}");

    let variable = run(
        &["up"],
        &[("TOOLGATE_LIMITS_USER_PER_MINUTE", "many")],
        folder.path(),
    )
    .await
    .unwrap();
    let told = String::from_utf8_lossy(&variable.stderr);
    assert_eq!(variable.status.code(), Some(2), "{told}");
    assert!(told.contains("TOOLGATE_LIMITS_USER_PER_MINUTE"), "{told}");

    let open = run(&["up", "--http", "0.0.0.0:0"], &[], folder.path())
        .await
        .unwrap();
    let told = String::from_utf8_lossy(&open.stderr);
    assert_eq!(open.status.code(), Some(2), "{told}");
    assert!(told.contains("tls") && told.contains("behind"), "{told}");
}

#[tokio::test]
async fn a_taken_port_says_by_whom_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();

    let output = run(
        &["up", "--http", &address, "--grpc", "127.0.0.1:0"],
        &[],
        folder.path(),
    )
    .await
    .unwrap();

    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&address) && told.contains(&format!("pid {}", std::process::id())),
        "{told}"
    );
    assert!(told.contains("--http"), "{told}");
}
