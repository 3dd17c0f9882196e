//! Verbs on whole sandboxes: list, create, change, inspect, sessions.

use chrono::Utc;
use serde_json::json;

use super::args::CreateArgs;
use super::print::{self, Format, Outcome};
use super::session::{pick, unexpected};
use super::{Front, exit, identity, spec, views};
use crate::domain::{Access, Death, Details, HostName, Phase, Posture, Sandbox};
use crate::protocol::{Action, Command, Failure, FailureKind, Reply};
use crate::text::{Table, human, safe_line};

/// `ls`.
pub(super) async fn list(front: &mut Front, all: bool) -> Outcome<u8> {
    let mut sandboxes = front.session.list().await?;
    sandboxes.retain(|sandbox| all || sandbox.phase.is_live() || sandbox.phase == Phase::Creating);
    let now = Utc::now();
    match front.format {
        Format::Json => print::json(
            &sandboxes
                .iter()
                .map(|s| views::sandbox(s, now))
                .collect::<Vec<_>>(),
        )?,
        Format::Text if sandboxes.is_empty() => {
            print::note("No sandboxes. `sandtop create` makes one.");
        }
        Format::Text => print::line(&table(&sandboxes).to_string())?,
    }
    Ok(exit::OK)
}

fn table(sandboxes: &[Sandbox]) -> Table {
    let mut table = Table::new(&[
        "NAME", "PHASE", "IMAGE", "MEMORY", "CPUS", "NETWORK", "AGE", "ID",
    ]);
    let now = Utc::now();
    for sandbox in sandboxes {
        let age = u64::try_from((now - sandbox.created_at).num_seconds()).unwrap_or(0);
        table.row(vec![
            safe_line(&sandbox.name),
            sandbox.phase.to_string(),
            safe_line(&sandbox.image),
            sandbox
                .limits
                .memory_bytes
                .map_or_else(|| "-".to_owned(), human::bytes),
            sandbox
                .limits
                .cpus
                .map_or_else(|| "-".to_owned(), |cpus| cpus.to_string()),
            safe_line(&sandbox.network),
            human::age(age),
            sandbox.reference.id.to_string(),
        ]);
    }
    table
}

/// `create`.
pub(super) async fn create(front: &mut Front, args: &CreateArgs) -> Outcome<u8> {
    let (owner, token) = (identity::owner(), identity::random_word());
    let spec = spec::asked(args)
        .build(&front.config, owner, token)
        .map_err(spec::in_flags)?;
    let host = front
        .host
        .clone()
        .unwrap_or_else(|| HostName::new(super::HOST));
    let made = match front
        .session
        .ask(Command::Create {
            host,
            spec: Box::new(spec),
        })
        .await?
    {
        Reply::Created(made) => made,
        other => return Err(unexpected(&other).into()),
    };
    match front.format {
        Format::Json => print::json(&views::sandbox(&made, Utc::now()))?,
        Format::Text => print::line(&made.name)?,
    }
    Ok(exit::OK)
}

/// `start`, `stop`, `restart`, `kill`, `pause`, `resume`, `rm`: one failing does not stop the others.
pub(super) async fn act(front: &mut Front, names: &[String], action: Action) -> Outcome<u8> {
    let all = front.session.list().await?;
    let picked: Vec<Result<&Sandbox, Failure>> =
        names.iter().map(|name| pick(&all, name)).collect();
    let commands = picked
        .iter()
        .flatten()
        .map(|s| Command::Act {
            sandbox: s.reference.clone(),
            action,
        })
        .collect();
    let mut outcomes = front.session.ask_all(commands).await?.into_iter();
    let mut results = Vec::new();
    for (name, picked) in names.iter().zip(picked) {
        let outcome = match picked {
            Ok(sandbox) => outcomes
                .next()
                .unwrap_or_else(|| Err(Failure::new(FailureKind::Interrupted, "interrupted")))
                .map(|_| sandbox.name.clone()),
            Err(failure) => Err(failure),
        };
        results.push((
            name.clone(),
            outcome.map_err(|failure| named(name, action, failure)),
        ));
    }
    report(front.format, &results)
}

/// Says which of several sandboxes a failure is about.
fn named(name: &str, action: Action, failure: Failure) -> Failure {
    if failure.message.contains(name) {
        return failure;
    }
    Failure {
        message: format!("cannot {} {name}: {}", action.verb(), failure.message),
        ..failure
    }
}

fn report(format: Format, results: &[(String, Result<String, Failure>)]) -> Outcome<u8> {
    let first_failure = results
        .iter()
        .find_map(|(_, outcome)| outcome.as_ref().err());
    let code = first_failure.map_or(exit::OK, |failure| exit::of_failure(failure.kind));
    match (format, results) {
        (Format::Json, [(_, Err(failure))]) => print::failure(failure, Format::Json),
        (Format::Json, [(_, Ok(name))]) => print::json(&json!({"name": name, "ok": true}))?,
        (Format::Json, many) => print::json(&many.iter().map(result_value).collect::<Vec<_>>())?,
        (Format::Text, many) => {
            for (_, outcome) in many {
                match outcome {
                    Ok(name) => print::line(name)?,
                    Err(failure) => print::failure(failure, Format::Text),
                }
            }
        }
    }
    Ok(code)
}

