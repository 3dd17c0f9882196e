//! Installs packages: in a sandbox of its own, which has the network and is hardened like any other, onto a new shelf.
//!
//! What goes wrong leaves nothing: the sandbox and the shelf are removed, also when the manager ends meanwhile. After a kill
//! the sandbox is an orphan and the shelf is incomplete; the next run with the same key, or the reaper, removes both.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{StreamExt, stream};

use super::alive::{Life, is_alive};
use super::context::Context;
use super::heard::Heard;
use super::{Host, lifecycle};
use crate::code::Installer;
use crate::config::IndexSettings;
use crate::domain::{
    Access, Ended, ExecId, ExecSpec, INSTALLING, Limits, Network, Owner, OwnerKind, RequestId,
    Sandbox, SandboxId, SandboxName, SandboxPath, SandboxSpec, Shelf, ShelfMount,
};
use crate::engine::{ExecItem, Note};
use crate::protocol::{Action, Failure, FailureKind, Reply};
use crate::text::masked_address;

/// Installs; see the file.
const INSTALL: &str = include_str!("../../assets/install.sh");
/// Measures what was installed, and marks it as whole.
const FINISH: &str = r#"du -sk "$0" 2>/dev/null; : >"$0/.sandtop-complete""#;
/// Where the work is done.
const WORK_DIR: &[u8] = b"/workspace";
/// Compilers are hungry.
const MEMORY: u64 = 2 << 30;
const TMP: u64 = 64 << 20;
const PIDS: u64 = 512;
/// Nothing takes longer.
const LONGEST: Duration = Duration::from_mins(15);

/// Settings of the package managers themselves. npm would wait a minute before it tries an index for the third time.
const ALWAYS: [(&str, &str); 3] = [
    ("PIP_ROOT_USER_ACTION", "ignore"),
    ("npm_config_fetch_retry_mintimeout", "1000"),
    ("npm_config_fetch_retry_maxtimeout", "5000"),
];

/// What is to be installed.
pub(super) struct Order<'a> {
    /// Who asks.
    pub(super) request: RequestId,
    /// A word that nobody else has.
    pub(super) token: &'a ExecId,
    /// The program that installs.
    pub(super) installer: Installer,
    /// What the new shelf is to be.
    pub(super) shelf: Shelf,
}

/// Returns where programs see the packages of an installer; Node looks for this name in every folder above a program.
pub(super) fn place(installer: Installer) -> Result<SandboxPath, Failure> {
    let path = match installer {
        Installer::Pip => "/.sandtop-packages",
        Installer::Npm => "/node_modules",
    };
    fixed(path.as_bytes())
}

fn fixed(path: &[u8]) -> Result<SandboxPath, Failure> {
    let parsed = SandboxPath::parse(path);
    parsed.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))
}

/// Installs, or leaves nothing.
pub(super) async fn install(
    context: &Context,
    host: &Host,
    order: &Order<'_>,
) -> Result<Shelf, Failure> {
    let spec = workshop(context, order)?;
    clear_debris(context, host, order, spec.name.as_str()).await?;
    host.engine.make_shelf(&order.shelf).await?;
    let done = in_workshop(context, host, order, &spec).await;
    match done {
        Ok(shelf) => Ok(shelf),
        Err(failure) => {
            let removed = host.engine.remove_shelf(&order.shelf.name).await;
            if let Err(error) = removed {
                tracing::warn!(%error, "an unfinished shelf is left; the reaper will find it");
            }
            Err(failure)
        }
    }
}

/// Makes the sandbox, installs in it, and removes it whatever comes of it.
async fn in_workshop(
    context: &Context,
    host: &Host,
    order: &Order<'_>,
    spec: &SandboxSpec,
) -> Result<Shelf, Failure> {
    let made = lifecycle::create(context, order.request, &host.name, spec).await;
    let Reply::Created(sandbox) = made.map_err(explain_network)? else {
        let words = "creating gave no sandbox";
        return Err(Failure::new(FailureKind::Internal, words));
    };
    let done = tokio::select! {
        done = work(context, host, order, &sandbox) => done,
        () = context.closing() => Err(Failure::new(FailureKind::Interrupted, "interrupted")),
    };
    let action = Action::Remove { force: true };
    let removed = lifecycle::act(context, &sandbox.reference, action).await;
    let size_bytes = done?;
    removed?;
    let shelf = Shelf {
        size_bytes,
        complete: true,
        ..order.shelf.clone()
    };
    host.engine.finish_shelf(&shelf).await?;
    Ok(shelf)
}

