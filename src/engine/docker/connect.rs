//! Connecting to an engine, and agreeing on the version of the API by the cheapest question it has.
//!
//! The client library asks `/version`, for which engines start other programs; `/_ping` says the same in its header.

use std::time::Duration;

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker};
use bytes::BytesMut;
use tokio::io::AsyncWriteExt;

use super::attach::read_header;
use super::kernel_stats::KernelGroups;
use super::{Client, Endpoint, convert, foreign};
use crate::engine::{EngineError, Result};
use crate::protocol::FailureKind;

/// Seconds to wait for an ordinary answer; a loaded engine may take long to start a container.
const ANSWER_SECONDS: u64 = 60;
/// Longest wait for the first answer, which costs an engine nothing.
const GREETING: Duration = Duration::from_millis(2500);
/// Ends the connection with the answer; what comes after the header is not read.
const PING: &str = "GET /_ping HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n";
/// The header that says which version an engine speaks.
const VERSION_HEADER: &str = "api-version";

/// Connects to an engine.
pub(super) async fn connect(endpoint: &Endpoint) -> Result<Client> {
    let tried = format!("connecting to {endpoint}");
    let failed = |error| convert::error(&tried, error);
    let greeted = tokio::time::timeout(GREETING, greet(endpoint)).await;
    let docker = greeted.map_err(|_| hangs(&tried))?.map_err(failed)?;
    let version = docker.client_version();
    let api_version = format!("{}.{}", version.major_version, version.minor_version);
    Ok(Client {
        docker,
        endpoint: endpoint.clone(),
        api_version,
        foreign: foreign::Foreign::default(),
        groups: KernelGroups::default(),
    })
}

/// Describes an engine that takes connections and says nothing.
fn hangs(tried: &str) -> EngineError {
    let waited = GREETING.as_secs_f64();
    let message = format!("{tried}: the Docker engine does not answer (waited {waited} s)");
    EngineError::new(FailureKind::Unreachable, message).with_hint(
        "it hangs or is stopped: see its log and restart it, or set DOCKER_HOST to another one",
    )
}

async fn greet(endpoint: &Endpoint) -> std::result::Result<Docker, Error> {
    match agree(endpoint).await? {
        Some(version) => client(endpoint, &version),
        None => negotiate(endpoint).await,
    }
}

fn client(endpoint: &Endpoint, version: &ClientVersion) -> std::result::Result<Docker, Error> {
    match endpoint {
        Endpoint::Unix(path) => {
            Docker::connect_with_unix(&path.display().to_string(), ANSWER_SECONDS, version)
        }
        Endpoint::Tcp(address) => {
            Docker::connect_with_http(&format!("tcp://{address}"), ANSWER_SECONDS, version)
        }
    }
}

/// Has the client library agree with an engine that does not say its version in passing.
async fn negotiate(endpoint: &Endpoint) -> std::result::Result<Docker, Error> {
    client(endpoint, API_DEFAULT_VERSION)?
        .negotiate_version()
        .await
}

/// Asks which version the engine speaks, and returns the older one of that and ours; `None` if it does not say.
async fn agree(endpoint: &Endpoint) -> std::result::Result<Option<ClientVersion>, Error> {
    let mut connection = endpoint.connect().await?;
    connection.write_all(PING.as_bytes()).await?;
    let header = read_header(&mut connection, &mut BytesMut::new()).await?;
    Ok(spoken(&header).map(older_of_ours))
}

fn older_of_ours(theirs: ClientVersion) -> ClientVersion {
    let ours = ClientVersion {
        major_version: API_DEFAULT_VERSION.major_version,
        minor_version: API_DEFAULT_VERSION.minor_version,
    };
    if theirs < ours { theirs } else { ours }
}

/// Reads the version in the header of an answer.
fn spoken(header: &str) -> Option<ClientVersion> {
    let fields = header.lines().filter_map(|line| line.split_once(':'));
    let mut versions = fields.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER));
    let (major, minor) = versions.next()?.1.trim().split_once('.')?;
    Some(ClientVersion {
        major_version: major.parse().ok()?,
        minor_version: minor.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreed(header: &str) -> Option<String> {
        spoken(header).map(|version| older_of_ours(version).to_string())
    }

    #[test]
    fn the_older_version_is_spoken() {
        let docker = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nOstype: linux\r\n\r\n";
        assert_eq!(agreed(docker).as_deref(), Some("1.41"));
        let newer = "HTTP/1.1 200 OK\r\napi-version:  9.9\r\n\r\n";
        assert_eq!(agreed(newer), Some(API_DEFAULT_VERSION.to_string()));
    }

    #[test]
    fn an_engine_that_says_no_version_is_asked_by_the_library() {
        for header in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nApi-Version: new\r\n\r\n",
            "HTTP/1.1 200 OK\r\nLibpod-Api-Version: 4.3\r\n\r\n",
        ] {
            assert_eq!(agreed(header), None, "{header}");
        }
    }
}
