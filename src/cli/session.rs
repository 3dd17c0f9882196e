//! A conversation with the manager: requests out, replies and events in.

use std::collections::HashMap;
use std::time::Duration;

use tokio::sync::mpsc;

use super::print::{Format, Outcome, ProgressLine};
use crate::domain::{HostName, RequestId, Sandbox, StreamId};
use crate::manager::ManagerHandle;
use crate::protocol::{Command, Event, Failure, FailureKind, Reply, Request};
use crate::text::{human, nearest};

/// Requests under way: enough to keep an engine busy, and far below what the channel holds.
const AT_ONCE: usize = 24;

/// Speaks for one run of the command line.
pub(super) struct Session {
    handle: ManagerHandle,
    events: mpsc::Receiver<Event>,
    last: u64,
    progress: ProgressLine,
    host: Option<HostName>,
}

fn gone() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted")
}

impl Session {
    pub(super) fn new(
        handle: ManagerHandle,
        events: mpsc::Receiver<Event>,
        format: Format,
        host: Option<HostName>,
    ) -> Self {
        Self {
            handle,
            events,
            last: 0,
            progress: ProgressLine::new(format),
            host,
        }
    }

    /// Makes a number for a stream.
    pub(super) fn stream_id(&mut self) -> StreamId {
        self.last += 1;
        StreamId(self.last)
    }

    /// Sends a request without waiting for its reply; waits for room if too many are under way.
    pub(super) fn submit(&mut self, command: Command) -> Result<RequestId, Failure> {
        self.last += 1;
        let id = RequestId(self.last);
        let sent = self.handle.submit(Request { id, command });
        sent.map(|()| id)
            .map_err(|_| Failure::new(FailureKind::Busy, "too much at once; try again"))
    }

    /// Waits for the next event; fails when the manager has ended.
    pub(super) async fn event(&mut self) -> Result<Event, Failure> {
        loop {
            match self.events.recv().await.ok_or_else(gone)? {
                Event::Notice(failure) => super::print::notice(&failure),
                event => return Ok(event),
            }
        }
    }

    /// Sends a request and waits for its reply; other events are passed over.
    pub(super) async fn ask(&mut self, command: Command) -> Result<Reply, Failure> {
        let id = self.submit(command)?;
        loop {
            match self.event().await? {
                Event::Replied { request, outcome } if request == id => {
                    self.progress.clear();
                    return outcome;
                }
                Event::Progress {
                    note, done, total, ..
                } => self.show_progress(&note, done, total),
                _ => {}
            }
        }
    }

    /// Waits, and passes over what is told meanwhile.
    pub(super) async fn pause(&mut self, time: Duration) -> Result<(), Failure> {
        let end = tokio::time::Instant::now() + time;
        loop {
            match tokio::time::timeout_at(end, self.event()).await {
                Err(_) => return Ok(()),
                Ok(event) => drop(event?),
            }
        }
    }

