//! Takes the files of `web/` into the binary: writes a table of what is to be served, sorted by path.
//!
//! Only kinds of files that a page can use are taken, so that what belongs to the making of the pages (types, tests,
//! scripts, lists of packages) stays out of the binary. A file of a kind that nobody thought of keeps it from building.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

const FOLDER: &str = "web";
/// Folders that are not for browsers, at any depth.
const PRIVATE: [&str; 5] = ["node_modules", "scripts", "test", "tests", "types"];
/// Kinds of files that are not for browsers. JSON is among them: what a page needs stands in its modules.
const UNSERVED: [&str; 7] = ["json", "jsonc", "md", "map", "sh", "ts", "py"];
/// Files by the end of their names, and what they are to a browser.
const KINDS: [(&str, &str); 9] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain; charset=utf-8"),
    ("woff2", "font/woff2"),
];

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the pages cannot be taken into the binary\n{error}");
            ExitCode::FAILURE
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script by the environment"
)]
fn generate() -> Result<(), Box<dyn Error>> {
    let unset = "cargo's variables are not set; run this through cargo";
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(unset)?);
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(unset)?).join(FOLDER);
    let mut paths = Vec::new();
    if root.is_dir() {
        collect(&root, &mut paths)?;
    }
    paths.sort();
    let mut table = String::from("[\n");
    for path in paths {
        let name = path.strip_prefix(&root)?.to_str().ok_or("a path is no text")?;
        if let Some(content_type) = content_type(name)? {
            let name = name.replace('\\', "/");
            writeln!(
                table,
                "    File {{ path: {name:?}, content_type: {content_type:?}, bytes: include_bytes!({path:?}) }},"
            )?;
        }
    }
    table.push(']');
    Ok(fs::write(out.join("web_files.rs"), table)?)
}

/// What a file is to a browser; none where it is not for one.
fn content_type(name: &str) -> Result<Option<&'static str>, String> {
    let file = name.rsplit('/').next().unwrap_or(name);
    if file == "LICENSE" || file == "LICENCE" || file == "NOTICE" {
        return Ok(Some("text/plain; charset=utf-8"));
    }
    // What has no ending is a program.
    let Some((stem, end)) = file.rsplit_once('.') else {
        return Ok(None);
    };
    if UNSERVED.contains(&end) || stem.ends_with(".test") || stem.ends_with(".config") {
        return Ok(None);
    }
    let kind = KINDS.iter().find(|(known, _)| *known == end);
    let (_, content_type) = kind.ok_or_else(|| {
        format!(
            "{FOLDER}/{name}: no kind of file that pages are made of; add it to build.rs or put it elsewhere"
        )
    })?;
    Ok(Some(content_type))
}

/// Every file below a folder that may be for browsers. Links are not followed: what is served stands in the folder.
fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let name = name.to_str().ok_or("a name is no text")?;
        if name.starts_with('.') || PRIVATE.contains(&name) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), into)?;
        } else if kind.is_file() {
            into.push(entry.path());
        }
    }
    Ok(())
}
