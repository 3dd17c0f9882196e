//! The filter as a profile that Docker and its kin hand to their runtime.
//!
//! Runtimes know calls by their names, compare whole arguments where the kernel reads half of them, and can say what is allowed but
//! not what is forbidden besides. So a condition becomes patterns of bits that together fit exactly what it allows; the rest
//! answers "no such call", like all that is not named. Calls of other worlds (32 bits, x32) end the program: only one kind of
//! processor is named.

use serde_json::{Value, json};

use super::calls::{DANGEROUS, useful};
use super::{Allowed, CONDITIONS, Condition, NO_SUCH_CALL, NOT_PERMITTED};

#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: &str = "SCMP_ARCH_AARCH64";
#[cfg(not(target_arch = "aarch64"))]
const ARCHITECTURE: &str = "SCMP_ARCH_X86_64";

const ALLOW: &str = "SCMP_ACT_ALLOW";
const ERROR: &str = "SCMP_ACT_ERRNO";

/// Writes the profile, in the form that `HostConfig.SecurityOpt` takes after `seccomp=`.
pub(in crate::engine) fn profile() -> String {
    let names = |calls: &mut dyn Iterator<Item = &'static str>| calls.collect::<Vec<_>>();
    let mut rules = vec![
        json!({"names": names(&mut useful().map(|call| call.name())), "action": ALLOW}),
        json!({
            "names": names(&mut DANGEROUS.iter().map(|call| call.name())),
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

    #[test]
    fn the_profile_names_every_call_of_the_list_once() {
        let profile: Value = serde_json::from_str(&profile()).expect("JSON");
        assert_eq!(profile["defaultAction"], ERROR);
        let rules = profile["syscalls"].as_array().expect("rules");
        let names_of = |rule: &Value| -> Vec<String> {
            let names = rule["names"].as_array().into_iter().flatten();
            names
                .filter_map(|name| Some(name.as_str()?.to_owned()))
                .collect()
        };
        let plain = rules.iter().filter(|rule| rule["args"].is_null());
        let mut names: Vec<String> = plain.flat_map(names_of).collect();
        assert_eq!(names.len(), useful().count() + DANGEROUS.len() + 1);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), useful().count() + DANGEROUS.len() + 1);
        assert!(names.iter().all(|name| !name.contains("SYS_")));
        let allows = |name: &str| {
            rules
                .iter()
                .any(|r| r["action"] == ALLOW && names_of(r).iter().any(|n| n == name))
        };
        assert!(allows("read") && allows("socket") && allows("execve"));
        assert!(
            !allows("io_uring_setup")
                && !allows("ptrace")
                && !allows("unshare")
                && !allows("clone3")
        );
    }
}
