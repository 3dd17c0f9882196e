//! Settings as they are written: every key optional, no unknown key allowed, nothing judged yet.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};

use super::error::{KeyPath, KeyStep};
use super::guards::RawGuards;
use super::raw_keys::RawKeys;
use crate::code::Definition;

/// A whole file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawConfig {
    pub(super) engine: Option<String>,
    pub(super) docker: RawDocker,
    pub(super) sandbox: RawSandbox,
    pub(super) manager: RawManager,
    pub(super) code: RawCode,
    pub(super) deps: RawDeps,
    pub(super) output: RawOutput,
    pub(super) adopt: RawAdopt,
    pub(super) guards: RawGuards,
    pub(super) store: RawStore,
    pub(super) ui: RawUi,
    pub(super) log: RawLog,
    pub(super) keys: RawKeys,
    pub(super) profiles: BTreeMap<String, RawSandbox>,
    pub(super) languages: BTreeMap<String, Definition>,
}

/// `[docker]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawDocker {
    pub(super) host: Option<String>,
}

/// `[sandbox]` and each `[profiles.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSandbox {
    pub(super) image: Option<String>,
    pub(super) work_dir: Option<String>,
    pub(super) memory_limit: Option<String>,
    pub(super) cpu_limit: Option<f64>,
    pub(super) pids_limit: Option<u64>,
    pub(super) timeout: Option<u64>,
    pub(super) network_enabled: Option<bool>,
    pub(super) user: Option<String>,
    pub(super) tmp_size: Option<String>,
    pub(super) mounts: Option<Vec<String>>,
    pub(super) env: Option<BTreeMap<String, String>>,
    pub(super) size_hints: Option<bool>,
    pub(super) checks: Option<String>,
    pub(super) checks_level: Option<String>,
}

/// `[manager]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawManager {
    pub(super) max_sandboxes: Option<u64>,
    pub(super) max_detached: Option<u64>,
    pub(super) idle_timeout: Option<u64>,
    pub(super) orphan_timeout: Option<u64>,
    pub(super) idle_action: Option<String>,
    pub(super) cleanup_interval: Option<u64>,
    pub(super) copy_limit: Option<String>,
}

/// `[code]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawCode {
    pub(super) timeout: Option<u64>,
}

/// `[deps]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawDeps {
    pub(super) ttl_hours: Option<u64>,
    pub(super) cache_dir: Option<String>,
    pub(super) size_limit: Option<String>,
    pub(super) network: Option<String>,
    pub(super) index_url: Option<String>,
    pub(super) extra_index_url: Option<String>,
    pub(super) trusted_host: Option<String>,
    pub(super) npm_registry: Option<String>,
    pub(super) ca_file: Option<String>,
    pub(super) proxy: Option<String>,
}

/// `[output]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawOutput {
    pub(super) json_limit: Option<String>,
}

/// `[adopt]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawAdopt {
    pub(super) names: Option<Vec<String>>,
    pub(super) labels: Option<Vec<String>>,
    pub(super) images: Option<Vec<String>>,
    pub(super) reap: Option<bool>,
}

/// `[store]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawStore {
    pub(super) keep_days: Option<u64>,
    pub(super) keep_size: Option<String>,
    pub(super) run_output: Option<String>,
}

/// `[ui]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawUi {
    pub(super) theme: Option<String>,
    pub(super) ascii: Option<String>,
    pub(super) mouse: Option<bool>,
    pub(super) remember: Option<bool>,
}

/// `[log]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawLog {
    pub(super) level: Option<String>,
}

impl RawConfig {
    /// Puts these settings over others, which only show where nothing is set here.
    pub(super) fn over(self, base: Self) -> Self {
        let mut profiles = base.profiles;
        profiles.extend(self.profiles);
        let mut languages = base.languages;
        languages.extend(self.languages);
        let mut keys = base.keys;
        keys.extend(self.keys);
        Self {
            engine: self.engine.or(base.engine),
            docker: RawDocker {
                host: self.docker.host.or(base.docker.host),
            },
            sandbox: self.sandbox.over(base.sandbox),
            manager: self.manager.over(base.manager),
            code: RawCode {
                timeout: self.code.timeout.or(base.code.timeout),
            },
            deps: self.deps.over(base.deps),
            output: RawOutput {
                json_limit: self.output.json_limit.or(base.output.json_limit),
            },
            adopt: RawAdopt {
                names: self.adopt.names.or(base.adopt.names),
                labels: self.adopt.labels.or(base.adopt.labels),
                images: self.adopt.images.or(base.adopt.images),
                reap: self.adopt.reap.or(base.adopt.reap),
            },
            guards: self.guards.over(base.guards),
            store: RawStore {
                keep_days: self.store.keep_days.or(base.store.keep_days),
                keep_size: self.store.keep_size.or(base.store.keep_size),
                run_output: self.store.run_output.or(base.store.run_output),
            },
            ui: RawUi {
                theme: self.ui.theme.or(base.ui.theme),
                ascii: self.ui.ascii.or(base.ui.ascii),
                mouse: self.ui.mouse.or(base.ui.mouse),
                remember: self.ui.remember.or(base.ui.remember),
            },
            log: RawLog {
                level: self.log.level.or(base.log.level),
            },
            keys,
            profiles,
            languages,
        }
    }
}

