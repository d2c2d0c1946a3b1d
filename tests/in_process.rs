//! How is a Rust server tested in its own process? The example of the README, with the reference server as the server.

use mcp_litmus::case::catalogue::Catalogue;
use mcp_litmus::peer::memory::{MemoryLauncher, Pipes};
use mcp_litmus::profile::Profile;
use mcp_litmus::report::console::summary;
use mcp_litmus::run::{Cut, Settings, Suite, Wanted, check, outcome::Asked, sources::Sources};
use mcp_litmus::session::Bounds;
use std::sync::Arc;

mod my_server {
    use reference_server::{Firings, Options};
    use tokio::io::DuplexStream;

    pub async fn serve(input: DuplexStream, output: DuplexStream) {
        reference_server::serve(input, output, Options::default(), Firings::default()).await;
    }
}

// The clock stands still, so that waiting costs nothing.
#[tokio::test(start_paused = true)]
async fn reading_resources_is_right() {
    let launcher = MemoryLauncher::new(|pipes: Pipes| my_server::serve(pipes.input, pipes.output));
    let suite = Suite::select(&Catalogue::embedded().unwrap(), &["read/*".to_owned()]).unwrap();
    let sources = Sources::new(Arc::new(launcher), Profile::default(), Bounds::default());
    let (_end, cut) = Cut::new();
    let settings = Settings { wanted: Wanted::Auto, jobs: 4, cut, progress: None };
    let target = Asked {
        label: "my server".to_owned(),
        arguments: String::new(),
        started: 0,
        advice_fails: true,
        require_proof: false,
    };
    let record = check(Arc::new(sources), Arc::new(suite), settings, target).await;
    assert_eq!(record.exit_code(), 0, "{}", summary(&record));
}

#[test]
fn the_readme_shows_this_test() {
    let readme = include_str!("../README.md");
    let shown = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(include_str!("in_process.rs").contains(shown));
}
