//! In which forms does a secret come back? As it is, and as JSON, URLs, HTML and Base64 write it.
//!
//! What a server does with a text on purpose, to hide it, is beyond this: these are the forms in which servers pass on
//! what they were sent.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use std::fmt::Write;

/// The secret in all its forms, itself first. A short one has few: in Base64 it would be found where it is not.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let mut plain = vec![secret.to_owned()];
    if secret.len() >= super::SHORTEST {
        plain.extend(base64(secret.as_bytes()));
        let percent = plain.iter().flat_map(|text| percent_encoded(text));
        plain.extend(percent.collect::<Vec<_>>());
        plain.extend(html(secret));
    }
    let mut forms = plain.clone();
    for text in &plain {
        for json in json(text) {
            // What was JSON within JSON, or is shown as a JSON text by us.
            forms.push(in_quotes(&json));
            forms.push(json);
        }
    }
    forms
}

/// The inside of the text as JSON: as most write it, and with what others escape besides.
fn json(text: &str) -> Vec<String> {
    let usual = in_quotes(text);
    let mut all = vec![usual.clone(), beyond_ascii(&usual, false), beyond_ascii(&usual, true)];
    all.extend(all.clone().iter().map(|text| text.replace('/', "\\/")));
    let html_safe =
        |text: &String| text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    all.extend(all.clone().iter().map(html_safe));
    all.sort_unstable();
    all.dedup();
    all
}

fn in_quotes(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// With `\u` for each character beyond ASCII.
fn beyond_ascii(text: &str, capitals: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = if capitals { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
        }
    }
    out
}

/// As part of a URL or of a form. What is left as it is differs from one writer to the next.
fn percent_encoded(text: &str) -> Vec<String> {
    let encoded = |left: &str, capitals: bool, plus: bool| {
        let mut out = String::with_capacity(text.len());
        for byte in text.bytes() {
            let character = char::from(byte);
            if byte.is_ascii_alphanumeric() || "-_.~".contains(character) || left.contains(character) {
                out.push(character);
            } else if plus && byte == b' ' {
                out.push('+');
            } else {
                let _ = if capitals { write!(out, "%{byte:02X}") } else { write!(out, "%{byte:02x}") };
            }
        }
        out
    };
    let mut all = Vec::new();
    for left in ["", "/", "!'()*", "/:@!$&'()*+,;="] {
        for capitals in [true, false] {
            all.extend([encoded(left, capitals, false), encoded(left, capitals, true)]);
        }
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|encoded| encoded != text);
    all
}

/// As text or as the value of an attribute in HTML.
fn html(text: &str) -> Vec<String> {
    let escaped = |quote: &str, apostrophe: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        text.replace('"', quote).replace('\'', apostrophe)
    };
    vec![
        escaped("&quot;", "&#x27;"),
        escaped("&#34;", "&#39;"),
        escaped("&quot;", "&#039;"),
        escaped("\"", "'"),
    ]
}

/// As Base64 holds it, wherever in the encoded text it begins: the characters that depend on it alone.
fn base64(secret: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let padded = [&[0; 2][..before], secret].concat();
        let (first, end) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            all.extend(engine.encode(&padded).get(first..end).map(str::to_owned));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::{MASKED, Masks};
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    const SECRET: &str = "s3/cret+ö&\"x\" y";

    /// What is left of a text once it is masked.
    fn masked(text: &str) -> String {
        let mut masks = Masks::none();
        masks.add(SECRET);
        masks.apply(text).0.into_owned()
    }

    #[test]
    fn the_forms_of_json_urls_and_html_are_known() {
        for form in [
            r#"s3/cret+ö&\"x\" y"#,
            r#"s3\/cret+\u00f6&\"x\" y"#,
            r#"s3/cret+\u00F6&\"x\" y"#,
            r#"s3/cret+ö\u0026\"x\" y"#,
            r#"s3\\/cret+\\u00f6&\\\"x\\\" y"#,
            "s3%2Fcret%2B%C3%B6%26%22x%22%20y",
            "s3%2fcret%2b%c3%b6%26%22x%22+y",
            "s3/cret%2B%C3%B6%26%22x%22%20y",
            "s3/cret+ö&amp;&quot;x&quot; y",
            "s3/cret+ö&amp;&#34;x&#34; y",
        ] {
            assert_eq!(masked(&format!("<{form}>")), format!("<{MASKED}>"), "{form}");
        }
    }

    #[test]
    fn base64_is_known_wherever_the_secret_begins_in_it() {
        for before in ["", "x", "xy", "xyz"] {
            for after in ["", "1", "12"] {
                let text = format!("{before}{SECRET}{after}");
                for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
                    let left = masked(&format!("({encoded})"));
                    assert!(left.contains(MASKED), "{encoded}: {left}");
                    // At either end a character may tell some bits of its neighbour.
                    assert!(left.len() <= MASKED.len() + 12, "{encoded}: {left}");
                }
            }
        }
    }

    #[test]
    fn an_ordinary_secret_has_few_forms() {
        let forms: std::collections::BTreeSet<String> = super::forms("hunter22").into_iter().collect();
        assert_eq!(forms.len(), 4, "{forms:?}");
    }
}
