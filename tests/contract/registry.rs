//! The closed registry: nine infrastructure tools, their profiles and every route.

use std::fs;

use serde_json::{Value, json};
use toolgate_contract::{
    pool,
    registry::{self, ALWAYS_ON, Effect, PROFILES, ProfileDef, ROUTES, TOOLS},
};

use super::{emitter, source};
use crate::golden;

#[test]
fn the_registry_is_the_golden_one() {
    golden::check("registry.txt", &from_files().registry_source());
}

#[test]
fn what_the_build_emitted_is_what_the_proto_files_say() {
    let contract = from_files();
    let names: Vec<_> = contract.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>());
    assert_eq!(contract.profiles.len(), PROFILES.len());
    assert_eq!(contract.routes.len(), ROUTES.len());
    assert_eq!(contract.openapi(), registry::OPENAPI);
}

#[test]
fn the_tools_are_the_golden_ones() {
    let schema = |text: &str| match text {
        "" => Value::Null,
        text => serde_json::from_str(text).expect("a schema is JSON"),
    };
    let tools: Vec<_> = TOOLS
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "functionName": tool.function_name,
                "title": tool.title,
                "description": tool.description,
                "adapterType": tool.adapter,
                "effect": tool.effect.as_str(),
                "freshness": tool.freshness.map(registry::Freshness::as_str),
                "group": tool.group.map(registry::Group::as_str),
                "inputSchema": schema(tool.input_schema),
                "outputSchema": schema(tool.output_schema),
            })
        })
        .collect();
    golden::check("tools.json", &format!("{:#}\n", Value::Array(tools)));
}

#[test]
fn the_nine_infrastructure_tools_are_there_and_only_read() {
    let tools: Vec<_> = TOOLS.iter().filter(|tool| tool.is_infrastructure()).collect();
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        [
            "gitea.get_recent_ci_runs",
            "gitea.list_repos",
            "github.get_recent_ci_runs",
            "github.get_workflow_run",
            "github.list_repos",
            "proxmox.get_node_metrics",
            "proxmox.get_vm_status",
            "proxmox.list_vms",
            "ssh.run_whitelisted_command",
        ]
    );
    assert!(
        tools
            .iter()
            .all(|tool| tool.effect == Effect::Read && tool.freshness.is_some())
    );
}

#[test]
fn a_tool_is_found_by_name_and_by_alias_and_by_nothing_else() {
    for tool in TOOLS {
        assert_eq!(registry::tool(tool.name), Some(tool));
        assert_eq!(registry::tool(tool.function_name), Some(tool));
        assert_eq!(registry::tool(&tool.name.to_uppercase()), None);
        assert_eq!(registry::tool(&format!("{} ", tool.name)), None);
    }
    assert_eq!(registry::tool(""), None);
    assert_eq!(registry::tool("proxmox.shutdown_vm"), None);
}

#[test]
fn profiles_are_expanded_to_their_tools() {
    let infrastructure = registry::profile("infrastructure").expect("a built-in profile");
    let own = |profile: &ProfileDef| {
        let tools = profile.tools.iter().copied();
        tools.filter(|name| !ALWAYS_ON.contains(name)).collect::<Vec<_>>()
    };
    assert_eq!(own(infrastructure).len(), 9);
    let hosts = registry::profile("hosts").expect("a built-in profile");
    assert_eq!(own(hosts).len(), 4);
    assert!(
        own(hosts)
            .iter()
            .all(|name| name.starts_with("ssh.") || name.starts_with("proxmox."))
    );
    for profile in PROFILES {
        let always_on = ALWAYS_ON.iter().all(|name| profile.tools.contains(name));
        assert!(always_on, "{}", profile.name);
    }
    assert_eq!(registry::profile("host"), None);
}

#[test]
fn every_path_and_message_of_the_registry_is_in_the_descriptors() {
    let tools = TOOLS
        .iter()
        .map(|tool| (tool.grpc_path, tool.input_message, tool.output_message));
    let routes = ROUTES
        .iter()
        .map(|route| (route.grpc_path, route.input_message, route.output_message));
    for (path, input, output) in tools.chain(routes) {
        let (service, rpc) = path[1..].split_once('/').expect("a path of service and rpc");
        let service = pool().get_service_by_name(service).expect("the service is there");
        let method = service
            .methods()
            .find(|method| method.name() == rpc)
            .expect("the rpc is there");
        assert_eq!(
            (method.input().full_name(), method.output().full_name()),
            (input, output)
        );
    }
}

/// The contract emitted anew from the files, as the build script does.
fn from_files() -> emitter::Contract {
    let root = source::proto();
    let mut compiler = protox::Compiler::new([&root]).expect("the proto folder is there");
    compiler.include_imports(true).include_source_info(true);
    for folder in ["toolgate/tools/v1", "toolgate/v1"] {
        let mut files: Vec<_> = fs::read_dir(root.join(folder))
            .expect("the folder is there")
            .map(|entry| entry.expect("the folder can be read").path())
            .collect();
        files.sort();
        compiler.open_files(files).expect("the proto files compile");
    }
    emitter::emit(&compiler.descriptor_pool()).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}
