use super::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

/// Connects to a server in memory, once.
struct Once(std::sync::Mutex<Option<DuplexStream>>);

impl Connect for Once {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let stream = self.0.lock().unwrap().take();
            stream
                .map(|stream| Box::new(stream) as Box<dyn Stream>)
                .ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }
}

/// The lines of the head that goes out, sorted, with these headers of the user's and of the request.
async fn head(users: &[(&'static str, &str)], own: &[(&str, &str)]) -> Vec<String> {
    let (near, mut far) = duplex(1 << 16);
    let read = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    };
    let address: Address = "http://h:1/mcp".parse().unwrap();
    let site = address.site(users.iter().map(read).collect());
    assert_eq!(site.place, "h:1");
    // As the session does.
    let mut headers = vec![("host".to_owned(), site.authority.clone().into_bytes())];
    headers.extend(own.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())));
    let site = Site { connect: Box::new(Once(std::sync::Mutex::new(Some(near)))), ..site };
    let server = Running { site: Arc::new(site), exit: None, process: None };
    let Peer { input, mut output, .. } = start(Arc::new(server));
    let (method, target) = ("POST".to_owned(), "/mcp".to_owned());
    let exchange = Exchange { number: 1, method, target, headers, body: None };
    input.send(Outgoing::Exchange(exchange)).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(far.read_u8().await.unwrap());
    }
    far.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
    drop(far);
    while !matches!(output.recv().await, Some(Incoming::Closed { closing: Closing::Complete, .. })) {}
    let mut lines: Vec<String> = String::from_utf8(head).unwrap().lines().map(str::to_owned).collect();
    lines
        .retain(|line| !line.is_empty() && !line.starts_with("POST ") && !line.starts_with("content-length"));
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn a_request_says_who_asks_and_takes_nothing_compressed() {
    let name = format!("user-agent: mcp-litmus/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(head(&[], &[]).await, ["accept-encoding: identity", "host: h:1", name.as_str()]);
}

#[tokio::test]
async fn what_the_user_says_of_the_host_and_the_client_stands_alone() {
    let users = [("host", "api.internal"), ("user-agent", "me"), ("x-key", "a"), ("x-key", "b")];
    let expected =
        ["accept-encoding: identity", "host: api.internal", "user-agent: me", "x-key: a", "x-key: b"];
    assert_eq!(head(&users, &[]).await, expected);
}

#[tokio::test]
async fn a_header_of_a_case_goes_out_in_place_of_the_users() {
    let lines = head(&[("origin", "http://own")], &[("Origin", "http://evil")]).await;
    assert_eq!(lines.iter().filter(|line| line.to_lowercase().starts_with("origin")).count(), 1, "{lines:?}");
    assert!(lines.contains(&"Origin: http://evil".to_owned()), "{lines:?}");
}
