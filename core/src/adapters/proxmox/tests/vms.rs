use super::*;

const TOOL: &str = "proxmox.list_vms";
const RESOURCES: &str = "/cluster/resources?type=vm";

fn whole_row() -> Value {
    json!({
        "id": "qemu/100", "vmid": 100, "node": "pve1", "type": "qemu", "status": "running", "name": "web-1",
        "template": 0, "uptime": 86_400, "maxcpu": 4, "cpu": 0.0312, "maxmem": 4_294_967_296_i64,
        "mem": 2_147_483_648_i64, "memhost": 2_200_000_000_i64, "maxdisk": 34_359_738_368_i64, "disk": 0, "netin": 12,
        "netout": 34, "diskread": 56, "diskwrite": 78, "lock": "backup", "tags": "web;prod", "pool": "shop",
        "hastate": "started", "something": {"new": 1},
    })
}

fn with(rows: Value) -> Answers {
    let nodes = json!([{"node": "pve2", "status": "offline"}, {"node": "pve1", "status": "online"}]);
    Answers::default().data(RESOURCES, rows).data("/nodes", nodes)
}

async fn list(rows: Value, arguments: Value) -> Answered {
    call(&with(rows).peer(), TOOL, arguments).await.unwrap()
}

#[tokio::test]
async fn a_guest_is_told_with_everything_the_cluster_knows() {
    let answered = list(json!([whole_row()]), json!({})).await;
    let mut expected = whole_row();
    let row = expected.as_object_mut().unwrap();
    row.remove("id");
    row.remove("something");
    row["template"] = json!(false);
    row["tags"] = json!(["web", "prod"]);
    row["maxcpu"] = json!(4.0);
    assert_eq!(answered.structured, json!({"vms": [expected], "more": false}));
    assert_eq!(answered.text, "100 web-1: qemu on pve1, running, locked: backup");
}

#[tokio::test]
async fn a_guest_on_a_node_that_is_down_is_kept_and_breaks_no_other() {
    let away = json!({"id": "qemu/1002", "vmid": 1002, "type": "qemu", "node": "pve2", "status": "unknown"});
    let answered = list(json!([away, whole_row()]), json!({})).await;
    let vms = &answered.structured["vms"];
    assert_eq!(vms[0]["vmid"], 100);
    assert_eq!(
        vms[1],
        json!({"vmid": 1002, "type": "qemu", "node": "pve2", "status": "unknown"})
    );
    assert!(
        answered.text.ends_with("1002: qemu on pve2, unknown"),
        "{}",
        answered.text
    );
}

#[tokio::test]
async fn a_row_of_an_older_release_has_no_template_and_one_text_of_tags() {
    let running = json!({"type": "lxc", "vmid": 105, "tags": "web;prod", "status": "running"});
    let untold = json!({"type": "lxc", "vmid": 106, "tags": "web;prod"});
    let answered = list(json!([running, untold]), json!({})).await;
    assert_eq!(
        answered.structured["vms"],
        json!([
            {"vmid": 105, "type": "lxc", "status": "running", "template": false, "tags": ["web", "prod"]},
            {"vmid": 106, "type": "lxc", "template": false, "tags": ["web", "prod"]},
        ])
    );
}

#[tokio::test]
async fn an_odd_row_costs_no_other() {
    let rows = json!([
        null, 7, "x", [], {}, {"vmid": null}, {"vmid": {}, "id": "qemu/x"},
        {"id": "node/pve1", "type": "node", "node": "pve1", "status": "online"},
        {"id": "storage/pve1/local", "type": "storage", "vmid": null},
        {"id": "/pool/shop", "type": "pool", "pool": "shop"},
        {"vmid": "103", "type": "lxc", "name": null, "status": "stopped", "cpu": "0.5", "mem": "1024", "maxcpu": "1.5", "template": "1", "tags": null},
        {"id": "lxc/102", "status": "running", "name": 42, "maxmem": 1e12, "uptime": [1], "template": true, "pool": ""},
        {"vmid": 9_007_199_254_740_993_i64, "type": "qemu", "name": "a\u{1b}[2J\u{202e}b"},
        {"vmid": 104, "type": "openvz", "status": "running"},
    ]);
    let answered = list(rows, json!({})).await;
    assert_eq!(
        answered.structured["vms"],
        json!([
            {"vmid": 102, "type": "lxc", "status": "running", "name": "42", "template": true, "maxmem": 1_000_000_000_000_i64},
            {"vmid": 103, "type": "lxc", "status": "stopped", "template": true, "cpu": 0.5, "maxcpu": 1.5, "mem": 1024},
            {"vmid": 104, "type": "openvz", "status": "running", "template": false},
            {"vmid": 9_007_199_254_740_993_i64, "type": "qemu", "name": "a\u{1b}[2J\u{202e}b", "template": false},
        ])
    );
    assert!(
        answered
            .text
            .ends_with(r"9007199254740993 a\u{1b}[2J\u{202e}b: qemu, state not told"),
        "{}",
        answered.text
    );
}

