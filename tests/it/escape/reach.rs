//! Ways out to other processes: by network, sockets without a file, shared memory, signals, and from one sandbox to another.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};

use crate::support::{Bench, Fixture, exec_spec, soon, unique_name, wait_until};

async fn inside(bench: &Bench<'_>, script: &str) -> String {
    let ran = bench
        .run(&[
            "perl",
            "-MSocket",
            "-e",
            &format!("{}\n{script}", super::PERL),
        ])
        .await;
    format!("{}{}", ran.text(), String::from_utf8_lossy(&ran.err))
}

fn outside(script: &str) -> String {
    let ran = Command::new("perl")
        .args(["-MSocket", "-e", &format!("{}\n{script}", super::PERL)])
        .output()
        .expect("perl");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Tries something inside, where it must fail, and outside, where it must work.
async fn held_inside_only(script: &str) {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let said = inside(&bench, script).await;
    assert!(said.starts_with("held"), "inside: {said}");
    let said = outside(script);
    assert!(said.starts_with("escaped"), "outside: {said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_to_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    held_inside_only(&format!(
        r#"socket(my $s, PF_INET, SOCK_STREAM, 0); verdict(connect($s, sockaddr_in({port}, inet_aton("127.0.0.1"))));"#
    ))
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_socket_without_a_file() {
    let name = unique_name("abstract");
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("a listener");
    assert!(UnixStream::connect_addr(&address).is_ok());
    held_inside_only(&format!(
        r#"socket(my $s, PF_UNIX, SOCK_STREAM, 0); verdict(connect($s, pack_sockaddr_un("\0{name}")));"#
    ))
    .await;
}

/// With the host's network the names of such sockets are the host's, too; those of the sandbox's own still work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_socket_without_a_file_by_the_hosts_network() {
    let fixture = Fixture::local().await;
    let mut spec = fixture.spec("shared-network");
    spec.network = sandtop::domain::Network::Default;
    let bench = fixture.create(&spec).await;
    let name = unique_name("abstract");
    let address = SocketAddr::from_abstract_name(&name).expect("an address");
    let _listener = UnixListener::bind_addr(&address).expect("a listener");
    let connect = |name: &str| {
        format!(
            r#"socket(my $s, PF_UNIX, SOCK_STREAM, 0); verdict(connect($s, pack_sockaddr_un("\0{name}")));"#
        )
    };
    let said = inside(&bench, &connect(&name)).await;
    assert!(said.starts_with("held"), "inside: {said}");
    let said = outside(&connect(&name));
    assert!(said.starts_with("escaped"), "outside: {said}");
    let own = unique_name("own");
    let listen = format!(
        r#"socket(my $l, PF_UNIX, SOCK_STREAM, 0); bind($l, pack_sockaddr_un("\0{own}")); listen($l, 1);
           $| = 1; print "listens\n"; sleep 1000;"#
    );
    let mut listening = bench
        .start(&exec_spec(&["perl", "-MSocket", "-e", &listen]))
        .await;
    crate::support::output_until(&mut listening.items, "listens").await;
    let said = inside(&bench, &connect(&own)).await;
    assert!(said.starts_with("escaped"), "among its own: {said}");
    let posture = soon("details", fixture.engine.inspect(&bench.id)).await;
    let gaps = posture.expect("details").posture.gaps;
    assert!(!gaps.iter().any(|gap| gap.contains("abstract")), "{gaps:?}");
}

/// A segment of shared memory of the host, gone in the end.
struct Shared(String);

