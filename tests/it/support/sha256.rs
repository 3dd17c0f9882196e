//! The digest by which registries name things.

/// Returns the digest of some bytes as hexadecimal text.
pub fn hex(bytes: &[u8]) -> String {
    let mut state = first_words(8, 2);
    let rounds = first_words(64, 3);
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        compress(&mut state, block, &rounds);
    }
    let words: Vec<_> = state.iter().map(|word| format!("{word:08x}")).collect();
    words.concat()
}

/// Returns the first bits of the fractions of the square or cube roots of the first primes.
fn first_words(count: usize, root: u32) -> Vec<u32> {
    let is_prime = |n: &u128| (2..*n).all(|d| !n.is_multiple_of(d));
    let fraction = |prime: u128| {
        // The largest r with r^root <= prime * 2^(32 * root) is the root with 32 bits after the point.
        let (mut low, mut high) = (0_u128, 1 << 37);
        while high - low > 1 {
            let middle = u128::midpoint(low, high);
            if middle.pow(root) <= prime << (32 * root) {
                low = middle;
            } else {
                high = middle;
            }
        }
        u32::try_from(low & 0xffff_ffff).expect("32 bits")
    };
    (2..).filter(is_prime).take(count).map(fraction).collect()
}

#[allow(clippy::many_single_char_names)] // They are those of the standard.
fn compress(state: &mut [u32], block: &[u8], rounds: &[u32]) {
    let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("4 bytes"));
    let mut w: Vec<u32> = block.chunks(4).map(word).collect();
    for i in 16..64 {
        let (a, b) = (w[i - 15], w[i - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        w.push(
            w[i - 16]
                .wrapping_add(s0)
                .wrapping_add(w[i - 7])
                .wrapping_add(s1),
        );
    }
    let mut v: [u32; 8] = state.try_into().expect("8 words");
    for i in 0..64 {
        let [a, b, c, d, e, f, g, h] = v;
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h
            .wrapping_add(s1)
            .wrapping_add((e & f) ^ (!e & g))
            .wrapping_add(rounds[i])
            .wrapping_add(w[i]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        v = [t1.wrapping_add(t2), a, b, c, d.wrapping_add(t1), e, f, g];
    }
    for (old, new) in state.iter_mut().zip(v) {
        *old = old.wrapping_add(new);
    }
}

#[test]
fn known_digests_come_out() {
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(hex(b""), empty);
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hex(b"abc"), abc);
    let letters = "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb";
    assert_eq!(hex(&[b'a'; 64]), letters);
}
