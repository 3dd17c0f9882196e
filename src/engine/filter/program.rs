//! The filter as a program that the kernel runs at each call. Whatever is always allowed costs nothing: the kernel remembers it.

use super::calls::{Call, DANGEROUS, useful};
use super::{Allowed, CONDITIONS, Condition, Memory};

#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
#[cfg(not(target_arch = "aarch64"))]
const ARCHITECTURE: u32 = 0xc000_003e;

/// Numbers from here on are another way to call the same kernel, past any list.
const SECOND_DOOR: u32 = 0x4000_0000;

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const IF_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
const ERROR: u32 = 0x0005_0000;
const NOT_PERMITTED: u32 = ERROR | super::NOT_PERMITTED as u32;
/// The call is not made, and its caller hears that all went well.
const DONE_NOTHING: u32 = ERROR;
const NO_MEMORY: u32 = ERROR | 0x0c;
const NO_SUCH_CALL: u32 = ERROR | super::NO_SUCH_CALL as u32;

/// Where the kernel puts the number, the architecture and the arguments (their lower halves).
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;
const SECOND_ARGUMENT: u32 = ARGUMENTS + 8;
const THIRD_ARGUMENT: u32 = ARGUMENTS + 16;
const UPPER_HALF: u32 = 4;

/// The largest segment of shared memory where nobody would count them: all that there can be are 64 MiB.
const LARGEST_SEGMENT: u32 = 16 << 10;

/// Options of sockets that set their buffers: plain, and by force.
const BUFFER_OPTIONS: [u32; 4] = [7, 8, 32, 33];
/// What these options are about.
const SOCKET_LEVEL: u32 = 1;

