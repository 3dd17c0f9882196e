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
pub(super) fn display(name: &[u8]) -> String {
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
pub(super) fn join_steps(steps: &[&[u8]]) -> Vec<u8> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_climbs_or_lies_too_deep() {
        assert_eq!(steps(b"/a/./b//c").expect("steps"), [b"a", b"b", b"c"]);
        assert!(steps(b"./").expect("steps").is_empty());
        assert!(steps(b"a/../../b").is_err());
        assert!(steps(&b"d/".repeat(MOST_STEPS)).is_ok());
        assert!(steps(&b"d/".repeat(MOST_STEPS + 1)).is_err());
    }

    #[test]
    fn paths_are_put_together() {
        assert_eq!(join_steps(&[b"a", b"b"]), b"a/b");
        assert_eq!(below(b"", b"a"), b"a");
        assert_eq!(below(b"a", b"b"), b"a/b");
    }
}
