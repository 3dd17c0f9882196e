//! Does what the core asks for outside of it.

use std::fs::DirBuilder;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::recovery::Recovery;
use super::snippets::Library;
use super::{host, terminal};
use crate::app::{Effect, Msg, NotSaved};
use crate::manager::ManagerHandle;
use crate::protocol::Request;

/// GNU screen passes on sequences of this length.
const SCREEN_PIECE: usize = 512;

/// What doing an effect led to.
pub(super) enum Done {
    /// Nothing more.
    Nothing,
    /// Something to tell the core.
    Tell(Msg),
    /// The program ends.
    Quit,
}

/// Does one effect.
pub(super) fn perform(
    effect: Effect,
    handle: Option<&ManagerHandle>,
    recovery: &Recovery,
    library: &Library,
) -> Done {
    match effect {
        Effect::Submit(request) => submit(handle, request),
        Effect::Copy(text) => copy(&text),
        Effect::EditExternally { text, extension } => {
            Done::Tell(Msg::Edited(edit(&text, &extension)))
        }
        Effect::SaveLocal {
            path,
            bytes,
            replace,
        } => Done::Tell(Msg::SavedLocal(save(&path, bytes, replace))),
        Effect::ListHost { folder } => {
            let outcome = host::list(&folder);
            Done::Tell(Msg::HostListed { folder, outcome })
        }
        Effect::CheckHost(download) => {
            let found = download.places();
            let found = found.iter().map(|place| host::kind(place)).collect();
            Done::Tell(Msg::HostChecked { download, found })
        }
        Effect::Mouse(ours) => {
            let _ = terminal::set_mouse(ours);
            Done::Nothing
        }
        Effect::Snippet(op) => Done::Tell(Msg::Snippet(library.perform(op))),
        Effect::Bell => {
            let _ = terminal::ring();
            Done::Nothing
        }
        Effect::Suspend => suspend(),
        Effect::Recovery(buffers) => {
            recovery.keep(&buffers);
            Done::Nothing
        }
        Effect::Quit => Done::Quit,
    }
}

fn submit(handle: Option<&ManagerHandle>, request: Request) -> Done {
    let id = request.id;
    match handle.map(|handle| handle.submit(request)) {
        Some(Ok(())) => Done::Nothing,
        Some(Err(_)) | None => Done::Tell(Msg::Busy(id)),
    }
}

/// Puts text on the clipboard by the terminal's own sequence.
fn copy(text: &str) -> Done {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let sequence = clipboard(text, is_set("TMUX"), is_set("STY"));
    let mut out = io::stdout();
    let _ = out
        .write_all(sequence.as_bytes())
        .and_then(|()| out.flush());
    Done::Nothing
}

/// Writes the sequence; what sits between us and the terminal is asked to pass it on.
///
/// tmux takes the plain one itself where `set-clipboard` is on, and passes the wrapped one where `allow-passthrough` is.
fn clipboard(text: &str, tmux: bool, screen: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(text));
    if tmux {
        let wrapped = plain.replace('\x1b', "\x1b\x1b");
        return format!("{plain}\x1bPtmux;{wrapped}\x1b\\");
    }
    if screen {
        // An escape cannot stand in a wrapped piece, so that the shorter end mark is used.
        let bare = plain.replace("\x1b\\", "\x07");
        let pieces = bare.as_bytes().chunks(SCREEN_PIECE);
        let wrap = |piece| format!("\x1bP{}\x1b\\", String::from_utf8_lossy(piece));
        return pieces.map(wrap).collect();
    }
    plain
}

/// Lets the person edit text in the editor of their choice; the terminal is free for it.
fn edit(text: &str, extension: &str) -> Result<String, String> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .filter(|editor| !editor.trim().is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    edit_with(&editor, text, extension)
}

