//! How is the server of a profile started, each time afresh?

use super::Profile;
use crate::case::model::Template;
use crate::check::bindings::{Bindings, Unresolved};
use crate::peer::stdio::StdioLauncher;
use crate::peer::{LaunchError, Launcher, Launching};
use crate::record::Transport;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Starts a stdio server with the environment and in the directory of a profile.
#[derive(Debug)]
pub struct ProfileLauncher {
    words: Words,
    environment: Vec<(String, Template)>,
    directory: Option<PathBuf>,
    starts: AtomicU64,
    /// Kept until no server can be started in it.
    _folder: Option<Arc<TempDir>>,
}

#[derive(Debug)]
enum Words {
    Profile(Vec<Template>),
    Given(OsString, Vec<OsString>),
}

impl ProfileLauncher {
    pub(super) fn new(profile: &Profile, words: Vec<Template>) -> Self {
        Self::starting(profile, Words::Profile(words))
    }

    pub(super) fn of(profile: &Profile, program: OsString, arguments: Vec<OsString>) -> Self {
        Self::starting(profile, Words::Given(program, arguments))
    }

    fn starting(profile: &Profile, words: Words) -> Self {
        Self {
            words,
            environment: profile.environment.clone(),
            directory: profile.directory.clone(),
            starts: AtomicU64::new(0),
            _folder: profile.folder.clone(),
        }
    }

    /// The command line as a report shows it, with `${nonce}` as it stands.
    pub fn command_line(&self) -> Vec<String> {
        let mut names = Bindings::new();
        names.set("nonce", "${nonce}");
        names.set("port", "${port}");
        match &self.words {
            Words::Given(program, arguments) => std::iter::once(program)
                .chain(arguments)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            Words::Profile(words) => {
                words.iter().map(|word| names.resolve_text(word).unwrap_or_default()).collect()
            }
        }
    }

    /// The launcher of the next process.
    fn next(&self) -> Result<StdioLauncher, Unresolved> {
        self.next_on(None)
    }

    /// As [`ProfileLauncher::next`], where the server is to listen on a port.
    pub(super) fn next_on(&self, port: Option<u16>) -> Result<StdioLauncher, Unresolved> {
        let start = self.starts.fetch_add(1, Ordering::Relaxed) + 1;
        let mut names = Bindings::new();
        names.set("nonce", format!("{}-{start}", std::process::id()));
        if let Some(port) = port {
            names.set("port", port.to_string());
        }
        let (program, arguments) = match &self.words {
            Words::Given(program, arguments) => (program.clone(), arguments.clone()),
            Words::Profile(words) => {
                let filled: Result<Vec<String>, _> =
                    words.iter().map(|word| names.resolve_text(word)).collect();
                let mut words = filled?.into_iter().map(OsString::from);
                (words.next().unwrap_or_default(), words.collect())
            }
        };
        let environment: Result<_, Unresolved> = self
            .environment
            .iter()
            .map(|(name, value)| Ok((name.into(), names.resolve_text(value)?.into())))
            .collect();
        Ok(StdioLauncher { program, arguments, environment: environment?, directory: self.directory.clone() })
    }
}

impl Launcher for ProfileLauncher {
    fn launch(&self) -> Launching<'_> {
        Box::pin(async {
            let launcher = self.next().map_err(|error| LaunchError::Failed {
                program: self.command_line().into_iter().next().unwrap_or_default(),
                reason: error.to_string(),
            })?;
            launcher.launch().await
        })
    }

    fn transport(&self) -> Transport {
        Transport::Stdio
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use crate::case::source::Source;
    use crate::peer::{Incoming, Launcher};
    use crate::profile::load;

    async fn output(launcher: &dyn Launcher) -> String {
        let mut peer = launcher.launch().await.unwrap();
        let mut bytes = Vec::new();
        while let Some(incoming) = peer.output.recv().await {
            match incoming {
                Incoming::Output(more) => bytes.extend(more),
                Incoming::Exited(_) => break,
                _ => {}
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn each_start_has_the_environment_a_new_nonce_and_the_same_folder() {
        let text = "stdio: [sh, -c, 'echo \"$MARK $1\"; pwd', sh, '${tmp}/${nonce}']\n\
                    env: {MARK: 'm-${nonce}'}\ncwd: /\n";
        let profile = load::parse(&Source::new("litmus.yaml", text), &|_| None).unwrap();
        let launcher = profile.launcher().unwrap();
        let (first, second) = (output(&launcher).await, output(&launcher).await);
        let parts = |text: &str| -> (String, String, String) {
            let (line, directory) = text.trim_end().split_once('\n').unwrap();
            assert_eq!(directory, "/");
            let (mark, path) = line.split_once(' ').unwrap();
            let (folder, nonce) = path.rsplit_once('/').unwrap();
            (mark.to_owned(), folder.to_owned(), nonce.to_owned())
        };
        let ((mark, folder, nonce), (_, folder_again, other)) = (parts(&first), parts(&second));
        assert_eq!(mark, format!("m-{nonce}"));
        assert_eq!(folder, folder_again);
        assert_ne!(nonce, other);
        assert_eq!(launcher.command_line()[4], format!("{folder}/${{nonce}}"));

        let given = profile.launcher_of("sh".into(), vec!["-c".into(), "echo \"${MARK%-*}\"; pwd".into()]);
        assert!(output(&given).await.starts_with("m-"));
        drop((launcher, given, profile));
        assert!(!std::path::Path::new(&folder).exists());
    }
}
