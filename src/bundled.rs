//! How is the bundled reference server run in our own process?
//!
//! The driver shares no code with it: this file starts it and hands it two pipes, nothing more.

use crate::peer::Launcher;
use crate::peer::memory::{MemoryLauncher, Pipes};
use reference_server::{Ending, Fault, Firings, Options, Variant, serve_and_log};
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

/// What can go wrong with it, by name.
pub fn fault_names() -> Vec<&'static str> {
    Fault::ALL.iter().map(|fault| fault.name()).collect()
}

/// In what it can differ lawfully, by name.
pub fn variant_names() -> Vec<&'static str> {
    Variant::ALL.iter().map(|variant| variant.name()).collect()
}
