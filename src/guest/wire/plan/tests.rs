//! Plans go from the engine to the keeper unchanged, or not at all.

use super::*;

fn full() -> Plan {
    let path = || b"/a b\n\xff".to_vec();
    Plan {
        name: b"box".to_vec(),
        id: b"0123".to_vec(),
        ids: Ids::Block(100_000),
        own_network: false,
        steps: vec![
            Step::Tree {
                source: path(),
                target: path(),
                flags: READ_ONLY | NOSUID,
                follows_links: true,
            },
            Step::Tree {
                source: path(),
                target: path(),
                flags: 0,
                follows_links: false,
            },
            Step::New {
                kind: "tmpfs".into(),
                target: path(),
                flags: NODEV | NOEXEC,
                options: "mode=0755,size=1".into(),
            },
            Step::Link {
                text: path(),
                target: path(),
            },
            Step::Folder {
                target: path(),
                mode: 0o755,
            },
            Step::File {
                target: path(),
                content: Vec::new(),
            },
            Step::Hide(path()),
            Step::Seal(path()),
            Step::Protect(path()),
        ],
        cgroups: vec![path(), b"/sys/fs/cgroup/x".to_vec()],
        freezer: Some(Freezer {
            file: path(),
            on: b"1".to_vec(),
            off: b"0".to_vec(),
        }),
        limits: vec![(6, 100), (2, u64::MAX)],
        processors: Some(2),
        watch: Some(MemoryWatch {
            limit: 1 << 30,
            counter: path(),
        }),
        filter: (0..=255).collect(),
    }
}

#[test]
fn plans_survive() {
    for plan in [full(), Plan::default()] {
        assert_eq!(Plan::parse(&plan.encode()), Ok(plan));
    }
}

#[test]
fn a_plan_that_was_cut_off_anywhere_is_refused() {
    let text = full().encode();
    for end in 0..text.len() - 1 {
        assert!(Plan::parse(&text[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn unknown_and_broken_lines_are_named() {
    for line in ["fly /a", "folder /a", "limit x 1", "tree /a /b many", ""] {
        let read = Plan::parse(&format!("{line}\nend\n"));
        assert_eq!(read, Err(format!("the plan holds `{line}`")));
    }
}
