//! How does a conversation go over HTTP? Which headers a message goes out with, what the responses carry, and which of
//! our requests met none.
//!
//! The peer moves exchanges; here they become the same messages that a stdio server would send, each recorded with the
//! exchange that it came in. Whether statuses, headers and events are right is for the cases to say.

use super::state::State;
use super::{Gone, Session};
use crate::dialect::Dialect;
use crate::peer::{Closing, Endpoint, Exchange, Outgoing};
use crate::revision::Revision;
use crate::transcript::{Channel, Ending};
use crate::wire::events::EventReader;
use crate::wire::{self, Limits, Message};
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

pub(super) const SESSION: &str = "mcp-session-id";
pub(super) const VERSION: &str = "mcp-protocol-version";

/// Bytes that are kept of a body that is neither JSON nor events: the beginning says what it is.
const OTHER_KEPT: usize = 64 * 1024;
/// Bytes that are kept of an event stream as it came. Its messages are kept besides.
pub(crate) const EVENTS_KEPT: usize = 8 << 20;
/// A stream is taken up again after this time where it does not say when, and never later than the other.
const RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(5);
/// How often streams are taken up again in one conversation: a server that always breaks off comes to an end.
const RESUMPTIONS: usize = 100;
/// Bytes of a body that are shown in words.
const SHOWN: usize = 200;

/// The exchanges of a conversation.
pub struct Exchanges {
    /// Host and port.
    authority: String,
    /// Where messages are sent: the endpoint of the site, or the one that the old transport names.
    target: String,
    /// The session that the server began, if any; then every request names it.
    pub session: Option<String>,
    /// The revision that was agreed on, where every request is to name it.
    version: Option<Revision>,
    /// The server turned out to speak HTTP+SSE, where answers come on the stream of the first GET.
    pub old: bool,
    /// The number of the newest exchange.
    newest: u64,
    /// How often a stream was taken up again.
    resumptions: usize,
    known: HashMap<u64, Known>,
}

/// What is known of an exchange.
#[derive(Default)]
struct Known {
    /// The entry of our message, if it carries one.
    sent: Option<u64>,
    /// It is a request, and so is met by an answer.
    asks: bool,
    /// It is `initialize`.
    opens: bool,
    status: Option<u16>,
    /// Where a redirect leads.
    location: Option<String>,
    form: Form,
    /// Bytes that are kept of its event stream.
    raw: usize,
    /// Messages that came in it.
    messages: usize,
    /// It is to bring an answer: a request, or the stream that goes on where that of a request broke off.
    awaits: bool,
    answered: bool,
    /// The newest event id of its stream.
    last_event: Option<String>,
    /// How long to wait before the stream is taken up again.
    retry: Option<u64>,
    /// The entry that ended it, and how.
    closed: Option<(u64, Closing)>,
    /// The beginning of a body that is neither JSON nor events.
    text: Vec<u8>,
}

/// What a body is made of.
#[derive(Default)]
enum Form {
    #[default]
    Unknown,
    Json(Vec<u8>),
    Events(EventReader),
    Other,
}

/// A request of ours that HTTP gave no answer to.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub status: Option<u16>,
    /// What the body said, or how the connection ended.
    pub words: String,
    /// The entry that ended it.
    pub sequence: u64,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            Some(status) => write!(f, "HTTP status {status}")?,
            None => f.write_str("no HTTP response")?,
        }
        if self.words.is_empty() { Ok(()) } else { write!(f, " ({})", self.words) }
    }
}

impl Exchanges {
    pub(super) fn new(Endpoint { authority, target }: Endpoint) -> Self {
        Self {
            authority,
            target,
            session: None,
            version: None,
            old: false,
            newest: 0,
            resumptions: 0,
            known: HashMap::new(),
        }
    }

    /// The status of the response that an exchange has met with.
    pub fn status(&self, exchange: u64) -> Option<u16> {
        self.known.get(&exchange)?.status
    }

    /// The exchange that carried this entry.
    fn carrying(&self, sent: u64) -> Option<(&u64, &Known)> {
        self.known.iter().find(|(_, known)| known.sent == Some(sent))
    }

    /// What became of a message of ours that nothing answers any more: its exchange has ended.
    pub fn refusal(&self, sent: u64) -> Option<Refusal> {
        self.carrying(sent).and_then(|(_, known)| known.refusal(self.old))
    }