#[tokio::test]
async fn guests_are_told_in_the_order_of_their_numbers_and_narrowed() {
    let rows = || {
        let row = |vmid: u32, kind: &str, node: &str, status: &str| json!({"vmid": vmid, "type": kind, "node": node, "status": status});
        json!([
            row(100, "qemu", "pve1", "running"),
            row(1000, "lxc", "pve1", "running"),
            row(101, "qemu", "pve2", "stopped"),
            row(20, "lxc", "pve2", "unknown"),
        ])
    };
    let check = async |arguments: Value, expected: &[u64]| {
        let answered = list(rows(), arguments.clone()).await;
        let vms = answered.structured["vms"].as_array().unwrap();
        let ids: Vec<u64> = vms.iter().map(|vm| vm["vmid"].as_u64().unwrap()).collect();
        assert_eq!(ids, expected, "{arguments}");
    };
    check(json!({}), &[20, 100, 101, 1000]).await;
    check(json!({"node": "pve1"}), &[100, 1000]).await;
    check(json!({"type": "lxc"}), &[20, 1000]).await;
    check(json!({"status": "unknown"}), &[20]).await;
    check(
        json!({"node": "pve2", "type": "qemu", "status": "stopped"}),
        &[101],
    )
    .await;
    check(json!({"node": "pve2", "status": "running"}), &[]).await;
}

#[tokio::test]
async fn a_node_that_is_none_is_answered_with_those_there_are() {
    for name in ["PVE1", "pve1.example.com", "pve3"] {
        let answered = list(json!([whole_row()]), json!({"node": name})).await;
        assert!(answered.is_error, "{answered:?}");
        assert_eq!(
            answered.text,
            format!("the cluster has no node {name}; its nodes are pve1, pve2")
        );
    }
    // One without guests is one all the same, and one with guests needs no second question.
    let peer = with(json!([whole_row()])).peer();
    assert_eq!(
        call(&peer, TOOL, json!({"node": "pve2"}))
            .await
            .unwrap()
            .structured["vms"],
        json!([])
    );
    assert_eq!(asked(&peer), [RESOURCES, "/nodes"]);
    let peer = with(json!([whole_row()])).peer();
    call(&peer, TOOL, json!({"node": "pve1"})).await.unwrap();
    assert_eq!(asked(&peer), [RESOURCES]);
}

#[tokio::test]
async fn an_empty_list_says_what_may_be_missing() {
    let answered = list(json!([]), json!({})).await;
    assert!(
        !answered.is_error && answered.text.contains("VM.Audit"),
        "{answered:?}"
    );
    assert_eq!(answered.structured, json!({"vms": [], "more": false}));
    let answered = list(json!([whole_row()]), json!({"status": "paused"})).await;
    assert!(answered.text.starts_with("No guests like that"), "{answered:?}");
}

#[tokio::test]
async fn a_list_that_is_too_long_says_so() {
    let rows = |count: u32| {
        Value::from(
            (0..count)
                .map(|n| json!({"vmid": 100_000 - n, "type": "qemu", "status": "running"}))
                .collect::<Vec<_>>(),
        )
    };
    for (count, told, more) in [(2_000, 2_000, false), (2_001, 2_000, true)] {
        let answered = list(rows(count), json!({})).await;
        let vms = answered.structured["vms"].as_array().unwrap();
        assert_eq!((vms.len(), &answered.structured["more"]), (told, &json!(more)));
        assert_eq!(vms[0]["vmid"], 100_000 - count + 1);
        assert_eq!(answered.text.contains("narrow the list"), more);
        assert!(answered.text.contains("… and 1900 more"), "{}", answered.text);
    }
}
