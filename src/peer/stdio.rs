//! How is a server started as a child process, and if it does not start, what should the user do?

use super::process::Process;
use super::{LaunchError, Launcher, Launching, pump};
use crate::record::Transport;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Starts a command whose standard input and output are the server's.
#[derive(Debug, Clone)]
pub struct StdioLauncher {
    /// A name to look for on PATH, or a path, relative to `directory`.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// Added to our own environment, or replacing what is there.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs; our own working directory by default.
    pub directory: Option<PathBuf>,
}

impl StdioLauncher {
    pub fn new<A: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            directory: None,
        }
    }
}

impl Launcher for StdioLauncher {
    fn launch(&self) -> Launching<'_> {
        Box::pin(async {
            let (process, streams) = Process::start(self).map_err(|error| self.explain(&error))?;
            Ok(pump::start(streams, process))
        })
    }

    fn transport(&self) -> Transport {
        Transport::Stdio
    }
}

impl StdioLauncher {
    fn explain(&self, error: &io::Error) -> LaunchError {
        let program = self.program.to_string_lossy().into_owned();
        if let Some(directory) = self.directory.as_deref().filter(|directory| !directory.is_dir()) {
            let reason = format!("its working directory `{}` is no directory", directory.display());
            return LaunchError::Failed { program, reason };
        }
        match error.kind() {
            io::ErrorKind::NotFound => LaunchError::NotFound { hint: self.hint_not_found(), program },
            io::ErrorKind::PermissionDenied => {
                LaunchError::NotExecutable { reason: self.reason_denied(), program }
            }
            // The kernel's "exec format error".
            #[cfg(unix)]
            _ if error.raw_os_error() == Some(nix::errno::Errno::ENOEXEC as i32) => {
                LaunchError::NotExecutable { reason: self.reason_format(), program }
            }
            _ => LaunchError::Failed { program, reason: error.to_string() },
        }
    }

    fn hint_not_found(&self) -> String {
        let path = Path::new(&self.program);
        if let Some(interpreter) = self.interpreter() {
            let what = if self.located().is_file() { "" } else { ", and there is no such file" };
            return format!(": it is a script{what}; write `{interpreter} {}`", path.display());
        }
        if self.is_bare() {
            return if self.located().is_file() {
                format!(" on PATH; for the file of that name, write `./{}`", path.display())
            } else {
                " on PATH".to_owned()
            };
        }
        if self.located().is_file() {
            return ": the file exists, but the interpreter or loader that it names does not".to_owned();
        }
        if path.is_relative() {
            return format!(" from the working directory `{}`", self.working_directory().display());
        }
        String::new()
    }

    fn reason_denied(&self) -> String {
        let located = self.located();
        if located.is_dir() {
            return "it is a directory".to_owned();
        }
        if let Some(interpreter) = self.interpreter() {
            return format!("it is a script; write `{interpreter} {}`", Path::new(&self.program).display());
        }
        if !located.is_file() {
            return "permission denied".to_owned();
        }
        format!("the file lacks the permission; `chmod +x {}` grants it", located.display())
    }

    #[cfg(unix)]
    fn reason_format(&self) -> String {
        match self.interpreter() {
            Some(interpreter) => {
                format!(
                    "it is a script without a `#!` line; write `{interpreter} {}`",
                    Path::new(&self.program).display()
                )
            }
            None => "it is no program for this machine, or a script without a `#!` line".to_owned(),
        }
    }

    fn is_bare(&self) -> bool {
        Path::new(&self.program).components().count() == 1 && !self.program.to_string_lossy().contains('/')
    }

    fn working_directory(&self) -> PathBuf {
        self.directory.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// The program as a file, as seen from the working directory.
    fn located(&self) -> PathBuf {
        self.working_directory().join(&self.program)
    }

    /// What runs a file with this ending.
    fn interpreter(&self) -> Option<&'static str> {
        match Path::new(&self.program).extension()?.to_str()? {
            "js" | "mjs" | "cjs" => Some("node"),
            "ts" | "mts" => Some("npx tsx"),
            "py" => Some("python3"),
            "rb" => Some("ruby"),
            "sh" => Some("sh"),
            "jar" => Some("java -jar"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launcher(directory: &Path, program: &str) -> StdioLauncher {
        StdioLauncher { directory: Some(directory.to_owned()), ..StdioLauncher::new(program, [""; 0]) }
    }

    async fn message(directory: &Path, program: &str) -> String {
        loop {
            match launcher(directory, program).launch().await {
                Ok(_) => panic!("{program} started"),
                // Another test forked while the file was being written, and has not yet called exec.
                Err(error) if error.to_string().contains("Text file busy") => {
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
                Err(error) => return error.to_string(),
            }
        }
    }

    #[tokio::test]
    async fn what_does_not_start_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        std::fs::write(here.join("server.py"), "print()").unwrap();
        std::fs::write(here.join("tool"), "text").unwrap();
        std::fs::write(here.join("lost"), "#!/no/such/interpreter\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(here.join("lost"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let seen = here.display();
        for (program, expected) in [
            ("no-such-program", "`no-such-program` was not found on PATH".to_owned()),
            ("tool", "`tool` was not found on PATH; for the file of that name, write `./tool`".to_owned()),
            (
                "./no-such-file",
                format!("`./no-such-file` was not found from the working directory `{seen}`"),
            ),
            ("/no/such/file", "`/no/such/file` was not found".to_owned()),
            (
                "server.py",
                "`server.py` was not found: it is a script; write `python3 server.py`".to_owned(),
            ),
            (
                "./server.py",
                "`./server.py` may not be executed: it is a script; write `python3 ./server.py`".to_owned(),
            ),
            (
                "absent.js",
                "`absent.js` was not found: it is a script, and there is no such file; write `node absent.js`"
                    .to_owned(),
            ),
            (
                "./lost",
                "`./lost` was not found: the file exists, but the interpreter or loader that it names does not"
                    .to_owned(),
            ),
            ("/", "`/` may not be executed: it is a directory".to_owned()),
        ] {
            assert_eq!(message(here, program).await, expected);
        }
        let denied = message(here, "./tool").await;
        assert!(denied.contains("chmod +x"), "{denied}");
        let nowhere = message(&here.join("gone"), "sh").await;
        assert!(nowhere.ends_with("gone` is no directory"), "{nowhere}");
    }
}