    /// As [`Exchanges::refusal`], of whatever was sent between two entries, once all of it has ended.
    pub(super) fn refusal_between(&self, since: u64, until: u64) -> Option<Refusal> {
        if !self.is_over_between(since, until) {
            return None;
        }
        let mut sent: Vec<&Known> = self.sent_between(since, until).collect();
        sent.sort_by_key(|known| known.sent);
        sent.into_iter().find_map(|known| known.refusal(self.old))
    }

    /// Whether all that was sent between two entries has ended; what the old transport accepts is answered elsewhere.
    pub(super) fn is_over_between(&self, since: u64, until: u64) -> bool {
        self.sent_between(since, until).all(|known| known.closed.is_some())
    }

    fn sent_between(&self, since: u64, until: u64) -> impl Iterator<Item = &Known> {
        self.known.values().filter(move |known| known.sent.is_some_and(|sent| sent > since && sent <= until))
    }

    /// Whether no GET has opened a stream.
    pub(super) fn lacks_stream(&self) -> bool {
        !self.known.values().any(|known| known.sent.is_none() && known.status == Some(200))
    }

    /// Whether an exchange has ended.
    fn is_over(&self, exchange: u64) -> bool {
        self.known.get(&exchange).is_none_or(|known| known.closed.is_some())
    }
}

impl Known {
    fn refusal(&self, old: bool) -> Option<Refusal> {
        let (sequence, closing) = self.closed.as_ref()?;
        let accepted = self.status.is_some_and(|status| (200..300).contains(&status));
        if self.messages > 0 || self.last_event.is_some() || (old && accepted) {
            return None;
        }
        let text = || {
            let head = String::from_utf8_lossy(&self.text[..self.text.len().min(SHOWN)]);
            crate::check::phrase::clipped(head.trim(), SHOWN)
        };
        let words = match closing {
            Closing::Complete => match &self.location {
                Some(location) => {
                    let location = crate::check::phrase::clipped(location, SHOWN);
                    format!("it leads to {location}, and redirects are not followed: give that URL")
                }
                None => text(),
            },
            Closing::Abandoned => return None,
            Closing::TooLong => "a message longer than is read".to_owned(),
            Closing::Flooded => "more than is kept of a conversation".to_owned(),
            Closing::Unreachable(reason) | Closing::Broken(reason) | Closing::Unsendable(reason) => {
                reason.clone()
            }
        };
        Some(Refusal { status: self.status, words, sequence: *sequence })
    }
}

/// The headers that a message goes out with.
fn headers(dialect: Dialect, exchanges: &Exchanges, message: Option<&Message>) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![
        ("content-type".to_owned(), b"application/json".to_vec()),
        ("accept".to_owned(), b"application/json, text/event-stream".to_vec()),
    ];
    headers.extend(standing_headers(exchanges));
    for (name, value) in dialect.mirrored(message) {
        headers.retain(|(known, _)| known != name);
        headers.push((name.to_owned(), value.into_bytes()));
    }
    headers
}

/// An exchange that differs from an ordinary one.
pub struct Wanted<'a> {
    pub method: &'a str,
    /// In place of the ordinary ones, spelt as they are to go out; none leaves one out.
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    pub body: Option<Vec<u8>>,
    pub deliberate: bool,
}

