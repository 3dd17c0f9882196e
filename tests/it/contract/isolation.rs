//! Clauses 17 and 18: limits and walls, as the kernel itself tells.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use sandtop::domain::Ended;
use sandtop::protocol::FailureKind;

use crate::support::{Bench, Fixture, exec_spec, finish, noise, output_until, refused, soon};

pub async fn c17_memory_over_the_limit_is_told(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let hog = ["dd", "if=/dev/zero", "of=/dev/null", "bs=300M", "count=1"];
    let outcome = bench.run(&hog).await;
    assert_eq!(outcome.end.ended, Ended::OutOfMemory);
    assert_eq!(bench.run(&["echo", "alive"]).await.text(), "alive");
}

pub async fn c17_a_memory_bomb_leaves_the_sandbox_alive(fixture: &Fixture) {
    let mut spec = fixture.spec("bomb");
    spec.limits.memory_bytes = Some(32 << 20);
    let bench = fixture.create(&spec).await;
    let bomb = "dd if=/dev/zero of=/dev/null bs=200M count=1";
    // The shell is killed with its child by some kernels, and lives on with others; the sandbox always does.
    // The last one asks for all of it at once, as programs in Python do.
    let at_once = bomb.replace("200M", "1200M");
    for script in [
        format!("exec {bomb}"),
        "tail /dev/zero".to_owned(),
        format!("exec {at_once}"),
    ] {
        let outcome = bench.sh(&script).await;
        assert_eq!(outcome.end.ended, Ended::OutOfMemory, "{script}");
        assert_eq!(bench.run(&["echo", "alive"]).await.text(), "alive");
    }
    let outcome = bench.sh(&format!("{bomb}; exit 3")).await;
    assert_eq!(outcome.end.ended, Ended::Code(3));
    // An earlier kill for memory is not blamed on a later command.
    assert_eq!(bench.sh("exit 137").await.end.ended, Ended::Code(137));
    assert_eq!(bench.sh("kill -9 $$").await.end.ended, Ended::Signal(9));
}

pub async fn c17_fork_bombs_stop_at_the_limit(fixture: &Fixture) {
    let mut spec = fixture.spec("forks");
    spec.limits.pids = Some(40);
    let bench = fixture.create(&spec).await;
    let mut bomb = exec_spec(&["sh", "-c", "b() { b | b & b; }; b 2>/dev/null; sleep 1000"]);
    bomb.timeout = Some(Duration::from_secs(3));
    let mut exec = bench.start(&bomb).await;
    let samples = soon("samples", fixture.engine.samples(&bench.sandbox)).await;
    let mut samples = samples.expect("a stream");
    for _ in 0..2 {
        let sample = soon("a sample", samples.next())
            .await
            .expect("a sample")
            .expect("no error");
        assert!(sample.pids <= 40, "{sample:?}");
    }
    drop(samples);
    soon("the end of the bomb", async {
        while exec.items.next().await.is_some() {}
    })
    .await;
    let refused = fixture.engine.refused_processes(&bench.id).await;
    assert!(refused.is_none_or(|count| count > 0), "{refused:?}");
    assert!(refused.is_some() || !fixture.is_docker(), "nobody counts");
    assert_eq!(bench.run(&["echo", "usable"]).await.text(), "usable");
    let still = bench.processes().await.lines().count();
    assert!(still < 10, "{still} processes are left");

    let full = bench.sh("while :; do sleep 1000 & done").await;
    assert!(
        String::from_utf8_lossy(&full.err).contains("fork"),
        "{full:?}"
    );
    let mut again = exec_spec(&["sh", "-c", "b() { b | b & b; }; b 2>/dev/null; sleep 1000"]);
    again.timeout = Some(Duration::from_secs(20));
    let running = fixture.engine.exec(&bench.id, &again).await;
    let begun = Instant::now();
    bench.remove().await;
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    if let Ok(running) = running {
        finish(running).await;
    }
    fixture.assert_nothing_left().await;
}

