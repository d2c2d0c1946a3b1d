//! Is a slow start taken for silence? A server may need half a minute, and without a handshake it is the first
//! request of each process that waits for it.

use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
use mcp_litmus::profile::Profile;
use mcp_litmus::record::Outcome;
use mcp_litmus::run::{Cut, Settings, Suite, Wanted, check, outcome::Asked, sources::Sources};
use mcp_litmus::session::Bounds;
use reference_server::{Firings, Options};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_judged_like_any_other() {
    let launcher = MemoryLauncher::new(|pipes: Pipes| async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        reference_server::serve(pipes.input, pipes.output, Options::default(), Firings::default()).await;
    });
    let patterns = ["json-rpc/*", "discover/*", "stateless/*", "listen/*"].map(str::to_owned);
    let suite = Suite::select(&Catalogue::embedded().unwrap(), &patterns).unwrap();
    let sources = Sources::new(Arc::new(launcher), Profile::default(), Bounds::default());
    let (_end, cut) = Cut::new();
    let settings = Settings { wanted: Wanted::Auto, jobs: 4, cut, progress: None };
    let target = Asked {
        label: "slow".to_owned(),
        arguments: String::new(),
        started: 0,
        advice_fails: true,
        require_proof: false,
    };
    let record = check(Arc::new(sources), Arc::new(suite), settings, target).await;
    let red: Vec<String> = record
        .cases
        .iter()
        .filter(|case| !matches!(case.outcome, Outcome::Pass | Outcome::Skip | Outcome::Note))
        // What never comes of these cases alone.
        .filter(|case| !case.reason.as_deref().is_some_and(|reason| reason.starts_with("no ")))
        .map(|case| format!("{} {:?} {:?}", case.full_name(), case.outcome, case.reason))
        .collect();
    assert_eq!(red, Vec::<String>::new());
}
