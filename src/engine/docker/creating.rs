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
    /// Asks for a container; the request goes on when this is dropped.
    pub(super) async fn container(
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