pub async fn c17_a_full_tmp_says_so(fixture: &Fixture) {
    let mut spec = fixture.spec("full");
    spec.tmp_bytes = 1 << 20;
    let bench = fixture.create(&spec).await;
    bench.write(b"/tmp/f", "old").await.expect("a write");
    let full = bench.write(b"/tmp/f", noise(3 << 20)).await;
    refused(full, FailureKind::NoSpace);
    assert_eq!(bench.read(b"/tmp/f", None).await.expect("a read"), b"old");
    assert_eq!(bench.ls(b"/tmp").await.expect("a list").len(), 1);
    bench
        .write(b"/tmp/f", noise(500_000))
        .await
        .expect("room again");
}

pub async fn c18_the_network_is_off(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    assert_eq!(bench.sandbox.network, "none");
    let devices = bench.run(&["cat", "/proc/net/dev"]).await.text();
    let names = devices.lines().filter_map(|line| line.split_once(':'));
    let names: Vec<_> = names.map(|(name, _)| name.trim()).collect();
    assert_eq!(names, ["lo"]);
    let routes = bench.run(&["cat", "/proc/net/route"]).await.text();
    assert_eq!(routes.lines().count(), 1, "{routes}");
    let routes = bench.run(&["cat", "/proc/net/ipv6_route"]).await.text();
    let out = routes.lines().filter(|line| !line.ends_with(" lo"));
    assert_eq!(out.count(), 0, "{routes}");
}

/// Weaker: nothing is isolated, and nothing runs that could need it; the posture says so.
pub async fn c18_the_posture_says_that_nothing_is_isolated(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    assert_eq!(bench.sandbox.network, "none");
    let details = soon("details", fixture.engine.inspect(&bench.id)).await;
    let posture = details.expect("details").posture;
    assert!(!posture.verified);
    assert!(posture.gaps[0].contains("nothing is really run, mounted or isolated"));
}

pub async fn c18_nothing_of_the_host_is_reached(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let port = listener
        .local_addr()
        .expect("an address")
        .port()
        .to_string();
    let bash = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let outcome = if fixture.is_local() {
        bench.run(&["bash", "-c", &bash]).await
    } else {
        bench.run(&["nc", "-w", "3", "127.0.0.1", &port]).await
    };
    assert!(
        matches!(outcome.end.ended, Ended::Code(code) if code != 0),
        "{outcome:?}"
    );
    let came = listener.accept().map(|_| ()).map_err(|e| e.kind());
    assert_eq!(came, Err(std::io::ErrorKind::WouldBlock));
    // The test itself is sound: from here the port is reached.
    std::net::TcpStream::connect(("127.0.0.1", port.parse().expect("a port")))
        .expect("a connection");
    let wide = bench
        .run(&["ping", "-c", "1", "-W", "2", "192.0.2.1"])
        .await;
    assert_ne!(wide.end.ended, Ended::Code(0));
}

pub async fn default_sandboxes_have_no_gap_but_the_disk(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let details = soon("details", fixture.engine.inspect(&bench.id))
        .await
        .expect("details");
    let posture = details.posture;
    assert!(posture.verified);
    assert_eq!(posture.gaps.len(), 1, "{:?}", posture.gaps);
    assert!(posture.gaps[0].contains("disk"), "{:?}", posture.gaps);
    assert_eq!(posture.caps, Vec::<String>::new());
    assert!(posture.no_new_privileges && posture.read_only_root && posture.init);
    assert_eq!(
        (posture.seccomp.as_str(), posture.user.as_str()),
        ("default", "1000:1000")
    );
    assert_eq!(posture.interfaces, Some(vec!["lo".to_owned()]));
    let mounts: Vec<_> = posture
        .mounts
        .iter()
        .map(|m| (m.kind.as_str(), m.target.as_str()))
        .collect();
    assert_eq!(
        mounts,
        [
            ("volume", "/.sandtop"),
            ("tmpfs", "/run/sandtop"),
            ("tmpfs", "/tmp"),
            ("volume", "/workspace"),
        ]
    );
    bench
        .act(sandtop::protocol::LifecycleOp::Stop)
        .await
        .expect("a stop");
    let details = soon("details", fixture.engine.inspect(&bench.id))
        .await
        .expect("details");
    assert!(!details.posture.verified);
    assert!(details.death.is_some());
}

