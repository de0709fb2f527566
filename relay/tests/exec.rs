//! Arbitrary programs through the exec layer, which the wire can never ask for: no one of them leaves a process behind.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use toolgate_relay::exec::{Exec, ExecError, Finished, GuardProgram, MAX_OUTPUT};

fn guard() -> GuardProgram {
    GuardProgram {
        program: env!("CARGO_BIN_EXE_toolgate-guard").into(),
        arguments: vec!["__guard".into()],
    }
}

fn exec() -> Exec {
    Exec::new(guard())
}

async fn sh(exec: &Exec, script: &str, wait: Duration) -> Result<Finished, ExecError> {
    let arguments = ["-c".to_owned(), script.to_owned()];
    exec.run(
        "sh",
        Path::new("/bin/sh"),
        &arguments,
        Instant::now() + wait,
        &CancellationToken::new(),
    )
    .await
}

async fn prints(script: &str) -> Finished {
    sh(&exec(), script, Duration::from_secs(10)).await.expect("ran")
}

/// A word that only the processes of one test carry on their command line.
fn mark() -> String {
    format!("toolgate-stray-{}", toolgate_contract::ids::EventId::mint())
}

fn marked(mark: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").expect("proc").flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| {
            let carries = |file: &str| {
                fs::read(path.join(file)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
            };
            carries("cmdline")
        })
        .collect()
}

/// Waits until the number of marked processes is as wanted; the test fails two seconds later.
async fn until(mark: &str, wanted: impl Fn(usize) -> bool) {
    let began = Instant::now();
    while !wanted(marked(mark).len()) {
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "left behind: {:?}",
            marked(mark)
        );
        sleep(Duration::from_millis(5)).await;
    }
}

/// Ignores TERM, forks, and flees into a session of its own, twice deep.
fn stubborn(mark: &str) -> String {
    format!(
        "trap '' TERM HUP INT; \
         setsid sh -c 'trap \"\" TERM HUP; (setsid sh -c \"trap \\\"\\\" TERM; sleep 300; : {mark}\" &) ; sleep 300; : {mark}' & \
         sleep 300; : {mark}"
    )
}

const FLED: usize = 3;

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    for (script, exit_code, signal) in [
        ("exit 0", Some(0), None),
        ("exit 3", Some(3), None),
        ("exit 126", Some(126), None),
        ("kill -15 $$", None, Some(15)),
    ] {
        let finished = prints(script).await;
        assert_eq!(
            (finished.exit_code, finished.signal),
            (exit_code, signal),
            "{script}"
        );
    }
}

#[tokio::test]
async fn both_streams_are_kept_apart() {
    let finished = prints("echo out; echo err >&2").await;
    assert_eq!(
        (finished.stdout.as_slice(), finished.stderr.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert!(!finished.truncated);
}

#[tokio::test]
async fn the_environment_is_exactly_ours() {
    let arguments = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(10);
    let finished = exec()
        .run(
            "env",
            Path::new("/usr/bin/env"),
            &arguments,
            deadline,
            &CancellationToken::new(),
        )
        .await
        .expect("ran");
    let text = String::from_utf8(finished.stdout).expect("text");
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "COLUMNS=200",
            "LC_ALL=C.UTF-8",
            "PATH=/usr/bin:/bin:/usr/sbin:/sbin",
            "SYSTEMD_COLORS=0",
            "SYSTEMD_PAGER=cat",
            "SYSTEMD_URLIFY=0",
            "TERM=dumb",
        ]
    );
}

#[tokio::test]
async fn a_command_has_no_input_no_extra_descriptors_and_no_privileges() {
    let finished = prints("cat; ls -l /proc/self/fd; cat /proc/self/status").await;
    let text = String::from_utf8(finished.stdout).expect("text");
    assert!(text.contains("0 -> /dev/null"), "{text}");
    assert!(!text.contains("socket:"), "the lifeline leaked: {text}");
    assert!(text.contains("NoNewPrivs:\t1"), "{text}");
    for set in ["CapEff", "CapPrm", "CapAmb"] {
        assert!(
            text.contains(&format!("{set}:\t0000000000000000")),
            "{set}: {text}"
        );
    }
    let uid = text
        .lines()
        .find_map(|line| line.strip_prefix("Uid:\t"))
        .expect("a user");
    assert!(!uid.split('\t').any(|uid| uid == "0"), "{uid}");
}

#[tokio::test]
async fn output_is_cut_at_the_limit_and_the_writer_killed() {
    let mark = mark();
    let began = Instant::now();
    let finished = prints(&format!("cat /dev/zero; : {mark}")).await;
    assert!(finished.truncated);
    assert_eq!(finished.stdout.len() + finished.stderr.len(), MAX_OUTPUT);
    assert!(began.elapsed() < Duration::from_secs(5));
    until(&mark, |left| left == 0).await;
}

#[tokio::test]
async fn nothing_is_left_after_a_timeout() {
    let mark = mark();
    let exec = exec();
    let began = Instant::now();
    let outcome = sh(&exec, &stubborn(&mark), Duration::from_millis(700)).await;
    assert!(matches!(outcome, Err(ExecError::TimedOut)), "{outcome:?}");
    assert!(
        began.elapsed() < Duration::from_millis(1200),
        "waited {:?}",
        began.elapsed()
    );
    until(&mark, |left| left == 0).await;
    assert!(exec.wait_clean(Duration::from_secs(2)).await);
}

