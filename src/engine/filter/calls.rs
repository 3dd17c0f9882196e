//! System calls by name: those that ordinary programs make, and those that could weaken or leave a sandbox.

/// A system call of this machine's kind of processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    constant: &'static str,
    /// What the kernel calls it.
    pub(super) number: libc::c_long,
}

impl Call {
    /// Takes the name of a constant and its value.
    pub(super) const fn new(constant: &'static str, number: libc::c_long) -> Self {
        Self { constant, number }
    }

    /// Returns its name, which is the same on every machine.
    pub(super) fn name(self) -> &'static str {
        self.constant.trim_start_matches("SYS_")
    }
}

/// Makes a list of calls from the names of their numbers.
macro_rules! calls {
    ($($constant:ident),* $(,)?) => {
        &[$($crate::engine::filter::calls::Call::new(stringify!($constant), libc::$constant)),*]
    };
}
pub(super) use calls;

/// Calls that could weaken or leave a sandbox.
#[rustfmt::skip] // A list of words, not code: one a line would take a screenful each.
pub(super) const DANGEROUS: &[Call] = calls![
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_tree, SYS_move_mount, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, SYS_open_by_handle_at, SYS_ptrace, SYS_process_vm_readv,
    SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_getfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_fanotify_init, SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct,
    SYS_quotactl, SYS_syslog, SYS_sethostname, SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime,
    SYS_adjtimex, SYS_vhangup, SYS_lookup_dcookie, SYS_nfsservctl, SYS_migrate_pages, SYS_move_pages, SYS_mbind,
    SYS_set_mempolicy,
];

/// Calls that ordinary programs make.
pub(super) fn useful() -> impl Iterator<Item = Call> {
    EVERYWHERE.iter().chain(ONLY_HERE).copied()
}

#[rustfmt::skip]
const EVERYWHERE: &[Call] = calls![
    // Files.
    SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_lseek, SYS_pread64, SYS_pwrite64, SYS_readv, SYS_writev, SYS_preadv, SYS_pwritev,
    SYS_preadv2, SYS_pwritev2, SYS_openat, SYS_openat2, SYS_mkdirat, SYS_mknodat, SYS_fchownat, SYS_newfstatat, SYS_unlinkat,
    SYS_renameat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_readlinkat, SYS_fchmodat, SYS_fchmodat2, SYS_faccessat, SYS_faccessat2,
    SYS_utimensat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_fchmod, SYS_fchown, SYS_umask, SYS_truncate, SYS_ftruncate, SYS_fallocate,
    SYS_fadvise64, SYS_readahead, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_fcntl, SYS_flock, SYS_fsync, SYS_fdatasync,
    SYS_sync, SYS_syncfs, SYS_sync_file_range, SYS_sendfile, SYS_splice, SYS_tee, SYS_vmsplice, SYS_copy_file_range, SYS_dup, SYS_dup3,
    SYS_pipe2, SYS_close_range, SYS_memfd_create, SYS_name_to_handle_at, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_getxattr,
    SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch, SYS_io_setup, SYS_io_destroy, SYS_io_getevents, SYS_io_submit,
    SYS_io_cancel, SYS_ioprio_get, SYS_ioprio_set,
    // Memory.
    SYS_mmap, SYS_mprotect, SYS_munmap, SYS_mremap, SYS_brk, SYS_msync, SYS_mincore, SYS_madvise, SYS_mlock, SYS_mlock2, SYS_munlock,
    SYS_mlockall, SYS_munlockall, SYS_pkey_mprotect, SYS_pkey_alloc, SYS_pkey_free, SYS_membarrier, SYS_get_mempolicy,
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_msgget, SYS_msgsnd, SYS_msgrcv,
    SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive, SYS_mq_notify, SYS_mq_getsetattr,
    // Processes, threads and signals.
    SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_kill, SYS_tkill, SYS_tgkill, SYS_getpid, SYS_getppid,
    SYS_gettid, SYS_getpgid, SYS_setpgid, SYS_getsid, SYS_setsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups,
    SYS_getresuid, SYS_getresgid, SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups,
    SYS_setfsuid, SYS_setfsgid, SYS_capget, SYS_capset, SYS_prctl, SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule,
    SYS_landlock_restrict_self, SYS_getpriority, SYS_setpriority, SYS_getrlimit, SYS_setrlimit, SYS_prlimit64, SYS_getrusage, SYS_times,
    SYS_sched_yield, SYS_sched_getparam, SYS_sched_setparam, SYS_sched_getscheduler, SYS_sched_setscheduler, SYS_sched_getattr,
    SYS_sched_setattr, SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_sched_getaffinity,
    SYS_sched_setaffinity, SYS_getcpu, SYS_set_tid_address, SYS_set_robust_list, SYS_get_robust_list, SYS_futex, SYS_futex_waitv,
    SYS_rseq, SYS_restart_syscall, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigtimedwait,
    SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigsuspend, SYS_sigaltstack, SYS_signalfd4, SYS_pidfd_open, SYS_pidfd_send_signal,
    SYS_process_mrelease, SYS_uname, SYS_sysinfo, SYS_getrandom,
    // Time and waiting.
    SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getitimer, SYS_setitimer,
    SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete, SYS_timerfd_create,
    SYS_timerfd_settime, SYS_timerfd_gettime, SYS_eventfd2, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2,
    SYS_ppoll, SYS_pselect6,
    // Sockets; which families is told above.
    SYS_socketpair, SYS_connect, SYS_accept, SYS_accept4, SYS_bind, SYS_listen, SYS_getsockname, SYS_getpeername, SYS_setsockopt,
    SYS_getsockopt, SYS_sendto, SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_shutdown,
];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ONLY_HERE: &[Call] = calls![
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_unlink, SYS_rename,
    SYS_link, SYS_symlink, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_getdents, SYS_dup2, SYS_pipe,
    SYS_fork, SYS_vfork, SYS_getpgrp, SYS_pause, SYS_alarm, SYS_time, SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait,
    SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_arch_prctl, SYS_ustat, SYS_sysfs,
];

#[cfg(not(target_arch = "x86_64"))]
const ONLY_HERE: &[Call] = &[];
