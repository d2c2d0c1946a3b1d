//! How is the server started, and what does its author know that the driver cannot guess?
//!
//! Read from `litmus.yaml` (`load`), or built in for a few well-known servers (`known`); `launch` starts it. What a
//! hook does when it is pulled is for `run::stimulus`.

use crate::case::model::Template;
use crate::mask::Masks;
use crate::peer::Launcher;
use crate::wire::Json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

mod http;
pub mod known;
pub mod launch;
pub mod load;
mod text;

pub use http::HttpError;
pub use launch::ProfileLauncher;
pub use load::{LoadError, file, parse};

/// The file that is looked for in the working directory when none is named.
pub const FILE: &str = "litmus.yaml";

/// What a user tells about a server. Everything is optional.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The command line of a stdio server; `${nonce}` is a new word for each start.
    pub stdio: Option<Vec<Template>>,
    /// The server over HTTP.
    pub http: Option<HttpServer>,
    /// Added to our own environment, or replacing what is there; `${nonce}` as in `stdio`.
    pub environment: Vec<(String, Template)>,
    /// Where the server runs; our own working directory otherwise.
    pub directory: Option<PathBuf>,
    /// So many processes of the server may run at once.
    pub instances: Option<usize>,
    /// URIs that the `touch` hook can change.
    pub touchable: Vec<String>,
    /// A URI that the server does not have.
    pub absent: Option<String>,
    /// A URI whose read asks the client for something first.
    pub asking: Option<String>,
    /// What it asks for: an answer for each of the server's keys.
    pub input: Option<Json>,
    /// A URI whose read takes a second or more, and tells of its progress.
    pub slow: Option<String>,
    /// A URI whose read goes wrong inside the server.
    pub failing: Option<String>,
    /// The params of a `tools/call` whose result embeds a resource.
    pub embedding: Option<Json>,
    /// The params of a `tools/call` whose result links to a resource.
    pub linking: Option<Json>,
    /// Values of template variables, by variable name.
    pub variables: Vec<(String, String)>,
    /// Once per session, before its first stimulus.
    pub setup: Vec<Hook>,
    pub touch: Option<Hook>,
    pub add: Option<Hook>,
    pub remove: Option<Hook>,
    /// How long a notification may take to follow a change.
    pub patience: Option<Duration>,
    /// Values that came from `${env:NAME}`.
    secrets: Vec<String>,
    /// What `${tmp}` stands for, where it was used; removed when the last clone of the profile is gone.
    folder: Option<Arc<TempDir>>,
}

/// A server that is spoken to over HTTP.
#[derive(Debug, Clone)]
pub struct HttpServer {
    /// Where it listens; `${port}` is a port that is free when it is started.
    pub url: Template,
    /// Starts it; without one it runs already. `${port}` and `${nonce}` may stand in it.
    pub command: Option<Vec<Template>>,
    /// What every request carries.
    pub headers: Vec<(String, String)>,
}

/// A way to make a server change.
#[derive(Debug, Clone)]
pub enum Hook {
    /// A tool call on the same session.
    Tool { name: String, arguments: Template },
    /// A request of any method on the same session.
    Method { method: String, params: Option<Template> },
    /// A command beside the server.
    Run(Vec<Template>),
    /// The server changes by itself within this time.
    Wait(Duration),
}

impl Profile {
    /// The user's profile, completed member by member by the one that is built in for the server.
    ///
    /// What belongs to a `touch` hook stays with it: a user's hook is neither set up nor pointed at resources by
    /// the built-in profile.
    pub fn merged(user: Self, known: Self) -> Self {
        let own_touch = user.touch.is_some();
        let both = |user: Vec<_>, known: Vec<_>| if user.is_empty() && !own_touch { known } else { user };
        let mut variables = user.variables;
        for (name, value) in known.variables {
            if !variables.iter().any(|(own, _)| *own == name) {
                variables.push((name, value));
            }
        }
        Self {
            stdio: user.stdio.or(known.stdio),
            http: user.http.or(known.http),
            environment: if user.environment.is_empty() { known.environment } else { user.environment },
            directory: user.directory.or(known.directory),
            instances: user.instances.or(known.instances),
            touchable: if user.touchable.is_empty() && !own_touch { known.touchable } else { user.touchable },
            absent: user.absent.or(known.absent),
            asking: user.asking.or(known.asking),
            input: user.input.or(known.input),
            slow: user.slow.or(known.slow),
            failing: user.failing.or(known.failing),
            embedding: user.embedding.or(known.embedding),
            linking: user.linking.or(known.linking),
            variables,
            setup: both(user.setup, known.setup),
            touch: user.touch.or(known.touch),
            add: user.add.or(known.add),
            remove: user.remove.or(known.remove),
            patience: user.patience.or(known.patience),
            secrets: user.secrets.into_iter().chain(known.secrets).collect(),
            folder: user.folder.or(known.folder),
        }
    }

