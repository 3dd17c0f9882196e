//! Why sandboxes ended: what sandtop was about to do to them, and the causes of death that were found.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};

use super::runs::{number, time};
use super::{Moment, Store};
use crate::domain::{Death, Owner, SandboxId};
use crate::protocol::Failure;

/// What sandtop was about to do to a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleIntent {
    /// The verb: `stop`, `kill`, `remove`, `reap`…
    pub action: String,
    /// Why, for `reap`.
    pub reason: String,
    /// Which process.
    pub by: Owner,
    /// When.
    pub at: DateTime<Utc>,
}

/// The word of an intent that keeps new runs out.
const REAP: &str = "reap";

/// How a claim ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The sandbox is ours to remove; new runs are refused.
    Granted,
    /// It was used since it was looked at.
    Used,
    /// Another reaper was faster.
    Taken(LifecycleIntent),
}

impl LifecycleIntent {
    /// Tells whether this keeps others from a sandbox, as long as whoever claimed it lives. Time does not end a claim:
    /// engines may be slow, and clocks jump.
    pub(super) fn is_claim(&self) -> bool {
        self.action == REAP
    }
}

impl Store {
    /// Records what is about to be done to a sandbox.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn intend(
        &self,
        place: &str,
        sandbox: &SandboxId,
        intent: &LifecycleIntent,
    ) -> Result<(), Failure> {
        let (place, sandbox) = (place.to_owned(), sandbox.clone());
        let intent = intent.clone();
        self.ask(move |db| put_intent(db, &place, &sandbox, &intent))
            .await
    }

    /// Claims a sandbox for reaping: at once no run may begin in it, unless one has, or it was used since `seen`.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn claim(
        &self,
        place: &str,
        sandbox: &SandboxId,
        intent: &LifecycleIntent,
        seen: Option<&Moment>,
    ) -> Result<Claim, Failure> {
        let (place, sandbox) = (place.to_owned(), sandbox.clone());
        let (intent, seen) = (intent.clone(), seen.cloned());
        self.ask(move |db| {
            let turn = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            let other = intent_of(&turn, &[place.clone(), sandbox.as_str().to_owned()])?;
            if let Some(other) = other.filter(LifecycleIntent::is_claim) {
                return Ok(Claim::Taken(other));
            }
            let keys = [place.as_str(), sandbox.as_str()];
            let sql =
                "SELECT count(*) FROM runs WHERE place = ?1 AND sandbox = ?2 AND status IS NULL";
            let runs: i64 = turn.query_row(sql, keys, |row| row.get(0))?;
            let sql = "SELECT boot, since_boot FROM uses WHERE place = ?1 AND sandbox = ?2";
            let known = turn.query_row(sql, keys, |row| Ok((row.get(0)?, row.get(1)?)));
            let known: Option<(String, i64)> = known.optional()?;
            let seen = seen
                .as_ref()
                .map(|seen| (seen.boot.clone(), seen.since_boot_ms));
            if runs > 0 || known != seen {
                return Ok(Claim::Used);
            }
            put_intent(&turn, &place, &sandbox, &intent)?;
            turn.commit()?;
            Ok(Claim::Granted)
        })
        .await
    }

    /// Gives up what was intended.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn withdraw_intent(&self, place: &str, sandbox: &SandboxId) -> Result<(), Failure> {
        self.forget(
            "DELETE FROM intents WHERE place = ?1 AND sandbox = ?2",
            place,
            sandbox,
        )
        .await
    }

    /// Reads what was intended.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn intent(
        &self,
        place: &str,
        sandbox: &SandboxId,
    ) -> Result<Option<LifecycleIntent>, Failure> {
        let keys = [place, sandbox.as_str()].map(str::to_owned);
        self.ask(move |db| intent_of(db, &keys)).await
    }

    /// Records how a sandbox ended; the first cause that was found of this end stands.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn record_death(
        &self,
        place: &str,
        sandbox: &SandboxId,
        name: &str,
        death: &Death,
    ) -> Result<(), Failure> {
        let values = [place, sandbox.as_str(), name].map(str::to_owned);
        let at = death.at.unwrap_or_else(Utc::now).timestamp_millis();
        let death = serde_json::to_string(death).unwrap_or_default();
        self.ask(move |db| {
            let [place, id, name] = &values;
            let sql = "INSERT OR IGNORE INTO deaths VALUES (?1, ?2, ?3, ?4, ?5, 1)";
            db.execute(sql, params![place, id, name, at, death])
                .map(drop)
        })
        .await
    }

    /// Records that a sandbox lives again: its end is history, and the next one has a cause of its own.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn revive(&self, place: &str, sandbox: &SandboxId) -> Result<(), Failure> {
        self.forget(
            "UPDATE deaths SET is_last = 0 WHERE place = ?1 AND sandbox = ?2 AND is_last",
            place,
            sandbox,
        )
        .await
    }

    /// Tells whether it is known how a sandbox that has not lived since ended.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn has_death(&self, place: &str, sandbox: &SandboxId) -> Result<bool, Failure> {
        let keys = [place, sandbox.as_str()].map(str::to_owned);
        let sql =
            "SELECT EXISTS(SELECT 1 FROM deaths WHERE place = ?1 AND sandbox = ?2 AND is_last)";
        self.ask(move |db| db.query_row(sql, keys.each_ref(), |row| row.get(0)))
            .await
    }

    /// Reads how sandboxes ended that have not lived since, with their names.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn deaths(
        &self,
        place: &str,
    ) -> Result<HashMap<SandboxId, (String, Death)>, Failure> {
        let sql = "SELECT sandbox, name, death FROM deaths WHERE place = ?1 AND is_last";
        let place = place.to_owned();
        let all = self.ask(move |db| read_deaths(db, sql, params![place]));
        let pairs = all.await?.into_iter();
        Ok(pairs.map(|(id, name, death)| (id, (name, death))).collect())
    }

    /// Reads every end since a moment, also of those that live again, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn deaths_since(
        &self,
        place: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<(SandboxId, String, Death)>, Failure> {
        let sql =
            "SELECT sandbox, name, death FROM deaths WHERE place = ?1 AND at >= ?2 ORDER BY at";
        let (place, since) = (place.to_owned(), since.timestamp_millis());
        self.ask(move |db| read_deaths(db, sql, params![place, since]))
            .await
    }

    /// Records that a process ends in order: what it made is no orphan.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn release(&self, owner: &Owner) -> Result<(), Failure> {
        let owner = owner.clone();
        self.ask(move |db| {
            let now = Utc::now().timestamp_millis();
            let sql = "INSERT OR IGNORE INTO released VALUES (?1, ?2, ?3, ?4)";
            let values = params![owner.host, owner.pid, number(owner.started), now];
            db.execute(sql, values).map(drop)
        })
        .await
    }

    /// Lists the processes that ended in order: host, pid and start.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn released(&self) -> Result<HashSet<(String, u32, u64)>, Failure> {
        self.ask(|db| {
            let mut statement = db.prepare("SELECT host, pid, start FROM released")?;
            let rows = statement.query_map([], |row| {
                let start: i64 = row.get(2)?;
                Ok((row.get(0)?, row.get(1)?, u64::try_from(start).unwrap_or(0)))
            })?;
            rows.collect()
        })
        .await
    }
}

