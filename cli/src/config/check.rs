//! What no single value can say: settings that need, or exclude, each other. Pure but for files that must be there.

use std::{net::SocketAddr, path::Path};

use toolgate_contract::ids::TenantId;
use toolgate_core::{anchor::is_webhook, issuer::is_source};

use super::{Config, Reader, problem::Problem};

/// Adds every fault of the whole.
pub(crate) fn check(config: &Config, reader: Reader, problems: &mut Vec<Problem>) {
    tls(config, reader, problems);
    if matches!(reader, Reader::Up | Reader::Facade) {
        bind("http", config.http, config, problems);
    }
    if matches!(reader, Reader::Up | Reader::Core) {
        bind("grpc", config.grpc, config, problems);
    }
    if reader == Reader::Up && config.http == config.grpc && config.http.port() != 0 {
        let text = format!("`http` is {} as well; give each a port of its own", config.http);
        problems.push(Problem::new("grpc", text));
    }
    if matches!(reader, Reader::Up | Reader::Core | Reader::Mcp) {
        checkpoint(config, problems);
        jwt(config, problems);
    }
    if matches!(reader, Reader::Up | Reader::Core) {
        oidc(config, reader, problems);
    }
    if matches!(reader, Reader::Up | Reader::Facade) {
        issuer(config, problems);
    }
    if let (Some(path), Reader::Client | Reader::Record | Reader::Relay | Reader::Facade | Reader::Mcp) =
        (&config.ca_cert, reader)
    {
        readable("ca_cert", path, problems);
    }
}

fn tls(config: &Config, reader: Reader, problems: &mut Vec<Problem>) {
    match (&config.tls.cert, &config.tls.key) {
        (Some(_), None) => problems.push(Problem::new("tls.cert", "needs `tls.key` as well")),
        (None, Some(_)) => problems.push(Problem::new("tls.key", "needs `tls.cert` as well")),
        (Some(cert), Some(key)) if matches!(reader, Reader::Up | Reader::Core | Reader::Facade) => {
            readable("tls.cert", cert, problems);
            readable("tls.key", key, problems);
        }
        _ => {}
    }
}

fn bind(key: &str, address: SocketAddr, config: &Config, problems: &mut Vec<Problem>) {
    let protected = config.tls.cert.is_some() || config.behind_proxy;
    if !address.ip().is_loopback() && !protected {
        let text = format!(
            "{address} can be reached from other machines, and tokens would cross the network in clear; give \
             `--tls-cert` and `--tls-key`, or `--behind-proxy` when a proxy in front ends TLS"
        );
        problems.push(Problem::new(key, text));
    }
}

fn checkpoint(config: &Config, problems: &mut Vec<Problem>) {
    let checkpoint = &config.checkpoint;
    if !checkpoint.webhook.is_empty() && !is_webhook(&checkpoint.webhook) {
        let text = "checkpoints go over https:// only, or over http:// to loopback; without user and password, and to no \
                    link-local address";
        problems.push(Problem::new("checkpoint.webhook", text));
    }
    if let Some(path) = &checkpoint.webhook_token_file {
        if checkpoint.webhook.is_empty() {
            problems.push(Problem::new(
                "checkpoint.webhook_token_file",
                "needs `checkpoint.webhook` as well",
            ));
        }
        readable("checkpoint.webhook_token_file", path, problems);
    }
}

// Where it is followed, so that a wrong one is not found out by the first client.
fn issuer(config: &Config, problems: &mut Vec<Problem>) {
    let issuer = &config.jwt.issuer;
    if !issuer.is_empty() && !is_source(issuer) {
        problems.push(Problem::new("jwt.issuer", OVER_TLS));
    }
}

const OVER_TLS: &str = "must begin with https://; plain http:// is for addresses of this machine";

