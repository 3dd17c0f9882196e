//! Every request and answer goes over the socket and back.

use super::super::zygote::{ZygoteAnswer, ZygoteRequest};
use super::*;

fn run(streams: GuestStreams) -> RunRequest {
    RunRequest {
        streams,
        uid: 1000,
        gid: 100,
        work_dir: b"/work space\n".to_vec(),
        env: vec![b"A=b c".to_vec(), b"EMPTY=".to_vec(), Vec::new()],
        argv: vec![
            b"/.sandtop/guest".to_vec(),
            b"top".to_vec(),
            b"\xff".to_vec(),
        ],
    }
}

fn terminal() -> GuestStreams {
    GuestStreams::Terminal {
        rows: 24,
        columns: 80,
    }
}

#[test]
fn requests_survive() {
    let all = [
        KeeperRequest::Hello,
        KeeperRequest::Run(run(GuestStreams::Pipes)),
        KeeperRequest::Run(run(terminal())),
        KeeperRequest::Pause,
        KeeperRequest::Resume,
        KeeperRequest::Stop,
        KeeperRequest::Kill,
    ];
    for request in all {
        let line = request.encode();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(KeeperRequest::parse(&format!("{line}\n")), Some(request));
    }
}

#[test]
fn the_word_for_a_pause_is_pause() {
    assert_eq!(KeeperRequest::Pause.encode(), "pause");
    assert_eq!(KeeperRequest::Resume.encode(), "resume");
}

#[test]
fn answers_survive() {
    let all = [
        KeeperAnswer::Done,
        KeeperAnswer::Status {
            paused: true,
            pid: 12,
        },
        KeeperAnswer::Status {
            paused: false,
            pid: 12,
        },
        KeeperAnswer::Started { pid: 7 },
        KeeperAnswer::Exited { status: 0x8b },
        KeeperAnswer::Refused("no: a b\nc".into()),
        KeeperAnswer::Refused(String::new()),
    ];
    for answer in all {
        let line = answer.encode();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(KeeperAnswer::parse(&format!("{line}\n")), Some(answer));
    }
}

#[test]
fn start_reports_survive() {
    let all = [
        StartReport::Ready,
        StartReport::Failed("mounting proc: no\nway".into()),
    ];
    for report in all {
        assert_eq!(StartReport::parse(&report.encode()), Some(report));
    }
    assert_eq!(StartReport::parse(""), None);
    assert_eq!(StartReport::parse("error"), None);
}

#[test]
fn the_zygotes_words_survive() {
    for request in [
        ZygoteRequest::Run(run(terminal())),
        ZygoteRequest::Signal(15),
    ] {
        assert_eq!(ZygoteRequest::parse(&request.encode()), Some(request));
    }
    let answers = [
        ZygoteAnswer::NeedsIds,
        ZygoteAnswer::Sockets,
        ZygoteAnswer::Init { pid: 3 },
        ZygoteAnswer::Ready,
        ZygoteAnswer::Started { pid: 4 },
        ZygoteAnswer::Failed("the process limit".into()),
    ];
    for answer in answers {
        assert_eq!(ZygoteAnswer::parse(&answer.encode()), Some(answer));
    }
}

#[test]
fn a_request_names_its_verb() {
    assert_eq!(run(GuestStreams::Pipes).verb(), Some(Verb::Top));
    let mut bare = run(GuestStreams::Pipes);
    bare.argv.truncate(1);
    assert_eq!(bare.verb(), None);
}

#[test]
fn requests_that_make_no_sense_are_none() {
    for line in [
        "",
        "fly",
        "run",
        "run pipes 0 0 0 0 /",
        "run boxes 0 0 0 0 / 0 a",
        "run pipes 0 0 0 0 / 3 a b",
        "run pipes 0 0 -1 0 / 0 a",
        "run pipes 70000 0 0 0 / 0 a",
    ] {
        assert_eq!(KeeperRequest::parse(line), None, "{line}");
    }
    assert_eq!(KeeperAnswer::parse("ok paused"), None);
    assert_eq!(ZygoteRequest::parse("signal x"), None);
}