/// Reads ends with the names of their sandboxes; one that nobody can read any more is left out.
fn read_deaths(
    db: &Connection,
    sql: &str,
    values: impl Params,
) -> rusqlite::Result<Vec<(SandboxId, String, Death)>> {
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query(values)?;
    let mut deaths = Vec::new();
    while let Some(row) = rows.next()? {
        let id = SandboxId::new(row.get::<_, String>(0)?);
        let text: String = row.get(2)?;
        if let Ok(death) = serde_json::from_str(&text) {
            deaths.push((id, row.get(1)?, death));
        }
    }
    Ok(deaths)
}

fn put_intent(
    db: &Connection,
    place: &str,
    sandbox: &SandboxId,
    intent: &LifecycleIntent,
) -> rusqlite::Result<()> {
    let by = serde_json::to_string(&intent.by).unwrap_or_default();
    let sql = "INSERT OR REPLACE INTO intents VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let at = intent.at.timestamp_millis();
    let values = params![
        place,
        sandbox.as_str(),
        intent.action,
        intent.reason,
        by,
        at
    ];
    db.execute(sql, values).map(drop)
}

/// Reads the intent for a place and a sandbox.
pub(super) fn intent_of(
    db: &Connection,
    keys: &[String; 2],
) -> rusqlite::Result<Option<LifecycleIntent>> {
    let sql = "SELECT action, reason, by, at FROM intents WHERE place = ?1 AND sandbox = ?2";
    let read = db.query_row(sql, keys.each_ref(), |row| {
        let by: String = row.get(2)?;
        Ok(serde_json::from_str(&by)
            .ok()
            .map(|by| (row.get(0), row.get(1), by, row.get(3))))
    });
    let Some((action, reason, by, at)) = read.optional()?.flatten() else {
        return Ok(None);
    };
    Ok(Some(LifecycleIntent {
        action: action?,
        reason: reason?,
        by,
        at: time(at?),
    }))
}

#[cfg(test)]
mod tests;
