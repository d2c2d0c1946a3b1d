//! How is a record told to a CI server? As JUnit XML: one test suite for each revision and transport.
//!
//! The `junit-report` crate writes the XML. It lacks the number of skipped cases and the totals, so these are
//! added to its output; it also writes text as it comes, so text is made harmless before.

use super::{diagnostic, plain};
use crate::record::{CaseRecord, Outcome, Record};
use junit_report::{Duration, OffsetDateTime, ReportBuilder, TestCase, TestResult, TestSuite};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, Writer};
use std::io;

/// Columns of an attribute before its middle is cut.
const ATTRIBUTE: usize = 1_000;

/// Writes the record as JUnit XML. A `failure` is there exactly when the exit code is 1; an `error` without a
/// failure exactly when it is 3.
pub fn write(record: &Record, out: &mut impl io::Write) -> io::Result<()> {
    let suites = suites(record);
    let mut xml = Vec::new();
    let report = ReportBuilder::new().add_testsuites(suites.iter().cloned()).build();
    report.write_xml(&mut xml).map_err(io::Error::other)?;
    complete(&xml, &suites, out)
}

fn suites(record: &Record) -> Vec<TestSuite> {
    let mut suites: Vec<TestSuite> = Vec::new();
    let run = run_errors(record);
    if !run.is_empty() {
        suites.push(suite(record, "mcp-litmus".to_owned(), run));
    }
    for case in &record.cases {
        let name = format!("mcp-litmus {}+{}", case.revision, case.transport);
        let test = test_case(record, case);
        match suites.iter_mut().find(|suite| suite.name == name) {
            Some(suite) => suite.add_testcase(test),
            None => suites.push(suite(record, name, vec![test])),
        }
    }
    suites
}

fn suite(record: &Record, name: String, tests: Vec<TestCase>) -> TestSuite {
    let started = i64::try_from(record.started).ok();
    let timestamp = started.and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    TestSuite {
        name,
        package: "mcp-litmus".to_owned(),
        timestamp: timestamp.unwrap_or(OffsetDateTime::UNIX_EPOCH),
        hostname: "localhost".to_owned(),
        testcases: tests,
        system_out: None,
        system_err: None,
    }
}

/// What concerns the whole run: no case tells it.
fn run_errors(record: &Record) -> Vec<TestCase> {
    let error = |name: &str, reason: &str, cause: String| {
        let result = TestResult::Error {
            type_: "no-verdict".to_owned(),
            message: attribute(reason),
            cause: Some(plain::cdata(&cause)),
        };
        TestCase { classname: Some("run".to_owned()), result, ..TestCase::success(name, Duration::ZERO) }
    };
    let target = &record.target;
    let unreachable = target.unreachable.iter().map(|reason| {
        let stderr = target.stderr.iter().map(|line| format!("\n{}", plain::line(line)));
        error("opening", reason, format!("{reason}{}", stderr.collect::<String>()))
    });
    let cut_short = record.cut_short.iter().map(|reason| error("whole-plan", reason, reason.clone()));
    unreachable.chain(cut_short).collect()
}

fn test_case(record: &Record, case: &CaseRecord) -> TestCase {
    let texts = || {
        let texts = diagnostic::render_all(&record.target, case, &diagnostic::Look::default());
        plain::cdata(&texts.join("\n\n"))
    };
    let title = || super::findings(case).first().map(|finding| attribute(&finding.title)).unwrap_or_default();
    let type_ = case.outcome.as_str().to_owned();
    let mut system_out = None;
    let result = match case.outcome {
        Outcome::Broken => TestResult::Error { type_, message: title(), cause: Some(texts()) },
        _ if record.fails(case) => TestResult::Failure { type_, message: title(), cause: Some(texts()) },
        Outcome::Pass => TestResult::Success,
        Outcome::Note => {
            system_out = Some(texts());
            TestResult::Success
        }
        Outcome::Unproven if record.excuses(case) => known(case, texts()),
        Outcome::Skip | Outcome::Unproven => {
            TestResult::SkippedWithCause { type_, message: reason(case), cause: None }
        }
        Outcome::Fail | Outcome::Advice if case.known.is_some() => known(case, texts()),
        Outcome::Fail | Outcome::Advice => {
            TestResult::SkippedWithCause { type_, message: title(), cause: Some(texts()) }
        }
    };
    let file = case.findings.iter().find_map(|finding| finding.place.as_ref());
    TestCase {
        name: attribute(&case.full_name()),
        // Milliseconds from a file may be any number; more than a day is none.
        time: Duration::milliseconds(case.milliseconds.min(86_400_000).cast_signed()),
        result,
        classname: Some(attribute(case.name.rsplit_once('/').map_or("", |(area, _)| area))),
        filepath: file.map(|place| attribute(&place.file)),
        system_out,
        system_err: None,
    }
}

/// A breach that the list of known failures excuses.
fn known(case: &CaseRecord, texts: String) -> TestResult {
    let message = attribute(case.known.as_deref().unwrap_or_default());
    TestResult::SkippedWithCause { type_: case.outcome.as_str().to_owned(), message, cause: Some(texts) }
}

/// Why there was nothing to judge, and what would help.
fn reason(case: &CaseRecord) -> String {
    let reason = case.reason.as_deref().unwrap_or("no reason given");
    match &case.help {
        Some(help) => attribute(&format!("{reason}; {help}")),
        None => attribute(reason),
    }
}

fn attribute(text: &str) -> String {
    plain::shorten(text, ATTRIBUTE)
}

/// Copies the XML, and adds the number of skipped cases to each suite and the totals to the root.
fn complete(xml: &[u8], suites: &[TestSuite], out: &mut impl io::Write) -> io::Result<()> {
    let total = |count: fn(&TestSuite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut skipped = suites.iter().map(TestSuite::skipped);
    let mut add = |element: &mut BytesStart<'_>| match element.name().as_ref() {
        b"testsuites" => {
            for (name, number) in [
                ("tests", total(TestSuite::tests)),
                ("failures", total(TestSuite::failures)),
                ("errors", total(TestSuite::errors)),
                ("skipped", total(TestSuite::skipped)),
            ] {
                element.push_attribute((name, number.to_string().as_str()));
            }
        }
        b"testsuite" => {
            let number = skipped.next().unwrap_or_default();
            element.push_attribute(("skipped", number.to_string().as_str()));
        }
        _ => {}
    };
    let mut reader = Reader::from_reader(xml);
    let mut writer = Writer::new_with_indent(&mut *out, b' ', 1);
    loop {
        let event = match reader.read_event().map_err(io::Error::other)? {
            Event::Start(mut element) => {
                add(&mut element);
                Event::Start(element)
            }
            Event::Empty(mut element) => {
                add(&mut element);
                Event::Empty(element)
            }
            Event::Eof => break,
            other => other,
        };
        writer.write_event(event)?;
    }
    out.write_all(b"\n")
}
