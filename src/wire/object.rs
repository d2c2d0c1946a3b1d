//! What members does a JSON object have? All of them, in the order written, duplicates too.

use std::collections::{HashMap, HashSet};

use super::json::Json;
use super::text::Text;

/// The members of a JSON object in the order written. Where a name comes twice, the last member counts,
/// as it does for most readers; the others stay visible to [`Object::iter`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Object(Vec<(Text, Json)>);

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// The last member of that name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(have, _)| have == name).map(|(_, value)| value)
    }

    /// The last member of that name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.0.iter_mut().rev().find(|(have, _)| have == name).map(|(_, value)| value)
    }

    /// Whether there is a member of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets the member of that name, where it stands or else at the end.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Json>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().rev().find(|(have, _)| *have == name) {
            Some(member) => member.1 = value,
            None => self.0.push((name, value)),
        }
    }

    /// Adds a member at the end, even if there is one of that name.
    pub fn push(&mut self, name: impl Into<Text>, value: impl Into<Json>) {
        self.0.push((name.into(), value.into()));
    }

    /// Takes all members of that name out and returns the last.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.0.extract_if(.., |(have, _)| have == name).last().map(|(_, value)| value)
    }

    /// All members in order, duplicates too.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Text, &Json)> + ExactSizeIterator {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// How many members there are, duplicates counted.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names that come again, one for each repetition.
    pub fn duplicates(&self) -> Vec<&Text> {
        // Of few members each is compared with those before it, which is quicker than hashing them.
        if self.0.len() <= 16 {
            let names = self.0.iter().map(|(name, _)| name);
            let comes_again =
                |(at, name): &(usize, &Text)| self.0[..*at].iter().any(|(before, _)| before == *name);
            return names.enumerate().filter(comes_again).map(|(_, name)| name).collect();
        }
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.iter().map(|(name, _)| name).filter(|name| !seen.insert(*name)).collect()
    }

    /// Whether both have the same members, in any order, numbers by value. The last of duplicates counts.
    pub fn same(&self, other: &Object) -> bool {
        // By hash, not by search: a hostile object may have a million members.
        let left: HashMap<_, _> = self.iter().collect();
        let right: HashMap<_, _> = other.iter().collect();
        left.len() == right.len()
            && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| value.same(other)))
    }
}

impl<N: Into<Text>, V: Into<Json>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Object {
        Object(members.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl IntoIterator for Object {
    type Item = (Text, Json);
    type IntoIter = std::vec::IntoIter<(Text, Json)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice() -> Object {
        [("a", 1), ("b", 2), ("a", 3)].into_iter().collect()
    }

    #[test]
    fn the_last_of_duplicates_counts() {
        let object = twice();
        assert_eq!(object.get("a").and_then(Json::as_i64), Some(3));
        assert_eq!(object.len(), 3);
        assert_eq!(object.duplicates(), [&Text::from("a")]);
        assert!(object.same(&[("b", 2), ("a", 3)].into_iter().collect()));
        assert!(!object.same(&[("b", 2), ("a", 1)].into_iter().collect()));
        assert!(!object.same(&[("a", 3)].into_iter().collect()));
    }

    #[test]
    fn changing_members() {
        let mut object = twice();
        object.insert("b", 5);
        object.insert("c", 6);
        object.push("c", 7);
        assert_eq!(object.to_string(), r#"{"a":1,"b":5,"a":3,"c":6,"c":7}"#);
        assert_eq!(object.remove("a").and_then(|value| value.as_i64()), Some(3));
        assert_eq!(object.remove("a"), None);
        assert!(object.contains("c") && !object.contains("a"));
    }
}
