//! What holds for the local engine alone: keepers, folders as images, and gaps.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sandtop::domain::{Ended, Phase};
use sandtop::engine::Notes;
use sandtop::protocol::{FailureKind, LifecycleOp};

use crate::support::{Fixture, exec_spec, finish, refused, soon, unique, wait_until};

/// Finds the process that keeps a sandbox, by its current folder.
pub fn keeper_of(folder: &Path) -> Option<i32> {
    let entries = fs::read_dir("/proc").expect("a process list").flatten();
    let mut pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder))
}

pub async fn gaps_are_the_limits_that_the_kernel_does_not_enforce(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let details = soon("details", fixture.engine.inspect(&bench.id)).await;
    let posture = details.expect("details").posture;
    assert!(posture.verified && posture.no_new_privileges && posture.read_only_root);
    assert_eq!(posture.caps, Vec::<String>::new());
    assert_eq!(
        (posture.seccomp.as_str(), posture.user.as_str()),
        ("default", "1000:1000")
    );
    assert_eq!(posture.interfaces, Some(vec!["lo".to_owned()]));
    let named = |word: &str| posture.gaps.iter().any(|gap| gap.contains(word));
    assert!(named("disk") && named("/usr"), "{:?}", posture.gaps);
    // Not everybody has cgroups.
    for limit in ["memory limit", "cpu limit", "process limit"] {
        let groups = crate::support::ordinary::has_groups();
        assert_eq!(named(limit), !groups, "{limit}: {:?}", posture.gaps);
    }
}

/// Fills memory as the kernel allows it: shared by a mapping, in a file without a name, in a segment without a process, on the way
/// between sockets.
const HIDDEN_BOMBS: [&str; 5] = [
    "my $at = syscall(MMAP, 0, 1200 << 20, 3, 0x21, -1, 0); open Z, '<', '/dev/zero'; \
     syscall(READ, fileno(Z), $at + ($_ << 20), 1 << 20) for 0 .. 1199; print 'filled'",
    "my $fd = syscall(MEMFD, 'x', 0); open F, '+<&=', $fd or die $!; \
     print F 'x' x (1 << 20) or die $! for 1 .. 600; print 'filled'",
    "my $id = shmget(0, 600 << 20, 01600) // die $!; \
     shmwrite($id, 'x' x (1 << 20), $_ << 20, 1 << 20) or die $! for 0 .. 599; print 'filled'",
    "use Socket; my ($all, @kept) = 0; \
     while ($all < 600 << 20) { socketpair my $r, my $w, AF_UNIX, SOCK_STREAM, 0 or die $!; \
     setsockopt $w, SOL_SOCKET, SO_SNDBUF, 4 << 20; send_all($w); push @kept, $r, $w } print 'filled'; \
     sub send_all { my $got; $all += $got while $got = send $_[0], 'x' x 65536, MSG_DONTWAIT }",
    // Whoever has sent it may be gone.
    "use Socket; my ($all, @kept) = 0; \
     while ($all < 600 << 20) { socketpair my $r, my $w, AF_UNIX, SOCK_STREAM, 0 or die $!; \
     send_all($w); close $w; push @kept, $r } print 'filled'; \
     sub send_all { my $got; $all += $got while $got = send $_[0], 'x' x 65536, MSG_DONTWAIT }",
];

pub async fn memory_of_every_kind_is_limited(fixture: &Fixture) {
    let mut spec = fixture.spec("kinds");
    spec.limits.memory_bytes = Some(64 << 20);
    let bench = fixture.create(&spec).await;
    // What several processes share counts once.
    let workers = "my $at = syscall(MMAP, 0, 20 << 20, 3, 0x21, -1, 0); open Z, '<', '/dev/zero'; pipe R, W; \
                   for (1 .. 6) { next if fork; syscall(READ, fileno(Z), $at, 20 << 20); syswrite W, 'x'; sleep 1000 } \
                   sysread R, my $one, 1 for 1 .. 6; select undef, undef, undef, 0.5; print 'lives'";
    let workers = workers.replace("MMAP", &libc::SYS_mmap.to_string());
    let workers = workers.replace("READ", &libc::SYS_read.to_string());
    assert_eq!(bench.run(&["perl", "-e", &workers]).await.text(), "lives");
    for bomb in HIDDEN_BOMBS {
        let mut script = bomb.to_owned();
        for (word, number) in [
            ("MMAP", libc::SYS_mmap),
            ("READ", libc::SYS_read),
            ("MEMFD", libc::SYS_memfd_create),
        ] {
            script = script.replace(word, &number.to_string());
        }
        let outcome = bench.run(&["perl", "-e", &script]).await;
        assert_ne!(outcome.text(), "filled", "{bomb}");
        assert_ne!(outcome.end.ended, Ended::Code(0), "{bomb}");
    }
}

pub async fn what_is_deep_or_locked_is_removed(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let script = "for (1 .. 3000) { mkdir 'deep'; mkdir 'shut', 0; chdir 'deep' or die $! } chmod 0, '.'; print 'made'";
    assert_eq!(bench.run(&["perl", "-e", script]).await.text(), "made");
    bench.remove().await;
    fixture.assert_nothing_left().await;
}

