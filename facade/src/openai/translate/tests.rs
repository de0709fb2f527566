//! The frozen translation, case by case: each file of `tests/golden/openai` holds what came in and what went out.
//! `UPDATE=1 cargo test -p toolgate-facade` writes what goes out anew; a change of an existing file breaks integrators.

mod golden;
mod projects;
mod property;
