//! Where is a server, and what does its address say of the way there? `http` and `https` URLs, and the connections.

use super::{Connect, Connecting, Site, Stream};
use hyper::Uri;
use hyper::header::{HOST, HeaderName, HeaderValue};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The address of an MCP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub secure: bool,
    /// Without the brackets of an IPv6 address.
    pub host: String,
    pub port: u16,
    /// Host and port as written.
    pub authority: String,
    /// The path, and the query if there is one.
    pub target: String,
}

/// Why a text is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("`{0}` is no URL")]
    NotAUrl(String),
    #[error("`{0}` has neither `http://` nor `https://` before it")]
    OtherScheme(String),
    #[error("`{0}` names no host")]
    NoHost(String),
    #[error("a URL may not hold a user or a password: give them by `--header`")]
    UserInfo,
}

impl std::str::FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let uri: Uri = text.parse().map_err(|_| BadAddress::NotAUrl(text.to_owned()))?;
        let secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(BadAddress::OtherScheme(text.to_owned())),
        };
        let authority = uri.authority().ok_or_else(|| BadAddress::NoHost(text.to_owned()))?;
        if authority.as_str().contains('@') {
            return Err(BadAddress::UserInfo);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(BadAddress::NoHost(text.to_owned()));
        }
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        Ok(Self { secure, host, port, authority: authority.as_str().to_owned(), target })
    }
}

impl Address {
    /// The site at this address. A `Host` among the user's headers stands in place of the one in the address.
    pub fn site(self, mut headers: Vec<(HeaderName, HeaderValue)>) -> Site {
        let host = headers.iter().rev().find(|(name, _)| name == HOST);
        let host = host.and_then(|(_, value)| value.to_str().ok()).map(str::to_owned);
        headers.retain(|(name, _)| name != HOST);
        let (place, target) = (self.authority.clone(), self.target.clone());
        let tls = self.secure.then(tls);
        let authority = host.unwrap_or_else(|| place.clone());
        Site { connect: Box::new(Way { address: self, tls }), authority, place, target, headers }
    }

    /// The address as a report shows it.
    pub fn url(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.target)
    }
}

/// The authorities that the machine trusts, and those that browsers do, where the machine names none.
fn tls() -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

struct Way {
    address: Address,
    tls: Option<TlsConnector>,
}

impl Connect for Way {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let Address { host, port, .. } = &self.address;
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            let Some(tls) = &self.tls else { return Ok(Box::new(stream) as Box<dyn Stream>) };
            let name = ServerName::try_from(host.clone())
                .map_err(|_| io::Error::other(format!("`{host}` is no name for a certificate")))?;
            Ok(Box::new(tls.connect(name, stream).await?) as Box<dyn Stream>)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_how_to_get_there() {
        let read = |text: &str| text.parse::<Address>();
        let plain = read("http://127.0.0.1:8080/mcp/?a=b").unwrap();
        assert_eq!((plain.secure, plain.host.as_str(), plain.port), (false, "127.0.0.1", 8080));
        assert_eq!((plain.authority.as_str(), plain.target.as_str()), ("127.0.0.1:8080", "/mcp/?a=b"));
        let secure = read("https://example.com").unwrap();
        assert_eq!((secure.secure, secure.port, secure.target.as_str()), (true, 443, "/"));
        assert_eq!(secure.url(), "https://example.com/");
        assert_eq!(read("http://[::1]:9/x").unwrap().host, "::1");
        assert!(matches!(read("ftp://a/b"), Err(BadAddress::OtherScheme(_))));
        assert!(matches!(read("localhost:3000"), Err(BadAddress::OtherScheme(_) | BadAddress::NotAUrl(_))));
        assert!(matches!(read("http://a b/"), Err(BadAddress::NotAUrl(_))));
        assert_eq!(read("http://me:secret@host/"), Err(BadAddress::UserInfo));
    }
}
