//! Does a value meet a demand, and how does the answer read? One judgement for each value that a pattern meets.

use super::bindings::{Bindings, Unresolved};
use super::formats::{base64_bytes, examine, is_at_or_below};
use super::pattern::Match;
use super::phrase::{demand, shown, shown_pointer, title_demand};
use super::sets::ValueSet;
use crate::case::model::{Check, Predicate, Template, Type};
use crate::wire::json::{Json, Number};
use std::cmp::Ordering;

/// What a check has shown about one value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Values that were there and met the demand.
    pub proven: usize,
    /// Places that were let off by `or:`, or whose absence says nothing: they prove nothing.
    pub excused: usize,
    /// At most [`Judgement::KEPT`] breaches.
    pub breaches: Vec<Breach>,
    /// Breaches beyond those.
    pub more: usize,
}

/// One value that does not meet the demand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Breach {
    /// JSON Pointer of the value within the object that was checked.
    pub pointer: String,
    /// As it follows "to": `equal -32602`.
    pub expected: String,
    pub got: String,
    /// ``expected `/code` to equal -32602, got -32002``
    pub title: String,
}

impl Judgement {
    /// Breaches that are kept, so that a large answer does not make a large report.
    pub const KEPT: usize = 10;

    pub fn holds(&self) -> bool {
        self.breaches.is_empty()
    }

    /// Nothing was judged: neither a proof nor a breach.
    pub fn met_nothing(&self) -> bool {
        self.proven == 0 && self.breaches.is_empty()
    }

    /// Both taken together.
    pub fn join(&mut self, other: Judgement) {
        self.proven += other.proven;
        self.excused += other.excused;
        self.more += other.more;
        for breach in other.breaches {
            self.keep(breach);
        }
    }

    fn keep(&mut self, breach: Breach) {
        if self.breaches.len() < Self::KEPT {
            self.breaches.push(breach);
        } else {
            self.more += 1;
        }
    }
}

/// Judges a value by a check. An unresolved reference means that the check was not reached.
pub fn evaluate(check: &Check, subject: &Json, bindings: &Bindings) -> Result<Judgement, Unresolved> {
    look(check, subject, bindings, false)
}

fn look(
    check: &Check,
    subject: &Json,
    bindings: &Bindings,
    is_wordless: bool,
) -> Result<Judgement, Unresolved> {
    let replaced = check.of.as_ref().map(|of| bindings.view(of)).transpose()?;
    let wanted = operand(&check.predicate).map(|template| bindings.view(template)).transpose()?;
    let judging = Judging { check, wanted: wanted.as_deref(), is_wordless };
    Ok(judging.judge(replaced.as_deref().unwrap_or(subject)))
}

