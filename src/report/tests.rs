//! Do the reports agree with the record and with each other, and is hostile text harmless in all of them?

use super::console::{Style, Verbosity};
use super::samples::{any_record, every_outcome, hostile, record, saying};
use super::*;
use crate::record::Outcome;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

const VERBOSITIES: [Verbosity; 3] = [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose];

fn console_text(record: &Record, colour: bool, verbosity: Verbosity) -> String {
    let mut out = Vec::new();
    console::write(record, &mut out, Style { colour, verbosity }).unwrap();
    String::from_utf8(out).unwrap()
}

fn json_text(record: &Record) -> String {
    let mut out = Vec::new();
    json::write(record, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Compares with a committed file, or writes it when `BLESS=1`.
fn expect_file(path: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} is not current (BLESS=1 rewrites it); now it would be:\n{actual}",
        path.display()
    );
}

/// Records that say nothing but hostile text, in every outcome; of what is merely long, one each.
fn hostile_records() -> Vec<Record> {
    let raw = b"\xff\xfe raw \x1b[31m \xed\xa0\x80 ]]>";
    let mut records = Vec::new();
    for text in hostile() {
        if text.len() > 1000 {
            let mut record = saying(&text, raw, Outcome::Fail);
            record.cases.truncate(1);
            records.push(record);
            continue;
        }
        for outcome in Outcome::ALL {
            let mut record = saying(&text, raw, outcome);
            records.push(record.clone());
            record.target.unreachable = Some(text.clone());
            record.advice_fails = true;
            record.require_proof = true;
            records.push(record);
        }
    }
    records
}

#[test]
fn the_console_looks_as_committed() {
    let record = every_outcome();
    expect_file("src/report/golden/quiet.txt", &console_text(&record, false, Verbosity::Quiet));
    expect_file("src/report/golden/normal.txt", &console_text(&record, false, Verbosity::Normal));
    expect_file("src/report/golden/verbose.txt", &console_text(&record, false, Verbosity::Verbose));
    let mut unreachable = record;
    unreachable.cases.retain(|case| case.outcome == Outcome::Skip);
    unreachable.target.unreachable =
        Some("`node` exited with status 1 before it answered the opening".into());
    unreachable.target.stderr =
        vec!["Error: Cannot find module 'server.js'".into(), "    at node:internal".into()];
    unreachable.cut_short = Some("the deadline of 10 s was reached".into());
    expect_file("src/report/golden/unreachable.txt", &console_text(&unreachable, false, Verbosity::Normal));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let record = every_outcome();
    for verbosity in VERBOSITIES {
        let coloured = console_text(&record, true, verbosity);
        assert!(coloured.contains('\u{1b}'));
        let stripped = anstream::adapter::strip_str(&coloured).to_string();
        assert_eq!(stripped, console_text(&record, false, verbosity));
    }
}

#[test]
fn the_same_diagnostic_is_on_the_console_and_in_json() {
    let record = every_outcome();
    let document: Value = serde_json::from_str(&json_text(&record)).unwrap();
    let text = document.pointer("/cases/3/diagnostics/0").and_then(Value::as_str).unwrap();
    assert!(text.starts_with("fail: no reply"), "{text}");
    assert!(console_text(&record, false, Verbosity::Normal).contains(text));
}

#[test]
fn hostile_text_never_acts_on_a_terminal_or_a_ci_runner() {
    for record in hostile_records() {
        for verbosity in VERBOSITIES {
            let text = console_text(&record, false, verbosity);
            if let Some(bad) = text.chars().find(|c| *c != '\n' && plain::is_harmful(*c)) {
                panic!("{bad:?} reached the terminal");
            }
            for line in text.lines() {
                assert!(!line.trim_start().starts_with("::"), "{line}");
            }
            assert!(!text.match_indices("##").any(|(at, _)| plain::starts_command(&text[at..])));
            assert!(text.len() < 200_000, "{} bytes of text", text.len());
        }
    }
}

#[test]
fn hostile_text_survives_json_without_acting() {
    for record in hostile_records() {
        let text = json_text(&record);
        assert!(!text.contains(|c| c != '\n' && plain::is_harmful(c)));
        assert!(!text.match_indices("##").any(|(at, _)| plain::starts_command(&text[at..])));
        let again = json::read(text.as_bytes()).unwrap();
        assert!(
            format!("{again:?}") == format!("{record:?}"),
            "reading back changed {}",
            record.cases[0].name
        );
    }
}

#[test]
fn the_schema_is_current_and_real_output_keeps_it() {
    let schema = json::schema();
    let mut text = serde_json::to_string_pretty(&schema).unwrap();
    text.push('\n');
    expect_file("docs/record.schema.json", &text);
    let validator = jsonschema::validator_for(schema.as_value()).unwrap();
    let mut document: Value = serde_json::from_str(&json_text(&every_outcome())).unwrap();
    if let Err(error) = validator.validate(&document) {
        panic!("{error} at {}", error.instance_path());
    }
    document["cases"][0]["outcome"] = "excellent".into();
    assert!(!validator.is_valid(&document), "the schema lets a wrong outcome through");
    for hostile in hostile_records().into_iter().filter(|record| record.target.label.len() < 1000) {
        assert!(validator.is_valid(&serde_json::from_str(&json_text(&hostile)).unwrap()));
    }
}

