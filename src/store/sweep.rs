//! Retention: what is too old goes, and then the oldest until the rest is small enough.

use std::path::Path;

use chrono::{TimeDelta, Utc};
use rusqlite::{Connection, params};

use super::spool;
use crate::domain::Retention;

/// Milliseconds between two sweeps, by whatever process.
const INTERVAL: i64 = 3_600_000;
/// Runs that one sweep removes at most, so that nobody waits for it.
const AT_ONCE: u32 = 5_000;

/// Sweeps, if nobody did lately.
pub(super) fn sweep(
    db: &Connection,
    spools: Option<&Path>,
    keep: Retention,
) -> rusqlite::Result<()> {
    let now = Utc::now();
    let sql = "INSERT INTO notes VALUES ('swept', ?1) ON CONFLICT DO UPDATE SET value = excluded.value \
        WHERE abs(excluded.value - notes.value) > ?2";
    if db.execute(sql, [now.timestamp_millis(), INTERVAL])? == 0 {
        return Ok(());
    }
    let oldest = (now - TimeDelta::days(i64::from(keep.days))).timestamp_millis();
    let sql = "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE started < ?1 AND status IS NOT NULL LIMIT ?2) RETURNING id";
    remove(db, spools, sql, params![oldest, AT_ONCE])?;
    // Newest first, until what is kept of them is too much; what comes after that goes.
    let sql = "DELETE FROM runs WHERE id IN (SELECT id FROM (SELECT id, status, started, \
        sum(out_bytes - out_cut + err_bytes - err_cut) OVER (ORDER BY started DESC, id) AS upto FROM runs) \
        WHERE upto > ?1 AND status IS NOT NULL ORDER BY started LIMIT ?2) RETURNING id";
    remove(
        db,
        spools,
        sql,
        params![super::runs::number(keep.total_bytes), AT_ONCE],
    )?;
    for sql in [
        "DELETE FROM deaths WHERE at < ?1",
        "DELETE FROM refusals WHERE last < ?1",
        "DELETE FROM uses WHERE last < ?1",
        "DELETE FROM intents WHERE at < ?1",
        "DELETE FROM released WHERE at < ?1",
    ] {
        db.execute(sql, [oldest])?;
    }
    Ok(())
}

fn remove(
    db: &Connection,
    spools: Option<&Path>,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare(sql)?;
    let ids: Vec<String> = statement
        .query_map(values, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    if let Some(dir) = spools {
        for id in &ids {
            spool::remove(dir, id);
        }
    }
    Ok(())
}
