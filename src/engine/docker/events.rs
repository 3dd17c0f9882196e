//! What happens to containers of ours, from the engine's event stream.

use std::collections::HashMap;

use bollard::models::EventMessage;
use bollard::query_parameters::{EventsOptions, EventsOptionsBuilder};
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::visibility::{Ownership, Visibility};
use super::{Client, Endpoint, convert};
use crate::domain::{AdoptRules, EngineEvent, EngineEventKind, HostName, SandboxId, SandboxRef};
use crate::engine::{EngineError, Result};
use crate::guest::wire::{self, ExecCall, Verb};
use crate::protocol::FailureKind;

/// How far the clock of another machine may be ahead.
const SKEW: TimeDelta = TimeDelta::seconds(1);

/// Verbs of the guest that change nothing in a sandbox; they are sandtop's own housekeeping, not something that happened.
const HOUSEKEEPING: [Verb; 14] = [
    Verb::Execs,
    Verb::Probe,
    Verb::List,
    Verb::Stat,
    Verb::Sessions,
    Verb::Kill,
    Verb::Init,
    Verb::Save,
    Verb::Forget,
    Verb::Top,
    Verb::Changes,
    Verb::Size,
    Verb::Read,
    Verb::Pack,
];

/// Streams what happens from now on.
pub(super) fn stream(
    client: &Client,
    visibility: &Visibility<'_>,
) -> BoxStream<'static, Result<EngineEvent>> {
    let docker = client.docker.clone();
    let options = options(visibility, None);
    let mut reader = Reader::new(visibility);
    let messages = stream::once(async move { docker.events(Some(options)).boxed() }).flatten();
    let events = messages.filter_map(move |message| {
        let item = match message {
            Ok(message) => reader.read(&message).map(Ok),
            Err(error) => Some(Err(convert::error("watching", error))),
        };
        std::future::ready(item)
    });
    // The daemon ends the stream without a word when it goes away.
    let gone = || {
        EngineError::new(
            FailureKind::Unreachable,
            "watching: the engine closed the event stream",
        )
    };
    events
        .chain(stream::once(async move { Err(gone()) }))
        .boxed()
}

/// Tells what happened since a moment, as far as the engine remembers.
pub(super) async fn history(
    client: &Client,
    visibility: &Visibility<'_>,
    since: DateTime<Utc>,
) -> Result<Vec<EngineEvent>> {
    let span = Span {
        since,
        until: last_moment(&client.endpoint, Utc::now()),
    };
    let events = client.docker.events(Some(options(visibility, Some(span))));
    let messages: Vec<EventMessage> = events
        .try_collect()
        .await
        .map_err(|e| convert::error("reading events", e))?;
    let mut reader = Reader::new(visibility);
    Ok(messages
        .iter()
        .filter_map(|message| reader.read(message))
        .collect())
}

/// What is known of a command that has not ended yet.
enum KnownExec {
    /// sandtop's own, which is not told.
    Housekeeping,
    /// A run of ours, by its id.
    Run(String),
}

/// Turns messages into events, and leaves out sandtop's own housekeeping from its start to its end.
struct Reader {
    host: HostName,
    scope: String,
    adopt: AdoptRules,
    execs: HashMap<String, KnownExec>,
}

impl Reader {
    fn new(visibility: &Visibility<'_>) -> Self {
        Self {
            host: visibility.host.clone(),
            scope: visibility.scope.to_owned(),
            adopt: visibility.adopt.clone(),
            execs: HashMap::new(),
        }
    }

    fn read(&mut self, message: &EventMessage) -> Option<EngineEvent> {
        let actor = message.actor.as_ref()?;
        let none = HashMap::new();
        let attributes = actor.attributes.as_ref().unwrap_or(&none);
        let action = message.action.as_deref()?;
        if self.is_stranger(attributes) {
            return None;
        }
        let exec = match attributes.get("execID") {
            Some(id) => Some(self.follow_exec(action, id)?),
            None => None,
        };
        let nanos = message.time_nano.map(DateTime::from_timestamp_nanos);
        Some(EngineEvent {
            at: nanos.or_else(|| DateTime::from_timestamp(message.time?, 0))?,
            sandbox: SandboxRef::new(self.host.clone(), SandboxId::new(actor.id.clone()?)),
            name: attributes
                .get("name")
                .map(|name| convert::sandbox_name(name))
                .unwrap_or_default(),
            what: what(action, attributes, exec)?,
        })
    }

