//! What passes and what does not, however it is cut.

use super::*;

const NOTHING: TerminalPermissions = TerminalPermissions {
    clipboard: false,
    titles: false,
    queries: false,
};

fn filtered(input: &[u8], permissions: TerminalPermissions) -> String {
    let (mut filter, mut out) = (TerminalFilter::new(permissions), Vec::new());
    filter.push(input, &mut out);
    String::from_utf8_lossy(&out).escape_debug().to_string()
}

fn passes(input: &str) {
    let expected = input.escape_debug().to_string();
    assert_eq!(filtered(input.as_bytes(), NOTHING), expected);
}

fn is_dropped(input: &[u8]) {
    let around = [b"a", input, b"b"].concat();
    let shown = input.escape_ascii();
    assert_eq!(filtered(&around, NOTHING), "ab", "{shown}");
    // One byte at a time is the same.
    let (mut filter, mut out) = (TerminalFilter::default(), Vec::new());
    for byte in &around {
        filter.push(std::slice::from_ref(byte), &mut out);
    }
    assert_eq!(out, b"ab", "{shown}");
}

#[test]
fn what_draws_goes_through() {
    passes("plain\r\n\ttext, gr\u{fc}n \u{1f980} \u{a0}");
    passes(
        "\u{1b}[1;31mred\u{1b}[0m\u{1b}[2J\u{1b}[10;20H\u{1b}[?25l\u{1b}[?1049h\u{1b}[2 q\u{1b}[!p",
    );
    passes("\u{1b}[?1000h\u{1b}[>1u\u{1b}[<u\u{1b}[>4;2m\u{1b}[3S\u{1b}[u\u{1b}[>4n");
    passes("\u{1b}(0lqk\u{1b}(B\u{1b}7\u{1b}8\u{1b}c\u{1b}#8\u{1b}=");
    passes("\u{1b}]8;;https://x.example/\u{7}link\u{1b}]8;;\u{1b}\\");
    passes("\u{1b}]11;#102030\u{7}\u{1b}]104\u{7}\u{1b}]133;A\u{7}");
    passes("\u{1b}P0;1q#0;2;0;0;0~~\u{1b}\\after");
}

#[test]
fn clipboard_titles_and_files_are_dropped() {
    for sequence in [
        &b"\x1b]52;c;ZXZpbA==\x07"[..],
        b"\x1b]52;c;?\x1b\\",
        b"\x1b]0;title\x07",
        b"\x1b]2;title\x1b\\",
        b"\x1b]1337;SetClipboard=x\x07",
        b"\x1b]9;note\x07",
        b"\x1b]777;notify;a;b\x07",
        b"\x1bktitle\x1b\\",
        b"\x1b_Gt=f;L2V0Yy9wYXNzd2Q=\x1b\\",
        b"\x1b^private\x1b\\",
        b"\x1bXstring\x1b\\",
        b"\x1b[21t",
        b"\x1b[8;10;10t",
        b"\x1b[5i",
    ] {
        is_dropped(sequence);
    }
}

#[test]
fn questions_are_dropped() {
    for sequence in [
        &b"\x1b[6n"[..],
        b"\x1b[?6n",
        b"\x1b[5n",
        b"\x1b[c",
        b"\x1b[0c",
        b"\x1b[>c",
        b"\x1b[=c",
        b"\x1bZ",
        b"\x1b[>q",
        b"\x1b[?u",
        b"\x1b[?4m",
        b"\x1b[?2026$p",
        b"\x1b[4$p",
        b"\x1b[x",
        b"\x1b[1;1;1;1;10;10*y",
        b"\x1b[1$w",
        b"\x1b[?1;1;0S",
        b"\x1bP+q544e\x1b\\",
        b"\x1bP$qm\x1b\\",
        b"\x1b]10;?\x07",
        b"\x1b]11;?\x1b\\",
        b"\x1b]4;1;?\x07",
        b"\x05",
    ] {
        is_dropped(sequence);
    }
}

