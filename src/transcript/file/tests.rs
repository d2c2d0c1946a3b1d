use super::*;
use crate::revision::Revision;
use proptest::prelude::*;

fn an_exit() -> impl Strategy<Value = Exit> {
    any::<(Option<i32>, Option<i32>, bool)>().prop_map(|(status, signal, by_us)| Exit {
        status,
        signal,
        by_us,
    })
}

fn an_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        Just(Ending::Lf),
        Just(Ending::CrLf),
        Just(Ending::Unfinished),
        any::<u64>().prop_map(Ending::TooLong),
        Just(Ending::None),
    ]
}

fn an_entry() -> impl Strategy<Value = Entry> {
    let bytes = prop_oneof![any::<String>().prop_map(String::into_bytes), any::<Vec<u8>>()];
    (
        (any::<u64>(), any::<u64>(), proptest::sample::select(&CHANNELS[..]), bytes),
        (
            an_ending(),
            any::<Option<String>>(),
            any::<bool>(),
            any::<Option<u64>>(),
            proptest::option::of(an_exit()),
        ),
    )
        .prop_map(|((sequence, at, channel, bytes), (ending, case, deliberate, exchange, exit))| Entry {
            sequence,
            at: Duration::from_micros(at),
            channel,
            bytes,
            ending,
            case: case.map(Arc::from),
            deliberate,
            exchange,
            exit,
        })
}

fn a_transcript() -> impl Strategy<Value = Transcript> {
    (
        (any::<u32>(), any::<bool>(), proptest::sample::select(&Revision::ALL[..]), any::<String>()),
        proptest::collection::vec(an_entry(), 0..8),
    )
        .prop_map(|((conversation, http, revision, purpose), entries)| {
            let transport = if http { Transport::Http } else { Transport::Stdio };
            Transcript { head: Head { conversation, transport, revision, purpose }, entries }
        })
}

fn written(transcripts: &[Transcript], masks: &Masks) -> Vec<u8> {
    let mut file = Vec::new();
    for transcript in transcripts {
        write(transcript, &mut file, masks).unwrap();
    }
    file
}

fn sample(entries: &[(Channel, &[u8])]) -> Transcript {
    let purpose = "calm".to_owned();
    let (transport, revision) = (Transport::Stdio, Revision::R2025_06_18);
    let head = Head { conversation: 1, transport, revision, purpose };
    let mut transcript = Transcript::new(head);
    for (sequence, (channel, bytes)) in (1..).zip(entries) {
        transcript.entries.push(Entry {
            sequence,
            at: Duration::from_micros(sequence * 10),
            channel: *channel,
            bytes: bytes.to_vec(),
            ending: if *channel == Channel::Stderr { Ending::None } else { Ending::Lf },
            case: None,
            deliberate: false,
            exchange: None,
            exit: None,
        });
    }
    transcript
}

proptest! {
    #[test]
    fn what_was_written_reads_back_the_same(
        transcripts in proptest::collection::vec(a_transcript(), 0..3)
    ) {
        let file = written(&transcripts, &Masks::none());
        prop_assert_eq!(read(file.as_slice()).unwrap(), transcripts);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<Vec<u8>>()) {
        let _ = read(text.as_slice());
    }

    #[test]
    fn a_damaged_file_names_its_line_or_reads(
        transcript in a_transcript(), at in any::<proptest::sample::Index>(), byte in any::<u8>()
    ) {
        let mut file = written(&[transcript], &Masks::none());
        let at = at.index(file.len());
        let line = 1 + file[..at].iter().filter(|byte| **byte == b'\n').count();
        file[at] = byte;
        if let Err(error) = read(file.as_slice()) {
            let TranscriptError::Malformed { line: named, .. } = error else { panic!("{error}") };
            prop_assert!(named == line || named == line + 1, "line {} named, {} damaged", named, line);
        }
    }

    #[test]
    fn a_secret_cut_anywhere_in_a_stream_is_masked(
        cuts in proptest::collection::vec(0usize..40, 0..5), in_body in any::<bool>()
    ) {
        let whole = b"before hunter22 between hunter22hunter22 after";
        let channel = if in_body { Channel::Body } else { Channel::Stderr };
        let mut cuts: Vec<usize> = cuts;
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        // What comes between, on another stream, is no part of it.
        let between: (Channel, &[u8]) = (Channel::Stdout, b"{}");
        let pieces: Vec<(Channel, &[u8])> =
            cuts.windows(2).flat_map(|cut| [(channel, &whole[cut[0]..cut[1]]), between]).collect();
        let mut masks = Masks::none();
        masks.add("hunter22");
        let mut transcript = sample(&pieces);
        transcript.entries.iter_mut().for_each(|entry| entry.exchange = in_body.then_some(7));
        let file = written(&[transcript], &masks);
        let back = read(file.as_slice()).unwrap();
        let entries = back[0].entries.iter().filter(|entry| entry.channel == channel);
        let stream: Vec<u8> = entries.flat_map(|entry| entry.bytes.clone()).collect();
        prop_assert_eq!(
            String::from_utf8(stream).unwrap(),
            "before [masked] between [masked][masked] after"
        );
    }
}

