//! Compares every number and layout with the `libc` crate.

use std::mem::{align_of, offset_of, size_of};

use super::*;

/// Compares numbers of any types.
macro_rules! same {
    ($($own:expr => $theirs:expr),* $(,)?) => {
        $(assert_eq!(i128::from($own), i128::from($theirs), stringify!($own));)*
    };
}

/// Compares sizes and alignments.
macro_rules! same_layout {
    ($($own:ty => $theirs:ty),* $(,)?) => {
        $(assert_eq!(size_of::<$own>(), size_of::<$theirs>(), stringify!($own));
          assert!(align_of::<$own>() >= align_of::<$theirs>(), stringify!($own));)*
    };
}

#[test]
fn system_calls_have_the_kernels_numbers() {
    same! {
        call::CLONE => libc::SYS_clone,
        call::CLONE3 => libc::SYS_clone3,
        call::IO_URING_SETUP => libc::SYS_io_uring_setup,
        call::FSOPEN => libc::SYS_fsopen,
        call::PIDFD_OPEN => libc::SYS_pidfd_open,
        call::PIDFD_GETFD => libc::SYS_pidfd_getfd,
        call::LANDLOCK_CREATE_RULESET => libc::SYS_landlock_create_ruleset,
        call::LANDLOCK_RESTRICT_SELF => libc::SYS_landlock_restrict_self,
        call::PTRACE => libc::SYS_ptrace,
        call::PERSONALITY => libc::SYS_personality,
        call::KEYCTL => libc::SYS_keyctl,
        call::PERF_EVENT_OPEN => libc::SYS_perf_event_open,
        call::PROCESS_VM_READV => libc::SYS_process_vm_readv,
        call::BPF => libc::SYS_bpf,
        call::USERFAULTFD => libc::SYS_userfaultfd,
        call::PIVOT_ROOT => libc::SYS_pivot_root,
        call::OPEN_TREE => libc::SYS_open_tree,
        call::OPENAT2 => libc::SYS_openat2,
        call::MOVE_MOUNT => libc::SYS_move_mount,
        call::CLOSE_RANGE => libc::SYS_close_range,
        call::MOUNT_SETATTR => libc::SYS_mount_setattr,
    }
    #[cfg(target_arch = "x86_64")]
    same! { call::GETPID => libc::SYS_getpid }
}

#[test]
fn signals_and_process_options_are_those_of_the_c_library() {
    same! {
        SIGTERM => libc::SIGTERM,
        SIGHUP => libc::SIGHUP,
        SIGINT => libc::SIGINT,
        SIGQUIT => libc::SIGQUIT,
        SIGTSTP => libc::SIGTSTP,
        SIGKILL => libc::SIGKILL,
        SIGSTOP => libc::SIGSTOP,
        SIGCONT => libc::SIGCONT,
        SIGCHLD => libc::SIGCHLD,
        SIG_BLOCK => libc::SIG_BLOCK,
        SIG_SETMASK => libc::SIG_SETMASK,
        SFD_NONBLOCK => libc::SFD_NONBLOCK,
        SFD_CLOEXEC => libc::SFD_CLOEXEC,
        WNOHANG => libc::WNOHANG,
        PR_SET_PDEATHSIG => libc::PR_SET_PDEATHSIG,
        PR_SET_DUMPABLE => libc::PR_SET_DUMPABLE,
        PR_SET_SECCOMP => libc::PR_SET_SECCOMP,
        PR_CAPBSET_DROP => libc::PR_CAPBSET_DROP,
        PR_SET_CHILD_SUBREAPER => libc::PR_SET_CHILD_SUBREAPER,
        PR_SET_NO_NEW_PRIVS => libc::PR_SET_NO_NEW_PRIVS,
        PR_CAP_AMBIENT => libc::PR_CAP_AMBIENT,
        PR_CAP_AMBIENT_CLEAR_ALL => libc::PR_CAP_AMBIENT_CLEAR_ALL,
        SECCOMP_MODE_FILTER => libc::SECCOMP_MODE_FILTER,
        PRIO_PROCESS => libc::PRIO_PROCESS,
        RLIMIT_CORE => libc::RLIMIT_CORE,
        RLIMIT_NOFILE => libc::RLIMIT_NOFILE,
        MADV_DONTNEED => libc::MADV_DONTNEED,
        SC_PAGESIZE => libc::_SC_PAGESIZE,
    }
}

#[test]
fn namespaces_and_mounts_are_those_of_the_kernel() {
    same! {
        CLONE_NEWNS => libc::CLONE_NEWNS,
        CLONE_NEWCGROUP => libc::CLONE_NEWCGROUP,
        CLONE_NEWUTS => libc::CLONE_NEWUTS,
        CLONE_NEWIPC => libc::CLONE_NEWIPC,
        CLONE_NEWUSER => libc::CLONE_NEWUSER,
        CLONE_NEWPID => libc::CLONE_NEWPID,
        CLONE_NEWNET => libc::CLONE_NEWNET,
        CLONE_PARENT => libc::CLONE_PARENT,
        MS_REC => libc::MS_REC,
        MS_PRIVATE => libc::MS_PRIVATE,
        MNT_DETACH => libc::MNT_DETACH,
        OPEN_TREE_CLONE => libc::OPEN_TREE_CLONE,
        RESOLVE_NO_SYMLINKS => libc::RESOLVE_NO_SYMLINKS,
        MOVE_MOUNT_F_EMPTY_PATH => libc::MOVE_MOUNT_F_EMPTY_PATH,
        crate::wire::plan::READ_ONLY => libc::MOUNT_ATTR_RDONLY,
        crate::wire::plan::NOSUID => libc::MOUNT_ATTR_NOSUID,
        crate::wire::plan::NODEV => libc::MOUNT_ATTR_NODEV,
        crate::wire::plan::NOEXEC => libc::MOUNT_ATTR_NOEXEC,
        crate::wire::plan::READ_ONLY => libc::MS_RDONLY,
        crate::wire::plan::NOSUID => libc::MS_NOSUID,
        crate::wire::plan::NODEV => libc::MS_NODEV,
        crate::wire::plan::NOEXEC => libc::MS_NOEXEC,
    }
}

