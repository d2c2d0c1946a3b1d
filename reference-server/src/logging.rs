//! How severe is a log message, and does the client want to hear of it?

use serde_json::{Value, json};

use crate::message::notification;

/// Severity, least severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    const NAMES: [(&str, Self); 8] = [
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("notice", Self::Notice),
        ("warning", Self::Warning),
        ("error", Self::Error),
        ("critical", Self::Critical),
        ("alert", Self::Alert),
        ("emergency", Self::Emergency),
    ];

    pub fn read(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, level)| *level)
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, level)| *level == self).map_or("info", |(name, _)| name)
    }
}

/// The notification that logs `text`.
pub(crate) fn entry(level: Level, text: &str) -> Value {
    notification("notifications/message", json!({ "level": level.name(), "logger": "litmus", "data": text }))
}
