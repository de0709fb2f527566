//! The caller's catalog, written once per catalog version in the form a dialect wants.
//!
//! The core is asked every time, because only it knows who the caller is and what it may see now; it leaves the list
//! out when the version is one we have already written. Each dialect keeps lists of its own, so that no form of one
//! is ever given to another. Knows no dialect.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use serde::Serializer;
use serde_json::value::RawValue;
use toolgate_contract::v1::{ListToolsRequest, ListToolsResponse};

use crate::{
    link::{Caller, Link},
    problem::Problem,
};

/// Lists of a generation, and callers whose version is remembered. Two generations are kept.
const GENERATION: usize = 512;
/// Bytes of lists of a generation.
const GENERATION_BYTES: usize = 8 * 1024 * 1024;

/// A catalog in the form of a dialect.
pub(crate) trait Written {
    /// How many bytes it holds.
    fn size(&self) -> usize;
}

impl Written for Bytes {
    fn size(&self) -> usize {
        self.len()
    }
}

/// One catalog, written.
#[derive(Debug)]
pub(crate) struct List<W> {
    /// Equal versions mean equal lists.
    pub(crate) version: String,
    pub(crate) written: W,
}

/// What the core says to a caller that may have a version of its own already.
#[derive(Debug)]
pub(crate) enum Found<W> {
    /// The list of now.
    List(Arc<List<W>>),
    /// The version that the caller says it has is the one of now.
    Same(String),
}

/// The written catalogs, by caller. Callers are told apart by a keyed hash; a collision only costs a second question,
/// because the core compares versions for the caller it sees.
#[derive(Debug)]
pub(crate) struct Lists<W> {
    hasher: RandomState,
    generations: Mutex<[HashMap<u64, Arc<List<W>>>; 2]>,
}

impl<W> Default for Lists<W> {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            generations: Mutex::new([HashMap::new(), HashMap::new()]),
        }
    }
}

impl<W: Written> Lists<W> {
    /// Asks for the caller's list and writes it where it is a new one.
    pub(crate) async fn ask(
        &self,
        link: &Link,
        caller: Caller,
        write: impl FnOnce(&ListToolsResponse) -> serde_json::Result<W>,
    ) -> Result<Arc<List<W>>, Problem> {
        match self.ask_unless(link, caller, None, write).await? {
            Found::List(list) => Ok(list),
            Found::Same(_) => Err(Problem::internal()),
        }
    }

    /// The same for a caller that says it has the version `had`.
    pub(crate) async fn ask_unless(
        &self,
        link: &Link,
        caller: Caller,
        had: Option<String>,
        write: impl FnOnce(&ListToolsResponse) -> serde_json::Result<W>,
    ) -> Result<Found<W>, Problem> {
        let key = self.hasher.hash_one(caller.identity());
        let known = self.of_caller(key);
        let asked = known.as_ref().map(|list| list.version.clone()).or(had);
        let request = caller.request(ListToolsRequest {
            known_version: asked.clone(),
        });
        let answer = link.ask(link.broker().list_tools(request)).await?;
        if answer.unchanged {
            return Ok(match known {
                Some(list) => Found::List(list),
                None => Found::Same(asked.unwrap_or_default()),
            });
        }
        let written = write(&answer).map_err(|error| {
            tracing::error!(%error, "a schema of the core's catalog is no JSON");
            Problem::internal()
        })?;
        let list = List {
            version: answer.version,
            written,
        };
        Ok(Found::List(self.remember(key, Arc::new(list))))
    }

    /// The list that this caller was given last, as far as it is remembered.
    pub(crate) fn known(&self, caller: &Caller) -> Option<Arc<List<W>>> {
        self.of_caller(self.hasher.hash_one(caller.identity()))
    }

    fn of_caller(&self, key: u64) -> Option<Arc<List<W>>> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = generations[0].get(&key) {
            return Some(Arc::clone(list));
        }
        let list = generations[1].remove(&key)?;
        Some(Self::insert(&mut generations, key, list))
    }

    fn remember(&self, key: u64, list: Arc<List<W>>) -> Arc<List<W>> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        Self::insert(&mut generations, key, list)
    }

    fn insert(
        generations: &mut [HashMap<u64, Arc<List<W>>>; 2],
        key: u64,
        list: Arc<List<W>>,
    ) -> Arc<List<W>> {
        // Callers with the same catalog share its bytes.
        let shared = generations[0]
            .values()
            .find(|other| other.version == list.version);
        let list = shared.map_or(list, Arc::clone);
        let bytes: usize = generations[0].values().map(|list| list.written.size()).sum();
        if generations[0].len() >= GENERATION || bytes + list.written.size() > GENERATION_BYTES {
            generations[1] = std::mem::take(&mut generations[0]);
        }
        generations[0].insert(key, Arc::clone(&list));
        list
    }
}

/// A schema of the contract as the bytes it is; an empty one is an empty object.
pub(crate) fn schema<S: Serializer>(json: &[u8]) -> Result<&RawValue, S::Error> {
    let json = if json.is_empty() { b"{}" } else { json };
    serde_json::from_slice(json).map_err(serde::ser::Error::custom)
}