/// Whether all checks hold: for `only`, `pick` and answers. What meets nothing but breaks nothing holds.
pub fn all_hold(checks: &[Check], subject: &Json, bindings: &Bindings) -> Result<bool, Unresolved> {
    for check in checks {
        if !look(check, subject, bindings, true)?.holds() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value that a predicate compares with, where it has one.
pub fn operand(predicate: &Predicate) -> Option<&Template> {
    use Predicate as P;
    match predicate {
        P::Equals(template) | P::Differs(template) | P::OneOf(template) | P::NoneOf(template) => {
            Some(template)
        }
        P::Includes(template) | P::Excludes(template) | P::AtOrBelow(template) => Some(template),
        P::SameSet(template) | P::SubsetOf(template) | P::DisjointFrom(template) => Some(template),
        P::Count(range) | P::Length(range) | P::Bytes(range) => Some(range),
        P::Is(_) | P::Matches(_) | P::Between(..) | P::Unique => None,
        P::OneKeyOf(_) | P::Has(_) | P::Lacks(_) | P::KeysMatch(_) => None,
    }
}

struct Judging<'a> {
    check: &'a Check,
    wanted: Option<&'a Json>,
    /// Only whether it holds is asked: breaches are not put into words.
    is_wordless: bool,
}

impl Judging<'_> {
    fn judge(&self, subject: &Json) -> Judgement {
        let mut judgement = Judgement::default();
        match &self.check.predicate {
            Predicate::Count(_) => {
                let mut count = 0;
                self.check.at.visit(subject, &mut |found| count += usize::from(found.value.is_some()));
                if self.is_within(count) {
                    judgement.proven = 1;
                } else {
                    judgement.keep(self.breach(&self.check.at.to_string(), count.to_string()));
                }
            }
            Predicate::Unique
            | Predicate::SameSet(_)
            | Predicate::SubsetOf(_)
            | Predicate::DisjointFrom(_) => {
                self.judge_together(subject, &mut judgement);
            }
            _ => self.check.at.visit(subject, &mut |found| self.judge_one(found, &mut judgement)),
        }
        judgement
    }

    fn judge_one(&self, found: &Match<'_, '_>, judgement: &mut Judgement) {
        let Some(value) = found.value else { return self.judge_absence(found, judgement) };
        match self.refusal(value) {
            None => judgement.proven += 1,
            Some(_) if value.is_null() && self.check.or_null => judgement.excused += 1,
            Some(got) => judgement.keep(self.breach(&found.pointer(), got)),
        }
    }

    fn judge_absence(&self, found: &Match<'_, '_>, judgement: &mut Judgement) {
        let demands_absence =
            matches!(&self.check.predicate, Predicate::Is(types) if types.contains(&Type::Absent));
        // What a list must not hold is not held by a list that is not there.
        let forbids_only = matches!(
            self.check.predicate,
            Predicate::Lacks(_) | Predicate::NoneOf(_) | Predicate::Excludes(_)
        );
        if demands_absence && found.parent_is_object {
            judgement.proven += 1;
        } else if demands_absence || forbids_only || self.check.or_absent {
            judgement.excused += 1;
        } else {
            judgement.keep(self.breach(&found.pointer(), "nothing".to_owned()));
        }
    }

    /// What was got instead, if the value does not meet the demand.
    fn refusal(&self, value: &Json) -> Option<String> {
        let null = Json::Null;
        let wanted = self.wanted.unwrap_or(&null);
        let wanted_items = wanted.as_array().unwrap_or(std::slice::from_ref(wanted));
        let verdict = match &self.check.predicate {
            Predicate::Equals(_) => value.same(wanted).into(),
            Predicate::Differs(_) => (!value.same(wanted)).into(),
            Predicate::OneOf(_) => wanted_items.iter().any(|item| item.same(value)).into(),
            Predicate::NoneOf(_) => (!wanted_items.iter().any(|item| item.same(value))).into(),
            Predicate::Is(types) => any_type(types, value),
            Predicate::Matches(pattern) => {
                value.as_text().is_some_and(|text| pattern.is_match(&text.to_string_lossy())).into()
            }
            Predicate::Length(_) => match length(value) {
                Some(length) if self.is_within(length) => Verdict::Holds,
                Some(length) => Verdict::Instead(length.to_string()),
                None => Verdict::Breaks,
            },
            Predicate::Between(low, high) => value
                .as_number()
                .is_some_and(|number| {
                    low.as_ref().is_none_or(|low| number.compare(low) != Ordering::Less)
                        && high.as_ref().is_none_or(|high| number.compare(high) != Ordering::Greater)
                })
                .into(),
            Predicate::OneKeyOf(keys) => match members_but(value, keys, self.check.or_null) {
                Some(present) if present.len() == 1 => Verdict::Holds,
                Some(present) if present.is_empty() => Verdict::Instead("none of them".to_owned()),
                Some(present) if present.len() == 2 && keys.len() == 2 => Verdict::Instead("both".to_owned()),
                Some(present) => Verdict::Instead(quoted(&present)),
                None => Verdict::Breaks,
            },
            Predicate::Has(keys) => match members(value, keys) {
                Some(present) if present.len() == keys.len() => Verdict::Holds,
                Some(_) => Verdict::Instead(member_names(value)),
                None => Verdict::Breaks,
            },
            Predicate::Lacks(keys) => match members(value, keys) {
                Some(present) if present.is_empty() => Verdict::Holds,
                Some(present) => Verdict::Instead(quoted(&present)),
                None => Verdict::Breaks,
            },
            Predicate::Includes(_) => {
                value.as_array().is_some_and(|items| items.iter().any(|item| item.same(wanted))).into()
            }
            Predicate::Excludes(_) => match value.as_array() {
                Some(items) => {
                    let unwanted: ValueSet = wanted_items.iter().collect();
                    match items.iter().find(|item| unwanted.contains(item)) {
                        None => Verdict::Holds,
                        Some(item) => Verdict::Instead(shown(item)),
                    }
                }
                None => Verdict::Breaks,
            },
            Predicate::KeysMatch(pattern) => match value.as_object() {
                Some(object) => {
                    let odd = object.iter().find(|(name, _)| !pattern.is_match(&name.to_string_lossy()));
                    odd.map_or(Verdict::Holds, |(name, _)| {
                        Verdict::Instead(shown(&Json::String(name.clone())))
                    })
                }
                None => Verdict::Breaks,
            },
            Predicate::Bytes(_) => match raw_bytes(value) {
                Some(Ok(count)) if self.is_within(count) => Verdict::Holds,
                Some(Ok(count)) => Verdict::Instead(format!("{count} bytes")),
                Some(Err(reason)) => Verdict::Because(reason),
                None => Verdict::Breaks,
            },
            Predicate::AtOrBelow(_) => match (value.as_str(), wanted.as_str()) {
                (Some(uri), Some(base)) => is_at_or_below(uri, base).into(),
                _ => Verdict::Breaks,
            },
            Predicate::Count(_)
            | Predicate::Unique
            | Predicate::SameSet(_)
            | Predicate::SubsetOf(_)
            | Predicate::DisjointFrom(_) => Verdict::Holds,
        };
        match verdict {
            Verdict::Holds => None,
            _ if self.is_wordless => Some(String::new()),
            Verdict::Breaks => Some(shown(value)),
            Verdict::Because(reason) if reason.is_empty() => Some(shown(value)),
            Verdict::Because(reason) => Some(format!("{} ({reason})", shown(value))),
            Verdict::Instead(got) => Some(got),
        }
    }

    /// Whether a number is within the range that is wanted. Ends that are no numbers, which only a server can have
    /// given, hold nothing off.
    fn is_within(&self, number: usize) -> bool {
        let number = Number::from(number as u64);
        let end = |name| self.wanted.and_then(|range| range.get(name)).and_then(Json::as_number);
        end("at_least").is_none_or(|low| low.compare(&number) != Ordering::Greater)
            && end("at_most").is_none_or(|high| high.compare(&number) != Ordering::Less)
    }

    /// Demands on all values at once. The items of a single array that a plain pointer means are the values.
    fn judge_together(&self, subject: &Json, judgement: &mut Judgement) {
        let mut values: Vec<(String, &Json)> = Vec::new();
        self.check.at.visit(subject, &mut |found| match found.value {
            None => self.judge_absence(found, judgement),
            Some(Json::Null) if self.check.or_null => judgement.excused += 1,
            Some(Json::Array(items)) if self.check.at.is_plain() => {
                let base = found.pointer();
                let pointer = |index: usize| format!("{base}/{index}");
                values.extend(items.iter().enumerate().map(|(index, item)| (pointer(index), item)));
            }
            Some(value) if self.check.at.is_plain() => {
                judgement.keep(self.breach(&found.pointer(), shown(value)));
            }
            Some(value) => values.push((found.pointer(), value)),
        });
        if !judgement.breaches.is_empty() {
            return;
        }
        let pattern = self.check.at.to_string();
        let wanted = self.wanted.and_then(Json::as_array).unwrap_or_default();
        if self.wanted.is_some_and(|wanted| wanted.as_array().is_none()) {
            return judgement
                .keep(self.breach(&pattern, "something that is compared with no array".to_owned()));
        }
        let wanted_set: ValueSet = wanted.iter().collect();
        let got = match &self.check.predicate {
            Predicate::Unique => {
                let mut seen = ValueSet::new();
                let twice = values.iter().find(|(_, value)| !seen.insert(value));
                twice
                    .map(|(pointer, value)| format!("{} again at `{}`", shown(value), shown_pointer(pointer)))
            }
            Predicate::SubsetOf(_) => first_outside(&values, &wanted_set),
            Predicate::DisjointFrom(_) => {
                let shared = values.iter().find(|(_, value)| wanted_set.contains(value));
                shared.map(|(pointer, value)| format!("{} at `{}`", shown(value), shown_pointer(pointer)))
            }
            _ => first_outside(&values, &wanted_set).or_else(|| {
                let got: ValueSet = values.iter().map(|(_, value)| *value).collect();
                let missing = wanted.iter().find(|item| !got.contains(item));
                missing.map(|item| format!("no {}", shown(item)))
            }),
        };
        match got {
            Some(got) => judgement.keep(self.breach(&pattern, got)),
            None => {
                judgement.proven += match &self.check.predicate {
                    Predicate::DisjointFrom(_) if wanted.is_empty() => 0,
                    _ => values.len(),
                }
            }
        }
    }

    fn breach(&self, pointer: &str, got: String) -> Breach {
        if self.is_wordless {
            return Breach::default();
        }
        let predicate = &self.check.predicate;
        let expected = demand(predicate, self.wanted);
        let pointer = shown_pointer(pointer);
        let place = if pointer.is_empty() { "the value".to_owned() } else { format!("`{pointer}`") };
        let title = match &self.check.says {
            Some(says) => says.clone(),
            None => format!("expected {place} to {}, got {got}", title_demand(predicate, self.wanted)),
        };
        Breach { pointer, expected, got, title }
    }
}

