//! Requests that can be called off while they are worked on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::domain::RequestId;
use crate::protocol::{Failure, FailureKind, Reply};

/// The requests that listen.
#[derive(Debug, Default)]
pub(super) struct Cancellations(Mutex<HashMap<RequestId, Arc<Notify>>>);

/// A request that listens until this is dropped.
#[derive(Debug)]
pub(super) struct Cancellable {
    cancellations: Arc<Cancellations>,
    request: RequestId,
    notify: Arc<Notify>,
}

impl Cancellations {
    /// Lets a request listen.
    pub(super) fn register(self: &Arc<Self>, request: RequestId) -> Cancellable {
        let notify = Arc::new(Notify::new());
        self.lock().insert(request, Arc::clone(&notify));
        Cancellable {
            cancellations: Arc::clone(self),
            request,
            notify,
        }
    }

    /// Cancels a request; its own reply says how it ended.
    pub(super) fn cancel(&self, request: RequestId) -> Result<Reply, Failure> {
        match self.lock().get(&request) {
            Some(notify) => {
                notify.notify_one();
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

impl Cancellable {
    /// Waits until the request is called off.
    pub(super) async fn cancelled(&self) {
        self.notify.notified().await;
    }
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        self.cancellations.lock().remove(&self.request);
    }
}
