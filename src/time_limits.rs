//! How long does the driver wait, and why that long? Every limit in one place; each has a reason.

use std::time::Duration;

/// From the start of a process to its first answer. Slow starts (a cold interpreter, a package runner that
/// fetches first, a busy machine) are no defect.
pub const START: Duration = Duration::from_secs(30);

/// For the answer to an ordinary request.
pub const REQUEST: Duration = Duration::from_secs(10);

/// `server/discover` against a server that may predate it: at least this, or twice what `initialize` took.
/// Old servers meet it with silence, and waiting longer teaches nothing.
pub const DISCOVER: Duration = Duration::from_secs(2);

/// For a notification that follows a change: no latency is specified, and some servers poll.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// For a change that nobody made: servers that change by themselves often do so every five seconds.
pub const UNPROVOKED: Duration = Duration::from_secs(6);

/// A quiet window when the case names none.
pub const QUIET: Duration = Duration::from_millis(500);

/// A quiet window is at least this many times the delay of the notification that armed it.
pub const QUIET_SCALE: u32 = 4;

/// After the liveness probe was answered, for a late answer to what came before it.
pub const SETTLE: Duration = Duration::from_millis(250);

/// Between closing the server's input and asking it to end. Reference SDKs give clients about two seconds.
pub const GRACE: Duration = Duration::from_secs(2);

/// Between asking it to end and killing it.
pub const LAST_GRACE: Duration = Duration::from_secs(1);

/// For the rest of the output once the process has been told to go.
pub const DRAIN: Duration = Duration::from_secs(2);

/// For a connection to an HTTP server: longer than what a lost packet costs.
pub const CONNECT: Duration = Duration::from_secs(10);

/// After a connection that failed, before the next try.
pub const CONNECT_AGAIN: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// For an HTTP server, or what stands before it, that is not ready yet: so long its opening is tried again,
pub const READY: Duration = Duration::from_secs(5);

/// and this often.
pub const READY_AGAIN: Duration = Duration::from_millis(250);

/// For a hook of the profile that runs a command.
pub const HOOK: Duration = Duration::from_secs(30);

/// For one case as a whole: several patient waits, and a bound on servers that answer slowly without end.
pub const CASE: Duration = Duration::from_secs(180);