    /// Tells whether an event is about a container that is not shown; its labels come along with the event.
    fn is_stranger(&self, attributes: &HashMap<String, String>) -> bool {
        let visibility = Visibility {
            host: &self.host,
            scope: &self.scope,
            adopt: &self.adopt,
        };
        let word = |key: &str| attributes.get(key).map(String::as_str).unwrap_or_default();
        let ownership = visibility.ownership(word("name"), word("image"), attributes);
        !self.adopt.is_empty() && ownership == Ownership::Unrelated
    }

    /// Returns the id by which a command is known from its start to its end; none for housekeeping.
    fn follow_exec(&mut self, action: &str, exec: &str) -> Option<String> {
        if let Some(line) = action.strip_prefix("exec_create: ")
            && let Some(known) = known_exec(line)
        {
            self.execs.insert(exec.to_owned(), known);
        }
        let id = match self.execs.get(exec) {
            Some(KnownExec::Housekeeping) => None,
            Some(KnownExec::Run(id)) => Some(id.clone()),
            None => Some(exec.to_owned()),
        };
        if action == "exec_die" {
            self.execs.remove(exec);
        }
        id
    }
}

/// Recognises verbs of the guest that only look.
pub(super) fn is_housekeeping(line: &str) -> bool {
    guest_call(line).is_some_and(|(verb, _)| verb.is_some_and(|verb| HOUSEKEEPING.contains(&verb)))
}

/// A part of the past.
#[derive(Debug, Clone, Copy)]
struct Span {
    since: DateTime<Utc>,
    until: DateTime<Utc>,
}

/// Returns the moment that an engine is asked up to. It waits for one that lies in its future, so on this machine it is now;
/// the clock of another machine may be behind or ahead.
fn last_moment(endpoint: &Endpoint, now: DateTime<Utc>) -> DateTime<Utc> {
    match endpoint {
        Endpoint::Unix(_) => now,
        Endpoint::Tcp(_) => now + SKEW,
    }
}

/// Writes a moment as engines read it, with its fractions.
fn unix_time(moment: DateTime<Utc>) -> String {
    moment.format("%s.%9f").to_string()
}

/// Tells what a command line of ours is for; nothing for those of others.
fn known_exec(line: &str) -> Option<KnownExec> {
    if is_housekeeping(line) {
        return Some(KnownExec::Housekeeping);
    }
    let (_, words) = guest_call(line)?;
    let mut words = words.split(' ').skip(1);
    let is_exec = words.next() == Some(ExecCall::ID);
    let id = words.next().filter(|_| is_exec);
    id.map(|id| KnownExec::Run(id.to_owned()))
}

fn options(visibility: &Visibility<'_>, span: Option<Span>) -> EventsOptions {
    let mut filters = visibility.filter();
    filters.insert("type", vec!["container".to_owned()]);
    let builder = EventsOptionsBuilder::new().filters(&filters);
    match span {
        Some(Span { since, until }) => builder
            .since(&unix_time(since))
            .until(&unix_time(until))
            .build(),
        None => builder.build(),
    }
}

fn what(
    action: &str,
    attributes: &HashMap<String, String>,
    exec: Option<String>,
) -> Option<EngineEventKind> {
    let code = || {
        attributes
            .get("exitCode")
            .and_then(|code| code.parse().ok())
    };
    let (verb, detail) = action.split_once(": ").unwrap_or((action, ""));
    Some(match verb {
        "create" => EngineEventKind::Created,
        "start" => EngineEventKind::Started,
        "exec_create" => EngineEventKind::exec(command(detail), exec),
        "exec_die" => EngineEventKind::ExecEnded {
            exec,
            exit_code: code(),
        },
        "oom" => EngineEventKind::Oom,
        "pause" => EngineEventKind::Paused,
        "unpause" => EngineEventKind::Resumed,
        "kill" => EngineEventKind::Killed {
            signal: attributes.get("signal").cloned(),
        },
        "die" => EngineEventKind::Died { exit_code: code() },
        "stop" => EngineEventKind::Stopped,
        "restart" => EngineEventKind::Restarted,
        "destroy" => EngineEventKind::Removed { by: None },
        _ => return None,
    })
}

