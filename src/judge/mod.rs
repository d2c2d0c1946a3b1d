//! What does a transcript show? Pure functions of a transcript and rules; no server, no clock.
//!
//! [`conversation`] walks a transcript and says what each message is about; [`standing`] applies the standing cases;
//! [`reach`] says how much of the server was looked at, without which what was not seen means nothing.

pub mod conversation;
pub mod reach;
pub mod standing;