/// An engine without a network of its own can lend the machine's.
fn explain_network(failure: Failure) -> Failure {
    let is_network = failure.message.contains("network");
    if !is_network || failure.hint.is_some() {
        return failure;
    }
    failure.with_hint("packages are installed with a network; `network` in [deps] names another one, such as \"host\"")
}

/// Removes what a killed process left of the same work, and packages that have become too old.
async fn clear_debris(
    context: &Context,
    host: &Host,
    order: &Order<'_>,
    name: &str,
) -> Result<(), Failure> {
    let all = host.engine.list().await?;
    for sandbox in all.iter().filter(|sandbox| sandbox.name == name) {
        let here = &context.options.owner;
        let life = sandbox.owner.as_ref().map(|owner| is_alive(owner, here));
        if life != Some(Life::Dead) {
            let words = format!("another process installs the same packages in {name}");
            return Err(Failure::new(FailureKind::Conflict, words).with_hint("try again later"));
        }
        let action = Action::Remove { force: true };
        lifecycle::act(context, &sandbox.reference, action).await?;
    }
    let shelves = host.engine.shelves().await?.into_iter();
    for shelf in shelves.filter(|shelf| shelf.key == order.shelf.key) {
        match host.engine.remove_shelf(&shelf.name).await {
            // What has become too old may still serve a sandbox; it goes with the next pruning.
            Err(error) if shelf.complete && error.kind == FailureKind::Conflict => {}
            removed => removed?,
        }
    }
    Ok(())
}

/// Describes the sandbox.
fn workshop(context: &Context, order: &Order<'_>) -> Result<SandboxSpec, Failure> {
    let key = order.shelf.key.get(..12).unwrap_or(&order.shelf.key);
    // One name for one key: on an engine that machines share, the name is the lock.
    let network = context.options.deps.network.clone();
    Ok(SandboxSpec {
        network: network.map_or(Network::Default, Network::Named),
        shelf: Some(ShelfMount {
            name: order.shelf.name.clone(),
            target: place(order.installer)?,
            access: Access::ReadWrite,
        }),
        ..quiet(context, order, &format!("{INSTALLING}{key}"))?
    })
}

/// Describes a sandbox of the same image without network and shelf.
pub(super) fn quiet(
    context: &Context,
    order: &Order<'_>,
    name: &str,
) -> Result<SandboxSpec, Failure> {
    let name = SandboxName::parse(name);
    Ok(SandboxSpec {
        token: format!("{}-packages", order.token),
        name: name.map_err(|error| Failure::new(FailureKind::Internal, error.to_string()))?,
        image: order.shelf.image.clone(),
        profile: "packages".to_owned(),
        limits: Limits {
            memory_bytes: Some(MEMORY),
            cpus: None,
            pids: Some(PIDS),
            timeout_s: Some(LONGEST.as_secs()),
        },
        network: Network::None,
        env: Vec::new(),
        mounts: Vec::new(),
        shelf: None,
        work_dir: fixed(WORK_DIR)?,
        user: "65534:65534".to_owned(),
        tmp_bytes: TMP,
        labels: BTreeMap::new(),
        owner: Owner {
            kind: OwnerKind::Run,
            ..context.options.owner.clone()
        },
    })
}

