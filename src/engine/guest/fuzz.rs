//! Hostile words of guests, keepers and their journal.

#![allow(clippy::indexing_slicing)] // Tests may panic.

use std::fmt::Debug;

use crate::fuzz::{Target, kind_of};
use crate::guest::wire::report::{ChangeLine, ExecLine, ProcessLine, SessionLine};
use crate::guest::wire::{
    Call, DATA_HEAD, Decoder, Entry, EntryKind, JournalLine, KeeperAnswer, KeeperRequest,
    StartReport, Trailer, ZygoteAnswer, ZygoteRequest, data_head, end_bytes, entry_bytes, padding,
    plan::Plan,
};

/// What is understood is said again in a way that means the same.
fn says_the_same<T: Debug + PartialEq>(said: Option<T>, again: impl Fn(&T) -> Option<T>) -> String {
    let Some(said) = said else {
        return String::new();
    };
    assert_eq!(again(&said).as_ref(), Some(&said), "said again");
    kind_of(&said)
}

/// Defines a target for the lines of one type.
macro_rules! lines {
    ($($test:ident: $type:ty, [$($seed:literal),+];)+) => {$(
        #[test]
        fn $test() {
            let target = Target {
                name: stringify!($test),
                seeds: &[$($seed.as_bytes()),+],
                words: &[b" ", b"%20", b"%", b"%00", b"%ff", b"0", b"-", b"ok", b"end"],
                cost: 1,
            };
            target.run(|bytes| {
                let line = String::from_utf8_lossy(bytes);
                says_the_same(<$type>::parse(&line), |said| <$type>::parse(&said.encode()))
            });
        }
    )+};
}

lines! {
    keeper_request: KeeperRequest, ["hello", "pause", "run pipes 0 0 1000 100 /w 2 A=b C= /.sandtop/guest top", "run terminal 24 80 0 0 / 0 sh"];
    keeper_answer: KeeperAnswer, ["ok", "ok paused 17", "started 17", "exit 9", "error no%20room"];
    start_report: StartReport, ["ready", "error it%20broke"];
    zygote_request: ZygoteRequest, ["signal 9", "run pipes 0 0 1 1 / 1 A=b sh"];
    zygote_answer: ZygoteAnswer, ["map", "init 12", "ready", "started 12", "error no"];
    journal_line: JournalLine, ["1700000000000 0a1b box created ", "1 a b died 137"];
    process_line: ProcessLine, ["1 0 S 12 34 65534 sandbox sh%20-c"];
    change_line: ChangeLine, ["A f 12 1700000000 /a%20b", "C d 0 -1 /b", "more 17"];
    session_line: SessionLine, ["main /workspace 0 1700000000"];
    exec_line: ExecLine, ["run 4f2a", "end 4f2a cause=exit code=3"];
}

#[test]
fn trailer() {
    let target = Target {
        name: "trailer",
        seeds: &[
            b"cause=exit code=3",
            b"cause=signal signal=9 oom=1 peak=123 cpu=4 at_ms=17",
            b"error=missing message=no%20such%20file",
        ],
        words: &[
            b"=",
            b" ",
            b"error=",
            b"message=",
            b"cause=",
            b"signal=",
            b"%20",
        ],
        cost: 1,
    };
    target.run(|bytes| {
        let said = Trailer::parse(bytes);
        let again = Trailer::parse(said.encode().as_bytes());
        assert_eq!(again, said, "said again");
        kind_of(&said)
    });
}

#[test]
fn call() {
    let target = Target {
        name: "call",
        seeds: &[
            b"exec\0--id\x001\0--timeout-ms\x009\0--cwd\0/\0--session\0s\0--given\0A,B\0--\0sh",
            b"list\0/workspace",
            b"rename\0/a\0/b",
            b"delete\0/a\0recursive",
            b"read\0/a\x0012",
            b"write\0/a\x000644",
            b"changes\x0012\0/workspace\0/tmp",
            b"top",
        ],
        words: &[
            b"\0",
            b"--",
            b"--timeout-ms",
            b"--given",
            b"stat",
            b"kill\0",
            b"/",
        ],
        cost: 1,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let words: Vec<String> = text.split('\0').map(str::to_owned).collect();
        let parse = |words: &[String]| Call::parse(words).ok();
        says_the_same(parse(&words), |said| parse(&said.encode()))
    });
}

#[test]
fn plan() {
    let target = Target {
        name: "plan",
        seeds: &[
            b"name a\nid 0\nblock 100000\nlimit 6 100\nprocessors 2\nfilter %00%01\nend\n",
            b"single 1 1\nhost-network\ncgroup /c\nfreezer /f 1 0\nwatch 99 /w\nend\n",
            b"tree / / 1 0\nnew tmpfs /tmp 4 size=1\nlink a /b\nfolder /c 493\nfile /d x\nend\n",
            b"hide /a\nseal /b\nprotect /c\nend\n",
        ],
        words: &[
            b"\n",
            b" ",
            b"\nend\n",
            b"tree ",
            b"single 0 0",
            b"%2f",
            b"%",
        ],
        cost: 1,
    };
    target.run(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        says_the_same(Plan::parse(&text).ok(), |said| {
            Plan::parse(&said.encode()).ok()
        })
    });
}

#[test]
fn records() {
    let entry = entry_bytes(&Entry {
        kind: EntryKind::Symlink,
        name: b"name".to_vec(),
        target: b"../target".to_vec(),
        size: 9,
        ..Entry::default()
    });
    let data = [
        &data_head(5)[..],
        b"hello",
        padding(DATA_HEAD + 5),
        padding(5),
    ]
    .concat();
    let all = [&entry[..], &data, &end_bytes()].concat();
    let target = Target {
        name: "records",
        seeds: &[&entry, &data, &all],
        words: &[b"E", b"D", b"Z", b"Ef", b"El"],
        cost: 1,
    };
    target.run(|bytes| {
        let whole = decode([bytes]);
        let cut = bytes.len() / 3;
        assert_eq!(
            decode([&bytes[..cut], &bytes[cut..]]),
            whole,
            "cut at {cut}"
        );
        whole.iter().map(kind_of).collect::<Vec<_>>()
    });
}

/// Reads records that come in pieces; data counts as a whole, however it is handed out.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut decoder = Decoder::default();
    let (mut seen, mut data) = (Vec::new(), 0);
    for piece in pieces {
        decoder.push(piece);
        loop {
            match decoder.next_record() {
                Ok(None) => break,
                Ok(Some(crate::guest::wire::Record::Data(bytes))) => data += bytes.len(),
                Ok(Some(record)) => seen.push(format!("{data} {record:?}")),
                Err(error) => {
                    seen.push(error);
                    return seen;
                }
            }
        }
    }
    seen.push(data.to_string());
    seen
}
