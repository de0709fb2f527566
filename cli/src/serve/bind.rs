//! Takes a port, or says who has it and what to do.

use std::{io, net::SocketAddr};

use tokio::net::TcpListener;

use super::owner::{self, Owner};
use crate::failure::Failure;

/// A listener on the address of a setting.
pub(super) async fn bind(key: &str, address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address)
        .await
        .map_err(|error| refused(key, address, &error, owner::of(address.port())))
}

/// The address that was really taken: port 0 has become a number.
pub(super) fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener
        .local_addr()
        .map_err(|error| Failure::failed(format!("a listener has no address: {error}")))
}

fn refused(key: &str, address: SocketAddr, error: &io::Error, owner: Option<Owner>) -> Failure {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            let holder = owner
                .as_ref()
                .map_or_else(|| "another process".into(), ToString::to_string);
            Failure::failed(format!("{key} {address} is taken by {holder}")).next(taken(key, owner.as_ref()))
        }
        io::ErrorKind::PermissionDenied => {
            Failure::failed(format!("{key} {address} may not be taken by this user: {error}"))
                .next(format!("give a port of 1024 or more with --{key}"))
        }
        io::ErrorKind::AddrNotAvailable => {
            Failure::failed(format!("{key} {address} is no address of this machine")).next(format!(
                "give one of its own with --{key}; 127.0.0.1 is always there"
            ))
        }
        _ => Failure::failed(format!("{key} {address} cannot be taken: {error}"))
            .next(format!("give another address with --{key}")),
    }
}

fn taken(key: &str, owner: Option<&Owner>) -> String {
    match owner {
        Some(Owner { pid, program }) if program.starts_with("toolgate") => format!(
            "a gateway runs there already: `toolgate doctor` talks to it, `kill {pid}` stops it, --{key} ADDR starts a \
             second one beside it"
        ),
        Some(Owner { pid, .. }) if *pid != 0 => {
            format!("stop it (`kill {pid}`), or give another address with --{key}")
        }
        _ => format!("give another address with --{key}"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::{super::owner::Owner, bind, refused};

    fn check(kind: ErrorKind, owner: Option<(u32, &str)>, expected: &str) {
        let owner = owner.map(|(pid, program)| Owner {
            pid,
            program: program.into(),
        });
        let failure = refused("http", "127.0.0.1:80".parse().unwrap(), &Error::from(kind), owner);
        assert_eq!(failure.text(), expected);
    }

    #[test]
    fn a_taken_port_says_by_whom_and_what_to_do() {
        check(
            ErrorKind::AddrInUse,
            Some((7, "nginx")),
            "error: http 127.0.0.1:80 is taken by nginx (pid 7)\nnext: stop it (`kill 7`), or give another address with \
             --http",
        );
        check(
            ErrorKind::AddrInUse,
            Some((7, "toolgate")),
            "error: http 127.0.0.1:80 is taken by toolgate (pid 7)\nnext: a gateway runs there already: `toolgate doctor` \
             talks to it, `kill 7` stops it, --http ADDR starts a second one beside it",
        );
        check(
            ErrorKind::AddrInUse,
            Some((0, "")),
            "error: http 127.0.0.1:80 is taken by a process that may not be looked into\nnext: give another address with --http",
        );
    }

    #[test]
    fn other_refusals_say_what_to_do_as_well() {
        check(
            ErrorKind::PermissionDenied,
            None,
            "error: http 127.0.0.1:80 may not be taken by this user: permission denied\nnext: give a port of 1024 or more \
             with --http",
        );
        check(
            ErrorKind::AddrNotAvailable,
            None,
            "error: http 127.0.0.1:80 is no address of this machine\nnext: give one of its own with --http; 127.0.0.1 is \
             always there",
        );
    }

    #[tokio::test]
    async fn the_holder_of_a_port_is_named_by_its_pid() {
        let first = bind("http", "127.0.0.1:0".parse().unwrap()).await.unwrap();
        let failure = bind("http", first.local_addr().unwrap()).await.unwrap_err();
        assert!(
            failure.message.contains(&format!("(pid {})", std::process::id())),
            "{failure:?}"
        );
    }
}
