//! What does a transcript show? Pure functions of a transcript and rules; no server, no clock.
//!
//! [`conversation`] walks a transcript and says what each message is about; [`standing`] applies the standing cases.

pub mod conversation;
pub mod standing;
