//! What crosses the channels between a front end and the manager: plain data in both directions.

mod command;
mod event;
mod failure;

pub use command::{Action, Command, FileOp, Request, Topic};
pub use event::{Copied, Event, Link, Reply, SessionInfo};
pub use failure::{Failure, FailureKind};
