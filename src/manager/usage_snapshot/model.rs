//! A model of reaping on a simulated clock, with the real store and the real decision: two reapers that are slow, a wall clock
//! that jumps, commands of ours and of other tools that begin and end between any two looks.
//!
//! What must hold: nothing busy, pinned or foreign is ever removed, nothing that was used within its time, and in the end
//! everything whose time has come is gone.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::UsageSnapshot;
use crate::app::testing::{reference, sandbox};
use crate::domain::{
    Ended, ExecId, Grace, Owner, OwnerKind, ReapRules, Run, RunEnd, RunResult, Sandbox, SandboxId,
    Source, Spooled, Tie, Verdict, judge,
};
use crate::protocol::RunFilter;
use crate::store::{Begun, Claim, LifecycleIntent, Moment, Store};

const PLACE: &str = "model";
const NAMES: [&str; 4] = ["plain", "pinned", "orphan", "foreign"];
const IDLE: i64 = 100_000;
const ORPHAN: i64 = 40_000;
const RULES: ReapRules = ReapRules {
    idle: Some(Duration::from_millis(IDLE.unsigned_abs())),
    orphan: Duration::from_millis(ORPHAN.unsigned_abs()),
    grace: Grace::Remove,
};

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn time(&mut self, limit: i64) -> i64 {
        i64::try_from(self.below(limit.unsigned_abs())).unwrap_or(0)
    }
}

/// How far a reaper is with a sandbox.
enum Stage {
    /// It saw that its time has come.
    Looked(SandboxId),
    /// The engine said that nothing runs in it.
    Confirmed(SandboxId),
    /// It has claimed it, and looked once more.
    Claimed(SandboxId),
}

struct World {
    store: Store,
    dice: Dice,
    steady: i64,
    wall_shift: i64,
    sandboxes: BTreeMap<SandboxId, Sandbox>,
    /// What really runs: commands of ours by their ids, those of other tools by a number.
    ours: Vec<(SandboxId, ExecId)>,
    others: Vec<SandboxId>,
    pinned: HashSet<SandboxId>,
    /// The last use by us, by the steady clock.
    used: BTreeMap<SandboxId, i64>,
    reapers: [Option<Stage>; 2],
    count: u64,
}

fn here() -> Owner {
    Owner {
        host: "desk".into(),
        pid: u32::MAX - 7,
        started: 1,
        user: None,
        kind: OwnerKind::Cli,
    }
}

fn made(name: &str) -> Sandbox {
    let owner = match name {
        "foreign" => None,
        "orphan" => Some(Owner {
            kind: OwnerKind::Tui,
            ..here()
        }),
        _ => Some(here()),
    };
    Sandbox {
        owner,
        ..sandbox(name)
    }
}

impl World {
    async fn new(seed: u64) -> Self {
        let all = NAMES.map(|name| (reference(name).id, made(name)));
        let mut world = Self {
            store: Store::open(None),
            dice: Dice(seed),
            steady: 1_000_000,
            wall_shift: 0,
            sandboxes: BTreeMap::from(all),
            ours: Vec::new(),
            others: Vec::new(),
            pinned: HashSet::new(),
            used: BTreeMap::new(),
            reapers: [None, None],
            count: 0,
        };
        for id in world.ids() {
            world.touch(&id).await;
        }
        world.pin(&reference("pinned").id).await;
        world
    }

    fn ids(&self) -> Vec<SandboxId> {
        self.sandboxes.keys().cloned().collect()
    }

    fn now(&self) -> Moment {
        let wall = 1_800_000_000_000 + self.steady + self.wall_shift;
        Moment {
            wall: DateTime::<Utc>::from_timestamp_millis(wall).expect("a time"),
            boot: "boot".to_owned(),
            since_boot_ms: self.steady,
        }
    }

    async fn touch(&mut self, id: &SandboxId) {
        let now = self.now();
        self.store
            .touch(PLACE, id, "s", now)
            .await
            .expect("written");
        self.used.insert(id.clone(), self.steady);
    }