impl Drop for Shared {
    fn drop(&mut self) {
        outside(&format!(
            "my $id = shmget({}, 0, 0); shmctl($id, 0, 0) if defined $id;",
            self.0
        ));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_shared_memory_of_the_host() {
    let key = Shared(format!(
        "{}",
        0x5a00_0000 | (std::process::id() & 0x00ff_ffff)
    ));
    let made = outside(&format!("verdict(defined shmget({}, 4096, 01666));", key.0));
    assert!(made.starts_with("escaped"), "{made}");
    held_inside_only(&format!("verdict(defined shmget({}, 0, 0));", key.0)).await;
}

/// A process that waits to be killed.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut command = Command::new("sleep");
        command.arg("1000").stdin(Stdio::null());
        Self(command.spawn().expect("a process"))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_signal_to_outside() {
    let mut victim = Victim::new();
    let pid = victim.0.id();
    held_inside_only(&format!("verdict(kill(0, {pid}));")).await;
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    // To all that it may signal; the sandbox itself lives on.
    inside(&bench, "kill(-9, -1); kill(9, 1);").await;
    assert!(matches!(victim.0.try_wait(), Ok(None)));
    assert_eq!(bench.run(&["echo", "alive"]).await.text(), "alive");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_of_the_host_is_seen() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let script = "for d in /proc/[0-9]*; do tr '\\0' ' ' < $d/cmdline 2>/dev/null; echo; done";
    let seen = bench.sh(script).await.text();
    let names: Vec<_> = seen
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let own = |line: &&str| {
        line.contains("sandtop") || line.starts_with("sh ") || line.starts_with("tr ")
    };
    let strange: Vec<_> = names.iter().filter(|line| !own(line)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(names.len() < 10, "{names:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tricks_with_the_terminal() {
    let fixture = Fixture::local().await;
    let bench = fixture.sandbox().await;
    let mut spec = exec_spec(&[
        "perl",
        "-e",
        &format!(
            r#"{} my $c = "x"; verdict(ioctl(STDIN, 0x5412, $c));"#,
            super::PERL
        ),
    ]);
    spec.tty = Some(sandtop::domain::TtySize {
        columns: 80,
        rows: 24,
    });
    let said = bench.run_spec(&spec).await.text();
    assert!(said.contains("held"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_sandbox_does_not_see_another() {
    let fixture = Fixture::local().await;
    let (one, other) = (fixture.sandbox().await, fixture.sandbox().await);
    let mark = format!("98765{}", crate::support::unique());
    let _running = one.start(&exec_spec(&["sleep", &mark])).await;
    wait_until("it runs", async || one.processes().await.contains(&mark)).await;
    assert!(!other.processes().await.contains(&mark));
    // By socket without a file, shared memory, files in memory and files on disk.
    let key = 0x5b00_0000 | (std::process::id() & 0x00ff_ffff);
    let plant = format!(
        r#"shmget({key}, 4096, 01666); socket(my $s, PF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un("\0planted"));
           listen($s, 1); for my $d ("/tmp", "/workspace", "/dev/shm") {{ open(my $f, ">", "$d/planted"); }} $| = 1;
           print "planted\n"; sleep 1000;"#
    );
    let mut planted = one
        .start(&exec_spec(&["perl", "-MSocket", "-e", &plant]))
        .await;
    crate::support::output_until(&mut planted.items, "planted").await;
    let look = format!(
        r#"socket(my $s, PF_UNIX, SOCK_STREAM, 0);
           verdict(defined shmget({key}, 0, 0) || connect($s, pack_sockaddr_un("\0planted"))
               || -e "/tmp/planted" || -e "/workspace/planted" || -e "/dev/shm/planted");"#
    );
    let said = inside(&other, &look).await;
    assert!(said.starts_with("held"), "{said}");
    let said = inside(&one, &look).await;
    assert!(said.starts_with("escaped"), "in the same sandbox: {said}");
}

/// Users of one sandbox are nobody in another, and nobody on the host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_user_number_is_shared() {
    let fixture = Fixture::local().await;
    if !rustix::process::geteuid().is_root() {
        return eprintln!("an ordinary user has one number, and every sandbox of theirs has it");
    }
    let (one, other) = (fixture.sandbox().await, fixture.sandbox().await);
    let first = one.run(&["cat", "/proc/self/uid_map"]).await.text();
    let second = other.run(&["cat", "/proc/self/uid_map"]).await.text();
    let base = |map: &str| -> Option<u32> { map.split_whitespace().nth(1)?.parse().ok() };
    assert!(base(&first).is_some_and(|base| base >= 65_536), "{first}");
    assert_ne!(base(&first), base(&second));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_memory_or_names_without_end_in_tmp() {
    let fixture = Fixture::local().await;
    let mut spec = fixture.spec("flood");
    spec.tmp_bytes = 4 << 20;
    let bench = fixture.create(&spec).await;
    for place in ["/tmp", "/dev/shm"] {
        let fill = format!(
            "head -c 100000000 /dev/zero > {place}/f && echo full; stat -c %s {place}/f; rm {place}/f"
        );
        let said = bench.sh(&fill).await.text();
        let size: u64 = said
            .lines()
            .next_back()
            .and_then(|n| n.parse().ok())
            .unwrap_or(u64::MAX);
        assert!(
            size < 100_000_000 && !said.contains("full"),
            "{place}: {said}"
        );
    }
    let names =
        "my $n = 0; while ($n < 200000 && open(my $f, '>', \"/tmp/$n\")) { $n++; } print $n;";
    let made: u64 = bench
        .run(&["perl", "-e", names])
        .await
        .text()
        .parse()
        .unwrap_or(u64::MAX);
    assert!(made < 200_000, "{made} names");
    assert_eq!(bench.run(&["echo", "alive"]).await.text(), "alive");
}
