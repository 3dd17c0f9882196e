//! `runs`, `output` and `cancel`: the history of runs, and those of other processes.

use chrono::Utc;
use serde_json::{Map, Value, json};

use super::output::{Drawing, Kept, Writer};
use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::stream::{self, Follower, InputFrom, Output};
use super::{CliContext, exit, views};
use crate::domain::{ExecId, HostName, Run, Tie};
use crate::protocol::{Command, Reply, RunFilter, Upto};
use crate::text::{Table, human, safe_line};

/// `runs`.
pub(super) async fn list(
    cli: &mut CliContext,
    name: Option<&str>,
    under_way: bool,
    limit: u32,
) -> Outcome<u8> {
    // `HOST/NAME` is understood as everywhere.
    let sandbox = name.map(|name| name.rsplit('/').next().unwrap_or(name).to_owned());
    let filter = RunFilter {
        sandbox,
        under_way,
        limit,
    };
    let host = cli.host();
    let runs = match cli.session.ask(Command::Runs { host, filter }).await? {
        Reply::Runs(runs) => runs,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&runs.iter().map(view).collect::<Vec<_>>())?,
        Format::Text if runs.is_empty() => print::note("No runs yet."),
        Format::Text => print::line(&table(&runs).to_string())?,
    }
    Ok(exit::OK)
}

fn table(runs: &[Run]) -> Table {
    let mut table = Table::new(&[
        "RUN", "SANDBOX", "STATUS", "CODE", "TOOK", "PEAK", "AGO", "SOURCE", "WHAT",
    ]);
    for run in runs {
        table.row(cells(run));
    }
    table
}

fn cells(run: &Run) -> Vec<String> {
    let dash = || "-".to_owned();
    let result = run.result.as_ref();
    let ago = u64::try_from((Utc::now() - run.started_at).num_seconds()).unwrap_or(0);
    let code = result.and_then(|result| result.end.exit_code());
    let peak = result.and_then(|result| result.peak_memory_bytes);
    let line: String = safe_line(run.headline()).chars().take(60).collect();
    vec![
        run.id.to_string(),
        safe_line(&run.name),
        run.status().to_owned(),
        code.map_or_else(dash, |code| code.to_string()),
        result.map_or_else(dash, |result| human::duration(result.took)),
        peak.map_or_else(dash, human::bytes),
        human::age(ago),
        run.source.word().to_owned(),
        line,
    ]
}

/// Shapes a run.
pub(super) fn view(run: &Run) -> Value {
    Value::Object(fields(run))
}

/// Writes the fields of a run, without its output.
pub(super) fn fields(run: &Run) -> Map<String, Value> {
    let result = run.result.as_ref();
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let value = json!({
        "run": run.id,
        "sandbox": run.name,
        "sandbox_id": run.sandbox.id.as_str(),
        "host": run.sandbox.host,
        "status": run.status(),
        "exit_code": result.and_then(|result| result.end.exit_code()),
        "signal": result.and_then(|result| result.end.signal()),
        "command": run.argv,
        "name": run.code.as_ref().and_then(|code| code.name.as_ref()),
        "headline": run.headline(),
        "language": run.code.as_ref().map(|code| &code.language),
        "session": run.session,
        "source": run.source,
        "by": run.owner.in_full(),
        "detached": run.tie == Tie::Detached,
        "started_at": views::time(run.started_at),
        "ended_at": result.map(|result| views::time(result.at)),
        "duration_ms": result.map(|result| millis(result.took)),
        "peak_memory_bytes": result.and_then(|result| result.peak_memory_bytes),
        "cpu_time_ms": result.and_then(|result| result.cpu_time).map(millis),
        "bytes": {"stdout": run.spooled.stdout, "stderr": run.spooled.stderr},
        "truncated": {"stdout": run.spooled.cut_stdout, "stderr": run.spooled.cut_stderr},
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Finds the run that a person means.
pub(super) async fn find(cli: &mut CliContext, id: &str) -> Outcome<Run> {
    let (host, id) = (cli.host(), id.to_owned());
    match cli.session.ask(Command::FindRun { host, id }).await? {
        Reply::Run(run) => Ok(*run),
        other => Err(unexpected(&other).into()),
    }
}

/// `output`.
pub(super) async fn output(cli: &mut CliContext, id: &str, follow: bool) -> Outcome<u8> {
    let run = find(cli, id).await?;
    let upto = if follow { Upto::End } else { Upto::Now };
    let (host, stream) = (run.sandbox.host.clone(), cli.session.stream_id());
    let output = match cli.format {
        Format::Json if follow => Output::Lines,
        Format::Json => Output::Kept(Kept::new(cli.config.json_limit)),
        Format::Text => Output::Through(Writer::new(Drawing::Text)),
    };
    let command = Command::ReadRun {
        host: host.clone(),
        run: run.id.clone(),
        stream,
        upto,
    };
    cli.session.ask(command).await?;
    let followed = Follower::new(&mut cli.session, stream, output, InputFrom::Nothing)
        .follow(false)
        .await?;
    match &followed.output {
        Output::Kept(kept) => show(cli, host, &run.id, Some(kept)).await?,
        Output::Lines => show(cli, host, &run.id, None).await?,
        Output::Through(_) => {
            stream::finish(followed).await?;
        }
    }
    Ok(exit::OK)
}

async fn show(cli: &mut CliContext, host: HostName, id: &ExecId, kept: Option<&Kept>) -> Outcome {
    let id = id.to_string();
    let run = match cli.session.ask(Command::FindRun { host, id }).await? {
        Reply::Run(run) => run,
        other => return Err(unexpected(&other).into()),
    };
    let mut fields = fields(&run);
    if let Some(kept) = kept {
        kept.put(&mut fields);
    }
    print::json(&Value::Object(fields))
}

/// `cancel`.
pub(super) async fn cancel(cli: &mut CliContext, id: &str) -> Outcome<u8> {
    cli.refuse_if_read_only("cancelling a run")?;
    let run = find(cli, id).await?;
    let (host, run) = (run.sandbox.host, run.id);
    let cancelled = match cli.session.ask(Command::CancelRun { host, run }).await? {
        Reply::Run(run) => run,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&view(&cancelled))?,
        Format::Text => print::line(&format!("{} {}", cancelled.id, cancelled.status()))?,
    }
    Ok(exit::OK)
}
