//! Made-up records for the tests of all reports.

use crate::record::*;
use crate::revision::Revision;
use proptest::prelude::*;

pub fn target() -> Target {
    Target {
        label: "node server.js".into(),
        arguments: "-- node server.js".into(),
        transport: Transport::Stdio,
        server: Some(("notes-server".into(), "1.4.2".into())),
        revisions: vec![
            RevisionRecord {
                revision: Revision::R2025_06_18,
                spoken: false,
                reason: Some("the server answered 2025-11-25".into()),
            },
            RevisionRecord { revision: Revision::R2025_11_25, spoken: true, reason: None },
            RevisionRecord { revision: Revision::R2026_07_28, spoken: true, reason: None },
        ],
        unreachable: None,
        stderr: vec![],
    }
}

pub fn record(cases: Vec<CaseRecord>) -> Record {
    Record {
        suite: Suite { version: "0.1.0".into(), digest: "4be1c0de".into() },
        target: target(),
        cases,
        cut_short: None,
        started: 1_790_000_000,
        milliseconds: 3_250,
        seed: u64::MAX,
        advice_fails: false,
        require_proof: false,
    }
}

pub fn case(name: &str, outcome: Outcome) -> CaseRecord {
    CaseRecord {
        name: name.into(),
        summary: "An unknown URI is answered by an error".into(),
        requirement: "read.unknown-uri-code".into(),
        statement: "Reading a URI the server does not know is answered by error -32602".into(),
        refs: vec!["READ-12".into()],
        source: "server/resources#error-handling".into(),
        keyword: "MUST".into(),
        revision: Revision::R2026_07_28,
        transport: Transport::Stdio,
        outcome,
        known: None,
        reason: None,
        help: None,
        matters: None,
        cause: None,
        mend: None,
        milliseconds: 12,
        findings: vec![],
        more_findings: 0,
        observations: 1,
    }
}

pub fn finding(outcome: Outcome) -> Finding {
    let sent = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{{"uri":"litmus-absent:///{}"}}}}"#,
        "7f3a".repeat(100)
    );
    let got = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Resource not found"}}"#;
    Finding {
        title: "expected `/code` to equal -32602, got -32002".into(),
        outcome,
        place: Some(Place {
            file: "cases/read/unknown-uri.yaml".into(),
            line: 11,
            column: 11,
            length: 29,
            text: "        - { at: /code, equals: -32602 }".into(),
        }),
        pointer: Some("/code".into()),
        expected: "-32602".into(),
        got: "-32002".into(),
        frames: vec![
            Excerpt::new(Direction::Sent, sent.as_bytes()),
            Excerpt::new(Direction::Got, got.as_bytes()),
        ],
        notes: vec![],
        span: Some(Span { conversation: 1, first: 4, last: 5 }),
    }
}

