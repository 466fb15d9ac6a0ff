//! A body that is sent in parts, each once it is made.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc::Receiver;

/// The parts that a channel gives.
pub struct Flow(pub Receiver<Bytes>);

impl Body for Flow {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().0.poll_recv(context).map(|bytes| Some(Ok(Frame::data(bytes?))))
    }
}
