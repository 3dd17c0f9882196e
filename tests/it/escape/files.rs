//! Ways out by files: what of the host can be seen or changed, and what a way up leads to.

use std::fs;
use std::os::unix::fs::symlink;

use sandtop::protocol::FailureKind;

use super::Outside::{NotTried, Works};
use super::{Attack, attacks};
use crate::support::{Fixture, kind};

const HARMFUL: &str = "it would change the host";
const OURS: &str = "it is about our own program";

attacks! {
    no_secrets: Attack::shell("cat /etc/shadow", Works);
    no_home_of_root: Attack::shell("ls /root", Works);
    no_other_homes: Attack::shell("ls -A /home | grep .", NotTried("not every machine has some"));
    no_system_files: Attack::shell("ls /sys/kernel", Works);
    no_logs: Attack::shell("ls /var/log", Works);
    no_disks: Attack::shell("ls /dev/vda || ls /dev/sda || ls /dev/mem || ls /dev/kmsg || ls /dev/loop-control", NotTried("each machine has others"));
    no_engine_sockets: Attack::shell("find /run /var/run /tmp -type s 2>/dev/null | grep .", NotTried("not every machine has some"));
    no_environment_of_ours: Attack::shell("env | grep -E 'CARGO|SANDTOP_TEST|DOCKER_HOST|^HOME=/root'", NotTried("the host's own differs"));
    no_writing_of_programs: Attack::shell("touch /usr/bin/sandtop-test || touch /bin/sandtop-test || touch /lib/sandtop-test", NotTried(HARMFUL));
    no_writing_of_settings: Attack::shell("touch /etc/sandtop-test || echo >> /etc/passwd || ln -s x /etc/sandtop-test", NotTried(HARMFUL));
    no_writing_at_the_root: Attack::shell("touch /sandtop-test || mkdir /sandtop-test || mv /workspace /elsewhere", NotTried(HARMFUL));
    no_writing_of_devices: Attack::shell("touch /dev/sandtop-test || rm -f /dev/null || chmod 600 /dev/null", NotTried(HARMFUL));
    no_kernel_settings: Attack::shell("echo sandtop > /proc/sys/kernel/hostname || echo x > /proc/sys/kernel/core_pattern", NotTried(HARMFUL));
    no_kernel_commands: Attack::shell("echo h > /proc/sysrq-trigger", NotTried(HARMFUL));
    no_kernel_memory: Attack::shell("head -c 1 /proc/kcore | grep -q . || head -c 1 /proc/kmsg | grep -q .", NotTried("whether root may do it depends on the kernel"));
    no_control_groups: Attack::shell("ls /sys/fs/cgroup || grep cgroup /proc/mounts | grep -vE '^cgroup2* /.sandtop/(memory|pids).events cgroup2* ro,'", Works);
    no_way_up_by_dots: Attack::shell(
        "cd /workspace/../../../../../../../.. && ls root/ || cd /proc/self/cwd/../../../.. && ls root/",
        Works
    );
    no_way_up_by_the_first_process: Attack::shell("ls /proc/1/root/ || ls /proc/1/cwd/ || cat /proc/1/environ | grep . || ls -l /proc/1/fd | grep .", Works);
    no_memory_of_the_first_process: Attack::shell("head -c 1 /proc/1/mem || cat /proc/1/maps | grep .", NotTried("reading address zero works nowhere"));
    no_links_to_programs: Attack::shell("ln /usr/bin/env /workspace/env", NotTried("whether it works depends on the file system"));
    no_programs_that_raise: Attack::shell("grep -E '^[^ ]+ /[^ ]* [^ ]+ ' /proc/mounts | grep -v nosuid", Works);
    no_device_files_that_work: Attack::shell("grep -E ' (/workspace|/tmp|/usr|/etc|/) ' /proc/mounts | grep -v nodev", NotTried("the host's mounts differ"));
    no_change_of_our_program: Attack::shell("echo >> /.sandtop/guest || rm -f /.sandtop/guest || mv /.sandtop /.other", NotTried(OURS));
    no_look_into_our_watcher: Attack::shell(
        "watcher=$(awk '/PPid/ {print $2}' /proc/self/status); parent=$(awk '/PPid/ {print $2}' /proc/$PPID/status); \
         ls -l /proc/$parent/fd | grep . || cat /proc/$parent/environ | grep . || readlink /proc/$parent/exe || echo > /proc/$parent/exe",
        NotTried(OURS)
    );
}

