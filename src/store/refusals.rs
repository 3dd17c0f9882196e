//! When the kernel refused processes to sandboxes at their limit, and how many.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::Store;
use super::runs::{number, time};
use crate::domain::SandboxId;
use crate::protocol::Failure;

/// Refusals that follow one another this fast are one event, in milliseconds.
const ONE_EVENT: i64 = 60_000;

/// A time in which processes were refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusals {
    /// To which sandbox.
    pub sandbox: SandboxId,
    /// Its name then.
    pub name: String,
    /// When it was first seen.
    pub at: DateTime<Utc>,
    /// When it was last seen.
    pub last: DateTime<Utc>,
    /// How many were refused.
    pub refused: u64,
}

impl Store {
    /// Records what the kernel's counter of refusals says now; what several processes see is counted once.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn note_refusals(
        &self,
        place: &str,
        sandbox: &SandboxId,
        name: &str,
        counter: u64,
    ) -> Result<(), Failure> {
        let values = [place, sandbox.as_str(), name].map(str::to_owned);
        let now = Utc::now().timestamp_millis();
        self.ask(move |db| {
            let turn = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
            note(&turn, &values, number(counter), now)?;
            turn.commit()
        })
        .await
    }

    /// Reads the refusals that went on after a moment, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn refusals_since(
        &self,
        place: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<Refusals>, Failure> {
        let (place, since) = (place.to_owned(), since.timestamp_millis());
        self.ask(move |db| {
            let sql = "SELECT sandbox, name, at, last, refused FROM refusals WHERE place = ?1 AND last >= ?2 ORDER BY at";
            let mut statement = db.prepare(sql)?;
            let rows = statement.query_map(params![place, since], |row| {
                let refused: i64 = row.get(4)?;
                Ok(Refusals {
                    sandbox: SandboxId::new(row.get::<_, String>(0)?),
                    name: row.get(1)?,
                    at: time(row.get(2)?),
                    last: time(row.get(3)?),
                    refused: refused.unsigned_abs(),
                })
            })?;
            rows.collect()
        })
        .await
    }
}

fn note(
    db: &Connection,
    [place, id, name]: &[String; 3],
    counter: i64,
    now: i64,
) -> rusqlite::Result<()> {
    let sql = "SELECT at, last, counter FROM refusals WHERE place = ?1 AND sandbox = ?2 \
        ORDER BY at DESC LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let known: Option<(i64, i64, i64)> = db.query_row(sql, [place, id], read).optional()?;
    // A counter that went back is that of a new life.
    let before = known.map_or(0, |(.., before)| before);
    let more = if before > counter {
        counter
    } else {
        counter - before
    };
    if more == 0 {
        return Ok(());
    }
    let going_on = known.filter(|(_, last, _)| now - last < ONE_EVENT);
    let done = if let Some((at, ..)) = going_on {
        let sql = "UPDATE refusals SET last = ?4, refused = refused + ?5, counter = ?6 \
            WHERE place = ?1 AND sandbox = ?2 AND at = ?3";
        db.execute(sql, params![place, id, at, now, more, counter])
    } else {
        let sql = "INSERT OR REPLACE INTO refusals VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6)";
        db.execute(sql, params![place, id, name, now, more, counter])
    };
    done.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refusals_are_counted_once_and_a_new_life_counts_anew() {
        let (store, begun) = (Store::open(None), Utc::now());
        let id = SandboxId::new("a");
        let note = async |counter| store.note_refusals("here", &id, "box", counter).await;
        for counter in [0, 5, 5, 9, 2] {
            note(counter).await.expect("written");
        }
        let all = store.refusals_since("here", begun).await.expect("read");
        let counts: Vec<u64> = all.iter().map(|one| one.refused).collect();
        assert_eq!(counts, [11], "nine in one life and two in the next");
        let later = Utc::now() + chrono::TimeDelta::seconds(1);
        assert_eq!(store.refusals_since("here", later).await, Ok(Vec::new()));
    }
}
