//! Runs the guest program in a container and follows it to its end mark.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bollard::models::ExecConfig;
use tokio::io::WriteHalf;
use tokio::time::Instant;

use super::Client;
use super::attach::{self, Attached, Packing};
use super::convert;
use super::endpoint::Connection;
use super::marks::MarkFilter;
use crate::domain::{Ended, ExecEnd, OutputChunk, SandboxId, StreamKind};
use crate::engine::{EngineError, Result};
use crate::guest::wire;
use crate::protocol::FailureKind;

/// What to run in the container.
#[derive(Default)]
pub(super) struct GuestCall {
    /// Verb and arguments.
    pub(super) words: Vec<String>,
    /// Variables for it and its children.
    pub(super) env: Vec<String>,
    /// Another user than the container's.
    pub(super) user: Option<String>,
    /// Keep standard input open.
    pub(super) stdin: bool,
}

/// The guest's last words.
#[derive(Debug, Clone, Default)]
pub(super) struct Trailer(BTreeMap<String, String>);

impl Trailer {
    fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.0.get(key)?.parse().ok()
    }

    /// Tells whether the kernel killed processes for memory meanwhile, if the sandbox can know.
    pub(super) fn saw_oom(&self) -> Option<bool> {
        self.number::<u8>("oom").map(|seen| seen == 1)
    }

    /// Reads how the command ended.
    pub(super) fn end(&self) -> ExecEnd {
        let code = self.number("code").unwrap_or(-1);
        let ended = match (
            self.0.get("cause").map(String::as_str),
            self.number("signal"),
        ) {
            (Some("timeout"), _) => Ended::TimedOut,
            (Some("cancelled"), _) => Ended::Cancelled,
            (Some("exit"), Some(signal)) => Ended::Signal(signal),
            (Some("exit"), None) => Ended::Code(code),
            _ => Ended::Lost,
        };
        ExecEnd {
            ended,
            peak_memory_bytes: self.number("peak").filter(|bytes| *bytes > 0),
            cpu_time: self.number("cpu_us").map(Duration::from_micros),
        }
    }

    /// Turns the failure of a file verb into an error.
    pub(super) fn check(&self) -> Result<()> {
        let Some(word) = self.0.get("error") else {
            return Ok(());
        };
        let kind = match word.as_str() {
            "not_found" => FailureKind::NotFound,
            "denied" => FailureKind::Denied,
            "conflict" => FailureKind::Conflict,
            "no_space" => FailureKind::NoSpace,
            "invalid" => FailureKind::Invalid,
            _ => FailureKind::Internal,
        };
        let message = self.0.get("message").cloned().unwrap_or_default();
        let failed = EngineError::new(kind, message);
        Err(match kind {
            FailureKind::Denied => failed
                .with_hint("the sandbox's user may only write below its work directory and /tmp"),
            FailureKind::NoSpace => {
                failed.with_hint("free some space in the sandbox or on the engine's disk")
            }
            _ => failed,
        })
    }
}

/// What following the guest brings.
pub(super) enum GuestItem {
    /// Output of its command, or of its verb.
    Chunk(OutputChunk),
    /// Its last words; nothing follows.
    Trailer(Trailer),
    /// It ended without last words: killed, or the container is gone.
    Cut,
}

/// A running guest.
pub(super) struct GuestRun {
    attached: Attached,
    stdout: MarkFilter,
    stderr: MarkFilter,
    /// Docker's id of the exec.
    pub(super) exec: String,
}

/// The writing side of a guest.
pub(super) type GuestStdin = WriteHalf<Box<dyn Connection>>;

/// Starts the guest in a container.
pub(super) async fn start(
    client: &Client,
    id: &SandboxId,
    call: GuestCall,
) -> Result<(GuestRun, GuestStdin)> {
    let secret = crate::engine::docker::random_word();
    let mark = wire::mark(&secret);
    let mut env = call.env;
    env.push(format!("{}={secret}", wire::MARK_VARIABLE));
    let config = ExecConfig {
        attach_stdin: Some(call.stdin),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        env: Some(env),
        cmd: Some(command_line(call.words)),
        user: call.user,
        ..ExecConfig::default()
    };
    let exec = create(client, id, config).await?;
    let (attached, stdin) = attach::start(&client.endpoint, &exec, Packing::Frames).await?;
    let run = GuestRun {
        attached,
        stdout: MarkFilter::new(&mark),
        stderr: MarkFilter::new(&mark),
        exec,
    };
    Ok((run, stdin))
}

