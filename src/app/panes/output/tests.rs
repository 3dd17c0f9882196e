//! Flows: actions in, intents and places out.

use bytes::Bytes;
use chrono::TimeDelta;

use super::*;
use crate::app::{Effect, ReplyTo};
use crate::app::{Intent, Prompt, PromptKind, Tone};
use crate::domain::{Ended, HostName, SandboxId, SandboxRef, StreamKind};
use crate::keymap::Action;
use crate::protocol::{Command, FailureKind};

mod selecting;

const PAGE: usize = 5;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_323_045, 0).unwrap_or_default()
}

fn info(stream: u64) -> RunInfo {
    RunInfo {
        stream: StreamId(stream),
        exec: ExecId::new("x1"),
        hold: Hold::Own,
        sandbox: SandboxRef::new(HostName::new("local"), SandboxId::new("a")),
        sandbox_name: "py".to_owned(),
        title: format!("run {stream}"),
        started: now(),
    }
}

fn chunk(stream: StreamKind, text: &str) -> OutputChunk {
    OutputChunk {
        stream,
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    }
}

/// A pane with one run that goes on and wrote this.
fn with(text: &str) -> OutputState {
    let mut state = OutputState::new();
    state.open(info(1));
    state.push(StreamId(1), &chunk(StreamKind::Stdout, text), now());
    state.resize(11, PAGE);
    state
}

fn numbered(count: usize) -> String {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n}\n")).collect();
    lines.concat()
}

fn act(state: &mut OutputState, actions: &[Action]) -> Vec<Intent> {
    let intents = actions
        .iter()
        .map(|&action| state.on_action(action, PAGE, now()));
    intents.flatten().collect()
}

fn top(state: &OutputState) -> (u64, usize) {
    let top = state.current().map(|run| run.top(state.shape()));
    top.map_or((u64::MAX, 0), |spot| (spot.line, spot.row))
}

fn is_following(state: &OutputState) -> bool {
    state.current().is_some_and(Run::is_following)
}

