//! Commands on a terminal: raw bytes both ways, a size that can change, and an exit code that must be asked for.

use futures_util::stream::{BoxStream, StreamExt};
use tokio::time::Instant;

use super::exec;
use super::followed::Ticket;
use super::{Guests, Stdio};
use crate::domain::{Ended, ExecEnd, ExecId, ExecSpec, OutputChunk, SandboxId, TtySize};
use crate::engine::{ExecItem, Result, RunningExec, unfold};
use crate::guest::wire;

/// Starts a command on a terminal.
pub(super) async fn start(
    guests: Guests,
    id: &SandboxId,
    spec: &ExecSpec,
    size: TtySize,
) -> Result<RunningExec> {
    let call = exec::call(spec, Stdio::Terminal(size));
    // Taken before the guest takes its own, which decides.
    let deadline = spec.timeout.map(|limit| Instant::now() + limit);
    let link = guests.transport.start(id, call).await?;
    let following = Following {
        ticket: guests.followed.enter(&spec.id),
        guests,
        id: id.clone(),
        exec: spec.id.clone(),
        name: link.name.clone(),
        output: link.output,
        deadline,
    };
    Ok(RunningExec {
        items: following.into_stream(),
        stdin: Some(link.stdin),
        terminal: Some(link.name),
    })
}

/// A terminal being followed. There is no room for last words in its output, so its end is put together.
struct Following {
    guests: Guests,
    id: SandboxId,
    exec: ExecId,
    name: String,
    output: BoxStream<'static, OutputChunk>,
    ticket: Ticket,
    deadline: Option<Instant>,
}

impl Following {
    fn into_stream(self) -> BoxStream<'static, ExecItem> {
        unfold(Some(self), |following| async move {
            let mut following = following?;
            let overdue = following.deadline.map(|end| end + exec::BACKSTOP);
            let next = match overdue {
                Some(end) => tokio::time::timeout_at(end, following.output.next()).await,
                None => Ok(following.output.next().await),
            };
            match next {
                Ok(Some(chunk)) => Some((ExecItem::Chunk(chunk), Some(following))),
                Err(_) => Some((
                    ExecItem::End(ExecEnd::bare(following.overdue().await)),
                    None,
                )),
                Ok(None) => Some((ExecItem::End(ExecEnd::bare(following.end().await)), None)),
            }
        })
        .boxed()
    }

    /// Ends a command whose guest did not, because it was stopped from inside.
    async fn overdue(&mut self) -> Ended {
        let _ = exec::kill(&self.guests, &self.id, &self.exec).await;
        Ended::TimedOut
    }

    async fn end(&mut self) -> Ended {
        let Some(code) = self.guests.transport.exit_code(&self.name).await else {
            return Ended::Lost;
        };
        if code == 137 && !exec::stays(&self.guests, &self.id).await {
            return Ended::Lost;
        }
        // The guest's codes for a cancel and a timeout could be the command's own.
        match code {
            wire::EXIT_CANCELLED | 137 | 143 if self.ticket.is_cancelled() => Ended::Cancelled,
            wire::EXIT_TIMEOUT if self.deadline.is_some_and(|end| end <= Instant::now()) => {
                Ended::TimedOut
            }
            code => Ended::Code(code),
        }
    }
}