enum Verdict {
    Holds,
    /// The value itself says why not.
    Breaks,
    /// The value is shown with a reason.
    Because(String),
    /// This is shown in place of the value.
    Instead(String),
}

impl From<bool> for Verdict {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Breaks }
    }
}

fn first_outside(values: &[(String, &Json)], wanted: &ValueSet) -> Option<String> {
    let outside = values.iter().find(|(_, value)| !wanted.contains(value));
    outside.map(|(pointer, value)| format!("{} at `{}`", shown(value), shown_pointer(pointer)))
}

fn any_type(types: &[Type], value: &Json) -> Verdict {
    let mut reason = String::new();
    for kind in types {
        match examine(*kind, value) {
            Ok(()) => return Verdict::Holds,
            Err(refusal) if reason.is_empty() => reason = refusal,
            Err(_) => {}
        }
    }
    Verdict::Because(reason)
}

/// Characters, items or members; `None` for what has none.
fn length(value: &Json) -> Option<usize> {
    match value {
        Json::String(text) => Some(text.chars().count()),
        Json::Array(items) => Some(items.len()),
        Json::Object(object) => Some(object.len()),
        _ => None,
    }
}

/// Bytes of a base64 string once decoded, or of what a content item holds; `None` for anything else.
fn raw_bytes(value: &Json) -> Option<Result<usize, String>> {
    let decoded = |text: &str| base64_bytes(text).map(|bytes| bytes.len());
    match value {
        Json::Object(item) => match item.get("blob").and_then(Json::as_str) {
            Some(blob) => Some(decoded(blob)),
            None => item.get("text").and_then(Json::as_str).map(|text| Ok(text.len())),
        },
        value => value.as_str().map(decoded),
    }
}

/// Which of the members an object has; `None` if it is no object.
fn members<'n>(value: &Json, names: &'n [String]) -> Option<Vec<&'n str>> {
    members_but(value, names, false)
}

/// As `members`; with `or: "null"`, a null member is as good as none, as serialisers write it for what is absent.
fn members_but<'n>(value: &Json, names: &'n [String], or_null: bool) -> Option<Vec<&'n str>> {
    let object = value.as_object()?;
    let counts = |name: &&str| object.get(name).is_some_and(|member| !or_null || !member.is_null());
    Some(names.iter().map(String::as_str).filter(counts).collect())
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn member_names(value: &Json) -> String {
    let names: Vec<Json> = value
        .as_object()
        .map(|object| object.iter().take(20).map(|(name, _)| Json::String(name.clone())).collect())
        .unwrap_or_default();
    if names.is_empty() { "no members".to_owned() } else { format!("only {}", shown(&Json::Array(names))) }
}