fn wanted_headers(
    dialect: Dialect,
    exchanges: &Exchanges,
    own: Vec<(String, Option<Vec<u8>>)>,
    body: Option<&[u8]>,
) -> Vec<(String, Vec<u8>)> {
    let mut all = match body {
        Some(body) => {
            let message = wire::read(body, &Limits::default()).message;
            headers(dialect, exchanges, message.as_ref())
        }
        None => {
            let mut headers = vec![("accept".to_owned(), b"text/event-stream".to_vec())];
            headers.extend(standing_headers(exchanges));
            headers
        }
    };
    all.retain(|(name, _)| !own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    all.extend(own.into_iter().filter_map(|(name, value)| Some((name, value?))));
    all
}

/// The headers of every request of a conversation.
fn standing_headers(exchanges: &Exchanges) -> Vec<(String, Vec<u8>)> {
    let mut headers = vec![("host".to_owned(), exchanges.authority.clone().into_bytes())];
    if let Some(session) = &exchanges.session {
        headers.push((SESSION.to_owned(), session.clone().into_bytes()));
    }
    if let Some(version) = exchanges.version {
        headers.push((VERSION.to_owned(), version.as_str().as_bytes().to_vec()));
    }
    headers
}

/// A head as the transcript holds it: the first line, then a line for each header.
fn head_text(first: &str, headers: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut text = String::from(first);
    for (name, value) in headers {
        let _ = write!(text, "\n{name}: {}", String::from_utf8_lossy(value));
    }
    text.into_bytes()
}

impl State {
    /// Begins an exchange: records it, and gives the order for the peer.
    pub(super) fn begin_exchange(
        &mut self,
        method: &str,
        headers: Vec<(String, Vec<u8>)>,
        body: Option<Vec<u8>>,
        deliberate: bool,
    ) -> Option<Exchange> {
        let exchanges = self.http.as_mut()?;
        exchanges.newest += 1;
        let (number, target) = (exchanges.newest, exchanges.target.clone());
        let mut known = Known::default();
        let head = head_text(&format!("{method} {target}"), &headers);
        self.record_of(number, Channel::Request, head, Ending::None);
        self.mark_deliberate(deliberate);
        if let Some(body) = &body {
            let message = wire::read(body, &Limits::default()).message;
            known.asks = matches!(message, Some(Message::Request { .. }));
            known.awaits = known.asks;
            known.opens = matches!(&message, Some(Message::Request { method, .. }) if method == "initialize");
            self.kept += body.len();
            known.sent = Some(self.record_of(number, Channel::Stdin, body.clone(), Ending::None));
            self.mark_deliberate(deliberate);
        }
        if let Some(exchanges) = self.http.as_mut() {
            exchanges.known.insert(number, known);
        }
        Some(Exchange { number, method: method.to_owned(), target, headers, body })
    }

    /// Begins to send a message as the body of a POST; none where the conversation is not held over HTTP.
    pub(super) fn begin_post(
        &mut self,
        dialect: Dialect,
        frame: Vec<u8>,
        deliberate: bool,
    ) -> Option<Exchange> {
        let message = wire::read(&frame, &Limits::default()).message;
        let headers = headers(dialect, self.http.as_ref()?, message.as_ref());
        self.begin_exchange("POST", headers, Some(frame), deliberate)
    }

    /// Begins to ask for the stream of what belongs to no request.
    fn begin_stream(&mut self) -> Option<Exchange> {
        let http = self.http.as_mut().filter(|http| !http.old)?;
        let mut headers = vec![("accept".to_owned(), b"text/event-stream".to_vec())];
        headers.extend(standing_headers(http));
        self.begin_exchange("GET", headers, None, false)
    }

    /// A response has begun.
    pub(super) fn take_head(
        &mut self,
        exchange: u64,
        status: u16,
        headers: &[(String, Vec<u8>)],
        limit: usize,
    ) {
        self.record_of(exchange, Channel::Response, head_text(&status.to_string(), headers), Ending::None);
        let value = |name: &str| {
            let found = headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let Some(exchanges) = &mut self.http else { return };
        let Some(known) = exchanges.known.get_mut(&exchange) else { return };
        known.status = Some(status);
        known.location = value("location").filter(|_| (300..400).contains(&status));
        known.form = match media_type(value("content-type").as_deref().unwrap_or_default()).as_str() {
            "application/json" => Form::Json(Vec::new()),
            "text/event-stream" => Form::Events(EventReader::new(limit)),
            _ => Form::Other,
        };
        if known.opens && (200..300).contains(&status) && exchanges.session.is_none() {
            exchanges.session = value(SESSION);
        }
    }

    /// A piece of a body. Gives back the messages that it completes.
    pub(super) fn take_body(
        &mut self,
        exchange: u64,
        bytes: Vec<u8>,
        limit: usize,
    ) -> Vec<(Vec<u8>, Ending)> {
        self.kept += bytes.len();
        let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange)) else {
            return Vec::new();
        };
        match &mut known.form {
            Form::Json(body) => {
                // One byte more than the limit shows that it was passed.
                let room = (limit + 1).saturating_sub(body.len()).min(bytes.len());
                body.extend_from_slice(&bytes[..room]);
                return Vec::new();
            }
            Form::Events(reader) => {
                let events = reader.push(&bytes);
                let room = EVENTS_KEPT.saturating_sub(known.raw).min(bytes.len());
                known.raw += room;
                if room > 0 {
                    self.record_of(exchange, Channel::Body, bytes[..room].to_vec(), Ending::None);
                }
                return self.messages_of_events(exchange, events);
            }
            Form::Unknown | Form::Other => {
                let room = OTHER_KEPT.saturating_sub(known.text.len()).min(bytes.len());
                known.text.extend_from_slice(&bytes[..room]);
                if room > 0 {
                    self.record_of(exchange, Channel::Body, bytes[..room].to_vec(), Ending::None);
                }
            }
        }
        Vec::new()
    }

    fn messages_of_events(
        &mut self,
        exchange: u64,
        events: Vec<wire::events::Event>,
    ) -> Vec<(Vec<u8>, Ending)> {
        let mut messages = Vec::new();
        for event in events {
            if let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange)) {
                known.last_event = event.id.clone().or_else(|| known.last_event.take());
                known.retry = event.retry.or(known.retry);
            }
            let is_endpoint = event.name.as_deref() == Some("endpoint");
            if let (true, Some(data)) = (is_endpoint, &event.data) {
                self.point_to(exchange, &String::from_utf8_lossy(data));
                continue;
            }
            let is_cut = event.is_too_long();
            let (length, is_message) = (event.length, event.is_message());
            let unfinished = event.defects.contains(&wire::events::EventDefect::Unfinished);
            if let (true, Some(data)) = (is_message && !data_is_blank(&event.data), event.data) {
                let ending = match (is_cut, unfinished) {
                    (true, _) => Ending::TooLong(length),
                    (_, true) => Ending::Unfinished,
                    _ => Ending::None,
                };
                messages.push((data, ending));
            }
        }
        messages
    }

    /// A stream that ended before the answer that it was to bring, and that can be taken up again: after how long, and
    /// behind which event.
    pub(super) fn broken_off(&self, exchange: u64) -> Option<(Duration, String)> {
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
    pub(super) fn begin_resumption(&mut self, event: String) -> Option<Exchange> {
        if self.gone().is_some() {
            return None;
        }
        let http = self.http.as_mut()?;
        http.resumptions += 1;
        let mut headers = vec![("accept".to_owned(), b"text/event-stream".to_vec())];
        headers.extend(standing_headers(http));
        headers.push(("last-event-id".to_owned(), event.into_bytes()));
        let exchange = self.begin_exchange("GET", headers, None, false)?;
        if let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange.number)) {
            known.awaits = true;
        }
        Some(exchange)
    }

    /// The old transport says where messages go. What leads to another host is not followed.
    fn point_to(&mut self, exchange: u64, endpoint: &str) {
        let Some(http) = &mut self.http else { return };
        let is_get = http.known.get(&exchange).is_some_and(|known| known.sent.is_none());
        if let (true, Some(target)) = (is_get, target_of(&http.target, endpoint)) {
            http.target = target;
            http.old = true;
        }
    }

    /// An exchange has ended. Gives back the message that its body was.
    pub(super) fn close_exchange(
        &mut self,
        exchange: u64,
        closing: &Closing,
        limit: usize,
    ) -> Vec<(Vec<u8>, Ending)> {
        let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange)) else {
            return Vec::new();
        };
        let whole = *closing == Closing::Complete;
        // What refuses a request without a message says something of HTTP, and answers nothing.
        let is_refusal = known.sent.is_none() && known.status.is_some_and(|status| status >= 400);
        if let Form::Json(body) = &known.form {
            // Should it turn out to be no message, these are the words of a refusal.
            known.text = body[..body.len().min(SHOWN)].to_vec();
        }
        if let (true, Form::Json(body)) = (is_refusal, &mut known.form) {
            let body = std::mem::take(body);
            self.record_of(exchange, Channel::Body, body, Ending::None);
            return Vec::new();
        }
        match std::mem::take(&mut known.form) {
            Form::Json(body) if body.iter().all(u8::is_ascii_whitespace) => Vec::new(),
            Form::Json(body) if body.len() > limit => {
                vec![(body[..limit].to_vec(), Ending::TooLong(body.len() as u64))]
            }
            Form::Json(body) => vec![(body, if whole { Ending::None } else { Ending::Unfinished })],
            Form::Events(mut reader) => {
                let rest = reader.finish().into_iter().collect();
                self.messages_of_events(exchange, rest)
            }
            Form::Unknown | Form::Other => Vec::new(),
        }
    }

    /// The last entry of an exchange.
    pub(super) fn record_closing(&mut self, exchange: u64, closing: Closing) {
        let words = match &closing {
            Closing::Complete => String::new(),
            Closing::Abandoned => "abandoned".to_owned(),
            Closing::TooLong => "too-long".to_owned(),
            Closing::Flooded => "flooded".to_owned(),
            Closing::Unreachable(reason) => format!("unreachable: {reason}"),
            Closing::Broken(reason) => format!("broken: {reason}"),
            Closing::Unsendable(reason) => format!("unsendable: {reason}"),
        };
        let known = self.http.as_ref().and_then(|http| http.known.get(&exchange));
        if known.is_some_and(|known| known.closed.is_some()) {
            return;
        }
        let sequence = self.record_of(exchange, Channel::Closed, words.into_bytes(), Ending::None);
        if let Closing::Unreachable(reason) = &closing {
            self.unreachable = Some(reason.clone());
        }
        if let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange)) {
            known.closed = Some((sequence, closing));
        }
    }

    /// Whether a message of the exchange has become longer than is read: then its end need not be waited for.
    pub(super) fn is_too_long(&self, exchange: u64, limit: usize) -> bool {
        let known = self.http.as_ref().and_then(|http| http.known.get(&exchange));
        known.is_some_and(|known| match &known.form {
            Form::Json(body) => body.len() > limit,
            Form::Events(reader) => reader.is_too_long(),
            Form::Unknown | Form::Other => false,
        })
    }

    /// Ends every exchange that is open.
    pub(super) fn close_all(&mut self, closing: &Closing) {
        let open = self.http.iter().flat_map(|http| &http.known).filter(|(_, known)| known.closed.is_none());
        let mut open: Vec<u64> = open.map(|(number, _)| *number).collect();
        open.sort_unstable();
        open.into_iter().for_each(|number| self.record_closing(number, closing.clone()));
    }

    pub(super) fn count_message(&mut self, exchange: u64, is_response: bool) {
        if let Some(known) = self.http.as_mut().and_then(|http| http.known.get_mut(&exchange)) {
            known.messages += 1;
            known.answered |= is_response;
        }
    }
}

