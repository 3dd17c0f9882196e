//! Create requests under way, each seen to its end.
//!
//! An engine that has got such a request makes the container also when nobody waits for the answer any more. So the request
//! goes on when its caller is dropped, the one exception to the rule that engines start no task, and who cleans up waits.

use std::sync::Arc;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::{ContainerCreateBody, ContainerCreateResponse};
use bollard::query_parameters::CreateContainerOptionsBuilder;
use tokio::sync::RwLock;

use super::filter_file::{self, FilterFile};
use super::{Client, Endpoint};

/// Longest wait for an engine that is still making a container that nobody wants any more.
const SETTLING: Duration = Duration::from_secs(20);

/// The requests of one engine.
#[derive(Debug, Default, Clone)]
pub(super) struct Creating(Arc<RwLock<()>>);

impl Creating {
    /// Asks for a container, once more with the filter in a file if the engine took it for the name of one, and in the end without:
    /// then its own is in force, and `inspect` names what that leaves open.
    pub(super) async fn container(
        &self,
        client: &Client,
        name: &str,
        body: ContainerCreateBody,
    ) -> Result<ContainerCreateResponse, Error> {
        let mut made = self.request(client, name, body.clone()).await;
        if is_about_filter(&made)
            && matches!(client.endpoint, Endpoint::Unix(_))
            && let Ok(file) = FilterFile::write()
        {
            let body = with_filter(body.clone(), Some(file.option()));
            made = self.request(client, name, body).await;
        }
        if is_about_filter(&made) {
            made = self.request(client, name, with_filter(body, None)).await;
        }
        made
    }

    /// Sends a request, which goes on when this is dropped.
    async fn request(
        &self,
        client: &Client,
        name: &str,
        body: ContainerCreateBody,
    ) -> Result<ContainerCreateResponse, Error> {
        let options = CreateContainerOptionsBuilder::new().name(name).build();
        let under_way = Arc::clone(&self.0).read_owned().await;
        let docker = client.docker.clone();
        let request = tokio::spawn(async move {
            let made = docker.create_container(Some(options), body).await;
            drop(under_way);
            made
        });
        match request.await {
            Ok(made) => made,
            Err(error) => Err(Error::IOError {
                err: std::io::Error::other(error),
            }),
        }
    }

    /// Waits until no request is under way.
    pub(super) async fn settled(&self) {
        let _ = tokio::time::timeout(SETTLING, self.0.write()).await;
    }
}

/// Tells whether an engine took the filter for the name of a file, or could not read that file.
fn is_about_filter<T>(made: &Result<T, Error>) -> bool {
    let Err(Error::DockerResponseServerError { message, .. }) = made else {
        return false;
    };
    ["seccomp profile", "file name too long"]
        .iter()
        .any(|sign| message.contains(sign))
}

/// Gives it another filter, or none of ours.
fn with_filter(mut body: ContainerCreateBody, filter: Option<String>) -> ContainerCreateBody {
    let config = body.host_config.as_mut();
    if let Some(options) = config.and_then(|config| config.security_opt.as_mut()) {
        options.retain(|option| !option.starts_with(filter_file::OPTION));
        options.extend(filter);
    }
    body
}

#[cfg(test)]
mod tests {
    use bollard::models::HostConfig;

    use super::*;

    #[test]
    fn an_engine_that_reads_filters_from_files_is_asked_again() {
        let said = |message: &str| {
            Err::<(), _>(Error::DockerResponseServerError {
                status_code: 500,
                message: message.to_owned(),
            })
        };
        // What Podman 4.9 and 5 say.
        assert!(is_about_filter(&said(
            "container create: opening seccomp profile failed: open {}"
        )));
        assert!(is_about_filter(&said(
            "open {\"defaultAction\": …: file name too long"
        )));
        assert!(!is_about_filter(&said("no such image")));
        let options = ["no-new-privileges:true", "seccomp={}"].map(str::to_owned);
        let body = ContainerCreateBody {
            host_config: Some(HostConfig {
                security_opt: Some(options.to_vec()),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        let options = |filter: Option<String>| {
            let config = with_filter(body.clone(), filter).host_config;
            config.and_then(|config| config.security_opt)
        };
        let plain = "no-new-privileges:true".to_owned();
        assert_eq!(options(None), Some(vec![plain.clone()]));
        let file = "seccomp=/tmp/f".to_owned();
        assert_eq!(options(Some(file.clone())), Some(vec![plain, file]));
    }
}