#[test]
fn the_lines_are_as_the_documentation_shows() {
    let mut transcript = sample(&[(Channel::Stdin, b"{\"id\":1}"), (Channel::Stdout, b"\xff hunter22")]);
    transcript.entries[0].case = Some("read/unknown-uri".into());
    transcript.entries[0].deliberate = true;
    transcript.entries[1].ending = Ending::TooLong(99);
    transcript.entries.push(Entry {
        sequence: 3,
        at: Duration::from_secs(1),
        channel: Channel::Exit,
        bytes: Vec::new(),
        ending: Ending::None,
        case: None,
        deliberate: false,
        exchange: None,
        exit: Some(Exit { status: None, signal: Some(9), by_us: true }),
    });
    let mut masks = Masks::none();
    masks.add("hunter22");
    let expected = r#"{"format":"mcp-litmus-transcript/1","conversation":1,"transport":"stdio","revision":"2025-06-18","purpose":"calm"}
{"sequence":1,"at_us":10,"channel":"stdin","text":"{\"id\":1}","ending":"lf","case":"read/unknown-uri","deliberate":true}
{"sequence":2,"at_us":20,"channel":"stdout","base64":"/yBbbWFza2VkXQ==","ending":"too-long","whole_bytes":99,"masked":1}
{"sequence":3,"at_us":1000000,"channel":"exit","exit":{"signal":9,"by_us":true}}
"#;
    assert_eq!(String::from_utf8(written(&[transcript], &masks)).unwrap(), expected);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let head = r#"{"format":"mcp-litmus-transcript/1","conversation":1,"transport":"stdio","revision":"2025-06-18","purpose":"x"}"#;
    let entry = r#"{"sequence":1,"at_us":0,"channel":"stdout","ending":"lf"}"#;
    for (text, expected) in [
        (entry.to_owned(), "line 1: an entry before any head"),
        (head.replace("/1\"", "/9\""), "line 1: format `mcp-litmus-transcript/9` is not"),
        (head.replace("stdio", "smoke"), "line 1: `smoke` is no transport"),
        (head.replace("2025-06-18", "draft"), "line 1: `draft` is no published revision"),
        (format!("{head}\n\n{entry}\nnonsense"), "line 4: column 2: expected"),
        (format!("{head}\n{}", entry.replace("stdout", "up")), "line 2: `up` is no channel (stdin, "),
        (format!("{head}\n{}", entry.replace("\"lf", "\"cr")), "line 2: `cr` is no ending"),
        (format!("{head}\n{}", entry.replace("\"lf", "\"too-long")), "line 2: ending `too-long` needs"),
        (format!("{head}\n{}", entry.replace(":\"lf\"", ":\"lf\",\"base64\":\"%\"")), "line 2: base64: "),
        (
            format!("{head}\n{}", entry.replace(":\"lf\"", ":\"lf\",\"base64\":\"\",\"text\":\"\"")),
            "line 2: it has both",
        ),
        (format!("{head}\n{{}}"), "line 2: column 2: missing field `sequence`"),
    ] {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let newer = entry.replace("\"ending\"", "\"unheard\":{\"of\":1},\"ending\"");
    assert_eq!(read(format!("{head}\n{newer}").as_bytes()).unwrap()[0].entries.len(), 1);
}
