//! How is the bundled reference server run in our own process?
//!
//! The driver shares no code with it: this file starts it and hands it two pipes, nothing more.

use crate::peer::Launcher;
use crate::peer::http::memory::{Accept, MemoryHttpLauncher};
use crate::peer::memory::{MemoryLauncher, Pipes};
use crate::transcript::Exit;
use reference_server::{Ending, Fault, Firings, Options, Site, Variant, serve_and_log};
use std::sync::Arc;

/// What reports call it.
pub const LABEL: &str = "the bundled reference server";

/// Starts the reference server as often as asked, each time with these options.
pub fn launcher(options: Options, firings: Firings) -> Arc<dyn Launcher> {
    Arc::new(MemoryLauncher::new(move |pipes: Pipes| {
        let (options, firings) = (options.clone(), firings.clone());
        async move {
            let Pipes { input, output, stderr } = pipes;
            match serve_and_log(input, output, stderr, options, firings).await {
                Ending::EndOfInput => 0,
                Ending::Died(status) => status,
            }
        }
    }))
}

/// Where it speaks Streamable HTTP, and where the transport of 2024-11-05.
pub const ENDPOINT: &str = "/mcp";
pub const OLD_ENDPOINT: &str = "/sse";

/// Starts the reference server over HTTP as often as asked, each time with these options.
pub fn http_launcher(options: Options, firings: Firings, endpoint: &str) -> Arc<dyn Launcher> {
    Arc::new(MemoryHttpLauncher::new(endpoint, move || {
        let site = Site::new(options.clone(), firings.clone());
        let ended = {
            let site = site.clone();
            async move { Exit::from(site.died().await) }
        };
        let accept: Accept = Box::new(move |stream| {
            let site = site.clone();
            tokio::spawn(async move { site.serve(stream).await });
        });
        (accept, ended)
    }))
}

/// What can go wrong with it, by name.
pub fn fault_names() -> Vec<&'static str> {
    Fault::ALL.iter().map(|fault| fault.name()).collect()
}

/// In what it can differ lawfully, by name.
pub fn variant_names() -> Vec<&'static str> {
    Variant::ALL.iter().map(|variant| variant.name()).collect()
}
