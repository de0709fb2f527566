//! Every statement in the source of this crate is understood by PostgreSQL, with a type for each placeholder.

use std::{fs, path::Path};

use tokio_postgres::NoTls;

use super::ground::Ground;

/// Literals that begin like statements.
const BEGINNINGS: [&str; 4] = ["select ", "insert into ", "update ", "delete from "];

fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["tests", "sqlite"].contains(&name) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && !["tests.rs", "suite.rs", "sqlite.rs"].contains(&name) {
            let text = fs::read_to_string(&path).unwrap();
            // What follows is tests.
            found.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned());
        }
    }
}

/// The string literals of a source, their line continuations resolved.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let mut rest = code.as_str();
    while let Some(start) = rest.find('"') {
        let mut literal = String::new();
        let mut letters = rest[start + 1..].char_indices();
        let mut end = rest.len();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    end = start + 1 + at + 1;
                    break;
                }
                '\\' => match letters.next() {
                    Some((_, '\n')) => {
                        let blank = rest[start + 1..][at + 2..]
                            .chars()
                            .take_while(|next| next.is_whitespace())
                            .count();
                        for _ in 0..blank {
                            letters.next();
                        }
                    }
                    Some((_, escaped)) => literal.push(escaped),
                    None => {}
                },
                other => literal.push(other),
            }
        }
        found.push(literal);
        rest = &rest[end.min(rest.len())..];
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_statement_is_understood_by_postgresql() {
    let Some(ground) = Ground::shared("every_statement_is_understood_by_postgresql").await else {
        return;
    };
    let (client, connection) = tokio_postgres::connect(&ground.database.url_as("toolgate_app"), NoTls)
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    client
        .batch_execute("set search_path = toolgate, audit")
        .await
        .unwrap();
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (mut understood, mut wrong) = (0, Vec::new());
    for statement in files.iter().flat_map(|source| literals(source)) {
        let begins = BEGINNINGS
            .iter()
            .any(|beginning| statement.starts_with(beginning));
        if statement.contains("sqlite_master") || statement.contains(';') {
            continue;
        }
        // Other texts may begin with these words as well, but have no placeholder and name no table.
        if !begins
            || !(statement.contains('$') || statement.contains(" from ") || statement.contains(" set "))
        {
            continue;
        }
        match client.prepare(&statement).await {
            Ok(_) => understood += 1,
            Err(error) => wrong.push(format!(
                "{statement}: {:?}",
                error.as_db_error().map(|db| db.message())
            )),
        }
    }
    driver.abort();
    assert_eq!(wrong, Vec::<String>::new());
    assert!(understood > 40, "only {understood} statements were found");
}
