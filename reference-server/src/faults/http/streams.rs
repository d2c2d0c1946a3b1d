//! Faults of streams: what is on them, in which form, and when they end.

use serde_json::{Value, json};

use crate::edge::{Hook::*, Row, http_row};
use crate::edit::{LIST_CHANGED, notice};
use crate::http::{Event as Sent, Passage, Replies, Route};
use crate::revision::Revision;

pub(in crate::faults) const TABLE: &[Row] = &[
    http_row(
        "events-without-reply",
        "A stream ends without the reply that it was opened for",
        &[Event(|_, passage, event| if is_reply(passage) { Vec::new() } else { vec![event] })],
    ),
    http_row(
        "events-never-end",
        "Each request is answered by a stream, which goes on after the reply",
        &[Choose(|settings| (settings.http.replies, settings.http.ending) = (Replies::Events, false))],
    ),
    http_row(
        "events-break-early",
        "Before 2025-11-25, a stream breaks off before its reply",
        &[Event(|_, passage, mut event| {
            event.breaks |= passage.revision < Some(Revision::V2025_11_25) && is_progress(passage);
            vec![event]
        })],
    ),
    http_row(
        "breaks-without-retry",
        "At 2025-11-25, a stream breaks off without saying when to come back",
        &[Event(|_, passage, mut event| {
            let primes = event.data.as_ref().is_some_and(Vec::is_empty);
            event.breaks |= primes && !passage.listens;
            vec![event]
        })],
    ),
    http_row(
        "changes-with-requests",
        "Changes are told on the stream of whatever request is open",
        &[Choose(|settings| settings.http.route = Route::ChangesWithRequests)],
    ),
    http_row(
        "changes-beside-replies",
        "Without a session, a reply of a tool is preceded by the news that the list has changed",
        &[Reply(|_, x, reply| {
            let changed = || notice(LIST_CHANGED, json!({}), None);
            if x.stateless() && x.is("tools/call") { vec![changed(), reply] } else { vec![reply] }
        })],
    ),
    http_row(
        "progress-elsewhere",
        "Progress is told to who listens, or on the stream of another request",
        &[Choose(|settings| {
            settings.http.replies = Replies::Events;
            settings.http.route = Route::ProgressToListener;
        })],
    ),
    http_row(
        "replies-to-listener-too",
        "Replies are also told to who listens",
        &[Choose(|settings| settings.http.route = Route::RepliesToListenerToo)],
    ),
    http_row(
        "changes-to-all-listeners",
        "A change is told on each stream of a session",
        &[Choose(|settings| settings.http.route = Route::ChangesToAll)],
    ),
    http_row(
        "event-ids-repeat",
        "The ids of events begin anew on each stream",
        &[Event(|_, _, mut event| {
            event.id = event.id.and_then(|id| Some(id.split_once('-')?.1.to_owned()));
            vec![event]
        })],
    ),
    http_row(
        "event-ids-the-same",
        "All events have the same id",
        &[Event(|_, _, mut event| {
            event.id = event.id.map(|_| "1".to_owned());
            vec![event]
        })],
    ),
    http_row(
        "event-ids-repeat-without-sessions",
        "Sessions have no ids, and the ids of events begin anew on each stream",
        &[
            Choose(|settings| {
                (settings.http.sessions, settings.http.replies) = (false, Replies::Events);
                (settings.subscribe, settings.list_changed) = (false, false);
            }),
            Event(|_, passage, mut event| {
                if passage.revision.is_some() && !passage.old {
                    event.id = Some(passage.place.to_string());
                }
                vec![event]
            }),
        ],
    ),
    http_row(
        "replay-of-other-streams",
        "Who comes back to a stream hears what was said on others",
        &[Choose(|settings| settings.http.replaying_all = true)],
    ),
    http_row(
        "leaving-cancels-in-session",
        "In a session, a client that leaves a stream has cancelled its request",
        &[Choose(|settings| settings.http.cancelling = true)],
    ),
    http_row(
        "two-messages-in-an-event",
        "An event holds two messages",
        &[Event(|_, passage, event| {
            let twice = |data: Vec<u8>| [data.as_slice(), data.as_slice()].join(&b'\n');
            changed(passage, event, |data| vec![twice(data)])
        })],
    ),
    http_row(
        "message-in-two-events",
        "A message is spread over two events",
        &[Event(|_, passage, event| {
            changed(passage, event, |mut data| {
                let rest = data.split_off(data.len() / 2);
                vec![data, rest]
            })
        })],
    ),
    http_row(
        "message-in-an-array",
        "An event holds an array of one message",
        &[Event(|_, passage, event| {
            changed(passage, event, |data| vec![[b"[", data.as_slice(), b"]"].concat()])
        })],
    ),
    http_row(
        "event-no-json",
        "The data of an event are no JSON",
        &[Event(|_, passage, event| changed(passage, event, |data| vec![[data.as_slice(), b"}"].concat()]))],
    ),
    http_row(
        "events-unseparated",
        "No blank line stands between progress and what follows it",
        &[Pieces(|_, passage, mut bytes| {
            if is_progress(passage) && bytes.ends_with(b"\n\n") {
                bytes.pop();
            }
            vec![bytes]
        })],
    ),
    http_row(
        "messages-as-bare-lines",
        "On a stream, replies are lines of JSON",
        &[Pieces(|_, passage, bytes| {
            let text = String::from_utf8_lossy(&bytes).replace("data: ", "");
            vec![if is_reply(passage) { text.into_bytes() } else { bytes }]
        })],
    ),
];

/// Whether an event carries the reply to the POST that it answers.
fn is_reply(passage: &Passage) -> bool {
    passage.reply && !passage.listens && !passage.old
}

fn is_progress(passage: &Passage) -> bool {
    passage.method.as_deref() == Some("notifications/progress") && !passage.old
}

/// The event of a reply, with other data; each piece makes an event.
fn changed(passage: &Passage, event: Sent, change: impl FnOnce(Vec<u8>) -> Vec<Vec<u8>>) -> Vec<Sent> {
    if !is_reply(passage) {
        return vec![event];
    }
    let data = change(event.data.clone().unwrap_or_default());
    let with = |data| Sent { data: Some(data), ..event.clone() };
    data.into_iter().map(with).collect()
}

/// The message that an event carries.
pub(super) fn message(event: &Sent) -> Option<Value> {
    serde_json::from_slice(event.data.as_deref()?).ok()
}
