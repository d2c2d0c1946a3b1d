//! How do the bytes of a connection change on their way, where a fault or a variant wants that?

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::edge::Tampering;

/// A stream whose bytes pass the edge.
pub(super) struct Tampered<S> {
    pub stream: S,
    pub tampering: Tampering,
}

impl<S: AsyncRead + Unpin> AsyncRead for Tampered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buffer);
        if let Some(new) = buffer.filled_mut().get_mut(before..) {
            self.tampering.read(new);
        }
        poll
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tampered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.tampering.is_idle() {
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        }
        let mut bytes = bytes.to_vec();
        self.tampering.write(&mut bytes);
        Pin::new(&mut self.stream).poll_write(context, &bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
