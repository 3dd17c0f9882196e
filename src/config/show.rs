//! Writes the settings that hold as TOML, with secrets masked.

use std::time::Duration;

use super::guards::RawGuards;
use super::raw::{
    RawAdopt, RawCode, RawConfig, RawDeps, RawDocker, RawLog, RawManager, RawOutput, RawSandbox,
    RawStore,
};
use super::{Config, DepsSettings, ManagerSettings, Profile, ui};
use crate::domain::{Access, Grace, Mount, Network};
use crate::text::human::exact_bytes;
use crate::text::masked_value;

impl Config {
    /// Writes the settings that hold, in the words of the file; values of variables with secret names are masked.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let (ui, keys) = ui::raw(&self.ui);
        let raw = RawConfig {
            engine: Some(self.engine.map_or("", |kind| kind.word()).to_owned()),
            docker: RawDocker {
                host: Some(self.docker_host.clone().unwrap_or_default()),
            },
            sandbox: raw_profile(&self.sandbox),
            manager: raw_manager(&self.manager),
            languages: self.languages.own().clone(),
            code: RawCode {
                timeout: Some(self.code_timeout.as_secs()),
            },
            deps: raw_deps(&self.deps),
            output: RawOutput {
                json_limit: Some(exact_bytes(self.json_limit)),
            },
            adopt: RawAdopt {
                names: Some(self.adopt.names.clone()),
                labels: Some(self.adopt.labels.clone()),
                images: Some(self.adopt.images.clone()),
                reap: Some(self.adopt.reap),
            },
            guards: RawGuards::of(&self.guards),
            store: RawStore {
                keep_days: Some(u64::from(self.retention.days)),
                keep_size: Some(exact_bytes(self.retention.total_bytes)),
                run_output: Some(exact_bytes(self.retention.run_bytes)),
            },
            ui,
            log: RawLog {
                level: Some(self.log_level.clone()),
            },
            keys,
            profiles: self
                .profiles
                .iter()
                .map(|(name, profile)| (name.clone(), raw_profile(profile)))
                .collect(),
        };
        // Only maps with odd keys fail, and there are none.
        toml::to_string(&raw).unwrap_or_else(|error| format!("# {error}\n"))
    }
}

fn raw_manager(manager: &ManagerSettings) -> RawManager {
    RawManager {
        max_sandboxes: Some(manager.max_sandboxes as u64),
        max_detached: Some(manager.max_detached as u64),
        idle_timeout: Some(manager.idle_timeout.as_ref().map_or(0, Duration::as_secs)),
        orphan_timeout: Some(manager.orphan_timeout.as_secs()),
        idle_action: Some(
            match manager.idle_action {
                Grace::Remove => "remove",
                Grace::Pause => "pause",
            }
            .to_owned(),
        ),
        cleanup_interval: Some(manager.cleanup_interval.as_secs()),
        copy_limit: Some(exact_bytes(manager.copy_limit.unwrap_or(0))),
    }
}

fn raw_deps(deps: &DepsSettings) -> RawDeps {
    RawDeps {
        ttl_hours: Some(deps.ttl.as_secs() / 3600),
        cache_dir: Some(deps.cache_dir.to_string_lossy().into_owned()),
        size_limit: Some(exact_bytes(deps.size_limit)),
        network: Some(deps.network.clone().unwrap_or_default()),
        index_url: Some(address(deps.index.index_url.as_deref())),
        extra_index_url: Some(address(deps.index.extra_index_url.as_deref())),
        trusted_host: Some(deps.index.trusted_host.clone().unwrap_or_default()),
        npm_registry: Some(address(deps.index.npm_registry.as_deref())),
        ca_file: deps
            .index
            .ca_file
            .as_ref()
            .map(|file| file.to_string_lossy().into_owned())
            .or(Some(String::new())),
        proxy: Some(address(deps.index.proxy.as_deref())),
    }
}

/// Writes an address without the password in it.
fn address(address: Option<&str>) -> String {
    crate::text::masked_address(address.unwrap_or_default())
}

fn raw_profile(profile: &Profile) -> RawSandbox {
    let limits = &profile.limits;
    RawSandbox {
        image: Some(profile.image.clone()),
        work_dir: Some(profile.work_dir.to_string()),
        memory_limit: limits.memory_bytes.map(exact_bytes),
        cpu_limit: limits.cpus,
        pids_limit: Some(limits.pids.unwrap_or(0)),
        timeout: Some(limits.timeout_s.unwrap_or(0)),
        network_enabled: Some(profile.network != Network::None),
        user: Some(profile.user.clone()),
        tmp_size: Some(exact_bytes(profile.tmp_bytes)),
        mounts: Some(profile.mounts.iter().map(mount).collect()),
        env: Some(profile.env.iter().map(masked).collect()),
        size_hints: Some(profile.size_hints),
        checks: Some(profile.checks.policy.word().to_owned()),
        checks_level: Some(profile.checks.level.word().to_owned()),
    }
}

fn mount(mount: &Mount) -> String {
    let access = match mount.access {
        Access::ReadOnly => ":ro",
        Access::ReadWrite => "",
    };
    format!("{}:{}{access}", mount.source.display(), mount.target)
}

fn masked((name, value): &(String, String)) -> (String, String) {
    (name.clone(), masked_value(name, value).to_owned())
}
