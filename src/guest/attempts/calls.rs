//! System calls that sandtop's filter refuses and that an ordinary kernel grants to everybody or to whoever has the rights.

use std::ffi::{c_long, c_void};
use std::ptr::null_mut;

use super::Attempt;
use crate::abi::{self, AF_ALG, AF_PACKET, AF_VSOCK, CLONE_NEWUSER, SIGCHLD, SOCK_STREAM, call};
use crate::kernel;
use crate::wire::attempts::{Outcome, Wall};

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// A way to keep a program's addresses from being random.
const ADDR_NO_RANDOMIZE: usize = 0x0004_0000;
/// Handles page faults of the own program only, which needs no rights.
const UFFD_USER_MODE_ONLY: usize = 1;
/// Asks for the keyring of the session, and makes it.
const GET_KEYRING: [usize; 3] = [0, (-3_isize).cast_unsigned(), 1];
const PTRACE_TRACEME: usize = 0;
/// Adds up to a number of another world of calls, which the same kernel has.
#[cfg(target_arch = "x86_64")]
const X32: c_long = 0x4000_0000;

/// A call and how it is made; `true` when it went well.
type Try = (&'static str, fn() -> bool);

/// Everything here, in the order in which it is told.
pub(super) fn attempts() -> Vec<Attempt<'static>> {
    let plain: [Try; 16] = [
        ("io_uring_setup", io_uring),
        ("socket of a hypervisor (AF_VSOCK)", || {
            kernel::make_socket(AF_VSOCK, SOCK_STREAM, 0).is_ok()
        }),
        ("socket into the kernel's ciphers (AF_ALG)", || {
            kernel::make_socket(AF_ALG, abi::SOCK_SEQPACKET, 0).is_ok()
        }),
        ("socket for raw packets (AF_PACKET)", || {
            kernel::make_socket(AF_PACKET, abi::SOCK_RAW, 0).is_ok()
        }),
        ("ptrace", || {
            succeeds(call::PTRACE, [PTRACE_TRACEME, 0, 0, 0])
        }),
        ("process_vm_readv", reads_memory),
        ("pidfd_getfd", takes_descriptor),
        ("unshare of users", || {
            kernel::unshare(CLONE_NEWUSER).is_ok()
        }),
        ("clone with new users", || {
            let flags = (CLONE_NEWUSER | SIGCHLD).cast_unsigned() as usize;
            forks(call::CLONE, [flags, 0, 0, 0])
        }),
        ("clone3", clone3),
        ("keyctl", || {
            let [operation, keyring, create] = GET_KEYRING;
            succeeds(call::KEYCTL, [operation, keyring, create, 0])
        }),
        ("userfaultfd", || {
            succeeds(call::USERFAULTFD, [UFFD_USER_MODE_ONLY, 0, 0, 0])
        }),
        ("personality", || {
            succeeds(call::PERSONALITY, [ADDR_NO_RANDOMIZE, 0, 0, 0])
        }),
        ("bpf", bpf),
        ("perf_event_open", perf_event),
        ("fsopen", opens_file_system),
    ];
    let all = plain.into_iter().chain(other_worlds());
    all.map(|(name, works)| Attempt::new(Wall::Calls, name, move |_| works()))
        .collect()
}

/// Names the calls that can be made.
pub(crate) fn open_calls() -> Vec<String> {
    let lines = attempts().into_iter().map(|attempt| attempt.run());
    let open = lines.filter(|line| line.outcome == Outcome::Open);
    open.map(|line| line.name).collect()
}

#[cfg(target_arch = "x86_64")]
fn other_worlds() -> Vec<Try> {
    vec![
        ("calls of 32 bits", call_of_32_bits),
        ("calls of x32", || {
            succeeds(X32 + call::GETPID, [0, 0, 0, 0])
        }),
    ]
}

#[cfg(not(target_arch = "x86_64"))]
fn other_worlds() -> Vec<Try> {
    Vec::new()
}

/// Makes a call whose arguments are numbers.
fn succeeds(number: c_long, [a, b, c, d]: [usize; 4]) -> bool {
    // SAFETY: no argument is an address.
    unsafe { syscall(number, a, b, c, d) >= 0 }
}

/// Makes a call that splits off a process, which ends at once.
fn forks(number: c_long, [a, b, c, d]: [usize; 4]) -> bool {
    // SAFETY: without a stack or shared memory this is a fork; the process has one thread. The last argument is none.
    match unsafe { syscall(number, a, b, c, d, 0_usize) } {
        0 => kernel::exit_now(0),
        pid => pid > 0,
    }
}

