//! What pip and npm get to know in a worker: package indexes, proxies and certificates of the settings.

use std::path::Path;

use futures_util::{StreamExt, stream};

use super::worker;
use crate::config::IndexSettings;
use crate::domain::SandboxId;
use crate::manager::Host;
use crate::protocol::{Failure, FailureKind};
use crate::text::masked_address;

/// Settings of the package managers themselves. npm would wait a minute before it tries an index for the third time.
const ALWAYS: [(&str, &str); 3] = [
    ("PIP_ROOT_USER_ACTION", "ignore"),
    ("npm_config_fetch_retry_mintimeout", "1000"),
    ("npm_config_fetch_retry_maxtimeout", "5000"),
];

/// Passes the settings of indexes on, in the words of both package managers.
pub(super) fn variables(index: &IndexSettings) -> Vec<(String, String)> {
    let settings = [
        (&["PIP_INDEX_URL"][..], &index.index_url),
        (&["PIP_EXTRA_INDEX_URL"], &index.extra_index_url),
        (&["PIP_TRUSTED_HOST"], &index.trusted_host),
        (&["npm_config_registry"], &index.npm_registry),
        (
            &["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"],
            &index.proxy,
        ),
    ];
    let mut all: Vec<_> = ALWAYS.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    for (names, value) in settings {
        let Some(value) = value else { continue };
        all.extend(names.iter().map(|name| ((*name).to_owned(), value.clone())));
    }
    all
}

/// Copies the certificates of this machine to where package managers in the sandbox find them.
pub(super) async fn copy_certificates(
    host: &Host,
    id: &SandboxId,
    file: &Path,
) -> Result<Vec<(String, String)>, Failure> {
    let bytes = tokio::fs::read(file).await.map_err(|error| {
        let words = format!("reading ca_file {} failed: {error}", file.display());
        Failure::new(FailureKind::Invalid, words)
    })?;
    let path = worker::sandbox_path("/workspace/ca.pem")?;
    let content = stream::iter([Ok(bytes.into())]).boxed();
    host.engine.write(id, &path, Some(0o644), content).await?;
    let names = [
        "PIP_CERT",
        "npm_config_cafile",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
    ];
    let set = names.map(|name| (name.to_owned(), path.to_string()));
    Ok(set.into())
}

/// Hides the passwords of indexes, which some package managers repeat.
pub(super) fn masked(line: &str, index: &IndexSettings) -> String {
    let addresses = [
        &index.index_url,
        &index.extra_index_url,
        &index.npm_registry,
        &index.proxy,
    ];
    let addresses = addresses.into_iter().flatten();
    addresses.fold(line.to_owned(), |line, address| {
        let plain = address.trim_end_matches('/');
        line.replace(plain, masked_address(plain).as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_reach_both_package_managers_and_passwords_stay_hidden() {
        let index = IndexSettings {
            index_url: Some("https://me:pw@index.example/simple/".to_owned()),
            proxy: Some("http://proxy:1".to_owned()),
            ..IndexSettings::default()
        };
        let env = variables(&index);
        let has = |name: &str| env.iter().any(|(known, _)| known == name);
        assert!(has("PIP_INDEX_URL") && has("https_proxy") && !has("PIP_TRUSTED_HOST"));
        let shown = masked("GET https://me:pw@index.example/simple/rich/", &index);
        assert_eq!(shown, "GET https://********@index.example/simple/rich/");
    }
}