/// Writes the program, eight bytes an instruction.
pub(in crate::engine) fn program(memory: Memory) -> Vec<u8> {
    let mut program = Program::default();
    program.step(LOAD, 0, 0, ARCH);
    program.step(IF_EQUAL, 1, 0, ARCHITECTURE);
    program.step(RETURN, 0, 0, KILL);
    program.step(LOAD, 0, 0, NUMBER);
    program.step(IF_AT_LEAST, 0, 1, SECOND_DOOR);
    program.step(RETURN, 0, 0, NO_SUCH_CALL);
    for condition in CONDITIONS {
        program.when(condition.call.number, |inner| inner.check(condition));
    }
    if memory == Memory::Watched {
        program.limit_hidden_memory();
    }
    for call in DANGEROUS {
        program.answer(*call, NOT_PERMITTED);
    }
    for call in useful() {
        program.answer(call, ALLOW);
    }
    program.step(RETURN, 0, 0, NO_SUCH_CALL);
    program.0
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

/// Instructions as they are put together.
#[derive(Default)]
struct Program(Vec<u8>);

impl Program {
    fn step(&mut self, code: u16, if_true: u8, if_false: u8, value: u32) {
        self.0.extend(code.to_ne_bytes());
        self.0.extend([if_true, if_false]);
        self.0.extend(value.to_ne_bytes());
    }

    /// Adds steps for one call; they must all end in a return.
    fn when(&mut self, call: libc::c_long, build: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        build(&mut inner);
        let length = u8::try_from(inner.0.len() / 8).unwrap_or(u8::MAX);
        self.step(IF_EQUAL, 0, length, number(call));
        self.0.extend(inner.0);
    }

    /// Keeps memory that belongs to no process small, where somebody has to look for it.
    fn limit_hidden_memory(&mut self) {
        self.when(libc::SYS_memfd_create, |inner| {
            inner.step(RETURN, 0, 0, NO_SUCH_CALL);
        });
        self.when(libc::SYS_shmget, |inner| {
            inner.step(LOAD, 0, 0, SECOND_ARGUMENT + UPPER_HALF);
            inner.step(IF_EQUAL, 0, 2, 0);
            inner.step(LOAD, 0, 0, SECOND_ARGUMENT);
            inner.step(IF_AT_LEAST, 0, 1, LARGEST_SEGMENT + 1);
            inner.step(RETURN, 0, 0, NO_MEMORY);
            inner.step(RETURN, 0, 0, ALLOW);
        });
        // Sockets keep the buffers that they have. Programs ask for others as a wish, which the kernel may cut already.
        self.when(libc::SYS_setsockopt, |inner| {
            inner.step(LOAD, 0, 0, SECOND_ARGUMENT);
            inner.step(IF_EQUAL, 1, 0, SOCKET_LEVEL);
            inner.step(RETURN, 0, 0, ALLOW);
            inner.step(LOAD, 0, 0, THIRD_ARGUMENT);
            for option in BUFFER_OPTIONS {
                inner.step(IF_EQUAL, 0, 1, option);
                inner.step(RETURN, 0, 0, DONE_NOTHING);
            }
            inner.step(RETURN, 0, 0, ALLOW);
        });
    }

    /// Adds the answer to a call, whatever its arguments.
    fn answer(&mut self, call: Call, answer: u32) {
        self.step(IF_EQUAL, 0, 1, number(call.number));
        self.step(RETURN, 0, 0, answer);
    }

    /// Adds the answers to a call whose argument decides.
    fn check(&mut self, condition: &Condition) {
        let refuse = ERROR | u32::from(condition.refusal);
        self.step(LOAD, 0, 0, ARGUMENTS + 8 * u32::from(condition.argument));
        let (rare, otherwise) = match condition.allowed {
            Allowed::Only(_) => (ALLOW, refuse),
            Allowed::AllBut(_) | Allowed::Without(_) => (refuse, ALLOW),
        };
        match condition.allowed {
            Allowed::Only(values) | Allowed::AllBut(values) => {
                for value in values {
                    self.step(IF_EQUAL, 0, 1, *value);
                    self.step(RETURN, 0, 0, rare);
                }
            }
            Allowed::Without(bits) => {
                self.step(IF_ANY_BIT, 0, 1, bits);
                self.step(RETURN, 0, 0, rare);
            }
        }
        self.step(RETURN, 0, 0, otherwise);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::engine::filter::NO_SUCH_FAMILY;

    const FAMILY_REFUSED: u32 = ERROR | NO_SUCH_FAMILY as u32;

    /// Runs the program as the kernel would.
    fn answer(architecture: u32, call: u32, first: u32, second: u64) -> u32 {
        let program = program(Memory::Counted);
        answer_of(&program, architecture, call, first, second, 0)
    }

    fn answer_of(
        program: &[u8],
        architecture: u32,
        call: u32,
        first: u32,
        second: u64,
        third: u32,
    ) -> u32 {
        let half = |bits: u64| u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
        let mut steps = program.as_chunks::<8>().0.iter();
        let mut loaded = 0;
        while let Some([c, d, jt, jf, k @ ..]) = steps.next() {
            let value = u32::from_ne_bytes(*k);
            let holds = match u16::from_ne_bytes([*c, *d]) {
                LOAD => {
                    loaded = match value {
                        NUMBER => call,
                        ARCH => architecture,
                        ARGUMENTS => first,
                        SECOND_ARGUMENT => half(second),
                        THIRD_ARGUMENT => third,
                        _ => half(second >> 32),
                    };
                    continue;
                }
                RETURN => return value,
                IF_EQUAL => loaded == value,
                IF_AT_LEAST => loaded >= value,
                _ => loaded & value != 0,
            };
            for _ in 0..(if holds { *jt } else { *jf }) {
                steps.next();
            }
        }
        unreachable!("the program has no end");
    }

    fn here(call: libc::c_long, first: u32, second: u64) -> u32 {
        answer(ARCHITECTURE, number(call), first, second)
    }

    #[test]
    fn calls_get_their_answers() {
        for (call, first, second, expected) in [
            (libc::SYS_read, 0, 0, ALLOW),
            (libc::SYS_shutdown, 0, 0, ALLOW),
            (libc::SYS_mount, 0, 0, NOT_PERMITTED),
            (libc::SYS_bpf, 0, 0, NOT_PERMITTED),
            (libc::SYS_clone3, 0, 0, NO_SUCH_CALL),
            (libc::SYS_clone, 17, 0, ALLOW),
            (libc::SYS_clone, 0x1000_0011, 0, NOT_PERMITTED),
            (libc::SYS_clone, 0x4000_0011, 0, NOT_PERMITTED),
            (libc::SYS_socket, 1, 0, ALLOW),
            (libc::SYS_socket, 2, 0, ALLOW),
            (libc::SYS_socket, 17, 0, FAMILY_REFUSED),
            (libc::SYS_socket, 38, 0, FAMILY_REFUSED),
            (libc::SYS_ioctl, 0, 0x5413, ALLOW),
            (libc::SYS_ioctl, 0, 0x5412, NOT_PERMITTED),
            (libc::SYS_personality, 0x0004_0000, 0, NOT_PERMITTED),
        ] {
            assert_eq!(
                here(call, first, second),
                expected,
                "call {call}, {first:#x}"
            );
        }
        assert_eq!(here(100_000, 0, 0), NO_SUCH_CALL);
    }

    #[test]
    fn what_no_watcher_sees_is_refused() {
        let watched = program(Memory::Watched);
        for (call, size, expected) in [
            (libc::SYS_memfd_create, 0, NO_SUCH_CALL),
            (libc::SYS_shmget, 16 << 10, ALLOW),
            (libc::SYS_shmget, (16 << 10) + 1, NO_MEMORY),
            (libc::SYS_shmget, 1 << 32, NO_MEMORY),
            (libc::SYS_read, 1 << 40, ALLOW),
        ] {
            let answered = answer_of(&watched, ARCHITECTURE, number(call), 0, size, 0);
            assert_eq!(answered, expected, "call {call}, {size}");
            assert_eq!(here(call, 0, size), ALLOW, "call {call}, {size}");
        }
    }

    #[test]
    fn buffers_of_sockets_stay_as_they_are_where_somebody_has_to_count_them() {
        let watched = program(Memory::Watched);
        let set = number(libc::SYS_setsockopt);
        for (level, option, expected) in [
            (libc::SOL_SOCKET, libc::SO_SNDBUF, DONE_NOTHING),
            (libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, DONE_NOTHING),
            (libc::SOL_SOCKET, libc::SO_KEEPALIVE, ALLOW),
            (libc::IPPROTO_TCP, libc::SO_SNDBUF, ALLOW),
        ] {
            let (level, option) = (u64::from(level.unsigned_abs()), option.unsigned_abs());
            let answered = answer_of(&watched, ARCHITECTURE, set, 3, level, option);
            assert_eq!(answered, expected, "{level} {option}");
        }
    }

    #[test]
    fn no_other_door_is_open() {
        let read = number(libc::SYS_read);
        assert_eq!(answer(ARCHITECTURE, SECOND_DOOR | read, 0, 0), NO_SUCH_CALL);
        assert_eq!(answer(0x4000_0003, read, 0, 0), KILL);
    }

    #[test]
    fn the_program_fits_and_the_lists_do_not_overlap() {
        assert!(program(Memory::Watched).len() / 8 < 4096);
        let all = || DANGEROUS.iter().copied().chain(useful());
        let numbers: BTreeSet<i64> = all().map(|call| call.number).collect();
        assert_eq!(numbers.len(), all().count(), "a call has two answers");
        let conditional = CONDITIONS.iter().map(|condition| condition.call.number);
        assert_eq!(conditional.filter(|n| numbers.contains(n)).count(), 0);
    }
}