pub async fn a_killed_keeper_shows_as_stopped_and_starts_again(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    bench
        .write(b"/workspace/kept", "kept")
        .await
        .expect("a write");
    let mark = format!("7654{}", unique());
    let exec = bench.start(&exec_spec(&["sleep", &mark])).await;
    bench.until_running(std::slice::from_ref(&mark)).await;
    for paused in [false, true] {
        if paused {
            bench.act(LifecycleOp::Pause).await.expect("a pause");
        }
        let folder = fixture.state_dir().join(bench.id.as_str());
        let keeper = keeper_of(&folder).and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(keeper.expect("a keeper"), rustix::process::Signal::KILL)
            .expect("a kill");
        wait_until("it shows as stopped", async || {
            bench.phase().await == Phase::Stopped
        })
        .await;
        wait_until("nothing of it runs", async || !runs_on_host(&mark)).await;
        bench.act(LifecycleOp::Start).await.expect("a start");
        let kept = bench.read(b"/workspace/kept", None).await;
        assert_eq!(kept.expect("a read"), b"kept");
    }
    assert_eq!(finish(exec).await.end.ended, Ended::Lost);
}

fn runs_on_host(word: &str) -> bool {
    command_lines().any(|line| line.starts_with(&format!("sleep\0{word}")))
}

/// Tells whether any process has a word somewhere in its command line, as whoever runs a script has.
fn is_named_on_host(word: &str) -> bool {
    command_lines().any(|line| line.contains(word))
}

fn command_lines() -> impl Iterator<Item = String> {
    let entries = fs::read_dir("/proc").expect("a process list").flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}

pub async fn sandboxes_outlive_the_engine_that_made_them(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let second = fixture.second_look();
    let listed = soon("a list", second.list()).await.expect("a list");
    assert_eq!(listed, fixture.list().await);
    let exec = soon(
        "an exec",
        second.exec(&bench.id, &exec_spec(&["echo", "seen"])),
    )
    .await;
    assert_eq!(finish(exec.expect("an exec")).await.text(), "seen");
}

pub async fn a_folder_is_an_image(fixture: &Fixture) {
    let folder = fixture.state_dir().join("image");
    fs::create_dir_all(folder.join("opt/deep")).expect("a folder");
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    fs::write(folder.join("opt/deep/word"), "from the image").expect("a file");
    symlink("/etc/shadow", folder.join("leak")).expect("a link");
    let mut spec = fixture.spec("folder");
    spec.image = folder.display().to_string();
    // A place that the image does not have, below one that it has.
    spec.work_dir = crate::support::sandbox_path(b"/opt/work/space");
    let bench = fixture.create(&spec).await;
    let read = bench.read(b"/opt/deep/word", None).await;
    assert_eq!(read.expect("a read"), b"from the image");
    bench
        .write(b"/opt/work/space/own", "x")
        .await
        .expect("a write");
    let outside = bench.read(b"/leak", None).await;
    assert_eq!(outside.err().map(|e| e.kind), Some(FailureKind::NotFound));
    bench.remove().await;
    assert!(folder.join("opt/deep/word").exists());
    fs::remove_dir_all(folder).expect("a removal");
}

pub async fn images_of_other_engines_give_a_hint(fixture: &Fixture) {
    for image in ["python:3.12-slim", "/no/such/folder", "/proc"] {
        let mut spec = fixture.spec("hint");
        spec.image = image.into();
        let made = soon("a create", fixture.engine.create(&spec, &Notes::none())).await;
        refused(made, FailureKind::ImageMissing);
    }
    fixture.assert_nothing_left().await;
}

pub async fn what_a_client_started_goes_with_it(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let mark = format!("6543{}", unique());
    let script = format!("setsid sleep {mark} & sleep {mark}");
    let exec = bench.start(&exec_spec(&["sh", "-c", &script])).await;
    bench.until_running(std::slice::from_ref(&mark)).await;
    drop(exec);
    wait_until("it has ended", async || {
        !bench.processes().await.contains(&mark)
    })
    .await;
}

/// Whoever follows a command may be gone, and its watcher stopped or killed from inside: the keeper is out of reach.
pub async fn nobody_escapes_by_ending_its_watcher(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    for (how, is_followed) in [("STOP", true), ("STOP", false), ("KILL", true)] {
        let mark = format!("6542{}", unique());
        let up = format!("/workspace/up-{how}-{is_followed}");
        let script = format!("setsid sleep {mark} & touch {up}; kill -{how} $PPID; sleep {mark}");
        let mut spec = exec_spec(&["sh", "-c", &script]);
        spec.timeout = Some(std::time::Duration::from_millis(500));
        // Not polled: a client that does not come to do anything.
        let exec = bench.start(&spec).await;
        wait_until("it runs", async || bench.stat(up.as_bytes()).await.is_ok()).await;
        let kept = is_followed.then_some(exec);
        wait_until(&format!("{how} {is_followed} has ended"), async || {
            !is_named_on_host(&mark)
        })
        .await;
        drop(kept);
    }
    assert_eq!(bench.run(&["echo", "usable"]).await.text(), "usable");
}
