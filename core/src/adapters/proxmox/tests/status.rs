use super::*;

const TOOL: &str = "proxmox.get_vm_status";
const RESOURCES: &str = "/cluster/resources?type=vm";
const CURRENT: &str = "/nodes/pve1/qemu/100/status/current";

fn guest(kind: &str, vmid: i64, node: &str) -> Value {
    json!({"id": format!("{kind}/{vmid}"), "vmid": vmid, "type": kind, "node": node, "status": "running", "name": "web-1", "tags": "web", "cpu": 0.5})
}

fn with(current: Reply) -> Answers {
    let rows = json!([guest("lxc", 105, "pve2"), guest("qemu", 100, "pve1")]);
    Answers::default().data(RESOURCES, rows).with(CURRENT, current)
}

fn data(row: &Value) -> Reply {
    Reply::json(&json!({"data": row}))
}

#[tokio::test]
async fn a_virtual_machine_is_told_with_everything_its_node_knows() {
    let row = json!({
        "vmid": 100, "status": "running", "qmpstatus": "paused", "name": "web-1", "cpus": 4, "cpu": 0.0312,
        "mem": 1_073_741_824, "maxmem": 4_294_967_296_i64, "memhost": 5, "balloon": 6, "disk": 0, "maxdisk": 7,
        "diskread": 8, "diskwrite": 9, "netin": 10, "netout": 11, "uptime": 90_061, "pid": 4711, "lock": "suspended",
        "tags": "web;prod", "template": 1, "serial": 1, "agent": 1, "spice": 1, "clipboard": "vnc",
        "ha": {"managed": 1, "state": "started"}, "ballooninfo": {"actual": 1}, "nics": {}, "blockstat": {},
        "running-machine": "pc-i440fx-9.0+pve0", "running-qemu": "9.0.2", "proxmox-support": {"x": true},
        "pressurecpusome": 0.5, "pressurecpufull": 0, "pressureiosome": 1, "pressureiofull": 2, "pressurememorysome": 3,
        "pressurememoryfull": 4,
    });
    let peer = with(data(&row)).peer();
    let answered = call(&peer, TOOL, json!({"vmid": 100, "node": "pve1"}))
        .await
        .unwrap();
    let expected = json!({
        "vmid": 100, "type": "qemu", "node": "pve1", "name": "web-1", "status": "running", "qmpstatus": "paused",
        "lock": "suspended", "uptime": 90_061, "cpu": 0.0312, "cpus": 4.0, "mem": 1_073_741_824,
        "maxmem": 4_294_967_296_i64, "memhost": 5, "balloon": 6, "disk": 0, "maxdisk": 7, "diskread": 8, "diskwrite": 9,
        "netin": 10, "netout": 11, "template": true, "tags": ["web", "prod"], "agent": true, "ha_managed": true,
        "ha_state": "started", "running_machine": "pc-i440fx-9.0+pve0", "running_qemu": "9.0.2", "pressurecpusome": 0.5,
        "pressurecpufull": 0.0, "pressureiosome": 1.0, "pressureiofull": 2.0, "pressurememorysome": 3.0,
        "pressurememoryfull": 4.0,
    });
    assert_eq!(answered.structured, expected);
    assert_eq!(
        answered.text,
        "100 web-1: qemu on pve1, template, running (paused), up 1 d 1 h, locked: suspended\nCPU 3.1 % of 4 CPUs\nMemory 1.0 GiB of 4.0 GiB\nDisk 0 B of 7 B"
    );
    assert_eq!(asked(&peer), [RESOURCES, CURRENT]);
}

#[tokio::test]
async fn a_container_tells_numbers_as_texts_in_some_releases() {
    let row = json!({
        "vmid": "105", "type": "lxc", "status": "running", "name": null, "cpus": "1.5", "cpu": "0", "mem": "1024",
        "maxmem": 2048, "swap": 0, "maxswap": "512", "pressurecpusome": "0.00", "pressurecpufull": "1.25",
        "pressureiosome": "nan", "ha": {"managed": 0}, "tags": "",
    });
    let peer = with(failed(500, "not this one"))
        .with("/nodes/pve2/lxc/105/status/current", data(&row))
        .peer();
    let answered = call(&peer, TOOL, json!({"vmid": 105})).await.unwrap();
    assert_eq!(
        answered.structured,
        json!({
            "vmid": 105, "type": "lxc", "node": "pve2", "status": "running", "cpus": 1.5, "cpu": 0.0, "mem": 1024,
            "maxmem": 2048, "swap": 0, "maxswap": 512, "pressurecpusome": 0.0, "pressurecpufull": 1.25,
            "ha_managed": false, "template": false,
        })
    );
}

