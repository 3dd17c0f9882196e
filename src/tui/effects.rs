//! Does what the core asks for outside of it.

use std::io::{self, Write};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::recovery::Recovery;
use super::terminal;
use crate::app::{Effect, Msg};
use crate::manager::ManagerHandle;

/// Most bytes for the clipboard; terminals refuse more.
const CLIPBOARD: usize = 100_000;

/// What doing an effect led to.
pub(super) enum Done {
    /// Nothing more.
    Nothing,
    /// Something to tell the core.
    Tell(Msg),
    /// The screen must be drawn from scratch.
    Redraw(Option<Msg>),
    /// The program ends.
    Quit,
}

/// Does one effect.
pub(super) fn perform(
    effect: Effect,
    handle: &ManagerHandle,
    recovery: &Recovery,
    mouse: bool,
) -> Done {
    match effect {
        Effect::Submit(request) => match handle.submit(request) {
            Ok(()) => Done::Nothing,
            Err(busy) => Done::Tell(Msg::Busy(busy.0.id)),
        },
        Effect::Copy(text) => copy(&text),
        Effect::EditExternally { text, extension } => {
            Done::Redraw(Some(Msg::Edited(edit(&text, &extension, mouse))))
        }
        Effect::SaveLocal { path, bytes } => Done::Tell(Msg::SavedLocal(save(&path, &bytes))),
        Effect::Mouse(ours) => {
            let _ = terminal::set_mouse(ours);
            Done::Nothing
        }
        Effect::Suspend => suspend(mouse),
        Effect::Recovery(buffers) => {
            recovery.keep(&buffers);
            Done::Nothing
        }
        Effect::Quit => Done::Quit,
    }
}

/// Puts text on the clipboard by the terminal's own sequence; in tmux it is passed through.
fn copy(text: &str) -> Done {
    let text: String = text.chars().take(CLIPBOARD).collect();
    let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    let sequence = if std::env::var_os("TMUX").is_some() {
        format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
    } else {
        sequence
    };
    let mut out = io::stdout();
    let _ = out
        .write_all(sequence.as_bytes())
        .and_then(|()| out.flush());
    Done::Nothing
}

/// Lets the person edit text in the editor of their choice.
fn edit(text: &str, extension: &str, mouse: bool) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|editor| !editor.trim().is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let file = std::env::temp_dir().join(format!("sandtop-{}.{extension}", std::process::id()));
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    terminal::leave();
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(&file)
        .status();
    let entered = terminal::enter(mouse);
    let edited =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()));
    let _ = std::fs::remove_file(&file);
    entered.map_err(|error| error.to_string())?;
    match status {
        Ok(status) if status.success() => edited,
        Ok(status) => Err(format!("{editor} ended with {status}")),
        Err(error) => Err(format!("{editor}: {error}")),
    }
}

fn save(path: &str, bytes: &[u8]) -> Result<String, String> {
    let path = match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    };
    std::fs::write(&path, bytes)
        .map(|()| path.clone())
        .map_err(|error| format!("{path}: {error}"))
}

/// Stops this process as Ctrl-Z does, with the terminal given back meanwhile.
fn suspend(mouse: bool) -> Done {
    terminal::leave();
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::STOP);
    let _ = terminal::enter(mouse);
    Done::Redraw(None)
}
