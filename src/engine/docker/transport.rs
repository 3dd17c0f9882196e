//! How the guest program is reached in a container: by an exec of the engine, attached to.

use std::time::Duration;

use async_trait::async_trait;
use bollard::models::ExecConfig;
use bollard::query_parameters::{EventsOptionsBuilder, ResizeExecOptionsBuilder};
use chrono::{DateTime, Utc};
use futures_util::stream::StreamExt;

use super::attach::{self, Packing};
use super::{Client, convert, foreign, lifecycle};
use crate::domain::{Phase, SandboxId, StdinMode, TtySize};
use crate::engine::guest::{GuestCall, Link, Stdio, Transport, command_line};
use crate::engine::{EngineError, Result, unfold};
use crate::protocol::FailureKind;

#[async_trait]
impl Transport for Client {
    async fn start(&self, id: &SandboxId, call: GuestCall) -> Result<Link> {
        foreign::prepare(self, id).await?;
        let packing = match call.stdio {
            Stdio::Pipes(_) => Packing::Frames,
            Stdio::Terminal(_) => Packing::Raw,
        };
        let asked = call.stdio;
        let name = create(self, id, config(call)).await?;
        let (attached, stdin) = attach::start(&self.endpoint, &name, packing).await?;
        if let Stdio::Terminal(size) = asked {
            // A program that asks for its size too early sees the engine's default; it hears of the change.
            let _ = self.resize(&name, size).await;
        }
        let output = unfold(attached, |mut attached| async move {
            let chunk = attached.next().await?;
            Some((chunk, attached))
        });
        Ok(Link {
            output: output.boxed(),
            stdin: Box::new(stdin),
            name,
        })
    }

    /// Asks for the exit code; right after the stream's end the engine may not know it yet.
    async fn exit_code(&self, name: &str) -> Option<i32> {
        for _ in 0..20 {
            let known = self.docker.inspect_exec(name).await.ok()?;
            if known.running == Some(false) {
                return known.exit_code.and_then(|code| i32::try_from(code).ok());
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        None
    }

    async fn is_live(&self, id: &SandboxId) -> bool {
        lifecycle::phase(self, id).await.is_ok_and(Phase::is_live)
    }

    /// Asks the engine's event log; needed where the sandbox cannot read its own memory counters.
    async fn saw_oom(&self, id: &SandboxId, since: DateTime<Utc>) -> bool {
        let filters = std::collections::HashMap::from([
            ("container", vec![id.as_str()]),
            ("event", vec!["oom"]),
        ]);
        // Whole seconds would blame this exec for what happened to the one before.
        let (since, until) = (
            since.format("%s.%9f").to_string(),
            (Utc::now().timestamp() + 1).to_string(),
        );
        let options = EventsOptionsBuilder::new()
            .since(&since)
            .until(&until)
            .filters(&filters)
            .build();
        let mut events = std::pin::pin!(self.docker.events(Some(options)));
        let first = tokio::time::timeout(Duration::from_secs(2), events.next()).await;
        matches!(first, Ok(Some(Ok(_))))
    }

    async fn resize(&self, name: &str, size: TtySize) -> Result<()> {
        let options = ResizeExecOptionsBuilder::new()
            .h(i32::from(size.rows))
            .w(i32::from(size.columns))
            .build();
        let resized = self.docker.resize_exec(name, options).await;
        resized.map_err(|e| convert::error("resizing a terminal", e))
    }

    fn explain(&self, printed: &str) -> Option<EngineError> {
        let failed = || {
            EngineError::internal(format!(
                "the engine could not start a process in the sandbox: {printed}"
            ))
            .with_hint("the sandbox may be at its process limit; `sandtop kill` or `sandtop rm -f` still works")
        };
        printed.contains("OCI runtime").then(failed)
    }
}

fn config(call: GuestCall) -> ExecConfig {
    let terminal = matches!(call.stdio, Stdio::Terminal(_));
    ExecConfig {
        attach_stdin: Some(call.stdio != Stdio::Pipes(StdinMode::Closed)),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(terminal),
        env: Some(call.env),
        cmd: Some(command_line(call.words)),
        user: call.user,
        ..ExecConfig::default()
    }
}

/// Creates an exec, with words for the states that do not allow it.
async fn create(client: &Client, id: &SandboxId, config: ExecConfig) -> Result<String> {
    let created = client.docker.create_exec(id.as_str(), config).await;
    created.map(|results| results.id).map_err(|error| {
        let failed = convert::error("running a command", error);
        let hint = match failed.kind {
            FailureKind::Conflict if failed.message.contains("paused") => {
                Some("it is paused; `sandtop resume` it first")
            }
            FailureKind::Conflict => Some("it is not running; `sandtop start` it first"),
            _ => None,
        };
        match hint {
            Some(hint) => failed.with_hint(hint),
            None => failed,
        }
    })
}
