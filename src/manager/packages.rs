//! The packages of a program: found on a shelf, or installed on a new one, and then shown to the sandbox it runs in.

use std::collections::BTreeSet;

use chrono::Utc;
use sha2::{Digest, Sha256};

use super::Host;
use super::context::Context;
use super::stock::{self, Held, Hold, Stock};
use super::workshop::{self, Order};
use crate::code::{Installer, Language, Requirement};
use crate::config::IndexSettings;
use crate::domain::{Access, FileKind, RequestId, Sandbox, Shelf, ShelfMount};
use crate::engine::{Note, Notes};
use crate::protocol::{CacheUse, Failure, FailureKind, FileOp, Program};

/// Packages that are there.
pub(super) struct Provided {
    pub(super) cache: CacheUse,
    pub(super) installer: Installer,
    pub(super) shelf: Shelf,
    /// Nobody removes the shelf as long as this is held.
    _held: Held,
}

/// What is asked for.
pub(super) struct Wish<'a> {
    pub(super) request: RequestId,
    pub(super) program: &'a Program,
    /// The image it runs in.
    pub(super) image: &'a str,
    pub(super) packages: Vec<Requirement>,
}

/// Everything that is known before anything is done.
struct Lookup {
    installer: Installer,
    stock: Stock,
    key: String,
}

/// Names the shelf that would do; `None` if there is nothing to have.
async fn look_up(
    context: &Context,
    host: &Host,
    wish: &Wish<'_>,
) -> Result<Option<Lookup>, Failure> {
    let language = &wish.program.language;
    let Some(installer) = language.installer().filter(|_| !wish.packages.is_empty()) else {
        return Ok(None);
    };
    let image_key = image_key(context, host, wish).await?;
    let index = &context.options.deps.index;
    Ok(Some(Lookup {
        installer,
        stock: Stock::of(context, host)?,
        key: key_of(language, &image_key, index, &wish.packages),
    }))
}

/// Tells whether packages are at hand; `None` if there is nothing to have or nobody knows.
pub(super) async fn is_kept(context: &Context, host: &Host, wish: &Wish<'_>) -> Option<bool> {
    let lookup = look_up(context, host, wish).await.ok()??;
    let found = usable(context, host, &lookup.key, None).await.ok()?;
    Some(found.is_some())
}

/// Finds packages that are there.
pub(super) async fn find(
    context: &Context,
    host: &Host,
    wish: &Wish<'_>,
) -> Result<Option<Provided>, Failure> {
    match look_up(context, host, wish).await? {
        Some(lookup) => take(context, host, wish, &lookup, None).await,
        None => Ok(None),
    }
}

/// Finds or installs packages; `None` if there is nothing to have.
pub(super) async fn provide(
    context: &Context,
    host: &Host,
    wish: &Wish<'_>,
) -> Result<Option<Provided>, Failure> {
    let Some(lookup) = look_up(context, host, wish).await? else {
        return Ok(None);
    };
    let Lookup {
        installer,
        stock,
        key,
    } = &lookup;
    let mut fresh = None;
    loop {
        let taken = take(context, host, wish, &lookup, fresh.as_deref()).await?;
        if taken.is_some() {
            return Ok(taken);
        }
        let _held = hold(context, stock, wish, key, Hold::Alone).await?;
        // Somebody else may have installed them while we waited.
        if usable(context, host, key, None).await?.is_none() {
            let order = order(wish, *installer, key);
            fresh = Some(workshop::install(context, host, &order).await?.name);
            make_room(context, host, key).await;
        }
    }
}

/// Takes a shelf that is there, and keeps others from removing it.
async fn take(
    context: &Context,
    host: &Host,
    wish: &Wish<'_>,
    lookup: &Lookup,
    fresh: Option<&str>,
) -> Result<Option<Provided>, Failure> {
    let held = hold(context, &lookup.stock, wish, &lookup.key, Hold::Shared).await?;
    let Some(shelf) = usable(context, host, &lookup.key, fresh).await? else {
        return Ok(None);
    };
    lookup.stock.used(&lookup.key, fresh.is_none());
    Ok(Some(Provided {
        cache: fresh.map_or(CacheUse::Hit, |_| CacheUse::Miss),
        installer: lookup.installer,
        shelf,
        _held: held,
    }))
}

async fn hold(
    context: &Context,
    stock: &Stock,
    wish: &Wish<'_>,
    key: &str,
    hold: Hold,
) -> Result<Held, Failure> {
    let words = "waiting for another run that installs the same";
    let waiting = || tell(context, wish.request, words);
    stock.hold(context, key, hold, waiting).await
}

pub(super) fn tell(context: &Context, request: RequestId, words: &str) {
    let note = Note {
        text: words.to_owned(),
        done: 0,
        total: None,
    };
    context.progress(request, note);
}

/// Asks the engine what the image is; one that is missing is pulled.
async fn image_key(context: &Context, host: &Host, wish: &Wish<'_>) -> Result<String, Failure> {
    let (sender, mut heard) = tokio::sync::mpsc::channel(16);
    let notes = Notes::to(sender);
    let mut asking = host.engine.image_key(wish.image, &notes);
    loop {
        tokio::select! {
            key = &mut asking => return key.map_err(Failure::from),
            Some(note) = heard.recv() => context.progress(wish.request, note),
            () = context.closing() => return Err(Failure::new(FailureKind::Interrupted, "interrupted")),
        }
    }
}

