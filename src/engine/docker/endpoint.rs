//! Where the Docker engine is: found as the docker command finds it, and connected to without a client library for attached
//! streams.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// A two-way connection to the engine.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Connection for T {}

/// An address of a Docker engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A Unix socket.
    Unix(PathBuf),
    /// Plain HTTP.
    Tcp(String),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp://{address}"),
        }
    }
}

/// Where Docker listens unless told otherwise.
const DEFAULT_SOCKET: &str = "/var/run/docker.sock";

impl Endpoint {
    /// Lists where engines of this user and machine listen: Docker's default, rootless, Docker Desktop.
    #[must_use]
    pub fn usual_sockets(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
        let below = |variable: &str, path: &str| {
            let folder = environment.get(variable)?;
            Some(Path::new(folder).join(path))
        };
        let rootless = below("XDG_RUNTIME_DIR", "docker.sock");
        let desktop = below("HOME", ".docker/run/docker.sock");
        let others = rootless.into_iter().chain(desktop);
        std::iter::once(DEFAULT_SOCKET.into())
            .chain(others)
            .collect()
    }

    /// Reads an address such as `unix:///run/docker.sock`, `/run/docker.sock` or `tcp://127.0.0.1:2375`.
    ///
    /// # Errors
    /// The form is not one that sandtop can connect to.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("unix://") {
            return Ok(Self::Unix(path.into()));
        }
        if text.starts_with('/') {
            return Ok(Self::Unix(text.into()));
        }
        let tcp = text
            .strip_prefix("tcp://")
            .or_else(|| text.strip_prefix("http://"));
        match tcp
            .map(|address| address.trim_end_matches('/'))
            .filter(|address| address.contains(':'))
        {
            Some(address) => Ok(Self::Tcp(address.to_owned())),
            None => Err(EngineError::new(
                FailureKind::Invalid,
                format!("`{text}` is not a Docker address that sandtop can use"),
            )
            .with_hint("use unix:///path/to/docker.sock or tcp://HOST:PORT")),
        }
    }

    /// Finds the engine: a given address, the current docker context, or the usual sockets.
    ///
    /// # Errors
    /// A given address or a named context cannot be used.
    pub fn find(given: Option<&str>, environment: &BTreeMap<String, String>) -> Result<Self> {
        if let Some(address) = given.filter(|address| !address.is_empty()) {
            return Self::parse(address);
        }
        match context_address(environment)? {
            Some(address) => Self::parse(&address),
            None => Ok(usual_socket(environment)),
        }
    }

    /// Tells whether somebody takes connections there, and if not, why.
    pub async fn answers(&self, within: std::time::Duration) -> std::result::Result<(), String> {
        match tokio::time::timeout(within, self.connect()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(format!("{self}: {error}")),
            Err(_) => Err(format!("{self} does not answer")),
        }
    }

    /// Opens a connection of our own.
    pub(super) async fn connect(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(match self {
            Self::Unix(path) => Box::new(UnixStream::connect(path).await?),
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        })
    }
}

/// Reads the address of the docker command's current context; `None` for its default one.
fn context_address(environment: &BTreeMap<String, String>) -> Result<Option<String>> {
    let Some(folder) = docker_folder(environment) else {
        return Ok(None);
    };
    let named = environment
        .get("DOCKER_CONTEXT")
        .filter(|name| !name.is_empty())
        .cloned();
    let current = named.or_else(|| {
        string_at(
            &read_json(&folder.join("config.json"))?,
            &["currentContext"],
        )
    });
    let Some(name) = current.filter(|name| name != "default") else {
        return Ok(None);
    };
    find_context(&folder, &name).map(Some).ok_or_else(|| {
        EngineError::new(
            FailureKind::Invalid,
            format!(
                "the docker context `{name}` was not found below {}",
                folder.display()
            ),
        )
        .with_hint("see `docker context ls`, or set DOCKER_HOST")
    })
}

fn docker_folder(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let given = environment.get("DOCKER_CONFIG").map(PathBuf::from);
    given.or_else(|| Some(Path::new(environment.get("HOME")?).join(".docker")))
}

/// Looks through the stored contexts; their folders are named by a hash, their content says the name.
fn find_context(folder: &Path, name: &str) -> Option<String> {
    let stored = std::fs::read_dir(folder.join("contexts/meta")).ok()?;
    let metas = stored
        .flatten()
        .filter_map(|entry| read_json(&entry.path().join("meta.json")));
    let meta = metas
        .into_iter()
        .find(|meta| string_at(meta, &["Name"]).as_deref() == Some(name))?;
    string_at(&meta, &["Endpoints", "docker", "Host"])
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn string_at(value: &Value, keys: &[&str]) -> Option<String> {
    let found = keys.iter().try_fold(value, |at, key| at.get(key))?;
    found.as_str().map(str::to_owned)
}

/// Picks the first usual socket that exists, else Docker's default, so that the error names it.
fn usual_socket(environment: &BTreeMap<String, String>) -> Endpoint {
    let mut candidates = Endpoint::usual_sockets(environment).into_iter();
    let found = candidates.find(|path| path.exists());
    Endpoint::Unix(found.unwrap_or_else(|| DEFAULT_SOCKET.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        assert_eq!(
            Endpoint::parse("unix:///x/y.sock").ok(),
            Some(Endpoint::Unix("/x/y.sock".into()))
        );
        assert_eq!(
            Endpoint::parse("/x/y.sock").ok(),
            Some(Endpoint::Unix("/x/y.sock".into()))
        );
        assert_eq!(
            Endpoint::parse("tcp://127.0.0.1:1/").ok(),
            Some(Endpoint::Tcp("127.0.0.1:1".into()))
        );
        for bad in ["", "ssh://me@host", "tcp://host", "fd://"] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_current_context_is_followed() {
        let home = tempfile::tempdir().expect("a folder");
        let meta = home.path().join(".docker/contexts/meta/abc");
        std::fs::create_dir_all(&meta).expect("a folder");
        let content = r#"{"Name":"far","Endpoints":{"docker":{"Host":"tcp://127.0.0.1:9"}}}"#;
        std::fs::write(meta.join("meta.json"), content).expect("a file");
        std::fs::write(
            home.path().join(".docker/config.json"),
            r#"{"currentContext":"far"}"#,
        )
        .expect("a file");
        let mut environment =
            BTreeMap::from([("HOME".to_owned(), home.path().display().to_string())]);
        let found = Endpoint::find(None, &environment).ok();
        assert_eq!(found, Some(Endpoint::Tcp("127.0.0.1:9".into())));
        assert_eq!(
            Endpoint::find(Some("/a.sock"), &environment).ok(),
            Some(Endpoint::Unix("/a.sock".into()))
        );
        environment.insert("DOCKER_CONTEXT".into(), "gone".into());
        assert!(
            Endpoint::find(None, &environment).is_err_and(|error| error.message.contains("`gone`"))
        );
    }
}
