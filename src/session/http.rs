//! How does a conversation go over HTTP? What a session does there that it does not do over stdio.
//!
//! The peer moves exchanges; in `exchanges` they become the same messages that a stdio server would send, each recorded
//! with the exchange that it came in.

use super::exchanges::Wanted;
use super::state::State;
use super::{Gone, Session};
use crate::dialect::Dialect;
use crate::peer::{Closing, Exchange, Outgoing};
use crate::revision::Revision;
use std::time::Duration;

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
        let number = self.dispatch(order.ok_or(Gone::OutputClosed)?).await?;
        let carried = self.state().http.as_ref().and_then(|http| http.carried(number));
        let (sequence, asks) = carried.unwrap_or((0, true));
        if !asks {
            // What follows may rest on it, and each exchange has a connection of its own: that it was taken must be
            // known first.
            self.await_exchange(number, true, self.bounds.request).await;
        }
        Ok(sequence)
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
        let Some(order) = self.state().begin_stream(true) else { return };
        if let Ok(number) = self.dispatch(order).await {
            self.await_exchange(number, true, self.bounds.request).await;
        }
    }

    /// Hands an exchange to the peer. Gives back its number.
    pub(super) async fn dispatch(&self, order: Exchange) -> Result<u64, Gone> {
        let number = order.number;
        let handed_over = self.hand_over(Outgoing::Exchange(order)).await;
        if let Err(gone) = &handed_over {
            // Nothing will be heard of it.
            self.state().record_closing(number, Closing::Unsendable(gone.to_string()));
        }
        handed_over.map(|()| number)
    }

    /// Begins an exchange as a case wants it. Gives back its number.
    pub async fn exchange(&self, wanted: Wanted<'_>) -> Result<u64, Gone> {
        let order = {
            let mut state = self.state();
            if let Some(gone) = state.gone_for_writing() {
                return Err(gone);
            }
            state.begin_wanted(self.dialect, wanted)
        };
        self.dispatch(order.ok_or(Gone::OutputClosed)?).await
    }

    /// Waits for the end of an exchange, or for the head of its response.
    pub async fn await_exchange(&self, number: u64, head_only: bool, limit: Duration) {
        let there = |state: &State| {
            let http = state.http.as_ref()?;
            let is_there = if head_only { http.is_met(number) } else { http.is_over(number) };
            (is_there || state.gone().is_some()).then_some(())
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
        let number = self.state().http.as_ref().and_then(|http| http.carrying(sent));
        match number {
            Some(number) => self.hand_over(Outgoing::Abandon(number)).await,
            None => Ok(()),
        }
    }

    /// Ends the session that the server began, if any, as clients are asked to.
    pub(super) async fn leave(&self) {
        let order = {
            let mut state = self.state();
            if let Some(http) = &mut state.http {
                http.left = true;
            }
            if state.gone().is_some() { None } else { state.begin_leaving() }
        };
        if let Some(order) = order
            && let Ok(number) = self.dispatch(order).await
        {
            self.await_exchange(number, false, crate::time_limits::GRACE).await;
        }
    }
}
