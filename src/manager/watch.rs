//! Watching a host: its events and stats, across every loss of the connection.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use futures_util::stream::{self, BoxStream, SelectAll, StreamExt};
use tokio::time::Instant;

use super::Host;
use super::backoff::Backoff;
use super::context::Context;
use super::disk::{self, Disks};
use super::news::{self, News};
use super::{deaths, reap_status};
use crate::domain::{EngineEvent, EngineEventKind, Sample, Sandbox, SandboxRef};
use crate::engine::{EngineError, Result};
use crate::protocol::{Event, Failure, FailureKind, Link, Topic};
use crate::store::Moment;

/// How often a silent connection is asked whether it lives.
const PULSE: Duration = Duration::from_secs(2);
/// Longest wait for the answer to that, which costs an engine nothing; one that hangs must not look alive.
const PING: Duration = Duration::from_secs(3);
/// Longest wait for a list, which may be long.
const LIST: Duration = Duration::from_secs(10);

/// How often the record is looked at for what other processes wrote.
const NEWS: Duration = Duration::from_millis(700);

/// Time from a change of the list to the search for causes of death: what stops or removes a sandbox is done only then.
const SETTLE: Duration = Duration::from_millis(500);
/// Samples that are told at once.
const MOST_SAMPLES: usize = 256;

/// Watches until the manager ends.
pub(super) async fn watch(context: &Context, host: &Host, topic: &Topic) {
    let watching = async {
        match topic {
            Topic::ReapStatuses { rules, reap_every } => {
                reap_status::keep_telling(context, host, rules, *reap_every).await;
            }
            Topic::Events => keep_watching(context, host, topic, &Disks::default()).await,
            Topic::Samples(wanted) => {
                let disks = Disks::default();
                let watching = keep_watching(context, host, topic, &disks);
                let measuring = disk::keep_measuring(context, host, wanted.as_deref(), &disks);
                tokio::join!(watching, measuring);
            }
        }
    };
    tokio::select! {
        () = context.closing() => {}
        () = watching => {}
    }
}

async fn keep_watching(context: &Context, host: &Host, topic: &Topic, disks: &Disks) {
    let mut backoff = Backoff::new();
    let mut record = News::begin();
    let mut down_since: Option<DateTime<Utc>> = None;
    loop {
        let mut session = Connection {
            context,
            host,
            topic,
            disks,
            samples: SelectAll::new(),
            sampled: HashSet::new(),
            answered: false,
            record: &mut record,
            settle_at: None,
            refusals: HashMap::new(),
        };
        let outcome = session.run().await;
        let why = match outcome {
            Ok(()) => {
                EngineError::new(FailureKind::Unreachable, "the engine closed the connection")
            }
            Err(error) => error,
        };
        if session.answered {
            backoff.reset();
            down_since = None;
        }
        context.note_activity();
        let since = *down_since.get_or_insert_with(Utc::now);
        let retry_in = backoff.next();
        tracing::warn!(host = %host.name, %why, ?retry_in, "the link is down");
        let link = Link::Down {
            since,
            retry_in,
            why: Failure::from(why),
        };
        context
            .send(Event::Link {
                host: host.name.clone(),
                link,
            })
            .await;
        tokio::time::sleep(retry_in).await;
    }
}

/// Waits for a moment; for none, for ever.
async fn settled(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Waits so long for an answer of the engine.
async fn answered<T>(limit: Duration, asking: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(limit, asking)
        .await
        .unwrap_or_else(|_| {
            let waited = limit.as_secs();
            let words = format!("the engine does not answer any more (waited {waited} s)");
            Err(EngineError::new(FailureKind::Unreachable, words))
        })
}

/// One unbroken connection.
struct Connection<'a> {
    context: &'a Context,
    host: &'a Host,
    topic: &'a Topic,
    disks: &'a Disks,
    samples: SelectAll<BoxStream<'static, (SandboxRef, Option<Sample>)>>,
    /// Those that it has a stream of.
    sampled: HashSet<SandboxRef>,
    answered: bool,
    /// What the record tells.
    record: &'a mut News,
    /// When to find out why sandboxes ended.
    settle_at: Option<Instant>,
    /// The kernel's counters of refused processes at the last look.
    refusals: HashMap<SandboxRef, u64>,
}

