//! Rows of the table of runs, read back.

use std::time::Duration;

use rusqlite::Row;

use super::runs::{count, time};
use crate::domain::{
    Code, ExecId, HostName, Owner, OwnerKind, Run, RunEnd, RunResult, SandboxId, SandboxRef,
    Source, Spooled, Tie,
};

/// Reads a row; one that a newer sandtop wrote in words we do not know is passed over.
pub(super) fn run_of(row: &Row<'_>) -> rusqlite::Result<Option<Run>> {
    let Some(source) = Source::parse(&row.get::<_, String>("source")?) else {
        return Ok(None);
    };
    let language: Option<String> = row.get("language")?;
    let text: Option<String> = row.get("code")?;
    let code_name: Option<String> = row.get("code_name")?;
    let detached: bool = row.get("detached")?;
    Ok(Some(Run {
        id: ExecId::new(row.get::<_, String>("id")?),
        sandbox: SandboxRef::new(
            HostName::new(row.get::<_, String>("host")?),
            SandboxId::new(row.get::<_, String>("sandbox")?),
        ),
        name: row.get("name")?,
        argv: serde_json::from_str(&row.get::<_, String>("argv")?).unwrap_or_default(),
        code: language.zip(text).map(|(language, text)| Code {
            language,
            name: code_name,
            text,
        }),
        source,
        session: row.get("session")?,
        started_at: time(row.get("started")?),
        owner: owner_of(row)?,
        tie: if detached {
            Tie::Detached
        } else {
            Tie::Attached
        },
        result: result_of(row)?,
        spooled: Spooled {
            stdout: count(row.get("out_bytes")?),
            stderr: count(row.get("err_bytes")?),
            cut_stdout: count(row.get("out_cut")?),
            cut_stderr: count(row.get("err_cut")?),
        },
    }))
}

fn owner_of(row: &Row<'_>) -> rusqlite::Result<Owner> {
    Ok(Owner {
        host: row.get("owner_host")?,
        pid: row.get("owner_pid")?,
        started: count(row.get("owner_start")?),
        user: row.get("owner_user")?,
        kind: OwnerKind::Cli,
    })
}

fn result_of(row: &Row<'_>) -> rusqlite::Result<Option<RunResult>> {
    let Some(status) = row.get::<_, Option<String>>("status")? else {
        return Ok(None);
    };
    let end = RunEnd::parse(&status, row.get("exit_code")?, row.get("signal")?);
    Ok(Some(RunResult {
        end: end.unwrap_or(RunEnd::Failed),
        at: time(row.get::<_, Option<i64>>("ended")?.unwrap_or_default()),
        took: Duration::from_millis(count(
            row.get::<_, Option<i64>>("took_ms")?.unwrap_or_default(),
        )),
        peak_memory_bytes: row.get::<_, Option<i64>>("peak_bytes")?.map(count),
        cpu_time: row
            .get::<_, Option<i64>>("cpu_us")?
            .map(|micros| Duration::from_micros(count(micros))),
    }))
}
