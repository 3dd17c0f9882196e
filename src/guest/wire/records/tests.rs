//! Records survive any splitting, and rubbish does not pass.

use super::*;

fn sample() -> Vec<u8> {
    let entry = Entry {
        kind: EntryKind::File,
        mode: 0o644,
        size: 3,
        name: b"a\xff b".to_vec(),
        ..Entry::default()
    };
    let link = Entry {
        kind: EntryKind::Symlink,
        name: b"l".to_vec(),
        target: b"../x".to_vec(),
        ..Entry::default()
    };
    let mut bytes = entry_bytes(&entry);
    bytes.extend(data_head(3));
    bytes.extend(b"xyz");
    bytes.extend(padding(3));
    bytes.extend(entry_bytes(&link));
    bytes.extend(end_bytes());
    bytes
}

fn decode(pieces: &[&[u8]]) -> (Vec<Entry>, Vec<u8>, usize) {
    let (mut decoder, mut entries, mut data, mut ends) =
        (Decoder::default(), Vec::new(), Vec::new(), 0);
    for piece in pieces {
        decoder.push(piece);
        while let Some(record) = decoder.next_record().expect("valid records") {
            match record {
                Record::Entry(entry) => entries.push(entry),
                Record::Data(bytes) => data.extend(bytes),
                Record::End => ends += 1,
            }
        }
    }
    (entries, data, ends)
}

#[test]
fn splitting_anywhere_gives_the_same_records() {
    let bytes = sample();
    let whole = decode(&[&bytes]);
    assert_eq!(
        (whole.0.len(), whole.1.as_slice(), whole.2),
        (2, &b"xyz"[..], 1)
    );
    for at in 0..bytes.len() {
        let (left, right) = bytes.split_at(at);
        assert_eq!(decode(&[left, right]), whole, "split at {at}");
    }
}

#[test]
fn every_kind_and_field_survives() {
    for kind in [
        EntryKind::File,
        EntryKind::Directory,
        EntryKind::Symlink,
        EntryKind::Special,
        EntryKind::Unreadable,
    ] {
        let entry = Entry {
            kind,
            mode: 0o4755,
            uid: 1,
            gid: u32::MAX,
            size: u64::MAX,
            seconds: -1,
            nanos: 999_999_999,
            name: b"n".to_vec(),
            target: b"t".to_vec(),
        };
        assert_eq!(decode(&[&entry_bytes(&entry)]).0, [entry]);
    }
    assert_eq!(EntryKind::parse(b'?'), EntryKind::Special);
}

#[test]
fn long_data_comes_in_pieces_and_reading_follows_it() {
    let data: Vec<u8> = (0..=250).cycle().take(DATA_PIECE + 1000).collect();
    let mut stream = data_head(data.len()).to_vec();
    stream.extend(&data);
    stream.extend(padding(data.len()));
    stream.extend(end_bytes());
    let (mut decoder, mut input, mut read) = (Decoder::default(), &stream[..], Vec::<u8>::new());
    loop {
        match decoder.next_record().expect("valid records") {
            Some(Record::Data(bytes)) => read.extend(bytes),
            Some(Record::End) => break,
            Some(Record::Entry(entry)) => unreachable!("{entry:?}"),
            None => assert_ne!(decoder.read_from(&mut input).expect("bytes"), 0),
        }
    }
    assert!(read == data);
}

#[test]
fn padding_fills_whole_blocks() {
    for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1] {
        assert_eq!((len + padding(len).len()) % BLOCK, 0, "{len}");
        assert!(padding(len).len() < BLOCK);
    }
}

#[test]
fn rubbish_is_refused() {
    let mut decoder = Decoder::default();
    decoder.push(b"?");
    assert!(decoder.next_record().is_err());
    let huge = Entry {
        kind: EntryKind::File,
        name: vec![b'x'; LONGEST_NAME + 1],
        ..Entry::default()
    };
    let mut decoder = Decoder::default();
    decoder.push(&entry_bytes(&huge));
    assert!(decoder.next_record().is_err());
}
