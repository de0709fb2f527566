use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{
    Config, Environment, Given, Problems, Reader, document,
    key::{Key, Kind},
    keys::{KEYS, find},
    load::{Loaded, Origin, load},
    schema, show,
};
use crate::golden;

/// A value of the kind that is not the default, as flags and variables spell it.
fn sample(key: &Key) -> String {
    match key.kind {
        Kind::Address | Kind::OptionalAddress => format!("127.0.0.2:{}", 1000 + key.name.len()),
        Kind::Path => "./elsewhere".into(),
        Kind::Switch => (key.default != "true").to_string(),
        Kind::Number { max, .. } => (max - 1).to_string(),
        Kind::Choice(words) => words
            .iter()
            .find(|word| **word != key.default)
            .unwrap()
            .to_string(),
        Kind::Url | Kind::Endpoint => "https://example.org:1".into(),
        Kind::Hosts => "a.example.org,b.example.org:443".into(),
        Kind::Roles => "ops-team=admin,auditors=auditor".into(),
        Kind::Text { .. } => "a name".into(),
        Kind::Database => "postgres://app@db.example.org:5432/gate".into(),
    }
}

/// A second one, different from the first.
fn other(key: &Key) -> String {
    match key.kind {
        Kind::Address | Kind::OptionalAddress => "127.0.0.3:5".into(),
        Kind::Path => "./third".into(),
        Kind::Switch => key.default.into(),
        Kind::Number { min, .. } => min.to_string(),
        Kind::Choice(_) => key.default.into(),
        Kind::Url | Kind::Endpoint => "http://other.example.org".into(),
        Kind::Hosts => "c.example.org".into(),
        Kind::Roles => "dev=engineer".into(),
        Kind::Text { .. } => "another".into(),
        Kind::Database => "postgres://other@db.example.org:5432/gate".into(),
    }
}

fn toml_value(key: &Key, text: &str) -> String {
    match key.kind {
        Kind::Switch | Kind::Number { .. } => text.into(),
        Kind::Hosts | Kind::Roles => format!("{:?}", text.split(',').collect::<Vec<_>>()),
        _ => format!("{text:?}"),
    }
}

struct World {
    dir: tempfile::TempDir,
    given: Given,
}

impl World {
    fn new(file: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("toolgate.toml");
        fs::write(&path, file).unwrap();
        Self {
            dir,
            given: Given {
                file: Some(path),
                flags: Vec::new(),
            },
        }
    }

    fn flag(mut self, name: &str, text: &str) -> Self {
        self.given.flags.push((find(name).unwrap(), text.into()));
        self
    }

    fn load(&self, environment: &Environment) -> Result<Loaded, Problems> {
        load(&self.given, environment, Reader::Show)
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.dir.path().join("toolgate.toml").display())
    }

    /// Every fault as `place: text`, the directory left out.
    fn faults(&self, environment: &Environment, reader: Reader) -> Vec<String> {
        let problems = load(&self.given, environment, reader).unwrap_err();
        let dir = format!("{}/", self.dir.path().display());
        problems
            .0
            .iter()
            .map(|fault| format!("{}: {}", fault.place, fault.text).replace(&dir, ""))
            .collect()
    }
}

fn value<'a>(loaded: &'a Loaded, name: &str) -> (&'a str, &'a Origin) {
    let (_, text, origin) = loaded.values.iter().find(|(key, ..)| key.name == name).unwrap();
    (text, origin)
}

#[test]
fn every_default_fits_its_key() {
    for key in KEYS {
        key.kind
            .read_text(key.default)
            .unwrap_or_else(|wrong| panic!("{}: {wrong}", key.name));
    }
}

#[test]
fn every_key_is_read_from_file_environment_and_flag_and_the_stronger_wins() {
    for key in KEYS {
        let (weak, strong) = (sample(key), other(key));
        let (table, name) = key
            .name
            .rsplit_once('.')
            .map_or((None, key.name), |(t, n)| (Some(t), n));
        let head = table.map_or_else(String::new, |table| format!("[{table}]\n"));
        let file = format!("{head}{name} = {}\n", toml_value(key, &weak));
        // A certificate without its key, and the reverse, are faults of the whole; not the matter here.
        let world = match key.name {
            "tls.cert" => World::new(&file).flag("tls.key", "k"),
            "tls.key" => World::new(&file).flag("tls.cert", "c"),
            _ => World::new(&file),
        };

        let from_file = world.load(&Environment::default()).unwrap();
        let line = file.lines().count();
        assert_eq!(
            value(&from_file, key.name),
            (weak.as_str(), &Origin::File(world.place(line))),
            "{}",
            key.name
        );

        let environment = Environment::of([(&key.variable(), &strong)]);
        let from_environment = world.load(&environment).unwrap();
        let origin = Origin::Environment(key.variable());
        assert_eq!(
            value(&from_environment, key.name),
            (strong.as_str(), &origin),
            "{}",
            key.name
        );

        let world = world.flag(key.name, &weak);
        let from_flag = world.load(&environment).unwrap();
        let origin = Origin::Flag(format!("--{}", key.flag()));
        assert_eq!(
            value(&from_flag, key.name),
            (weak.as_str(), &origin),
            "{}",
            key.name
        );

        // The typed configuration follows each of them, so every key has a field and no two share one.
        assert_ne!(from_file.config, from_environment.config, "{}", key.name);
        assert_eq!(from_file.config, from_flag.config, "{}", key.name);
    }
}

