//! Verbs that look into a sandbox or an engine: processes, changed files, images.

use serde_json::{Value, json};

use super::print::{self, Format, Outcome};
use super::session::unexpected;
use super::{CliContext, exit, views};
use crate::describe::changes_summary;
use crate::domain::{Change, Changes, FileKind, HostName, Image, Process};
use crate::protocol::{Command, Reply};
use crate::text::{Table, human, safe_line};

/// `top`.
pub(super) async fn top(cli: &mut CliContext, name: &str) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?.reference;
    let processes = match cli.session.ask(Command::Processes(sandbox)).await? {
        Reply::Processes(processes) => processes,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&processes.iter().map(process_value).collect::<Vec<_>>())?,
        Format::Text => print::line(&process_table(&processes).to_string())?,
    }
    Ok(exit::OK)
}

fn process_value(process: &Process) -> Value {
    json!({
        "pid": process.pid,
        "parent": process.parent,
        "user": process.user,
        "state": process.state,
        "cpu_percent": (process.cpu_percent() * 100.0).round() / 100.0,
        "cpu_time_ms": process.cpu_time.as_millis(),
        "memory_bytes": process.memory_bytes,
        "age_s": process.age.as_secs(),
        "command": process.command,
    })
}

fn process_table(processes: &[Process]) -> Table {
    let mut table = Table::new(&[
        "PID", "USER", "STATE", "CPU", "MEMORY", "TIME", "AGE", "COMMAND",
    ]);
    for process in processes {
        table.row(vec![
            process.pid.to_string(),
            safe_line(&process.user),
            process.state.to_string(),
            human::percent(process.cpu_percent()),
            human::bytes(process.memory_bytes),
            human::duration(process.cpu_time),
            human::age(process.age.as_secs()),
            safe_line(&process.command),
        ]);
    }
    table
}

/// `changes`.
pub(super) async fn changes(cli: &mut CliContext, name: &str) -> Outcome<u8> {
    let sandbox = cli.session.find(name).await?.reference;
    let changes = match cli.session.ask(Command::Changes(sandbox)).await? {
        Reply::Changes(changes) => changes,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&changes_value(&changes))?,
        Format::Text => {
            for change in &changes.files {
                print::line(&change_line(change))?;
            }
            for note in changes_summary(&changes) {
                print::note(&note);
            }
        }
    }
    Ok(exit::OK)
}

fn changes_value(changes: &Changes) -> Value {
    json!({
        "changes": changes.files.iter().map(change_value).collect::<Vec<_>>(),
        "left_out": changes.left_out,
        "looked_at": changes.looked_at,
        "gaps": changes.gaps,
    })
}

fn change_value(change: &Change) -> Value {
    let mut value = json!({"change": change.kind});
    if let Value::Object(fields) = &mut value {
        views::put_text(fields, "path", change.path.as_bytes());
        if let Some(now) = &change.now {
            fields.insert("kind".into(), json!(now.kind.word()));
            fields.insert("size".into(), json!(now.size));
            fields.insert("modified_at".into(), json!(views::time(now.modified_at)));
        }
    }
    value
}

fn change_line(change: &Change) -> String {
    let is_folder = |now: &crate::domain::ChangedFile| now.kind == FileKind::Directory;
    let slash = if change.now.as_ref().is_some_and(is_folder) {
        "/"
    } else {
        ""
    };
    let path = safe_line(change.path.as_bytes());
    format!("{} {path}{slash}", change.kind.letter())
}

/// `images`.
pub(super) async fn images(cli: &mut CliContext) -> Outcome<u8> {
    let host = cli.host.clone();
    let host = host.unwrap_or_else(|| HostName::new(super::HOST));
    let images = match cli.session.ask(Command::Images(host)).await? {
        Reply::Images(images) => images,
        other => return Err(unexpected(&other).into()),
    };
    match cli.format {
        Format::Json => print::json(&images)?,
        Format::Text if images.is_empty() => {
            print::note("No images. `sandtop create` pulls what it needs.");
        }
        Format::Text => print::line(&image_table(&images).to_string())?,
    }
    Ok(exit::OK)
}

fn image_table(images: &[Image]) -> Table {
    let mut table = Table::new(&["IMAGE", "SIZE", "CREATED"]);
    for image in images {
        let size = image.size_bytes.map(human::bytes);
        let created = image.created_at.map(|at| at.format("%Y-%m-%d").to_string());
        table.row(vec![
            safe_line(&image.name),
            size.unwrap_or_else(|| "-".to_owned()),
            created.unwrap_or_else(|| "-".to_owned()),
        ]);
    }
    table
}
