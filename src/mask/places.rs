//! Where do users put what proves who they are? Into headers and URLs, of which only a part is secret.

use super::{Masks, NAMES, SHORTEST};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Parts of the names of headers and of queries, beside those of environment variables, that hold secrets.
const MORE_NAMES: [&str; 6] = ["auth", "cookie", "signature", "session", "jwt", "pwd"];
/// The ways to prove who one is that a value may begin with.
const SCHEMES: [&str; 7] = ["bearer", "basic", "digest", "token", "apikey", "key", "negotiate"];
/// Headers that prove nothing, however long they are.
const HARMLESS: [&str; 7] =
    ["accept", "accept-language", "cache-control", "host", "origin", "referer", "user-agent"];
/// What is shorter than this is no secret, whatever its name.
const LEAST: usize = 4;

/// Whether what has this name is secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "sig" || NAMES.iter().chain(&MORE_NAMES).any(|part| name.contains(part))
}

impl Masks {
    /// The value of a header, and the parts in it that prove who asks. A short one only where the name says that it is
    /// secret: masking every `2` for the sake of `X-Api-Version: 2` would spoil the reports.
    pub fn add_header(&mut self, name: &str, value: &str) {
        let (name, value) = (name.trim(), value.trim());
        let (scheme, credentials) = match value.split_once(' ') {
            Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                (Some(scheme), rest.trim())
            }
            _ => (None, value),
        };
        let is_secret = is_secret(name)
            || scheme.is_some_and(|scheme| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)));
        let is_harmless = HARMLESS.iter().any(|known| name.eq_ignore_ascii_case(known));
        if !is_secret {
            if !is_harmless {
                self.add_long(value);
            }
            return;
        }
        // The scheme itself is no secret.
        if credentials.len() >= LEAST {
            self.add(credentials);
        }
        if scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("basic"))
            && let Some(decoded) =
                STANDARD.decode(credentials).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            self.add(&decoded);
            let (_, password) = decoded.split_once(':').unwrap_or_default();
            self.add_long(password);
        }
        for part in credentials.split([' ', '\t', ',', ';']) {
            self.add_long(value_of(part));
        }
    }

    /// The values in the query of a URL whose names say that they are secret, and the password before its host.
    pub fn add_url(&mut self, url: &str) {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let query = query.split('#').next().unwrap_or_default();
        for (name, value) in query.split(['&', ';']).filter_map(|pair| pair.split_once('=')) {
            if is_secret(name) && value.len() >= LEAST && !value.starts_with("${") {
                self.add(value);
                if let Some(decoded) = percent_decoded(value) {
                    self.add_long(&decoded);
                }
            }
        }
        let authority =
            place.split_once("://").map_or(place, |(_, rest)| rest).split('/').next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@') {
            self.add_long(user.split_once(':').map_or(user, |(_, password)| password));
        }
    }

    fn add_long(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.add(secret);
        }
    }
}

/// The value of `name=value`, without its quotes; else the part as it is. Base64 ends in signs that name nothing.
fn value_of(part: &str) -> &str {
    let value = match part.split_once('=') {
        Some((_, value)) if !value.trim_start_matches('=').is_empty() => value,
        _ => part,
    };
    value.trim_matches('"')
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        bytes.push(match (first, more) {
            (b'%', [high, low, after @ ..]) => {
                rest = after;
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                u8::try_from(digit(high)? * 16 + digit(low)?).ok()?
            }
            (b'+', _) => b' ',
            _ => *first,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_header(name: &str, value: &str, text: &str) -> String {
        let mut masks = Masks::none();
        masks.add_header(name, value);
        masks.apply(text).0.into_owned()
    }

    #[test]
    fn what_proves_who_asks_is_masked_alone_too() {
        for (name, value, text, left) in [
            (
                "Authorization",
                "Bearer abcd",
                "Bearer abcd, abcd, Bearer",
                "Bearer [masked], [masked], Bearer",
            ),
            ("authorization", "Basic bWU6aHVudGVyMjI=", "me:hunter22 hunter22", "[masked] [masked]"),
            ("Authorization", "Basic bWU6aHVudGVyMjI=", "for bWU6aHVudGVyMjI=", "for [masked]"),
            (
                "Authorization",
                "Digest a=\"first-one\", b=second-one",
                "first-one second-one",
                "[masked] [masked]",
            ),
            (
                "Cookie",
                "session=abcdefgh; sid=12345678",
                "session abcdefgh 12345678",
                "session [masked] [masked]",
            ),
            ("X-Custom", "Token abcdefgh", "abcdefgh", "[masked]"),
            ("X-API-Key", "k123", "the k123", "the [masked]"),
        ] {
            assert_eq!(of_header(name, value, text), left, "{name}: {value}");
        }
    }

    #[test]
    fn what_proves_nothing_spoils_no_report() {
        for (name, value, text) in [
            ("X-Api-Version", "2", "error -32602 in 2026"),
            ("Accept-Language", "en-GB, en", "en-GB, en"),
            ("X-Tenant", "resources of some", "resources/list of some"),
            ("X-Api-Key", "1", "1 2 1"),
            ("User-Agent", "mcp-litmus", "mcp-litmus check"),
            ("Authorization", "Bearer abcdefgh", "Bearer"),
        ] {
            assert_eq!(of_header(name, value, text), text, "{name}: {value}");
        }
        assert_eq!(of_header("X-Tenant", "some-tenant", "some-tenant"), "[masked]");
    }

    #[test]
    fn secret_values_of_a_url_are_masked_as_they_stand_and_as_they_are_meant() {
        let mut masks = Masks::none();
        masks.add_url("https://me:hunter22@h/mcp?page=abcdef&api_key=a%2Fbcdefg&Auth=wxyz#token=other-one");
        let shown = masks.apply("hunter22 abcdef a%2Fbcdefg a/bcdefg wxyz other-one").0.into_owned();
        assert_eq!(shown, "[masked] abcdef [masked] [masked] [masked] other-one");
        masks = Masks::none();
        masks.add_url("http://127.0.0.1:${port}/mcp?key=${port}&token=1");
        assert_eq!(masks.apply("${port} 1").1, 0);
    }
}