#[test]
fn spellings_follow_from_the_key() {
    let key = find("limits.user_per_minute").unwrap();
    assert_eq!(key.variable(), "TOOLGATE_LIMITS_USER_PER_MINUTE");
    assert_eq!(key.flag(), "limits-user-per-minute");
}

#[test]
fn nothing_given_is_the_documented_default() {
    let Config {
        data_dir,
        http,
        grpc,
        limits,
        ..
    } = World::new("").load(&Environment::default()).unwrap().config;
    assert_eq!(data_dir, PathBuf::from("./toolgate-data"));
    assert_eq!(
        (http.to_string(), grpc.to_string()),
        ("127.0.0.1:7600".into(), "127.0.0.1:7601".into())
    );
    assert_eq!((limits.user_per_minute, limits.tenant_per_minute), (60, 300));
}

#[test]
fn all_faults_are_told_at_once_each_with_its_place() {
    let file = "\
http = \"localhost\"
[limits]
user_per_minut = 5
tenant_per_minute = 0
[limit]
user_per_minute = 5
[log]
level = \"loud\"
[relay]
built_in = \"true\"
name = 3.5
";
    let environment = Environment::of([
        ("TOOLGATE_HTP", "x"),
        ("TOOLGATE_GRPC", "7601"),
        ("TOOLGATE_TOKEN", "t"),
    ]);
    let faults = World::new(file)
        .flag("limits.user_per_minute", "-1")
        .faults(&environment, Reader::Up);
    let mut expected = [
        "TOOLGATE_HTP: unknown variable; did you mean `TOOLGATE_HTTP`?",
        "toolgate.toml:1: `http`: expected an IP address and port such as 127.0.0.1:7600, got `localhost`",
        "toolgate.toml:3: unknown key `limits.user_per_minut`; did you mean `limits.user_per_minute`?",
        "toolgate.toml:4: `limits.tenant_per_minute`: expected a whole number from 1 to 1000000000, got `0`",
        "toolgate.toml:6: unknown key `limit.user_per_minute`; did you mean `limits.user_per_minute`?",
        "toolgate.toml:8: `log.level`: expected one of off, error, warn, info, debug, trace, got `loud`",
        "toolgate.toml:10: `relay.built_in`: expected true or false, got `true` (without quotes)",
        "toolgate.toml:11: `relay.name`: expected a text of at most 64 bytes without control characters, \
         got a TOML float",
        "TOOLGATE_GRPC: `grpc`: expected an IP address and port such as 127.0.0.1:7600, got `7601`",
        "--limits-user-per-minute: `limits.user_per_minute`: expected a whole number from 1 to 1000000000, got `-1`",
    ];
    let mut faults: Vec<&str> = faults.iter().map(String::as_str).collect();
    faults.sort_unstable();
    expected.sort_unstable();
    assert_eq!(faults, expected);
}

#[test]
fn checkpoints_go_over_https_or_to_loopback_and_a_token_wants_a_webhook() {
    let faults = |file: &str| World::new(file).faults(&Environment::default(), Reader::Up);
    let check = |file: &str, expected: &str| {
        let faults = faults(file);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
    };
    check(
        "[checkpoint]\nwebhook = \"http://siem.example/in\"\n",
        "https:// only",
    );
    check(
        "[checkpoint]\nwebhook_token_file = \"/etc/hostname\"\n",
        "needs `checkpoint.webhook`",
    );
    check("[checkpoint]\ninterval = 0\n", "from 1 to 3600");
    for fits in ["https://siem.example/in", "http://127.0.0.1:9/in"] {
        let file = format!("[checkpoint]\nwebhook = \"{fits}\"\n");
        assert!(World::new(&file).load(&Environment::default()).is_ok(), "{fits}");
    }
}

