//! Every call of the guest goes over a command line and back.

use super::*;

/// A path that no shell and no JSON would let through.
fn path() -> Vec<u8> {
    b"/a b/\xff\n%41".to_vec()
}

fn exec() -> ExecCall {
    ExecCall {
        id: "4f2a".into(),
        timeout: Some(Duration::from_millis(1500)),
        work_dir: Some(path()),
        session: Some("s-1".into()),
        given: vec!["PATH".into(), "HOME".into()],
        argv: vec!["sh".into(), "-c".into(), "echo --id -- %20".into()],
    }
}

fn all() -> Vec<Call> {
    vec![
        Call::Init,
        Call::Keeper,
        Call::Exec(exec()),
        Call::Exec(ExecCall {
            id: "1".into(),
            argv: vec!["true".into()],
            ..ExecCall::default()
        }),
        Call::Attempts(TriedLimits::default()),
        Call::Attempts(TriedLimits {
            memory_bytes: Some(64 << 20),
            pids: None,
            milli_cpus: Some(500),
            tmp_bytes: Some(0),
        }),
        Call::Kill("4f2a".into()),
        Call::Save("s".into()),
        Call::List(path()),
        Call::Stat(path()),
        Call::MakeDir(path()),
        Call::Rename {
            from: path(),
            to: b"/b".to_vec(),
        },
        Call::Delete {
            path: path(),
            recursive: true,
        },
        Call::Delete {
            path: path(),
            recursive: false,
        },
        Call::Read {
            path: path(),
            limit: Some(7),
        },
        Call::Read {
            path: path(),
            limit: None,
        },
        Call::Write {
            path: path(),
            mode: Some(0o640),
        },
        Call::Write {
            path: path(),
            mode: None,
        },
        Call::Pack(path()),
        Call::Unpack(path()),
        Call::Hold(path()),
        Call::Sessions,
        Call::Forget("s".into()),
        Call::Top,
        Call::Changes {
            most: 500,
            roots: vec![path(), b"/tmp".to_vec()],
        },
        Call::Size(path()),
        Call::Execs,
        Call::Probe,
    ]
}

#[test]
fn every_call_survives_the_command_line() {
    for call in all() {
        assert_eq!(Call::parse(&call.encode()), Ok(call));
    }
}

#[test]
fn every_verb_has_a_call() {
    let told: Vec<Verb> = all().iter().map(Call::verb).collect();
    for verb in Verb::ALL {
        assert!(told.contains(&verb), "{verb:?}");
    }
}

#[test]
fn an_exec_is_found_by_the_first_words_of_its_command_line() {
    let words = Call::Exec(exec()).encode();
    assert_eq!(
        words.get(..3),
        Some(&["exec", "--id", "4f2a"].map(str::to_owned)[..])
    );
}

#[test]
fn options_end_where_the_command_begins() {
    let words = ["exec", "--id", "1", "--", "--id", "2"].map(str::to_owned);
    let Ok(Call::Exec(call)) = Call::parse(&words) else {
        unreachable!("an exec")
    };
    assert_eq!((call.id.as_str(), call.argv.len()), ("1", 2));
}

#[test]
fn what_makes_no_sense_is_explained() {
    let refused = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Call::parse(&words).expect_err("no call")
    };
    assert_eq!(refused(&[]), "the guest does not know ``");
    assert_eq!(refused(&["fly"]), "the guest does not know `fly`");
    assert_eq!(refused(&["list"]), "no path was given");
}
