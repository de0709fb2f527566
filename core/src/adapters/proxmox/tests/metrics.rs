use super::*;

const TOOL: &str = "proxmox.get_node_metrics";
const STATUS: &str = "/nodes/pve1/status";
const HOUR: &str = "/nodes/pve1/rrddata?timeframe=hour&cf=AVERAGE";

fn state() -> Value {
    json!({
        "uptime": 1_209_600, "idle": 0, "cpu": 0.125, "wait": "0.01", "loadavg": ["0.60", "0.55", "0.50"],
        "memory": {"total": 68_719_476_736_i64, "used": "21474836480", "free": 1, "available": 2},
        "swap": {"total": 0, "used": 0, "free": 0}, "rootfs": {"total": 100, "used": 21, "avail": 68, "free": 79},
        "ksm": {"shared": 0}, "cpuinfo": {"model": "AMD EPYC", "cores": 16, "cpus": 32, "sockets": "1",
            "mhz": "2994.370", "user_hz": 100, "hvm": "1", "flags": "fpu vme"},
        "kversion": "Linux 6.14", "pveversion": "pve-manager/9.0.10/deb1ca707ec72a89", "boot-info": {"mode": "efi"},
    })
}

fn with() -> Answers {
    let nodes = json!([{"node": "pve1", "status": "online"}, {"node": "pve2", "status": "offline", "level": ""}, {"status": "x"}, null]);
    Answers::default()
        .data("/nodes", nodes)
        .data(STATUS, state())
        .data(
            HOUR,
            json!([{"time": 60, "cpu": 0.5, "memused": 1024.0}, {"time": 120}]),
        )
}

async fn get(answers: Answers, arguments: Value) -> Answered {
    call(&answers.peer(), TOOL, arguments).await.unwrap()
}

#[tokio::test]
async fn a_node_is_told_with_its_state_and_its_samples() {
    let peer = with().peer();
    let answered = call(&peer, TOOL, json!({"node": "pve1"})).await.unwrap();
    assert_eq!(
        answered.structured,
        json!({
            "node": "pve1", "timeframe": "hour", "status": "online", "uptime": 1_209_600, "cpu": 0.125, "wait": 0.01,
            "loadavg": [0.6, 0.55, 0.5],
            "memory": {"total": 68_719_476_736_i64, "used": 21_474_836_480_i64, "free": 1, "available": 2},
            "swap": {"total": 0, "used": 0, "free": 0}, "rootfs": {"total": 100, "used": 21, "free": 79, "avail": 68},
            "cpuinfo": {"model": "AMD EPYC", "cores": 16, "cpus": 32, "sockets": 1, "mhz": 2994.37},
            "kversion": "Linux 6.14", "pveversion": "pve-manager/9.0.10/deb1ca707ec72a89",
            "samples": [{"time": 60, "cpu": 0.5, "memused": 1024.0}, {"time": 120}],
        })
    );
    assert_eq!(
        answered.text,
        "pve1: online\nUp 14 d 0 h\nCPU 12.5 % of 32 CPUs, waiting for disk 1.0 %\nLoad 0.6 0.55 0.5\nMemory 20.0 GiB of 64.0 GiB\nRoot disk 21 B of 100 B\npve-manager/9.0.10/deb1ca707ec72a89\n2 samples of the hour, over 1 min\nCPU 50.0 % to 50.0 %, 50.0 % on average\nMemory 1.0 KiB to 1.0 KiB, 1.0 KiB on average"
    );
    let mut asked = asked(&peer);
    asked.sort();
    assert_eq!(asked, ["/nodes", HOUR, STATUS]);
}

#[tokio::test]
async fn samples_of_mixed_steps_come_oldest_first_and_odd_ones_cost_no_other() {
    let rows = json!([
        {"time": "7200", "cpu": "0.25", "netin": null}, {"time": 60, "loadavg": "nan", "pressurecpusome": "1.5"}, {"cpu": 1},
        null, 7, {"time": {}}, {"time": 3600, "arcsize": 1e12, "newfigure": 1}, {"time": 120},
    ]);
    let answered = get(
        with().data(HOUR, rows),
        json!({"node": "pve1", "timeframe": "hour"}),
    )
    .await;
    assert_eq!(
        answered.structured["samples"],
        json!([{"time": 60, "pressurecpusome": 1.5}, {"time": 120}, {"time": 3600, "arcsize": 1e12}, {"time": 7200, "cpu": 0.25}])
    );
}

#[tokio::test]
async fn of_too_many_samples_the_newest_stay() {
    let rows: Vec<Value> = (0..2_500).map(|n| json!({"time": n})).collect();
    let samples = get(with().data(HOUR, json!(rows)), json!({"node": "pve1"}))
        .await
        .structured["samples"]
        .clone();
    assert_eq!(
        (samples.as_array().unwrap().len(), &samples[0]),
        (2_000, &json!({"time": 500}))
    );
}

