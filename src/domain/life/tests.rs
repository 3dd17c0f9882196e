//! The decision over sandboxes, and a model of their lives on a simulated clock.

use super::*;

fn facts(usage: Usage, belongs: Belongs) -> Facts {
    Facts {
        usage,
        belongs,
        pinned: false,
        paused: false,
        changing: false,
    }
}

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

const RULES: ReapRules = ReapRules {
    idle: Some(Duration::from_secs(100)),
    orphan: Duration::from_secs(10),
    grace: Grace::Remove,
};

#[test]
fn each_fact_has_its_verdict() {
    use Belongs::{Foreign, ForeignReaped, Orphaned, Others, Us};
    let idle = |n| Usage::Idle(seconds(n));
    let table = [
        (
            facts(idle(99), Us),
            Verdict::Later(Reason::Idle, seconds(1)),
        ),
        (facts(idle(100), Us), Verdict::Remove(Reason::Idle)),
        (facts(idle(10), Orphaned), Verdict::Remove(Reason::Orphan)),
        (
            facts(idle(4), Orphaned),
            Verdict::Later(Reason::Orphan, seconds(6)),
        ),
        (facts(Usage::Busy, Orphaned), Verdict::Keep(Spared::Busy)),
        (facts(Usage::Unknown, Us), Verdict::Keep(Spared::Unknown)),
        (facts(idle(999), Foreign), Verdict::Keep(Spared::Foreign)),
        (
            facts(idle(999), ForeignReaped),
            Verdict::Remove(Reason::Idle),
        ),
        (facts(idle(999), Others), Verdict::Keep(Spared::Others)),
    ];
    for (facts, verdict) in table {
        assert_eq!(judge(&facts, &RULES), verdict, "{facts:?}");
    }
    let pinned = Facts {
        pinned: true,
        ..facts(idle(999), Orphaned)
    };
    assert_eq!(judge(&pinned, &RULES), Verdict::Keep(Spared::Pinned));
    let never = ReapRules {
        idle: None,
        ..RULES
    };
    let unused = facts(idle(999_999), Us);
    assert_eq!(judge(&unused, &never), Verdict::Keep(Spared::Never));
}

#[test]
fn with_grace_it_is_paused_first_and_removed_later() {
    let rules = ReapRules {
        grace: Grace::Pause,
        ..RULES
    };
    let running = facts(Usage::Idle(seconds(100)), Belongs::Us);
    assert_eq!(judge(&running, &rules), Verdict::Pause(Reason::Idle));
    for (idle, verdict) in [
        (150, Verdict::Later(Reason::Idle, seconds(50))),
        (200, Verdict::Remove(Reason::Idle)),
    ] {
        let paused = Facts {
            paused: true,
            ..facts(Usage::Idle(seconds(idle)), Belongs::Us)
        };
        assert_eq!(judge(&paused, &rules), verdict);
    }
}