fn jwt(config: &Config, problems: &mut Vec<Problem>) {
    let jwt = &config.jwt;
    if jwt.issuer.is_empty() {
        let others = [
            ("jwt.audience", !jwt.audience.is_empty()),
            ("jwt.jwks_url", !jwt.jwks_url.is_empty()),
            ("jwt.jwks_file", jwt.jwks_file.is_some()),
            ("jwt.tenant", !jwt.tenant.is_empty()),
            ("jwt.profile_claim", !jwt.profile_claim.is_empty()),
        ];
        let given = others.into_iter().filter(|(_, given)| *given);
        problems.extend(given.map(|(key, _)| Problem::new(key, "needs `jwt.issuer` as well")));
        return;
    }
    if jwt.audience.is_empty() {
        let text =
            "must be given with `jwt.issuer`; without it tokens made for other services would be taken";
        problems.push(Problem::new("jwt.audience", text));
    }
    if jwt.role_claim.is_empty() {
        problems.push(Problem::new("jwt.role_claim", "must not be empty"));
    }
    if !jwt.tenant.is_empty() && jwt.tenant.parse::<TenantId>().is_err() {
        let text = "is no id of a tenant; `GET /api/self` tells the one of a token";
        problems.push(Problem::new("jwt.tenant", text));
    }
    match (jwt.jwks_url.as_str(), &jwt.jwks_file) {
        ("", None) => problems.push(Problem::new(
            "jwt.jwks_url",
            "or `jwt.jwks_file` must be given with `jwt.issuer`",
        )),
        ("", Some(path)) => readable("jwt.jwks_file", path, problems),
        (_, Some(_)) => problems.push(Problem::new(
            "jwt.jwks_file",
            "`jwt.jwks_url` is given as well; give one of them",
        )),
        (url, None) if !is_source(url) => problems.push(Problem::new("jwt.jwks_url", OVER_TLS)),
        (_, None) => {}
    }
}

fn oidc(config: &Config, reader: Reader, problems: &mut Vec<Problem>) {
    let oidc = &config.oidc;
    if oidc.issuer.is_empty() {
        let others = [
            ("oidc.client_id", !oidc.client_id.is_empty()),
            ("oidc.client_secret_file", oidc.client_secret_file.is_some()),
            ("oidc.name", !oidc.name.is_empty()),
            ("oidc.roles", !oidc.roles.is_empty()),
            ("oidc.tenant", !oidc.tenant.is_empty()),
            ("oidc.profile", !oidc.profile.is_empty()),
        ];
        let given = others.into_iter().filter(|(_, given)| *given);
        problems.extend(given.map(|(key, _)| Problem::new(key, "needs `oidc.issuer` as well")));
        return;
    }
    if !is_source(&oidc.issuer) {
        problems.push(Problem::new("oidc.issuer", OVER_TLS));
    }
    if oidc.client_id.is_empty() {
        problems.push(Problem::new("oidc.client_id", "must be given with `oidc.issuer`"));
    }
    if oidc.role_claim.is_empty() {
        problems.push(Problem::new("oidc.role_claim", "must not be empty"));
    }
    if !oidc.tenant.is_empty() && oidc.tenant.parse::<TenantId>().is_err() {
        let text = "is no id of a tenant; `GET /api/self` tells the one of a token";
        problems.push(Problem::new("oidc.tenant", text));
    }
    if let Some(path) = &oidc.client_secret_file {
        readable("oidc.client_secret_file", path, problems);
    }
    // People are sent back to it by their browsers, wherever these are.
    let is_reached = reader == Reader::Core || config.behind_proxy || !config.http.ip().is_loopback();
    if is_reached && config.public_url.is_empty() {
        let text =
            "needs `public_url` as well, for people come back from the provider to an address below it";
        problems.push(Problem::new("oidc.issuer", text));
    }
}

fn readable(key: &str, path: &Path, problems: &mut Vec<Problem>) {
    if let Err(error) = std::fs::File::open(path) {
        problems.push(Problem::new(
            key,
            format!("{} cannot be read: {error}", path.display()),
        ));
    }
}