/// What the kernel itself says of a process inside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_rights_are_left() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let status = bench.run(&["cat", "/proc/self/status"]).await.text();
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.map(|rest| rest.trim_start_matches(':').trim().to_owned())
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(value(set).as_deref(), Some("0000000000000000"), "{set}");
    }
    assert_eq!(value("NoNewPrivs").as_deref(), Some("1"));
    assert_eq!(value("Seccomp").as_deref(), Some("2"));
}

/// Nothing is open but what was given.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_files_are_open_from_before() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    // The shell alone: a program that lists would open the folder that it lists.
    let open = bench
        .sh("for fd in /proc/$$/fd/*; do echo \"${fd##*/}\"; done")
        .await
        .text();
    let numbers: Vec<_> = open
        .lines()
        .filter(|fd| ["0", "1", "2"].contains(fd))
        .collect();
    assert_eq!(numbers.len(), 3, "{open}");
    for fd in open.lines().filter(|fd| !numbers.contains(fd)) {
        // What the shell has opened itself in order to look is its own process folder.
        let target = bench.sh(&format!("readlink /proc/$$/fd/{fd}")).await.text();
        assert!(
            target.is_empty() || target.starts_with("/proc/"),
            "{fd} → {target}"
        );
    }
}

/// The engine's own file work is led astray by nothing that lies in a sandbox.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_link_leads_the_engine_out() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let secret = fixture.state_dir().join("secret");
    fs::write(&secret, "outside").expect("a file");
    let place = secret.display();
    let plant = format!(
        "cd /workspace; ln -s {place} absolute; ln -s ../../../../../../../../../../..{place} relative; \
         ln -s /proc/1/root{place} magic; ln -s {} folder",
        fixture.state_dir().display()
    );
    assert_eq!(bench.sh(&plant).await.text(), "");
    for name in ["absolute", "relative", "magic", "folder/secret"] {
        let path = format!("/workspace/{name}");
        let read = bench.read(path.as_bytes(), None).await;
        assert_ne!(read.ok().as_deref(), Some(&b"outside"[..]), "{name}");
        let wrote = bench.write(path.as_bytes(), "changed").await;
        eprintln!("{name}: {:?}", kind(&wrote));
    }
    assert_eq!(fs::read(&secret).expect("a file"), b"outside");
    // Also when it does not run, where some engines look at the disk from outside.
    fs::remove_file(&secret).expect("a removal");
}

/// A folder of the sandbox that is swapped for a link while the engine works in it leads nowhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_race_leads_the_engine_out() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let outside = fixture.state_dir().join("outside");
    fs::create_dir(&outside).expect("a folder");
    symlink("nowhere", outside.join("untouched")).expect("a link");
    let swap = format!(
        "cd /workspace; mkdir real; while :; do ln -sfn {} door; ln -sfn real door; done",
        outside.display()
    );
    let swapping = bench
        .start(&crate::support::exec_spec(&["sh", "-c", &swap]))
        .await;
    for turn in 0..40 {
        let path = format!("/workspace/door/{turn}");
        let wrote = bench.write(path.as_bytes(), "x").await;
        let failed = kind(&wrote);
        assert_ne!(failed, Some(FailureKind::Internal), "{turn}");
    }
    drop(swapping);
    let left: Vec<_> = fs::read_dir(&outside).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    fs::remove_dir_all(&outside).expect("a removal");
}
