//! Archives with one file or folder, and their way into a container.

use bollard::body_full;
use bollard::query_parameters::UploadToContainerOptionsBuilder;
use bytes::Bytes;

use super::ownership::UserIds;
use super::{Client, convert};
use crate::domain::SandboxId;
use crate::engine::Result;
use crate::guest::{self, wire};

/// Packs the guest program as nobody inside can read it.
pub(super) fn pack_guest(name: &str, owner: UserIds) -> Bytes {
    let mut header = header(name.as_bytes(), tar::EntryType::Regular, owner);
    header.set_mode(wire::GUEST_MODE);
    pack(header, guest::PROGRAM)
}

/// Packs a folder itself, which hands it to its owner. It must be called `/`: engines pass over `.`.
pub(super) fn pack_folder(owner: UserIds) -> Bytes {
    let mut header = header(b"/", tar::EntryType::Directory, owner);
    header.set_mode(0o755);
    pack(header, &[])
}

fn header(name: &[u8], kind: tar::EntryType, owner: UserIds) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    for (byte, to) in name.iter().zip(header.as_old_mut().name.iter_mut()) {
        *to = *byte;
    }
    header.set_entry_type(kind);
    header.set_uid(owner.uid.into());
    header.set_gid(owner.gid.into());
    header
}

/// Never compresses, because engines have run hostile decompressors for that.
fn pack(mut header: tar::Header, content: &[u8]) -> Bytes {
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut builder = tar::Builder::new(Vec::new());
    // Writing into memory cannot fail.
    let _ = builder.append(&header, content);
    builder.into_inner().unwrap_or_default().into()
}

/// Unpacks an archive in a folder of a container.
pub(super) async fn upload(
    client: &Client,
    id: &SandboxId,
    path: &str,
    archive: Bytes,
) -> Result<()> {
    let options = UploadToContainerOptionsBuilder::new().path(path).build();
    let sent = client
        .docker
        .upload_to_container(id.as_str(), Some(options), body_full(archive))
        .await;
    sent.map_err(|error| convert::error(&format!("preparing {path} in the sandbox"), error))
}
