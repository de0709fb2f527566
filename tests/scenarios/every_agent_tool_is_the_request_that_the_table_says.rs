//! Gate B10. For every tool of the table: what is published, the one request it becomes, what it takes from its context,
//! and what is refused before anything is asked. Expected is computed from the table alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use toolgate_test_support::{Answer, BackEnds, World, back_ends::Asked};

const TABLE: &str = include_str!("../golden/agent-tools.json");

/// One more than a float can tell from its neighbour.
const BIG: u64 = (1 << 53) + 1;
const PROJECT: &str = "shop/1";
const TASK: &str = "t 7";

/// One tool of the table.
struct Row(Value);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_agent_tool_is_the_request_that_the_table_says() {
    let world = World::new().unlimited().start().await;
    let back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let rows = rows();
    assert_eq!(rows.len(), 62);
    for row in &rows {
        let check = Check {
            world: &world,
            back_ends: &back_ends,
            row,
        };
        let all = row.sample(|_| true);
        check.carried(&all).await;
        check.carried(&row.sample(|arg| arg["required"] == true)).await;
        check.without_what_is_empty().await;
        check.refusals(&all).await;
    }
}

#[tokio::test]
async fn what_is_published_of_agent_tools_is_the_table() {
    let world = World::new().start().await;
    let _back_ends = BackEnds::added(world.admin(), "read_write").await.unwrap();
    let listed = world.admin().get("/api/mcp/tools").await.json();
    let listed: BTreeMap<&str, &Value> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), tool))
        .collect();
    // The nine of infrastructure and the report beside them.
    assert_eq!(listed.len(), 9 + 62 + 1);
    for row in rows() {
        let tool = listed[row.name()];
        let schema = &tool["inputSchema"];
        assert_eq!(schema["additionalProperties"], false, "{}", row.name());
        assert_eq!(
            published(schema),
            tabled(row.0["args"].as_object().unwrap()),
            "{}",
            row.name()
        );
        assert_eq!(
            tool["annotations"]["readOnlyHint"],
            row.0["effect"] == "read",
            "{}",
            row.name()
        );
        assert!(
            !tool["description"].as_str().unwrap().is_empty(),
            "{}",
            row.name()
        );
    }
    for old in ["code_community", "code_hyperedge"] {
        assert!(!listed.contains_key(old), "{old}");
        let refusal = world.call(old, json!({"repo": "r"})).await.unwrap_err();
        assert_eq!(
            (refusal.status, refusal.reason.as_str()),
            (404, "TOOL_NOT_FOUND"),
            "{old}"
        );
    }
}

fn rows() -> Vec<Row> {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    let tools = table["tools"].as_array().unwrap().clone();
    tools
        .into_iter()
        .filter(|tool| !tool["http"].is_null())
        .map(Row)
        .collect()
}

/// What a schema says of its members, as far as the table does.
fn published(schema: &Value) -> BTreeMap<String, Value> {
    let required: BTreeSet<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let members = schema["properties"].as_object().unwrap().iter();
    members
        .map(|(name, member)| {
            let mut told = json!({"required": required.contains(name.as_str())});
            for fact in ["type", "enum", "minimum"] {
                told[fact] = member[fact].clone();
            }
            if !member["items"].is_null() {
                told["items"] = json!(published(&member["items"]));
            }
            (name.clone(), told)
        })
        .collect()
}

fn tabled(args: &Map<String, Value>) -> BTreeMap<String, Value> {
    args.iter()
        .map(|(name, arg)| {
            let mut told = json!({"required": arg["required"] == true});
            for fact in ["type", "enum", "minimum"] {
                told[fact] = arg[fact].clone();
            }
            if !arg["items"].is_null() {
                told["items"] = json!(tabled(arg["items"].as_object().unwrap()));
            }
            (name.clone(), told)
        })
        .collect()
}

impl Row {
    fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    fn args(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0["args"].as_object().unwrap().iter()
    }

    fn path(&self) -> &str {
        self.0["http"]["path"].as_str().unwrap()
    }

    fn in_path(&self, name: &str) -> bool {
        self.path().contains(&format!("{{{name}}}"))
    }