fn clone3() -> bool {
    let exit_signal = u64::from(SIGCHLD.unsigned_abs());
    let arguments: [u64; 8] = [0, 0, 0, 0, exit_signal, 0, 0, 0];
    let address = (&raw const arguments).expose_provenance();
    forks(call::CLONE3, [address, size_of_val(&arguments), 0, 0])
}

/// Begins to mount, and mounts nothing: an attempt that works must do no harm.
fn opens_file_system() -> bool {
    // SAFETY: the string is static.
    unsafe { syscall(call::FSOPEN, c"tmpfs".as_ptr(), 0_usize) >= 0 }
}

fn io_uring() -> bool {
    let mut wishes = [0_u64; 15];
    // SAFETY: the array has the size of struct io_uring_params and lives through the call.
    unsafe { syscall(call::IO_URING_SETUP, 1_usize, wishes.as_mut_ptr()) >= 0 }
}

/// Reads the own memory as if it were another process's.
fn reads_memory() -> bool {
    let (word, mut copy) = (7_u64, 0_u64);
    let part = |base: *mut c_void| abi::Part {
        base,
        length: size_of::<u64>(),
    };
    let here = part((&raw mut copy).cast());
    let there = part((&raw const word).cast_mut().cast());
    let own = std::process::id() as usize;
    // SAFETY: both parts are as long as said and live through the call.
    unsafe {
        syscall(
            call::PROCESS_VM_READV,
            own,
            &raw const here,
            1_usize,
            &raw const there,
            1_usize,
            0_usize,
        ) >= 0
    }
}

fn takes_descriptor() -> bool {
    let own = std::process::id() as usize;
    // SAFETY: the argument is a number.
    let process = unsafe { syscall(call::PIDFD_OPEN, own, 0_usize) };
    usize::try_from(process).is_ok_and(|process| succeeds(call::PIDFD_GETFD, [process, 0, 0, 0]))
}

/// Makes a map of the kernel's own machine: kind array, four bytes to four bytes, one of them.
fn bpf() -> bool {
    let attributes: [u32; 32] = {
        let mut all = [0; 32];
        all[..4].copy_from_slice(&[2, 4, 4, 1]);
        all
    };
    // SAFETY: the array is as large as said and lives through the call; number 0 makes a map.
    unsafe {
        syscall(
            call::BPF,
            0_usize,
            attributes.as_ptr(),
            size_of_val(&attributes),
        ) >= 0
    }
}

/// Counts page faults of this process, which asks the least of rights.
fn perf_event() -> bool {
    const SOFTWARE: u32 = 1;
    const SIZE: u32 = 112;
    const PAGE_FAULTS: u32 = 2;
    /// Neither the kernel nor a hypervisor.
    const ONLY_PROGRAM: u32 = 0b110_0000;
    let mut event = [0_u32; 28];
    event[..3].copy_from_slice(&[SOFTWARE, SIZE, PAGE_FAULTS]);
    event[10] = ONLY_PROGRAM;
    let (nobody, none) = (-1_isize, null_mut::<c_void>());
    // SAFETY: the array is as large as it says itself and lives through the call.
    unsafe {
        syscall(
            call::PERF_EVENT_OPEN,
            event.as_ptr(),
            0_usize,
            nobody,
            nobody,
            none,
        ) >= 0
    }
}

#[cfg(target_arch = "x86_64")]
fn call_of_32_bits() -> bool {
    let pid: u64;
    // SAFETY: number 20 of that world asks for the process's number and touches no memory; r8 to r11 may be lost.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inlateout("rax") 20_u64 => pid,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    pid == u64::from(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What needs no rights works outside of sandboxes: an attempt that works nowhere proves nothing.
    #[test]
    fn attempts_work_where_nothing_forbids_them() {
        let harmless = ["process_vm_readv", "personality", "clone3"];
        let mut tried = attempts();
        tried.retain(|attempt| harmless.contains(&attempt.name.as_str()));
        let lines = tried.iter().map(Attempt::run);
        let open = lines.filter(|line| line.outcome == Outcome::Open);
        let open: Vec<String> = open.map(|line| line.name).collect();
        let status = std::fs::read_to_string("/proc/self/status").expect("the kernel's account");
        if status.lines().any(|line| line == "Seccomp:\t0") {
            assert_eq!(open, ["process_vm_readv", "clone3", "personality"]);
        } else {
            eprintln!("outside: not tried, this process is filtered itself");
        }
    }
}