    async fn pin(&mut self, id: &SandboxId) {
        self.store.pin(PLACE, id, "me").await.expect("written");
        self.pinned.insert(id.clone());
    }

    fn is_running(&self, id: &SandboxId) -> bool {
        self.ours.iter().any(|(place, _)| place == id) || self.others.contains(id)
    }

    async fn snapshot(&self) -> UsageSnapshot {
        let filter = RunFilter {
            sandbox: None,
            under_way: true,
            limit: 100,
        };
        let open = self.store.runs(PLACE, &filter).await.expect("read");
        let busy = open.into_iter().map(|run| run.sandbox.id);
        UsageSnapshot {
            others: super::UsesByOthers::default(),
            now: self.now(),
            sandboxes: self.sandboxes.values().cloned().collect(),
            memory: Some(self.store.memory(PLACE).await.expect("read")),
            busy: busy.chain(self.others.iter().cloned()).collect(),
            reaps_foreign: false,
            released: HashSet::new(),
        }
    }

    async fn begin(&mut self, id: &SandboxId) {
        self.count += 1;
        let run = Run {
            id: ExecId::new(format!("r{}", self.count)),
            sandbox: crate::domain::SandboxRef::new(crate::app::testing::host(), id.clone()),
            name: "s".to_owned(),
            argv: vec!["x".to_owned()],
            code: None,
            source: Source::Cli,
            session: None,
            started_at: self.now().wall,
            owner: here(),
            tie: Tie::Attached,
            result: None,
            spooled: Spooled::default(),
        };
        let begun = self.store.begin_run(PLACE, &run).await.expect("written");
        if matches!(begun, Begun::Claimed(_)) {
            return;
        }
        self.ours.push((id.clone(), run.id));
        self.touch(id).await;
    }

    async fn end_one(&mut self) {
        if self.ours.is_empty() {
            return;
        }
        let at = self.dice.below(self.ours.len() as u64);
        let (id, exec) = self.ours.remove(usize::try_from(at).unwrap_or(0));
        let now = self.now().wall;
        let result = RunResult::bare(RunEnd::Ended(Ended::Code(0)), now, now);
        self.store
            .end_run(&exec, &result, None)
            .await
            .expect("written");
        self.touch(&id).await;
    }

    /// Something happens that no reaper does.
    async fn happen(&mut self) {
        let ids = self.ids();
        let at = usize::try_from(self.dice.below(NAMES.len() as u64)).unwrap_or(0);
        let Some(id) = ids.get(at).cloned() else {
            return;
        };
        // After the last look of a reaper, the engine alone could keep other tools out.
        let is_late = self
            .reapers
            .iter()
            .flatten()
            .any(|s| matches!(s, Stage::Claimed(_)));
        match self.dice.below(10) {
            0..4 => self.steady += self.dice.time(30_000),
            4 => self.wall_shift += self.dice.time(20_000_000) - 10_000_000,
            5 => self.begin(&id).await,
            6 => self.end_one().await,
            7 if !is_late => self.others.push(id),
            8 => drop(self.others.pop()),
            9 if !is_late && id != reference("pinned").id => self.turn_pin(&id).await,
            _ => {}
        }
    }

    async fn turn_pin(&mut self, id: &SandboxId) {
        if self.pinned.remove(id) {
            self.store.unpin(PLACE, id).await.expect("written");
        } else {
            self.pin(id).await;
        }
    }

    /// One step of a reaper; what comes between two steps is up to the dice.
    async fn reap(&mut self, which: usize) {
        let stage = self.reapers.get_mut(which).and_then(Option::take);
        let next = match stage {
            None => self.look().await,
            Some(Stage::Looked(id)) => (!self.is_running(&id)).then_some(Stage::Confirmed(id)),
            Some(Stage::Confirmed(id)) => self.claim(id).await,
            Some(Stage::Claimed(id)) => {
                self.remove(&id).await;
                None
            }
        };
        if let Some(place) = self.reapers.get_mut(which) {
            *place = next;
        }
    }

