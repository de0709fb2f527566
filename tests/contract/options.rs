//! The build script reads options with messages of its own; they must mean the same as the contract's.

use prost::Message as _;
use toolgate_contract::v1;

use super::emitter::options::{
    ProfileOption, ProfilesOption, RestOption, RulesOption, TargetOption, ToolOption,
};

#[test]
fn the_build_script_reads_every_option_the_contract_has() {
    let tool = v1::Tool {
        name: "a".into(),
        title: "b".into(),
        adapter: "c".into(),
        effect: v1::Effect::Local.into(),
        freshness: v1::Freshness::Inventory.into(),
        group: v1::Group::Chat.into(),
        http: None,
    };
    let patterns = [
        v1::http_binding::Pattern::Get("d".into()),
        v1::http_binding::Pattern::Post("e".into()),
        v1::http_binding::Pattern::Patch("f".into()),
        v1::http_binding::Pattern::Delete("g".into()),
    ];
    for pattern in patterns {
        let bound = v1::Tool {
            http: Some(v1::HttpBinding {
                pattern: Some(pattern),
                body: "h".into(),
                constants: [("i".into(), "j".into())].into(),
                alternative: Some(v1::Alternative {
                    discriminator: "k".into(),
                    form: v1::Form::Integer.into(),
                    path: "l".into(),
                    query: vec!["m".into(), "n".into()],
                }),
            }),
            ..tool.clone()
        };
        let read = ToolOption::decode(bound.encode_to_vec().as_slice()).expect("the same message");
        assert_eq!(read.encode_to_vec(), bound.encode_to_vec());
    }

    let rest = v1::Rest {
        verb: "a".into(),
        path: "b".into(),
        body: "c".into(),
        success: 204,
        frozen: true,
        download: "d".into(),
        public: true,
    };
    let read = RestOption::decode(rest.encode_to_vec().as_slice()).expect("the same message");
    assert_eq!(read.encode_to_vec(), rest.encode_to_vec());

    let rules = v1::Rules {
        r#in: vec!["a".into(), "b".into()],
        required: true,
        min: Some(0),
        max: Some(-1),
        min_length: Some(0),
        max_length: Some(2),
        pattern: "c".into(),
        default_json: "d".into(),
        example_json: "e".into(),
        not_blank: true,
        json_type: "f".into(),
        wire: "g".into(),
        default_from: v1::Context::Task.into(),
        name: "h".into(),
        title: "i".into(),
        secret: true,
        format: "j".into(),
        media_type: "k".into(),
        max_items: Some(0),
        flatten: true,
        way: "l".into(),
    };
    let read = RulesOption::decode(rules.encode_to_vec().as_slice()).expect("the same message");
    assert_eq!(read.encode_to_vec(), rules.encode_to_vec());

    let profile = v1::ProfileSet {
        name: "a".into(),
        adapters: vec!["b".into()],
        tools: vec!["c".into()],
        groups: vec![v1::Group::Chat.into(), v1::Group::Memory.into()],
        task_kinds: vec!["d".into()],
        projects: false,
    };
    let read = ProfileOption::decode(profile.encode_to_vec().as_slice()).expect("the same message");
    assert_eq!(read.encode_to_vec(), profile.encode_to_vec());

    let profiles = v1::ProfileSets {
        always_on: vec!["a".into(), "b".into()],
    };
    let read = ProfilesOption::decode(profiles.encode_to_vec().as_slice()).expect("the same message");
    assert_eq!(read.encode_to_vec(), profiles.encode_to_vec());

    let target = v1::TargetForm {
        r#type: "a".into(),
        title: "b".into(),
        relay: true,
    };
    let read = TargetOption::decode(target.encode_to_vec().as_slice()).expect("the same message");
    assert_eq!(read.encode_to_vec(), target.encode_to_vec());
}
