//! How does a child process start, and how did it end?
//!
//! Which other processes belong to it is told in [`super::tree`]; why it could not start, in [`super::stdio`].

use super::pump::{Body, Streams};
use super::stdio::StdioLauncher;
use crate::transcript::Exit;
use std::io;
use std::process::{ExitStatus, Stdio};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A child process, and with it whatever it starts. Dropping it ends all of them at once.
pub(super) struct Process {
    child: Child,
    /// Its number, which is also that of its process group.
    leader: Option<u32>,
    mark: String,
    exit: Option<ExitStatus>,
    terminated: bool,
    killed: bool,
    /// Nothing is left to end.
    swept: bool,
}

pub(super) type Pipes = Streams<ChildStdin, ChildStdout, ChildStderr>;

impl Process {
    pub(super) fn start(launcher: &StdioLauncher) -> io::Result<(Self, Pipes)> {
        let mark = new_mark();
        let mut command = Command::new(&launcher.program);
        command
            .args(&launcher.arguments)
            .envs(launcher.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &launcher.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        {
            let marks = match std::env::var(super::tree::MARK) {
                Ok(outer) => format!("{outer}:{mark}"),
                Err(_) => mark.clone(),
            };
            command.env(super::tree::MARK, marks).process_group(0);
        }
        #[cfg(not(unix))]
        command.kill_on_drop(true);
        let mut child = command.spawn()?;
        let leader = child.id();
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Made before the pipes are looked at, so that the child ends even if one should be missing.
        let process =
            Self { child, leader, mark, exit: None, terminated: false, killed: false, swept: false };
        match pipes {
            (Some(input), Some(output), Some(stderr)) => {
                Ok((process, Streams { input, output, stderr: Some(stderr) }))
            }
            _ => Err(io::Error::other("its pipes are missing")),
        }
    }

    fn describe(&self, status: ExitStatus) -> Exit {
        #[cfg(unix)]
        {
            use nix::sys::signal::Signal;
            use std::os::unix::process::ExitStatusExt;
            let signal = status.signal();
            let by_us = match signal {
                Some(signal) if signal == Signal::SIGKILL as i32 => self.killed,
                Some(signal) if signal == Signal::SIGTERM as i32 => self.terminated,
                Some(_) => false,
                None => self.terminated,
            };
            Exit { status: status.code(), signal, by_us }
        }
        #[cfg(not(unix))]
        Exit { status: status.code(), signal: None, by_us: self.killed || self.terminated }
    }
}

impl Body for Process {
    async fn exited(&mut self) -> Exit {
        let status = match self.exit {
            Some(status) => status,
            None => match self.child.wait().await {
                Ok(status) => *self.exit.insert(status),
                // It cannot be waited for, so nothing is known; the sweep still ends it.
                Err(_) => return Exit { status: None, signal: None, by_us: self.killed || self.terminated },
            },
        };
        self.describe(status)
    }

    fn terminate(&mut self) {
        #[cfg(unix)]
        if let (None, Some(leader)) = (self.exit, self.leader.and_then(|id| i32::try_from(id).ok())) {
            self.terminated = true;
            super::tree::terminate(leader);
        }
        #[cfg(not(unix))]
        self.kill();
    }

    fn kill(&mut self) {
        if self.swept {
            return;
        }
        if self.exit.is_none() {
            self.killed = true;
        } else {
            // The last sweep: later, its number may belong to somebody else.
            self.swept = true;
        }
        #[cfg(unix)]
        if let Some(leader) = self.leader.and_then(|id| i32::try_from(id).ok()) {
            super::tree::end(leader, &self.mark);
        }
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// 128 bits that nobody else uses: the standard library seeds its hashers from the system's random source.
fn new_mark() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let draw = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", draw(), draw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_and_hold_no_separator() {
        let marks: std::collections::HashSet<String> = (0..1000).map(|_| new_mark()).collect();
        assert_eq!(marks.len(), 1000);
        assert!(marks.iter().all(|mark| mark.len() == 32 && !mark.contains(':')));
    }
}
