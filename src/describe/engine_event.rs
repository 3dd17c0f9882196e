//! What happened, beyond the one word for it.

use super::Mood;
use crate::domain::EngineEventKind;
use crate::text::safe_line;

/// Exit code of a first process that was asked to end.
const ASKED_TO_END: i64 = 143;

/// Says what the word leaves open: which command, which code, and why it died.
#[must_use]
pub fn happening_detail(what: &EngineEventKind) -> String {
    match what {
        EngineEventKind::Exec { command } => safe_line(command),
        EngineEventKind::ExecEnded { exit_code } => code(*exit_code),
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
        EngineEventKind::Death { cause, by } => {
            let by = by.as_ref().map(|by| format!(" by {by}"));
            safe_line(format!("{cause}{}", by.unwrap_or_default()))
        }
        EngineEventKind::Oom => "a process ran over the memory limit".to_owned(),
        EngineEventKind::Created
        | EngineEventKind::Started
        | EngineEventKind::Paused
        | EngineEventKind::Resumed
        | EngineEventKind::Stopped
        | EngineEventKind::Restarted
        | EngineEventKind::Removed => String::new(),
    }
}

fn code(exit_code: Option<i64>) -> String {
    exit_code.map_or_else(String::new, |code| format!("code {code}"))
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
pub fn happening_mood(what: &EngineEventKind) -> Mood {
    match what {
        EngineEventKind::Oom => Mood::Bad,
        EngineEventKind::Died {
            exit_code: Some(code),
        } if ![0, ASKED_TO_END].contains(code) => Mood::Bad,
        EngineEventKind::ExecEnded {
            exit_code: Some(code),
        } if *code != 0 => Mood::Warn,
        EngineEventKind::RunEnded { status, .. } if status == "ok" => Mood::Plain,
        EngineEventKind::RunEnded { status, .. } if status == "oom" || status == "timeout" => {
            Mood::Bad
        }
        EngineEventKind::Killed { .. }
        | EngineEventKind::Died { .. }
        | EngineEventKind::Removed
        | EngineEventKind::RunEnded { .. }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_say_why() {
        let died = |code| EngineEventKind::Died {
            exit_code: Some(code),
        };
        assert_eq!(
            happening_detail(&died(137)),
            "code 137, killed or out of memory"
        );
        assert_eq!(happening_mood(&died(137)), Mood::Bad);
        assert_eq!(happening_mood(&died(143)), Mood::Warn);
        let hostile = EngineEventKind::Exec {
            command: "a\u{1b}[2Jb\nc".to_owned(),
        };
        let told = happening_detail(&hostile);
        assert!(!told.contains(['\u{1b}', '\n']), "{told:?}");
    }
}
