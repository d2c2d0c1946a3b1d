//! How are the names of headers spelt on the wire? As the request says, where hyper would write them in lower case.
//!
//! HTTP makes no difference, and servers that do are found out only by the other spelling.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The names that are not in lower case.
#[derive(Debug, Default)]
pub struct Spelling(Vec<String>);

impl Spelling {
    pub fn of(headers: &[(String, Vec<u8>)]) -> Self {
        let names = headers.iter().map(|(name, _)| name);
        Self(names.filter(|name| name.bytes().any(|byte| byte.is_ascii_uppercase())).cloned().collect())
    }

    /// Spells the names at the beginnings of lines. No length changes.
    fn apply(&self, head: &mut [u8]) {
        for line in head.split_mut(|byte| *byte == b'\n') {
            for name in &self.0 {
                if let Some((start, rest)) = line.split_at_mut_checked(name.len())
                    && rest.first() == Some(&b':')
                    && start.eq_ignore_ascii_case(name.as_bytes())
                {
                    start.copy_from_slice(name.as_bytes());
                }
            }
        }
    }
}

/// A connection on which one head goes out, its names spelt so.
pub struct Spelt<S> {
    stream: S,
    spelling: Spelling,
    /// The head is still to be written.
    in_head: bool,
}

impl<S> Spelt<S> {
    pub fn new(stream: S, spelling: Spelling) -> Self {
        let in_head = !spelling.0.is_empty();
        Self { stream, spelling, in_head }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Spelt<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Spelt<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.in_head {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        }
        let end = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD);
        let end = end.map_or(bytes.len(), |place| place + END_OF_HEAD.len());
        // What comes after the head is left for the next write.
        let mut head = bytes[..end].to_vec();
        self.spelling.apply(&mut head);
        let written = std::task::ready!(Pin::new(&mut self.stream).poll_write(context, &head))?;
        self.in_head = !head[..written].ends_with(END_OF_HEAD);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn names_are_spelt_in_the_head_and_nowhere_else() {
        let headers = [("MCP-Name".to_owned(), b"x".to_vec()), ("accept".to_owned(), b"*/*".to_vec())];
        let (near, mut far) = tokio::io::duplex(1 << 12);
        let mut spelt = Spelt::new(near, Spelling::of(&headers));
        let head = b"POST / HTTP/1.1\r\nmcp-name: mcp-name: x\r\naccept: */*\r\n\r\n";
        spelt.write_all(&[head.as_slice(), b"\nmcp-name: body"].concat()).await.unwrap();
        drop(spelt);
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        let expected = "POST / HTTP/1.1\r\nMCP-Name: mcp-name: x\r\naccept: */*\r\n\r\n\nmcp-name: body";
        assert_eq!(text, expected);
    }
}
