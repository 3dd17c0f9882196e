//! Verbs that look: live stats and events, once or for as long as one likes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::print::{self, Format, Outcome};
use super::session::{pick, unexpected};
use super::{CliContext, exit, views};
use crate::describe::event_detail;
use crate::domain::{EngineEvent, Sample, Sandbox, SandboxRef, merge_events};
use crate::protocol::{Command, Event, Failure, Link, Reply, Topic};
use crate::text::{Table, human, safe_line};

/// Longest wait for first stats; engines take up to two seconds.
const FIRST_FIGURES: Duration = Duration::from_secs(6);

/// How long the parts of one event are waited for: engine and record tell of it one after the other.
const RIPE: TimeDelta = TimeDelta::milliseconds(1_800);
/// Time between two looks at what is ripe.
const LOOK: Duration = Duration::from_millis(200);
/// Parts that are kept, for those that come late.
const PARTS: usize = 400;

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
                Event::Sampled(taken) => {
                    samples.extend(taken.into_iter().filter(|(of, _)| live.contains(of)));
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
            Event::Sampled(samples) => {
                for (sandbox, sample) in samples {
                    let id = || sandbox.id.to_string();
                    let name = names.get(&sandbox).cloned().unwrap_or_else(id);
                    match cli.format {
                        Format::Json => print::json(&views::sample(&name, &sample))?,
                        Format::Text => print::line(&cells(&name, &sample).join("  "))?,
                    }
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
        Reply::Events(past) => merge_events(past),
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
    let mut story = Story::default();
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            event = cli.session.event() => match event? {
                Event::Engine(event) => story.add(event),
                Event::Link { link, .. } => tell_link(&link),
                _ => {}
            },
            _ = look.tick() => {}
        }
        for event in story.ripe(Utc::now()) {
            match cli.format {
                Format::Json => print::json(&views::event(&event))?,
                Format::Text => print::line(&event_line(&event))?,
            }
        }
    }
}

/// What happens, told when its parts have come together.
#[derive(Default)]
struct Story {
    parts: VecDeque<EngineEvent>,
    told: HashSet<EngineEvent>,
}

impl Story {
    fn add(&mut self, event: EngineEvent) {
        self.parts.push_back(event);
        if self.parts.len() > PARTS {
            self.parts.pop_front();
        }
    }

    /// Returns what was not told yet and is old enough to be whole; how something long ended is told when it has.
    fn ripe(&mut self, now: DateTime<Utc>) -> Vec<EngineEvent> {
        let mut all = merge_events(self.parts.iter().cloned().collect());
        self.told.retain(|told| all.contains(told));
        // A clock that is ahead holds nothing back.
        all.retain(|event| event.at <= now - RIPE || event.at > now);
        all.retain(|event| self.told.insert(event.clone()));
        all
    }
}

fn event_line(event: &EngineEvent) -> String {
    let detail = event_detail(&event.what);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::EngineEventKind;
    use crate::domain::{HostName, SandboxId};

    #[test]
    fn followers_hear_of_short_things_once_and_of_long_ones_twice() {
        let begun = Utc::now();
        let event = |millis, what| EngineEvent {
            at: begun + TimeDelta::milliseconds(millis),
            sandbox: SandboxRef::new(HostName::new("here"), SandboxId::new("a")),
            name: "a".to_owned(),
            what,
        };
        let exec = |id: &str| EngineEventKind::exec("make".to_owned(), Some(id.to_owned()));
        let ended = |id: &str| EngineEventKind::RunEnded {
            run: id.to_owned(),
            status: "ok".to_owned(),
            exit_code: Some(0),
        };
        let mut story = Story::default();
        let at = |millis| begun + TimeDelta::milliseconds(millis);
        story.add(event(0, exec("short")));
        story.add(event(10, exec("long")));
        assert_eq!(story.ripe(at(50)), []);
        story.add(event(60, ended("short")));
        assert_eq!(story.ripe(at(5_000)).len(), 2);
        assert_eq!(story.ripe(at(6_000)).len(), 0);
        story.add(event(7_000, ended("long")));
        let last = story.ripe(at(9_000));
        let lines: Vec<String> = last.iter().map(event_line).collect();
        assert!(
            matches!(lines.as_slice(), [line] if line.ends_with("make: ok")),
            "{lines:?}"
        );
    }
}
