//! Which values occur in a list, and how often? Sameness is that of [`Json::same`]: meaning, not spelling.

use crate::wire::json::Json;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

/// A set of values that is quick to ask, whatever a server puts into it.
#[derive(Debug)]
pub struct ValueSet<'a> {
    hasher: RandomState,
    buckets: HashMap<u64, Vec<&'a Json>>,
}

impl<'a> ValueSet<'a> {
    pub fn new() -> Self {
        Self { hasher: RandomState::new(), buckets: HashMap::new() }
    }

    /// Adds a value; false when it was there already.
    pub fn insert(&mut self, value: &'a Json) -> bool {
        let bucket = self.buckets.entry(hash(&self.hasher, value)).or_default();
        let is_new = !bucket.iter().any(|other| other.same(value));
        if is_new {
            bucket.push(value);
        }
        is_new
    }

    pub fn contains(&self, value: &Json) -> bool {
        let bucket = self.buckets.get(&hash(&self.hasher, value));
        bucket.is_some_and(|bucket| bucket.iter().any(|other| other.same(value)))
    }
}

impl Default for ValueSet<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> FromIterator<&'a Json> for ValueSet<'a> {
    fn from_iter<I: IntoIterator<Item = &'a Json>>(values: I) -> Self {
        let mut set = Self::new();
        for value in values {
            set.insert(value);
        }
        set
    }
}

/// Equal for values that are the same; the converse is for [`Json::same`] to say.
fn hash(hasher: &RandomState, value: &Json) -> u64 {
    let mut state = hasher.build_hasher();
    feed(value, &mut state);
    state.finish()
}

fn feed(value: &Json, state: &mut impl Hasher) {
    value.kind_name().hash(state);
    match value {
        Json::Null => {}
        Json::Bool(truth) => truth.hash(state),
        // The nearest float is the same for equal values; adding zero turns -0 into 0.
        Json::Number(number) => (number.as_f64() + 0.0).to_bits().hash(state),
        Json::String(text) => text.to_string_lossy().hash(state),
        Json::Array(items) => items.iter().for_each(|item| feed(item, state)),
        Json::Object(object) => {
            let last: BTreeMap<_, _> =
                object.iter().map(|(name, value)| (name.to_string_lossy(), value)).collect();
            for (name, value) in last {
                name.hash(state);
                feed(value, state);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Number, json};

    #[test]
    fn sameness_decides_not_spelling() {
        let one = json!([1, {"a": 1, "b": -0.0}]);
        let same = json!([Number::parse("1.0"), {"b": 0, "a": Number::parse("10e-1")}]);
        let large = json!(Number::parse("9007199254740992"));
        let larger = json!(Number::parse("9007199254740993"));
        let set: ValueSet = [&one, &large].into_iter().collect();
        assert!(set.contains(&same));
        assert!(set.contains(&large));
        assert!(!set.contains(&larger));
        assert!(!set.contains(&json!([1])));
        let mut set = ValueSet::new();
        assert!(set.insert(&one));
        assert!(!set.insert(&same));
    }
}
