//! Verbs on whole sandboxes: list, create, change, inspect, sessions.

use std::collections::HashMap;

use chrono::Utc;
use serde_json::json;

use super::print::{self, Format, Outcome};
use super::sandbox_args::CreateArgs;
use super::session::{pick, unexpected};
use super::{CliContext, exit, identity, spec, views};
use crate::describe::status_word;
use crate::domain::{OwnerKind, Phase, ReapStatus, Sandbox, SandboxRef, Usage};
use crate::protocol::{Command, Failure, FailureKind, LifecycleOp, Reply};
use crate::text::{Table, human, safe_line};

/// `ls`.
pub(super) async fn list(cli: &mut CliContext, all: bool) -> Outcome<u8> {
    let (mut sandboxes, reap_statuses) = super::reap::reap_statuses(cli).await?;
    let reap_statuses: HashMap<SandboxRef, ReapStatus> = reap_statuses
        .into_iter()
        .map(|one| (one.sandbox.clone(), one))
        .collect();
    let is_shown = |sandbox: &Sandbox| {
        let is_here = sandbox.phase.is_live() || sandbox.phase == Phase::Creating;
        all || (is_here && sandbox.owner.is_some())
    };
    sandboxes.retain(is_shown);
    match cli.format {
        Format::Json => print::json(
            &sandboxes
                .iter()
                .map(|s| views::sandbox(s, reap_statuses.get(&s.reference)))
                .collect::<Vec<_>>(),
        )?,
        Format::Text if sandboxes.is_empty() => {
            print::note("No sandboxes. `sandtop create` makes one.");
        }
        Format::Text => print::line(&table(&sandboxes, &reap_statuses).to_string())?,
    }
    Ok(exit::OK)
}

fn table(sandboxes: &[Sandbox], reap_statuses: &HashMap<SandboxRef, ReapStatus>) -> Table {
    let mut table = Table::new(&[
        "NAME", "PHASE", "WHY", "IMAGE", "MEMORY", "CPUS", "NETWORK", "AGE", "IDLE", "REAP IN",
        "ID",
    ]);
    let now = Utc::now();
    for sandbox in sandboxes {
        let age = u64::try_from((now - sandbox.created_at).num_seconds()).unwrap_or(0);
        table.row(vec![
            safe_line(&sandbox.name),
            sandbox.phase.to_string(),
            why(reap_statuses.get(&sandbox.reference)),
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
            idle(reap_statuses.get(&sandbox.reference)),
            reap_in(reap_statuses.get(&sandbox.reference)),
            sandbox.reference.id.to_string(),
        ]);
    }
    table
}

/// Says why a sandbox ended or what else is special with it.
fn why(reap_status: Option<&ReapStatus>) -> String {
    reap_status.and_then(status_word).unwrap_or("-").to_owned()
}

fn idle(reap_status: Option<&ReapStatus>) -> String {
    match reap_status.map(|reap_status| reap_status.facts.usage) {
        Some(Usage::Busy) => "busy".to_owned(),
        Some(Usage::Idle(idle)) => human::age(idle.as_secs()),
        Some(Usage::Unknown) | None => "-".to_owned(),
    }
}

fn reap_in(reap_status: Option<&ReapStatus>) -> String {
    match reap_status {
        Some(reap_status) if reap_status.facts.pinned => "pinned".to_owned(),
        Some(reap_status) => {
            let left = reap_status.reap_in().map(|left| human::age(left.as_secs()));
            left.unwrap_or_else(|| "-".to_owned())
        }
        None => "-".to_owned(),
    }
}

/// `create`.
pub(super) async fn create(cli: &mut CliContext, args: &CreateArgs) -> Outcome<u8> {
    let (owner, token) = (identity::owner(OwnerKind::Cli), identity::random_word());
    let spec = spec::new_sandbox(args)
        .build(&cli.config, owner, token)
        .map_err(spec::in_flags)?;
    let host = cli.host();
    let made = match cli
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
    match cli.format {
        Format::Json => {
            // Without it the rest of what was made is still true.
            let (_, all) = super::reap::reap_statuses(cli).await.unwrap_or_default();
            let own = all.iter().find(|one| one.sandbox == made.reference);
            print::json(&views::sandbox(&made, own))?;
        }
        Format::Text => print::line(&made.name)?,
    }
    Ok(exit::OK)
}

/// `start`, `stop`, `restart`, `kill`, `pause`, `resume`, `rm`: one failing does not stop the others.
pub(super) async fn act(
    cli: &mut CliContext,
    names: &[String],
    action: LifecycleOp,
) -> Outcome<u8> {
    let all = cli.session.candidates(names).await?;
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
    let mut outcomes = cli.session.ask_all(commands).await?.into_iter();
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
            outcome.map_err(|failure| name_failure(name, action, failure)),
        ));
    }
    report(cli.format, &results)
}

/// Says which of several sandboxes a failure is about.
fn name_failure(name: &str, action: LifecycleOp, failure: Failure) -> Failure {
    if failure.message.contains(name) {
        return failure;
    }
    Failure {
        message: format!("cannot {} {name}: {}", action.verb(), failure.message),
        ..failure
    }
}

pub(super) fn report(format: Format, results: &[(String, Result<String, Failure>)]) -> Outcome<u8> {
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

/// `sessions`.
pub(super) async fn sessions(cli: &mut CliContext, name: &str, drop: Option<&str>) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?.reference;
    if let Some(session) = drop {
        cli.refuse_if_read_only("forgetting a session")?;
        cli.session
            .ask(Command::DropSession {
                sandbox: sandbox.clone(),
                name: session.to_owned(),
            })
            .await?;
    }
    let sessions = match cli.session.ask(Command::Sessions(sandbox)).await? {
        Reply::Sessions(sessions) => sessions,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
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
