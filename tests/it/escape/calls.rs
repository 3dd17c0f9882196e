//! Ways out by system calls: namespaces, mounts, other processes, the kernel itself.

use super::Outside::{NotTried, Works};
use super::{Attack, attacks};

const HARMFUL: &str = "it would change the host";
const KERNEL: &str = "whether root may do it depends on the kernel's own settings";

/// Makes a private place for what follows, where that is allowed.
fn apart(rest: &str) -> String {
    let (unshare, mount) = (libc::SYS_unshare, libc::SYS_mount);
    // New mount and host-name namespaces; then nothing is passed on to the old ones.
    format!(
        r#"syscall({unshare}, 0x04020000); my ($none, $root) = ("none", "/");
           syscall({mount}, $none, $root, 0, 0x44000, 0); {rest}"#
    )
}

/// Forks a process that waits, and does something to it.
fn neighbour(rest: &str) -> String {
    format!(
        r#"my $word = "secret!!"; pipe(my $r, my $w); my $pid = fork(); if (!$pid) {{ close $w; <$r>; exit; }}
           {rest}; close $w; kill 9, $pid;"#
    )
}

attacks! {
    no_new_user_namespace: Attack::call(libc::SYS_unshare, "0x10000000", Works);
    no_new_mount_namespace: Attack::call(libc::SYS_unshare, "0x00020000", Works);
    no_new_network: Attack::call(libc::SYS_unshare, "0x40000000", Works);
    no_new_process_namespace: Attack::call(libc::SYS_unshare, "0x20000000", Works);
    no_clone_into_namespaces: Attack::perl(
        &format!(
            "my $pid = syscall({}, 0x10000011, 0, 0, 0, 0); if ($pid == 0) {{ kill 9, $$; }} verdict($pid > 0);",
            libc::SYS_clone
        ),
        Works,
    );
    no_clone3: Attack::perl(
        &format!(
            r#"my $args = pack("Q8", 0x10000000, 0, 0, 0, 17, 0, 0, 0);
               my $pid = syscall({}, $args, 64); if ($pid == 0) {{ kill 9, $$; }} verdict($pid > 0);"#,
            libc::SYS_clone3
        ),
        Works,
    );
    no_join_of_namespaces: Attack::perl(
        &format!(r#"open(my $ns, "<", "/proc/self/ns/net"); try({}, fileno($ns), 0);"#, libc::SYS_setns),
        Works,
    );
    no_mount: Attack::perl(
        &apart(&format!(
            r#"my ($type, $at) = ("tmpfs", "/tmp"); try({}, $type, $at, $type, 0, 0);"#,
            libc::SYS_mount
        )),
        Works,
    );
    no_bind_mount: Attack::perl(
        &apart(&format!(
            r#"my ($from, $at) = ("/usr", "/tmp"); try({}, $from, $at, 0, 4096, 0);"#,
            libc::SYS_mount
        )),
        Works,
    );
    no_writable_remount: Attack::perl(
        &apart(&format!(
            r#"my ($none, $at) = ("none", "/"); try({}, $none, $at, 0, 0x1020, 0);"#,
            libc::SYS_mount
        )),
        Works,
    );
    no_unmount: Attack::perl(
        &apart(&format!(r#"my $at = "/proc"; try({}, $at, 2);"#, libc::SYS_umount2)),
        Works,
    );
    no_new_mount_calls: Attack::perl(
        &format!(
            r#"my $type = "tmpfs"; my $one = syscall({}, $type, 0); my $root = "/"; my $two = syscall({}, -100, $root, 1);
               verdict($one != -1 || $two != -1);"#,
            libc::SYS_fsopen, libc::SYS_open_tree
        ),
        Works,
    );
    no_pivot: Attack::perl(
        &apart(&format!(r#"my $here = "."; reach({}, $here, $here);"#, libc::SYS_pivot_root)),
        Works,
    );
    no_chroot: Attack::perl(
        &format!(r#"my $here = "."; try({}, $here);"#, libc::SYS_chroot),
        Works,
    );
    no_device_nodes: Attack::perl(
        &format!(r#"my $name = "node"; try({}, -100, $name, 0020666, 0x103);"#, libc::SYS_mknodat),
        Works,
    );
    no_files_by_handle: Attack::perl(
        &format!(
            r#"my $root = "/"; my $handle = pack("LL", 128, 0) . "\0" x 128; my $mount = "\0" x 8;
               syscall({}, -100, $root, $handle, $mount, 0); open(my $fd, "<", "/"); try({}, fileno($fd), $handle, 0);"#,
            libc::SYS_name_to_handle_at, libc::SYS_open_by_handle_at
        ),
        Works,
    );
    no_ptrace: Attack::perl(
        &neighbour(&format!("try({}, 16, $pid, 0, 0)", libc::SYS_ptrace)),
        Works,
    );
    no_ptrace_of_the_first_process: Attack::closed(libc::SYS_ptrace, "16, 1, 0, 0", NotTried(HARMFUL));
    no_reading_of_other_memory: Attack::perl(
        &neighbour(&format!(
            r#"my $got = "\0" x 8; my $here = pack("JJ", unpack("J", pack("p", $got)), 8);
               my $there = pack("JJ", unpack("J", pack("p", $word)), 8); try({}, $pid, $here, 1, $there, 1, 0)"#,
            libc::SYS_process_vm_readv
        )),
        Works,
    );
    no_stealing_of_open_files: Attack::perl(
        &neighbour(&format!(
            "my $fd = syscall({}, $pid, 0); try({}, $fd, 0, 0)",
            libc::SYS_pidfd_open, libc::SYS_pidfd_getfd
        )),
        Works,
    );
    no_comparing_of_processes: Attack::perl(
        &neighbour(&format!("try({}, $pid, $$, 1, 0, 0)", libc::SYS_kcmp)),
        NotTried(KERNEL),
    );
    no_keyring: Attack::call(libc::SYS_keyctl, "0, -3, 1", Works);
    no_new_key: Attack::perl(
        &format!(
            r#"my ($type, $name, $word) = ("user", "sandtop-test", "x"); try({}, $type, $name, $word, 1, -1);"#,
            libc::SYS_add_key
        ),
        Works,
    );
    no_bpf: Attack::perl(
        &format!(r#"my $map = pack("L4", 2, 4, 4, 1) . "\0" x 112; try({}, 0, $map, 128);"#, libc::SYS_bpf),
        NotTried(KERNEL),
    );
    no_performance_events: Attack::perl(
        &format!(r#"my $event = pack("LLQ", 1, 112, 0) . "\0" x 96; try({}, $event, 0, -1, -1, 0);"#, libc::SYS_perf_event_open),
        NotTried(KERNEL),
    );
    no_page_fault_handling: Attack::call(libc::SYS_userfaultfd, "0", Works);
    no_io_rings: Attack::perl(
        &format!(r#"my $wishes = "\0" x 120; try({}, 1, $wishes);"#, libc::SYS_io_uring_setup),
        NotTried(KERNEL),
    );
    no_kernel_modules: Attack::perl(
        &format!(r#"my $words = ""; reach({}, 0, 0, $words);"#, libc::SYS_init_module),
        NotTried(KERNEL),
    );
    no_other_kernel: Attack::closed(libc::SYS_kexec_load, "0, 1000, 0, 0", NotTried(KERNEL));
    no_reboot: Attack::closed(libc::SYS_reboot, "0, 0, 0, 0", Works);
    no_swap: Attack::perl(
        &format!(r#"my $file = "/no/such/file"; reach({}, $file, 0);"#, libc::SYS_swapon),
        Works,
    );
    no_accounting: Attack::perl(
        &format!(r#"my $file = "/no/such/file"; reach({}, $file);"#, libc::SYS_acct),
        NotTried(KERNEL),
    );
    no_change_of_time: Attack::closed(libc::SYS_clock_settime, "0, 0", Works);
    no_change_of_name: Attack::perl(
        &apart(&format!(r#"my $name = "other"; try({}, $name, 5);"#, libc::SYS_sethostname)),
        Works,
    );
    no_kernel_log: Attack::call(libc::SYS_syslog, "10, 0, 0", Works);
    no_watching_of_all_files: Attack::call(libc::SYS_fanotify_init, "0, 0", Works);
    no_raw_socket: Attack::call(libc::SYS_socket, "2, 3, 1", Works);
    no_packet_socket: Attack::call(libc::SYS_socket, "17, 3, 0", Works);
    no_socket_to_the_hypervisor: Attack::call(libc::SYS_socket, "40, 1, 0", NotTried(KERNEL));
    no_socket_into_the_kernels_ciphers: Attack::call(libc::SYS_socket, "38, 5, 0", NotTried(KERNEL));
    no_becoming_root: Attack::perl(
        &format!("syscall({}, 0, 0, 0); verdict($> == 0);", libc::SYS_setresuid),
        Works,
    );
    no_higher_limits: Attack::perl(
        &format!(
            r#"my $most = pack("QQ", 1 << 20, 1 << 20); try({}, 0, 7, $most, 0);"#,
            libc::SYS_prlimit64
        ),
        NotTried(KERNEL),
    );
    no_higher_priority: Attack::call(libc::SYS_setpriority, "0, 0, -5", Works);
    no_real_time: Attack::perl(
        &format!(r#"my $priority = pack("L", 1); try({}, 0, 1, $priority);"#, libc::SYS_sched_setscheduler),
        NotTried(KERNEL),
    );
    no_protection_from_the_memory_killer: Attack::perl(
        r#"my $f; my $ok = open($f, ">", "/proc/self/oom_score_adj") && syswrite($f, "-900"); verdict($ok);"#,
        NotTried(KERNEL),
    );
}

#[cfg(target_arch = "x86_64")]
attacks! {
    no_ports_of_the_hardware: Attack::call(libc::SYS_ioperm, "0, 1, 1", NotTried(KERNEL));
    // The same kernel by other numbers: `unshare` as the x32 world calls it.
    no_second_door: Attack::call(0x4000_0000 + libc::SYS_unshare, "0x00020000", NotTried("few kernels have that door"));
}