/// Reads a command line of the guest: its verb, and its words from the verb on.
fn guest_call(line: &str) -> Option<(Option<Verb>, &str)> {
    let words = line.strip_prefix(wire::GUEST_PATH)?.trim_start();
    let first = words.split(' ').next().unwrap_or_default();
    Some((Verb::parse(first), words))
}

/// Takes the guest's own words off a command line.
fn command(line: &str) -> String {
    let Some((verb, words)) = guest_call(line) else {
        return line.to_owned();
    };
    let command = words
        .split_once(" -- ")
        .filter(|_| verb == Some(Verb::Exec));
    command.map_or_else(
        || format!("(files) {words}"),
        |(_, command)| command.to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use bollard::models::EventActor;

    use super::*;

    #[test]
    fn the_engine_of_this_machine_is_not_asked_about_its_future() {
        let now = DateTime::from_timestamp_nanos(1_700_000_000_250_000_000);
        let until = |endpoint: Endpoint| unix_time(last_moment(&endpoint, now));
        assert_eq!(until(Endpoint::Unix("/x".into())), "1700000000.250000000");
        assert_eq!(until(Endpoint::Tcp("far:1".into())), "1700000001.250000000");
    }

    #[test]
    fn actions_become_happenings() {
        let attributes = HashMap::from([
            ("exitCode".to_owned(), "3".to_owned()),
            ("signal".to_owned(), "9".to_owned()),
        ]);
        let table = [
            ("create", Some(EngineEventKind::Created)),
            ("die", Some(EngineEventKind::Died { exit_code: Some(3) })),
            (
                "kill",
                Some(EngineEventKind::Killed {
                    signal: Some("9".into()),
                }),
            ),
            (
                "exec_create: ls -la",
                Some(EngineEventKind::exec("ls -la".into(), None)),
            ),
            (
                "exec_create: /.sandtop/guest exec --id x --cwd /a -- echo -- hi",
                Some(EngineEventKind::exec("echo -- hi".into(), None)),
            ),
            (
                "exec_create: /.sandtop/guest write /a",
                Some(EngineEventKind::exec("(files) write /a".into(), None)),
            ),
            ("exec_start: ls", None),
            ("attach", None),
        ];
        for (action, expected) in table {
            assert_eq!(what(action, &attributes, None), expected, "{action}");
        }
    }

    #[test]
    fn housekeeping_is_left_out_from_start_to_end() {
        let (host, adopt) = (HostName::new("here"), AdoptRules::default());
        let mut reader = Reader::new(&Visibility {
            host: &host,
            scope: "s",
            adopt: &adopt,
        });
        let mut read = |action: &str, exec: &str| {
            let attributes = HashMap::from([("execID".to_owned(), exec.to_owned())]);
            let actor = EventActor {
                id: Some("1".into()),
                attributes: Some(attributes),
            };
            let message = EventMessage {
                action: Some(action.into()),
                actor: Some(actor),
                time: Some(1),
                ..EventMessage::default()
            };
            reader.read(&message).map(|event| match event.what {
                EngineEventKind::Exec { exec, .. } | EngineEventKind::ExecEnded { exec, .. } => {
                    exec.unwrap_or_default()
                }
                other => other.word().to_owned(),
            })
        };
        assert_eq!(read("exec_create: /.sandtop/guest stat /a", "x"), None);
        assert_eq!(read("exec_create: ls", "y").as_deref(), Some("y"));
        let run = "exec_create: /.sandtop/guest exec --id 4f2a -- ls";
        assert_eq!(read(run, "z").as_deref(), Some("4f2a"));
        assert_eq!(read("exec_die", "x"), None);
        assert_eq!(read("exec_die", "y").as_deref(), Some("y"));
        assert_eq!(read("exec_die", "z").as_deref(), Some("4f2a"));
    }
}
