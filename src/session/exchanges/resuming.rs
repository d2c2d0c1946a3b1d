//! When is a stream taken up again? Where it broke off before what it was to bring, as clients do.

use super::head::stream_headers;
use crate::peer::{Closing, Exchange, Outgoing};
use crate::session::state::{Shared, State};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A stream is taken up again after this time where it does not say when, and never later than the other.
const RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(5);
/// How often streams are taken up again in one conversation: a server that always breaks off comes to an end.
const RESUMPTIONS: usize = 100;

impl State {
    /// A stream that ended before the answer that it was to bring, and that can be taken up again: after how long, and
    /// behind which event.
    pub(in crate::session) fn broken_off(&self, exchange: u64) -> Option<(Duration, String)> {
        let http = self.http.as_ref()?;
        let known = http.known.get(&exchange)?;
        let is_over = matches!(&known.closed, Some((_, Closing::Complete | Closing::Broken(_))));
        if !known.awaits || known.answered || !is_over || http.resumptions >= RESUMPTIONS {
            return None;
        }
        let retry = known.retry.map_or(RETRY, Duration::from_millis).min(LONGEST_RETRY);
        Some((retry, known.last_event.clone()?))
    }

    /// Begins to take up a stream behind an event.
    pub(in crate::session) fn begin_resumption(&mut self, event: String) -> Option<Exchange> {
        if self.gone().is_some() {
            return None;
        }
        let http = self.http.as_mut()?;
        http.resumptions += 1;
        let headers = stream_headers(http, Some(event));
        let exchange = self.begin_exchange("GET", headers, None, false)?;
        if let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange.number)) {
            known.awaits = true;
        }
        Some(exchange)
    }
}

/// Takes up a stream that broke off, after a while.
pub(in crate::session) fn come_back(
    shared: Arc<Shared>,
    input: mpsc::Sender<Outgoing>,
    (retry, event): (Duration, String),
) {
    tokio::spawn(async move {
        tokio::time::sleep(retry).await;
        let order = shared.lock().begin_resumption(event);
        if let Some(exchange) = order {
            // Refused only by a peer that has gone.
            let _ = input.send(Outgoing::Exchange(exchange)).await;
        }
    });
}