/// Runs the package manager and returns how many bytes came of it.
async fn work(
    context: &Context,
    host: &Host,
    order: &Order<'_>,
    sandbox: &Sandbox,
) -> Result<u64, Failure> {
    let id = &sandbox.reference.id;
    let target = place(order.installer)?.to_string();
    let index = &context.options.deps.index;
    let mut spec = ExecSpec::new(exec_id(order, "install"), Vec::new());
    let words = ["sh", "-c", INSTALL, order.installer.word(), &target];
    let wanted = order.shelf.packages.iter().cloned();
    let work_dir = String::from_utf8_lossy(WORK_DIR).into_owned();
    let words = words.map(str::to_owned).into_iter();
    spec.argv = words.chain([work_dir]).chain(wanted).collect();
    spec.env = environment(index);
    spec.timeout = Some(LONGEST);
    if let Some(file) = &index.ca_file {
        spec.env.extend(bring_certificates(host, id, file).await?);
    }
    let mut heard = Heard::default();
    let ended = follow(context, host, (order, id), &spec, &mut heard).await?;
    if ended != Ended::Code(0) {
        return Err(failed(order, ended, &heard, index));
    }
    let words = ["sh", "-c", FINISH, &target].map(str::to_owned);
    let finish = ExecSpec::new(exec_id(order, "finish"), words.to_vec());
    let mut heard = Heard::default();
    follow(context, host, (order, id), &finish, &mut heard).await?;
    Ok(heard.first_number().saturating_mul(1024))
}

fn exec_id(order: &Order<'_>, word: &str) -> ExecId {
    ExecId::new(format!("{}-{word}", order.token))
}

/// Passes the settings of indexes on, in the words of both package managers.
fn environment(index: &IndexSettings) -> Vec<(String, String)> {
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

/// Puts the certificates of this machine where package managers in the sandbox find them.
async fn bring_certificates(
    host: &Host,
    id: &SandboxId,
    file: &std::path::Path,
) -> Result<Vec<(String, String)>, Failure> {
    let bytes = tokio::fs::read(file).await.map_err(|error| {
        let words = format!("reading ca_file {} failed: {error}", file.display());
        Failure::new(FailureKind::Invalid, words)
    })?;
    let path = fixed(b"/workspace/ca.pem")?;
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

/// Runs a command and listens to it; each line is told to whoever waits.
async fn follow(
    context: &Context,
    host: &Host,
    (order, id): (&Order<'_>, &SandboxId),
    spec: &ExecSpec,
    heard: &mut Heard,
) -> Result<Ended, Failure> {
    let mut running = host.engine.exec(id, spec).await?;
    while let Some(item) = running.items.next().await {
        match item {
            ExecItem::Chunk(chunk) => {
                for line in heard.add(chunk.stream, &chunk.bytes) {
                    let note = Note {
                        text: format!("{}: {line}", order.installer.word()),
                        done: 0,
                        total: None,
                    };
                    context.progress(order.request, note);
                }
            }
            ExecItem::End(end) => {
                heard.flush();
                return Ok(end.ended);
            }
        }
    }
    Ok(Ended::Lost)
}

/// Says why packages could not be installed, in the package manager's own words.
fn failed(order: &Order<'_>, ended: Ended, heard: &Heard, index: &IndexSettings) -> Failure {
    let installer = order.installer.word();
    let how = match ended {
        Ended::TimedOut => format!("{installer} took longer than {} s", LONGEST.as_secs()),
        Ended::OutOfMemory => format!("{installer} ran out of memory"),
        Ended::Code(127) => format!("the image {} has no {installer}", order.shelf.image),
        Ended::Code(code) => format!("{installer} ended with code {code}"),
        other => format!("{installer} was ended: {}", other.word()),
    };
    let mut words = format!("the packages were not installed: {how}");
    for line in heard.lines() {
        words.push('\n');
        words.push_str(&masked(line, index));
    }
    Failure::new(FailureKind::Packages, words)
        .with_hint("`--deps none` runs the code without installing anything")
}

/// Hides the passwords of indexes, which some package managers repeat.
fn masked(line: &str, index: &IndexSettings) -> String {
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
        let env = environment(&index);
        let has = |name: &str| env.iter().any(|(known, _)| known == name);
        assert!(has("PIP_INDEX_URL") && has("https_proxy") && !has("PIP_TRUSTED_HOST"));
        let shown = masked("GET https://me:pw@index.example/simple/rich/", &index);
        assert_eq!(shown, "GET https://********@index.example/simple/rich/");
    }
}
