//! How is the HTTP server of a profile, or of the command line, reached?

use super::{HttpServer, Profile, ProfileLauncher};
use crate::case::model::Template;
use crate::check::bindings::{Bindings, TemplateError};
use crate::mask::Masks;
use crate::peer::http::launched::{Launched, Start};
use crate::peer::http::{Address, BadAddress, HttpLauncher};
use crate::peer::{LaunchError, Launcher};
use hyper::header::{HeaderName, HeaderValue};
use std::sync::Arc;
use std::time::Duration;

/// Headers that say what the driver does, and not who asks. Twice, or with another value, each makes a request that
/// servers may refuse.
const OWN: [&str; 13] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
    "upgrade",
];

/// Why a server over HTTP cannot be tried: the user's error.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    Address(#[from] BadAddress),
    #[error("`{0}` is no name of a header")]
    HeaderName(String),
    #[error("the value of the header `{0}` cannot be sent")]
    HeaderValue(String),
    #[error(
        "the header `{0}` is the driver's own: leave it out, since what it says is part of what is tested"
    )]
    OwnHeader(HeaderName),
    #[error("`${{port}}` is the port of a server that is started: give its command too, or the port itself")]
    NoCommand,
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("nothing is known as `${{{0}}}` in a URL or a command: only `${{port}}` is")]
    UnknownName(String),
}

impl HttpServer {
    /// A server of the command line; without words it runs already.
    pub fn given(url: &str, words: &[&str]) -> Result<Self, HttpError> {
        let words: Result<Vec<Template>, HttpError> = words.iter().map(|word| template(word)).collect();
        let command = Some(words?).filter(|words| !words.is_empty());
        Ok(Self { url: template(url)?, command, headers: Vec::new() })
    }

    /// The URL as a report shows it, with `${port}` as it stands.
    pub fn shown_url(&self) -> String {
        self.url_on("${port}")
    }

    /// All of it that a report must not show.
    pub fn add_secrets(&self, masks: &mut Masks) {
        masks.add_url(&self.shown_url());
        for (name, value) in &self.headers {
            masks.add_header(name, value);
        }
    }

    fn url_on(&self, port: &str) -> String {
        let mut names = Bindings::new();
        names.set("port", port);
        names.resolve_text(&self.url).unwrap_or_default()
    }

    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, HttpError> {
        let read = |(name, value): &(String, String)| {
            let key =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| HttpError::HeaderName(name.clone()))?;
            if OWN.contains(&key.as_str()) {
                return Err(HttpError::OwnHeader(key));
            }
            let value = HeaderValue::from_str(value).map_err(|_| HttpError::HeaderValue(name.clone()))?;
            Ok((key, value))
        };
        self.headers.iter().map(read).collect()
    }
}

/// A text in which `${port}` may stand.
fn template(text: &str) -> Result<Template, HttpError> {
    let template = Template::parse_text(text)?;
    let mut unknown = None;
    template.each_reference(&mut |reference| {
        if reference.name != "port" {
            unknown.get_or_insert_with(|| reference.name.clone());
        }
    });
    unknown.map_or(Ok(template), |name| Err(HttpError::UnknownName(name)))
}

pub(super) fn launcher(
    profile: &Profile,
    server: &HttpServer,
    limit: Duration,
) -> Result<Arc<dyn Launcher>, HttpError> {
    let headers = server.headers()?;
    // Any port shows whether the rest of the URL is right.
    let address: Address = server.url_on("1").parse()?;
    match &server.command {
        None if server.shown_url().contains("${port}") => Err(HttpError::NoCommand),
        None => Ok(Arc::new(HttpLauncher::new(address.site(headers)))),
        Some(words) => {
            let start =
                Process { launcher: ProfileLauncher::new(profile, words.clone()), server: server.clone() };
            Ok(Arc::new(Launched::new(Box::new(start), headers, limit)))
        }
    }
}

struct Process {
    launcher: ProfileLauncher,
    server: HttpServer,
}

impl Start for Process {
    fn start(&self, port: u16) -> Result<Box<dyn Launcher>, LaunchError> {
        match self.launcher.next_on(Some(port)) {
            Ok(launcher) => Ok(Box::new(launcher)),
            Err(error) => Err(LaunchError::Failed { program: self.name(), reason: error.to_string() }),
        }
    }

    fn address(&self, port: u16) -> Result<Address, LaunchError> {
        let url = self.server.url_on(&port.to_string());
        url.parse().map_err(|error: BadAddress| LaunchError::Failed {
            program: self.name(),
            reason: error.to_string(),
        })
    }

    fn name(&self) -> String {
        self.launcher.command_line().into_iter().next().unwrap_or_default()
    }
}
