//! A sign of life on the terminal for anything that takes longer than a second.

use std::{io::IsTerminal, time::Duration};

use indicatif::ProgressBar;

const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Waits for the work; shows a spinner after the first second when standard error is a terminal.
pub(crate) async fn while_waiting<T>(label: &str, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    if !std::io::stderr().is_terminal() {
        return work.await;
    }
    // Both are cancel safe: the work is only polled, never dropped here.
    tokio::select! {
        done = &mut work => return done,
        () = tokio::time::sleep(PATIENCE) => {}
    }
    let spinner = ProgressBar::new_spinner().with_message(label.to_owned());
    spinner.enable_steady_tick(TICK);
    let done = work.await;
    spinner.finish_and_clear();
    done
}