#[test]
fn an_issuer_wants_an_audience_one_source_of_keys_and_tls() {
    const WHOLE: &str = "issuer = \"https://issuer.example/\"\naudience = \"gate\"\njwks_url = \"https://issuer.example/keys\"\n";
    let check = |table: &str, reader: Reader, expected: &[&str]| {
        let world = World::new(&format!("[jwt]\n{table}"));
        let faults = match load(&world.given, &Environment::default(), reader) {
            Ok(_) => Vec::new(),
            Err(_) => world.faults(&Environment::default(), reader),
        };
        assert_eq!(faults.len(), expected.len(), "{table}: {faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{table}: {faults:?}");
        }
    };
    let without = |key: &str| -> String {
        let kept = WHOLE.lines().filter(|line| !line.starts_with(key));
        kept.map(|line| format!("{line}\n")).collect()
    };
    check(WHOLE, Reader::Up, &[]);
    check(
        &without("audience"),
        Reader::Core,
        &["jwt.audience: must be given"],
    );
    check(
        &without("jwks_url"),
        Reader::Up,
        &["jwt.jwks_url: or `jwt.jwks_file`"],
    );
    check(
        &without("issuer"),
        Reader::Up,
        &[
            "jwt.audience: needs `jwt.issuer`",
            "jwt.jwks_url: needs `jwt.issuer`",
        ],
    );
    check(
        &format!("{WHOLE}jwks_file = \"/etc/hostname\"\n"),
        Reader::Up,
        &["jwt.jwks_file: `jwt.jwks_url` is given"],
    );
    let of_file = |path: &str| format!("{}jwks_file = \"{path}\"\n", without("jwks_url"));
    check(&of_file("/etc/hostname"), Reader::Up, &[]);
    check(
        &of_file("/nowhere/keys"),
        Reader::Up,
        &["jwt.jwks_file: /nowhere/keys cannot be read"],
    );
    check(
        &WHOLE.replace("https://issuer.example/keys", "http://issuer.example/keys"),
        Reader::Up,
        &["jwt.jwks_url: must begin with https://"],
    );
    check(
        &WHOLE.replace("https://issuer.example/keys", "http://127.0.0.1:9/keys"),
        Reader::Up,
        &[],
    );
    check(
        &WHOLE.replace("https://issuer.example/keys", "https://169.254.169.254/keys"),
        Reader::Up,
        &["jwt.jwks_url: must begin"],
    );
    check(
        &WHOLE.replace("https://issuer.example/\"", "http://issuer.example/\""),
        Reader::Facade,
        &["jwt.issuer: must begin"],
    );
    check(
        &format!("{WHOLE}tenant = \"mine\"\n"),
        Reader::Core,
        &["jwt.tenant: is no id"],
    );
    check(
        &format!("{WHOLE}default_role = \"admin\"\n"),
        Reader::Up,
        &["`jwt.default_role`: expected one of"],
    );
    check(
        &format!("{WHOLE}role_claim = \"\"\n"),
        Reader::Up,
        &["jwt.role_claim: must not be empty"],
    );
    // A facade alone reads no keys.
    check("issuer = \"https://issuer.example/\"\n", Reader::Facade, &[]);
}