fn texts(state: &OutputState) -> Vec<String> {
    let text = state.current().map(Run::text).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn end(state: &mut OutputState, stream: u64, ended: Ended) {
    state.end(
        StreamId(stream),
        &Ok(ExecEnd::bare(ended)),
        Duration::from_secs(1),
    );
}

fn asks(kind: PromptKind, label: &str, start: &str) -> Intent {
    Intent::Ask(Prompt {
        kind,
        label: label.to_owned(),
        start: start.to_owned(),
    })
}

fn toasts(intents: &[Intent]) -> bool {
    matches!(intents, [Intent::Toast(Tone::Plain, _)])
}

#[test]
fn scrolling_up_pauses_and_the_bottom_resumes() {
    let mut state = with(&numbered(20));
    assert_eq!(top(&state), (15, 0));
    act(&mut state, &[Action::Up]);
    assert_eq!((top(&state), is_following(&state)), ((14, 0), false));
    let more = chunk(StreamKind::Stdout, "more\n");
    state.push(StreamId(1), &more, now());
    assert_eq!(top(&state), (14, 0));
    act(&mut state, &[Action::PageUp]);
    assert_eq!(top(&state), (9, 0));
    act(
        &mut state,
        &[Action::PageDown, Action::PageDown, Action::PageDown],
    );
    assert_eq!((top(&state), is_following(&state)), ((16, 0), false));
    act(&mut state, &[Action::Top, Action::Up, Action::Down]);
    assert_eq!(top(&state), (1, 0));
    act(&mut state, &[Action::Bottom]);
    assert_eq!((top(&state), is_following(&state)), ((16, 0), true));
    act(&mut state, &[Action::Follow]);
    assert!(!is_following(&state));
    act(&mut state, &[Action::Follow]);
    state.scroll(-3, PAGE);
    assert_eq!((top(&state), is_following(&state)), ((13, 0), false));
}

#[test]
fn what_fits_does_not_pause() {
    let mut state = with("a\nb\n");
    act(&mut state, &[Action::Up, Action::PageUp, Action::Down]);
    assert_eq!((top(&state), is_following(&state)), ((0, 0), true));
    act(&mut OutputState::new(), Action::ALL);
}

#[test]
fn wrapped_lines_scroll_by_rows() {
    // Ten columns for the text: three rows, one row, two rows.
    let mut state = with("aaaaaaaaaabbbbbbbbbbcc\nshort\nddddddddddee\n");
    assert_eq!(top(&state), (0, 0));
    act(&mut state, &[Action::Wrap]);
    assert_eq!(top(&state), (0, 1));
    act(&mut state, &[Action::Up]);
    assert_eq!(top(&state), (0, 0));
    act(&mut state, &[Action::Down]);
    assert_eq!(top(&state), (0, 1));
    state.scroll(2, 2);
    assert_eq!(top(&state), (1, 0));
}

#[test]
fn a_place_whose_lines_are_dropped_moves_to_what_is_kept() {
    let mut state = with(&numbered(20));
    act(&mut state, &[Action::Top]);
    let more = chunk(StreamKind::Stdout, &numbered(MOST_LINES));
    state.push(StreamId(1), &more, now());
    assert_eq!(top(&state), (20, 0));
    assert_eq!(
        texts(&state).first().map(String::as_str),
        Some("… 20 lines dropped")
    );
}

#[test]
fn streams_keep_their_own_open_lines() {
    let mut state = with("out ");
    let later = now() + TimeDelta::seconds(5);
    state.push(StreamId(1), &chunk(StreamKind::Stderr, "err\nhalf"), later);
    assert_eq!(texts(&state), ["out ", "err", "half"]);
    state.push(StreamId(1), &chunk(StreamKind::Stdout, "put\n"), later);
    assert_eq!(texts(&state), ["out put", "err", "half"]);
    let line = state.current().and_then(|run| run.line(0));
    assert_eq!(line.map(|line| line.at), Some(now()));
    end(&mut state, 1, Ended::Code(0));
    assert_eq!((texts(&state).len(), state.running()), (3, 0));
}

#[test]
fn tabs_turn_around_and_only_ended_runs_close() {
    let mut state = OutputState::new();
    (1..=3).for_each(|stream| state.open(info(stream)));
    let selected = |state: &OutputState| state.current().map(|run| run.info().stream.0);
    assert_eq!(selected(&state), Some(3));
    act(&mut state, &[Action::NextTab]);
    assert_eq!(selected(&state), Some(1));
    act(&mut state, &[Action::PreviousTab, Action::PreviousTab]);
    assert_eq!(selected(&state), Some(2));
    assert!(toasts(&act(&mut state, &[Action::CloseRun])));
    end(&mut state, 2, Ended::Code(3));
    assert_eq!(act(&mut state, &[Action::CloseRun]), []);
    assert_eq!((selected(&state), state.running()), (Some(3), 2));
    end(&mut state, 3, Ended::Lost);
    act(&mut state, &[Action::CloseRun]);
    assert_eq!(selected(&state), Some(1));
}

#[test]
fn twenty_finished_runs_are_kept() {
    let mut state = OutputState::new();
    state.open(info(0));
    for stream in 1..=30 {
        state.open(info(stream));
        end(&mut state, stream, Ended::Code(0));
    }
    assert_eq!(state.runs().len(), 21);
    assert!(state.find(StreamId(0)).is_some() && state.find(StreamId(10)).is_none());
    assert!(state.find(StreamId(11)).is_some());
}

#[test]
fn cancelling_asks_first() {
    let mut state = with("");
    let expected = Intent::Confirm {
        question: "Stop run 1 in py? All its processes are killed.".to_owned(),
        button: "Stop it".to_owned(),
        then: vec![Intent::Submit {
            command: Command::Cancel(StreamId(1)),
            label: "stopping run 1".to_owned(),
            reply_to: ReplyTo::Quiet,
        }],
    };
    assert_eq!(act(&mut state, &[Action::CancelRun]), [expected]);
    end(&mut state, 1, Ended::Cancelled);
    assert!(toasts(&act(&mut state, &[Action::CancelRun])));
}

#[test]
fn input_goes_to_the_run_that_was_asked_for() {
    let mut state = with("");
    let question = asks(PromptKind::SendInput, "Input for run 1", "");
    assert_eq!(act(&mut state, &[Action::SendInput]), [question]);
    state.open(info(2));
    let sent = state.answer(&PromptKind::SendInput, "yes");
    let expected = Intent::Submit {
        command: Command::Input {
            stream: StreamId(1),
            bytes: Bytes::from_static(b"yes\n"),
        },
        label: "sending input to run 1".to_owned(),
        reply_to: ReplyTo::Quiet,
    };
    assert_eq!(sent, [expected]);
    end(&mut state, 2, Ended::Code(0));
    assert!(toasts(&act(&mut state, &[Action::SendInput])));
}

#[test]
fn saving_proposes_a_name_and_writes_plain_text() {
    let mut state = with("\x1b[31mred\x1b[0m\n10%\r20%");
    let start = "py-run_1-20260102-030405.txt";
    let question = asks(PromptKind::SaveOutput, "Save output to", start);
    assert_eq!(act(&mut state, &[Action::SaveOutput]), [question]);
    let saved = state.answer(&PromptKind::SaveOutput, " out.txt ");
    let expected = Intent::Effect(Effect::SaveLocal {
        path: "out.txt".to_owned(),
        bytes: b"red\n20%\n".as_slice().into(),
        replace: false,
    });
    assert_eq!(saved, [expected]);
    assert!(toasts(&state.answer(&PromptKind::SaveOutput, " ")));
}

#[test]
fn lines_stand_where_their_first_byte_came() {
    let mut state = with("age? ");
    let error = |text: &str| chunk(StreamKind::Stderr, text);
    state.push(StreamId(1), &error("Traceback\n  File"), now());
    assert_eq!(texts(&state), ["age? ", "Traceback", "  File"]);
    // The open line goes on where it is, and then ends; what follows is below.
    let out = |text: &str| chunk(StreamKind::Stdout, text);
    state.push(StreamId(1), &out("0"), now());
    assert_eq!(texts(&state), ["age? 0", "Traceback", "  File"]);
    state.push(StreamId(1), &out("\rAGE\nlast"), now());
    assert_eq!(texts(&state), ["AGE? 0", "Traceback", "  File", "last"]);
    state.push(StreamId(1), &error(" 6\n"), now());
    let whole = ["AGE? 0", "Traceback", "  File 6", "last"];
    assert_eq!(texts(&state), whole);
    end(&mut state, 1, Ended::Code(1));
    assert_eq!(texts(&state), whole);
}

#[test]
fn what_is_not_kept_here_is_not_passed_over_in_silence() {
    let mut state = with(&(numbered(12_000) + "the last\n"));
    let intents = state.answer(&PromptKind::SearchOutput, "nowhere");
    let words = "`nowhere` is not in the last 10 000 of 12 001 lines; `sandtop output x1` has what was kept of all.";
    assert_eq!(intents, [Intent::Toast(Tone::Plain, words.to_owned())]);
    let asked = act(&mut state, &[Action::SaveOutput]);
    let label = "Save the last 10 000 of 12 001 lines to";
    assert!(
        matches!(asked.as_slice(), [Intent::Ask(prompt)] if prompt.label == label),
        "{asked:?}"
    );
    let saved = state.answer(&PromptKind::SaveOutput, "out.txt");
    let words = "Only the last 10 000 of 12 001 lines are saved";
    assert!(
        matches!(saved.as_slice(), [Intent::Effect(_), Intent::Toast(_, text)] if text.starts_with(words)),
        "{saved:?}"
    );
}

#[test]
fn searching_goes_around() {
    let mut state = with(&(numbered(20) + "the Error\n"));
    assert!(matches!(
        act(&mut state, &[Action::Filter]).as_slice(),
        [Intent::Ask(_)]
    ));
    let found = |state: &OutputState| state.current().and_then(Run::found);
    assert_eq!(state.answer(&PromptKind::SearchOutput, "line 3"), []);
    assert_eq!((found(&state), top(&state)), (Some(3), (1, 0)));
    state.answer(&PromptKind::SearchOutput, "line 1");
    assert_eq!((found(&state), top(&state)), (Some(1), (1, 0)));
    act(&mut state, &[Action::NextMatch]);
    assert_eq!((found(&state), top(&state)), (Some(10), (8, 0)));
    act(&mut state, &[Action::PreviousMatch, Action::PreviousMatch]);
    assert_eq!(found(&state), Some(19));
    assert_eq!(
        act(&mut state, &[Action::Copy]),
        [Intent::Copy("line 19".to_owned())]
    );
    state.answer(&PromptKind::SearchOutput, "error");
    assert_eq!(found(&state), Some(20));
    assert!(toasts(&state.answer(&PromptKind::SearchOutput, "ERROR")));
    act(&mut state, &[Action::Back]);
    assert!(state.search().is_none() && found(&state).is_none());
}

#[test]
fn copies_the_top_line_or_all() {
    let mut state = with(&numbered(7));
    assert_eq!(
        act(&mut state, &[Action::Copy]),
        [Intent::Copy("line 2".to_owned())]
    );
    assert_eq!(
        act(&mut state, &[Action::CopyAll]),
        [Intent::Copy(numbered(7))]
    );
    assert!(toasts(&act(&mut with(""), &[Action::Copy])));
}

#[test]
fn failures_and_strangers_do_no_harm() {
    let mut state = with("x");
    let failure = Failure::new(FailureKind::Unreachable, "gone");
    state.end(StreamId(1), &Err(failure), Duration::ZERO);
    let words = state.current().map(|run| run.status().words());
    assert_eq!(words.as_deref(), Some("failed: gone"));
    end(&mut state, 9, Ended::Code(0));
    assert_eq!(texts(&state), ["x"]);
    assert_eq!(state.answer(&PromptKind::Upload, "x"), []);
}
