//! What do the names in a case stand for? Names to values, and templates to values.

use crate::case::model::{Piece, Reference, Template};
use crate::wire::json::{Json, Object};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The values that a case has named so far, and those it was given.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    values: HashMap<String, Arc<Json>>,
}

/// A reference that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("`${{{0}}}` has no value")]
    Name(String),
    #[error("`${{{name}{pointer}}}` has no value: there is nothing at `{pointer}`")]
    Pointer { name: String, pointer: String },
}

impl Bindings {
    pub fn new() -> Self {
        Self::default()
    }

    /// Names a value; a name that is set again has the newer value.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Json>) {
        self.share(name, Arc::new(value.into()));
    }

    /// As [`Bindings::set`], for a value that others hold too.
    pub fn share(&mut self, name: impl Into<String>, value: Arc<Json>) {
        self.values.insert(name.into(), value);
    }

    pub fn remove(&mut self, name: &str) {
        self.values.remove(name);
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        self.values.get(name).map(Arc::as_ref)
    }

    /// What a reference stands for.
    pub fn look_up(&self, reference: &Reference) -> Result<&Json, Unresolved> {
        let value = self.get(&reference.name).ok_or_else(|| Unresolved::Name(reference.name.clone()))?;
        value.pointer(&reference.pointer).ok_or_else(|| Unresolved::Pointer {
            name: reference.name.clone(),
            pointer: reference.pointer.clone(),
        })
    }

    /// The template with every reference replaced.
    pub fn resolve(&self, template: &Template) -> Result<Json, Unresolved> {
        self.view(template).map(Cow::into_owned)
    }

    /// As [`Bindings::resolve`], without a copy of what stands somewhere as it is.
    pub fn view<'a>(&'a self, template: &'a Template) -> Result<Cow<'a, Json>, Unresolved> {
        let made = match template {
            Template::Literal(value) => return Ok(Cow::Borrowed(value)),
            Template::Text(pieces) => match pieces.as_slice() {
                [Piece::Reference(reference)] => return self.look_up(reference).map(Cow::Borrowed),
                pieces => Json::from(self.interpolate(pieces)?),
            },
            Template::Array(items) => {
                Json::Array(items.iter().map(|item| self.resolve(item)).collect::<Result<_, _>>()?)
            }
            Template::Object(members) => {
                let mut object = Object::new();
                for (name, value) in members {
                    match self.resolve(value) {
                        Err(_) if value.is_optional() => {}
                        resolved => object.push(name.as_str(), resolved?),
                    }
                }
                Json::Object(object)
            }
        };
        Ok(Cow::Owned(made))
    }

    /// The template as text, as it goes into a raw frame: strings as they are, other values as compact JSON.
    pub fn resolve_text(&self, template: &Template) -> Result<String, Unresolved> {
        match template {
            Template::Text(pieces) => self.interpolate(pieces),
            other => Ok(as_text(&self.resolve(other)?)),
        }
    }

    fn interpolate(&self, pieces: &[Piece]) -> Result<String, Unresolved> {
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Ok(text.clone()),
                Piece::Reference(reference) => Ok(as_text(self.look_up(reference)?)),
            })
            .collect()
    }
}

fn as_text(value: &Json) -> String {
    match value.as_text() {
        Some(text) => text.to_string_lossy().into_owned(),
        None => value.to_string(),
    }
}

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("`${{` has no closing `}}`")]
    Unclosed,
    #[error(
        "`${{{0}}}` is no reference; a name has letters, digits, `-` and `_`, and a pointer may follow it"
    )]
    Name(String),
}

impl Template {
    /// Reads `text ${name/pointer} text`; `$${` stands for a literal `${`.
    pub fn parse_text(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            if let Some(before) = rest[..at].strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            literal.push_str(&rest[..at]);
            let (inner, after) = rest[at + 2..].split_once('}').ok_or(TemplateError::Unclosed)?;
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            pieces.push(Piece::Reference(reference(inner)?));
            rest = after;
        }
        literal.push_str(rest);
        if pieces.is_empty() {
            return Ok(Self::Literal(Json::from(literal)));
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self::Text(pieces))
    }

    /// Whether it is a lone reference that may be without a value.
    fn is_optional(&self) -> bool {
        matches!(self, Self::Text(pieces) if matches!(pieces.as_slice(), [Piece::Reference(one)] if one.is_optional))
    }

    /// Calls `visit` for every reference in it.
    pub fn each_reference<'a>(&'a self, visit: &mut dyn FnMut(&'a Reference)) {
        match self {
            Self::Literal(_) => {}
            Self::Text(pieces) => {
                for piece in pieces {
                    if let Piece::Reference(reference) = piece {
                        visit(reference);
                    }
                }
            }
            Self::Array(items) => items.iter().for_each(|item| item.each_reference(visit)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.each_reference(visit)),
        }
    }
}