    async fn look(&mut self) -> Option<Stage> {
        let snapshot = self.snapshot().await;
        let due = snapshot.sandboxes.iter().filter(|s| is_due(&snapshot, s));
        let due: Vec<SandboxId> = due.map(|s| s.reference.id.clone()).collect();
        let at = self.dice.below(due.len().max(1) as u64);
        let chosen = due.get(usize::try_from(at).unwrap_or(0));
        chosen.cloned().map(Stage::Looked)
    }

    async fn claim(&mut self, id: SandboxId) -> Option<Stage> {
        let again = self.snapshot().await;
        let found = again.sandboxes.iter().find(|s| s.reference.id == id)?;
        if !is_due(&again, found) {
            return None;
        }
        let intent = LifecycleIntent {
            action: "reap".to_owned(),
            reason: "idle".to_owned(),
            by: here(),
            at: self.now().wall,
        };
        let seen = again.last_use(found);
        let claim = self
            .store
            .claim(PLACE, &id, &intent, seen)
            .await
            .expect("written");
        if claim != Claim::Granted {
            return None;
        }
        if self.is_running(&id) {
            self.store
                .withdraw_intent(PLACE, &id)
                .await
                .expect("written");
            return None;
        }
        Some(Stage::Claimed(id))
    }

    async fn remove(&mut self, id: &SandboxId) {
        assert!(self.sandboxes.contains_key(id), "{id} is removed twice");
        assert!(!self.is_running(id), "{id} is busy");
        assert!(!self.pinned.contains(id), "{id} is pinned");
        assert_ne!(*id, reference("foreign").id);
        let limit = if *id == reference("orphan").id {
            ORPHAN
        } else {
            IDLE
        };
        let unused = self.steady - self.used.get(id).copied().unwrap_or(0);
        assert!(unused >= limit, "{id} was used {unused} ms ago");
        self.sandboxes.remove(id);
        self.store.forget_use(PLACE, id).await.expect("written");
    }

    /// Lets everything end and the reapers go on.
    async fn settle(&mut self) {
        while !self.ours.is_empty() {
            self.end_one().await;
        }
        self.others.clear();
        self.steady += IDLE + 1;
        for _ in 0..40 {
            self.reap(0).await;
            self.reap(1).await;
            // A claim of a reaper that lost its way does not hold for ever.
            self.steady += 30_000;
        }
    }
}

fn is_due(snapshot: &UsageSnapshot, sandbox: &Sandbox) -> bool {
    matches!(
        judge(&snapshot.facts(sandbox, &here()), &RULES),
        Verdict::Remove(_)
    )
}

#[tokio::test]
async fn nothing_busy_or_pinned_is_reaped_and_everything_due_is_in_the_end() {
    let mut reaped_early = 0;
    for seed in 0..150 {
        let mut world = World::new(seed).await;
        for _ in 0..120 {
            match world.dice.below(3) {
                0 => world.happen().await,
                n => world.reap(usize::try_from(n - 1).unwrap_or(0)).await,
            }
        }
        reaped_early += NAMES.len() - world.sandboxes.len();
        world.settle().await;
        let left = world.ids();
        let stays = |id: &SandboxId| *id == reference("foreign").id || world.pinned.contains(id);
        assert!(left.iter().all(stays), "seed {seed}: {left:?}");
        assert!(left.contains(&reference("pinned").id) && left.contains(&reference("foreign").id));
    }
    // Otherwise the dice never let anything go, and nothing was tried.
    assert!(reaped_early > 20, "{reaped_early}");
}

#[tokio::test]
async fn a_wall_clock_that_jumps_by_years_reaps_nothing() {
    let mut world = World::new(1).await;
    for years in [3, -9, 20] {
        world.wall_shift += TimeDelta::days(365 * years).num_milliseconds();
        world.steady += 10;
        assert!(world.look().await.is_none(), "{years} years");
    }
}
