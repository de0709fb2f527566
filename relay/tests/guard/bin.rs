//! A guard of its own, for the tests of this crate; the product calls itself as `toolgate __guard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate_relay::guard_main()
}