impl Session {
    pub fn is_http(&self) -> bool {
        self.state().http.is_some()
    }

    /// Sends one message, whatever it is, as the body of a POST. Gives back its entry.
    pub(super) async fn post(&self, frame: &[u8], deliberate: bool) -> Result<u64, Gone> {
        let order = {
            let mut state = self.state();
            if let Some(gone) = state.gone_for_writing() {
                return Err(gone);
            }
            state.begin_post(self.dialect, frame.to_vec(), deliberate)
        };
        let Some(exchange) = order else { return Err(Gone::OutputClosed) };
        let number = exchange.number;
        let (sequence, asks) = {
            let state = self.state();
            let known = state.http.as_ref().and_then(|http| http.known.get(&number));
            known.map_or((0, true), |known| (known.sent.unwrap_or(0), known.asks))
        };
        self.hand_over(Outgoing::Exchange(exchange)).await?;
        if !asks {
            // What follows may rest on it, and each exchange has a connection of its own: that it was taken must be
            // known first.
            self.wait(self.bounds.request, |state| state.http.as_ref()?.is_over(number).then_some(())).await;
        }
        Ok(sequence)
    }

    /// Tries the transport of 2024-11-05: a stream that says where messages go. Whether there is one.
    pub async fn fall_back(&self) -> bool {
        let Some(exchange) = self.state().begin_stream() else { return false };
        let number = exchange.number;
        if self.hand_over(Outgoing::Exchange(exchange)).await.is_err() {
            return false;
        }
        let told = |state: &State| {
            let http = state.http.as_ref()?;
            (http.old || http.is_over(number) || state.gone().is_some()).then_some(())
        };
        self.wait(self.bounds.request, told).await;
        let is_old = self.state().http.as_ref().is_some_and(|http| http.old);
        if !is_old {
            let _ = self.abandon_exchange(number).await;
        }
        is_old
    }

