//! How do URI templates (RFC 6570) and URIs belong together? Filled in, and read backwards.

use iri_string::spec::UriSpec;
use iri_string::template::UriTemplateStr;
use iri_string::template::simple_context::SimpleContext;
use std::collections::HashSet;
use std::fmt::Write;

/// A template, if it is one.
fn parse(template: &str) -> Option<&UriTemplateStr> {
    // The parser slices behind a `%` without a look at what is there (iri-string 0.7.14).
    let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    let mut escapes = template.split('%').skip(1).map(|rest| rest.bytes());
    if !escapes.all(|mut rest| is_digit(rest.next()) && is_digit(rest.next())) {
        return None;
    }
    UriTemplateStr::new(template).ok()
}

pub fn is_template(text: &str) -> bool {
    parse(text).is_some()
}

/// The names of a template's variables, each once, in the order in which they occur; `None` if it is no template.
pub fn variables(template: &str) -> Option<Vec<String>> {
    let parsed = parse(template)?;
    let mut names: Vec<String> = Vec::new();
    for variable in parsed.variables() {
        if !names.iter().any(|known| known == variable.as_str()) {
            names.push(variable.as_str().to_owned());
        }
    }
    Some(names)
}

/// Fills a template; what has no value is left out. `None` if it is no template, or a value does not fit it.
pub fn fill(template: &str, values: &[(String, String)]) -> Option<String> {
    let parsed = parse(template)?;
    let reserved = reserved_variables(template);
    let mut context = SimpleContext::new();
    for (variable, value) in values {
        // The expander slices such values off character boundaries (iri-string 0.7.14), so they come to it
        // encoded, as `{+name}` and `{#name}` would encode them anyway.
        let value = if reserved.contains(variable.as_str()) { ascii(value) } else { value.clone() };
        context.insert(variable.as_str(), value);
    }
    parsed.expand::<UriSpec, _>(&context).ok().map(|uri| uri.to_string())
}

/// The variables of expressions that let reserved characters through.
fn reserved_variables(template: &str) -> HashSet<&str> {
    let expressions = template.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let reserved = expressions.filter_map(|expression| expression.strip_prefix(['+', '#']));
    reserved.flat_map(|names| names.split(',')).map(|name| name.trim_end_matches('*')).collect()
}

/// Percent-encodes what is not ASCII, and nothing else.
fn ascii(value: &str) -> String {
    value.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii() {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// The literal texts around the expressions of a template, and the expressions without their braces.
fn parts(template: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut literals, mut expressions) = (Vec::new(), Vec::new());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        literals.push(&rest[..open]);
        match rest[open..].find('}') {
            Some(close) => {
                expressions.push(&rest[open + 1..open + close]);
                rest = &rest[open + close + 1..];
            }
            None => {
                expressions.push(&rest[open + 1..]);
                rest = "";
            }
        }
    }
    literals.push(rest);
    (literals, expressions)
}

/// Whether the URI could come from the template: each expression stands for any text, so this errs towards yes.
pub fn may_match(template: &str, uri: &str) -> bool {
    let (literals, expressions) = parts(template);
    let (Some(first), Some(last)) = (literals.first(), literals.last()) else { return false };
    if expressions.is_empty() {
        return template == uri;
    }
    let Some(mut rest) = uri.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for literal in literals.iter().skip(1).take(literals.len() - 2) {
        let Some(at) = rest.find(literal) else { return false };
        rest = &rest[at + literal.len()..];
    }
    true
}

/// The values with which the template makes exactly this URI; `None` where none are found.
///
/// Each expression has to hold one variable, which takes as little of the URI as it can; the result is filled in
/// again and compared, so what is given back is true.
pub fn values_in(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
    let (literals, expressions) = parts(template);
    let mut rest = uri.strip_prefix(literals.first()?)?;
    let mut values: Vec<(String, String)> = Vec::new();
    for (index, expression) in expressions.iter().enumerate() {
        let literal = literals.get(index + 1)?;
        let is_last = index + 1 == expressions.len();
        let end = if is_last {
            rest.len().checked_sub(literal.len()).filter(|end| rest.get(*end..) == Some(literal))?
        } else {
            rest.find(literal).filter(|end| *end > 0)?
        };
        let (piece, after) = rest.split_at(end);
        rest = &after[literal.len()..];
        let name = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']).trim_end_matches('*');
        let head = match expression.chars().next()? {
            sign @ ('#' | '.' | '/') => sign.to_string(),
            sign @ (';' | '?' | '&') => format!("{sign}{name}="),
            _ => String::new(),
        };
        let value = decoded(piece.strip_prefix(&head)?)?;
        if value.is_empty() || values.iter().any(|(known, _)| known == name) {
            return None;
        }
        values.push((name.to_owned(), value));
    }
    (!values.is_empty() && fill(template, &values).as_deref() == Some(uri)).then_some(values)
}

