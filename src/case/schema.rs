//! What may stand in a case file, for editors? A JSON Schema made from the table of the language.

use super::language::{
    ANSWER_LISTS, ANSWER_NAMES, CASE, CHECK, Key, ON, PREDICATES, RANGE, REQUIREMENT, REVISION_WORDS, Shape,
    VERBS,
};
use crate::revision::Revision;
use serde_json::{Map, Value, json};

/// The schema of a case file and, for a list, of `requirements.yaml`.
pub fn schema() -> Value {
    let mut step_keys: Vec<&Key> = VERBS.iter().collect();
    step_keys.push(&ON);
    let check_keys: Vec<&Key> = CHECK.iter().chain(PREDICATES).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A case or the requirements of an area, for mcp-litmus",
        "if": { "type": "array" },
        "then": { "items": object(REQUIREMENT.iter()), "minItems": 1 },
        "else": case(),
        "$defs": {
            "text": { "type": "string", "minLength": 1 },
            "texts": one_or_more(json!({ "$ref": "#/$defs/text" })),
            "pointer": { "type": "string", "pattern": "^(/.*)?$" },
            "duration": { "type": "string", "pattern": "^[0-9]+(ms|s|m)$" },
            "whole": { "type": "integer", "minimum": 0 },
            "amount": {
                "anyOf": [{ "$ref": "#/$defs/whole" }, { "type": "string", "pattern": r"^\$\{[^}]+\}$" }]
            },
            "range": { "anyOf": [{ "$ref": "#/$defs/amount" }, object(RANGE.iter())] },
            "revisions": one_or_more(revisions()),
            "check": exactly_one(object(check_keys.into_iter()), PREDICATES),
            "checks": { "type": "array", "items": { "$ref": "#/$defs/check" }, "minItems": 1 },
            "step": exactly_one(object(step_keys.into_iter()), VERBS),
            "steps": { "type": "array", "items": { "$ref": "#/$defs/step" }, "minItems": 1 },
            "answer": answer(),
            "answers": answers(),
        }
    })
}

/// Either steps or a rule on every message.
fn case() -> Value {
    let mut case = object(CASE.iter());
    case["oneOf"] = json!([{ "required": ["steps"] }, { "required": ["always"] }]);
    case
}

fn object<'a>(keys: impl Iterator<Item = &'a Key>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in keys {
        let mut value = shape(key.shape);
        value["description"] = json!(key.doc);
        properties.insert(key.name.to_owned(), value);
        if key.required {
            required.push(key.name);
        }
    }
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn exactly_one(mut object: Value, keys: &[Key]) -> Value {
    object["oneOf"] = keys.iter().map(|key| json!({ "required": [key.name] })).collect();
    object
}

fn one_or_more(item: Value) -> Value {
    json!({ "anyOf": [item, { "type": "array", "items": item, "minItems": 1 }] })
}

fn words(words: &[&str]) -> Value {
    // A bare `null` is YAML's null.
    let mut values: Vec<Value> = words.iter().map(|word| json!(word)).collect();
    if words.contains(&"null") {
        values.push(Value::Null);
    }
    json!({ "enum": values })
}

fn shape(shape: Shape) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    match shape {
        Shape::Text => reference("text"),
        Shape::Whole => reference("whole"),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::True => json!({ "const": true }),
        Shape::Template => json!({}),
        Shape::TextTemplate => json!({ "type": "string" }),
        Shape::Pointer => reference("pointer"),
        Shape::Duration => reference("duration"),
        Shape::Regex => json!({ "type": "string", "format": "regex" }),
        Shape::Bag => json!({ "type": "object" }),
        Shape::Texts => reference("texts"),
        Shape::Word(known) => words(known),
        Shape::Words(known) => one_or_more(words(known)),
        Shape::Map(keys) => object(keys.iter()),
        Shape::OneOf(keys) => {
            let mut one = object(keys.iter());
            one["minProperties"] = json!(1);
            one["maxProperties"] = json!(1);
            one
        }
        Shape::List(item) => json!({ "type": "array", "items": self::shape(*item), "minItems": 1 }),
        Shape::Any(shapes) => {
            json!({ "anyOf": shapes.iter().map(|one| self::shape(*one)).collect::<Vec<_>>() })
        }
        Shape::Range => reference("range"),
        Shape::Amount => reference("amount"),
        Shape::Ends => {
            json!({ "type": "array", "items": { "type": ["number", "null"] }, "minItems": 2, "maxItems": 2 })
        }
        Shape::Revisions => reference("revisions"),
        Shape::Source => json!({
            "anyOf": [
                { "$ref": "#/$defs/text" },
                { "type": "object", "additionalProperties": { "$ref": "#/$defs/text" }, "minProperties": 1 },
            ]
        }),
        Shape::Checks => reference("checks"),
        Shape::Step => reference("step"),
        Shape::Steps => reference("steps"),
        Shape::Answers => reference("answers"),
    }
}

fn revisions() -> Value {
    let names: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    let one = names.join("|");
    json!({
        "anyOf": [
            { "enum": REVISION_WORDS.iter().chain(&names).collect::<Vec<_>>() },
            { "type": "string", "pattern": format!("^({one})\\.\\.({one})$") },
        ]
    })
}

fn answer() -> Value {
    json!({
        "anyOf": [
            { "enum": ANSWER_NAMES },
            { "type": "string", "pattern": "^error:-?[0-9]+$" },
            {
                "type": "object",
                "properties": { "result": { "$ref": "#/$defs/checks" } },
                "required": ["result"],
                "additionalProperties": false,
            },
        ]
    })
}

fn answers() -> Value {
    let list = json!({ "type": "array", "items": { "$ref": "#/$defs/answer" } });
    let mut lists = object(ANSWER_LISTS.iter());
    for key in ANSWER_LISTS {
        let mut described = list.clone();
        described["description"] = json!(key.doc);
        lists["properties"][key.name] = described;
    }
    json!({ "anyOf": [list, lists] })
}
