//! Settings: read from a file, the environment and flags, judged once, and then only plain values.

mod check;
mod document;
mod environment;
mod error;
#[cfg(test)]
mod fuzz;
mod guards;
mod new_sandbox;
mod paths;
mod raw;
mod raw_keys;
mod resolve;
mod show;
#[cfg(test)]
mod tests;
mod ui;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use document::{Document, shown_path};
pub use environment::Environment;
use environment::EnvironmentLayer;
use error::invalid;
pub use new_sandbox::{NewSandbox, key_value};
pub use paths::{Paths, create_private};
use resolve::Layers;
pub use ui::{AsciiChoice, ThemeChoice, UiSettings};

use crate::code::{CheckSettings, Languages};
use crate::domain::{
    AdoptRules, EngineKind, Grace, GuardRules, HOST_IMAGE, Limits, Mount, Network, Retention,
    SandboxPath,
};
use crate::protocol::Failure;
use crate::text::{nearest, safe_line};

/// The built-in settings, as the file that explains them.
pub const DEFAULT_TOML: &str = include_str!("../../config.example.toml");

/// The name under which `[sandbox]` itself is known as a profile.
pub const DEFAULT_PROFILE: &str = "default";

/// The image of new sandboxes where none was chosen; it is one for engines that have images.
const DEFAULT_IMAGE: &str = "python:3.12-slim";

/// The variable that names the file.
const CONFIG_VARIABLE: &str = "SANDTOP_CONFIG";

/// The settings that hold, all of them valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The engine to use; `None` takes the first that answers.
    pub engine: Option<EngineKind>,
    /// Where Docker is; `None` asks its context, then the usual sockets.
    pub docker_host: Option<String>,
    /// What a new sandbox gets.
    pub sandbox: Profile,
    /// Named variations of it, complete each.
    pub profiles: BTreeMap<String, Profile>,
    /// Numbers of the manager.
    pub manager: ManagerSettings,
    /// The languages that programs are written in.
    pub languages: Languages,
    /// How long code given to `run` may take.
    pub code_timeout: Duration,
    /// The dependency cache.
    pub deps: DepsSettings,
    /// How many bytes of each stream `exec --json` keeps.
    pub json_limit: u64,
    /// Sandboxes of other tools that are shown.
    pub adopt: AdoptRules,
    /// What to look out for.
    pub guards: GuardRules,
    /// How much of the past is kept.
    pub retention: Retention,
    /// How the dashboard looks, and its keys.
    pub ui: UiSettings,
    /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: String,
    /// The file that was read, if there was one.
    pub source: Option<PathBuf>,
}

/// What a new sandbox gets unless told otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The image it starts from.
    pub image: String,
    /// Its writable folder.
    pub work_dir: SandboxPath,
    /// What it may use.
    pub limits: Limits,
    /// What it can reach.
    pub network: Network,
    /// Variables of its processes, sorted by name.
    pub env: Vec<(String, String)>,
    /// Host folders it sees.
    pub mounts: Vec<Mount>,
    /// User, or user and group, of its processes.
    pub user: String,
    /// Size of its `/tmp`.
    pub tmp_bytes: u64,
    /// Whether variables tell its programs how many processors it may use.
    pub size_hints: bool,
    /// What findings of the code check do.
    pub checks: CheckSettings,
}

/// How many sandboxes there may be, and when they go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerSettings {
    /// Sandboxes at once.
    pub max_sandboxes: usize,
    /// Detached runs at once in each.
    pub max_detached: usize,
    /// When an unused one is removed; `None` keeps it for ever.
    pub idle_timeout: Option<Duration>,
    /// When an unused one is removed whose owner died.
    pub orphan_timeout: Duration,
    /// What happens to an unused one when its time has come.
    pub idle_action: Grace,
    /// Time between two looks.
    pub cleanup_interval: Duration,
    /// The most bytes that one copy moves; `None` for any.
    pub copy_limit: Option<u64>,
}

