//! Finds the command that really runs behind `sudo`, `env`, `nice` and their like.

use super::word::Word;

/// Programs that run another one, with those of their options that take a value of their own.
const WRAPPERS: [(&str, &[&str]); 24] = [
    (
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R",
        ],
    ),
    ("doas", &["-u", "-C"]),
    ("env", &["-u", "-C", "-P", "--unset", "--chdir"]),
    ("nice", &["-n", "--adjustment"]),
    ("ionice", &["-c", "-n"]),
    ("chrt", &[]),
    ("nohup", &[]),
    ("setsid", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("timeout", &["-k", "-s", "--signal", "--kill-after"]),
    ("time", &["-f", "-o"]),
    ("command", &[]),
    ("builtin", &[]),
    ("exec", &["-a"]),
    ("busybox", &[]),
    ("toybox", &[]),
    ("chroot", &[]),
    ("unshare", &[]),
    ("strace", &["-e", "-o", "-p", "-s"]),
    ("watch", &["-n", "--interval"]),
    ("flock", &["-w", "-E"]),
    ("caffeinate", &[]),
    ("proot", &["-r", "-b", "-w"]),
    ("fakeroot", &[]),
];

/// Wrappers that take one operand of their own before the command.
const WITH_OPERAND: [&str; 4] = ["timeout", "chroot", "flock", "chrt"];

/// Returns the words from the real program on.
pub(super) fn unwrap(words: &[Word]) -> &[Word] {
    let mut rest = words;
    loop {
        rest = after_assignments(rest);
        let Some((first, arguments)) = rest.split_first() else {
            return rest;
        };
        let name = first.program();
        let Some((_, valued)) = WRAPPERS.iter().find(|(wrapper, _)| *wrapper == name) else {
            return rest;
        };
        let mut inner = after_options(arguments, valued);
        if WITH_OPERAND.contains(&name) {
            inner = inner.get(1..).unwrap_or_default();
        }
        if inner.is_empty() {
            return rest;
        }
        rest = inner;
    }
}

fn after_assignments(words: &[Word]) -> &[Word] {
    let count = words
        .iter()
        .take_while(|word| word.assignment().is_some())
        .count();
    words.get(count..).unwrap_or_default()
}

/// Skips the options of a wrapper.
pub(super) fn after_options<'a>(words: &'a [Word], valued: &[&str]) -> &'a [Word] {
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        let text = first.text.as_str();
        if text == "--" {
            return others;
        }
        if !text.starts_with('-') || text == "-" {
            return rest;
        }
        rest = if valued.contains(&text) {
            others.get(1..).unwrap_or_default()
        } else {
            others
        };
    }
    rest
}

/// Options of `xargs` that take a value of their own.
pub(super) const XARGS: [&str; 9] = ["-n", "-P", "-I", "-L", "-s", "-d", "-E", "-a", "--max-args"];