fn edit_with(editor: &str, text: &str, extension: &str) -> Result<String, String> {
    let folder = private_folder().map_err(|error| format!("making a folder failed: {error}"))?;
    let file = folder.join(format!("text.{extension}"));
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    let status = std::fs::write(&file, text).map_err(failed).map(|()| {
        Command::new("sh")
            .args(["-c", &format!("{editor} \"$1\""), "sh"])
            .arg(&file)
            .status()
    });
    let edited = std::fs::read_to_string(&file).map_err(failed);
    let _ = std::fs::remove_dir_all(&folder);
    match status? {
        Ok(status) if status.success() => edited,
        Ok(status) => Err(format!("{editor} ended with {status}")),
        Err(error) => Err(format!("{editor}: {error}")),
    }
}

/// Makes a folder that is nobody else's: in the folder for all, a file that somebody else has put there could be a trap.
fn private_folder() -> io::Result<PathBuf> {
    let word = RandomState::new().hash_one(std::process::id());
    let folder = std::env::temp_dir().join(format!("sandtop-{word:016x}"));
    // This fails if the name is taken, by whatever.
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

/// Writes a file of this machine, whole or not at all.
fn save(path: &str, bytes: Bytes, replace: bool) -> Result<String, NotSaved> {
    let place = match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(path),
    };
    let shown = place.display().to_string();
    if !replace && place.symlink_metadata().is_ok() {
        let path = path.to_owned();
        return Err(NotSaved::Exists { path, bytes });
    }
    write_whole(&place, &bytes)
        .map(|()| shown.clone())
        .map_err(|error| NotSaved::Failed(format!("{shown} was not saved: {error}")))
}

/// Writes beside the file first, so that a full disk leaves the old one as it was.
fn write_whole(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".sandtop-{}", std::process::id()));
    let fresh = place.with_file_name(fresh);
    let written = std::fs::write(&fresh, bytes).and_then(|()| std::fs::rename(&fresh, &place));
    if written.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// Stops this process as Ctrl-Z does; the terminal was given back before.
fn suspend() -> Done {
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::STOP);
    Done::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clipboard_is_reached_through_tmux_and_screen() {
        assert_eq!(clipboard("hi", false, false), "\x1b]52;c;aGk=\x1b\\");
        assert_eq!(
            clipboard("hi", true, false),
            "\x1b]52;c;aGk=\x1b\\\x1bPtmux;\x1b\x1b]52;c;aGk=\x1b\x1b\\\x1b\\"
        );
        let long = clipboard(&"x".repeat(900), false, true);
        assert_eq!(long.matches("\x1bP").count(), 3);
        assert!(long.ends_with("\x07\x1b\\"));
    }

    #[test]
    fn text_is_edited_where_nobody_else_can_reach() {
        let edited = edit_with("printf ' more' >>", "some", "py");
        assert_eq!(edited.as_deref(), Ok("some more"));
        let told = edit_with("stat -c %a/%n \"${1%/*}\" > \"$1\"; test -e", "", "py");
        let told = told.expect("a word on the folder");
        let (mode, folder) = told.trim().split_once('/').expect("two words");
        assert_eq!(mode, "700");
        assert!(!Path::new(&format!("/{folder}")).exists(), "{folder}");
        assert!(edit_with("exit 3;", "", "py").is_err());
    }

    #[test]
    fn a_file_is_replaced_only_when_told_and_never_half() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.txt");
        let shown = path.display().to_string();
        assert_eq!(save(&shown, "one".into(), false), Ok(shown.clone()));
        let refused = save(&shown, "two".into(), false);
        assert!(matches!(refused, Err(NotSaved::Exists { .. })));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "one");
        assert_eq!(save(&shown, "two".into(), true), Ok(shown.clone()));
        assert_eq!(std::fs::read_to_string(&path).expect("text"), "two");
        let lost = save("/no/such/folder/x", "two".into(), false);
        assert!(matches!(lost, Err(NotSaved::Failed(_))));
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 1);
    }
}