    /// A value for every argument that is wanted. Those without a type choose between two paths and have tests of their
    /// own.
    fn sample(&self, wanted: impl Fn(&Value) -> bool) -> Map<String, Value> {
        self.args()
            .filter(|(_, arg)| !arg["type"].is_null() && wanted(arg))
            .map(|(name, arg)| (name.clone(), sample(name, arg)))
            .collect()
    }

    /// What the arguments are once the context has filled them up.
    fn completed(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let mut complete = arguments.clone();
        for (name, arg) in self.args() {
            let known = match arg["default_from"].as_str() {
                Some("TATARA_PROJECT") => PROJECT,
                Some("TATARA_TASK") => TASK,
                _ => continue,
            };
            complete.entry(name.clone()).or_insert(json!(known));
        }
        complete
    }

    fn expected_path(&self, arguments: &Map<String, Value>) -> String {
        let mut path = self.path().to_owned();
        for (name, value) in arguments {
            if let Some(text) = value.as_str() {
                path = path.replace(&format!("{{{name}}}"), &encoded(text));
            }
        }
        path
    }

    fn expected_query(&self, arguments: &Map<String, Value>) -> BTreeSet<(String, String)> {
        let wire = |name: &str| match &self.0["query"] {
            Value::String(all) if all == "all args" => Some(name.to_owned()),
            Value::Array(names) => names.iter().any(|known| known == name).then(|| name.to_owned()),
            Value::Object(names) => names.get(name)?.as_str().map(str::to_owned),
            _ => None,
        };
        let outside = arguments.iter().filter(|(name, _)| !self.in_path(name));
        outside
            .filter_map(|(name, value)| Some((wire(name)?, plain(value))))
            .collect()
    }

    fn expected_body(&self, arguments: &Map<String, Value>) -> Value {
        let mut body: Map<String, Value> = match &self.0["body"] {
            Value::String(all) if all == "all args" => arguments.clone(),
            Value::String(whole) if whole == "the value of patch" => return arguments["patch"].clone(),
            Value::Object(names) => names
                .iter()
                .filter_map(|(name, wire)| Some((wire.as_str()?.to_owned(), arguments.get(name)?.clone())))
                .collect(),
            _ => return Value::Null,
        };
        body.extend(self.0["body_constants"].as_object().cloned().unwrap_or_default());
        Value::Object(body)
    }
}

/// One tool, held against a running gateway.
struct Check<'a> {
    world: &'a World,
    back_ends: &'a BackEnds,
    row: &'a Row,
}