impl RawSandbox {
    /// Puts these settings over others; variables of both are kept.
    pub(super) fn over(self, base: Self) -> Self {
        let mut env = base.env.unwrap_or_default();
        env.extend(self.env.unwrap_or_default());
        Self {
            image: self.image.or(base.image),
            work_dir: self.work_dir.or(base.work_dir),
            memory_limit: self.memory_limit.or(base.memory_limit),
            cpu_limit: self.cpu_limit.or(base.cpu_limit),
            pids_limit: self.pids_limit.or(base.pids_limit),
            timeout: self.timeout.or(base.timeout),
            network_enabled: self.network_enabled.or(base.network_enabled),
            user: self.user.or(base.user),
            tmp_size: self.tmp_size.or(base.tmp_size),
            mounts: self.mounts.or(base.mounts),
            env: Some(env),
            size_hints: self.size_hints.or(base.size_hints),
            checks: self.checks.or(base.checks),
            checks_level: self.checks_level.or(base.checks_level),
        }
    }
}

impl RawManager {
    fn over(self, base: Self) -> Self {
        Self {
            max_sandboxes: self.max_sandboxes.or(base.max_sandboxes),
            max_detached: self.max_detached.or(base.max_detached),
            idle_timeout: self.idle_timeout.or(base.idle_timeout),
            orphan_timeout: self.orphan_timeout.or(base.orphan_timeout),
            idle_action: self.idle_action.or(base.idle_action),
            cleanup_interval: self.cleanup_interval.or(base.cleanup_interval),
            copy_limit: self.copy_limit.or(base.copy_limit),
        }
    }
}

impl RawDeps {
    fn over(self, base: Self) -> Self {
        Self {
            ttl_hours: self.ttl_hours.or(base.ttl_hours),
            cache_dir: self.cache_dir.or(base.cache_dir),
            size_limit: self.size_limit.or(base.size_limit),
            network: self.network.or(base.network),
            index_url: self.index_url.or(base.index_url),
            extra_index_url: self.extra_index_url.or(base.extra_index_url),
            trusted_host: self.trusted_host.or(base.trusted_host),
            npm_registry: self.npm_registry.or(base.npm_registry),
            ca_file: self.ca_file.or(base.ca_file),
            proxy: self.proxy.or(base.proxy),
        }
    }
}

/// The tables whose keys are fixed.
pub(super) const SECTIONS: [&str; 11] = [
    "docker", "sandbox", "manager", "code", "deps", "output", "adopt", "guards", "store", "ui",
    "log",
];

/// Returns the keys that a table may hold; none where any key may stand.
pub(super) fn keys_in(table: &KeyPath) -> &'static [&'static str] {
    match table.steps() {
        [] => keys_of::<RawConfig>(),
        [KeyStep::Key(section)] => keys_in_section(section),
        [KeyStep::Key(section), KeyStep::Key(_)] if section == "profiles" => {
            keys_of::<RawSandbox>()
        }
        [KeyStep::Key(section), KeyStep::Key(_)] if section == "languages" => {
            keys_of::<Definition>()
        }
        _ => &[],
    }
}

/// Returns the keys of one of the [`SECTIONS`].
pub(super) fn keys_in_section(section: &str) -> &'static [&'static str] {
    match section {
        "docker" => keys_of::<RawDocker>(),
        "sandbox" => keys_of::<RawSandbox>(),
        "manager" => keys_of::<RawManager>(),
        "code" => keys_of::<RawCode>(),
        "deps" => keys_of::<RawDeps>(),
        "output" => keys_of::<RawOutput>(),
        "adopt" => keys_of::<RawAdopt>(),
        "guards" => keys_of::<RawGuards>(),
        "store" => keys_of::<RawStore>(),
        "ui" => keys_of::<RawUi>(),
        "log" => keys_of::<RawLog>(),
        _ => &[],
    }
}

/// Asks serde for the keys of a struct, so that they are written once.
fn keys_of<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    match T::deserialize(Probe) {
        Err(Keys(keys)) => keys,
        Ok(_) => &[],
    }
}

/// A deserialiser that only looks at what it is asked for.
struct Probe;

/// What it was asked for, carried out as an error.
#[derive(Debug)]
struct Keys(&'static [&'static str]);

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl std::error::Error for Keys {}

impl de::Error for Keys {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Keys;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Keys> {
        Err(Keys(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Keys> {
        Err(Keys(keys))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