/// `name`, `name/pointer`, either with a `?`, or `meta,` (a name of its own: the members and a comma).
fn reference(inner: &str) -> Result<Reference, TemplateError> {
    let (path, is_optional) = inner.strip_suffix('?').map_or((inner, false), |path| (path, true));
    let (name, pointer) = match path.find('/') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    let bare = if inner == "meta," { "meta" } else { name };
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    if bare.is_empty() || !bare.chars().all(plain) {
        return Err(TemplateError::Name(inner.to_owned()));
    }
    Ok(Reference { name: name.to_owned(), pointer: pointer.to_owned(), is_optional })
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${{{}{}{}}}", self.name, self.pointer, if self.is_optional { "?" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::json;

    fn bindings() -> Bindings {
        let mut bindings = Bindings::new();
        bindings.set("id", json!(7));
        bindings.set("resource", json!({"uri": "file:///a", "tags": ["x"]}));
        bindings.set("meta,", "\"_meta\":{},");
        bindings
    }

    fn resolved(text: &str) -> Result<String, Unresolved> {
        bindings().resolve(&Template::parse_text(text).unwrap()).map(|value| value.to_string())
    }

    #[test]
    fn a_lone_reference_is_the_value_itself_and_within_text_it_is_text() {
        assert_eq!(resolved("${id}").unwrap(), "7");
        assert_eq!(resolved("id ${id}").unwrap(), "\"id 7\"");
        assert_eq!(resolved("${resource/uri}").unwrap(), "\"file:///a\"");
        assert_eq!(resolved("<${resource/uri}>").unwrap(), "\"<file:///a>\"");
        assert_eq!(resolved("${resource/tags}!").unwrap(), "\"[\\\"x\\\"]!\"");
        assert_eq!(resolved("${meta,}x").unwrap(), "\"\\\"_meta\\\":{},x\"");
        assert_eq!(resolved("$${id} $").unwrap(), "\"${id} $\"");
    }

    #[test]
    fn what_has_no_value_says_which() {
        assert_eq!(resolved("${gone}"), Err(Unresolved::Name("gone".into())));
        assert_eq!(
            resolved("${resource/size}").unwrap_err().to_string(),
            "`${resource/size}` has no value: there is nothing at `/size`"
        );
    }

    #[test]
    fn templates_nest_and_raw_text_keeps_strings_bare() {
        let uri = Template::parse_text("${resource/uri}").unwrap();
        let template =
            Template::Object(vec![("uri".into(), uri.clone()), ("list".into(), Template::Array(vec![uri]))]);
        let value = bindings().resolve(&template).unwrap();
        assert_eq!(value.to_string(), r#"{"uri":"file:///a","list":["file:///a"]}"#);
        let text = Template::parse_text("{\"id\":${id}}").unwrap();
        assert_eq!(bindings().resolve_text(&text).unwrap(), "{\"id\":7}");
        assert_eq!(bindings().resolve_text(&Template::parse_text("${id}").unwrap()).unwrap(), "7");
    }

    #[test]
    fn a_member_that_may_be_without_a_value_is_left_out() {
        let member = |name: &str, text: &str| (name.to_owned(), Template::parse_text(text).unwrap());
        let template =
            |members| bindings().resolve(&Template::Object(members)).map(|value| value.to_string());
        let there = member("uri", "${resource/uri?}");
        assert_eq!(
            template(vec![there.clone(), member("size", "${resource/size?}"), member("x", "${gone?}")])
                .unwrap(),
            r#"{"uri":"file:///a"}"#
        );
        assert!(template(vec![there, member("size", "${resource/size}")]).is_err());
        assert!(resolved("${gone?}").is_err());
    }

    #[test]
    fn refuses_what_is_no_reference() {
        assert_eq!(Template::parse_text("${id"), Err(TemplateError::Unclosed));
        assert!(matches!(Template::parse_text("${a b}"), Err(TemplateError::Name(_))));
        assert!(matches!(Template::parse_text("${}"), Err(TemplateError::Name(_))));
    }
}
