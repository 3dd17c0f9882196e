//! Requests that can be called off while they are worked on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::domain::RequestId;
use crate::protocol::{Failure, FailureKind, Reply};

/// The requests that listen.
#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<HashMap<RequestId, Arc<Notify>>>);

/// A request that listens until this is dropped.
#[derive(Debug)]
pub(super) struct Call {
    calls: Arc<Calls>,
    request: RequestId,
    off: Arc<Notify>,
}

impl Calls {
    /// Lets a request listen.
    pub(super) fn open(self: &Arc<Self>, request: RequestId) -> Call {
        let off = Arc::new(Notify::new());
        self.lock().insert(request, Arc::clone(&off));
        Call {
            calls: Arc::clone(self),
            request,
            off,
        }
    }

    /// Calls a request off; its own reply says how it ended.
    pub(super) fn off(&self, request: RequestId) -> Result<Reply, Failure> {
        match self.lock().get(&request) {
            Some(off) => {
                off.notify_one();
                Ok(Reply::Done)
            }
            None => Err(Failure::new(
                FailureKind::NotFound,
                "this is over already, or cannot be called off",
            )),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Arc<Notify>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Waits until the request is called off.
    pub(super) async fn off(&self) {
        self.off.notified().await;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.request);
    }
}
