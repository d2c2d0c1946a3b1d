//! Does a URI fit a URI template, and with which values? The reverse of RFC 6570 expansion, for the operators that
//! this server uses: none, `+`, `/` and `?`.

use std::collections::BTreeMap;

/// The variables of a template and their decoded values.
pub(crate) type Values = BTreeMap<String, String>;

enum Part<'a> {
    Literal(&'a str),
    Expression { operator: Option<char>, variables: Vec<&'a str> },
}

/// The names of the variables, in the order of the template.
pub(crate) fn variables(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for part in parts(template) {
        if let Part::Expression { variables, .. } = part {
            names.extend(variables);
        }
    }
    names
}

/// The values with which `template` expands to `uri`, up to the spelling of percent escapes; none where it cannot.
pub(crate) fn matches(template: &str, uri: &str) -> Option<Values> {
    if !uri.is_ascii() {
        return None;
    }
    let mut values = Values::new();
    walk(&parts(template), uri, &mut values).then_some(values)
}

fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, tail)) = rest.split_once('{') {
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        let (expression, tail) = tail.split_once('}').unwrap_or((tail, ""));
        let operator = expression.chars().next().filter(|c| "+/?".contains(*c));
        let names = &expression[operator.map_or(0, char::len_utf8)..];
        parts.push(Part::Expression { operator, variables: names.split(',').collect() });
        rest = tail;
    }
    if !rest.is_empty() {
        parts.push(Part::Literal(rest));
    }
    parts
}

fn walk(parts: &[Part<'_>], uri: &str, values: &mut Values) -> bool {
    match parts.split_first() {
        None => uri.is_empty(),
        Some((Part::Literal(literal), rest)) => {
            uri.strip_prefix(literal).is_some_and(|tail| walk(rest, tail, values))
        }
        Some((Part::Expression { operator: Some('?'), variables }, rest)) => {
            let end = uri.find('#').unwrap_or(uri.len());
            query(variables, &uri[..end], values) && walk(rest, &uri[end..], values)
        }
        Some((Part::Expression { operator, variables }, rest)) => {
            let start = usize::from(*operator == Some('/'));
            if start == 1 && !uri.starts_with('/') {
                return false;
            }
            let separator = if *operator == Some('/') { '/' } else { ',' };
            let taken =
                uri[start..].find(|c| !fits(*operator, separator, c)).map_or(uri.len(), |n| n + start);
            // The longest text that fits comes first; a shorter one only if what follows demands it.
            (start + 1..=taken).rev().any(|end| {
                let mut trial = values.clone();
                let fitted = assign(variables, &uri[start..end], separator, &mut trial)
                    && walk(rest, &uri[end..], &mut trial);
                if fitted {
                    *values = trial;
                }
                fitted
            })
        }
    }
}

fn fits(operator: Option<char>, separator: char, c: char) -> bool {
    let unreserved = c.is_ascii_alphanumeric() || "-._~%".contains(c);
    unreserved || c == separator || (operator == Some('+') && ":/?#[]@!$&'()*+,;=".contains(c))
}

/// Gives each variable its piece of `text`; a lone variable takes all of it.
fn assign(variables: &[&str], text: &str, separator: char, values: &mut Values) -> bool {
    let pieces: Vec<&str> = match variables {
        [_] if separator == ',' => vec![text],
        _ => text.split(separator).collect(),
    };
    let lone = variables.len() == 1 && separator == ',' && text.is_empty();
    pieces.len() == variables.len()
        && !lone
        && variables.iter().zip(pieces).all(|(name, piece)| bind(name, piece, values))
}

/// A query names the variables it has, in the order of the template; it may leave out any.
fn query(variables: &[&str], text: &str, values: &mut Values) -> bool {
    let Some(pairs) = text.strip_prefix('?') else { return text.is_empty() };
    let mut names = variables.iter();
    pairs.split('&').all(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        names.any(|expected| *expected == name) && bind(name, value, values)
    })
}

fn bind(name: &str, piece: &str, values: &mut Values) -> bool {
    decode(piece).map(|value| values.insert(name.to_owned(), value)).is_some()
}

/// The text behind percent escapes; none where an escape is broken or the bytes are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iri_string::spec::UriSpec;
    use iri_string::template::UriTemplateStr;
    use iri_string::template::simple_context::SimpleContext;

    /// Expansion by a library, then matching by us, gives the values back.
    #[test]
    fn matching_undoes_expansion() {
        for template in [
            "t://a/{id}",
            "t://a/{x}/b/{y}",
            "t://s{?query,limit}",
            "t://r/{+path}",
            "t://p{/x,y}",
            "t://l/{x,y}",
        ] {
            for value in ["1", "two words", "世界 é", "a/b", "50%", "{x}", "a&b=c?d", ".."] {
                let mut context = SimpleContext::new();
                for name in variables(template) {
                    // iri-string 0.7.14 panics where reserved expansion meets a value beyond ASCII.
                    context.insert(
                        name,
                        if template.contains("{+") { escaped(value) } else { value.to_owned() },
                    );
                }
                let uri = UriTemplateStr::new(template)
                    .unwrap()
                    .expand::<UriSpec, _>(&context)
                    .unwrap()
                    .to_string();
                let values =
                    matches(template, &uri).unwrap_or_else(|| panic!("{template} does not fit {uri}"));
                for name in variables(template) {
                    // Reserved expansion leaves escapes of the value alone; of ours none holds one.
                    assert_eq!(values[name], value, "{template} {uri}");
                }
            }
        }
    }

    fn escaped(value: &str) -> String {
        let escape = |c: char| c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
        value.chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect()
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(matches("t://a/{id}", "t://a/").is_none());
        assert!(matches("t://a/{id}", "t://a/b/c").is_none());
        assert!(matches("t://a/{id}", "t://a/%ff").is_none());
        assert!(matches("t://a/{id}", "t://a/{id}").is_none());
        assert!(matches("t://s{?query,limit}", "t://s?other=1").is_none());
        assert!(matches("t://s{?query,limit}", "t://s?limit=1&query=2").is_none());
        assert_eq!(matches("t://s{?query,limit}", "t://s").unwrap().len(), 0);
    }
}