#[test]
fn a_provider_of_sign_ins_wants_a_client_an_address_to_come_back_to_and_roles_of_ours() {
    const WHOLE: &str = "issuer = \"https://id.example/\"\nclient_id = \"gate\"\n";
    let check = |front: &str, table: &str, reader: Reader, expected: &[&str]| {
        let world = World::new(&format!("{front}\n[oidc]\n{table}"));
        let faults = match load(&world.given, &Environment::default(), reader) {
            Ok(_) => Vec::new(),
            Err(_) => world.faults(&Environment::default(), reader),
        };
        assert_eq!(faults.len(), expected.len(), "{table}: {faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{table}: {faults:?}");
        }
    };
    let with = |line: &str| format!("{WHOLE}{line}\n");
    check("", WHOLE, Reader::Up, &[]);
    check(
        "",
        "issuer = \"https://id.example\"\n",
        Reader::Up,
        &["oidc.client_id: must be given"],
    );
    check(
        "",
        "client_id = \"gate\"\n",
        Reader::Up,
        &["oidc.client_id: needs `oidc.issuer`"],
    );
    let insecure = WHOLE.replace("https", "http");
    check(
        "",
        &insecure,
        Reader::Up,
        &["oidc.issuer: must begin with https://"],
    );
    let rules = r#"roles = ["CN=ops,DC=example=admin", "audit=auditor"]"#;
    check("", &with(rules), Reader::Up, &[]);
    check(
        "",
        &with(r#"roles = ["ops=root"]"#),
        Reader::Up,
        &["`oidc.roles`: expected values and roles"],
    );
    check(
        "",
        &with("roles = \"ops=admin\""),
        Reader::Up,
        &["`oidc.roles`: expected values and roles"],
    );
    check(
        "",
        &with("role_claim = \"\""),
        Reader::Up,
        &["oidc.role_claim: must not be empty"],
    );
    check(
        "",
        &with("tenant = \"mine\""),
        Reader::Up,
        &["oidc.tenant: is no id"],
    );
    check(
        "",
        &with("default_role = \"admin\""),
        Reader::Up,
        &["`oidc.default_role`: expected one of"],
    );
    check(
        "",
        &with("client_secret_file = \"/nowhere/secret\""),
        Reader::Up,
        &["oidc.client_secret_file: /nowhere/secret cannot be read"],
    );
    // What a browser elsewhere comes back to cannot be guessed.
    let public = "public_url = \"https://gate.example\"";
    check("", WHOLE, Reader::Core, &["oidc.issuer: needs `public_url`"]);
    check(public, WHOLE, Reader::Core, &[]);
    check(
        "behind_proxy = true",
        WHOLE,
        Reader::Up,
        &["oidc.issuer: needs `public_url`"],
    );
    check(&format!("behind_proxy = true\n{public}"), WHOLE, Reader::Up, &[]);
    check("", WHOLE, Reader::Facade, &[]);
}

#[test]
fn a_file_that_is_no_toml_names_the_line() {
    let check = |file: &str, line: usize| {
        let world = World::new(file);
        let faults = world.faults(&Environment::default(), Reader::Up);
        assert!(
            faults[0].starts_with(&format!("toolgate.toml:{line}: ")),
            "{faults:?}"
        );
    };
    check("http = \n", 1);
    check("\n\n[limits\n", 3);
    check("behind_proxy = true\nbehind_proxy = false\n", 2);
}

#[test]
fn a_file_that_was_named_must_be_there() {
    let given = Given {
        file: Some("/nonexistent/toolgate.toml".into()),
        flags: Vec::new(),
    };
    let problems = load(&given, &Environment::default(), Reader::Up).unwrap_err();
    assert_eq!(problems.0[0].place, "/nonexistent/toolgate.toml");
}

#[test]
fn the_file_is_looked_for_in_the_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("toolgate.toml"),
        "[limits]\nuser_per_minute = 7\n",
    )
    .unwrap();
    let data_dir = dir.path().display().to_string();
    let given = Given {
        file: None,
        flags: vec![(find("data_dir").unwrap(), data_dir.clone())],
    };
    assert_eq!(
        load(&given, &Environment::default(), Reader::Up)
            .unwrap()
            .config
            .limits
            .user_per_minute,
        7
    );

    let environment = Environment::of([("TOOLGATE_DATA_DIR", &data_dir)]);
    assert_eq!(
        load(&Given::default(), &environment, Reader::Up)
            .unwrap()
            .config
            .limits
            .user_per_minute,
        7
    );
}

#[test]
fn listening_beyond_loopback_wants_tls_or_a_proxy() {
    let faults = |file: &str| World::new(file).faults(&Environment::default(), Reader::Up);
    assert!(faults("http = \"0.0.0.0:7600\"")[0].contains("--tls-cert"));
    assert!(faults("grpc = \"[::]:7601\"")[0].contains("--behind-proxy"));
    let open = "http = \"0.0.0.0:7600\"\ngrpc = \"0.0.0.0:7601\"\nbehind_proxy = true";
    assert!(load(&World::new(open).given, &Environment::default(), Reader::Up).is_ok());
}

#[test]
fn settings_that_need_each_other_are_checked_together() {
    let check = |file: &str, expected: &[&str]| {
        assert_eq!(
            World::new(file).faults(&Environment::default(), Reader::Up),
            expected
        );
    };
    check("tls.cert = \"/c\"", &["tls.cert: needs `tls.key` as well"]);
    check("tls.key = \"/k\"", &["tls.key: needs `tls.cert` as well"]);
    check(
        "http = \"127.0.0.1:5\"\ngrpc = \"127.0.0.1:5\"",
        &["grpc: `http` is 127.0.0.1:5 as well; give each a port of its own"],
    );
    check(
        "tls.cert = \"/nonexistent/c\"\ntls.key = \"/nonexistent/k\"",
        &[
            "tls.cert: /nonexistent/c cannot be read: No such file or directory (os error 2)",
            "tls.key: /nonexistent/k cannot be read: No such file or directory (os error 2)",
        ],
    );
}