fn result_value((name, outcome): &(String, Result<String, Failure>)) -> serde_json::Value {
    match outcome {
        Ok(name) => json!({"name": name, "ok": true}),
        Err(failure) => json!({"name": name, "ok": false, "error": failure}),
    }
}

/// `inspect`.
pub(super) async fn inspect(front: &mut Front, name: &str) -> Outcome<u8> {
    let sandbox = front.session.find(name).await?;
    let details = match front
        .session
        .ask(Command::Inspect(sandbox.reference))
        .await?
    {
        Reply::Details(details) => details,
        other => return Err(unexpected(&other).into()),
    };
    match front.format {
        Format::Json => print::json(&views::details(&details, Utc::now()))?,
        Format::Text => print::line(&describe(&details))?,
    }
    Ok(exit::OK)
}

type Row = (&'static str, String);

fn describe(details: &Details) -> String {
    let mut rows = facts(details);
    rows.extend(isolation(&details.posture));
    rows.extend(details.death.as_ref().map(ending).unwrap_or_default());
    let lines = rows
        .iter()
        .map(|(key, value)| format!("{key:<18} {value}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

fn facts(details: &Details) -> Vec<Row> {
    let (sandbox, limits) = (&details.sandbox, &details.sandbox.limits);
    let limit = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let owner = sandbox
        .owner
        .as_ref()
        .map(|owner| safe_line(owner.to_string()));
    vec![
        ("name", safe_line(&sandbox.name)),
        ("id", sandbox.reference.id.as_str().to_owned()),
        (
            "host",
            format!("{} ({})", sandbox.reference.host, sandbox.engine),
        ),
        ("image", safe_line(&sandbox.image)),
        ("phase", sandbox.phase.to_string()),
        ("created", views::time(sandbox.created_at)),
        ("owner", owner.unwrap_or_else(|| "unknown".to_owned())),
        ("memory limit", limit(limits.memory_bytes.map(human::bytes))),
        ("cpu limit", limit(limits.cpus.map(|cpus| cpus.to_string()))),
        (
            "process limit",
            limit(limits.pids.map(|pids| pids.to_string())),
        ),
        (
            "exec timeout",
            limit(limits.timeout_s.map(|seconds| format!("{seconds} s"))),
        ),
        ("work directory", safe_line(&details.work_dir)),
        ("variables", safe_line(details.env_names.join(", "))),
        ("network", safe_line(&sandbox.network)),
    ]
}

fn isolation(posture: &Posture) -> Vec<Row> {
    let yes_no = |flag: bool| if flag { "yes" } else { "NO" }.to_owned();
    let listed = |names: &[String]| {
        if names.is_empty() {
            "none".to_owned()
        } else {
            safe_line(names.join(", "))
        }
    };
    let interfaces = posture.interfaces.as_deref().map(listed);
    let mut rows = vec![
        (
            "interfaces",
            interfaces.unwrap_or_else(|| "unknown while it does not run".to_owned()),
        ),
        ("user", safe_line(&posture.user)),
        ("capabilities", listed(&posture.caps)),
        ("no new privileges", yes_no(posture.no_new_privileges)),
        ("read-only root", yes_no(posture.read_only_root)),
        ("seccomp", posture.seccomp.clone()),
        ("init process", yes_no(posture.init)),
        ("checked inside", yes_no(posture.verified)),
    ];
    for mount in &posture.mounts {
        let access = if mount.access == Access::ReadOnly {
            "read-only"
        } else {
            "writable"
        };
        rows.push((
            "mount",
            format!("{} ({}, {access})", safe_line(&mount.target), mount.kind),
        ));
    }
    rows.extend(posture.gaps.iter().map(|gap| ("gap", safe_line(gap))));
    rows
}

fn ending(death: &Death) -> Vec<Row> {
    let code = death
        .exit_code
        .map_or_else(String::new, |code| format!(", code {code}"));
    let at = death.at.map(views::time).unwrap_or_default();
    let mut rows = vec![("ended", format!("{}{code}, {at}", death.cause))];
    rows.extend(
        death
            .last_lines
            .iter()
            .map(|line| ("last words", safe_line(line))),
    );
    rows
}

/// `sessions`.
pub(super) async fn sessions(front: &mut Front, name: &str, drop: Option<&str>) -> Outcome<u8> {
    let sandbox = front.session.find(name).await?.reference;
    if let Some(session) = drop {
        front.refuse_if_read_only("forgetting a session")?;
        front
            .session
            .ask(Command::DropSession {
                sandbox: sandbox.clone(),
                name: session.to_owned(),
            })
            .await?;
    }
    let sessions = match front.session.ask(Command::Sessions(sandbox)).await? {
        Reply::Sessions(sessions) => sessions,
        other => return Err(unexpected(&other).into()),
    };
    match front.format {
        Format::Json => print::json(&sessions)?,
        Format::Text if sessions.is_empty() => {
            print::note("No sessions. `sandtop exec NAME --session S -- COMMAND` starts one.");
        }
        Format::Text => {
            let mut table = Table::new(&["SESSION", "DIRECTORY", "VARIABLES", "USED"]);
            for session in sessions {
                let age = u64::try_from((Utc::now() - session.used_at).num_seconds()).unwrap_or(0);
                table.row(vec![
                    safe_line(session.name),
                    safe_line(session.work_dir),
                    session.variables.to_string(),
                    human::age(age),
                ]);
            }
            print::line(&table.to_string())?;
        }
    }
    Ok(exit::OK)
}