#[test]
fn files_sockets_and_terminals_are_those_of_the_kernel() {
    same! {
        AT_FDCWD => libc::AT_FDCWD,
        AT_EMPTY_PATH => libc::AT_EMPTY_PATH,
        AT_RECURSIVE => libc::AT_RECURSIVE,
        RENAME_EXCHANGE => libc::RENAME_EXCHANGE,
        F_SETPIPE_SZ => libc::F_SETPIPE_SZ,
        O_RDWR => libc::O_RDWR,
        O_NOCTTY => libc::O_NOCTTY,
        O_CLOEXEC => libc::O_CLOEXEC,
        O_NONBLOCK => libc::O_NONBLOCK,
        S_IFCHR => libc::S_IFCHR,
        O_PATH => libc::O_PATH,
        O_NOFOLLOW => libc::O_NOFOLLOW,
        AF_INET => libc::AF_INET,
        AF_NETLINK => libc::AF_NETLINK,
        IPPROTO_ICMP => libc::IPPROTO_ICMP,
        AF_PACKET => libc::AF_PACKET,
        AF_ALG => libc::AF_ALG,
        AF_VSOCK => libc::AF_VSOCK,
        SOCK_STREAM => libc::SOCK_STREAM,
        SOCK_DGRAM => libc::SOCK_DGRAM,
        SOCK_RAW => libc::SOCK_RAW,
        SOCK_SEQPACKET => libc::SOCK_SEQPACKET,
        SOCK_CLOEXEC => libc::SOCK_CLOEXEC,
        SOL_SOCKET => libc::SOL_SOCKET,
        SCM_RIGHTS => libc::SCM_RIGHTS,
        MSG_NOSIGNAL => libc::MSG_NOSIGNAL,
        MSG_CMSG_CLOEXEC => libc::MSG_CMSG_CLOEXEC,
        POLLIN => libc::POLLIN,
        SIOCSIFFLAGS => libc::SIOCSIFFLAGS,
        IFF_UP => libc::IFF_UP,
        IFF_RUNNING => libc::IFF_RUNNING,
        TIOCSCTTY => libc::TIOCSCTTY,
        TIOCSWINSZ => libc::TIOCSWINSZ,
        TIOCSPTLCK => libc::TIOCSPTLCK,
        TIOCGPTPEER => libc::TIOCGPTPEER,
    }
    assert_eq!(IFNAMSIZ, libc::IFNAMSIZ);
}

#[test]
fn structures_are_laid_out_as_in_c() {
    same_layout! {
        SigSet => libc::sigset_t,
        TimeSpec => libc::timespec,
        Rusage => libc::rusage,
        RLimit => libc::rlimit,
        WinSize => libc::winsize,
        MountAttr => libc::mount_attr,
        FilterProgram => libc::sock_fprog,
        Message => libc::msghdr,
        Part => libc::iovec,
        PollFd => libc::pollfd,
    }
    assert_eq!(size_of::<IfReq>(), size_of::<libc::ifreq>());
    assert_eq!(CONTROL_HEAD, size_of::<libc::cmsghdr>());
    assert_eq!(CONTROL_HEAD, offset_of!(Control, fds));
}

#[test]
fn fields_are_where_c_has_them() {
    assert_eq!(
        offset_of!(Rusage, max_rss),
        offset_of!(libc::rusage, ru_maxrss)
    );
    assert_eq!(
        offset_of!(Message, parts),
        offset_of!(libc::msghdr, msg_iov)
    );
    assert_eq!(
        offset_of!(Message, part_count),
        offset_of!(libc::msghdr, msg_iovlen)
    );
    assert_eq!(
        offset_of!(Message, control),
        offset_of!(libc::msghdr, msg_control)
    );
    assert_eq!(
        offset_of!(Message, control_len),
        offset_of!(libc::msghdr, msg_controllen)
    );
    assert_eq!(
        offset_of!(Message, flags),
        offset_of!(libc::msghdr, msg_flags)
    );
    assert_eq!(
        offset_of!(Control, level),
        offset_of!(libc::cmsghdr, cmsg_level)
    );
    assert_eq!(
        offset_of!(Control, kind),
        offset_of!(libc::cmsghdr, cmsg_type)
    );
    assert_eq!(
        offset_of!(PollFd, happened),
        offset_of!(libc::pollfd, revents)
    );
    assert_eq!(
        offset_of!(FilterProgram, instructions),
        offset_of!(libc::sock_fprog, filter)
    );
}