/// Without percent-encoding; `None` where what it encodes is no text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match tail {
            [high, low, after @ ..] if *first == b'%' => {
                bytes.push(u8::try_from(hex(*high)? * 16 + hex(*low)?).ok()?);
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_beyond_ascii_fill_every_kind_of_expression() {
        for (template, wanted) in [
            ("a:{x}", "a:%C3%BC%2F1"),
            ("a:{+x}", "a:%C3%BC/1"),
            ("a:{#x}", "a:#%C3%BC/1"),
            ("a:{?x}", "a:?x=%C3%BC%2F1"),
            ("a:{y}", "a:"),
        ] {
            let filled = fill(template, &[("x".to_owned(), "ü/1".to_owned())]).unwrap();
            assert_eq!(filled, wanted);
        }
        for odd in ["a:{x", "%ஞ", "a:%", "a:%2"] {
            assert_eq!(fill(odd, &[]), None, "{odd}");
        }
    }

    #[test]
    fn a_template_matches_generously() {
        assert!(may_match("note://items/{name}", "note://items/litmus-absent"));
        assert!(may_match("{+any}", "x:y"));
        assert!(may_match("a://{x}/b/{y}.txt", "a://1/b/2/b/3.txt"));
        assert!(may_match("a:b", "a:b"));
        assert!(!may_match("note://items/{name}", "memo://items/x"));
        assert!(!may_match("a://b.c/{x}", "a://bxc/1"));
        assert!(!may_match("a:{x}:b", "a:b"));
        assert!(!may_match("a:b", "a:bc"));
    }

    #[test]
    fn a_listed_uri_gives_the_values_of_its_template() {
        let values = |template: &str, uri: &str| {
            let values = values_in(template, uri)?;
            Some(
                values
                    .into_iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        for (template, uri, wanted) in [
            ("note://items/{name}", "note://items/todo", "name=todo"),
            ("file://{+path}", "file:///a/b.txt", "path=/a/b.txt"),
            ("a://{x}/of/{y}", "a://1/of/2", "x=1 y=2"),
            ("a:{x}", "a:%C3%BC%2F1", "x=ü/1"),
            ("a:b{/x}", "a:b/1", "x=1"),
            ("a:b{?x}", "a:b?x=1", "x=1"),
        ] {
            assert_eq!(values(template, uri).as_deref(), Some(wanted), "{template} {uri}");
        }
        for (template, uri) in [
            ("note://items/{name}", "note://items/"),
            // A slash is encoded in a plain expression, so this is not of its making.
            ("note://items/{name}", "note://items/a/b"),
            ("note://items/{name}", "memo://items/a"),
            ("a:{x,y}", "a:1,2"),
            ("a:{x}{y}", "a:12"),
            ("a:{x}:{x}", "a:1:1"),
            ("a:b", "a:b"),
            ("a:{x", "a:1"),
        ] {
            assert_eq!(values(template, uri), None, "{template} {uri}");
        }
    }

    proptest! {
        #[test]
        fn what_was_filled_in_is_found_again(value in "[a-zA-Z0-9 /äß%]{1,12}") {
            let template = "a://b/{x}.txt";
            let values = vec![("x".to_owned(), value)];
            let uri = fill(template, &values).unwrap();
            prop_assert!(may_match(template, &uri));
            prop_assert_eq!(values_in(template, &uri), Some(values));
        }

        #[test]
        fn any_text_is_taken(template in "\\PC{0,20}", uri in "\\PC{0,20}") {
            may_match(&template, &uri);
            values_in(&template, &uri);
            fill(&template, &[("x".to_owned(), uri)]);
        }
    }
}
