//! The closed values of a report, as the tool's own schema has them.

use std::sync::LazyLock;

use serde_json::Value;
use toolgate_contract::registry;

use crate::telemetry;

/// The tool that reports.
const TOOL: &str = "report_internal_issue";

struct Values {
    categories: Vec<String>,
    severities: Vec<String>,
    default_severity: String,
}

static VALUES: LazyLock<Values> = LazyLock::new(|| {
    let schema = registry::tool(TOOL).map_or("", |tool| tool.input_schema);
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let property = |name: &str| &schema["properties"][name];
    let texts = |name: &str| {
        let values = property(name)["enum"].as_array().into_iter().flatten();
        values.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Values {
        categories: texts("category"),
        severities: texts("severity"),
        default_severity: property("severity")["default"]
            .as_str()
            .unwrap_or("error")
            .to_owned(),
    }
});

/// How bad a report is that does not say.
pub(super) fn default_severity() -> &'static str {
    &VALUES.default_severity
}

/// Lets every series of the counter begin at zero, so that the first report is seen as a change.
pub(crate) fn begin() {
    for category in &VALUES.categories {
        for severity in &VALUES.severities {
            telemetry::no_internal_issue(category, severity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_the_seed() {
        assert_eq!(
            VALUES.categories,
            [
                "tool_error",
                "directive_contradiction",
                "workspace_broken",
                "memory_inconsistent",
                "graph_inconsistent",
                "auth",
                "other"
            ]
        );
        assert_eq!(VALUES.severities, ["warn", "error"]);
        assert_eq!(default_severity(), "error");
    }
}
