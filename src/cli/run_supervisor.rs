//! The supervisor of a detached run: holds it to its end, and takes input for it from other processes.

use std::io::Read;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};

use super::detach::{Job, Word};
use super::print::{self, Outcome, Stop};
use super::{CliContext, exit};
use crate::domain::{ExecId, ExecSpec, RequestId, StdinMode, StreamId};
use crate::protocol::{Command, Event, Failure, FailureKind};

/// Bytes of input taken at a time.
const PIECE: usize = 64 * 1024;
/// First byte of a connection: more input may come by another.
const MORE: u8 = b'+';
/// First byte of a connection: its input is the last.
const LAST: u8 = b'.';
/// The answer when all was taken.
const TAKEN: u8 = b'k';

/// `keep`: not for people.
pub(super) async fn supervise(cli: &mut CliContext) -> Outcome<u8> {
    // Whoever started us may close the terminal.
    let _ = rustix::process::setsid();
    let reading = tokio::task::spawn_blocking(|| {
        let mut text = Vec::new();
        std::io::stdin().read_to_end(&mut text).map(|_| text)
    });
    let text = reading.await.ok().and_then(Result::ok).unwrap_or_default();
    let job: Job = serde_json::from_slice(&text).map_err(|_| {
        let words = "`keep` is for sandtop itself; use `exec --detach`";
        Failure::new(FailureKind::Invalid, words)
    })?;
    match begin(cli, &job).await {
        Ok(run) => {
            print::json(&Word::Started)?;
            run.hold(cli).await?;
        }
        Err(Stop::Failed(failure)) => print::json(&Word::Failed {
            kind: failure.kind.word().to_owned(),
            message: failure.message,
            hint: failure.hint,
        })?,
        Err(stop) => return Err(stop),
    }
    Ok(exit::OK)
}

async fn begin(cli: &mut CliContext, job: &Job) -> Outcome<SupervisedRun> {
    // The record wants the sandbox's name.
    cli.session.named(job.sandbox.id.as_str()).await?;
    let (spec, stream) = (job.spec(), cli.session.stream_id());
    let inputs = listen(cli, &spec)?;
    let command = Command::Exec {
        sandbox: job.sandbox.clone(),
        stream,
        spec: Box::new(spec),
    };
    cli.session.ask(command).await?;
    Ok(SupervisedRun {
        stream,
        inputs,
        asked: None,
    })
}

/// A piece of input, and where to say whether it was taken.
struct Given {
    bytes: Option<Bytes>,
    taken: oneshot::Sender<bool>,
}

/// A run being held.
struct SupervisedRun {
    stream: StreamId,
    inputs: mpsc::Receiver<Given>,
    asked: Option<(RequestId, oneshot::Sender<bool>)>,
}

impl SupervisedRun {
    /// Waits for the end; output is kept by the manager on its way here.
    async fn hold(mut self, cli: &mut CliContext) -> Outcome {
        loop {
            let is_free = self.asked.is_none();
            tokio::select! {
                event = cli.session.event() => match event? {
                    Event::Ended { stream, .. } if stream == self.stream => return Ok(()),
                    Event::Replied { request, outcome } => self.on_reply(request, outcome.is_ok()),
                    _ => {}
                },
                Some(given) = self.inputs.recv(), if is_free => self.give(cli, given)?,
            }
        }
    }

    fn give(&mut self, cli: &mut CliContext, given: Given) -> Outcome {
        let stream = self.stream;
        let command = match given.bytes {
            Some(bytes) => Command::Input { stream, bytes },
            None => Command::EndInput(stream),
        };
        self.asked = Some((cli.session.submit(command)?, given.taken));
        Ok(())
    }

    fn on_reply(&mut self, request: RequestId, was_taken: bool) {
        if let Some((_, taken)) = self.asked.take_if(|(asked, _)| *asked == request) {
            // Whoever sent it may be gone.
            let _ = taken.send(was_taken);
        }
    }
}

