//! Tokens, access lists, and the privileges that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Paths that are told to everyone who holds something there.
const PATHS: [&str; 8] = [
    "/",
    "/access",
    "/access/groups",
    "/nodes",
    "/pool",
    "/sdn",
    "/storage",
    "/vms",
];

/// A token and the access lists of it and of its owner.
#[derive(Debug, Clone)]
pub struct Token {
    /// Its secret.
    pub secret: String,
    /// Path and role, propagated.
    pub acl: Vec<(String, String)>,
    /// Path and role of its owner. Of `root@pam` nothing is needed.
    pub owner: Vec<(String, String)>,
    /// True: what token and owner both hold. False: what the owner holds.
    pub privsep: bool,
    id: String,
}

impl Token {
    /// One that holds this role everywhere, and its owner too.
    #[must_use]
    pub fn with(secret: &str, role: &str) -> Self {
        let everywhere = vec![("/".to_owned(), role.to_owned())];
        Self {
            secret: secret.to_owned(),
            acl: everywhere.clone(),
            owner: everywhere,
            privsep: true,
            id: String::new(),
        }
    }

    fn user(&self) -> &str {
        self.id.rsplit_once('!').map_or(&self.id, |(user, _)| user)
    }
}

#[derive(Debug, Default)]
pub(super) struct Access {
    pub(super) tokens: BTreeMap<String, Token>,
    roles: BTreeMap<String, (bool, BTreeSet<String>)>,
}

impl Access {
    /// With the roles that the server told.
    pub(super) fn new(told: &[u8]) -> Self {
        let told: Value = serde_json::from_slice(told).unwrap_or_default();
        let rows = told["data"].as_array().into_iter().flatten();
        let role = |row: &Value| {
            let privileges = row["privs"].as_str().unwrap_or_default().split(',');
            let privileges = privileges
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .collect();
            (
                row["roleid"].as_str().unwrap_or_default().to_owned(),
                (row["special"] == 1, privileges),
            )
        };
        Self {
            tokens: BTreeMap::new(),
            roles: rows.map(role).collect(),
        }
    }

    pub(super) fn role(&mut self, name: &str, privileges: &[&str]) {
        let privileges = privileges.iter().map(|&it| it.to_owned()).collect();
        self.roles.insert(name.to_owned(), (false, privileges));
    }

    /// The token of an `Authorization` header.
    pub(super) fn known(&self, header: &str) -> Option<Token> {
        let (id, secret) = header.strip_prefix("PVEAPIToken=")?.rsplit_once('=')?;
        let token = self.tokens.get(id).filter(|token| token.secret == secret)?;
        Some(Token {
            id: id.to_owned(),
            ..token.clone()
        })
    }

    pub(super) fn may(&self, token: &Token, path: &str, privilege: &str) -> bool {
        self.held(token, path).contains(privilege)
    }

    pub(super) fn permissions(&self, token: &Token) -> Value {
        let of_lists = token
            .acl
            .iter()
            .chain(&token.owner)
            .map(|(path, _)| path.as_str());
        let paths: BTreeSet<&str> = PATHS.into_iter().chain(of_lists).collect();
        let told = paths.into_iter().filter_map(|path| {
            let held = self.held(token, path);
            let held: Map<String, Value> = held.into_iter().map(|it| (it.to_owned(), json!(1))).collect();
            (!held.is_empty()).then(|| (path.to_owned(), Value::Object(held)))
        });
        Value::Object(told.collect())
    }

    pub(super) fn acl(&self, asker: &Token) -> Value {
        if !self.may(asker, "/access", "Sys.Audit") {
            return json!([]);
        }
        let mut rows = vec![];
        for (id, token) in &self.tokens {
            let user = id.rsplit_once('!').map_or(id.as_str(), |(user, _)| user);
            let row = |kind: &str, of: &str, (path, role): &(String, String)| json!({"path": path, "type": kind, "ugid": of, "roleid": role, "propagate": 1});
            rows.extend(token.acl.iter().map(|entry| row("token", id, entry)));
            rows.extend(token.owner.iter().map(|entry| row("user", user, entry)));
        }
        json!(rows)
    }

    pub(super) fn users(&self) -> Value {
        let mut users: BTreeMap<&str, Vec<Value>> = BTreeMap::from([("root@pam", vec![])]);
        for (id, token) in &self.tokens {
            let (user, name) = id.rsplit_once('!').unwrap_or((id, ""));
            let privsep = u8::from(token.privsep);
            users
                .entry(user)
                .or_default()
                .push(json!({"tokenid": name, "privsep": privsep, "expire": 0}));
        }
        let told = users.into_iter().map(|(user, tokens)| {
            json!({"userid": user, "enable": 1, "expire": 0, "groups": "", "realm-type": "pve", "tokens": tokens})
        });
        json!(told.collect::<Vec<_>>())
    }

    pub(super) fn roles(&self) -> Value {
        let told = self.roles.iter().map(|(name, (special, privileges))| {
            let privileges = privileges
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(",");
            json!({"roleid": name, "special": u8::from(*special), "privs": privileges})
        });
        json!(told.collect::<Vec<_>>())
    }

    fn held<'a>(&'a self, token: &'a Token, path: &str) -> BTreeSet<&'a str> {
        let own = self.of_list(&token.acl, path);
        let owner = || match token.user() {
            "root@pam" => self
                .roles
                .values()
                .flat_map(|(_, all)| all)
                .map(String::as_str)
                .collect(),
            _ => self.of_list(&token.owner, path),
        };
        match token.privsep {
            true => own.intersection(&owner()).copied().collect(),
            false => owner(),
        }
    }

    // What stands deeper takes the place of what is inherited.
    fn of_list<'a>(&'a self, list: &'a [(String, String)], path: &str) -> BTreeSet<&'a str> {
        let covers = |at: &str| at == "/" || path == at || path.starts_with(&format!("{at}/"));
        let deepest = list
            .iter()
            .filter(|(at, _)| covers(at))
            .map(|(at, _)| at.len())
            .max();
        list.iter()
            .filter(|(at, _)| covers(at) && Some(at.len()) == deepest)
            .filter_map(|(_, role)| self.roles.get(role))
            .flat_map(|(_, privileges)| privileges)
            .map(String::as_str)
            .collect()
    }
}
