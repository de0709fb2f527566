//! Ids of MCP sessions: what this gateway did not write is no session, and of what it wrote every byte counts.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use toolgate_contract::ids::TenantId;
use toolgate_core::{
    clock::Clock,
    identity::{Principal, Role},
    keys::Keyring,
    mcp_sessions::McpSessions,
};

struct World {
    sessions: McpSessions,
    principal: Principal,
    open: String,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("toolgate-fuzz-mcp-session-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let keys = Arc::new(Keyring::open(&dir).expect("keys"));
    let sessions = McpSessions::new(keys, Clock::system());
    let principal = Principal {
        tenant: TenantId::mint(),
        name: "ann".into(),
        role: Role::Engineer,
        pinned: None,
    };
    let open = sessions.open(&principal, "2025-06-18").expect("a session");
    World {
        sessions,
        principal,
        open,
    }
});

fuzz_target!(|input: (u8, u8, &str)| {
    let (at, byte, text) = input;
    let world = &*WORLD;
    let goes_on = |text: &str| world.sessions.check(&world.principal, text).is_ok();
    assert_eq!(goes_on(text), text == world.open);
    let mut changed = world.open.clone().into_bytes();
    let at = usize::from(at) % changed.len();
    changed[at] = byte;
    if let Ok(changed) = String::from_utf8(changed) {
        assert_eq!(goes_on(&changed), changed == world.open);
    }
});
