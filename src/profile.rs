//! How is the server started, and what does its author know that the driver cannot guess?
//!
//! Read from `litmus.yaml`, or built in for a few well-known servers. Nothing here runs.

use crate::case::model::Template;
use std::time::Duration;

/// What a user tells about a server. Everything is optional.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    /// The command line of a stdio server; `${tmp}` is a fresh empty directory.
    pub stdio: Option<Vec<String>>,
    pub environment: Vec<(String, String)>,
    pub directory: Option<String>,
    /// URIs that the `touch` hook can change.
    pub touchable: Vec<String>,
    /// A URI that the server does not have.
    pub absent: Option<String>,
    /// Values of template variables, by variable name.
    pub variables: Vec<(String, String)>,
    /// Once per session, before its first stimulus.
    pub setup: Vec<Hook>,
    pub touch: Option<Hook>,
    pub add: Option<Hook>,
    pub remove: Option<Hook>,
    /// How long a notification may take to follow a change.
    pub patience: Option<Duration>,
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
