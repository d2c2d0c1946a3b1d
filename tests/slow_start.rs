//! Is a slow start taken for silence? A server may need half a minute, and without a handshake it is the first
//! request of each process that waits for it.

mod common;

use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
use mcp_litmus::record::Outcome;
use mcp_litmus::revision::Revision;
use mcp_litmus::run::Wanted;
use reference_server::{Firings, Options};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_is_judged_like_any_other() {
    let launcher = MemoryLauncher::new(|pipes: Pipes| async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        reference_server::serve(pipes.input, pipes.output, Options::default(), Firings::default()).await;
    });
    let patterns = ["json-rpc/*", "discover/*", "stateless/*", "listen/*"];
    let record = common::judge(common::sources(Arc::new(launcher)), &patterns, Wanted::Auto).await;
    // It is the era without a handshake whose first requests meet a server that is still starting.
    let newest = record.cases.iter().filter(|case| case.revision == Revision::NEWEST);
    let passed = newest.filter(|case| case.outcome == Outcome::Pass).count();
    assert!(passed > 40, "{passed} pass at {}: {:?}", Revision::NEWEST, record.target.revisions);
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
