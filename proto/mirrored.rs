//! Arguments that the schema of a tool wants in a header as well (`x-mcp-header`, MCP revision 2026-07-28).
//!
//! The gateway holds a client's headers against them, and the relay writes them for a project's server: both read them
//! here, so that neither finds what the other passes over. Nothing else of a schema is read. Pure.

use http::HeaderName;

use crate::splice;

const KEYWORD: &str = "x-mcp-header";
/// Of one tool, and how deep its arguments are looked through.
const MOST: usize = 32;
const DEEPEST: usize = 8;
/// Bytes of one name; longer ones are passed over.
const LONGEST: usize = 128;

/// An argument, and the header that says it as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    /// `mcp-param-` and the name that the schema gives.
    pub header: HeaderName,
    /// Where it stands in the arguments: the names of members, outermost first.
    pub path: Vec<String>,
}

/// Those of one tool, by its definition as a list has it; none where the definition cannot be read. At most 32, at most 8
/// members deep.
#[must_use]
pub fn mirrors(definition: &str) -> Vec<Mirror> {
    let mut found = Vec::new();
    if definition.contains(KEYWORD)
        && let Ok(Some(schema)) = splice::member(definition, "inputSchema")
    {
        look_through(schema, &mut Vec::new(), &mut found);
    }
    found
}

fn look_through(schema: &str, path: &mut Vec<String>, found: &mut Vec<Mirror>) {
    let Ok(Some(properties)) = splice::member(schema, "properties") else {
        return;
    };
    for property in splice::members(properties).unwrap_or_default() {
        if found.len() == MOST || property.key.len() > LONGEST || !property.value.contains(KEYWORD) {
            continue;
        }
        path.push(property.key.into_owned());
        if let Some(header) = header(property.value) {
            let path = path.clone();
            found.push(Mirror { header, path });
        } else if path.len() < DEEPEST {
            look_through(property.value, path, found);
        }
        path.pop();
    }
}

fn header(schema: &str) -> Option<HeaderName> {
    let name: String = serde_json::from_str(splice::member(schema, KEYWORD).ok()??).ok()?;
    let name = Some(name).filter(|name| name.len() <= LONGEST)?;
    HeaderName::try_from(format!("mcp-param-{name}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_arguments_on_a_chain_of_properties_are_mirrored() {
        let check = |properties: &str, expected: &[(&str, &[&str])]| {
            let definition =
                format!(r#"{{"name":"t","inputSchema":{{"type":"object","properties":{properties}}}}}"#);
            let mirrors = mirrors(&definition);
            let found: Vec<_> = mirrors
                .iter()
                .map(|each| (each.header.as_str(), each.path.clone()))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(header, path)| (*header, path.iter().map(|&part| part.to_owned()).collect()))
                .collect();
            assert_eq!(found, expected, "{properties}");
        };
        check(
            r#"{"a":{"x-mcp-header":"Region"},"b":{"type":"object","properties":{"c":{"x-mcp-header":"Zone"}}}}"#,
            &[("mcp-param-region", &["a"]), ("mcp-param-zone", &["b", "c"])],
        );
        check(r#"{"a":{"items":{"x-mcp-header":"R"}}}"#, &[]);
        check(
            r#"{"a":{"x-mcp-header":"not a name"},"b":{"x-mcp-header":7}}"#,
            &[],
        );
        check(r#"{"a":{"description":"x-mcp-header"}}"#, &[]);
        check("[]", &[]);
        check(
            &format!(r#"{{"{}":{{"x-mcp-header":"R"}}}}"#, "k".repeat(LONGEST + 1)),
            &[],
        );
        check(
            &format!(r#"{{"a":{{"x-mcp-header":"{}"}}}}"#, "R".repeat(LONGEST + 1)),
            &[],
        );
        let deep = r#"{"a":{"properties":"#.repeat(40) + r#"{"x":{"x-mcp-header":"R"}}"# + &"}}".repeat(40);
        check(&deep, &[]);
    }
}
