//! Turns `proto/` into services, registry, schemas, routes and the OpenAPI document. Needs no `protoc`.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=proto");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut compiler = protox::Compiler::new(["proto"]).expect("the proto folder is there");
    compiler.include_imports(true).include_source_info(true);
    let files = [
        "broker", "target", "token", "policy", "profile", "audit", "session", "status", "uplink",
    ]
    .map(|name| format!("toolgate/v1/{name}_service.proto"));
    compiler
        .open_files(files)
        .unwrap_or_else(|error| panic!("{error:?}"));
    fs::write(out.join("descriptor.bin"), compiler.encode_file_descriptor_set())
        .expect("OUT_DIR is writable");
    tonic_prost_build::configure()
        .bytes(".")
        .compile_fds(compiler.file_descriptor_set())
        .unwrap_or_else(|error| panic!("{error}"));
}
