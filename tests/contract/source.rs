//! Compiles proto texts held in memory, beside the real options.

use std::path::PathBuf;

use protox::{
    Compiler,
    file::{ChainFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver},
};

use super::emitter::{self, Contract, Mistakes};

/// The folder of the real proto files.
pub(crate) fn proto() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../proto")
}

/// Emits a contract of one file: a header is put before the text.
pub(crate) fn emit(text: &str) -> Result<Contract, Mistakes> {
    const HEADER: &str = "syntax = \"proto3\";\npackage sample.v1;\nimport \"toolgate/v1/options.proto\";\n";
    let mut files = ChainFileResolver::new();
    files.add(Sample(format!("{HEADER}{text}")));
    files.add(IncludeFileResolver::new(proto()));
    files.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(files);
    compiler.include_imports(true).include_source_info(true);
    compiler
        .open_file("sample.proto")
        .unwrap_or_else(|error| panic!("{error:?}"));
    emitter::emit(&compiler.descriptor_pool())
}

struct Sample(String);

impl FileResolver for Sample {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        if name == "sample.proto" {
            File::from_source(name, &self.0)
        } else {
            Err(protox::Error::file_not_found(name))
        }
    }
}
