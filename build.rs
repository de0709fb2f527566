//! Turns `proto/` into services, registry, schemas, routes and the OpenAPI document. Needs no `protoc`.

#[path = "proto/build/emitter.rs"]
mod emitter;

use std::{env, error::Error, fs, path::Path, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    println!("cargo:rerun-if-changed=proto");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the contract does not build\n{error}");
            ExitCode::FAILURE
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script by the environment"
)]
fn generate() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; run this through cargo")?);
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).include_source_info(true);
    compiler
        .open_files(sources(Path::new("proto/toolgate"))?)
        .map_err(|error| format!("{error:?}"))?;
    fs::write(out.join("descriptor.bin"), compiler.encode_file_descriptor_set())?;

    let contract = emitter::emit(&compiler.descriptor_pool())?;
    fs::write(out.join("registry.rs"), contract.registry_source())?;
    fs::write(out.join("openapi.json"), contract.openapi())?;

    // Tool services get no code of their own: one dynamic service turns a typed call into the broker's call. Forms of
    // targets become schemas alone, and a message that could hold a credential and show it does not exist.
    let mut services = compiler.file_descriptor_set();
    services.file.retain(|file| {
        !file.name().starts_with("toolgate/tools/") && file.name() != "toolgate/v1/target_types.proto"
    });
    tonic_prost_build::configure()
        .bytes(".")
        .codec_path("crate::codec::LeanCodec")
        .compile_fds(services)?;
    Ok(())
}

/// Every proto file below a folder, sorted, so that the outcome does not depend on the file system.
fn sources(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