    /// Sends several requests at once and returns their outcomes in order.
    pub(super) async fn ask_all(
        &mut self,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Reply, Failure>>, Failure> {
        let (mut order, mut outcomes, mut waiting) =
            (Vec::new(), HashMap::new(), commands.into_iter().peekable());
        while outcomes.len() < order.len() || waiting.peek().is_some() {
            while order.len() - outcomes.len() < AT_ONCE {
                let Some(command) = waiting.next() else { break };
                order.push(self.submit(command)?);
            }
            if let Event::Replied { request, outcome } = self.event().await? {
                outcomes.insert(request, outcome);
            }
        }
        Ok(order.iter().filter_map(|id| outcomes.remove(id)).collect())
    }

    fn show_progress(&mut self, note: &str, done: u64, total: Option<u64>) {
        let amount = match (done, total) {
            (0, None) => String::new(),
            (done, None) => format!(" {}", human::bytes(done)),
            (done, Some(total)) => format!(" {} / {}", human::bytes(done), human::bytes(total)),
        };
        self.progress.show(&format!("{note}{amount}"));
    }

    /// Lists the sandboxes that the `--host` flag allows.
    pub(super) async fn list(&mut self) -> Result<Vec<Sandbox>, Failure> {
        self.sandboxes(Command::Refresh).await
    }

    /// Lists those among them that a name or the start of an id may mean.
    pub(super) async fn named(&mut self, word: &str) -> Result<Vec<Sandbox>, Failure> {
        self.sandboxes(Command::Find(word.to_owned())).await
    }

    async fn sandboxes(&mut self, command: Command) -> Result<Vec<Sandbox>, Failure> {
        match self.ask(command).await? {
            Reply::Sandboxes(all) => Ok(all
                .into_iter()
                .filter(|s| self.host.as_ref().is_none_or(|h| *h == s.reference.host))
                .collect()),
            other => Err(unexpected(&other)),
        }
    }

    /// Lists at least those that some names mean. One is looked up; all are listed for several, or to say what else could be
    /// meant.
    pub(super) async fn candidates(&mut self, names: &[String]) -> Result<Vec<Sandbox>, Failure> {
        if let [wanted] = names {
            let word = wanted.split_once('/').map_or(&**wanted, |(_, name)| name);
            let found = self.named(word).await?;
            if pick(&found, wanted).is_ok() {
                return Ok(found);
            }
        }
        self.list().await
    }

    /// Finds the sandbox that a person means.
    pub(super) async fn find(&mut self, wanted: &str) -> Outcome<Sandbox> {
        let found = self.candidates(&[wanted.to_owned()]).await?;
        Ok(pick(&found, wanted)?.clone())
    }
}

/// Describes a reply that does not fit its request; only a mistake of ours can bring it.
pub(super) fn unexpected(reply: &Reply) -> Failure {
    Failure::new(
        FailureKind::Internal,
        format!("the manager gave an unexpected reply: {reply:?}"),
    )
}

/// Picks by name, by `HOST/NAME` or by a unique start of an id.
pub(super) fn pick<'a>(all: &'a [Sandbox], wanted: &str) -> Result<&'a Sandbox, Failure> {
    let (host, name) = match wanted.split_once('/') {
        Some((host, name)) => (Some(host), name),
        None => (None, wanted),
    };
    let here = || {
        all.iter()
            .filter(|s| host.is_none_or(|host| s.reference.host.as_str() == host))
    };
    let by_name: Vec<&Sandbox> = here().filter(|s| s.name == name).collect();
    let by_id: Vec<&Sandbox> = here()
        .filter(|s| !name.is_empty() && s.reference.id.as_str().starts_with(name))
        .collect();
    match (by_name.as_slice(), by_id.as_slice()) {
        ([one], _) | ([], [one]) => Ok(one),
        ([], []) => Err(missing(all, wanted)),
        ([], many) | (many, _) => Err(ambiguous(many, wanted)),
    }
}

fn missing(all: &[Sandbox], wanted: &str) -> Failure {
    let failure = Failure::new(
        FailureKind::NotFound,
        format!("no sandbox is called `{wanted}`"),
    );
    match nearest(wanted, all.iter().map(|s| s.name.as_str())) {
        Some(name) => failure.with_hint(format!("did you mean `{name}`?")),
        None => failure.with_hint("`sandtop ls --all` lists them"),
    }
}

fn ambiguous(many: &[&Sandbox], wanted: &str) -> Failure {
    let names: Vec<String> = many
        .iter()
        .map(|s| format!("{}/{}", s.reference.host, s.name))
        .collect();
    Failure::new(
        FailureKind::Invalid,
        format!("`{wanted}` could mean {}", names.join(", ")),
    )
    .with_hint("write more of it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{EngineKind, Limits, Phase, SandboxId, SandboxRef};

    fn sandbox(host: &str, name: &str, id: &str) -> Sandbox {
        Sandbox {
            reference: SandboxRef::new(HostName::new(host), SandboxId::new(id)),
            name: name.into(),
            engine: EngineKind::Demo,
            image: String::new(),
            phase: Phase::Running,
            created_at: chrono::DateTime::UNIX_EPOCH,
            started_at: None,
            owner: None,
            limits: Limits::default(),
            network: "none".into(),
            work_dir: crate::domain::SandboxPath::root(),
            labels: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn names_win_over_ids_and_hosts_tell_apart() {
        let all = [
            sandbox("a", "py", "111"),
            sandbox("a", "11", "222"),
            sandbox("b", "py", "333"),
        ];
        let id = |wanted: &str| {
            pick(&all, wanted)
                .map(|s| s.reference.id.as_str().to_owned())
                .map_err(|e| e.kind)
        };
        assert_eq!(id("11"), Ok("222".into()));
        assert_eq!(id("111"), Ok("111".into()));
        assert_eq!(id("b/py"), Ok("333".into()));
        assert_eq!(id("py"), Err(FailureKind::Invalid));
        assert_eq!(id("nothing"), Err(FailureKind::NotFound));
        assert_eq!(id(""), Err(FailureKind::NotFound));
    }

    #[test]
    fn a_typo_gets_a_suggestion() {
        let all = [sandbox("a", "python", "1")];
        let hint = pick(&all, "pyhton").map_err(|failure| failure.hint);
        assert_eq!(
            hint.err().flatten().as_deref(),
            Some("did you mean `python`?")
        );
    }
}
