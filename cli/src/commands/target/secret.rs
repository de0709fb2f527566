//! A secret that is typed or piped in: one line, never shown, wiped when it is no longer needed.
//!
//! On a terminal echo is off while it is typed, and back on whatever happens. The line is edited here, so that Ctrl-C
//! ends the question and leaves the terminal as it was.

use std::io::{IsTerminal, Write};

use rustix::{
    io::read,
    stdio::stdin,
    termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr},
};
use zeroize::Zeroizing;

use crate::failure::{Exit, Failure};

/// The longest line; no credential is longer.
const LONGEST: usize = 64 * 1024;

type Line = Zeroizing<Vec<u8>>;

/// Asks for it on the terminal, or reads it from standard input where that is wanted.
pub(super) async fn ask(what: &str, piped: bool) -> Result<Zeroizing<String>, Failure> {
    let on_terminal = std::io::stdin().is_terminal();
    if !piped && !on_terminal {
        return Err(
            Failure::usage(format!("{what} is asked for on a terminal, and there is none"))
                .next("pipe it in and say so with --credential-stdin; an argument would show it to others"),
        );
    }
    let prompt = on_terminal.then(|| format!("{what}: "));
    let reading = tokio::task::spawn_blocking(move || match prompt {
        Some(prompt) => typed(&prompt),
        None => line(),
    });
    let line = reading
        .await
        .map_err(|lost| Failure::failed(lost.to_string()))??;
    text(&line).ok_or_else(|| {
        Failure::usage(format!("{what} is empty or no text")).next("nothing was sent; try again")
    })
}

fn typed(prompt: &str) -> Result<Line, Failure> {
    let quiet = Quiet::begin()?;
    // Standard output may be read by a program.
    let mut err = std::io::stderr();
    write!(err, "{prompt}").and_then(|()| err.flush())?;
    let line = line();
    drop(quiet);
    writeln!(err)?;
    line
}

fn line() -> Result<Line, Failure> {
    // All of its room at once: growing would leave copies behind.
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
    let mut byte = [0_u8];
    loop {
        let came = loop {
            match read(stdin(), &mut byte) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other.map_err(|error| Failure::failed(format!("cannot read it: {error}")))?,
            }
        };
        match edit(&mut line, (came > 0).then_some(byte[0])) {
            Step::More => {}
            Step::Done => return Ok(line),
            Step::Cancelled => return Err(Failure::new(Exit::Failed, "cancelled; nothing was sent")),
            Step::TooLong => return Err(Failure::usage("a credential has at most 64 KiB")),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    More,
    Done,
    Cancelled,
    TooLong,
}

/// One key, or the end of the input.
fn edit(line: &mut Vec<u8>, key: Option<u8>) -> Step {
    match key {
        None | Some(b'\n' | b'\r' | 0x04) => Step::Done,
        Some(0x03) => Step::Cancelled,
        Some(0x08 | 0x7f) => {
            // Of a character of several bytes, all of them.
            while line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
            Step::More
        }
        // Ctrl-U
        Some(0x15) => {
            line.clear();
            Step::More
        }
        Some(_) if line.len() >= LONGEST => Step::TooLong,
        Some(byte) => {
            line.push(byte);
            Step::More
        }
    }
}

fn text(line: &[u8]) -> Option<Zeroizing<String>> {
    let text = std::str::from_utf8(line).ok()?.trim();
    (!text.is_empty()).then(|| Zeroizing::new(text.to_owned()))
}

/// A terminal that shows nothing and leaves every key to us; as it was before, once this is dropped.
struct Quiet {
    before: Termios,
}

impl Quiet {
    fn begin() -> Result<Self, Failure> {
        let cannot = |error| Failure::failed(format!("the terminal cannot be told to show nothing: {error}"));
        let before = tcgetattr(stdin()).map_err(cannot)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        tcsetattr(stdin(), OptionalActions::Flush, &quiet).map_err(cannot)?;
        Ok(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // There is nobody to tell: the shell sets its terminal up anew.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_as_people_expect() {
        let check = |keys: &[u8], expected: &str, end: Step| {
            let mut line = Vec::new();
            let mut step = Step::More;
            for key in keys {
                step = edit(&mut line, Some(*key));
                if step != Step::More {
                    break;
                }
            }
            assert_eq!(
                (String::from_utf8_lossy(&line).as_ref(), step),
                (expected, end),
                "{keys:?}"
            );
        };
        check(b"hush\n", "hush", Step::Done);
        check(b"hush\r", "hush", Step::Done);
        check(b"hush\x04", "hush", Step::Done);
        check(b"husk\x7fh\n", "hush", Step::Done);
        check("hush\u{e4}\x7f\n".as_bytes(), "hush", Step::Done);
        check(b"\x7f\n", "", Step::Done);
        check(b"wrong\x15hush\n", "hush", Step::Done);
        check(b"hu\x03", "hu", Step::Cancelled);
    }

    #[test]
    fn the_end_of_the_input_ends_the_line_and_a_line_has_its_limit() {
        let mut line = b"hush".to_vec();
        assert_eq!(edit(&mut line, None), Step::Done);
        let mut line = vec![b'a'; LONGEST];
        assert_eq!(edit(&mut line, Some(b'a')), Step::TooLong);
    }

    #[test]
    fn white_space_around_is_no_part_of_it_and_nothing_is_none() {
        for (line, expected) in [
            (&b" hush \r"[..], Some("hush")),
            (b"", None),
            (b"  ", None),
            (b"\xff", None),
        ] {
            assert_eq!(text(line).as_deref().map(String::as_str), expected);
        }
    }
}