#[tokio::test]
async fn nothing_is_left_after_a_cancel() {
    let mark = mark();
    let exec = exec();
    let cancelled = CancellationToken::new();
    let arguments = ["-c".to_owned(), stubborn(&mark)];
    let run = exec.run(
        "sh",
        Path::new("/bin/sh"),
        &arguments,
        Instant::now() + Duration::from_secs(60),
        &cancelled,
    );
    let (outcome, ()) = tokio::join!(run, async {
        until(&mark, |running| running > FLED).await;
        cancelled.cancel();
    });
    assert!(matches!(outcome, Err(ExecError::Cancelled)), "{outcome:?}");
    until(&mark, |left| left == 0).await;
}

#[tokio::test]
async fn nothing_is_left_when_the_asker_is_dropped() {
    let mark = mark();
    let exec = exec();
    let script = stubborn(&mark);
    tokio::select! {
        outcome = sh(&exec, &script, Duration::from_secs(60)) => panic!("{outcome:?}"),
        () = until(&mark, |running| running > FLED) => {}
    }
    until(&mark, |left| left == 0).await;
}

#[tokio::test]
async fn what_a_command_left_running_goes_with_it() {
    let mark = mark();
    let script = format!("setsid sh -c 'sleep 300; : {mark}' >/dev/null 2>&1 & echo done");
    let finished = prints(&script).await;
    assert_eq!(finished.stdout, b"done\n");
    until(&mark, |left| left == 0).await;
}

#[tokio::test]
async fn a_command_that_left_its_output_open_does_not_hold_the_answer() {
    let mark = mark();
    let began = Instant::now();
    let finished = prints(&format!("setsid sh -c 'sleep 300; : {mark}' & echo done")).await;
    assert_eq!(finished.exit_code, Some(0));
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn commands_of_one_kind_take_turns() {
    let exec = exec();
    let long = sh(&exec, "sleep 300", Duration::from_millis(500));
    let waiting = async {
        sleep(Duration::from_millis(50)).await;
        sh(&exec, "echo never", Duration::from_millis(100)).await
    };
    let (long, waiting) = tokio::join!(long, waiting);
    assert!(matches!(long, Err(ExecError::TimedOut)));
    assert!(matches!(waiting, Err(ExecError::TimedOut)), "{waiting:?}");
    assert!(
        sh(&exec, "echo next", Duration::from_secs(5)).await.is_ok(),
        "the turn comes back"
    );
}

#[tokio::test]
async fn a_command_that_cannot_be_killed_is_not_started_a_second_time() {
    // A guard that does not hear its lifeline, as one whose command sleeps in the kernel cannot end.
    let deaf = GuardProgram {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), "exec sleep 4".into()],
    };
    let exec = Exec::new(deaf);
    let outcome = sh(&exec, "", Duration::from_millis(50)).await;
    assert!(matches!(outcome, Err(ExecError::TimedOut)), "{outcome:?}");
    // Until it counts as stuck, others of its kind wait for their turn; then they hear at once.
    let outcome = sh(&exec, "", Duration::from_millis(2500)).await;
    assert!(matches!(outcome, Err(ExecError::TimedOut)), "{outcome:?}");
    let began = Instant::now();
    let outcome = sh(&exec, "", Duration::from_secs(10)).await;
    assert!(matches!(outcome, Err(ExecError::Stuck)), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_millis(500));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_told() {
    let exec = exec();
    let deadline = Instant::now() + Duration::from_secs(5);
    let none = CancellationToken::new();
    for program in ["/nonexistent/program", "/etc/passwd"] {
        let outcome = exec.run("x", Path::new(program), &[], deadline, &none).await;
        assert!(
            matches!(outcome, Err(ExecError::Spawn(_))),
            "{program}: {outcome:?}"
        );
    }
}

/// The runner of this test, started as a process of its own so that it can be killed.
#[tokio::test]
async fn nothing_is_left_when_the_relay_is_killed() {
    let mark = mark();
    // The guard's parent holds the lifeline; here a shell stands for the relay, and `kill -9` ends it.
    let helper = std::env::current_exe().expect("this test binary");
    let mut relay = tokio::process::Command::new(helper)
        .args([
            "--exact",
            "stands_for_a_relay",
            "--nocapture",
            "--include-ignored",
        ])
        .env("TOOLGATE_TEST_SCRIPT", stubborn(&mark))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("starts");
    let began = Instant::now();
    while marked(&mark).len() <= FLED {
        assert!(
            began.elapsed() < Duration::from_secs(10),
            "the commands never began"
        );
        sleep(Duration::from_millis(5)).await;
    }
    relay.start_kill().expect("kill -9");
    until(&mark, |left| left == 0).await;
    let _ = relay.wait().await;
}

#[tokio::test]
#[ignore = "called by the test above in a process of its own"]
#[allow(
    clippy::disallowed_methods,
    reason = "the only way in for a test that is a process"
)]
async fn stands_for_a_relay() {
    let Ok(script) = std::env::var("TOOLGATE_TEST_SCRIPT") else {
        return;
    };
    let _ = sh(&exec(), &script, Duration::from_secs(60)).await;
}