/// Where installed packages are kept, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepsSettings {
    /// How long they are good.
    pub ttl: Duration,
    /// Where it is noted what there is.
    pub cache_dir: PathBuf,
    /// Bytes that all of them may take; the least used go first.
    pub size_limit: u64,
    /// The network that installing gets; `None` is the engine's usual one.
    pub network: Option<String>,
    /// Where packages come from.
    pub index: IndexSettings,
}

/// Where packages come from; `None` is what the package manager does by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexSettings {
    /// Address of the Python index.
    pub index_url: Option<String>,
    /// Address of a second one.
    pub extra_index_url: Option<String>,
    /// Host whose certificate is not looked at.
    pub trusted_host: Option<String>,
    /// Address of the npm registry.
    pub npm_registry: Option<String>,
    /// File of this machine with certificates to believe.
    pub ca_file: Option<PathBuf>,
    /// Address of a proxy.
    pub proxy: Option<String>,
}

/// What decides which settings hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadOptions {
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--engine`.
    pub engine: Option<EngineKind>,
    /// The environment.
    pub environment: Environment,
}

impl LoadOptions {
    /// Returns the file that is read if it is there; `None` without a home.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        let named = self.named_file().map(|(_, path)| path);
        named.or_else(|| Paths::new(&self.environment).config_file)
    }

    /// Returns a file that was asked for, and by what.
    fn named_file(&self) -> Option<(&'static str, PathBuf)> {
        let flag = self.config.clone().map(|path| ("--config", path));
        let variable = || Some((CONFIG_VARIABLE, self.environment.path(CONFIG_VARIABLE)?));
        flag.or_else(variable)
    }

    /// Reads the file; only one that was asked for must be there.
    fn read_file(&self) -> Result<Option<(PathBuf, Document)>, Failure> {
        let Some(path) = self.file() else {
            return Ok(None);
        };
        let name = shown_path(&path);
        match (document::read(&path)?, self.named_file()) {
            (Some(text), _) => Ok(Some((path, Document::parse(&name, &text)?))),
            (None, None) => Ok(None),
            (None, Some((by, _))) => Err(invalid(format!(
                "{name} cannot be read: there is no such file; {by} names it"
            ))
            .with_hint("`sandtop config default` prints a file to start from")),
        }
    }
}

impl Config {
    /// Replaces the built-in image where the engine has none by that name.
    #[must_use]
    pub fn for_engine(mut self, kind: EngineKind) -> Self {
        if kind == EngineKind::Local {
            let profiles = self.profiles.values_mut().chain([&mut self.sandbox]);
            for profile in profiles.filter(|profile| profile.image == DEFAULT_IMAGE) {
                HOST_IMAGE.clone_into(&mut profile.image);
            }
        }
        self
    }

    /// Finds out which settings hold.
    ///
    /// # Errors
    /// The file cannot be read, or it or the environment holds something that makes no sense.
    pub fn load(options: &LoadOptions) -> Result<Self, Failure> {
        let environment = &options.environment;
        let layers = Layers {
            file: options.read_file()?,
            environment: EnvironmentLayer::read(environment)?,
            engine: options.engine,
            home: paths::home(environment),
            cache_dir: Paths::new(environment).cache_dir,
        };
        layers.resolve()
    }

    /// Finds a profile by name, and says which one it is; without a name it is `[sandbox]`.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn profile(&self, name: Option<&str>) -> Result<(String, &Profile), Failure> {
        let name = name.unwrap_or(DEFAULT_PROFILE);
        if name == DEFAULT_PROFILE {
            return Ok((name.to_owned(), &self.sandbox));
        }
        let found = self.profiles.get(name);
        let profile = found.ok_or_else(|| self.unknown_profile(name))?;
        Ok((name.to_owned(), profile))
    }

    fn unknown_profile(&self, name: &str) -> Failure {
        let own = self.profiles.keys().map(String::as_str);
        let names: Vec<&str> = std::iter::once(DEFAULT_PROFILE).chain(own).collect();
        let near = nearest(name, names.iter().copied())
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        invalid(format!("there is no profile `{}`{near}", safe_line(name)))
            .with_hint(format!("profiles there are: {}", names.join(", ")))
    }
}
