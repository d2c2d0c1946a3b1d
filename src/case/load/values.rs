//! How are templates, pointers, checks and answers read?

use super::reader::{Fields, Reader, would_fit};
use crate::case::language::{self, ANSWER_LISTS, ANSWER_NAMES, CHECK, PREDICATES, RANGE};
use crate::case::model::{Answer, Answers, Check, Predicate, Template, Type};
use crate::case::tree::{Node, Value};
use crate::check::pattern::Pattern;
use crate::wire::json::{Json, Number, Object};
use std::ops::Range as Bytes;

impl Reader<'_> {
    pub fn template(&mut self, node: &Node) -> Option<Template> {
        match &node.value {
            Value::Text(text) => self.parse_text(text, &node.range),
            Value::List(items) => {
                let templates: Vec<Template> = items.iter().filter_map(|item| self.template(item)).collect();
                Some(fold_array(templates))
            }
            Value::Map(members) => {
                let templates = members
                    .iter()
                    .filter_map(|(key, value)| Some((key.text.clone(), self.template(value)?)))
                    .collect();
                Some(fold_object(templates))
            }
            _ => Some(Template::Literal(node.to_json())),
        }
    }

    /// A template that is text; the empty text is one.
    pub fn text_template(&mut self, node: &Node) -> Option<Template> {
        match &node.value {
            Value::Text(text) => self.parse_text(text, &node.range),
            _ => self.text(node).map(|text| Template::Literal(Json::from(text))),
        }
    }

    fn parse_text(&mut self, text: &str, range: &Bytes<usize>) -> Option<Template> {
        let template = Template::parse_text(text);
        template.map_err(|error| self.report(range, error.to_string(), None)).ok()
    }

    /// A map of names to templates.
    pub fn bag(&mut self, node: &Node, what: &str) -> Option<Vec<(String, Template)>> {
        let Value::Map(members) = &node.value else {
            self.report(&node.range, format!("expected a map for {what}, found {}", node.kind()), None);
            return None;
        };
        Some(
            members
                .iter()
                .filter_map(|(key, value)| Some((key.text.clone(), self.template(value)?)))
                .collect(),
        )
    }

    pub fn pattern(&mut self, node: &Node) -> Option<Pattern> {
        let Value::Text(text) = &node.value else {
            self.report(&node.range, format!("expected a JSON Pointer, found {}", node.kind()), None);
            return None;
        };
        let help = Some("for example `/contents/*/uri`".to_owned());
        text.parse::<Pattern>().map_err(|error| self.report(&node.range, error.to_string(), help)).ok()
    }

    pub fn checks(&mut self, node: &Node) -> Option<Vec<Check>> {
        let items = self.list(node, "checks")?;
        if items.is_empty() {
            self.report(&node.range, "expected at least one check", None);
        }
        Some(items.iter().filter_map(|item| self.check(item)).collect())
    }

    pub fn check(&mut self, node: &Node) -> Option<Check> {
        let fields = self.fields(node, "a check", &[CHECK, PREDICATES])?;
        let predicate = self.predicate(&fields);
        let of = fields.get("of").and_then(|of| self.template(of));
        let at = match fields.get("at") {
            Some(at) => self.pattern(at),
            None => Some(Pattern::whole()),
        };
        let (mut or_absent, mut or_null) = (false, false);
        if let Some(or) = fields.get("or") {
            let excuses = self.one_or_more(or, |reader, item| reader.word(item, language::EXCUSES, "excuse"));
            for excuse in excuses.unwrap_or_default() {
                if excuse == 0 { or_absent = true } else { or_null = true }
            }
        }
        let says = fields.get("says").and_then(|says| self.text(says));
        let place = self.place(&node.range);
        Some(Check { of, at: at?, predicate: predicate?, or_absent, or_null, says, place })
    }

    fn predicate(&mut self, fields: &Fields) -> Option<Predicate> {
        let (name, node) = self.exactly_one(fields, PREDICATES, "the predicate of a check")?;
        Some(match name {
            "equals" => Predicate::Equals(self.template(node)?),
            "differs" => Predicate::Differs(self.template(node)?),
            "is" => Predicate::Is(self.one_or_more(node, Self::kind)?),
            "one_of" => Predicate::OneOf(self.template_list(node)?),
            "none_of" => Predicate::NoneOf(self.template_list(node)?),
            "matches" => Predicate::Matches(self.regex(node)?),
            "count" => Predicate::Count(self.range(node)?),
            "length" => Predicate::Length(self.range(node)?),
            "between" => self.between(node)?,
            "unique" => self.just_true(node).map(|()| Predicate::Unique)?,
            "one_key_of" => Predicate::OneKeyOf(self.texts(node)?),
            "has" => Predicate::Has(self.texts(node)?),
            "lacks" => Predicate::Lacks(self.texts(node)?),
            "includes" => Predicate::Includes(self.template(node)?),
            "excludes" => Predicate::Excludes(self.template_list(node)?),
            "keys_match" => Predicate::KeysMatch(self.regex(node)?),
            "same_set" => Predicate::SameSet(self.template_list(node)?),
            "subset_of" => Predicate::SubsetOf(self.template_list(node)?),
            "disjoint_from" => Predicate::DisjointFrom(self.template_list(node)?),
            "bytes" => Predicate::Bytes(self.range(node)?),
            _ => Predicate::AtOrBelow(self.text_template(node)?),
        })
    }

    fn kind(&mut self, node: &Node) -> Option<Type> {
        let index = self.word(node, language::TYPES, "type")?;
        language::TYPE_VALUES.get(index).copied()
    }

    /// A list, or a reference that may stand for one.
    fn template_list(&mut self, node: &Node) -> Option<Template> {
        let template = self.template(node)?;
        match &template {
            Template::Array(_) | Template::Literal(Json::Array(_)) => {}
            Template::Text(pieces) if pieces.len() == 1 => {}
            _ => {
                self.report(&node.range, format!("expected a list, found {}", node.kind()), None);
                return None;
            }
        }
        Some(template)
    }

    fn regex(&mut self, node: &Node) -> Option<regex::Regex> {
        let text = self.text(node)?;
        regex::Regex::new(&text)
            .map_err(|error| {
                let last = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                self.report(
                    &node.range,
                    format!("no regular expression: {}", last.trim_start_matches("error: ")),
                    None,
                );
            })
            .ok()
    }

    /// An object with `at_least`, `at_most` or both.
    fn range(&mut self, node: &Node) -> Option<Template> {
        let end = |name: &str, amount: Template| (name.to_owned(), amount);
        if !matches!(node.value, Value::Map(_)) {
            let exact = self.amount(node)?;
            return Some(fold_object(vec![end("at_least", exact.clone()), end("at_most", exact)]));
        }
        let fields = self.fields(node, "a range", &[RANGE])?;
        let at_least = fields.get("at_least").and_then(|low| self.amount(low));
        let at_most = fields.get("at_most").and_then(|high| self.amount(high));
        if fields.get("at_least").is_none() && fields.get("at_most").is_none() {
            self.report(&node.range, "a range has `at_least`, `at_most` or both", None);
        }
        let number = |amount: &Option<Template>| literal(amount.as_ref()?)?.as_i64();
        if number(&at_least).zip(number(&at_most)).is_some_and(|(low, high)| low > high) {
            self.report(&node.range, "no number is within this range", None);
        }
        let ends = [("at_least", at_least), ("at_most", at_most)];
        Some(fold_object(ends.into_iter().filter_map(|(name, amount)| Some(end(name, amount?))).collect()))
    }

    /// A whole number, or a reference that may stand for one.
    fn amount(&mut self, node: &Node) -> Option<Template> {
        match &node.value {
            Value::Text(text) => match self.parse_text(text, &node.range)? {
                template @ Template::Text(_)
                    if text.starts_with("${") && text.find('}') == Some(text.len() - 1) =>
                {
                    Some(template)
                }
                _ => self.whole(node).map(|_| Template::Literal(node.to_json())),
            },
            _ => self.whole(node).map(|number| Template::Literal(Json::from(number))),
        }
    }

    fn between(&mut self, node: &Node) -> Option<Predicate> {
        let help = "for example `[0, 1]`, or `[0, null]` for an open end".to_owned();
        let Value::List(ends) = &node.value else {
            self.report(&node.range, format!("expected both ends, found {}", node.kind()), Some(help));
            return None;
        };
        let [low, high] = ends.as_slice() else {
            self.report(&node.range, format!("expected both ends, found {} numbers", ends.len()), Some(help));
            return None;
        };
        let mut end = |end: &Node| -> Option<Option<Number>> {
            match &end.value {
                Value::Null => Some(None),
                Value::Number(number) => Some(Some(number.clone())),
                _ => {
                    self.report(
                        &end.range,
                        format!("expected a number, found {}", end.kind()),
                        Some(help.clone()),
                    );
                    None
                }
            }
        };
        Some(Predicate::Between(end(low)?, end(high)?))
    }

    pub fn answers(&mut self, node: &Node) -> Option<Answers> {
        let place = Some(self.place(&node.range));
        if let Value::List(items) = &node.value {
            let pass = self.answer_list(items);
            return Some(Answers { pass, place, ..Answers::default() });
        }
        let fields = self.fields(node, "`answers`", &[ANSWER_LISTS])?;
        let mut list = |name: &str| match fields.get(name) {
            Some(node) => {
                self.list(node, "answers").map(<[Node]>::to_vec).map(|items| self.answer_list(&items))
            }
            None => Some(Vec::new()),
        };
        let (pass, advice, note, fail) = (list("pass"), list("advice"), list("note"), list("fail"));
        Some(Answers { pass: pass?, advice: advice?, note: note?, fail: fail?, place })
    }

    fn answer_list(&mut self, items: &[Node]) -> Vec<Answer> {
        items.iter().filter_map(|item| self.answer(item)).collect()
    }

    fn answer(&mut self, node: &Node) -> Option<Answer> {
        if let Value::Map(members) = &node.value {
            return match members.as_slice() {
                [(key, checks)] if key.text == "result" => self.checks(checks).map(Answer::Result),
                _ => {
                    self.report(&node.range, "as a map an answer is `{result: [checks]}`", None);
                    None
                }
            };
        }
        let name = self.text(node)?;
        if let Some(code) = name.strip_prefix("error:") {
            return match code.parse() {
                Ok(code) => Some(Answer::Code(code)),
                Err(_) => {
                    self.report(
                        &node.range,
                        format!("`{code}` is no error code"),
                        Some("as in `error:-32002`".into()),
                    );
                    None
                }
            };
        }
        Some(match name.as_str() {
            "silent" => Answer::Silent,
            "parse" => Answer::Parse,
            "invalid" => Answer::Invalid,
            "invalid-without-id" => Answer::InvalidWithoutId,
            "params" => Answer::Params,
            "method" => Answer::Method,
            "not-found" => Answer::NotFound,
            "mismatch" => Answer::Mismatch,
            "result" => Answer::Result(Vec::new()),
            "any-error" => Answer::AnyError,
            "ack" => Answer::Acknowledged,
            _ => {
                let names = ANSWER_NAMES.iter().copied().chain(["error:CODE"]);
                self.report(&node.range, format!("unknown answer `{name}`"), Some(would_fit(&name, names)));
                return None;
            }
        })
    }
}

/// What holds no reference is a plain value.
fn fold_array(templates: Vec<Template>) -> Template {
    let literals: Option<Vec<Json>> = templates.iter().map(literal).collect();
    literals.map_or(Template::Array(templates), |items| Template::Literal(Json::Array(items)))
}

fn fold_object(templates: Vec<(String, Template)>) -> Template {
    let literals: Option<Object> =
        templates.iter().map(|(name, template)| Some((name.as_str(), literal(template)?))).collect();
    literals.map_or(Template::Object(templates), |object| Template::Literal(Json::Object(object)))
}

fn literal(template: &Template) -> Option<Json> {
    if let Template::Literal(value) = template { Some(value.clone()) } else { None }
}
