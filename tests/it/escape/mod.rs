//! Ways out of a sandbox of the local engine, each tried: it fails inside and, where that can be shown, works outside.
//!
//! An attack is a few lines of Perl (part of every Debian) or shell that print `held` or `escaped`. The same lines then run
//! on the host as root, in a folder of their own, and must print `escaped`: an attack that works nowhere proves nothing.
//! Where the lines would do harm on the host, or need what this machine lacks, the reason stands beside them.

mod calls;
mod files;
mod reach;

use std::process::Command;

use crate::support::{Fixture, ordinary};

/// What the same attack does on the host.
#[derive(Clone, Copy)]
enum Outside {
    /// It works for root.
    Works,
    /// It is not tried, for this reason.
    NotTried(&'static str),
}

/// A way out.
struct Attack {
    argv: [String; 3],
    outside: Outside,
}

/// Helpers for attacks by system calls.
///
/// `try` is for calls that would work; `reach` for those that fail anywhere with such arguments: there it matters whether
/// the kernel looked at them at all.
const PERL: &str = r#"
    use strict; use warnings; use Errno;
    sub verdict { print $_[0] ? "escaped\n" : "held: $!\n"; }
    sub try { my $got = syscall(shift(@_) + 0, @_); verdict($got != -1); }
    sub reach { my $got = syscall(shift(@_) + 0, @_); verdict($got != -1 || !($!{EPERM} || $!{ENOSYS})); }
"#;

impl Attack {
    fn perl(script: &str, outside: Outside) -> Self {
        let argv = ["perl".into(), "-e".into(), format!("{PERL}\n{script}")];
        Self { argv, outside }
    }

    /// Lines of shell that end well where there is a way out.
    fn shell(script: &str, outside: Outside) -> Self {
        let script =
            format!("if ( {script} ) >/dev/null 2>&1; then echo escaped; else echo held; fi");
        let argv = ["sh".into(), "-c".into(), script];
        Self { argv, outside }
    }

    /// A call that would work outside.
    fn call(number: libc::c_long, arguments: &str, outside: Outside) -> Self {
        Self::perl(&format!("try({number}, {arguments});"), outside)
    }

    /// A call that must not even be looked at.
    fn closed(number: libc::c_long, arguments: &str, outside: Outside) -> Self {
        Self::perl(&format!("reach({number}, {arguments});"), outside)
    }

    /// Tries it inside and outside.
    async fn check(self) {
        let fixture = Fixture::local().await;
        let bench = fixture.sandbox().await;
        let ran = bench.run(&self.argv.each_ref().map(String::as_str)).await;
        let complaint = String::from_utf8_lossy(&ran.err);
        let said = ran.text();
        assert!(said.starts_with("held"), "inside: {said:?} {complaint}");
        match self.outside {
            Outside::NotTried(why) => eprintln!("outside: not tried, {why}"),
            Outside::Works if rustix::process::geteuid().is_root() => {
                let (said, complaint) = outside(&self.argv);
                assert!(said.starts_with("escaped"), "outside: {said} {complaint}");
            }
            Outside::Works => eprintln!("outside: works for root only"),
        }
    }
}

/// Runs an attack on the host, in a folder of its own.
fn outside([program, rest @ ..]: &[String; 3]) -> (String, String) {
    let place = tempfile::tempdir().expect("a folder");
    let ran = Command::new(program)
        .args(rest)
        .current_dir(&place)
        .output()
        .expect("a run");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (text(&ran.stdout), text(&ran.stderr))
}

/// Makes a test of each attack.
macro_rules! attacks {
    ($($name:ident: $attack:expr;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                $attack.check().await;
            }
        )*
    };
}
use attacks;

/// Tries all of it again in sandboxes of somebody who is not root.
#[test]
#[ignore = "needs root: tests/run"]
fn an_ordinary_user_has_the_same_walls() {
    ordinary::run("escape::");
}
