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

use super::Client;

/// Longest wait for an engine that is still making a container that nobody wants any more.
const SETTLING: Duration = Duration::from_secs(20);

/// The requests of one engine.
#[derive(Debug, Default, Clone)]
pub(super) struct Creating(Arc<RwLock<()>>);

impl Creating {
    /// Asks for a container. An engine that takes no filter but from a file of its own machine, as Podman does, is asked again
    /// without ours: then its own is in force, and `inspect` names what that leaves open.
    pub(super) async fn container(
        &self,
        client: &Client,
        name: &str,
        body: ContainerCreateBody,
    ) -> Result<ContainerCreateResponse, Error> {
        match self.request(client, name, body.clone()).await {
            Err(error) if refuses_filter(&error) => {
                self.request(client, name, without_filter(body)).await
            }
            made => made,
        }
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

/// Tells whether an engine took the filter for the name of a file.
fn refuses_filter(error: &Error) -> bool {
    let Error::DockerResponseServerError { message, .. } = error else {
        return false;
    };
    ["seccomp profile", "file name too long"]
        .iter()
        .any(|sign| message.contains(sign))
}

fn without_filter(mut body: ContainerCreateBody) -> ContainerCreateBody {
    let config = body.host_config.as_mut();
    if let Some(options) = config.and_then(|config| config.security_opt.as_mut()) {
        options.retain(|option| !option.starts_with("seccomp="));
    }
    body
}

#[cfg(test)]
mod tests {
    use bollard::models::HostConfig;

    use super::*;

    #[test]
    fn an_engine_that_reads_filters_from_files_is_asked_without_one() {
        let said = |message: &str| Error::DockerResponseServerError {
            status_code: 500,
            message: message.to_owned(),
        };
        // What Podman 4.9 and 5 say.
        assert!(refuses_filter(&said(
            "container create: opening seccomp profile failed: open {}"
        )));
        assert!(refuses_filter(&said(
            "open {\"defaultAction\": …: file name too long"
        )));
        assert!(!refuses_filter(&said("no such image")));
        let options = ["no-new-privileges:true", "seccomp={}"].map(str::to_owned);
        let body = ContainerCreateBody {
            host_config: Some(HostConfig {
                security_opt: Some(options.to_vec()),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        };
        let left = without_filter(body)
            .host_config
            .and_then(|c| c.security_opt);
        assert_eq!(left, Some(vec!["no-new-privileges:true".to_owned()]));
    }
}
