//! A real PostgreSQL 16 for tests.
//!
//! [`Cluster::shared`] is one server for all tests of a process, fast and never hurt; [`Cluster::own`] is a server of
//! one test's own, to be killed, stopped and starved. Each test takes a fresh [`Database`] from either. `postgres` runs
//! as a direct child, unprivileged, on 127.0.0.1 only, and nothing of it outlives the test process, however that ends.
//!
//! Knows nothing of this project: no schema, no roles, no crate of the workspace. The binaries are those that
//! `tests/run` puts into `target/test-tools/postgres`, or those in `$TOOLGATE_POSTGRES_DIR`; a test asks [`available`]
//! first and returns where there are none.

mod binaries;
mod cluster;
mod database;
mod disk;
mod ground;
mod not_run;

pub use binaries::{available, missing};
pub use cluster::{Cluster, Setup};
pub use database::Database;
pub use disk::SmallDisk;
pub use not_run::not_run;

#[cfg(test)]
mod tests;