/// A record in which every outcome stands, some at several revisions.
pub fn every_outcome() -> Record {
    let mut cases = Vec::new();
    for revision in [Revision::R2026_07_28, Revision::R2025_11_25, Revision::R2025_06_18] {
        let mut failed = case("read/unknown-uri", Outcome::Fail);
        failed.revision = revision;
        failed.findings = vec![finding(Outcome::Fail)];
        failed.cause = Some("the SDK's older helper still sends -32002".into());
        failed.mend = Some("answer -32602 for a missing resource, with the URI in `data`".into());
        cases.push(failed);
    }
    let mut late = case("read/answers-in-time", Outcome::Fail);
    late.requirement = "read.answered".into();
    late.statement = "Every request to read is answered".into();
    late.findings = vec![Finding {
        title: "no reply to `resources/read` (id 4) within 5 s; the server runs and wrote 0 bytes since"
            .into(),
        place: None,
        pointer: None,
        frames: vec![Excerpt::new(Direction::Sent, br#"{"jsonrpc":"2.0","id":4,"method":"resources/read"}"#)],
        notes: vec!["its standard error ended with: waiting for database".into()],
        ..finding(Outcome::Fail)
    }];
    late.more_findings = 3;
    cases.push(late);
    let mut known = case("list/order-stable", Outcome::Fail);
    known.known = Some("the store is a hash map, see issue 12".into());
    known.findings = vec![finding(Outcome::Fail)];
    cases.push(known);
    let mut advice = case("list/has-title", Outcome::Advice);
    advice.requirement = "list.title".into();
    advice.keyword = "SHOULD".into();
    advice.findings = vec![Finding {
        title: "expected `/resources/0/title`, got nothing".into(),
        ..finding(Outcome::Advice)
    }];
    cases.push(advice);
    let mut note = case("meta/unknown-member", Outcome::Note);
    note.findings =
        vec![Finding { title: "an unknown member `x-vendor` came".into(), ..finding(Outcome::Note) }];
    cases.push(note);
    for name in ["list/all-pages", "read/text", "read/blob"] {
        cases.push(case(name, Outcome::Pass));
    }
    for name in ["updated/after-touch", "updated/names-uri", "unsubscribe/silence"] {
        let mut unproven = case(name, Outcome::Unproven);
        unproven.reason = Some("no way to change a resource".into());
        unproven.help = Some("add `stimuli.touch` to litmus.yaml".into());
        cases.push(unproven);
    }
    let mut unproven = case("pagination/cursor-opaque", Outcome::Unproven);
    unproven.reason = Some("everything fits on one page".into());
    cases.push(unproven);
    for name in ["subscribe/twice", "subscribe/unknown"] {
        let mut skip = case(name, Outcome::Skip);
        skip.reason = Some("the server does not declare `resources.subscribe`".into());
        cases.push(skip);
    }
    let mut broken = case("stdio/utf8", Outcome::Broken);
    broken.reason = Some("our own request was invalid: `/params/uri` is no string".into());
    cases.push(broken);
    record(cases)
}

/// Text that tries to act.
pub fn hostile() -> Vec<String> {
    let mut all: Vec<String> = [
        "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m",
        "]]> <evil attr=\"&amp;\"/> ]]]]>]]>",
        "\0\u{1}\u{8}\u{b}\u{c}\u{e}\u{1f}\u{7f}",
        "\u{fffe}\u{ffff}\u{1fffe}\u{fdd0}",
        "\\ud800 lone \\udfff",
        "a\n::error::owned\r\n  ::set-output name=x::y\n##[error]z ##vso[task.setvariable]",
        "\u{202e}desrever\u{2066}\u{2028}\u{2029}\u{200e}\u{feff}",
        "`$(reboot)` '\"&<>%",
        "",
        "\t \r",
        "👩‍🚀 漢字 é",
    ]
    .map(str::to_owned)
    .to_vec();
    all.push("A".repeat(1 << 20));
    all.push("\u{1b}]]>".repeat(1 << 12));
    all
}

/// A record that says `text` wherever a record can say anything.
pub fn saying(text: &str, raw: &[u8], outcome: Outcome) -> Record {
    let say = || text.to_owned();
    let finding = Finding {
        title: say(),
        outcome,
        place: Some(Place { file: say(), line: 3, column: 2, length: 4, text: say() }),
        pointer: Some(say()),
        expected: say(),
        got: say(),
        frames: vec![
            Excerpt::new(Direction::Sent, text.as_bytes()),
            Excerpt::new(Direction::Got, raw),
            Excerpt { direction: Direction::Got, bytes: raw.to_vec(), cut: 9 },
        ],
        notes: vec![say(), say()],
        span: None,
    };
    let mut nowhere = finding.clone();
    nowhere.place = None;
    let case = CaseRecord {
        name: say(),
        summary: say(),
        requirement: say(),
        statement: say(),
        refs: vec![say()],
        source: say(),
        keyword: say(),
        reason: Some(say()),
        help: Some(say()),
        matters: Some(say()),
        cause: Some(say()),
        mend: Some(say()),
        findings: vec![finding, nowhere],
        more_findings: 2,
        ..case("x", outcome)
    };
    let known = CaseRecord { known: Some(say()), ..case.clone() };
    let bare = CaseRecord { findings: vec![], help: None, ..case.clone() };
    let mut record = record(vec![case, known, bare]);
    record.suite = Suite { version: say(), digest: say() };
    record.target.label = say();
    record.target.arguments = say();
    record.target.server = Some((say(), say()));
    record.target.revisions[0].reason = Some(say());
    record.target.stderr = vec![say(), say()];
    record.cut_short = Some(say());
    record
}

/// Any record: every mix of outcomes, known entries, levels, and ways to end without a verdict.
pub fn any_record() -> impl Strategy<Value = Record> {
    let case = (
        0usize..4,
        prop::sample::select(Outcome::ALL.to_vec()),
        any::<bool>(),
        0usize..3,
        0usize..5,
        any::<bool>(),
    )
        .prop_map(|(name, outcome, known, findings, revision, http)| CaseRecord {
            known: known.then(|| "issue 7".to_owned()),
            reason: (findings == 0).then(|| "a reason".to_owned()),
            findings: vec![finding(outcome); findings],
            revision: Revision::ALL[revision],
            transport: if http { Transport::Http } else { Transport::Stdio },
            ..case(["read/text", "list/all", "updated/heard", "plain"][name], outcome)
        });
    let ends = (
        any::<bool>(),
        any::<bool>(),
        prop::option::weighted(0.1, Just(())),
        prop::option::weighted(0.1, Just(())),
    );
    (prop::collection::vec(case, 1..12), ends, any::<u64>(), 0u64..4_000_000_000_000).prop_map(
        |(cases, (advice_fails, require_proof, unreachable, cut_short), seed, milliseconds)| {
            let mut record = record(cases);
            record.advice_fails = advice_fails;
            record.require_proof = require_proof;
            record.target.unreachable = unreachable.map(|()| "`node` was not found".to_owned());
            record.cut_short = cut_short.map(|()| "interrupted".to_owned());
            record.seed = seed;
            record.milliseconds = milliseconds;
            record
        },
    )
}
