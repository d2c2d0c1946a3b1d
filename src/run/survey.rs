//! What does a server have that nobody described? Looked at once for each revision, before any case is played.

use super::sources::Knowledge;
use crate::case::model::Capability;
use crate::session::{Reply, Session};
use crate::wire::{Json, json};
use std::collections::BTreeSet;

/// What the lists of a server hold.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    pub resources: Vec<Listed>,
}

/// A listed resource.
#[derive(Debug, Clone)]
pub struct Listed {
    pub uri: String,
    pub media_type: Option<String>,
}

/// Pages that are followed, and resources that are remembered: enough to choose among.
const PAGES: usize = 50;
const KEPT: usize = 2_000;

/// Reads the list of resources, as far as the server tells it.
pub async fn look_round(session: &Session, knowledge: &Knowledge) -> Survey {
    let mut survey = Survey::default();
    if !knowledge.declares(Capability::Resources) {
        return survey;
    }
    let mut cursor: Option<Json> = None;
    for _ in 0..PAGES {
        let params = cursor.take().map(|cursor| json!({ "cursor": cursor }));
        let page = match session.call("resources/list", params).await {
            Reply::Result { result, .. } => result,
            Reply::Silence(_) => {
                knowledge.remember_silence("resources/list");
                break;
            }
            Reply::Error { .. } | Reply::Refused(_) | Reply::Gone(_) => break,
        };
        for item in page.get("resources").and_then(Json::as_array).unwrap_or_default() {
            let text = |member: &str| item.get(member).and_then(Json::as_str).map(str::to_owned);
            if let (Some(uri), true) = (text("uri"), survey.resources.len() < KEPT) {
                survey.resources.push(Listed { uri, media_type: text("mimeType") });
            }
        }
        cursor = page.get("nextCursor").filter(|next| !next.is_null()).cloned();
        if cursor.is_none() {
            break;
        }
    }
    survey
}

impl Survey {
    /// So many of the elements of a list of URIs (or of objects with a `uri`), in their order: the first and the last
    /// in any case, one of each kind, and others evenly between, moved by the seed. Zero is all of them.
    pub fn sample(&self, elements: Vec<Json>, size: usize, seed: u64) -> Vec<Json> {
        let count = elements.len();
        if count <= size || size == 0 {
            return elements;
        }
        let mut chosen = BTreeSet::from([0, count - 1]);
        let mut kinds = BTreeSet::new();
        for (index, element) in elements.iter().enumerate() {
            if chosen.len() < size && kinds.insert(self.kind(element)) {
                chosen.insert(index);
            }
        }
        let shift = usize::try_from(seed % count as u64).unwrap_or(0);
        let evenly = (0..size).map(|index| (index * count / size + shift) % count);
        for index in evenly.chain(0..count) {
            if chosen.len() < size {
                chosen.insert(index);
            }
        }
        let wanted = |(index, element)| chosen.contains(&index).then_some(element);
        elements.into_iter().enumerate().filter_map(wanted).collect()
    }

    /// What sets a resource apart from others: scheme, media type, and what is unusual about its URI.
    fn kind(&self, element: &Json) -> (String, String, [bool; 4]) {
        let uri = element.as_str().or_else(|| element.get("uri")?.as_str()).unwrap_or_default();
        let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
        let listed = self.resources.iter().find(|listed| listed.uri == uri);
        let media_type = listed.and_then(|listed| listed.media_type.clone()).unwrap_or_default();
        let oddities = [
            uri.contains('%'),
            uri.contains(['?', '#']),
            !uri.is_ascii(),
            uri.contains("..") || uri.len() > 200,
        ];
        (scheme.to_owned(), media_type, oddities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_holds_both_ends_and_one_of_each_kind() {
        let listed = |index: usize| Listed {
            uri: if index == 61 { "b:61".to_owned() } else { format!("a:{index}") },
            media_type: (index == 40).then(|| "image/png".to_owned()),
        };
        let mut survey = Survey { resources: (0..100).map(listed).collect() };
        survey.resources[77].uri = "a:7%37".to_owned();
        let uris: Vec<Json> = survey.resources.iter().map(|listed| Json::from(listed.uri.as_str())).collect();
        for seed in [0, 7, u64::MAX] {
            let sample = survey.sample(uris.clone(), 10, seed);
            assert_eq!(sample.len(), 10);
            for wanted in ["a:0", "a:40", "b:61", "a:7%37", "a:99"] {
                assert!(sample.iter().any(|uri| uri.as_str() == Some(wanted)), "{wanted} with {seed}");
            }
            let places: Vec<_> = sample.iter().map(|one| uris.iter().position(|uri| uri.same(one))).collect();
            assert!(places.is_sorted());
        }
        assert_ne!(
            survey.sample(uris.clone(), 10, 1).iter().map(Json::to_string).collect::<String>(),
            survey.sample(uris.clone(), 10, 2).iter().map(Json::to_string).collect::<String>()
        );
        assert_eq!(survey.sample(uris[..3].to_vec(), 10, 0).len(), 3);
        assert_eq!(survey.sample(uris, 1, 0).len(), 2);
    }
}
