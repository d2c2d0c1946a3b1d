//! What was missing for a proof, and which line of `litmus.yaml` would supply it?

use crate::case::model::Subject;
use crate::profile::Profile;

/// What was missing for a proof, and what the user can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    pub reason: String,
    pub help: Option<String>,
}

/// Lines of `litmus.yaml`, each as it is to be written but for the words in capitals.
pub const TOUCH: &str = r#"touch: { tool: NAME, arguments: { uri: "${uri}", text: "${nonce}" } }"#;
pub const ADD: &str = r#"add: { tool: NAME, arguments: { name: "${nonce}" } }"#;
pub const REMOVE: &str = "remove: { tool: NAME, arguments: { name: ADDED } }";
pub const EMBEDDING: &str = "embedding: { tool: NAME_OF_A_TOOL_THAT_ANSWERS_WITH_A_RESOURCE }";
pub const ABSENT: &str = r#"absent: "SCHEME://NO/SUCH/RESOURCE""#;

impl Missing {
    pub fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: None }
    }

    /// A hook, by its line.
    fn hook(reason: impl Into<String>, line: &str) -> Self {
        let help = format!(
            "to the `stimuli` of litmus.yaml add `{line}` (or `run`, `method`, `wait`: docs/profile.md)"
        );
        Self { reason: reason.into(), help: Some(help) }
    }

    pub fn way_to_touch() -> Self {
        Self::hook("needs a way to change a resource", TOUCH)
    }

    pub fn way_to_add() -> Self {
        Self::hook("needs a way to add a resource", ADD)
    }

    pub fn way_to_remove() -> Self {
        Self::hook("needs a way to remove a resource", REMOVE)
    }

    pub fn absent_uri(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: Some(format!("add to litmus.yaml: `{ABSENT}`")) }
    }

    pub fn value_of(variable: &str, template: &str) -> Self {
        Self {
            reason: format!("no value is known for `{variable}` of the template `{template}`"),
            help: Some(format!("add to litmus.yaml: `variables: {{ {variable}: VALUE }}`")),
        }
    }

    /// Nothing of a kind came.
    pub fn message(kind: &Subject, method: &str, profile: &Profile) -> Self {
        let reason = match kind {
            Subject::ErrorOf(_) => format!("no error in answer to `{method}` came"),
            _ if method.starts_with("notifications/") => format!("no `{method}` came"),
            _ => format!("no answer to `{method}` came"),
        };
        Self::of_method(reason, method, profile)
    }

    /// Something about a method was not seen; it is the profile's matter where that has no hook to bring it about.
    pub fn of_method(reason: String, method: &str, profile: &Profile) -> Self {
        let line = match method {
            "notifications/resources/updated" if profile.touch.is_none() => TOUCH,
            "notifications/resources/list_changed" if profile.add.is_none() => ADD,
            "tools/call" if profile.embedding.is_none() => {
                return Self { reason, help: Some(format!("add to litmus.yaml: `{EMBEDDING}`")) };
            }
            _ => return Self::because(reason),
        };
        Self::hook(reason, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::source::Source;
    use crate::profile;

    #[test]
    fn each_line_can_be_written_as_it_stands() {
        let text = format!(
            "{ABSENT}\n{EMBEDDING}\nvariables: {{ name: VALUE }}\nstimuli:\n  {TOUCH}\n  {ADD}\n  {REMOVE}\n"
        );
        let profile = profile::parse(&Source::new("litmus.yaml", text), &|_| None).unwrap();
        assert!(profile.touch.is_some() && profile.add.is_some() && profile.remove.is_some());
        assert!(profile.absent.is_some() && profile.embedding.is_some());
    }
}
