//! Names in an image: where they lead, and that none leads out of it.

use std::io;

/// How deep folders may lie; each step may cost an open folder.
pub(super) const MOST_STEPS: usize = 200;

/// The error for what lies too deep.
pub(super) fn too_deep() -> io::Error {
    io::Error::other("it lies deeper than sandtop unpacks (200 folders)")
}

/// The error for a name that could leave the image.
pub(super) fn leads_out() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the name leads out of the image",
    )
}

/// Writes a name for people.
pub(super) fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).escape_debug().to_string()
}

/// Splits a name of an image; none may climb.
pub(super) fn steps(name: &[u8]) -> io::Result<Vec<&[u8]>> {
    let parts = name.split(|b| *b == b'/');
    let steps: Vec<&[u8]> = parts.filter(|part| !matches!(*part, b"" | b".")).collect();
    if steps.contains(&&b".."[..]) {
        return Err(leads_out());
    }
    if steps.len() > MOST_STEPS {
        return Err(too_deep());
    }
    Ok(steps)
}

/// Puts a path together again.
pub(super) fn joined(steps: &[&[u8]]) -> Vec<u8> {
    steps.join(&b'/')
}

/// Names something in a folder.
pub(super) fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        name.to_vec()
    } else {
        [path, b"/", name].concat()
    }
}