#[tokio::test]
async fn a_number_is_accepted_as_a_number_and_as_a_text() {
    for vmid in [json!(100), json!("100")] {
        let row = json!({"vmid": vmid, "status": "running"});
        let rows =
            json!([{"id": "qemu/100", "vmid": vmid, "type": "qemu", "node": "pve1", "status": "running"}]);
        let peer = with(data(&row)).data(RESOURCES, rows).peer();
        let answered = call(&peer, TOOL, json!({"vmid": 100})).await.unwrap();
        assert_eq!(answered.structured["vmid"], 100);
    }
    // Callers may write it with a fraction of nothing.
    let peer = with(data(&json!({"status": "stopped"}))).peer();
    assert_eq!(
        call(&peer, TOOL, json!({"vmid": 100.0}))
            .await
            .unwrap()
            .structured["status"],
        "stopped"
    );
}

#[tokio::test]
async fn a_guest_that_is_none_is_not_looked_for_on_any_node() {
    let peer = with(Reply::never()).peer();
    let answered = call(&peer, TOOL, json!({"vmid": 999})).await.unwrap();
    assert!(
        answered.is_error && answered.text.contains("no guest 999 is visible"),
        "{answered:?}"
    );
    assert_eq!(asked(&peer), [RESOURCES]);
}

#[tokio::test]
async fn a_guest_that_was_removed_just_now_is_not_found_and_no_file_is_named() {
    let gone = failed(
        500,
        "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist",
    );
    let peer = with(gone).peer();
    let answered = call(&peer, TOOL, json!({"vmid": 100})).await.unwrap();
    assert!(
        answered.is_error && answered.text.contains("removed just now"),
        "{answered:?}"
    );
    assert!(!answered.text.contains("conf"), "{answered:?}");
    assert_eq!(asked(&peer), [RESOURCES, CURRENT, RESOURCES]);
}

#[tokio::test]
async fn a_guest_that_moves_meanwhile_is_found_where_it_went() {
    let gone = failed(
        500,
        "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist",
    );
    let before = with(gone);
    let after = Answers::default()
        .data(RESOURCES, json!([guest("qemu", 100, "pve3")]))
        .data(
            "/nodes/pve3/qemu/100/status/current",
            json!({"status": "running"}),
        );
    let looked = std::sync::atomic::AtomicU32::new(0);
    let peer = Peer::answering(move |asked| {
        let is_look_up = asked.path() == "/api2/json/cluster/resources";
        let first = is_look_up && looked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        match first || asked.path().contains("pve1") {
            true => before.answer(asked),
            false => after.answer(asked),
        }
    });
    let answered = call(&peer, TOOL, json!({"vmid": 100, "node": "pve1"}))
        .await
        .unwrap();
    assert_eq!(answered.structured["node"], "pve3");
    assert!(
        answered.text.ends_with("It was expected on pve1 and is on pve3."),
        "{}",
        answered.text
    );
}

#[tokio::test]
async fn a_guest_whose_node_gives_no_answer_is_told_as_far_as_the_cluster_knows_it() {
    for status in 595..=599 {
        let peer = with(failed(status, "Connection refused")).peer();
        let answered = call(&peer, TOOL, json!({"vmid": 100})).await.unwrap();
        assert_eq!(
            answered.structured,
            json!({"vmid": 100, "type": "qemu", "node": "pve1", "status": "unknown", "name": "web-1", "template": false, "tags": ["web"]})
        );
        assert!(answered.text.contains("gives no answer"), "{answered:?}");
    }
}

#[tokio::test]
async fn a_guest_of_an_odd_kind_or_without_a_node_is_refused_and_not_asked_for() {
    for row in [
        json!({"vmid": 100, "type": "openvz", "node": "pve1"}),
        json!({"vmid": 100, "type": "qemu"}),
        json!({"vmid": 100}),
    ] {
        let peer = with(Reply::never()).data(RESOURCES, json!([row])).peer();
        let answered = call(&peer, TOOL, json!({"vmid": 100})).await.unwrap();
        assert!(answered.is_error && asked(&peer) == [RESOURCES], "{answered:?}");
    }
}

#[tokio::test]
async fn a_name_of_a_node_stays_one_part_of_a_path() {
    let rows = json!([{"vmid": 100, "type": "qemu", "node": "../x?y=1#z", "status": "running"}]);
    let peer = with(Reply::never()).data(RESOURCES, rows).peer();
    let answered = call(&peer, TOOL, json!({"vmid": 100})).await.unwrap();
    assert!(answered.is_error);
    assert_eq!(
        asked(&peer)[1],
        "/nodes/..%2Fx%3Fy%3D1%23z/qemu/100/status/current"
    );
}
