//! `inspect`: everything known of a sandbox, also of one that is gone.

use serde_json::{Value, json};

use super::print::{self, Format, Outcome, Stop};
use super::session::unexpected;
use super::{CliContext, exit, reap, views};
use crate::describe::{Fact, ending, facts};
use crate::protocol::{Command, Epitaph, Failure, FailureKind, Reply};

/// `inspect`.
pub(super) async fn inspect(cli: &mut CliContext, name: &str) -> Outcome<u8> {
    let sandbox = match cli.session.find(name).await {
        Err(Stop::Failed(failure)) if failure.kind == FailureKind::NotFound => {
            return show_remembered(cli, name, failure).await;
        }
        found => found?,
    };
    let (_, reap_statuses) = reap::reap_statuses(cli).await.unwrap_or_default();
    let reap_status = reap_statuses
        .iter()
        .find(|s| s.sandbox == sandbox.reference);
    let asked = cli.session.ask(Command::Inspect(sandbox.reference)).await?;
    let Reply::Details(mut details) = asked else {
        return Err(unexpected(&asked).into());
    };
    if let Some(death) = reap_status.and_then(|reap_status| reap_status.death.clone()) {
        details.death = Some(death);
    }
    match cli.format {
        Format::Json => print::json(&views::details(&details, reap_status))?,
        Format::Text => print::line(&lines(&facts(&details)))?,
    }
    Ok(exit::OK)
}

fn lines(facts: &[Fact]) -> String {
    let lines = facts.iter().map(|fact| {
        format!("{:<18} {}", fact.key, fact.value)
            .trim_end()
            .to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Tells what is remembered of a sandbox that is gone. It is still not found, and the exit code says so.
async fn show_remembered(cli: &mut CliContext, name: &str, missing: Failure) -> Outcome<u8> {
    let (host, wanted) = (cli.host(), name.rsplit('/').next().unwrap_or(name));
    let command = Command::Remember {
        host,
        name: wanted.to_owned(),
    };
    let Ok(Reply::Epitaph(Some(epitaph))) = cli.session.ask(command).await else {
        return Err(missing.into());
    };
    let words = format!("{} is gone: {}", epitaph.name, epitaph.death.cause);
    let failure = Failure::new(FailureKind::NotFound, words);
    match cli.format {
        Format::Json => print::json(&view(&epitaph, &failure))?,
        Format::Text => {
            print::line(&lines(&ending(&epitaph.death)))?;
            print::failure(&failure, Format::Text);
        }
    }
    Ok(exit::of_failure(failure.kind))
}

fn view(epitaph: &Epitaph, failure: &Failure) -> Value {
    json!({
        "name": epitaph.name,
        "id": epitaph.sandbox.id.as_str(),
        "host": epitaph.sandbox.host,
        "phase": "lost",
        "death": epitaph.death,
        "last_end": epitaph.last_end,
        "error": failure,
    })
}