/// Puts the guest's path before its words.
pub(super) fn command_line(words: Vec<String>) -> Vec<String> {
    std::iter::once(wire::GUEST_PATH.to_owned())
        .chain(words)
        .collect()
}

/// Creates an exec, with words for the states that do not allow it.
pub(super) async fn create(client: &Client, id: &SandboxId, config: ExecConfig) -> Result<String> {
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

impl GuestRun {
    /// Waits for the next item.
    pub(super) async fn next(&mut self) -> GuestItem {
        loop {
            if let Some(trailer) = self.trailer() {
                return GuestItem::Trailer(trailer);
            }
            let Some(chunk) = self.attached.next().await else {
                return self.cut();
            };
            let filter = match chunk.stream {
                StreamKind::Stdout => &mut self.stdout,
                StreamKind::Stderr => &mut self.stderr,
            };
            let bytes = filter.push(chunk.bytes);
            if !bytes.is_empty() {
                return GuestItem::Chunk(OutputChunk {
                    stream: chunk.stream,
                    bytes,
                });
            }
        }
    }

    /// Waits for the next item, but not beyond a moment.
    pub(super) async fn next_before(&mut self, deadline: Option<Instant>) -> Option<GuestItem> {
        match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline, self.next()).await.ok(),
            None => Some(self.next().await),
        }
    }

    /// Reads the last words, once both marks and the whole line are there.
    fn trailer(&self) -> Option<Trailer> {
        self.stdout.after()?;
        let line = self.stderr.after()?;
        let end = line.iter().position(|b| *b == b'\n')?;
        Some(Trailer(wire::trailer_fields(line.get(..end)?)))
    }

    fn cut(&mut self) -> GuestItem {
        for (stream, filter) in [
            (StreamKind::Stdout, &mut self.stdout),
            (StreamKind::Stderr, &mut self.stderr),
        ] {
            let bytes = filter.flush();
            if !bytes.is_empty() {
                return GuestItem::Chunk(OutputChunk { stream, bytes });
            }
        }
        GuestItem::Cut
    }
}

/// Runs a verb to its end and returns what it printed.
pub(super) async fn output(client: &Client, id: &SandboxId, words: Vec<String>) -> Result<Vec<u8>> {
    let (mut run, _stdin) = start(
        client,
        id,
        GuestCall {
            words,
            ..GuestCall::default()
        },
    )
    .await?;
    let mut printed = Vec::new();
    loop {
        match run.next().await {
            GuestItem::Chunk(chunk) => printed.extend_from_slice(&chunk.bytes),
            GuestItem::Trailer(trailer) => return trailer.check().map(|()| printed),
            GuestItem::Cut => return Err(cut_off(&printed)),
        }
    }
}

/// Explains a guest that ended without last words; the engine's own message, if any, is in what it printed.
pub(super) fn cut_off(printed: &[u8]) -> EngineError {
    let text = String::from_utf8_lossy(printed);
    let reason = text.lines().next().unwrap_or_default();
    if reason.contains("OCI runtime") {
        return EngineError::internal(format!("the engine could not start a process in the sandbox: {}", reason.trim()))
            .with_hint("the sandbox may be at its process limit; `sandtop kill` or `sandtop rm -f` still works");
    }
    EngineError::new(
        FailureKind::Conflict,
        "the sandbox ended in the middle of this",
    )
    .with_hint("see `sandtop ls --all` for what became of it")
}

/// Splits `key=value` lines.
pub(super) fn key_values(text: &[u8]) -> HashMap<String, String> {
    let text = String::from_utf8_lossy(text);
    text.lines()
        .filter_map(|line| line.split_once('='))
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}
