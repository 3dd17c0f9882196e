//! Lays the sources over each other (defaults < file < environment < flags) and judges the result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::document::Document;
use super::environment::EnvironmentLayer;
use super::error::{BadValue, KeyPath, invalid};
use super::raw::{RawAdopt, RawConfig, RawDeps, RawManager, RawSandbox, RawStore};
use super::{
    Config, DEFAULT_TOML, DepsSettings, IndexSettings, ManagerSettings, Profile, check, guards, ui,
};
use crate::code::{CheckSettings, Languages};
use crate::domain::{AdoptRules, EngineKind, Limits, Mount, Network, Retention};
use crate::protocol::Failure;

/// Where settings come from, all of it as data.
#[derive(Debug, Clone, Default)]
pub(super) struct Layers {
    /// The file and where it is.
    pub(super) file: Option<(PathBuf, Document)>,
    /// Variables.
    pub(super) environment: EnvironmentLayer,
    /// `--engine`.
    pub(super) engine: Option<EngineKind>,
    /// The user's home, for `~/`.
    pub(super) home: Option<PathBuf>,
    /// Where the cache is if nothing else is said.
    pub(super) cache_dir: PathBuf,
}

/// Reads the built-in settings; nobody has to be told on which line they stand.
fn built_in() -> Result<RawConfig, Failure> {
    toml::from_str(DEFAULT_TOML).map_err(|error| invalid(format!("the built-in settings: {error}")))
}

impl Layers {
    /// Makes the settings that hold.
    pub(super) fn resolve(self) -> Result<Config, Failure> {
        let defaults = built_in()?;
        let file = self.file.as_ref().map(|(_, document)| document.raw.clone());
        let raw = self.environment.raw.clone();
        let raw = raw.over(file.unwrap_or_default()).over(defaults);
        let config = self.judge(&raw).map_err(|bad| self.explain(&bad))?;
        Ok(Config {
            engine: self.engine.or(config.engine),
            source: self.file.map(|(path, _)| path),
            ..config
        })
    }

    /// Says who brought a bad value; variables are asked first, since they win.
    fn explain(&self, bad: &BadValue) -> Failure {
        let from_file = || self.file.as_ref()?.1.explain(bad);
        let explained = self.environment.explain(bad).or_else(from_file);
        explained.unwrap_or_else(|| invalid(format!("`{}`: {}", bad.at, bad.message)))
    }

    fn judge(&self, raw: &RawConfig) -> Result<Config, BadValue> {
        let at = |section| KeyPath::new(&[section]);
        Ok(Config {
            engine: KeyPath::default().read("engine", raw.engine.as_deref(), check::engine)?,
            docker_host: at("docker").read("host", raw.docker.host.as_deref(), check::address)?,
            sandbox: profile(&raw.sandbox, &at("sandbox"))?,
            profiles: profiles(raw)?,
            manager: manager(&raw.manager, &at("manager"))?,
            languages: languages(raw)?,
            code_timeout: at("code").read("timeout", raw.code.timeout, check::seconds)?,
            deps: self.deps(&raw.deps, &at("deps"))?,
            json_limit: at("output").read(
                "json_limit",
                raw.output.json_limit.as_deref(),
                check::json_limit,
            )?,
            adopt: adopt(&raw.adopt, &at("adopt"))?,
            guards: guards::settings(&raw.guards, &at("guards"))?,
            retention: retention(&raw.store, &at("store"))?,
            ui: ui::settings(raw)?,
            log_level: at("log").read("level", raw.log.level.as_deref(), check::level)?,
            source: None,
        })
    }

    fn deps(&self, raw: &RawDeps, at: &KeyPath) -> Result<DepsSettings, BadValue> {
        let home = self.home.as_deref();
        let cache_dir = at.read("cache_dir", raw.cache_dir.as_deref(), |text| {
            folder_or(text, home, &self.cache_dir)
        })?;
        let network = at.read("network", raw.network.as_deref(), check::address)?;
        Ok(DepsSettings {
            ttl: at.read("ttl_hours", raw.ttl_hours, check::hours)?,
            cache_dir,
            size_limit: at.read("size_limit", raw.size_limit.as_deref(), check::cache_size)?,
            network,
            index: self.index(raw, at)?,
        })
    }

    fn index(&self, raw: &RawDeps, at: &KeyPath) -> Result<IndexSettings, BadValue> {
        let home = self.home.as_deref();
        let address = |key, text: &Option<String>| at.read(key, text.as_deref(), check::address);
        Ok(IndexSettings {
            index_url: address("index_url", &raw.index_url)?,
            extra_index_url: address("extra_index_url", &raw.extra_index_url)?,
            trusted_host: address("trusted_host", &raw.trusted_host)?,
            npm_registry: address("npm_registry", &raw.npm_registry)?,
            ca_file: at.read("ca_file", raw.ca_file.as_deref(), |text| match text {
                "" => Ok(None),
                text => check::folder(text, home).map(Some),
            })?,
            proxy: address("proxy", &raw.proxy)?,
        })
    }
}

fn folder_or(text: &str, home: Option<&Path>, otherwise: &Path) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Ok(otherwise.to_owned());
    }
    check::folder(text, home)
}