#[test]
fn other_ways_to_write_them_are_known() {
    // Control characters of one and of two bytes.
    is_dropped(b"\x9b");
    assert_eq!(filtered("a\u{9b}6nb".as_bytes(), NOTHING), "a6nb");
    assert_eq!(
        filtered("\u{9d}52;c;eA==\u{9c}".as_bytes(), NOTHING),
        "52;c;eA=="
    );
    // Terminals obey a line end inside a sequence, and go on with it.
    assert_eq!(filtered(b"\x1b[6\nn", NOTHING), "\\n");
    assert_eq!(filtered(b"\x1b\x05Z", NOTHING), "");
    // A sequence that is given up is followed by one that counts.
    assert_eq!(filtered(b"\x1b]8;\x1b[6n", NOTHING), "");
    assert_eq!(filtered(b"\x1b[1\x1b[6n", NOTHING), "");
    assert_eq!(filtered(b"\x1b[1\x18ok", NOTHING), "ok");
    assert_eq!(filtered(b"\xe2\x1b[6nok", NOTHING), "\u{fffd}ok");
    // One without an end is dropped with what belongs to it, and what comes later is drawn.
    let long = [&b"\x1b]8;"[..], &vec![b'x'; 20_000], b"\x07after"].concat();
    assert_eq!(filtered(&long, NOTHING), "after");
    // A control character of one or two bytes ends a string for some terminals.
    assert_eq!(
        filtered("\u{1b}]8;;\u{9c}\u{9b}6n\u{7}ok".as_bytes(), NOTHING),
        "ok"
    );
    assert_eq!(filtered(b"\x1b]8;;\x9c\x9b6n\x07ok", NOTHING), "ok");
    let picture = filtered(b"\x1bPq~\x9c\x9b6n\x1b\\ok", NOTHING);
    assert_eq!(picture, "\\u{1b}Pq~6n\\u{1b}\\\\ok");
}

#[test]
fn what_is_allowed_goes_through() {
    let clipboard = TerminalPermissions {
        clipboard: true,
        ..NOTHING
    };
    let set = b"\x1b]52;c;eA==\x07";
    assert_eq!(filtered(set, clipboard), "\\u{1b}]52;c;eA==\\u{7}");
    assert_eq!(filtered(b"\x1b]52;c;?\x07", clipboard), "", "reading never");
    let titles = TerminalPermissions {
        titles: true,
        ..NOTHING
    };
    assert_eq!(filtered(b"\x1b]2;t\x07", titles), "\\u{1b}]2;t\\u{7}");
    assert_eq!(filtered(b"\x1b[21t", titles), "", "the title is not told");
    let queries = TerminalPermissions {
        queries: true,
        ..NOTHING
    };
    assert_eq!(filtered(b"\x1b[c\x1b[6n", queries), "\\u{1b}[c\\u{1b}[6n");
}

proptest::proptest! {
    /// Whatever comes, cut anywhere: the same passes, and no sequence that was dropped can arise from what is left.
    #[test]
    fn cuts_do_not_matter_and_what_passed_passes_again(
        input in proptest::collection::vec(
            proptest::sample::select(&b"\x1b\x1b\x1b[]P_\\?;0256ncqtZ$+>\x07\x18\n\x9b\x9d\xc2a"[..]), 0..60),
        cut in 0usize..60,
    ) {
        let (mut whole, mut out) = (TerminalFilter::default(), Vec::new());
        whole.push(&input, &mut out);
        let (first, second) = input.split_at(cut.min(input.len()));
        let (mut cut, mut pieces) = (TerminalFilter::default(), Vec::new());
        cut.push(first, &mut pieces);
        cut.push(second, &mut pieces);
        proptest::prop_assert_eq!(&out, &pieces);
        let (mut again, mut twice) = (TerminalFilter::default(), Vec::new());
        again.push(&out, &mut twice);
        proptest::prop_assert!(out.starts_with(&twice), "{:?} {:?}", out.escape_ascii(), twice.escape_ascii());
    }
}
