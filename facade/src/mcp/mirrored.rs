//! Arguments that the schema of a project's tool wants in a header as well (`x-mcp-header`, revision 2026-07-28).
//!
//! A server has to refuse a call whose header says another thing than its body, and only the gateway sees the headers. What
//! a client is held to is what it was told: the lists that went to it through this process.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use toolgate_contract::{
    mirrored::{Mirror, mirrors},
    splice,
};

/// Tools of one list, and bytes of one name; what goes beyond is not held against headers.
const MOST_TOOLS: usize = 512;
const LONGEST: usize = 128;
/// Lists of a generation. Two generations are kept; whoever falls out is held to nothing until it lists again.
const GENERATION: usize = 256;

/// Those of the tools of one list, by the names in it. Tools without any are left out.
#[derive(Debug, Default)]
pub(super) struct Mirrors(HashMap<String, Arc<[Mirror]>>);

impl Mirrors {
    /// Reads the definitions of tools.
    pub(super) fn of<'a>(definitions: impl IntoIterator<Item = &'a str>) -> Self {
        Self(
            definitions
                .into_iter()
                .filter_map(read)
                .take(MOST_TOOLS)
                .collect(),
        )
    }

    pub(super) fn of_tool(&self, name: &str) -> Option<Arc<[Mirror]>> {
        self.0.get(name).cloned()
    }
}

fn read(definition: &str) -> Option<(String, Arc<[Mirror]>)> {
    let found = mirrors(definition);
    if found.is_empty() {
        return None;
    }
    let name: String = serde_json::from_str(splice::member(definition, "name").ok()??).ok()?;
    (name.len() <= LONGEST).then(|| (name, found.into()))
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