    /// Starts the server that the profile names; none if it names none.
    pub fn launcher(&self) -> Option<ProfileLauncher> {
        self.stdio.as_ref().map(|words| ProfileLauncher::new(self, words.clone()))
    }

    /// Starts a process of the profile's server with these words.
    pub fn launcher_for(&self, words: Vec<Template>) -> ProfileLauncher {
        ProfileLauncher::new(self, words)
    }

    /// Starts this command instead of the profile's, with the profile's environment and directory.
    pub fn launcher_of(&self, program: OsString, arguments: Vec<OsString>) -> ProfileLauncher {
        ProfileLauncher::of(self, program, arguments)
    }

    /// The way to a server over HTTP: started first where there is a command for it.
    ///
    /// # Errors
    /// The URL or a header is none.
    pub fn http_launcher(
        &self,
        server: &HttpServer,
        start_limit: Duration,
    ) -> Result<Arc<dyn Launcher>, HttpError> {
        http::launcher(self, server, start_limit)
    }

    /// All that a report must not show: values of `${env:NAME}`, and of variables whose names say that they are
    /// secret, whether inherited or from `env`; of headers and of the URL, what proves who asks.
    pub fn masks(&self) -> Masks {
        let inherited = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let own = self.environment.iter().filter_map(|(name, value)| match value {
            Template::Literal(value) => Some((name.clone(), value.as_str()?.to_owned())),
            _ => None,
        });
        let mut masks = Masks::from_variables(inherited.chain(own));
        for secret in &self.secrets {
            masks.add(secret);
        }
        if let Some(server) = &self.http {
            server.add_secrets(&mut masks);
        }
        masks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_members_win_one_by_one() {
        let known = parse_text(
            "touchable: [a:1]\nvariables: {id: '1', name: x}\npatience: 7s\n\
             stimuli: {setup: [{wait: 1s}], touch: {wait: 6s}, add: {tool: grow}}\n",
        );
        let user = parse_text("variables: {id: '2'}\nabsent: a:none\nstimuli: {add: {wait: 2s}}\n");
        let both = Profile::merged(user, known.clone());
        assert_eq!(both.touchable, ["a:1"]);
        assert_eq!(both.absent.as_deref(), Some("a:none"));
        assert_eq!(both.patience, Some(Duration::from_secs(7)));
        assert_eq!(both.variables, [("id".into(), "2".into()), ("name".into(), "x".into())]);
        assert!(matches!(both.touch, Some(Hook::Wait(time)) if time.as_secs() == 6));
        assert!(matches!(both.add, Some(Hook::Wait(time)) if time.as_secs() == 2));
        assert_eq!(both.setup.len(), 1);

        let own_touch = Profile::merged(parse_text("stimuli: {touch: {tool: poke}}\n"), known);
        assert!(own_touch.setup.is_empty(), "the built-in setup belongs to the built-in touch");
        assert!(own_touch.touchable.is_empty(), "and so do its URIs");
        assert!(matches!(own_touch.touch, Some(Hook::Tool { name, .. }) if name == "poke"));
    }

    #[test]
    fn secrets_of_the_environment_are_masked() {
        let text = "env: {A: 'x ${env:WORD}', API_TOKEN: 'plain-secret', B: 'harmless'}\n";
        let source = crate::case::source::Source::new("litmus.yaml", text);
        let variable = |name: &str| (name == "WORD").then(|| "hunter2".to_owned());
        let masks = load::parse(&source, &variable).unwrap().masks();
        let shown = masks.apply("hunter2 plain-secret harmless").0.into_owned();
        assert_eq!(shown, "[masked] [masked] harmless");
    }

    #[test]
    fn secrets_of_the_way_to_the_server_are_masked() {
        let profile =
            parse_text("http: {url: 'http://h/mcp?key=hunter22', headers: {X-Key: '1234567', X-Level: '2'}}");
        let shown = profile.masks().apply("hunter22 1234567 2").0.into_owned();
        assert_eq!(shown, "[masked] [masked] 2");
    }

    fn parse_text(text: &str) -> Profile {
        load::parse(&crate::case::source::Source::new("litmus.yaml", text), &|_| None).unwrap()
    }
}
