//! What this machine calls itself.

/// The machine's host name, as far as it is text; `host` when it has none.
pub(crate) fn hostname() -> String {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    if name.is_empty() { "host".into() } else { name }
}
