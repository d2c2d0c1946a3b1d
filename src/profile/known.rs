//! What is known of well-known servers, so that they need no `litmus.yaml`? Profiles by `serverInfo.name`.

use super::Profile;
use super::load;
use crate::case::source::Source;

/// File below `src/profile/known/`, its text, and the servers it is for.
const KNOWN: &[(&str, &str, &[&str])] = &[
    ("reference.yaml", include_str!("known/reference.yaml"), &["mcp-litmus-reference"]),
    ("everything.yaml", include_str!("known/everything.yaml"), &["mcp-servers/everything"]),
    ("everything-2025.yaml", include_str!("known/everything-2025.yaml"), &["example-servers/everything"]),
    ("memory.yaml", include_str!("known/memory.yaml"), &["memory-server"]),
    ("sqlite.yaml", include_str!("known/sqlite.yaml"), &["sqlite"]),
];

/// The built-in profile of the server that calls itself so.
pub fn for_server(name: &str) -> Option<Profile> {
    let (file, text, _) = KNOWN.iter().find(|(.., names)| names.contains(&name))?;
    load::parse(&Source::new(*file, *text), &|_| None).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_profile_can_be_read_and_starts_nothing() {
        for (file, text, names) in KNOWN {
            let profile = load::parse(&Source::new(*file, *text), &|_| None);
            let profile = profile.unwrap_or_else(|problems| panic!("{file}: {}", problems[0]));
            assert!(profile.stdio.is_none() && profile.environment.is_empty(), "{file}");
            assert!(!profile.touchable.is_empty() && profile.touch.is_some(), "{file}");
            for name in *names {
                assert_eq!(for_server(name).unwrap().touchable, profile.touchable);
            }
        }
        assert!(for_server("somebody-elses").is_none());
    }
}
