//! Verbs that look: live stats and events, once or for as long as one likes.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{TimeDelta, Utc};

use super::print::{self, Format, Outcome};
use super::session::{pick, unexpected};
use super::{CliContext, exit, views};
use crate::describe::happening_detail;
use crate::domain::{EngineEvent, Sample, Sandbox, SandboxRef};
use crate::protocol::{Command, Event, Failure, Link, Reply, Topic};
use crate::text::{Table, human, safe_line};

/// Longest wait for first stats; engines take up to two seconds.
const FIRST_FIGURES: Duration = Duration::from_secs(6);

/// `stats`.
pub(super) async fn stats(cli: &mut CliContext, names: &[String], watch: bool) -> Outcome<u8> {
    let all = cli.session.candidates(names).await?;
    let picked: Vec<&Sandbox> = match names {
        [] => all
            .iter()
            .filter(|sandbox| sandbox.phase.is_live())
            .collect(),
        names => names
            .iter()
            .map(|name| pick(&all, name))
            .collect::<Result<_, Failure>>()?,
    };
    let names_of: HashMap<SandboxRef, String> = picked
        .iter()
        .map(|s| (s.reference.clone(), s.name.clone()))
        .collect();
    let wanted = (!names.is_empty() || !watch).then(|| names_of.keys().cloned().collect());
    if names_of.is_empty() && !watch {
        return show_samples(cli.format, &[]);
    }
    cli.session
        .ask(Command::Watch(Topic::Samples(wanted)))
        .await?;
    if watch {
        return follow_samples(cli, names_of).await;
    }
    let live: HashSet<SandboxRef> = picked
        .iter()
        .filter(|s| s.phase.is_live())
        .map(|s| s.reference.clone())
        .collect();
    let samples = first_samples(cli, &live).await?;
    let rows: Vec<_> = picked
        .iter()
        .filter_map(|s| Some((s.name.clone(), samples.get(&s.reference)?.clone())))
        .collect();
    show_samples(cli.format, &rows)
}

/// Waits for one sample of each sandbox; one that stops meanwhile is left out.
async fn first_samples(
    cli: &mut CliContext,
    live: &HashSet<SandboxRef>,
) -> Outcome<HashMap<SandboxRef, Sample>> {
    let mut samples = HashMap::new();
    let waiting = async {
        while samples.len() < live.len() {
            match cli.session.event().await? {
                Event::Sampled { sandbox, sample } if live.contains(&sandbox) => {
                    samples.insert(sandbox, sample);
                }
                Event::Link {
                    link: Link::Down { why, .. },
                    ..
                } => return Err(why),
                _ => {}
            }
        }
        Ok(())
    };
    match tokio::time::timeout(FIRST_FIGURES, waiting).await {
        Ok(outcome) => outcome?,
        Err(_) if live.is_empty() => {}
        Err(_) => print::note("some sandboxes gave no stats in time"),
    }
    Ok(samples)
}

fn show_samples(format: Format, rows: &[(String, Sample)]) -> Outcome<u8> {
    match format {
        Format::Json => print::json(
            &rows
                .iter()
                .map(|(name, sample)| views::sample(name, sample))
                .collect::<Vec<_>>(),
        )?,
        Format::Text if rows.is_empty() => print::note("No running sandboxes."),
        Format::Text => {
            let mut table =
                Table::new(&["NAME", "CPU", "MEMORY", "LIMIT", "PIDS", "NET RX", "NET TX"]);
            for (name, sample) in rows {
                table.row(cells(name, sample));
            }
            print::line(&table.to_string())?;
        }
    }
    Ok(exit::OK)
}

fn cells(name: &str, sample: &Sample) -> Vec<String> {
    let quota = sample.cpus_limit.map_or_else(String::new, |cpus| {
        format!(" / {}", human::percent(cpus * 100.0))
    });
    vec![
        safe_line(name),
        format!("{}{quota}", human::percent(sample.cpu_percent)),
        human::bytes(sample.memory_bytes),
        sample
            .memory_limit_bytes
            .map_or_else(|| "-".to_owned(), human::bytes),
        sample.pids.to_string(),
        human::bytes(sample.net_rx_bytes),
        human::bytes(sample.net_tx_bytes),
    ]
}

async fn follow_samples(
    cli: &mut CliContext,
    mut names: HashMap<SandboxRef, String>,
) -> Outcome<u8> {
    loop {
        match cli.session.event().await? {
            Event::Sampled { sandbox, sample } => {
                let name = names
                    .get(&sandbox)
                    .cloned()
                    .unwrap_or_else(|| sandbox.id.to_string());
                match cli.format {
                    Format::Json => print::json(&views::sample(&name, &sample))?,
                    Format::Text => print::line(&cells(&name, &sample).join("  "))?,
                }
            }
            Event::Sandboxes { sandboxes, .. } => {
                names.extend(sandboxes.into_iter().map(|s| (s.reference, s.name)));
            }
            Event::Link { link, .. } => tell_link(&link),
            _ => {}
        }
    }
}

/// `events`.
pub(super) async fn events(cli: &mut CliContext, follow: bool, since: u64) -> Outcome<u8> {
    if follow {
        return follow_events(cli).await;
    }
    let since = Utc::now() - TimeDelta::seconds(i64::try_from(since).unwrap_or(86_400));
    let past = match cli.session.ask(Command::EventsSince { since }).await? {
        Reply::Events(past) => past,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&past.iter().map(views::event).collect::<Vec<_>>())?,
        Format::Text if past.is_empty() => {
            print::note("Nothing happened, as far as the engine remembers.");
        }
        Format::Text => {
            for event in &past {
                print::line(&event_line(event))?;
            }
        }
    }
    Ok(exit::OK)
}

async fn follow_events(cli: &mut CliContext) -> Outcome<u8> {
    cli.session.ask(Command::Watch(Topic::Events)).await?;
    loop {
        match cli.session.event().await? {
            Event::Engine(event) => match cli.format {
                Format::Json => print::json(&views::event(&event))?,
                Format::Text => print::line(&event_line(&event))?,
            },
            Event::Link { link, .. } => tell_link(&link),
            _ => {}
        }
    }
}

fn event_line(event: &EngineEvent) -> String {
    let detail = happening_detail(&event.what);
    let line = format!(
        "{}  {:<20} {:<10} {detail}",
        views::time(event.at),
        safe_line(&event.name),
        event.what.word()
    );
    line.trim_end().to_owned()
}

/// Says that the engine is gone or back; stats and events go on by themselves.
fn tell_link(link: &Link) {
    match link {
        Link::Up(info) => print::note(&format!("connected to {} {}", info.kind, info.version)),
        Link::Down { why, retry_in, .. } => {
            print::note(&format!(
                "{why}; trying again in {}",
                human::duration(*retry_in)
            ));
        }
    }
}
