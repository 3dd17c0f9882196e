//! What happened, beyond the one word for it.

use super::Mood;
use crate::domain::EngineEventKind;
use crate::text::safe_line;

/// Exit code of a first process that was asked to end.
const ASKED_TO_END: i64 = 143;

/// Says what the word leaves open: which command, which code, and why it died.
#[must_use]
pub fn event_detail(what: &EngineEventKind) -> String {
    match what {
        EngineEventKind::Exec {
            command,
            status,
            exit_code,
            ..
        } => exec(command, status.as_deref(), *exit_code),
        EngineEventKind::ExecEnded { exit_code, .. } => code(*exit_code),
        EngineEventKind::Died { exit_code } => cause(*exit_code),
        EngineEventKind::Killed { signal } => signal.as_ref().map_or_else(String::new, |signal| {
            format!("signal {}", safe_line(signal))
        }),
        EngineEventKind::RunEnded {
            run,
            status,
            exit_code,
        } => {
            let code = code(exit_code.map(i64::from));
            safe_line(format!("{run} {status} {code}").trim_end())
        }
        EngineEventKind::Death {
            cause,
            by,
            exit_code,
        } => death_words(cause, by.as_deref(), *exit_code),
        EngineEventKind::Removed { by: Some(by) } => safe_line(format!("by {by}")),
        EngineEventKind::Oom => "a process ran over the memory limit".to_owned(),
        EngineEventKind::PidsLimit { refused: 1 } => {
            "the kernel refused a process at the limit".to_owned()
        }
        EngineEventKind::PidsLimit { refused } => {
            format!("the kernel refused {refused} processes at the limit")
        }
        EngineEventKind::Created
        | EngineEventKind::Started
        | EngineEventKind::Paused
        | EngineEventKind::Resumed
        | EngineEventKind::Stopped
        | EngineEventKind::Restarted
        | EngineEventKind::Removed { by: None } => String::new(),
    }
}

fn code(exit_code: Option<i64>) -> String {
    exit_code.map_or_else(String::new, |code| format!("code {code}"))
}

/// Says what a command was, and once it has ended how.
fn exec(command: &str, status: Option<&str>, exit_code: Option<i64>) -> String {
    let end = match (status, exit_code) {
        (None, None) => String::new(),
        (None | Some("nonzero"), _) => format!(": {}", code(exit_code)),
        (Some(status), _) => format!(": {status}"),
    };
    safe_line(format!("{command}{end}"))
}

/// Says how a sandbox ended and by whose hand, to follow its name.
#[must_use]
pub fn death_words(cause: &str, by: Option<&str>, exit_code: Option<i64>) -> String {
    let who = by.unwrap_or("another tool");
    let with_code = |words: &str| match exit_code {
        Some(code) => format!("{words}, code {code}"),
        None => words.to_owned(),
    };
    safe_line(match cause {
        "removed" | "stopped" | "killed" => format!("was {cause} by {who}"),
        "removed_outside" => "was removed by another tool".to_owned(),
        "stopped_outside" => "was stopped by another tool".to_owned(),
        "killed_outside" => "was killed by another tool".to_owned(),
        "idle" => format!("was reaped by {who}: nobody used it"),
        "orphan" => format!("was reaped by {who}: its owner died"),
        "exit" => with_code("ended by itself"),
        "signal" => with_code("was ended by a signal from inside"),
        "oom" => "ran out of memory".to_owned(),
        "image" => with_code("could not run its image"),
        "error" => with_code("ended by a fault of the engine"),
        "engine_restart" => "ended with its engine".to_owned(),
        "vanished" => "is gone, and nobody remembers why".to_owned(),
        other => with_code(other),
    })
}

fn cause(exit_code: Option<i64>) -> String {
    let reason = match exit_code {
        Some(0) => ", ended by itself or on request",
        Some(ASKED_TO_END) => ", asked to end",
        Some(137) => ", killed or out of memory",
        _ => "",
    };
    format!("{}{reason}", code(exit_code))
}

/// Tells how it should strike the reader.
#[must_use]
pub fn event_mood(what: &EngineEventKind) -> Mood {
    match what {
        EngineEventKind::Oom | EngineEventKind::PidsLimit { .. } => Mood::Bad,
        EngineEventKind::Died {
            exit_code: Some(code),
        } if ![0, ASKED_TO_END].contains(code) => Mood::Bad,
        EngineEventKind::ExecEnded {
            exit_code: Some(code),
            ..
        } if *code != 0 => Mood::Warn,
        EngineEventKind::RunEnded { status, .. }
        | EngineEventKind::Exec {
            status: Some(status),
            ..
        } => run_mood(status),
        EngineEventKind::Exec {
            exit_code: Some(code),
            ..
        } if *code != 0 => Mood::Warn,
        EngineEventKind::Death { cause, .. } if cause == "oom" => Mood::Bad,
        EngineEventKind::Killed { .. }
        | EngineEventKind::Died { .. }
        | EngineEventKind::Removed { .. }
        | EngineEventKind::Death { .. } => Mood::Warn,
        EngineEventKind::Created
        | EngineEventKind::Started
        | EngineEventKind::Resumed
        | EngineEventKind::Restarted => Mood::Good,
        EngineEventKind::Exec { .. }
        | EngineEventKind::ExecEnded { .. }
        | EngineEventKind::Paused
        | EngineEventKind::Stopped => Mood::Plain,
    }
}

fn run_mood(status: &str) -> Mood {
    match status {
        "ok" => Mood::Plain,
        "oom" | "timeout" => Mood::Bad,
        _ => Mood::Warn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_runs_are_told_in_one_line() {
        let removed = EngineEventKind::Death {
            cause: "removed".to_owned(),
            by: Some("uid 0 (cli)".to_owned()),
            exit_code: Some(137),
        };
        assert_eq!(event_detail(&removed), "was removed by uid 0 (cli)");
        let ran = |status: &str, exit_code| EngineEventKind::Exec {
            command: "make".to_owned(),
            exec: None,
            status: Some(status.to_owned()),
            exit_code,
        };
        assert_eq!(event_detail(&ran("nonzero", Some(3))), "make: code 3");
        assert_eq!(event_detail(&ran("timeout", None)), "make: timeout");
        assert_eq!(event_mood(&ran("timeout", None)), Mood::Bad);
    }

    #[test]
    fn ends_say_why() {
        let died = |code| EngineEventKind::Died {
            exit_code: Some(code),
        };
        assert_eq!(
            event_detail(&died(137)),
            "code 137, killed or out of memory"
        );
        assert_eq!(event_mood(&died(137)), Mood::Bad);
        assert_eq!(event_mood(&died(143)), Mood::Warn);
        let hostile = EngineEventKind::exec("a\u{1b}[2Jb\nc".to_owned(), None);
        let told = event_detail(&hostile);
        assert!(!told.contains(['\u{1b}', '\n']), "{told:?}");
    }
}