#[test]
fn an_empty_data_directory_is_refused() {
    let faults = World::new("data_dir = \"\"").faults(&Environment::default(), Reader::Up);
    assert_eq!(faults, ["toolgate.toml:1: `data_dir` must not be empty"]);
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let environment = Environment::of([("TOOLGATE_HTTP", "")]);
    let loaded = World::new("").load(&environment).unwrap();
    assert_eq!(value(&loaded, "http").1, &Origin::Default);
}

#[test]
fn credentials_are_not_shown_by_debug() {
    let environment = Environment::of([("TOOLGATE_TOKEN", "tgk_secret")]);
    assert!(!format!("{environment:?}").contains("secret"));
    assert_eq!(environment.token().unwrap().as_str(), "tgk_secret");
}

#[test]
fn urls_with_credentials_or_queries_are_refused() {
    let check = |url: &str, ok: bool| assert_eq!(Kind::Url.read_text(url).is_ok(), ok, "{url}");
    check("http://127.0.0.1:7600", true);
    check("https://gate.example.org/base/", true);
    check("", true);
    check("ftp://example.org", false);
    check("gate.example.org", false);
    check("http://user:secret@example.org", false);
    check("http://example.org?x=1", false);
    check("http://", false);
}

#[test]
fn the_schema_knows_every_key_and_nothing_else() {
    let schema = schema::schema();
    for key in KEYS {
        let property = key
            .name
            .split('.')
            .fold(&schema, |node, name| &node["properties"][name]);
        assert_eq!(property["description"], key.doc, "{}", key.name);
        assert_ne!(property["default"], Value::Null, "{}", key.name);
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["limits"]["additionalProperties"], false);
}

#[test]
fn the_page_about_settings_is_what_is_committed() {
    golden::check("docs/configuration.md", &document::document());
}

#[test]
fn the_schema_is_what_is_committed() {
    let text = serde_json::to_string_pretty(&schema::schema()).unwrap();
    golden::check("cli/golden/config.schema.json", &format!("{text}\n"));
}

#[test]
fn a_variable_is_near_to_another_by_what_follows_the_prefix() {
    let check = |name: &str, expected: &str| {
        let problems = Environment::of([(name, "x")]).problems();
        assert_eq!(problems[0].text, expected, "{name}");
    };
    check("TOOLGATE_FOO", "unknown variable");
    check("TOOLGATE_HTP", "unknown variable; did you mean `TOOLGATE_HTTP`?");
    check("TOOLGATE_", "unknown variable");
}

#[test]
fn an_unknown_table_names_the_nearest_known_one() {
    let check = |file: &str, expected: &str| {
        assert_eq!(
            World::new(file).faults(&Environment::default(), Reader::Up),
            [expected]
        );
    };
    check(
        "[limit]",
        "toolgate.toml:1: unknown key `limit`; did you mean the table `[limits]`?",
    );
    check(
        "[limit]\nx = 1",
        "toolgate.toml:2: unknown key `limit.x`; did you mean the table `[limits]`?",
    );
    check("[limits]\nx = 1", "toolgate.toml:2: unknown key `limits.x`");
    check("[zebra]\nx = 1", "toolgate.toml:2: unknown key `zebra.x`");
}

#[test]
fn localhost_is_an_address_and_other_names_are_none() {
    let check = |text: &str, expected: Option<&str>| {
        let read = Kind::Address.read_text(text).ok();
        assert_eq!(
            read,
            expected.map(|text| super::key::Value::Address(text.parse().unwrap())),
            "{text}"
        );
    };
    check("localhost:17610", Some("127.0.0.1:17610"));
    check("127.0.0.1:1", Some("127.0.0.1:1"));
    check("localhost", None);
    check("localhost:http", None);
    check("example.org:1", None);
}

#[test]
fn settings_for_programs_have_the_types_of_the_file() {
    let file = "allowed_hosts = [\"a.example.org\", \"b.example.org:1\"]\n[limits]\nuser_per_minute = 7\n";
    let shown = show::json(&World::new(file).load(&Environment::default()).unwrap());
    let check = |key: &str, expected: Value| {
        let settings = shown["settings"].as_array().unwrap();
        let found = settings.iter().find(|setting| setting["key"] == key).unwrap();
        assert_eq!(found["value"], expected, "{key}");
    };
    check("limits.user_per_minute", Value::from(7));
    check("behind_proxy", Value::from(false));
    check("http", Value::from("127.0.0.1:7600"));
    check(
        "allowed_hosts",
        Value::from(vec!["a.example.org", "b.example.org:1"]),
    );
    check("public_url", Value::from(""));
}