    /// The opening has agreed on a revision.
    pub fn agree(&self, revision: Revision) {
        if let Some(http) = &mut self.state().http {
            http.version = Dialect::new(revision).names_itself_in_headers().then_some(revision);
        }
    }

    /// Opens the stream on which a server of the stateful era sends what belongs to no request, if it has one, and waits
    /// until it says so.
    pub async fn open_stream(&self) {
        if self.dialect.is_stateless() {
            return;
        }
        let Some(exchange) = self.state().begin_stream() else { return };
        let number = exchange.number;
        if self.hand_over(Outgoing::Exchange(exchange)).await.is_err() {
            return;
        }
        let answered = |state: &State| {
            let http = state.http.as_ref()?;
            (http.status(number).is_some() || http.is_over(number)).then_some(())
        };
        self.wait(self.bounds.request, answered).await;
    }

    /// Begins an exchange as a case wants it. Gives back its number.
    pub async fn exchange(&self, wanted: Wanted<'_>) -> Result<u64, Gone> {
        let order = {
            let mut state = self.state();
            if let Some(gone) = state.gone_for_writing() {
                return Err(gone);
            }
            let Wanted { method, headers, body, deliberate } = wanted;
            let all =
                state.http.as_ref().map(|http| wanted_headers(self.dialect, http, headers, body.as_deref()));
            state.begin_exchange(method, all.unwrap_or_default(), body, deliberate)
        };
        let exchange = order.ok_or(Gone::OutputClosed)?;
        let number = exchange.number;
        self.hand_over(Outgoing::Exchange(exchange)).await?;
        Ok(number)
    }

