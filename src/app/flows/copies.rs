//! Work on files in its turn: a few at a time, so that a hundred marked files fit through, and copies that can be cancelled.

use crate::app::intent::{ReplyTo, Work};
use crate::app::{AppState, Effect, Tone};
use crate::protocol::{Command, Copied, Failure, FailureKind, Reply};
use crate::text::human;

/// Work under way at once.
const AT_ONCE: usize = 4;

/// Books work on files and starts it when it is its turn.
pub(crate) fn queue(state: &mut AppState, command: Command, label: String) -> Vec<Effect> {
    state.transfers.queue.push_back((command, label));
    next(state)
}

/// Starts what waits, as far as there is room.
pub(crate) fn next(state: &mut AppState) -> Vec<Effect> {
    let mut effects = Vec::new();
    while state.pending.work().count() < AT_ONCE
        && let Some((command, label)) = state.transfers.queue.pop_front()
    {
        let work = match &command {
            Command::CopyIn { .. } => Work::CopyIn,
            Command::CopyOut { .. } => Work::CopyOut,
            _ => Work::Change,
        };
        effects.push(state.submit(command, &label, ReplyTo::FileWork(work)));
    }
    effects
}

/// Returns how many copies are under way or wait.
pub(crate) fn count(state: &AppState) -> usize {
    let is_copy = |(_, work): &(_, Work)| *work != Work::Change;
    state.pending.work().filter(is_copy).count() + state.transfers.queue.len()
}

/// Stops all copies; each says itself that it was cancelled.
pub(crate) fn cancel_all(state: &mut AppState) -> Vec<Effect> {
    if count(state) == 0 {
        state.say(Tone::Plain, "Nothing is being copied.");
        return Vec::new();
    }
    state.transfers.queue.clear();
    let under_way: Vec<_> = state.pending.work().collect();
    let copies = under_way
        .into_iter()
        .filter(|(_, work)| *work != Work::Change);
    copies
        .map(|(id, _)| state.submit(Command::CancelRequest(id), "", ReplyTo::Quiet))
        .collect()
}

/// Takes a reply: told where it is worth a word; the next starts, and the folder is listed again.
pub(crate) fn on_reply(
    state: &mut AppState,
    label: &str,
    work: Work,
    outcome: Result<Reply, Failure>,
) -> Vec<Effect> {
    match outcome {
        Ok(Reply::Copied(copied)) => tell_copied(state, label, &copied),
        Ok(_) => {}
        Err(failure) if failure.kind == FailureKind::Interrupted => {
            let words = format!("Called off: {label}. Nothing half-written is left.");
            state.say(Tone::Plain, words);
        }
        Err(failure) => state.complain(&failure),
    }
    go_on(state, work)
}

fn tell_copied(state: &mut AppState, label: &str, copied: &Copied) {
    let size = human::bytes(copied.bytes);
    let skipped = match copied.skipped {
        0 => String::new(),
        some => format!("; {some} devices, pipes or sockets were left out"),
    };
    let (tone, unreadable) = match copied.unreadable {
        0 => (Tone::Good, String::new()),
        some => (
            Tone::Bad,
            format!("; {some} could not be read and were left out"),
        ),
    };
    let words = format!("Done: {label}, {size}{skipped}{unreadable}.");
    state.say(tone, words);
}

fn go_on(state: &mut AppState, work: Work) -> Vec<Effect> {
    let effects = next(state);
    if work != Work::CopyOut {
        let intents = state.files.changed();
        state.want(intents);
    }
    effects
}

#[cfg(test)]
#[expect(clippy::panic, reason = "another command is a failed test")]
mod tests {
    use super::*;
    use crate::app::Intent;
    use crate::app::testing::{App, reference};
    use crate::domain::SandboxPath;
    use crate::protocol::FileOp;

    fn copy_out(number: usize) -> Intent {
        let command = Command::CopyOut {
            sandbox: reference("alpha"),
            from: SandboxPath::root(),
            to: format!("/x/{number}").into(),
            max_bytes: None,
        };
        Intent::FileWork {
            command,
            label: format!("copying out {number}"),
        }
    }

    fn copying(count: usize) -> App {
        let mut app = App::with(160, 48, &["alpha"]);
        let intents = (0..count).map(copy_out).collect();
        app.apply(intents);
        app
    }

    fn is_copy(command: &Command) -> bool {
        matches!(command, Command::CopyOut { .. })
    }

    #[test]
    fn many_copies_take_turns() {
        let mut app = copying(100);
        let mut started = 0;
        loop {
            let requests = app.requests();
            let copies = requests.iter().filter(|r| is_copy(&r.command)).count();
            if copies == 0 {
                break;
            }
            assert!(copies <= AT_ONCE);
            started += copies;
            app.effects.extend(requests.into_iter().map(Effect::Submit));
            app.answer(|command| is_copy(command).then_some(Ok(Reply::Copied(Copied::default()))));
        }
        assert_eq!(started, 100);
    }

    #[test]
    fn copies_are_cancelled_and_say_so() {
        let mut app = copying(6);
        app.requests();
        app.keys("4 X");
        let off = app.commands();
        let off: Vec<_> = off
            .iter()
            .filter(|c| matches!(c, Command::CancelRequest(_)))
            .collect();
        assert_eq!(off.len(), AT_ONCE);
        assert!(app.state.transfers.queue.is_empty());
        let Some(Command::CancelRequest(request)) = off.first() else {
            panic!("{off:?}");
        };
        let failure = Failure::new(FailureKind::Interrupted, "cancelled");
        let (request, outcome) = (*request, Err(failure));
        app.engine(crate::protocol::Event::Replied { request, outcome });
        assert!(
            app.screen().contains("Called off: copying out"),
            "{}",
            app.screen()
        );
    }

    #[test]
    fn nothing_to_cancel_is_told() {
        let mut app = copying(0);
        app.keys("4 X");
        assert!(app.screen().contains("Nothing is being copied."));
        let op = FileOp::MakeDir(SandboxPath::root());
        let sandbox = reference("alpha");
        queue(
            &mut app.state,
            Command::File { sandbox, op },
            "making x".into(),
        );
        assert_eq!(count(&app.state), 0);
    }
}
