//! Where does a server of the transport of 2024-11-05 take messages? It says so on a stream that a GET opens.

use super::Session;
use super::state::State;
use crate::check::phrase::{SHOWN, clipped};
use iri_string::format::ToDedicatedString;
use iri_string::types::{UriAbsoluteString, UriReferenceStr, UriString};

impl Session {
    /// Tries the transport of 2024-11-05: a stream that says where messages go. Whether there is one.
    pub async fn fall_back(&self) -> bool {
        let order = {
            let mut state = self.state();
            let order = state.begin_stream(false);
            if let (Some(http), Some(order)) = (&mut state.http, &order) {
                http.seeks_endpoint = Some(order.number);
            }
            order
        };
        let Some(order) = order else { return false };
        let Ok(number) = self.dispatch(order).await else { return false };
        let told = |state: &State| {
            let http = state.http.as_ref()?;
            let is_told = http.old || http.misled.is_some();
            (is_told || http.is_over(number) || state.gone().is_some()).then_some(())
        };
        self.wait(self.bounds.request, told).await;
        let is_old = self.state().http.as_ref().is_some_and(|http| http.old);
        if !is_old {
            let _ = self.abandon_exchange(number).await;
        }
        is_old
    }

    /// Why the endpoint that the old transport named is not followed, if it is not.
    pub fn misled(&self) -> Option<String> {
        self.state().http.as_ref()?.misled.clone()
    }
}

impl State {
    /// The old transport says where messages go. Only who asked for it is told, and once.
    pub(super) fn point_to(&mut self, exchange: u64, endpoint: &str) {
        let Some(http) = &mut self.http else { return };
        if http.seeks_endpoint != Some(exchange) || http.old {
            return;
        }
        match target_of(&http.authority, &http.target, endpoint) {
            Ok(target) => {
                http.target = target;
                http.old = true;
            }
            Err(why) => {
                let endpoint = clipped(endpoint.trim(), SHOWN);
                http.misled = Some(format!("its stream sends messages to `{endpoint}`, {why}"));
            }
        }
    }
}

/// The path and query of an endpoint that is named by a URI, relative to ours or not; or why it is not followed.
fn target_of(authority: &str, base: &str, endpoint: &str) -> Result<String, &'static str> {
    const NO_URI: &str = "which is no URI";
    let endpoint = UriReferenceStr::new(endpoint.trim()).map_err(|_| NO_URI)?;
    let whole = UriAbsoluteString::try_from(format!("http://{authority}{base}"));
    // What we were given need not be a URI to the letter; its host is.
    let base = whole.or_else(|_| UriAbsoluteString::try_from(format!("http://{authority}/")));
    let base = base.map_err(|_| NO_URI)?;
    let resolved: UriString = endpoint.resolve_against(&base).to_dedicated_string();
    let scheme = resolved.scheme_str().to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err("which is not HTTP");
    }
    let named = resolved.authority_str().unwrap_or_default();
    // Whatever ends TLS before the server, the server may not know of it: the scheme may differ, the host may not.
    if !["http", "https"].iter().any(|ours| bare(&scheme, named) == bare(ours, authority)) {
        return Err("on another host, which is not followed");
    }
    let path = if resolved.path_str().is_empty() { "/" } else { resolved.path_str() };
    let query = resolved.query_str().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{path}{query}"))
}

/// Host and port, the latter only if it is not what the scheme implies.
fn bare(scheme: &str, authority: &str) -> String {
    let port = if scheme == "https" { ":443" } else { ":80" };
    authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_resolved_as_a_uri() {
        for (endpoint, target) in [
            ("/messages?session=1", "/messages?session=1"),
            (" /messages\n", "/messages"),
            ("messages", "/api/messages"),
            ("../messages?a=/b", "/messages?a=/b"),
            ("./a/./b/../c", "/api/a/c"),
            ("?session=1", "/api/sse?session=1"),
            ("/messages?a=b#part", "/messages?a=b"),
            ("http://127.0.0.1:8080/messages", "/messages"),
            ("https://127.0.0.1:8080/messages", "/messages"),
            ("//127.0.0.1:8080/messages", "/messages"),
            ("http://127.0.0.1:8080", "/"),
            ("", "/api/sse?key=1"),
        ] {
            let found = target_of("127.0.0.1:8080", "/api/sse?key=1", endpoint);
            assert_eq!(found.as_deref(), Ok(target), "{endpoint}");
        }
    }

    #[test]
    fn another_host_is_not_followed() {
        for endpoint in [
            "http://evil.example/messages",
            "//evil.example/messages",
            "http://127.0.0.1/messages",
            "http://127.0.0.1:80/messages",
            "http://127.0.0.1:8080@evil.example/messages",
        ] {
            let found = target_of("127.0.0.1:8080", "/sse", endpoint);
            assert_eq!(found, Err("on another host, which is not followed"), "{endpoint}");
        }
        assert_eq!(target_of("a.example", "/sse", "ftp://a.example/m"), Err("which is not HTTP"));
        assert_eq!(target_of("a.example", "/sse", "/a b"), Err("which is no URI"));
    }

    #[test]
    fn a_port_that_goes_without_saying_makes_no_other_host() {
        for (authority, endpoint) in [
            ("a.example", "https://A.example:443/m"),
            ("a.example", "http://a.example:80/m"),
            ("a.example:443", "https://a.example/m"),
            ("a.example:80", "http://a.example/m"),
            ("[::1]:8080", "http://[::1]:8080/m"),
        ] {
            assert_eq!(target_of(authority, "/sse", endpoint).as_deref(), Ok("/m"), "{authority} {endpoint}");
        }
        let other = target_of("a.example:8443", "/sse", "https://a.example/m");
        assert_eq!(other, Err("on another host, which is not followed"));
    }

    #[test]
    fn a_path_of_ours_that_is_no_uri_is_no_hindrance() {
        assert_eq!(target_of("a.example", "/a|b", "/messages").as_deref(), Ok("/messages"));
    }
}
