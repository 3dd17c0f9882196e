//! Last use and pins of sandboxes.

use std::collections::{HashMap, HashSet};

use rusqlite::{Transaction, TransactionBehavior, params};

use super::{Moment, Store};
use crate::domain::SandboxId;
use crate::protocol::Failure;

/// Of two moments of one start of the machine the steady clock tells which is later, else the wall's.
const TOUCH: &str = "INSERT INTO uses VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET \
    name = CASE excluded.name WHEN '' THEN name ELSE excluded.name END, \
    last = excluded.last, boot = excluded.boot, since_boot = excluded.since_boot \
    WHERE CASE WHEN boot = excluded.boot THEN excluded.since_boot > since_boot ELSE excluded.last > last END";

/// Everything that is remembered of the sandboxes of a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// Last use and name.
    pub uses: HashMap<SandboxId, (Moment, String)>,
    /// Those that are never reaped.
    pub pinned: HashSet<SandboxId>,
}

impl Store {
    /// Records that a sandbox is used; an earlier use than the one known changes nothing.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn touch(
        &self,
        place: &str,
        sandbox: &SandboxId,
        name: &str,
        at: Moment,
    ) -> Result<(), Failure> {
        let used = (sandbox.clone(), name.to_owned(), at);
        self.touch_all(place, vec![used]).await
    }

    /// Records that several sandboxes were used, as [`Self::touch`] does for one, at the price of one.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn touch_all(
        &self,
        place: &str,
        used: Vec<(SandboxId, String, Moment)>,
    ) -> Result<(), Failure> {
        let place = place.to_owned();
        self.ask(move |db| {
            let turn = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            let mut touch = turn.prepare(TOUCH)?;
            for (id, name, at) in &used {
                let millis = at.wall.timestamp_millis();
                touch.execute(params![
                    place,
                    id.as_str(),
                    name,
                    millis,
                    at.boot,
                    at.since_boot_ms
                ])?;
            }
            drop(touch);
            turn.commit()
        })
        .await
    }

    /// Reads last uses and pins.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn memory(&self, place: &str) -> Result<Memory, Failure> {
        let place = place.to_owned();
        self.ask(move |db| {
            let mut memory = Memory::default();
            let sql = "SELECT sandbox, name, last, boot, since_boot FROM uses WHERE place = ?1";
            let mut statement = db.prepare(sql)?;
            let mut rows = statement.query([&place])?;
            while let Some(row) = rows.next()? {
                let moment = Moment {
                    wall: super::runs::time(row.get(2)?),
                    boot: row.get(3)?,
                    since_boot_ms: row.get(4)?,
                };
                let id = SandboxId::new(row.get::<_, String>(0)?);
                memory.uses.insert(id, (moment, row.get(1)?));
            }
            let mut statement = db.prepare("SELECT sandbox FROM pins WHERE place = ?1")?;
            let mut rows = statement.query([&place])?;
            while let Some(row) = rows.next()? {
                memory
                    .pinned
                    .insert(SandboxId::new(row.get::<_, String>(0)?));
            }
            Ok(memory)
        })
        .await
    }

    /// Exempts a sandbox from reaping.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn pin(&self, place: &str, sandbox: &SandboxId, by: &str) -> Result<(), Failure> {
        let values = [place, sandbox.as_str(), by].map(str::to_owned);
        self.ask(move |db| {
            let [place, id, by] = &values;
            let now = chrono::Utc::now().timestamp_millis();
            let sql = "INSERT OR IGNORE INTO pins VALUES (?1, ?2, ?3, ?4)";
            db.execute(sql, params![place, id, now, by]).map(drop)
        })
        .await
    }

    /// Lets a sandbox be reaped again.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn unpin(&self, place: &str, sandbox: &SandboxId) -> Result<(), Failure> {
        self.forget(
            "DELETE FROM pins WHERE place = ?1 AND sandbox = ?2",
            place,
            sandbox,
        )
        .await
    }

    /// Forgets last use and pin of a sandbox that is gone.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn forget_use(&self, place: &str, sandbox: &SandboxId) -> Result<(), Failure> {
        self.unpin(place, sandbox).await?;
        self.forget(
            "DELETE FROM uses WHERE place = ?1 AND sandbox = ?2",
            place,
            sandbox,
        )
        .await
    }

    pub(super) async fn forget(
        &self,
        sql: &'static str,
        place: &str,
        sandbox: &SandboxId,
    ) -> Result<(), Failure> {
        let values = [place, sandbox.as_str()].map(str::to_owned);
        self.ask(move |db| db.execute(sql, values.each_ref()).map(drop))
            .await
    }
}
