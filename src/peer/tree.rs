//! Which processes belong to a server, and how do all of them end?
//!
//! Its process group; on Linux also what descends from it, and what carries its mark in the environment,
//! which finds a child that left the group with setsid(2) and outlived its parent. What escapes: a process
//! that left the group, was orphaned, and wiped its environment.

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// The environment variable that marks a server and all it starts. Its value is a list of marks, separated
/// by colons: a server that is itself a driver adds its own to ours.
pub(super) const MARK: &str = "MCP_LITMUS_MARK";

/// Asks the whole group of `leader` to end.
pub(super) fn terminate(leader: i32) {
    // An error means that nobody is left.
    let _ = killpg(Pid::from_raw(leader), Signal::SIGTERM);
}

/// Ends every process that belongs to the server started as `leader`, which leads its own process group.
#[cfg(not(target_os = "linux"))]
pub(super) fn end(leader: i32, _mark: &str) {
    let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
}

/// Ends every process that belongs to the server started as `leader`, which leads its own process group and
/// carries `mark`. Also to be called when the leader is gone, soon enough that its number is not in use again.
#[cfg(target_os = "linux")]
pub(super) fn end(leader: i32, mark: &str) {
    /// Each round finds what was started during the one before.
    const ROUNDS: usize = 32;
    let mut ended = std::collections::HashSet::new();
    for round in 0..ROUNDS {
        // Looked for before the first signal: with its parent, a child loses what tells whose it is.
        let found: Vec<i32> =
            linux::members(leader, mark).into_iter().filter(|pid| ended.insert(*pid)).collect();
        if round == 0 && !found.is_empty() {
            let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
        }
        for pid in &found {
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        if found.is_empty() {
            return;
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::MARK;
    use std::collections::HashSet;
    use std::fs;

    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Status {
        pub state: char,
        pub parent: i32,
        pub group: i32,
    }

    /// Every living process of the server, in no order.
    pub(super) fn members(leader: i32, mark: &str) -> HashSet<i32> {
        let mut others: Vec<(i32, Status)> = living();
        let ours = i32::try_from(std::process::id()).unwrap_or(0);
        others.retain(|(pid, _)| *pid != ours && *pid > 1);
        let mut members = HashSet::new();
        // Those that say so themselves, then whatever they started, and what that started.
        loop {
            let before = members.len();
            others.retain(|(pid, status)| {
                let belongs = status.group == leader
                    || members.contains(&status.parent)
                    || (before == 0 && is_marked(*pid, mark));
                if belongs {
                    members.insert(*pid);
                }
                !belongs
            });
            if members.len() == before {
                return members;
            }
        }
    }

    fn living() -> Vec<(i32, Status)> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid: i32| {
                let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
                Some((pid, parse(&String::from_utf8_lossy(&stat))?))
            })
            .filter(|(_, status)| !matches!(status.state, 'Z' | 'X'))
            .collect()
    }

    /// Reads a line of `/proc/PID/stat`. The name in it may hold anything, parentheses and spaces included.
    pub(super) fn parse(stat: &str) -> Option<Status> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        Some(Status {
            state: fields.next()?.chars().next()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
        })
    }

    fn is_marked(pid: i32, mark: &str) -> bool {
        // Unreadable: it runs as somebody else, or has just ended.
        fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| carries(&environment, mark))
    }

    pub(super) fn carries(environment: &[u8], mark: &str) -> bool {
        environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| variable.strip_prefix(MARK.as_bytes())?.strip_prefix(b"="))
            .any(|marks| marks.split(|byte| *byte == b':').any(|part| part == mark.as_bytes()))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::linux::{Status, carries, parse};

    #[test]
    fn a_process_name_cannot_forge_its_fields() {
        let stat = "4242 (evil) R 1 1 (x)) S 17 4000 4000 0 -1";
        assert_eq!(parse(stat), Some(Status { state: 'S', parent: 17, group: 4000 }));
        assert_eq!(parse("4242 (cut"), None);
        assert_eq!(parse("4242 (cut) S 17"), None);
    }

    #[test]
    fn a_mark_is_found_whole_and_in_its_own_variable_only() {
        assert!(carries(b"A=1\0MCP_LITMUS_MARK=aa:bb\0B=2", "bb"));
        assert!(!carries(b"MCP_LITMUS_MARK=aabb\0", "bb"));
        assert!(!carries(b"OTHER=MCP_LITMUS_MARK=bb\0", "bb"));
        assert!(!carries(b"", "bb"));
    }
}