/// Opens the door for input of other processes, if the run takes any.
fn listen(cli: &CliContext, spec: &ExecSpec) -> Outcome<mpsc::Receiver<Given>> {
    let (sender, inputs) = mpsc::channel(1);
    let Some(dir) = cli
        .store
        .spools()
        .filter(|_| spec.stdin == StdinMode::Piped)
    else {
        return Ok(inputs);
    };
    let failed = |error: std::io::Error| {
        let words = format!("opening a socket in {} failed: {error}", dir.display());
        Failure::new(FailureKind::Internal, words)
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let (_folder, short) = short_path(dir, &spec.id).map_err(failed)?;
    let listener = UnixListener::bind(short).map_err(failed)?;
    let door = Door(dir.join(socket_name(&spec.id)));
    tokio::spawn(async move {
        let door = door;
        while let Ok((connection, _)) = listener.accept().await {
            // One after the other, so that two inputs do not mix.
            let _ = serve(connection, &sender).await;
        }
        drop(door);
    });
    Ok(inputs)
}

/// The socket's file, removed when the supervisor ends in order.
struct Door(PathBuf);

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn socket_name(id: &ExecId) -> String {
    format!("{id}.sock")
}

/// Names a socket by its open folder: paths of sockets may be no longer than 107 bytes.
fn short_path(dir: &Path, id: &ExecId) -> std::io::Result<(std::fs::File, PathBuf)> {
    use std::os::fd::AsRawFd;
    let folder = std::fs::File::open(dir)?;
    let number = folder.as_raw_fd();
    let path = format!("/proc/self/fd/{number}/{}", socket_name(id));
    Ok((folder, PathBuf::from(path)))
}

async fn serve(mut connection: UnixStream, to: &mpsc::Sender<Given>) -> std::io::Result<()> {
    let is_last = connection.read_u8().await? == LAST;
    let mut buffer = vec![0; PIECE];
    loop {
        let got = connection.read(&mut buffer).await?;
        let bytes = Bytes::copy_from_slice(buffer.get(..got).unwrap_or_default());
        let at_end = got == 0;
        if at_end && !is_last {
            break;
        }
        let (taken, answer) = oneshot::channel();
        let bytes = (!at_end).then_some(bytes);
        let sent = to.send(Given { bytes, taken }).await.is_ok();
        if !sent || !answer.await.unwrap_or(false) {
            return Ok(());
        }
        if at_end {
            break;
        }
    }
    connection.write_u8(TAKEN).await
}

/// `input`: sends our standard input to a detached run.
pub(super) async fn input(cli: &mut CliContext, id: &str, end: bool) -> Outcome<u8> {
    cli.refuse_if_read_only("sending input")?;
    let run = super::runs::find(cli, id).await?;
    let refused = |words: String| Failure::new(FailureKind::Conflict, words);
    if let Some(result) = &run.result {
        let words = format!("run {} has ended already: {}", run.id, result.end.word());
        return Err(refused(words).into());
    }
    let no_door = || {
        refused(format!("run {} takes no input", run.id))
            .with_hint("only runs started with `exec --detach -i` take input from other processes")
    };
    let dir = cli.store.spools().ok_or_else(no_door)?;
    let (_folder, short) = short_path(dir, &run.id).map_err(|_| no_door())?;
    let connection = UnixStream::connect(short).await.map_err(|_| no_door())?;
    match send(connection, end).await {
        Ok(TAKEN) => Ok(exit::OK),
        _ => Err(refused(format!("run {} takes no more input", run.id)).into()),
    }
}

async fn send(mut connection: UnixStream, end: bool) -> std::io::Result<u8> {
    connection.write_u8(if end { LAST } else { MORE }).await?;
    let mut stdin = tokio::io::stdin();
    let copied = tokio::io::copy(&mut stdin, &mut connection).await;
    connection.shutdown().await?;
    copied?;
    connection.read_u8().await
}