impl Check<'_> {
    async fn call(&self, arguments: &Map<String, Value>, with_context: bool) -> Answer {
        let body = json!({"name": self.row.name(), "arguments": arguments});
        let mut headers = vec![("prefer", "wait")];
        if with_context {
            headers.extend([("toolgate-project", PROJECT), ("toolgate-task", TASK)]);
        }
        self.world.admin().invoke_with(&body, &headers).await
    }

    /// The one request that these arguments were.
    async fn one_request(&self, arguments: &Map<String, Value>) -> Asked {
        self.back_ends.forget();
        let answer = self.call(arguments, true).await;
        let name = self.row.name();
        assert_eq!(answer.status, 200, "{name} {arguments:?}: {}", answer.text);
        assert_eq!(answer.json()["isError"], false, "{name}: {}", answer.text);
        let asked = self
            .back_ends
            .of_group(self.row.0["group"].as_str().unwrap())
            .asked();
        assert_eq!(
            (asked.len(), self.back_ends.asked().len()),
            (1, 1),
            "{name}: {asked:?}"
        );
        asked.into_iter().next().unwrap()
    }

    async fn carried(&self, arguments: &Map<String, Value>) {
        let (row, asked) = (self.row, self.one_request(arguments).await);
        let complete = row.completed(arguments);
        let name = row.name();
        assert_eq!(asked.method, row.0["http"]["method"].as_str().unwrap(), "{name}");
        assert_eq!(asked.path, row.expected_path(&complete), "{name}");
        let pairs: BTreeSet<_> = asked.pairs().into_iter().collect();
        assert_eq!(pairs, row.expected_query(&complete), "{name}");
        // Project and task are never part of a body.
        let expected = row.expected_body(arguments);
        assert_eq!(asked.json(), expected, "{name}: {}", asked.text());
        assert_eq!(asked.body.is_empty(), expected.is_null(), "{name}");
        assert_eq!(
            asked.bearer(),
            Some(toolgate_test_support::back_ends::TOKEN),
            "{name}"
        );
    }

    /// An optional text that is empty is as good as absent.
    async fn without_what_is_empty(&self) {
        let is_optional =
            |arg: &Value| arg["required"] != true && arg["type"] == "string" && arg["enum"].is_null();
        let mut arguments = self.row.sample(|arg| arg["required"] == true);
        let bare = self.one_request(&arguments).await;
        for (name, arg) in self.row.args() {
            if is_optional(arg) {
                arguments.insert(name.clone(), json!(""));
            }
        }
        let emptied = self.one_request(&arguments).await;
        assert_eq!(
            (bare.line(), bare.text()),
            (emptied.line(), emptied.text()),
            "{}",
            self.row.name()
        );
    }

    async fn refusals(&self, all: &Map<String, Value>) {
        self.back_ends.forget();
        let with = |name: &str, value: Value| {
            let mut arguments = all.clone();
            arguments.insert(name.to_owned(), value);
            arguments
        };
        self.refused(&with("surplus", json!(1)), true, "", "additionalProperties")
            .await;
        for (name, arg) in self.row.args() {
            let place = format!("/{name}");
            if arg["required"] == true {
                let mut arguments = all.clone();
                arguments.remove(name);
                self.refused(&arguments, true, "", "required").await;
            }
            if !arg["default_from"].is_null() {
                let mut arguments = all.clone();
                arguments.remove(name);
                self.refused(&arguments, false, &place, "required").await;
            }
            if self.row.in_path(name) {
                self.refused(&with(name, json!("..")), true, &place, "not").await;
            }
            if arg["enum"].is_array() {
                self.refused(&with(name, json!("no such value")), true, &place, "enum")
                    .await;
            }
            if let Some(least) = arg["minimum"].as_i64() {
                self.refused(&with(name, json!(least - 1)), true, &place, "minimum")
                    .await;
            }
            if arg["type"] == "integer" {
                self.refused(&with(name, json!("5")), true, &place, "type").await;
                self.refused(&with(name, json!(1.5)), true, &place, "type").await;
            }
            if arg["note"].as_str().is_some_and(|note| note.contains("blank")) {
                self.refused(&with(name, json!(" \t\n")), true, &place, "pattern")
                    .await;
            }
            if !arg["type"].is_null() {
                self.refused(&with(name, Value::Null), true, &place, "type").await;
            }
        }
        assert!(self.back_ends.asked().is_empty(), "{}", self.row.name());
    }

    async fn refused(
        &self,
        arguments: &Map<String, Value>,
        with_context: bool,
        pointer: &str,
        keyword: &str,
    ) {
        let answer = self.call(arguments, with_context).await;
        let (name, problem) = (self.row.name(), answer.json());
        assert_eq!(answer.status, 400, "{name} {arguments:?}: {}", answer.text);
        assert_eq!(problem["reason"], "ARGUMENTS_INVALID", "{name}");
        let told = problem["violations"].as_array().unwrap();
        let is_told = told
            .iter()
            .any(|violation| violation["pointer"] == pointer && violation["keyword"] == keyword);
        assert!(is_told, "{name} {pointer} {keyword}: {}", answer.text);
    }
}

fn sample(name: &str, arg: &Value) -> Value {
    if let Some(first) = arg["enum"].get(0) {
        return first.clone();
    }
    match arg["type"].as_str().unwrap() {
        "string" => json!(format!("a/b?c #ü {name}")),
        "integer" => json!(BIG),
        "number" => json!(0.25),
        "boolean" => json!(true),
        "object" => json!({"k": "v"}),
        "array" => {
            let items = arg["items"].as_object().unwrap().iter();
            let item: Map<String, Value> = items
                .map(|(name, arg)| (name.clone(), sample(name, arg)))
                .collect();
            json!([item])
        }
        other => panic!("{other}"),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}
