//! What crosses the channels between a front end and the manager: plain data in both directions.

mod command;
mod event;
mod failure;
mod program;

pub use command::{Command, FileOp, LifecycleOp, Request, RunFilter, Topic, Upto};
pub use event::{Copied, Epitaph, Event, Leftover, Link, Reply, SessionInfo};
pub use failure::{Failure, FailureKind};
pub use program::{Analysis, CacheUse, Checks, Denied, Place, Prepared, Program, Step};
