//! Environment variables as data, and which setting each of them stands for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use super::error::{BadValue, KeyPath, invalid};
use super::raw::RawConfig;
use crate::protocol::Failure;
use crate::text::safe_line;

/// What a process is surrounded by, read once at its border.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    uid: u32,
}

impl Environment {
    /// Reads the environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let named = |(name, value): (OsString, _)| Some((name.into_string().ok()?, value));
        Self {
            variables: std::env::vars_os().filter_map(named).collect(),
            uid: rustix::process::getuid().as_raw(),
        }
    }

    /// Makes an environment from variables and a user's number.
    pub fn new<N: Into<String>, V: Into<OsString>>(
        variables: impl IntoIterator<Item = (N, V)>,
        uid: u32,
    ) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self { variables, uid }
    }

    /// Returns the user's number.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Returns a variable that holds a path; an empty one counts as not set.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(name)?;
        Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
    }

    /// Returns a variable that holds text; an empty one counts as not set.
    ///
    /// # Errors
    /// The variable holds bytes that are not UTF-8.
    pub fn text(&self, name: &str) -> Result<Option<&str>, Failure> {
        let Some(value) = self.variables.get(name).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let text = value.to_str().ok_or_else(|| {
            let shown = safe_line(value.as_encoded_bytes());
            invalid(format!("{name}: `{shown}` is not UTF-8 text"))
        })?;
        Ok(Some(text))
    }
}

/// A variable and the setting it stands for.
struct Variable {
    name: &'static str,
    key: &'static [&'static str],
    put: fn(&mut RawConfig, &str) -> Result<(), String>,
}

/// All variables but `SANDTOP_CONFIG`, which names the file.
const VARIABLES: [Variable; 17] = [
    Variable {
        name: "SANDTOP_ENGINE",
        key: &["engine"],
        put: |raw, text| set(&mut raw.engine, text.to_owned()),
    },
    Variable {
        name: "SANDTOP_IMAGE",
        key: &["sandbox", "image"],
        put: |raw, text| set(&mut raw.sandbox.image, text.to_owned()),
    },
    Variable {
        name: "SANDTOP_MAX_SANDBOXES",
        key: &["manager", "max_sandboxes"],
        put: |raw, text| set(&mut raw.manager.max_sandboxes, whole(text)?),
    },
    Variable {
        name: "SANDTOP_LOG",
        key: &["log", "level"],
        put: |raw, text| set(&mut raw.log.level, text.to_owned()),
    },
    Variable {
        name: "SANDTOP_THEME",
        key: &["ui", "theme"],
        put: |raw, text| set(&mut raw.ui.theme, text.to_owned()),
    },
    Variable {
        name: "DOCKER_HOST",
        key: &["docker", "host"],
        put: |raw, text| set(&mut raw.docker.host, text.to_owned()),
    },
    Variable {
        name: "CODE_EXECUTION_TIMEOUT",
        key: &["code", "timeout"],
        put: |raw, text| set(&mut raw.code.timeout, whole(text)?),
    },
    Variable {
        name: "CODE_EXECUTION_MEMORY_MB",
        key: &["sandbox", "memory_limit"],
        put: |raw, text| set(&mut raw.sandbox.memory_limit, format!("{}m", whole(text)?)),
    },
    Variable {
        name: "CODE_EXECUTION_CPU_CORES",
        key: &["sandbox", "cpu_limit"],
        put: |raw, text| set(&mut raw.sandbox.cpu_limit, parse(text, "a number")?),
    },
    Variable {
        name: "DEPENDENCY_CACHE_DIR",
        key: &["deps", "cache_dir"],
        put: |raw, text| set(&mut raw.deps.cache_dir, text.to_owned()),
    },
    Variable {
        name: "DEPENDENCY_CACHE_TTL_HOURS",
        key: &["deps", "ttl_hours"],
        put: |raw, text| set(&mut raw.deps.ttl_hours, whole(text)?),
    },
    Variable {
        name: "PIP_INDEX_URL",
        key: &["deps", "index_url"],
        put: |raw, text| set(&mut raw.deps.index_url, text.to_owned()),
    },
    Variable {
        name: "PIP_EXTRA_INDEX_URL",
        key: &["deps", "extra_index_url"],
        put: |raw, text| set(&mut raw.deps.extra_index_url, text.to_owned()),
    },
    Variable {
        name: "PIP_TRUSTED_HOST",
        key: &["deps", "trusted_host"],
        put: |raw, text| set(&mut raw.deps.trusted_host, text.to_owned()),
    },
    Variable {
        name: "PIP_CERT",
        key: &["deps", "ca_file"],
        put: |raw, text| set(&mut raw.deps.ca_file, text.to_owned()),
    },
    Variable {
        name: "NPM_CONFIG_REGISTRY",
        key: &["deps", "npm_registry"],
        put: |raw, text| set(&mut raw.deps.npm_registry, text.to_owned()),
    },
    Variable {
        name: "HTTPS_PROXY",
        key: &["deps", "proxy"],
        put: |raw, text| set(&mut raw.deps.proxy, text.to_owned()),
    },
];

