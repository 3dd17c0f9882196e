//! Runs: written when they begin and when they end, read by every process.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::Store;
use super::deaths::{LifecycleIntent, intent_of};
use super::run_rows::run_of;
use crate::domain::{ExecId, LastEnd, Run, RunResult, SandboxId, Spooled, Tie};
use crate::protocol::{Failure, RunFilter};

const COLUMNS: &str = "id, host, sandbox, name, argv, language, code_name, code, source, session, started, detached, \
    owner_host, owner_pid, owner_start, owner_user, status, exit_code, signal, ended, took_ms, \
    peak_bytes, cpu_us, out_bytes, err_bytes, out_cut, err_cut";

/// Whether a run may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is on record.
    Recorded,
    /// The sandbox is being reaped; a run would be lost.
    Claimed(LifecycleIntent),
    /// As many detached runs go on in the sandbox as may.
    Full,
}

/// What looking for a run by the start of its id brought.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing.
    None,
    /// This one.
    One(Box<Run>),
    /// Several start so.
    Many,
}

impl Store {
    /// Records that a run begins; it is safe on disk before the run starts.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn begin_run(&self, place: &str, run: &Run) -> Result<Begun, Failure> {
        self.begin_within(place, run, usize::MAX).await
    }

    /// Records that a run begins unless `most` detached ones go on in its sandbox and it would be another.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn begin_within(
        &self,
        place: &str,
        run: &Run,
        most: usize,
    ) -> Result<Begun, Failure> {
        let (place, run) = (place.to_owned(), run.clone());
        let begun = self.ask(move |db| begin(db, &place, &run, most)).await;
        // What is added makes room necessary; and while a run starts, there is time for it.
        self.tidy();
        begun
    }

    /// Lists runs that ended since a moment, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn ended_since(
        &self,
        place: &str,
        since: DateTime<Utc>,
    ) -> Result<Vec<Run>, Failure> {
        let place = place.to_owned();
        self.ask(move |db| {
            let sql = format!(
                "SELECT {COLUMNS} FROM runs WHERE place = ?1 AND ended > ?2 ORDER BY ended LIMIT 1000"
            );
            let mut statement = db.prepare(&sql)?;
            let rows = statement.query_map(params![place, since.timestamp_millis()], run_of)?;
            rows.filter_map(Result::transpose).collect()
        })
        .await
    }

    /// Tells of each sandbox how its last run ended, where that was not well.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn last_ends(&self, place: &str) -> Result<HashMap<SandboxId, LastEnd>, Failure> {
        let place = place.to_owned();
        self.ask(move |db| last_ends(db, &place)).await
    }

    /// Records how a run ended, unless that is known already.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn end_run(
        &self,
        id: &ExecId,
        result: &RunResult,
        spooled: Option<Spooled>,
    ) -> Result<(), Failure> {
        let (id, result) = (id.clone(), result.clone());
        self.ask(move |db| finish(db, &id, &result, spooled)).await
    }

    /// Records that someone wants a run to end, so that its end is not taken for an accident.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn ask_cancel(&self, id: &ExecId) -> Result<(), Failure> {
        let id = id.clone();
        self.ask(move |db| {
            let sql = "UPDATE runs SET cancel_asked = 1 WHERE id = ?1 AND status IS NULL";
            db.execute(sql, [id.as_str()]).map(drop)
        })
        .await
    }

    /// Lists runs, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn runs(&self, place: &str, filter: &RunFilter) -> Result<Vec<Run>, Failure> {
        let (place, filter) = (place.to_owned(), filter.clone());
        self.ask(move |db| list(db, &place, &filter)).await
    }

    /// Finds a run by a unique start of its id.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn run(&self, place: &str, id: &str) -> Result<Found, Failure> {
        let (place, id) = (place.to_owned(), id.to_owned());
        self.ask(move |db| find(db, &place, &id)).await
    }

    /// Forgets the output of a sandbox's runs; the runs themselves stay in the history.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn forget_output(&self, place: &str, sandbox: &SandboxId) -> Result<(), Failure> {
        let (place, sandbox) = (place.to_owned(), sandbox.as_str().to_owned());
        let sql = "SELECT id FROM runs WHERE place = ?1 AND sandbox = ?2 AND code IS NULL";
        let ids = self
            .ask(move |db| texts(db, sql, [&place, &sandbox]))
            .await?;
        let Some(dir) = self.spools().map(std::path::Path::to_path_buf) else {
            return Ok(());
        };
        let removing = move || ids.iter().for_each(|id| super::spool::remove(&dir, id));
        let _ = tokio::task::spawn_blocking(removing).await;
        Ok(())
    }
}

fn texts(
    db: &Connection,
    sql: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map(values, |row| row.get(0))?;
    rows.collect()
}

fn begin(db: &Connection, place: &str, run: &Run, most: usize) -> rusqlite::Result<Begun> {
    let turn = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    let keys = [place, run.sandbox.id.as_str()].map(str::to_owned);
    let intent = intent_of(&turn, &keys)?;
    if let Some(claim) = intent.filter(LifecycleIntent::is_claim) {
        return Ok(Begun::Claimed(claim));
    }
    if run.tie == Tie::Detached && detached_under_way(&turn, &keys)? >= most as u64 {
        return Ok(Begun::Full);
    }
    insert(&turn, place, run)?;
    turn.commit()?;
    Ok(Begun::Recorded)
}