fn manager(raw: &RawManager, at: &KeyPath) -> Result<ManagerSettings, BadValue> {
    Ok(ManagerSettings {
        max_sandboxes: at.read("max_sandboxes", raw.max_sandboxes, check::count)?,
        max_detached: at.read("max_detached", raw.max_detached, check::count)?,
        idle_timeout: at.read("idle_timeout", raw.idle_timeout, check::seconds_or_none)?,
        orphan_timeout: at.read("orphan_timeout", raw.orphan_timeout, check::seconds)?,
        idle_action: at.read("idle_action", raw.idle_action.as_deref(), check::grace)?,
        cleanup_interval: at.read("cleanup_interval", raw.cleanup_interval, check::seconds)?,
        copy_limit: at.read("copy_limit", raw.copy_limit.as_deref(), check::copy_limit)?,
    })
}

fn adopt(raw: &RawAdopt, at: &KeyPath) -> Result<AdoptRules, BadValue> {
    let list = |list: &Option<Vec<String>>, key: &str| {
        let at = at.key(key);
        for (i, text) in list.iter().flatten().enumerate() {
            check::rule(text).map_err(|message| BadValue::new(at.item(i), message))?;
        }
        Ok(list.clone().unwrap_or_default())
    };
    Ok(AdoptRules {
        names: list(&raw.names, "names")?,
        labels: list(&raw.labels, "labels")?,
        images: list(&raw.images, "images")?,
        reap: at.read("reap", raw.reap, Ok)?,
    })
}

fn retention(raw: &RawStore, at: &KeyPath) -> Result<Retention, BadValue> {
    Ok(Retention {
        days: at.read("keep_days", raw.keep_days, check::days)?,
        total_bytes: at.read("keep_size", raw.keep_size.as_deref(), check::kept_bytes)?,
        run_bytes: at.read("run_output", raw.run_output.as_deref(), check::kept_bytes)?,
    })
}

fn profiles(raw: &RawConfig) -> Result<BTreeMap<String, Profile>, BadValue> {
    let all = KeyPath::new(&["profiles"]);
    let read = |(name, own): (&String, &RawSandbox)| {
        let at = all.key(name);
        check::profile_name(name).map_err(|message| BadValue::new(at.clone(), message))?;
        let whole = own.clone().over(raw.sandbox.clone());
        Ok((name.clone(), profile(&whole, &at)?))
    };
    raw.profiles.iter().map(read).collect()
}

/// Puts the configured languages over the built-in ones.
fn languages(raw: &RawConfig) -> Result<Languages, BadValue> {
    let all = KeyPath::new(&["languages"]);
    let built_in = Languages::default();
    for (name, own) in &raw.languages {
        let at = all.key(name);
        check::profile_name(name).map_err(|message| BadValue::new(at.clone(), message))?;
        let is_new = built_in.by_word(name).is_none();
        if is_new && own.run.as_ref().is_none_or(Vec::is_empty) {
            let words = "a new language needs `run`, such as [\"lua\", \"{file}\"]";
            return Err(BadValue::new(at, words.to_owned()));
        }
    }
    Ok(Languages::with(raw.languages.clone()))
}

fn profile(raw: &RawSandbox, at: &KeyPath) -> Result<Profile, BadValue> {
    Ok(Profile {
        image: at.read("image", raw.image.as_deref(), check::image)?,
        work_dir: at.read("work_dir", raw.work_dir.as_deref(), check::work_dir)?,
        limits: limits(raw, at)?,
        network: at.read("network_enabled", raw.network_enabled, |on| Ok(network(on)))?,
        env: variables(raw, at)?,
        mounts: mounts(raw, at)?,
        user: at.read("user", raw.user.as_deref(), check::user)?,
        tmp_bytes: at.read("tmp_size", raw.tmp_size.as_deref(), check::tmp_size)?,
        size_hints: at.read("size_hints", raw.size_hints, Ok)?,
        checks: CheckSettings {
            policy: at.read("checks", raw.checks.as_deref(), check::policy)?,
            level: at.read("checks_level", raw.checks_level.as_deref(), check::severity)?,
        },
    })
}

fn limits(raw: &RawSandbox, at: &KeyPath) -> Result<Limits, BadValue> {
    let memory = at.read("memory_limit", raw.memory_limit.as_deref(), check::memory)?;
    let timeout = at.read("timeout", raw.timeout, check::seconds_or_none)?;
    Ok(Limits {
        memory_bytes: Some(memory),
        cpus: Some(at.read("cpu_limit", raw.cpu_limit, check::cpus)?),
        pids: at.read("pids_limit", raw.pids_limit, check::pids)?,
        timeout_s: timeout.map(|time| time.as_secs()),
    })
}

fn network(enabled: bool) -> Network {
    if enabled {
        Network::Default
    } else {
        Network::None
    }
}

fn variables(raw: &RawSandbox, at: &KeyPath) -> Result<Vec<(String, String)>, BadValue> {
    let at = at.key("env");
    let read = |(name, value): (&String, &String)| {
        check::variable_name(name).map_err(|message| BadValue::new(at.key(name), message))?;
        let value = at.read(name, Some(value.as_str()), check::variable_value)?;
        Ok((name.clone(), value))
    };
    raw.env.iter().flatten().map(read).collect()
}

fn mounts(raw: &RawSandbox, at: &KeyPath) -> Result<Vec<Mount>, BadValue> {
    let at = at.key("mounts");
    let mut mounts: Vec<Mount> = Vec::new();
    for (i, text) in raw.mounts.iter().flatten().enumerate() {
        let bad = |message| BadValue::new(at.item(i), message);
        let mount = Mount::parse(text).map_err(|error| bad(error.to_string()))?;
        if mounts.iter().any(|other| other.target == mount.target) {
            return Err(bad(format!(
                "something is mounted on {} already",
                mount.target
            )));
        }
        mounts.push(mount);
    }
    Ok(mounts)
}
