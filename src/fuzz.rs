//! Hostile bytes for readers of foreign data: whatever comes, a reader answers and does not panic.
//!
//! Inputs are mutants of good ones. What brings an answer of a new kind joins them, so that a run gets deeper by itself. A run is
//! the same each time; `SANDTOP_FUZZ_EXECUTIONS` and `SANDTOP_FUZZ_SEED` make a longer or another one. What once crashed a
//! reader lies in `tests/cases/crashes`, one file each in a folder of the reader's name, and is read again with every test.

#![allow(clippy::indexing_slicing, clippy::print_stdout)] // It is made for tests, which may panic and print.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// Inputs of a run, unless the environment asks for more: well below a second each.
const EXECUTIONS: u64 = 3000;
/// Inputs that are kept as a start for others.
const MOST_KEPT: usize = 2000;
/// The longest input.
const LONGEST: usize = 4096;
/// Changes made to one input at the most.
const MOST_CHANGES: u64 = 6;

/// Numbers at whose sides readers go wrong.
const EDGES: [&[u8]; 14] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\0\0\0\x80",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"-1",
    b"18446744073709551615",
    b"9223372036854775808",
    b"4294967296",
    b"1e999",
    b"\n",
    b"\xf0\x9f\x92\xa9",
    b"\xe2\x80\xae",
    b"\xc3",
];

/// A reader under trial.
pub(crate) struct Target<'a> {
    /// Names it in reports, and the folder of what crashed it.
    pub(crate) name: &'a str,
    /// Good inputs.
    pub(crate) seeds: &'a [&'a [u8]],
    /// Words of its language.
    pub(crate) words: &'a [&'a [u8]],
    /// What an input costs, in those of a cheap reader: one that writes files gets fewer.
    pub(crate) cost: u64,
}

impl Target<'_> {
    /// Runs the reader; what it answers tells whether an input is of a new kind.
    pub(crate) fn run<T: Hash>(&self, read: impl Fn(&[u8]) -> T) {
        self.read_again(&read);
        let mut random = Random(setting("SANDTOP_FUZZ_SEED", 1).wrapping_mul(2) + 1);
        let mut inputs: Vec<Vec<u8>> = self.seeds.iter().map(|seed| seed.to_vec()).collect();
        let mut answers: HashSet<u64> = HashSet::new();
        let executions = setting("SANDTOP_FUZZ_EXECUTIONS", EXECUTIONS) / self.cost;
        for execution in 0..executions.max(1) {
            let input = match inputs.get(usize::try_from(execution).unwrap_or(usize::MAX)) {
                Some(seed) if execution < self.seeds.len() as u64 => seed.clone(),
                _ => self.mutant(&inputs, &mut random),
            };
            let is_new = answers.insert(hash(&self.read(&read, &input)));
            if is_new && inputs.len() < MOST_KEPT {
                inputs.push(input);
            }
        }
        println!(
            "{}: {executions} inputs, {} kinds of answers",
            self.name,
            answers.len()
        );
    }

    fn read_again<T>(&self, read: &impl Fn(&[u8]) -> T) {
        let crashes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/crashes");
        let Ok(files) = std::fs::read_dir(crashes.join(self.name)) else {
            return;
        };
        for file in files {
            let path = file.expect("a file").path();
            read(&std::fs::read(&path).expect("readable"));
        }
    }

    fn read<T>(&self, read: &impl Fn(&[u8]) -> T, input: &[u8]) -> T {
        catch_unwind(AssertUnwindSafe(|| read(input))).unwrap_or_else(|panic| {
            let shown = input.escape_ascii();
            println!(
                "{} was crashed; keep this below tests/cases/crashes/{}:\n{shown}",
                self.name, self.name
            );
            resume_unwind(panic)
        })
    }

    fn mutant(&self, inputs: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
        let mut input = random.pick(inputs).cloned().unwrap_or_default();
        for _ in 0..=random.below(MOST_CHANGES) {
            self.change(&mut input, inputs, random);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&self, input: &mut Vec<u8>, inputs: &[Vec<u8>], random: &mut Random) {
        let from = random.place(input.len());
        let to = (from + random.place(16)).min(input.len());
        match random.below(8) {
            0 => flip(input, from, random),
            1 => drop(input.drain(from..to)),
            2 => repeat(input, from..to),
            3 => insert(input, from, &[random.byte()]),
            4 => replace(input, from, random.pick(&EDGES).copied().unwrap_or(b"")),
            5 => input.truncate(from),
            6 => {
                let other = random.pick(inputs).cloned().unwrap_or_default();
                input.truncate(from);
                input.extend_from_slice(&other[random.place(other.len())..]);
            }
            _ => insert(input, from, random.pick(self.words).copied().unwrap_or(b"")),
        }
    }
}

/// Tells what an answer is like: names of types and how much there is, since each text and number would be new.
pub(crate) fn kind_of(answer: &impl Debug) -> String {
    let mut text = format!("{answer:?}");
    text.retain(|c| c.is_ascii_uppercase() || ",{[(".contains(c));
    text.chars().take(64).collect()
}

fn flip(input: &mut [u8], at: usize, random: &mut Random) {
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn repeat(input: &mut Vec<u8>, range: Range<usize>) {
    let copy = input[range.clone()].to_vec();
    insert(input, range.start, &copy);
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}

fn replace(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = (at + bytes.len()).min(input.len());
    input.splice(at..end, bytes.iter().copied());
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn setting(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().expect(name))
}

/// Numbers that look like chance (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64 + 1)).unwrap_or(length)
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap_or_default()
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.place(all.len().saturating_sub(1)))
    }
}

#[test]
#[should_panic(expected = "found")]
fn a_reader_that_panics_is_found() {
    let target = Target {
        name: "self",
        seeds: &[b"(1)"],
        words: &[b"("],
        cost: 1,
    };
    target.run(|input| {
        let depth = memchr::memchr_iter(b'(', input).count();
        assert!(depth < 20, "found");
        depth
    });
}
