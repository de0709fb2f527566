//! The files of the binary as they are sent: found by name, packed where that makes them smaller, under one hash.

use std::{collections::HashMap, io::Write, sync::LazyLock};

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use flate2::{Compression, write::GzEncoder};
use ring::digest::{Context, SHA256};

/// One file as the build found it.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) content_type: &'static str,
    pub(super) bytes: &'static [u8],
}

/// What may be sent for one name.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    pub(super) content_type: &'static str,
    pub(super) plain: Bytes,
    /// The same with gzip, where that is smaller.
    pub(super) gzip: Option<Bytes>,
}

/// Every file, and the document that names them.
#[derive(Debug)]
pub(super) struct Bundle {
    /// Tells builds with different files apart.
    pub(super) build: String,
    pub(super) document: Packed,
    files: HashMap<&'static str, Packed>,
}

const DOCUMENT: &str = "index.html";
/// Where the document wants the address of the files.
const ROOT: &str = "{{root}}";

const WITHOUT: &str =
    "<!doctype html><html lang=\"en\"><title>Toolgate</title><p>This gateway was built without its pages.";

static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/web_files.rs"));

/// The files of this binary, made once in a process.
pub(super) fn bundle() -> &'static Bundle {
    static BUNDLE: LazyLock<Bundle> = LazyLock::new(|| Bundle::of(FILES));
    &BUNDLE
}

impl Bundle {
    pub(super) fn of(files: &[File]) -> Self {
        let build = build_of(files);
        let document = files.iter().find(|file| file.path == DOCUMENT);
        let document = document.map_or_else(
            || WITHOUT.to_owned(),
            |file| String::from_utf8_lossy(file.bytes).replace(ROOT, &format!("/web/{build}")),
        );
        let others = files.iter().filter(|file| file.path != DOCUMENT);
        Self {
            document: Packed::of("text/html; charset=utf-8", document.into()),
            files: others
                .map(|file| {
                    (
                        file.path,
                        Packed::of(file.content_type, Bytes::from_static(file.bytes)),
                    )
                })
                .collect(),
            build,
        }
    }

    /// The file of this very name.
    pub(super) fn file(&self, name: &str) -> Option<&Packed> {
        self.files.get(name)
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.files.keys().copied()
    }
}

/// Changes with every name and every byte.
fn build_of(files: &[File]) -> String {
    let mut hash = Context::new(&SHA256);
    for file in files {
        for part in [file.path.as_bytes(), file.bytes] {
            hash.update(&(part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    BASE64URL_NOPAD.encode(&hash.finish().as_ref()[..12])
}

impl Packed {
    fn of(content_type: &'static str, plain: Bytes) -> Self {
        let is_text = content_type.starts_with("text/") || content_type == "image/svg+xml";
        let gzip = is_text.then(|| gzip(&plain, Compression::best())).flatten();
        Self {
            content_type,
            gzip: gzip.filter(|packed| packed.len() < plain.len()),
            plain,
        }
    }
}

pub(super) fn gzip(plain: &[u8], level: Compression) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 2), level);
    // Memory takes every byte; if it did not, the file would be sent as it is.
    encoder.write_all(plain).ok()?;
    encoder.finish().ok().map(Bytes::from)
}