pub async fn the_kernel_confirms_the_hardening(fixture: &Fixture) {
    let bench = fixture.sandbox().await;
    let status = bench.run(&["cat", "/proc/self/status"]).await.text();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {status}"))
            .trim()
            .to_owned()
    };
    for name in ["CapEff:", "CapPrm:", "CapInh:", "CapBnd:", "CapAmb:"] {
        assert_eq!(u64::from_str_radix(&field(name), 16), Ok(0), "{name}");
    }
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    assert_eq!(
        field("Uid:").split_whitespace().collect::<Vec<_>>(),
        ["1000"; 4]
    );
    assert_eq!(
        field("Gid:").split_whitespace().collect::<Vec<_>>(),
        ["1000"; 4]
    );
    for script in [
        "touch /x",
        "touch /etc/x",
        "echo > /.sandtop/guest",
        "mount -t tmpfs none /tmp",
        "unshare -U true",
        "echo 1 > /proc/sys/kernel/hostname",
        "mknod /tmp/null c 1 3",
        "cp /bin/true /tmp/true && /tmp/true",
    ] {
        let outcome = bench.sh(script).await;
        assert!(
            matches!(outcome.end.ended, Ended::Code(code) if code != 0),
            "{script}: {outcome:?}"
        );
    }
    for script in [
        "touch /workspace/x",
        "touch /tmp/x",
        "cp /bin/true /workspace/true && /workspace/true",
    ] {
        assert_eq!(bench.sh(script).await.end.ended, Ended::Code(0), "{script}");
    }
    let limits = bench.run(&["cat", "/proc/self/limits"]).await.text();
    let cores = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    assert_eq!(cores.expect("a limit").split_whitespace().nth(4), Some("0"));
}

/// Reads what it may of every process until it is told to end; nothing but the shell itself, so that it misses little.
const SPY: &str = r#"echo watching; while [ ! -e stop ]; do
    for place in /proc/[0-9]*; do
        { line=; read -r line <$place/environ; } 2>/dev/null
        case $line in *SANDTOP_END*) echo "$place: $line" >>seen ;; esac
    done
done"#;

/// Makes a sandbox of the usual user, and one of its own root.
async fn for_each_user(fixture: &Fixture, check: impl AsyncFn(&Bench<'_>)) {
    for user in [None, Some("0:0")] {
        let mut spec = fixture.spec("user");
        spec.user = user.map_or(spec.user, str::to_owned);
        check(&fixture.create(&spec).await).await;
    }
}

/// Command lines are public; what the guest gets besides is nobody's, from its first instruction on.
pub async fn c18_the_end_mark_is_seen_by_nobody(fixture: &Fixture) {
    for_each_user(fixture, async |bench| {
        let mut spying = bench.start(&exec_spec(&["sh", "-c", SPY])).await;
        output_until(&mut spying.items, "watching").await;
        for turn in 0..40 {
            bench.run(&["true"]).await;
            bench.ls(b"/workspace").await.expect("a list");
            let seen = bench.sh("cat seen 2>/dev/null").await;
            assert_eq!(seen.text(), "", "turn {turn}");
        }
        bench.sh("touch stop").await;
        finish(spying).await;
        // The kernel hides a process whose program its user cannot read before the process does anything.
        let read = bench.sh("head -c 1 /.sandtop/guest | grep -q .").await;
        assert_ne!(read.end.ended, Ended::Code(0));
    })
    .await;
}

/// Also not by who is root inside.
pub async fn c18_the_guest_is_changed_by_nobody(fixture: &Fixture) {
    let scripts = [
        "echo x >/.sandtop/guest",
        "echo x >>/.sandtop/guest",
        "rm -f /.sandtop/guest",
        "mv /.sandtop/guest /.sandtop/other",
        "touch /.sandtop/new",
        "mkdir /.sandtop/new",
        "chmod 777 /.sandtop",
        "chmod 777 /.sandtop/guest",
        "chown 0:0 /.sandtop/guest",
    ];
    for_each_user(fixture, async |bench| {
        for script in scripts {
            let outcome = bench.sh(script).await;
            assert!(
                matches!(outcome.end.ended, Ended::Code(code) if code != 0),
                "{script}: {outcome:?}"
            );
        }
        assert_eq!(bench.run(&["true"]).await.end.ended, Ended::Code(0));
    })
    .await;
}