fn detached_under_way(db: &Connection, keys: &[String; 2]) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM runs WHERE place = ?1 AND sandbox = ?2 AND detached AND status IS NULL";
    db.query_row(sql, [&keys[0], &keys[1]], |row| row.get(0))
        .map(count)
}

fn last_ends(db: &Connection, place: &str) -> rusqlite::Result<HashMap<SandboxId, LastEnd>> {
    let sql = "SELECT sandbox, id, status, ended, exit_code FROM uses u JOIN runs r USING (place, sandbox) \
        WHERE place = ?1 AND r.id = (SELECT id FROM runs l WHERE l.place = u.place AND l.sandbox = u.sandbox \
        AND status IS NOT NULL ORDER BY started DESC LIMIT 1) AND status <> 'ok'";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([place], |row| {
        let end = LastEnd {
            run: row.get(1)?,
            cause: row.get(2)?,
            at: time(row.get(3)?),
            exit_code: row.get(4)?,
        };
        Ok((SandboxId::new(row.get::<_, String>(0)?), end))
    })?;
    rows.collect()
}

fn insert(db: &Connection, place: &str, run: &Run) -> rusqlite::Result<()> {
    let argv = serde_json::to_string(&run.argv).unwrap_or_default();
    let code = run.code.as_ref();
    // Doing it twice must not hurt; the store may be replaced in between.
    let sql = "INSERT OR IGNORE INTO runs (id, place, host, sandbox, name, argv, language, code_name, code, source, session, started, \
        detached, owner_host, owner_pid, owner_start, owner_user) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
    db.execute(
        sql,
        params![
            run.id.as_str(),
            place,
            run.sandbox.host.as_str(),
            run.sandbox.id.as_str(),
            run.name,
            argv,
            code.map(|code| &code.language),
            code.and_then(|code| code.name.as_ref()),
            code.map(|code| &code.text),
            run.source.word(),
            run.session,
            run.started_at.timestamp_millis(),
            run.tie == Tie::Detached,
            run.owner.host,
            run.owner.pid,
            number(run.owner.started),
            run.owner.user,
        ],
    )
    .map(drop)
}

fn finish(
    db: &Connection,
    id: &ExecId,
    result: &RunResult,
    spooled: Option<Spooled>,
) -> rusqlite::Result<()> {
    let spooled = spooled.unwrap_or_default();
    // The first word on an end stands; and what was asked to end was cancelled, however hard its end was.
    let sql = "UPDATE runs SET \
        status = CASE WHEN cancel_asked AND ?2 IN ('signal', 'lost') THEN 'cancelled' ELSE ?2 END, \
        exit_code = CASE WHEN cancel_asked AND ?2 IN ('signal', 'lost') THEN 130 ELSE ?3 END, \
        signal = ?4, ended = ?5, took_ms = ?6, peak_bytes = ?7, cpu_us = ?8, \
        out_bytes = max(out_bytes, ?9), err_bytes = max(err_bytes, ?10), \
        out_cut = max(out_cut, ?11), err_cut = max(err_cut, ?12) \
        WHERE id = ?1 AND status IS NULL";
    db.execute(
        sql,
        params![
            id.as_str(),
            result.end.word(),
            result.end.exit_code(),
            result.end.signal(),
            result.at.timestamp_millis(),
            millis(result.took),
            result.peak_memory_bytes.map(number),
            result
                .cpu_time
                .map(|time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX)),
            number(spooled.stdout),
            number(spooled.stderr),
            number(spooled.cut_stdout),
            number(spooled.cut_stderr),
        ],
    )
    .map(drop)
}

fn list(db: &Connection, place: &str, filter: &RunFilter) -> rusqlite::Result<Vec<Run>> {
    let open = if filter.under_way {
        "AND status IS NULL"
    } else {
        ""
    };
    let (of, wanted) = match &filter.sandbox {
        Some(wanted) => (
            "AND sandbox IN (SELECT DISTINCT sandbox FROM runs WHERE place = ?1 AND (name = ?2 OR sandbox GLOB ?3))",
            wanted.as_str(),
        ),
        None => ("AND (?2 = '' OR ?3 = '')", ""),
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE place = ?1 {open} {of} ORDER BY started DESC, id LIMIT ?4"
    );
    let mut statement = db.prepare(&sql)?;
    let values = params![place, wanted, starting_with(wanted), filter.limit];
    let rows = statement.query_map(values, run_of)?;
    rows.filter_map(Result::transpose).collect()
}

/// Writes the pattern of texts that start so; ids hold no special characters, and what a person types is not believed.
fn starting_with(text: &str) -> String {
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    if plain == text {
        format!("{plain}*")
    } else {
        String::new()
    }
}

fn find(db: &Connection, place: &str, id: &str) -> rusqlite::Result<Found> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1 AND place = ?2");
    let exact = db.query_row(&sql, [id, place], run_of).optional()?;
    if let Some(run) = exact.flatten() {
        return Ok(Found::One(Box::new(run)));
    }
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id GLOB ?1 AND place = ?2 LIMIT 2");
    let mut statement = db.prepare(&sql)?;
    let rows = statement.query_map([&starting_with(id), place], run_of)?;
    let mut found: Vec<Run> = rows
        .filter_map(Result::transpose)
        .collect::<rusqlite::Result<_>>()?;
    Ok(match (found.pop(), found.is_empty()) {
        (Some(run), true) => Found::One(Box::new(run)),
        (Some(_), false) => Found::Many,
        (None, _) => Found::None,
    })
}

pub(super) fn time(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap_or_default()
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn number(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

pub(super) fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
