//! `[guards]`: what to look out for in running sandboxes.

use serde::{Deserialize, Serialize};

use super::check;
use super::error::{BadValue, KeyPath};
use crate::domain::{GuardAction, GuardRule, GuardRules};
use crate::text::human::exact_bytes;
use crate::text::safe_line;

/// `[guards]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawGuards {
    memory_percent: Option<u64>,
    memory_seconds: Option<u64>,
    cpu_percent: Option<u64>,
    cpu_seconds: Option<u64>,
    pids_percent: Option<u64>,
    pids_seconds: Option<u64>,
    output_rate: Option<String>,
    output_seconds: Option<u64>,
    disk_size: Option<String>,
    disk_seconds: Option<u64>,
    bell: Option<bool>,
    action: Option<String>,
}

impl RawGuards {
    /// Puts these settings over others.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            memory_percent: self.memory_percent.or(base.memory_percent),
            memory_seconds: self.memory_seconds.or(base.memory_seconds),
            cpu_percent: self.cpu_percent.or(base.cpu_percent),
            cpu_seconds: self.cpu_seconds.or(base.cpu_seconds),
            pids_percent: self.pids_percent.or(base.pids_percent),
            pids_seconds: self.pids_seconds.or(base.pids_seconds),
            output_rate: self.output_rate.or(base.output_rate),
            output_seconds: self.output_seconds.or(base.output_seconds),
            disk_size: self.disk_size.or(base.disk_size),
            disk_seconds: self.disk_seconds.or(base.disk_seconds),
            bell: self.bell.or(base.bell),
            action: self.action.or(base.action),
        }
    }

    /// Writes settings as they would be written in a file.
    pub(super) fn of(rules: &GuardRules) -> Self {
        let seconds = |rule: &GuardRule| Some(rule.time.as_secs());
        let percent = |rule: &GuardRule| Some(whole(rule.level));
        Self {
            memory_percent: percent(&rules.memory),
            memory_seconds: seconds(&rules.memory),
            cpu_percent: percent(&rules.cpu),
            cpu_seconds: seconds(&rules.cpu),
            pids_percent: percent(&rules.pids),
            pids_seconds: seconds(&rules.pids),
            output_rate: Some(exact_bytes(whole(rules.output.level))),
            output_seconds: seconds(&rules.output),
            disk_size: Some(exact_bytes(whole(rules.disk.level))),
            disk_seconds: seconds(&rules.disk),
            bell: Some(rules.bell),
            action: Some(
                match rules.action {
                    GuardAction::Mark => "mark",
                    GuardAction::Pause => "pause",
                }
                .to_owned(),
            ),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // It was such a number before.
fn whole(level: f64) -> u64 {
    level as u64
}

/// Judges the settings.
pub(super) fn settings(raw: &RawGuards, at: &KeyPath) -> Result<GuardRules, BadValue> {
    let share = |what: &str, percent: Option<u64>, seconds: Option<u64>| {
        Ok(GuardRule {
            level: at.read(&format!("{what}_percent"), percent, level)?,
            time: at.read(&format!("{what}_seconds"), seconds, check::seconds)?,
        })
    };
    Ok(GuardRules {
        memory: share("memory", raw.memory_percent, raw.memory_seconds)?,
        cpu: share("cpu", raw.cpu_percent, raw.cpu_seconds)?,
        pids: share("pids", raw.pids_percent, raw.pids_seconds)?,
        output: GuardRule {
            level: at.read("output_rate", raw.output_rate.as_deref(), amount)?,
            time: at.read("output_seconds", raw.output_seconds, check::seconds)?,
        },
        disk: GuardRule {
            level: at.read("disk_size", raw.disk_size.as_deref(), amount)?,
            time: at.read("disk_seconds", raw.disk_seconds, check::seconds)?,
        },
        bell: at.read("bell", raw.bell, Ok)?,
        action: at.read("action", raw.action.as_deref(), action)?,
    })
}

fn level(percent: u64) -> Result<f64, String> {
    let small = u32::try_from(percent)
        .ok()
        .filter(|percent| *percent <= 100);
    let level = small.map(f64::from);
    level.ok_or_else(|| format!("`{percent}` is too much; use 100 or less, or 0 for none"))
}

#[allow(clippy::cast_precision_loss)] // It is at most 2 to the 40th.
fn amount(text: &str) -> Result<f64, String> {
    check::amount(text).map(|bytes| bytes as f64)
}

fn action(word: &str) -> Result<GuardAction, String> {
    match word {
        "mark" => Ok(GuardAction::Mark),
        "pause" => Ok(GuardAction::Pause),
        other => Err(format!("`{}` is neither mark nor pause", safe_line(other))),
    }
}
