//! When is a stream taken up again? Where it broke off before what it was to bring, as clients do.

use super::head::stream_headers;
use super::{Known, Onward};
use crate::peer::{Closing, Exchange, Outgoing};
use crate::session::state::{Shared, State};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// A stream is taken up again after this time where it does not say when.
const RETRY: Duration = Duration::from_millis(500);
/// Whoever asks for a longer pause is not waited for.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// However short a pause is asked for, it grows while a stream brings nothing: from the first of these up to the other.
const SHORTEST_PACE: Duration = Duration::from_millis(20);
const LONGEST_PACE: Duration = Duration::from_secs(2);
/// How often in a row the stream of a request is taken up again without a message: at that pace more than a minute.
const TURNS: u32 = 40;

impl Known {
    /// Whether its stream is to go on, now that it has ended.
    fn is_to_go_on(&self) -> bool {
        let broke_off = matches!(&self.closed, Some((_, Closing::Complete | Closing::Broken(_))));
        let lasts = self.lasts && self.status == Some(200);
        let owes = self.awaits && !self.answered && self.last_event.is_some() && self.turns < TURNS;
        broke_off && self.streams && self.onward.is_none() && (lasts || owes)
    }

    /// How long the server asks for its stream to be left alone.
    fn asked_pause(&self) -> Duration {
        self.retry.map_or(Duration::ZERO, Duration::from_millis)
    }

    fn pause(&self) -> Duration {
        let idle = if self.messages > 0 { 0 } else { self.turns };
        let pace = SHORTEST_PACE.saturating_mul(1 << idle.min(16)).min(LONGEST_PACE);
        self.retry.map_or(RETRY, Duration::from_millis).max(pace)
    }
}

impl State {
    /// An exchange has ended. After how long its stream is to be taken up again, if it is.
    pub(in crate::session) fn break_off(&mut self, exchange: u64) -> Option<Duration> {
        let http = self.http.as_mut().filter(|http| !http.left && !http.old)?;
        let known = http.known.get_mut(&exchange).filter(|known| known.is_to_go_on())?;
        let pause = known.pause();
        let is_bearable = pause <= LONGEST_PAUSE;
        known.onward = Some(if is_bearable { Onward::After(pause) } else { Onward::TooLate(pause) });
        is_bearable.then_some(pause)
    }

    /// Begins to take up the stream of an exchange, behind its newest event if that has a name.
    fn begin_resumption(&mut self, exchange: u64) -> Option<Exchange> {
        if self.gone().is_some() {
            return None;
        }
        let http = self.http.as_ref().filter(|http| !http.left)?;
        let known = http.known.get(&exchange)?;
        let Some(Onward::After(_)) = known.onward else { return None };
        let headers = stream_headers(http, known.last_event.clone());
        let inherited = Known {
            listens: known.listens,
            lasts: known.lasts,
            awaits: known.awaits,
            // Both hold for what follows, until they are told anew.
            last_event: known.last_event.clone(),
            retry: known.retry,
            turns: if known.messages > 0 { 0 } else { known.turns.saturating_add(1) },
            paused: known.paused + known.asked_pause(),
            ..Known::default()
        };
        let order = self.begin_exchange("GET", headers, None, false)?;
        if let Some(http) = self.http.as_mut() {
            http.known.insert(order.number, inherited);
            if let Some(known) = http.known.get_mut(&exchange) {
                known.onward = Some(Onward::In(order.number));
            }
        }
        Some(order)
    }

    /// How long the server has us wait before we come back for the answer to a request, all in all.
    pub(in crate::session) fn paused(&self, sent: u64) -> Duration {
        let paused = self.http.as_ref().and_then(|http| {
            let first = http.known.get(&http.carrying(sent)?)?;
            let last = http.last_part(first);
            let is_pausing = matches!(last.onward, Some(Onward::After(_)));
            Some(last.paused + if is_pausing { last.asked_pause() } else { Duration::ZERO })
        });
        paused.unwrap_or_default().min(LONGEST_PAUSE)
    }
}

/// Takes up the stream of an exchange after a pause.
pub(in crate::session) async fn come_back(
    shared: Arc<Shared>,
    input: mpsc::Sender<Outgoing>,
    exchange: u64,
    pause: Duration,
) {
    tokio::time::sleep(pause).await;
    let order = shared.lock().begin_resumption(exchange);
    if let Some(order) = order {
        // Refused only by a peer that has gone.
        let _ = input.send(Outgoing::Exchange(order)).await;
    }
}