    /// Waits for the end of an exchange, or for the head of its response.
    pub async fn await_exchange(&self, number: u64, head_only: bool, limit: std::time::Duration) {
        let there = |state: &State| {
            let http = state.http.as_ref()?;
            let enough = http.is_over(number) || (head_only && http.status(number).is_some());
            (enough || state.gone().is_some()).then_some(())
        };
        self.wait(limit, there).await;
    }

    /// Closes the connection of an exchange that is still open.
    pub async fn abandon_exchange(&self, number: u64) -> Result<(), Gone> {
        let open = self.state().http.as_ref().is_some_and(|http| !http.is_over(number));
        if open { self.hand_over(Outgoing::Abandon(number)).await } else { Ok(()) }
    }

    /// Closes the connection of the exchange that carries an entry. Over HTTP this is how the stateless era cancels.
    pub async fn abandon(&self, sent: u64) -> Result<(), Gone> {
        let number =
            self.state().http.as_ref().and_then(|http| http.carrying(sent).map(|(number, _)| *number));
        match number {
            Some(number) => self.hand_over(Outgoing::Abandon(number)).await,
            None => Ok(()),
        }
    }

    /// Ends the session that the server began, if any, as clients are asked to.
    pub(super) async fn leave(&self) {
        let order = {
            let mut state = self.state();
            let headers = match &state.http {
                Some(http) if http.session.is_some() && state.gone().is_none() => standing_headers(http),
                _ => return,
            };
            state.begin_exchange("DELETE", headers, None, false)
        };
        if let Some(exchange) = order {
            let number = exchange.number;
            if self.hand_over(Outgoing::Exchange(exchange)).await.is_ok() {
                let over = |state: &State| state.http.as_ref()?.is_over(number).then_some(());
                self.wait(crate::time_limits::GRACE, over).await;
            }
        }
    }
}

fn data_is_blank(data: &Option<Vec<u8>>) -> bool {
    data.as_ref().is_none_or(|data| data.iter().all(u8::is_ascii_whitespace))
}

/// The type of a body, without its parameters, in lower case.
pub(crate) fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The path and query of an endpoint that is named by a URI, relative or not.
fn target_of(base: &str, endpoint: &str) -> Option<String> {
    let endpoint = endpoint.trim();
    if endpoint.starts_with('/') {
        return Some(endpoint.to_owned());
    }
    if let Ok(uri) = endpoint.parse::<hyper::Uri>()
        && uri.scheme().is_some()
    {
        return uri.path_and_query().map(|target| target.as_str().to_owned());
    }
    let folder = base.split('?').next().unwrap_or_default();
    let folder = &folder[..=folder.rfind('/')?];
    Some(match endpoint.strip_prefix('?') {
        Some(_) => format!("{}{endpoint}", base.split('?').next().unwrap_or_default()),
        None => format!("{folder}{endpoint}"),
    })
}