#[test]
fn what_is_no_record_is_refused_with_its_reason() {
    let message = |text: &str| json::read(text.as_bytes()).unwrap_err().to_string();
    assert!(message("").starts_with("this is no record of mcp-litmus: EOF"));
    assert!(message("{}").contains("missing field `format`"));
    assert!(
        message(r#"{"format":"mcp-litmus/9"}"#).contains("`mcp-litmus/9`; this version reads `mcp-litmus/1`")
    );
    assert!(message(r#"{"format":"mcp-litmus/1"}"#).contains("missing field"));
    let text = json_text(&every_outcome());
    assert!(message(&text.replace("2026-07-28", "draft")).contains("`draft` is none of 2024-11-05"));
    assert!(message(&text.replacen("\"text\": \"{", "\"texts\": \"{", 1)).contains("exactly one of"));
}

#[test]
fn masking_reaches_every_free_text_and_no_name() {
    let (secret, mask) = ("s3cret", "[masked]");
    let record = saying(secret, b"\x7fs3cret\xff", Outcome::Fail);
    let mut masks = crate::mask::Masks::none();
    masks.add(secret);
    let masked = masked(&record, &masks);
    let case = &masked.cases[1];
    let finding = &case.findings[0];
    assert_eq!((case.name.as_str(), case.requirement.as_str()), (secret, secret));
    let target = &masked.target;
    for text in
        [&target.label, &target.arguments, &target.stderr[1], &finding.title, &finding.expected, &finding.got]
            .into_iter()
            .chain(finding.notes.iter())
            .chain(
                [&case.known, &case.reason, &case.help, &masked.cut_short, &finding.pointer]
                    .into_iter()
                    .flatten(),
            )
            .chain(target.server.iter().flat_map(|(name, version)| [name, version]))
            .chain(target.revisions[0].reason.iter())
    {
        assert_eq!(text, mask);
    }
    let frames: Vec<String> = finding.frames.iter().map(|frame| plain::bytes(&frame.bytes)).collect();
    assert_eq!(frames[..2], [mask.to_owned(), "\\x7f[masked]\\xff".to_owned()]);
}

#[test]
fn a_secret_across_the_cut_of_a_frame_is_masked_on_both_sides() {
    let secret = "0123456789abcdef";
    let mut masks = crate::mask::Masks::none();
    masks.add(secret);
    for shift in 0..=secret.len() {
        // Both cuts fall into a secret, or beside one.
        let half = Excerpt::KEPT / 2;
        let part = |length: usize| format!("{}{secret}", "-".repeat(length));
        let frame = format!("{}{}{}", part(half - shift), part(5000), "-".repeat(half - shift));
        let mut record = saying("x", frame.as_bytes(), Outcome::Fail);
        record.cases[1].findings[0].frames =
            vec![Excerpt::new(crate::record::Direction::Got, frame.as_bytes())];
        let masked = masked(&record, &masks);
        let shown = String::from_utf8(masked.cases[1].findings[0].frames[0].bytes.clone()).unwrap();
        let letters = shown.replace("[masked]", "").chars().filter(char::is_ascii_alphanumeric).count();
        // Of each, five characters may be left: too many texts have them.
        assert!(letters <= 10, "{shift}: {shown}");
    }
}

/// The number before a word in the summary: `3` of `3 fail (1 known)`.
fn said(summary: &str, word: &str) -> usize {
    let words: Vec<&str> = summary.split([' ', ',']).collect();
    words.windows(2).find(|pair| pair[1] == word).map_or(0, |pair| pair[0].parse().unwrap())
}

proptest! {
    #[test]
    fn exit_code_console_and_json_agree(record in any_record()) {
        let summary = console::summary(&record);
        let verdict = summary.split(':').next().unwrap().to_owned();
        match record.exit_code() {
            0 => prop_assert!(verdict == "passed" || verdict == "nothing shown"),
            1 => prop_assert_eq!(verdict, "failed"),
            _ => prop_assert_eq!(verdict, "no verdict"),
        }
        for verbosity in VERBOSITIES {
            let text = console_text(&record, false, verbosity);
            prop_assert_eq!(text.lines().last(), Some(summary.as_str()));
        }
        let document: Value = serde_json::from_str(&json_text(&record)).unwrap();
        prop_assert_eq!(document["exit_code"].as_u64(), Some(record.exit_code().into()));
        let mut all = 0;
        for outcome in Outcome::ALL {
            let number = said(&summary, outcome.as_str());
            prop_assert_eq!(document["counts"][outcome.as_str()].as_u64(), Some(number as u64));
            all += number;
        }
        prop_assert_eq!(all, record.cases.len());
        let failing = document["counts"]["failing"].as_u64();
        prop_assert_eq!(failing > Some(0), record.exit_code() == 1);
    }

    #[test]
    fn json_read_back_is_the_same_record(record in any_record()) {
        let again = json::read(json_text(&record).as_bytes()).unwrap();
        prop_assert_eq!(format!("{again:?}"), format!("{record:?}"));
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,40}") {
        let _ = json::read(text.as_bytes());
    }
}

#[test]
fn nothing_shown_is_not_called_passed() {
    let mut record = record(every_outcome().cases);
    record.cases.retain(|case| matches!(case.outcome, Outcome::Skip | Outcome::Unproven));
    assert_eq!(console::summary(&record), "nothing shown: 4 unproven, 2 skip in 3.2 s");
}

fn junit_text(record: &Record) -> String {
    let mut out = Vec::new();
    junit::write(record, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Whether a text holds only what XML 1.0 calls a Char.
fn is_xml_text(text: &str) -> bool {
    text.chars().all(|c| {
        matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
    })
}

/// The attribute as a number, summed over all such elements.
fn sum(document: &roxmltree::Document, element: &str, attribute: &str) -> usize {
    let elements = document.descendants().filter(|node| node.has_tag_name(element));
    elements.map(|node| node.attribute(attribute).unwrap().parse::<usize>().unwrap()).sum()
}

fn elements(document: &roxmltree::Document, name: &str) -> usize {
    document.descendants().filter(|node| node.has_tag_name(name)).count()
}

#[test]
fn hostile_text_is_strict_xml_and_comes_back_as_shown() {
    let mut all = Vec::new();
    for record in hostile_records() {
        let text = junit_text(&record);
        assert!(is_xml_text(&text));
        let document = roxmltree::Document::parse(&text).unwrap();
        for node in document.descendants().filter(|node| node.has_tag_name("failure")) {
            assert_eq!(node.text().map(str::is_empty), Some(false));
        }
        all.push(text);
    }
    let bracketed = saying("a ]]> b", b"", Outcome::Fail);
    let text = junit_text(&bracketed);
    let document = roxmltree::Document::parse(&text).unwrap();
    let failure = document.descendants().find(|node| node.has_tag_name("failure")).unwrap();
    let shown: String = failure.children().filter_map(|node| node.text()).collect();
    assert!(shown.starts_with("fail: a ]]> b\n"), "{shown}");
    expat_accepts(&all);
}

/// Python's parser is expat, a second opinion of another make; without Python there is only the first.
fn expat_accepts(texts: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    for (number, text) in texts.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.xml")), text).unwrap();
    }
    let script = "import sys, pathlib, xml.etree.ElementTree as tree\n\
                  for path in pathlib.Path(sys.argv[1]).iterdir(): tree.parse(path)";
    match std::process::Command::new("python3").arg("-c").arg(script).arg(folder.path()).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("expat was not asked: {error}"),
    }
}

#[test]
fn junit_looks_as_committed() {
    expect_file("src/report/golden/junit.xml", &junit_text(&every_outcome()));
}

#[test]
fn a_time_beyond_the_calendar_is_no_panic() {
    let mut record = every_outcome();
    record.started = u64::MAX;
    record.cases[0].milliseconds = u64::MAX;
    assert!(junit_text(&record).contains("timestamp=\"1970-01-01T00:00:00Z\""));
}

proptest! {
    #[test]
    fn junit_agrees_with_the_record(record in any_record()) {
        let text = junit_text(&record);
        let document = roxmltree::Document::parse(&text).unwrap();
        let failing = record.cases.iter().filter(|case| record.fails(case)).count();
        let whole = usize::from(record.target.unreachable.is_some()) + usize::from(record.cut_short.is_some());
        let expected = [
            ("tests", "testcase", record.cases.len() + whole),
            ("failures", "failure", failing),
            ("errors", "error", record.count(Outcome::Broken) + whole),
            ("skipped", "skipped", record.cases.len() - failing - record.count(Outcome::Broken)
                - record.count(Outcome::Pass) - record.count(Outcome::Note)),
        ];
        for (attribute, element, number) in expected {
            prop_assert_eq!(sum(&document, "testsuites", attribute), number, "{}", attribute);
            prop_assert_eq!(sum(&document, "testsuite", attribute), number, "{}", attribute);
            prop_assert_eq!(elements(&document, element), number, "{}", element);
        }
        for suite in document.descendants().filter(|node| node.has_tag_name("testsuite")) {
            let skipped = suite.descendants().filter(|node| node.has_tag_name("skipped")).count().to_string();
            prop_assert_eq!(suite.attribute("skipped"), Some(skipped.as_str()));
        }
        let code = match (sum(&document, "testsuites", "failures"), sum(&document, "testsuites", "errors")) {
            (0, 0) => 0,
            (0, _) => 3,
            _ => 1,
        };
        prop_assert_eq!(code, record.exit_code());
        for (known, case) in record.cases.iter().map(|case| (record.excuses(case), case)) {
            let names = document.descendants().filter(|node| node.attribute("name") == Some(&case.full_name()));
            let skipped = names.flat_map(|node| node.children()).any(|node| {
                node.has_tag_name("skipped") && node.attribute("type") == Some(case.outcome.as_str())
            });
            prop_assert!(!known || skipped, "{} is not shown as known", case.full_name());
        }
    }
}
