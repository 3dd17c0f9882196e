//! `cache`: installed packages that are kept for the next run.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::code_args::CacheVerb;
use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::{CliContext, exit, views};
use crate::domain::{CachedPackages, PackageSet, RemovedPackages};
use crate::protocol::{Command, Reply};
use crate::text::{Table, human, safe_line};

/// Digits of a key that are shown to people.
const SHORT: usize = 12;

/// `cache`.
pub(super) async fn run(cli: &mut CliContext, verb: &CacheVerb) -> Outcome<u8> {
    let host = cli.host();
    match verb {
        CacheVerb::Ls => list(cli).await,
        CacheVerb::Rm { keys, all } => {
            cli.refuse_if_read_only("removing packages")?;
            let keys = if *all { Vec::new() } else { keys.clone() };
            clear(cli, Command::RemovePackages { host, keys }).await
        }
        CacheVerb::Prune => {
            cli.refuse_if_read_only("removing packages")?;
            clear(cli, Command::PrunePackages(host)).await
        }
    }
}

async fn list(cli: &mut CliContext) -> Outcome<u8> {
    let command = Command::ListPackages(cli.host());
    let all = match cli.session.ask(command).await? {
        Reply::PackageSets(all) => all,
        other => return Err(unexpected(&other).into()),
    };
    let now = Utc::now();
    match cli.format {
        Format::Json => print::json(&all.iter().map(|one| view(one, now)).collect::<Vec<_>>())?,
        Format::Text if all.is_empty() => {
            print::note("No packages are kept. `sandtop run` installs what code imports.");
        }
        Format::Text => print::line(&table(&all, now).to_string())?,
    }
    Ok(exit::OK)
}

fn table(all: &[CachedPackages], now: DateTime<Utc>) -> Table {
    let titles = ["KEY", "LANGUAGE", "SIZE", "HITS", "AGE", "USED", "PACKAGES"];
    let mut table = Table::new(&titles).align_right(2).align_right(3);
    for one in all {
        let age = since(one.set.made_at, now).as_secs();
        let expired = if one.expired { " expired" } else { "" };
        table.row(vec![
            short(&one.set).to_owned(),
            safe_line(&one.set.language),
            human::bytes(one.set.size_bytes),
            human::count(one.hits),
            format!("{}{expired}", human::age(age)),
            human::age(since(one.used_at, now).as_secs()),
            safe_line(one.set.packages.join(" ")),
        ]);
    }
    table
}

fn short(set: &PackageSet) -> &str {
    set.key.get(..SHORT).unwrap_or(&set.key)
}

fn since(then: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (now - then).to_std().unwrap_or_default()
}

fn view(one: &CachedPackages, now: DateTime<Utc>) -> Value {
    json!({
        "key": one.set.key,
        "language": one.set.language,
        "image": one.set.image,
        "packages": one.set.packages,
        "size_bytes": one.set.size_bytes,
        "hits": one.hits,
        "created_at": views::time(one.set.made_at),
        "age_s": since(one.set.made_at, now).as_secs(),
        "used_at": views::time(one.used_at),
        "expired": one.expired,
    })
}

async fn clear(cli: &mut CliContext, command: Command) -> Outcome<u8> {
    let cleared = match cli.session.ask(command).await? {
        Reply::PackagesRemoved(cleared) => cleared,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&cleared.iter().map(cleared_view).collect::<Vec<_>>())?,
        Format::Text => cleared.iter().try_for_each(told)?,
    }
    let failed = cleared.iter().any(|one| one.done.is_err());
    Ok(if failed { exit::FAILED } else { exit::OK })
}

fn told(one: &RemovedPackages) -> Outcome {
    let (key, packages) = (short(&one.set), one.set.packages.join(" "));
    match &one.done {
        Ok(()) => print::line(&format!("{key} {}", safe_line(&packages))),
        Err(why) => {
            print::note(&format!("{key} {packages}: not removed: {why}"));
            Ok(())
        }
    }
}

fn cleared_view(one: &RemovedPackages) -> Value {
    json!({
        "key": one.set.key,
        "language": one.set.language,
        "packages": one.set.packages,
        "size_bytes": one.set.size_bytes,
        "reason": one.why,
        "done": one.done.is_ok(),
        "error": one.done.as_ref().err(),
    })
}
