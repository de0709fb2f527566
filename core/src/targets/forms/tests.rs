//! The forms hold what the readers of settings hold: whatever a reader takes passes the schema, so what the schema refuses
//! the reader refuses. Keys are spelt as they are stored; the readers take `snake_case` and `null` besides.

use jsonschema::Validator;
use proptest::{prelude::*, sample::select};
use serde_json::Map;

use super::*;
use crate::{
    adapters::Kind,
    error::Error,
    targets::{given, relayed},
};

const PEM: &str = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
const PRINT: &str = "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899";

type Read = fn(&TargetTypeDef, &Value) -> Result<(), Error>;

fn def(name: &str) -> &'static TargetTypeDef {
    TARGET_TYPES.iter().find(|def| def.name == name).unwrap()
}

fn schema(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn validator(text: &str) -> Validator {
    jsonschema::draft202012::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(&schema(text))
        .unwrap()
}

/// What stands in the store where the reader takes it.
fn read_config(def: &TargetTypeDef, given: &Value) -> Result<Value, Error> {
    let bytes = given.to_string().into_bytes();
    match Kind::of(def.name) {
        Some(kind) => given::settings(kind, &bytes, Defaults { local: true }),
        None => relayed::settings(def.name, &bytes, "a-name"),
    }
}

fn read_credential(def: &TargetTypeDef, given: &Value) -> Result<(), Error> {
    let bytes = given.to_string().into_bytes();
    match Kind::of(def.name) {
        Some(kind) => given::credential(kind, &bytes, |_| true).map(drop),
        None => crate::targets::config::refuse_credential(def.name, &bytes),
    }
}

/// An object of these examples of a schema, with one property of each way at most.
fn examples(schema: &Value, keys: &[String]) -> Value {
    let example = |key: &String| {
        let property = &schema["properties"][key];
        let value = [
            &property["examples"][0],
            &property["default"],
            &property["enum"][0],
        ];
        let value = value.into_iter().find(|value| !value.is_null());
        (key.clone(), value.cloned().unwrap_or_else(|| json!(true)))
    };
    Value::Object(keys.iter().map(example).collect())
}

fn names(list: &Value) -> Vec<String> {
    serde_json::from_value(list.clone()).unwrap_or_default()
}

/// The least that the form wants: of a credential by each of its ways.
fn least(schema: &Value) -> Vec<Value> {
    match schema.get("oneOf").and_then(Value::as_array) {
        Some(ways) => ways
            .iter()
            .map(|way| examples(schema, &names(&way["required"])))
            .collect(),
        None => vec![examples(schema, &names(&schema["required"]))],
    }
}

#[test]
fn every_type_that_can_be_added_has_a_form() {
    let mut forms: Vec<_> = TARGET_TYPES.iter().map(|def| def.name).collect();
    let mut addable = registry::ADDABLE.to_vec();
    forms.sort_unstable();
    addable.sort_unstable();
    assert_eq!(forms, addable);
    for def in TARGET_TYPES {
        assert_eq!(def.relay, Kind::of(def.name).is_none(), "{}", def.name);
        for text in [def.name_schema, def.config_schema, def.credential_schema] {
            assert!(
                jsonschema::draft202012::meta::is_valid(&schema(text)),
                "{}",
                def.name
            );
        }
    }
}

#[test]
fn every_field_has_a_title_and_a_help_text_and_every_secret_is_only_written() {
    for def in TARGET_TYPES {
        for text in [def.config_schema, def.credential_schema] {
            for (key, property) in schema(text)["properties"].as_object().unwrap() {
                for word in ["title", "description"] {
                    assert!(
                        property[word].as_str().is_some_and(|text| !text.is_empty()),
                        "{key}"
                    );
                }
                let is_secret = ["token", "tokenSecret", "clientSecret"].contains(&key.as_str());
                assert_eq!(property["writeOnly"] == true, is_secret, "{} {key}", def.name);
            }
        }
    }
}

#[test]
fn what_the_form_wants_at_least_is_taken_and_its_examples_are() {
    for def in TARGET_TYPES {
        let config = schema(def.config_schema);
        for given in least(&config) {
            assert!(
                validator(def.config_schema).is_valid(&given),
                "{} {given}",
                def.name
            );
            read_config(def, &given).unwrap_or_else(|error| panic!("{} {given}: {error}", def.name));
        }
        let required = names(&config["required"]);
        for key in config["properties"].as_object().unwrap().keys() {
            // Asked for with tokens alone, and of no example there is a certificate.
            let beside = match key.as_str() {
                "scope" => Some("issuer".to_owned()),
                "caCertificate" => continue,
                _ => None,
            };
            let mut keys = required.clone();
            keys.extend(beside.into_iter().chain([key.clone()]));
            let given = examples(&config, &keys);
            read_config(def, &given).unwrap_or_else(|error| panic!("{} {given}: {error}", def.name));
        }
        for given in least(&schema(def.credential_schema)) {
            assert!(
                validator(def.credential_schema).is_valid(&given),
                "{} {given}",
                def.name
            );
            read_credential(def, &given).unwrap_or_else(|error| panic!("{} {given}: {error}", def.name));
        }
    }
}

#[test]
fn what_a_form_says_applies_where_nothing_is_said_is_what_is_stored() {
    for def in TARGET_TYPES {
        let form = schema(&with_defaults(def.config_schema, Defaults { local: true }));
        let given = &least(&form)[0];
        let stored = read_config(def, given).unwrap();
        for (key, property) in form["properties"].as_object().unwrap() {
            match property.get("default") {
                Some(default) => assert_eq!(&stored[key], default, "{} {key}", def.name),
                None => assert_eq!(stored.get(key), given.get(key), "{} {key}", def.name),
            }
        }
        // And it can be given again as it was stored.
        assert!(
            validator(def.config_schema).is_valid(&stored),
            "{} {stored}",
            def.name
        );
        assert_eq!(read_config(def, &stored).unwrap(), stored);
    }
}

#[test]
fn both_refuse_what_is_missing_unknown_or_of_another_type() {
    for def in TARGET_TYPES {
        let parts: [(&str, Read); 2] = [
            (def.config_schema, |def, given| read_config(def, given).map(drop)),
            (def.credential_schema, read_credential),
        ];
        for (text, read) in parts {
            let (form, validator) = (schema(text), validator(text));
            let refused = |given: &Value| {
                assert!(!validator.is_valid(given), "{} {given}", def.name);
                assert!(read(def, given).is_err(), "{} {given}", def.name);
            };
            for least in least(&form) {
                let mut more = least.clone();
                more["surplus"] = json!(1);
                refused(&more);
                for key in least.as_object().unwrap().keys() {
                    let mut lacking = least.clone();
                    lacking.as_object_mut().unwrap().remove(key);
                    refused(&lacking);
                }
            }
            let required = names(&form["required"]);
            for key in form["properties"].as_object().unwrap().keys() {
                for wrong in [json!({}), json!([5]), json!(-1), json!("")] {
                    let mut given = examples(&form, &required);
                    given[key] = wrong;
                    refused(&given);
                }
            }
        }
    }
}

#[test]
fn names_are_those_of_the_form() {
    for def in TARGET_TYPES {
        let form = validator(def.name_schema);
        for name in [
            "",
            "a",
            "web-1",
            "Web 1",
            "größe",
            "-a",
            &"a".repeat(40),
            &"a".repeat(41),
            &"a".repeat(65),
        ] {
            if relayed::check_name(def.name, name).is_ok() {
                assert!(form.is_valid(&json!(name)), "{} {name}", def.name);
            }
        }
        assert!(!form.is_valid(&json!("a".repeat(65))) && !form.is_valid(&json!("")));
    }
}

#[test]
fn a_way_that_this_gateway_does_not_have_is_not_offered() {
    let form = schema(&without_references(def("proxmox").credential_schema));
    assert_eq!(form["required"], json!(["tokenId", "tokenSecret"]));
    assert!(form.get("oneOf").is_none() && form["properties"].get("secretRef").is_none());
    let form = schema(&without_references(def("agent-chat").credential_schema));
    let ways: Vec<_> = form["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| &way["required"])
        .collect();
    assert_eq!(ways, [&json!(["token"]), &json!(["clientId", "clientSecret"])]);
    let none = schema(&without_references(def("ssh").credential_schema));
    assert_eq!(none["properties"], json!({}));
}

#[test]
fn tools_stand_with_the_type_that_serves_them() {
    let tools = |name| target_type(def(name), Defaults::default(), true).tools;
    assert_eq!(tools("github").len(), 3);
    assert!(tools("github").iter().all(|tool| tool.starts_with("github.")));
    assert!(tools("agent-memory").len() > 5 && tools("project").is_empty());
}

/// Values near those that are taken, and some that are not.
fn values() -> impl Strategy<Value = Value> {
    let texts = [
        "a",
        "web-1.example",
        "größe.example",
        "fe80::1",
        "[::1]",
        "[fe80::1%eth0]",
        "a b",
        "a/b",
        "x@y",
        "",
        "0",
        "*",
        "https://git.example",
        "HTTPS://git.example/forge",
        "http://127.0.0.1:3000/api/v1/",
        "https://a.example:99999",
        "https://me:pw@git.example",
        "https://git.example/a@b",
        "https://git.example?x=1",
        "ftp://git.example",
        "https://",
        "https://git.example/a b",
        "https://git.example/%41",
        "https://ä.example",
        "https://[::1]:8006/x",
        "read_only",
        "read_write",
        "record",
        "block",
        "audit@pve!toolgate",
        "a@b@pve!tok",
        "a!b@pve!t_1",
        "x@p!t",
        "audit@pve!toolgate=s",
        "github_pat_a",
        "github_pat_",
        "ghp_a",
        "github_pat_a-b",
        "01234567-89ab",
        "a=b",
        "a;b",
        "a%b",
        "é",
        "a\tb",
        "a\nb",
        "vault:a/b#3",
        "vault:a#0",
        "vault:a#x",
        "vault:a#+3",
        "aws:a",
        "aws:",
        "local:a",
        "vault:../a",
        "10.0.0.5",
        "10.0.0.0/8",
        "fd00::/8",
        "8.8.8.8/32",
        "10.0.0.5/99",
        PRINT,
        PEM,
        "get_pipeline_status",
        "-----BEGIN PRIVATE KEY-----",
    ];
    let text = select(texts.to_vec()).prop_map(Value::from);
    let long = (1_usize..4).prop_map(|n| Value::from("a".repeat(n * 150)));
    let number = select(vec![-1_i64, 0, 1, 22, 60, 3_600, 3_601, 65_535, 65_536]).prop_map(Value::from);
    let leaf = prop_oneof![6 => text, 1 => long, 2 => number, 2 => any::<bool>().prop_map(Value::from), 1 => Just(json!(1.5))];
    let list = prop::collection::vec(leaf.clone(), 0..3).prop_map(Value::from);
    prop_oneof![6 => leaf, 1 => list, 1 => Just(json!({}))]
}

/// Objects of a form's own keys, begun from what it wants at least.
fn objects(text: &'static str) -> impl Strategy<Value = Value> {
    let form = schema(text);
    let mut keys: Vec<String> = form["properties"].as_object().unwrap().keys().cloned().collect();
    keys.push("surplus".into());
    let changes = prop::collection::vec((select(keys), values()), 0..3);
    (select(least(&form)), changes).prop_map(|(mut given, changes)| {
        let object: &mut Map<String, Value> = given.as_object_mut().unwrap();
        object.extend(changes);
        given
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_a_reader_takes_passes_the_form(
        (def, config, credential) in select(TARGET_TYPES.to_vec())
            .prop_flat_map(|def| (Just(def), objects(def.config_schema), objects(def.credential_schema))),
    ) {
        // Keys that hold white space around what counts are trimmed; the form sees what is stored.
        if read_config(&def, &config).is_ok() {
            prop_assert!(validator(def.config_schema).is_valid(&config), "{} {config}", def.name);
        }
        if read_credential(&def, &credential).is_ok() {
            prop_assert!(validator(def.credential_schema).is_valid(&credential), "{} {credential}", def.name);
        }
    }
}