/// The settings that come from variables.
#[derive(Debug, Clone, Default)]
pub(super) struct EnvironmentLayer {
    /// The settings.
    pub(super) raw: RawConfig,
    /// Which variable set which key.
    set: Vec<(&'static str, KeyPath)>,
}

impl EnvironmentLayer {
    /// Reads the variables that sandtop knows.
    pub(super) fn read(environment: &Environment) -> Result<Self, Failure> {
        let mut layer = Self::default();
        for variable in VARIABLES {
            let Some(text) = environment.text(variable.name)? else {
                continue;
            };
            (variable.put)(&mut layer.raw, text.trim())
                .map_err(|message| invalid(format!("{}: {message}", variable.name)))?;
            layer.set.push((variable.name, KeyPath::new(variable.key)));
        }
        Ok(layer)
    }

    /// Explains a bad value that a variable brought.
    pub(super) fn explain(&self, bad: &BadValue) -> Option<Failure> {
        let (name, _) = self.set.iter().find(|(_, key)| *key == bad.at)?;
        Some(invalid(format!("{name}: {}", bad.message)))
    }
}

#[allow(clippy::unnecessary_wraps)] // So that every row of the table has one shape.
fn set<T>(slot: &mut Option<T>, value: T) -> Result<(), String> {
    *slot = Some(value);
    Ok(())
}

fn whole(text: &str) -> Result<u64, String> {
    parse(text, "a whole number")
}

fn parse<T: FromStr<Err: Display>>(text: &str, what: &str) -> Result<T, String> {
    let shown = safe_line(text);
    text.parse().map_err(|_| format!("`{shown}` is not {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::DEFAULT_TOML;
    use super::super::error::KeyStep;
    use super::super::raw::keys_in;
    use super::*;

    #[test]
    fn every_variable_stands_for_a_key_and_is_in_the_example() {
        for variable in VARIABLES {
            let path = KeyPath::new(variable.key);
            let (last, table) = path.split_last().expect("a key");
            let is_known = keys_in(&table)
                .iter()
                .any(|key| *last == KeyStep::Key((*key).into()));
            assert!(is_known, "{path}");
            assert!(DEFAULT_TOML.contains(variable.name), "{}", variable.name);
        }
    }

    #[test]
    fn only_readable_values_are_text() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(b"a\xff".to_vec());
        let environment = Environment::new([("ODD", odd), ("EMPTY", OsString::new())], 0);
        let message = environment.text("ODD").map_err(|failure| failure.message);
        assert_eq!(message, Err("ODD: `a\\xff` is not UTF-8 text".into()));
        assert_eq!(environment.text("EMPTY"), Ok(None));
        assert_eq!(environment.path("EMPTY"), None);
        assert_eq!(environment.text("NONE"), Ok(None));
    }
}
