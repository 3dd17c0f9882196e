//! Requests under way: what each is for, since when, and the numbers they get.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::intent::{ReplyTo, Work};
use crate::domain::{ExecId, RequestId, StreamId};
use crate::protocol::{Command, Request};

/// One request under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// In words, such as "stopping py"; empty if it is not worth showing.
    pub label: String,
    /// Since when.
    pub since: DateTime<Utc>,
    /// What its reply is for.
    pub reply_to: ReplyTo,
    /// How far it is.
    pub progress: Option<Progress>,
}

/// How far a slow request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is going on.
    pub note: String,
    /// Bytes done.
    pub done: u64,
    /// Bytes in all, if known.
    pub total: Option<u64>,
}

/// All requests under way.
#[derive(Debug)]
pub struct PendingSet {
    seed: String,
    last: u64,
    under_way: BTreeMap<RequestId, Pending>,
}

impl PendingSet {
    /// Starts counting; `seed` makes ids unique among processes.
    #[must_use]
    pub fn new(seed: String) -> Self {
        Self {
            seed,
            last: 0,
            under_way: BTreeMap::new(),
        }
    }

    /// Books a request and gives it its number.
    pub fn request(&mut self, command: Command, pending: Pending) -> Request {
        self.last += 1;
        let id = RequestId(self.last);
        self.under_way.insert(id, pending);
        Request { id, command }
    }

    /// Makes a number for a stream.
    pub fn stream(&mut self) -> StreamId {
        self.last += 1;
        StreamId(self.last)
    }

    /// Makes a word that no other process makes.
    pub fn token(&mut self) -> String {
        self.last += 1;
        format!("{}{:x}", self.seed, self.last)
    }

    /// Makes the id of an exec.
    pub fn exec_id(&mut self) -> ExecId {
        ExecId::new(self.token())
    }

    /// Takes a request out: its reply has come.
    pub fn take(&mut self, id: RequestId) -> Option<Pending> {
        self.under_way.remove(&id)
    }

    /// Gives up the replies for some purpose; false if there are none to come.
    pub fn forget(&mut self, purpose: &ReplyTo) -> bool {
        let before = self.under_way.len();
        self.under_way
            .retain(|_, pending| pending.reply_to != *purpose);
        self.under_way.len() < before
    }

    /// Notes how far a request is.
    pub fn progress(&mut self, id: RequestId, mut progress: Progress) {
        if let Some(pending) = self.under_way.get_mut(&id) {
            // The manager names whole paths, for which there is no room.
            if matches!(pending.reply_to, ReplyTo::FileWork(_)) {
                progress.note.clone_from(&pending.label);
            }
            pending.progress = Some(progress);
        }
    }

    /// Tells whether there is a request for some purpose.
    #[must_use]
    pub fn any(&self, wanted: impl Fn(&ReplyTo) -> bool) -> bool {
        let mut all = self.under_way.values();
        all.any(|pending| wanted(&pending.reply_to))
    }

    /// Lists the work on files, oldest first.
    pub fn work(&self) -> impl Iterator<Item = (RequestId, Work)> {
        let all = self.under_way.iter();
        all.filter_map(|(id, pending)| match pending.reply_to {
            ReplyTo::FileWork(work) => Some((*id, work)),
            _ => None,
        })
    }

    /// Lists what is worth showing, oldest first.
    pub fn shown(&self) -> impl Iterator<Item = &Pending> {
        self.under_way
            .values()
            .filter(|pending| !pending.label.is_empty())
    }
}