/// Finds a shelf that is complete and not too old; one that was installed for this run cannot be too old.
async fn usable(
    context: &Context,
    host: &Host,
    key: &str,
    fresh: Option<&str>,
) -> Result<Option<Shelf>, Failure> {
    let mut all = host.engine.shelves().await?;
    let fits = |shelf: &Shelf| {
        let is_young = fresh == Some(shelf.name.as_str()) || !stock::is_expired(context, shelf);
        shelf.key == key && shelf.complete && is_young
    };
    // The newest is the last; an older one may be left of a rebuild.
    let found = all.iter().rposition(fits);
    Ok(found.map(|at| all.swap_remove(at)))
}

pub(super) fn order<'a>(wish: &Wish<'a>, installer: Installer, key: &str) -> Order<'a> {
    let token = &wish.program.exec;
    let short = key.get(..16).unwrap_or(key);
    Order {
        request: wish.request,
        token,
        installer,
        shelf: Shelf {
            name: format!("sandtop-packages-{short}-{token}"),
            key: key.to_owned(),
            language: wish.program.language.name().to_owned(),
            image: wish.image.to_owned(),
            packages: wish.packages.iter().map(|one| one.text.clone()).collect(),
            made_at: Utc::now(),
            size_bytes: 0,
            complete: false,
        },
    }
}

/// Removes what is too old or too much; a failure of that fails no run.
async fn make_room(context: &Context, host: &Host, needed: &str) {
    if let Err(failure) = stock::tidy(context, host, needed).await {
        tracing::warn!(%failure, "old packages were not removed");
    }
}

/// Names everything that decides what is installed.
fn key_of(
    language: &Language,
    image_key: &str,
    index: &IndexSettings,
    packages: &[Requirement],
) -> String {
    let ca_file = index
        .ca_file
        .as_ref()
        .map(|file| file.display().to_string());
    let settings = [
        &index.index_url,
        &index.extra_index_url,
        &index.trusted_host,
        &index.npm_registry,
        &ca_file,
        &index.proxy,
    ];
    let mut packages: Vec<&str> = packages.iter().map(|one| one.text.as_str()).collect();
    packages.sort_unstable();
    let mut hash = Sha256::new();
    // Each word with its length, so that no two lists read the same.
    let mut add = |word: &str| hash.update(format!("{}:{word}\n", word.len()));
    add("sandtop packages 1");
    add(language.name());
    add(image_key);
    for setting in settings {
        add(setting.as_deref().unwrap_or_default());
    }
    packages.into_iter().for_each(&mut add);
    format!("{:x}", hash.finalize())
}

impl Provided {
    /// Describes the mount through which a new sandbox sees the packages.
    pub(super) fn mount(&self) -> Result<ShelfMount, Failure> {
        Ok(ShelfMount {
            name: self.shelf.name.clone(),
            target: workshop::place(self.installer)?,
            access: Access::ReadOnly,
        })
    }
}

/// Lists what programs of a sandbox can import from its work directory.
pub(super) async fn neighbours(host: &Host, sandbox: &Sandbox) -> BTreeSet<String> {
    let list = FileOp::List(sandbox.work_dir.clone());
    let listed = host.engine.file(&sandbox.reference.id, &list);
    let module = |entry: crate::domain::FileEntry| {
        let name = String::from_utf8(entry.name).ok()?;
        match name.strip_suffix(".py") {
            Some(module) => Some(module.to_owned()),
            None => (entry.kind == FileKind::Directory).then_some(name),
        }
    };
    listed
        .await
        .unwrap_or_default()
        .into_iter()
        .filter_map(module)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Languages;

    #[test]
    fn everything_that_decides_is_in_the_key_and_the_order_is_not() {
        let languages = Languages::default();
        let language = |word: &str| languages.by_word(word).expect("a language");
        let set = |names: &[&str]| -> Vec<Requirement> {
            names.iter().map(|name| Requirement::any(name)).collect()
        };
        let plain = IndexSettings::default();
        let mirror = IndexSettings {
            index_url: Some("http://mirror".to_owned()),
            ..IndexSettings::default()
        };
        let extra = IndexSettings {
            extra_index_url: Some("http://mirror".to_owned()),
            ..IndexSettings::default()
        };
        let base = key_of(&language("py"), "i", &plain, &set(&["a", "b"]));
        assert_eq!(
            base,
            key_of(&language("py"), "i", &plain, &set(&["b", "a"]))
        );
        assert_eq!(base.len(), 64);
        let others = [
            key_of(&language("js"), "i", &plain, &set(&["a", "b"])),
            key_of(&language("py"), "j", &plain, &set(&["a", "b"])),
            key_of(&language("py"), "i", &mirror, &set(&["a", "b"])),
            key_of(&language("py"), "i", &extra, &set(&["a", "b"])),
            key_of(&language("py"), "i", &plain, &set(&["a"])),
            key_of(&language("py"), "i", &plain, &set(&["a==1", "b"])),
            key_of(&language("py"), "i", &plain, &set(&["ab", ""])),
        ];
        let all: BTreeSet<&String> = others.iter().chain([&base]).collect();
        assert_eq!(all.len(), others.len() + 1);
    }
}
