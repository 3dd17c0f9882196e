//! Commands on a terminal: raw bytes both ways, a size that can change, and an exit code that must be asked for.

use std::time::Duration;

use bollard::models::ExecConfig;
use bollard::query_parameters::ResizeExecOptionsBuilder;
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::Instant;

use super::attach::{self, Attached, Packing};
use super::followed::Ticket;
use super::{Client, convert, exec, guest};
use crate::domain::{Ended, ExecEnd, ExecSpec, SandboxId, TtySize};
use crate::engine::{ExecItem, Result, RunningExec};

/// Starts a command on a terminal.
pub(super) async fn start(
    client: Client,
    id: &SandboxId,
    spec: &ExecSpec,
    size: TtySize,
) -> Result<RunningExec> {
    let config = ExecConfig {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(true),
        env: Some(exec::env(spec)),
        cmd: Some(guest::command_line(exec::words(spec))),
        user: spec.user.clone(),
        ..ExecConfig::default()
    };
    let terminal = guest::create(&client, id, config).await?;
    let deadline = spec.timeout.map(|limit| Instant::now() + limit);
    let (attached, stdin) = attach::start(&client.endpoint, &terminal, Packing::Raw).await?;
    // A program that asks for its size too early sees the engine's default; it hears of the change.
    let _ = resize(&client, &terminal, size).await;
    let ticket = client.followed.enter(&spec.id);
    let following = Following {
        client,
        id: id.clone(),
        exec: terminal.clone(),
        attached,
        ticket,
        deadline,
    };
    Ok(RunningExec {
        items: following.into_stream(),
        stdin: Some(Box::new(stdin)),
        terminal: Some(terminal),
    })
}

/// A terminal being followed. There is no room for last words in its output, so its end is put together.
struct Following {
    client: Client,
    id: SandboxId,
    exec: String,
    attached: Attached,
    ticket: Ticket,
    deadline: Option<Instant>,
}

impl Following {
    fn into_stream(self) -> BoxStream<'static, ExecItem> {
        stream::unfold(Some(self), |following| async move {
            let mut following = following?;
            match following.attached.next().await {
                Some(chunk) => Some((ExecItem::Chunk(chunk), Some(following))),
                None => Some((ExecItem::End(ExecEnd::bare(following.end().await)), None)),
            }
        })
        .boxed()
    }

    async fn end(&self) -> Ended {
        let Some(code) = self.exit_code().await else {
            return Ended::Lost;
        };
        if code == 137 && !exec::stays(&self.client, &self.id).await {
            return Ended::Lost;
        }
        // The guest's codes for a cancel and a timeout could be the command's own.
        match code {
            130 | 137 | 143 if self.ticket.is_called_off() => Ended::Cancelled,
            124 if self.deadline.is_some_and(|end| end <= Instant::now()) => Ended::TimedOut,
            code => Ended::Code(code),
        }
    }

    /// Asks for the exit code; right after the stream's end the engine may not know it yet.
    async fn exit_code(&self) -> Option<i32> {
        for _ in 0..20 {
            let known = self.client.docker.inspect_exec(&self.exec).await.ok()?;
            if known.running == Some(false) {
                return known.exit_code.and_then(|code| i32::try_from(code).ok());
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        None
    }
}

/// Tells a terminal its size.
pub(super) async fn resize(client: &Client, exec: &str, size: TtySize) -> Result<()> {
    let options = ResizeExecOptionsBuilder::new()
        .h(i32::from(size.rows))
        .w(i32::from(size.columns))
        .build();
    client
        .docker
        .resize_exec(exec, options)
        .await
        .map_err(|e| convert::error("resizing a terminal", e))
}
