//! What does a transcript show? Pure functions of a transcript and rules; no server, no clock.
//!
//! [`conversation`] walks a transcript and says what each message is about, by the requests and subscriptions of ours
//! that it keeps account of; [`standing`] applies the standing cases; [`reach`] says how much of the server was looked at, without which what was not seen means nothing.

pub mod conversation;
pub mod exchanges;
pub mod reach;
mod requests;
pub mod standing;
mod subscriptions;
