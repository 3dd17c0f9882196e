//! The filter as a profile that Docker and its kin hand to their runtime.
//!
//! Runtimes know calls by their names, compare whole arguments where the kernel reads half of them, and can say what is allowed but
//! not what is forbidden besides. So a condition becomes patterns of bits that together fit exactly what it allows; the rest
//! answers "no such call", like all that is not named. Calls of other worlds (32 bits, x32) end the program: only one kind of
//! processor is named.

use serde_json::{Value, json};

use super::calls::{Call, DANGEROUS, useful};
use super::{Allowed, CONDITIONS, Condition, NO_SUCH_CALL, NOT_PERMITTED};

#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: &str = "SCMP_ARCH_AARCH64";
#[cfg(not(target_arch = "aarch64"))]
const ARCHITECTURE: &str = "SCMP_ARCH_X86_64";

const ALLOW: &str = "SCMP_ACT_ALLOW";
const ERROR: &str = "SCMP_ACT_ERRNO";

/// Writes the profile, in the form that `HostConfig.SecurityOpt` takes after `seccomp=`.
pub(in crate::engine) fn profile() -> String {
    let useful: Vec<&str> = useful().map(Call::name).collect();
    let dangerous: Vec<&str> = DANGEROUS.iter().copied().map(Call::name).collect();
    let mut rules = vec![
        json!({"names": useful, "action": ALLOW}),
        json!({
            "names": dangerous,
            "action": ERROR,
            "errnoRet": NOT_PERMITTED,
        }),
        // Programs fall back to what is allowed only after this error, also where an engine knows no other default.
        json!({"names": ["clone3"], "action": ERROR, "errnoRet": NO_SUCH_CALL}),
    ];
    rules.extend(CONDITIONS.iter().flat_map(allowing));
    let profile = json!({
        "defaultAction": ERROR,
        "defaultErrnoRet": NO_SUCH_CALL,
        "architectures": [ARCHITECTURE],
        "syscalls": rules,
    });
    profile.to_string()
}

/// Writes a rule for each pattern that a condition allows.
fn allowing(condition: &Condition) -> Vec<Value> {
    let rule = |bits: Bits| {
        let compare = json!({
            "index": condition.argument,
            "op": "SCMP_CMP_MASKED_EQ",
            "value": bits.mask,
            "valueTwo": bits.value,
        });
        json!({"names": [condition.call.name()], "action": ALLOW, "args": [compare]})
    };
    patterns(condition.allowed).into_iter().map(rule).collect()
}

/// Fits every number that has this value in these bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits {
    mask: u32,
    value: u32,
}

fn patterns(allowed: Allowed) -> Vec<Bits> {
    let exactly = |value: &u32| Bits {
        mask: u32::MAX,
        value: *value,
    };
    match allowed {
        Allowed::Only(values) => values.iter().map(exactly).collect(),
        Allowed::AllBut(values) => all_but(values, Bits { mask: 0, value: 0 }),
        Allowed::Without(bits) => vec![Bits {
            mask: bits,
            value: 0,
        }],
    }
}

/// Splits the numbers that fit a pattern, bit by bit from above, into patterns that fit none of the given values.
fn all_but(values: &[u32], within: Bits) -> Vec<Bits> {
    let fits = |value: &&u32| **value & within.mask == within.value;
    if values.iter().find(fits).is_none() {
        return vec![within];
    }
    let Some(next) = (u32::MAX << 31).checked_shr(within.mask.count_ones()) else {
        return Vec::new();
    };
    let halves = [within.value, within.value | next];
    let half = |value| Bits {
        mask: within.mask | next,
        value,
    };
    let split = halves.into_iter().map(half);
    split.flat_map(|half| all_but(values, half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(allowed: Allowed, value: u32) -> bool {
        let fits = |bits: &Bits| value & bits.mask == bits.value;
        patterns(allowed).iter().any(fits)
    }

    #[test]
    fn patterns_fit_what_is_allowed_and_nothing_else() {
        let values = [0x5412, 0x541c, 0x5423];
        for value in (0x5000..0x6000).chain([0, u32::MAX, 0x8000_5412, 0x0001_5412]) {
            let is_named = values.contains(&value);
            assert_eq!(
                fits(Allowed::AllBut(&[0x5412, 0x541c, 0x5423]), value),
                !is_named,
                "{value:#x}"
            );
            assert_eq!(
                fits(Allowed::Only(&[0x5412, 0x541c, 0x5423]), value),
                is_named,
                "{value:#x}"
            );
            assert_eq!(
                fits(Allowed::Without(0x0412), value),
                value & 0x0412 == 0,
                "{value:#x}"
            );
        }
        assert_eq!(patterns(Allowed::AllBut(&[])), [Bits { mask: 0, value: 0 }]);
    }

    /// As the runtime reads it.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Profile {
        default_action: String,
        default_errno_ret: u16,
        syscalls: Vec<Rule>,
    }

    #[derive(serde::Deserialize)]
    struct Rule {
        names: Vec<String>,
        action: String,
        args: Option<Vec<Value>>,
    }

    #[test]
    fn the_profile_names_every_call_of_the_list_once() {
        let profile: Profile = serde_json::from_str(&profile()).expect("JSON");
        let default = (profile.default_action.as_str(), profile.default_errno_ret);
        assert_eq!(default, (ERROR, NO_SUCH_CALL));
        let rules = profile.syscalls;
        let plain = rules.iter().filter(|rule| rule.args.is_none());
        let mut names: Vec<&String> = plain.flat_map(|rule| &rule.names).collect();
        assert_eq!(names.len(), useful().count() + DANGEROUS.len() + 1);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), useful().count() + DANGEROUS.len() + 1);
        assert!(names.iter().all(|name| !name.contains("SYS_")));
        let allowing: Vec<&Rule> = rules.iter().filter(|rule| rule.action == ALLOW).collect();
        let allows = |name: &str| {
            let mut names = allowing.iter().flat_map(|rule| &rule.names);
            names.any(|one| one == name)
        };
        for name in ["read", "socket", "execve"] {
            assert!(allows(name), "{name}");
        }
        for name in ["io_uring_setup", "ptrace", "unshare", "clone3"] {
            assert!(!allows(name), "{name}");
        }
    }
}
