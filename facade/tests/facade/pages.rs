//! The pages as a browser asks for them: one document for every address of a page, files that never change.

use toolgate_facade::FacadeConfig;

use crate::{core::ScriptedCore, world::World};

const ADDRESSES: [&str; 20] = [
    "/",
    "/adapters",
    "/adapters/new",
    "/adapters/new/github",
    "/adapters/01JZ",
    "/test-call",
    "/test-call?tool=proxmox.list_vms&arguments=%7B%7D",
    "/tools",
    "/tools/proxmox.list_vms",
    "/tools/profiles",
    "/tools/profiles/forges",
    "/tools/compare?a=x&b=y",
    "/tools/why?tool=t",
    "/audit",
    "/audit?result=refused",
    "/audit/17",
    "/fleet",
    "/fleet/shop",
    "/access/sessions",
    "/sign-in",
];

/// A file that the document names.
async fn a_file(world: &World) -> String {
    let document = world.get("/").await;
    let text = document.text();
    let start = text.find("/web/").expect("the document names files");
    let rest = &text[start..];
    rest[..rest.find('"').unwrap()].to_owned()
}

#[tokio::test]
async fn every_address_of_a_page_is_the_one_document() {
    let world = World::start().await;
    let document = world.get("/").await;
    assert_eq!(document.status, 200);
    assert!(!document.text().contains("{{"), "{}", document.text());
    for address in ADDRESSES {
        let answer = world.get(address).await;
        assert_eq!(
            (answer.status.as_u16(), answer.text()),
            (200, document.text()),
            "{address}"
        );
        assert_eq!(
            answer.header("content-type"),
            "text/html; charset=utf-8",
            "{address}"
        );
        let head = world.ask("HEAD", address, &[], "").await;
        assert_eq!((head.status.as_u16(), head.text()), (200, ""), "{address}");
        assert_eq!(
            head.header("content-length"),
            document.text().len().to_string(),
            "{address}"
        );
        let posted = world.post(address, "").await;
        posted.problem(405, "REQUEST_MALFORMED");
    }
    for other in [
        "/adapter",
        "/index.html",
        "/web",
        "/web/",
        "/app/main.js",
        "/test-call/x",
        "/sign-in/x",
    ] {
        world.get(other).await.problem(404, "RESOURCE_NOT_FOUND");
    }
    assert!(world.core.asked.lock().unwrap().is_empty(), "the core was asked");
}

#[tokio::test]
async fn a_document_is_asked_for_anew_and_sent_only_when_it_changed() {
    let world = World::start().await;
    let first = world.get("/tools").await;
    assert_eq!(
        (first.header("cache-control"), first.header("vary")),
        ("no-cache", "accept-encoding")
    );
    let tag = first.header("etag").to_owned();
    for had in [
        tag.clone(),
        format!("\"x\", {tag}"),
        tag.replace("W/", ""),
        "*".into(),
    ] {
        let again = world.ask("GET", "/audit", &[("if-none-match", &had)], "").await;
        assert_eq!((again.status.as_u16(), again.text()), (304, ""), "{had}");
        assert_eq!(
            (again.header("etag"), again.header("cache-control")),
            (&*tag, "no-cache")
        );
    }
    let other = world
        .ask("GET", "/audit", &[("if-none-match", "\"x\"")], "")
        .await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn a_document_is_in_nobodys_frame_and_runs_our_scripts_only() {
    let world = World::start().await;
    for address in ["/", "/sign-in", "/adapters/new"] {
        let answer = world.get(address).await;
        assert_eq!(
            answer.header("content-security-policy"),
            "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        );
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert!(answer.header("permissions-policy").contains("camera=()"));
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("set-cookie"), "");
        let text = answer.text();
        assert!(
            !text.contains("<style") && !text.contains("style=") && !text.contains(" on"),
            "{text}"
        );
        assert!(
            !text.contains("<script>"),
            "a script within the document would not run"
        );
    }
}

#[tokio::test]
async fn a_file_is_kept_for_good_and_packed_for_those_who_take_it() {
    let world = World::start().await;
    let path = a_file(&world).await;
    let plain = world.get(&path).await;
    assert_eq!(plain.status, 200, "{path}");
    assert_eq!(
        plain.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(
        (plain.header("content-encoding"), plain.header("vary")),
        ("", "accept-encoding")
    );
    let packed = world
        .ask("GET", &path, &[("accept-encoding", "gzip, br")], "")
        .await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("content-type"), plain.header("content-type"));
    let length = |answer: &crate::client::Answer| answer.header("content-length").parse::<usize>().unwrap();
    assert!(length(&packed) < length(&plain));
    let head = world.ask("HEAD", &path, &[], "").await;
    assert_eq!((length(&head), head.body.len()), (length(&plain), 0));
    world.post(&path, "").await.problem(405, "REQUEST_MALFORMED");
    let stale = path.replace("/web/", "/web/x");
    world.get(&stale).await.problem(404, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn no_name_of_a_file_leads_out_of_the_pages() {
    let world = World::start().await;
    let path = a_file(&world).await;
    let build = path.split('/').nth(2).unwrap();
    for name in [
        "../../Cargo.toml",
        "..%2f..%2fCargo.toml",
        "%2e%2e/%2e%2e/Cargo.toml",
        "..\\..\\Cargo.toml",
        "....//Cargo.toml",
        "/etc/passwd",
        "app/../../Cargo.toml",
        "package.json",
        "tsconfig.json",
        "index.html",
        "",
        ".",
    ] {
        let raw = format!(
            "GET /web/{build}/{name} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            world.address
        );
        let answer = world.raw(raw).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{name}: {answer}");
    }
}

#[tokio::test]
async fn a_door_for_relays_has_no_pages() {
    let config = FacadeConfig {
        only_uplinks: true,
        ..FacadeConfig::default()
    };
    let world = World::with(ScriptedCore::new(), config).await;
    for address in ["/", "/sign-in", "/audit", "/web/x/app/main.js"] {
        assert_eq!(world.get(address).await.status, 404, "{address}");
    }
}

#[tokio::test]
async fn an_address_that_nothing_has_is_a_page_for_browsers_and_a_problem_for_programs() {
    let world = World::start().await;
    let browser = [(
        "accept",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
    )];
    let document = world.get("/").await;
    for address in ["/adapter", "/nowhere/at/all", "/api/nothing"] {
        let answer = world.ask("GET", address, &browser, "").await;
        assert_eq!(
            (answer.status.as_u16(), answer.text()),
            (404, document.text()),
            "{address}"
        );
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(
            answer.header("content-security-policy"),
            document.header("content-security-policy")
        );
        for accept in ["", "*/*", "application/json", "application/json, text/html"] {
            let told = world.ask("GET", address, &[("accept", accept)], "").await;
            told.problem(404, "RESOURCE_NOT_FOUND");
        }
        let posted = world.ask("POST", address, &browser, "{}").await;
        posted.problem(404, "RESOURCE_NOT_FOUND");
    }
}