impl Connection<'_> {
    /// Subscribes first and lists then, so that nothing falls in between.
    async fn run(&mut self) -> Result<()> {
        let mut events = self.host.engine.events().await?;
        let (context, host) = (self.context, self.host);
        let first = async {
            let asking = async { tokio::try_join!(host.engine.info(), host.engine.list()) };
            let (info, listed) = answered(LIST, asking).await?;
            let (host, link) = (host.name.clone(), Link::Up(info));
            context.send(Event::Link { host, link }).await;
            Ok(listed)
        };
        self.tell_list(first).await?;
        self.answered = true;
        let mut news = tokio::time::interval(NEWS);
        let mut pulse = tokio::time::interval_at(Instant::now() + PULSE, PULSE);
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => self.on_event(event?).await?,
                    None => return Ok(()),
                },
                () = settled(self.settle_at) => self.find_causes().await?,
                Some(first) = self.samples.next(), if !self.samples.is_empty() => self.on_samples(first).await,
                _ = news.tick(), if *self.topic == Topic::Events => self.tell_news().await,
                _ = pulse.tick() => answered(PING, self.host.engine.ping()).await?,
            }
        }
    }

    async fn on_event(&mut self, event: EngineEvent) -> Result<()> {
        self.context.note_activity();
        self.record_use(&event).await;
        let relist = event.what.changes_list();
        if *self.topic == Topic::Events {
            let event = news::with_remover(self.context, self.host, event).await;
            deaths::revive_started(self.context, self.host, std::iter::once(&event)).await;
            self.context.send(Event::Engine(event)).await;
        }
        if relist { self.relist().await } else { Ok(()) }
    }

    /// Records uses by other tools.
    async fn record_use(&mut self, event: &EngineEvent) {
        let is_use = matches!(
            event.what,
            EngineEventKind::Exec { .. }
                | EngineEventKind::ExecEnded { .. }
                | EngineEventKind::Started
                | EngineEventKind::Resumed
        );
        if is_use && *self.topic == Topic::Events {
            let at = Moment::now().back_to(event.at);
            self.context.touch_at(&event.sandbox, at).await;
        }
    }

    /// Tells what came on record since the last look.
    async fn tell_news(&mut self) {
        for event in self.record.next(self.context, self.host).await {
            self.context.send(Event::Engine(event)).await;
        }
    }

    async fn relist(&mut self) -> Result<()> {
        let host = self.host;
        self.tell_list(answered(LIST, host.engine.list())).await
    }

    /// Tells the whole list, and samples what runs now.
    async fn tell_list(&mut self, list: impl Future<Output = Result<Vec<Sandbox>>>) -> Result<()> {
        self.context.note_activity();
        let sandboxes = self.context.tell_list(&self.host.name, list).await?;
        if *self.topic == Topic::Events {
            self.settle_at = Some(Instant::now() + SETTLE);
        }
        if let Topic::Samples(wanted) = self.topic {
            self.sample_running(&sandboxes, wanted.as_deref()).await?;
        }
        Ok(())
    }

    /// Finds out why sandboxes have ended, and tells it.
    async fn find_causes(&mut self) -> Result<()> {
        self.settle_at = None;
        let sandboxes = answered(LIST, self.host.engine.list()).await?;
        deaths::reconcile(self.context, self.host, &sandboxes).await;
        self.tell_news().await;
        Ok(())
    }

    async fn sample_running(
        &mut self,
        sandboxes: &[Sandbox],
        wanted: Option<&[SandboxRef]>,
    ) -> Result<()> {
        let is_wanted = |sandbox: &SandboxRef| wanted.is_none_or(|wanted| wanted.contains(sandbox));
        for sandbox in sandboxes
            .iter()
            .filter(|s| s.phase.is_live() && is_wanted(&s.reference))
        {
            if !self.sampled.contains(&sandbox.reference) {
                let samples = self.host.engine.samples(sandbox).await?;
                let of = sandbox.reference.clone();
                self.samples.push(until_end(of, samples));
                self.sampled.insert(sandbox.reference.clone());
            }
        }
        Ok(())
    }

    /// Takes a sample and all others that are there by now, which are those of the same moment.
    async fn on_samples(&mut self, first: (SandboxRef, Option<Sample>)) {
        let (mut next, mut samples) = (Some(first), Vec::new());
        while let Some((sandbox, sample)) = next.take() {
            match sample {
                Some(mut sample) => {
                    sample.disk_bytes = self.disks.of(&sandbox);
                    self.context
                        .add_memory_sample(&sandbox, sample.memory_bytes);
                    self.note_refusals(&sandbox, &sample).await;
                    samples.push((sandbox, sample));
                }
                None => drop(self.sampled.remove(&sandbox)),
            }
            if samples.len() < MOST_SAMPLES {
                next = self.samples.next().now_or_never().flatten();
            }
        }
        if !samples.is_empty() {
            self.context.offer(Event::Sampled(samples));
        }
    }

    /// Records that the kernel refused more processes than at the last look.
    async fn note_refusals(&mut self, sandbox: &SandboxRef, sample: &Sample) {
        let Some(counter) = sample.pids_refused else {
            return;
        };
        if self.refusals.insert(sandbox.clone(), counter) != Some(counter) {
            self.context.note_refusals(sandbox, counter).await;
        }
    }
}

/// Names each sample's sandbox, and says with the last item that no more come. One that has just gone ends its stream so, or
/// with an error; the list tells the rest.
fn until_end(
    sandbox: SandboxRef,
    samples: BoxStream<'static, Result<Sample>>,
) -> BoxStream<'static, (SandboxRef, Option<Sample>)> {
    let end = stream::once(std::future::ready(None));
    let samples = samples.map(Result::ok).chain(end);
    let samples = samples.scan(false, |has_ended, sample| {
        let item = (!*has_ended).then_some(sample);
        *has_ended |= matches!(item, Some(None));
        std::future::ready(item)
    });
    samples.map(move |sample| (sandbox.clone(), sample)).boxed()
}
