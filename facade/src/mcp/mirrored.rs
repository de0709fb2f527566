//! Arguments that the schema of a project's tool wants in a header as well (`x-mcp-header`, revision 2026-07-28).
//!
//! A server has to refuse a call whose header says another thing than its body, and only the gateway sees the headers. What
//! a client is held to is what it was told: the lists that went to it through this process. Nothing else of a schema is read.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderName;
use toolgate_contract::splice;

/// The keyword.
const KEYWORD: &str = "x-mcp-header";
/// Of one tool, and how deep its arguments are looked through.
const MOST: usize = 32;
const DEEPEST: usize = 8;
/// Tools of one list, and bytes of one name; what goes beyond is not held against headers.
const MOST_TOOLS: usize = 512;
const LONGEST: usize = 128;
/// Lists of a generation. Two generations are kept; whoever falls out is held to nothing until it lists again.
const GENERATION: usize = 256;

/// One argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mirror {
    pub(super) header: HeaderName,
    /// Where it stands in the arguments.
    pub(super) path: Vec<String>,
}

/// Those of the tools of one list, by the names in it. Tools without any are left out.
#[derive(Debug, Default)]
pub(super) struct Mirrors(HashMap<String, Arc<[Mirror]>>);

impl Mirrors {
    /// Reads the definitions of tools.
    pub(super) fn of<'a>(definitions: impl IntoIterator<Item = &'a str>) -> Self {
        let wants = definitions.into_iter().filter(|text| text.contains(KEYWORD));
        Self(wants.filter_map(read).take(MOST_TOOLS).collect())
    }

    pub(super) fn of_tool(&self, name: &str) -> Option<Arc<[Mirror]>> {
        self.0.get(name).cloned()
    }
}

fn read(definition: &str) -> Option<(String, Arc<[Mirror]>)> {
    let name: String = serde_json::from_str(splice::member(definition, "name").ok()??).ok()?;
    let schema = splice::member(definition, "inputSchema").ok()??;
    let mut found = Vec::new();
    look_through(schema, &mut Vec::new(), &mut found);
    (!found.is_empty() && name.len() <= LONGEST).then(|| (name, found.into()))
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

/// What the clients of pipes have been told, by client and project. A keyed hash.
#[derive(Debug, Clone, Default)]
pub(super) struct Told(Arc<Room>);

#[derive(Debug, Default)]
struct Room {
    hasher: RandomState,
    generations: Mutex<[HashMap<u64, Arc<Mirrors>>; 2]>,
}

impl Told {
    /// The key of a client with a project.
    pub(super) fn key(&self, of: &[&[u8]]) -> u64 {
        self.0.hasher.hash_one(of)
    }

    /// Remembers the list that a result of `tools/list` holds, beside its former pages where it is a later one.
    pub(super) fn learn(&self, key: u64, result: &[u8], is_later_page: bool) {
        let tools = std::str::from_utf8(result).ok();
        let tools = tools.and_then(|text| splice::member(text, "tools").ok().flatten());
        let Some(tools) = tools.and_then(|tools| splice::elements(tools).ok()) else {
            return;
        };
        let mut mirrors = Mirrors::of(tools);
        let mut generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let former = generations
            .iter_mut()
            .filter_map(|known| known.remove(&key))
            .next();
        if let Some(former) = former.filter(|_| is_later_page) {
            let former = former.0.iter().take(MOST_TOOLS.saturating_sub(mirrors.0.len()));
            mirrors
                .0
                .extend(former.map(|(name, of)| (name.clone(), Arc::clone(of))));
        }
        if mirrors.0.is_empty() {
            return;
        }
        if generations[0].len() >= GENERATION {
            generations[1] = std::mem::take(&mut generations[0]);
        }
        generations[0].insert(key, Arc::new(mirrors));
    }

    pub(super) fn of_tool(&self, key: u64, name: &str) -> Option<Arc<[Mirror]>> {
        let generations = self.0.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations
            .iter()
            .find_map(|known| known.get(&key))?
            .of_tool(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str, properties: &str) -> String {
        format!(r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{properties}}}}}"#)
    }

    #[test]
    fn only_arguments_on_a_chain_of_properties_are_mirrored() {
        let check = |properties: &str, expected: &[(&str, &[&str])]| {
            let definition = definition("t", properties);
            let mirrors = Mirrors::of([definition.as_str()]).of_tool("t");
            let found = mirrors.iter().flat_map(|found| found.iter());
            let found: Vec<_> = found
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
        let deep = r#"{"a":{"properties":"#.repeat(40) + r#"{"x":{"x-mcp-header":"R"}}"# + &"}}".repeat(40);
        check(&deep, &[]);
    }

    #[test]
    fn a_client_is_held_to_the_list_it_was_told_last_all_pages_of_it() {
        let told = Told::default();
        let page = |name: &str| {
            let tool = definition(name, r#"{"a":{"x-mcp-header":"R"}}"#);
            format!(r#"{{"tools":[{tool}]}}"#)
        };
        let (mine, other) = (told.key(&[b"a", b"b"]), told.key(&[b"ab", b""]));
        told.learn(mine, page("one").as_bytes(), false);
        told.learn(mine, page("two").as_bytes(), true);
        assert!(told.of_tool(mine, "one").is_some() && told.of_tool(mine, "two").is_some());
        assert!(told.of_tool(other, "one").is_none() && told.of_tool(mine, "three").is_none());
        told.learn(mine, b"nonsense", false);
        assert!(told.of_tool(mine, "one").is_some());
        told.learn(mine, br#"{"tools":[]}"#, false);
        assert!(told.of_tool(mine, "one").is_none());
    }
}
