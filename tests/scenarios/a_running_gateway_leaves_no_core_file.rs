//! Credentials are in its memory: the limit on core files is zero and cannot be raised again.

use toolgate_test_support::Gateway;

#[tokio::test]
async fn a_running_gateway_leaves_no_core_file() {
    let gateway = Gateway::start(&[]).await.unwrap();
    let pid = gateway.pid().unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    let words: Vec<&str> = core.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{core}");
}