#[tokio::test]
async fn every_time_frame_is_asked_for_as_it_is_called() {
    for frame in ["hour", "day", "week", "month", "year"] {
        let peer = with()
            .data(
                &format!("/nodes/pve1/rrddata?timeframe={frame}&cf=AVERAGE"),
                json!([{"time": 1}]),
            )
            .peer();
        let answered = call(&peer, TOOL, json!({"node": "pve1", "timeframe": frame}))
            .await
            .unwrap();
        assert_eq!(
            (&answered.structured["timeframe"], &answered.structured["samples"]),
            (&json!(frame), &json!([{"time": 1}]))
        );
    }
}

#[tokio::test]
async fn a_node_that_is_none_is_never_asked() {
    for name in ["Pve1", "pve1.example.com", "pve9"] {
        let peer = with().peer();
        let answered = call(&peer, TOOL, json!({"node": name})).await.unwrap();
        assert!(answered.is_error);
        assert_eq!(
            answered.text,
            format!("the cluster has no node {name}; its nodes are pve1, pve2")
        );
        assert_eq!(asked(&peer), ["/nodes"]);
    }
}

#[tokio::test]
async fn of_a_node_that_is_offline_only_the_samples_are_asked_for() {
    let peer = with().peer();
    let answered = call(&peer, TOOL, json!({"node": "pve2"})).await.unwrap();
    assert_eq!(
        answered.structured,
        json!({"node": "pve2", "timeframe": "hour", "status": "offline", "samples": []})
    );
    assert!(answered.text.contains("offline"), "{answered:?}");
    assert_eq!(
        asked(&peer),
        ["/nodes", "/nodes/pve2/rrddata?timeframe=hour&cf=AVERAGE"]
    );
}

#[tokio::test]
async fn what_a_node_did_before_it_went_down_is_told() {
    let samples = json!([{"time": 120}, {"time": 60, "cpu": 0.9}]);
    let offline = with().data("/nodes/pve2/rrddata?timeframe=hour&cf=AVERAGE", samples.clone());
    let silent = with()
        .with(STATUS, failed(595, "No route to host"))
        .data(HOUR, samples);
    for (answers, node, status) in [(offline, "pve2", "offline"), (silent, "pve1", "online")] {
        let answered = get(answers, json!({"node": node})).await;
        assert_eq!(
            answered.structured,
            json!({"node": node, "timeframe": "hour", "status": status, "samples": [{"time": 60, "cpu": 0.9}, {"time": 120}]})
        );
        assert!(answered.text.contains("no present figures"), "{answered:?}");
    }
}

#[tokio::test]
async fn a_node_that_gives_no_answer_is_an_answer_without_figures() {
    for status in 595..=599 {
        let away = || failed(status, "Connection refused");
        let answered = get(
            with().with(STATUS, away()).with(HOUR, away()),
            json!({"node": "pve1"}),
        )
        .await;
        assert_eq!(
            answered.structured,
            json!({"node": "pve1", "timeframe": "hour", "status": "online", "samples": []})
        );
        assert!(answered.text.contains("gives no answer"), "{answered:?}");
    }
}

#[tokio::test]
async fn a_node_without_samples_is_told_with_its_state() {
    for reply in [
        failed(
            500,
            "RRD error: opening '/var/lib/rrdcached/db/pve2-node/pve1': No such file or directory",
        ),
        failed(500, "rrd fetch failed"),
        failed(502, "Bad Gateway"),
        Reply::status(200).with_body("<html>"),
        failed(595, "Connection refused"),
        failed(400, "Parameter verification failed."),
        Reply::json(&json!({"data": null})),
        Reply::json(&json!({"data": [{}]})),
    ] {
        let answered = get(with().with(HOUR, reply), json!({"node": "pve1"})).await;
        assert_eq!(
            (&answered.structured["cpu"], &answered.structured["samples"]),
            (&json!(0.125), &json!([]))
        );
        assert!(!answered.text.contains("rrdcached"), "{answered:?}");
    }
}

#[tokio::test]
async fn a_state_of_odd_figures_loses_those_alone() {
    let odd = json!({"uptime": null, "cpu": "x", "wait": {}, "loadavg": ["0.1", "x", "0.3"], "memory": [], "swap": null,
        "rootfs": {"total": null}, "cpuinfo": {"sockets": {}, "mhz": "fast"}, "current-kernel": {"release": "6.14.11-4-pve"}});
    let answered = get(
        with().data(STATUS, odd).data(HOUR, json!([])),
        json!({"node": "pve1"}),
    )
    .await;
    assert_eq!(
        answered.structured,
        json!({"node": "pve1", "timeframe": "hour", "status": "online", "kversion": "6.14.11-4-pve", "samples": []})
    );
}

#[tokio::test]
async fn a_token_that_may_not_read_a_node_is_told_what_it_lacks() {
    let no = || failed(403, "Permission check failed (/nodes/pve1, Sys.Audit)");
    let answered = get(
        with().with(STATUS, no()).with(HOUR, no()),
        json!({"node": "pve1"}),
    )
    .await;
    assert!(
        answered.is_error && answered.text.contains("lacks Sys.Audit on /nodes/pve1"),
        "{answered:?}"
    );
}
