//! The case language from the outside: sketches load, mistakes are named with their place, nothing panics.
// Clippy sees tests only in functions that are marked so; all of this file is one.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::case::load;
use mcp_litmus::case::model::{
    Answer, Body, Case, Content, HeardKind, PipelineHow, Proof, SessionKind, Subject, Verb,
};
use mcp_litmus::case::source::Source;
use mcp_litmus::record::{Transport, Verdict};
use mcp_litmus::revision::Revision;
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn sketches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sketches")
}

fn read(name: &str) -> Source {
    let file = format!("{name}.yaml");
    let text = std::fs::read_to_string(sketches().join(&file)).unwrap();
    Source::new(file, text)
}

fn sketch(name: &str) -> Case {
    load::case(name, &read(name)).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|problem| problem.render()).collect::<Vec<_>>().join("\n\n"))
    })
}

fn steps(case: &Case) -> Vec<&Verb> {
    let Body::Scripted { steps, .. } = &case.body else { panic!("{} is a standing case", case.name) };
    steps.iter().map(|step| &step.verb).collect()
}

fn names() -> Vec<String> {
    let files = std::fs::read_dir(sketches()).unwrap();
    let names = files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    names.filter(|name| name != "requirements").collect()
}

#[test]
fn every_sketch_loads() {
    assert_eq!(names().len(), 13);
    for name in names() {
        assert_eq!(sketch(&name).name, name);
    }
}

#[test]
fn the_kind_of_session_follows_from_the_verbs() {
    for (name, kind) in [
        ("unsubscribe-stops-updates", SessionKind::Lively),
        ("blobs-are-base64", SessionKind::Calm),
        ("text-xor-blob", SessionKind::Calm),
        ("wrong-version-marker", SessionKind::Rough),
        ("unknown-uri", SessionKind::Calm),
        ("batches-are-answered", SessionKind::Rough),
        ("connections-list-alike", SessionKind::Own),
        ("token-closes-with-answer", SessionKind::Lively),
    ] {
        assert_eq!(sketch(name).session, kind, "{name}");
    }
}

#[test]
fn what_a_sketch_says_is_what_is_loaded() {
    let case = sketch("text-xor-blob");
    let Body::Standing(standing) = &case.body else { panic!() };
    assert_eq!(standing.on, Subject::ResultOf(Some("resources/read".into())));
    assert_eq!((standing.checks[0].place.line, standing.checks[0].place.column), (7, 7));
    assert_eq!(standing.checks[0].place.length, "{ at: /contents/*, one_key_of: [text, blob] }".len());

    let case = sketch("wrong-version-marker");
    let steps_of = steps(&case);
    let Verb::Send(send) = steps_of[0] else { panic!() };
    assert!(matches!(send.content, Content::Text(_)));
    assert_eq!((send.chunks, send.deliberate), (1, true));
    let answers = send.answers.as_ref().unwrap();
    assert!(matches!(answers.pass.as_slice(), [Answer::Invalid, Answer::Silent]));
    assert!(matches!(answers.fail.as_slice(), [Answer::Result(checks)] if checks.is_empty()));

    let case = sketch("unknown-version-is-countered");
    let Verb::Open(open) = steps(&case)[0] else { panic!() };
    assert!(open.as_name.is_none() && !open.initialized);
    assert!(matches!(open.answers.as_ref().unwrap().advice.as_slice(), [Answer::Code(-32602)]));
    assert_eq!(case.revisions.as_ref().unwrap().last(), Some(&Revision::NEWEST_STATEFUL));

    let case = sketch("unsubscribe-is-kept");
    let Verb::Repeat { times: 2, fail: 2, advice: Some(1), steps: inner } = steps(&case)[0] else { panic!() };
    assert!(matches!(inner[1].verb, Verb::Settle(time) if time == Duration::from_secs(1)));

    let case = sketch("streams-are-told-apart");
    let Verb::Quiet(quiet) = steps(&case)[4] else { panic!() };
    assert_eq!(quiet.what.kind, HeardKind::Method("notifications/resources/updated".into()));
    assert_eq!(quiet.what.tagged.as_deref(), Some("lists"));

    let case = sketch("cancelled-stream-falls-silent");
    let Verb::Quiet(quiet) = steps(&case)[3] else { panic!() };
    assert_eq!(quiet.what.kind, HeardKind::AnyNotification);
    assert_eq!(case.transports.as_deref(), Some([Transport::Stdio].as_slice()));

    let case = sketch("batches-are-answered");
    let Verb::Pipeline(pipeline) = steps(&case)[0] else { panic!() };
    assert_eq!((pipeline.how, pipeline.frames.len()), (PipelineHow::Batch, 3));

    let case = sketch("connections-list-alike");
    let Body::Scripted { steps: all, .. } = &case.body else { panic!() };
    assert_eq!(all[1].on.as_deref(), Some("other"));
}

#[test]
fn requirement_rows_load() {
    let rows = load::requirements("read", &read("requirements")).unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!((rows[0].verdict, rows[0].proof.clone()), (Verdict::Fail, Proof::Cases));
    assert_eq!(rows[0].transports, Transport::ALL);
    assert_eq!(rows[1].revisions.len(), 3);
    assert_eq!(
        rows[1].source[1].0.as_deref(),
        Some([Revision::R2025_03_26, Revision::R2025_06_18].as_slice())
    );
    assert_eq!(rows[1].transports, [Transport::Http]);
    assert_eq!(rows[2].revisions, Revision::ALL);
    assert_eq!(rows[2].proof, Proof::Variant("empty-text".into()));
}

/// All problems of a case with these steps, which begin in line 5.
fn problems(steps: &str) -> Vec<String> {
    let text = format!("summary: x\nproves: a.b\nfaults: [f]\nsteps:\n{steps}");
    let source = Source::new("c.yaml", text);
    load::case("a/c", &source).map(|_| Vec::new()).unwrap_or_else(|problems| {
        problems
            .iter()
            .map(|problem| match &problem.help {
                Some(help) => format!("{problem} ({help})"),
                None => problem.to_string(),
            })
            .collect()
    })
}

#[test]
fn mistakes_are_named_with_their_place_all_at_once() {
    let found = problems(
        "  - cal: { method: ping }\n  - call: { metod: ping }\n  - call: { method: ping, checks: [{ at: code, equal: 1 }] }\n",
    );
    let wanted = [
        "c.yaml:5:5: unknown verb `cal` (did you mean `call`? What fits: `call`, ",
        "c.yaml:6:13: unknown key `metod` in `call` (did you mean `method`? What fits: `method`, ",
        "c.yaml:7:42: a pointer begins with `/`",
        "c.yaml:7:48: unknown key `equal` in a check (did you mean `equals`? What fits: `of`, ",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found}");
    }
}

/// The step, what is underlined, and how the message begins.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("{ call: { method: x }, alive: true }", "alive", "a step has one verb: `alive` comes after `call`"),
    ("alive: yes", "yes", "expected `true`, found text"),
    ("settle: 5", "5", "expected a duration, found a number"),
    ("settle: 5h", "5h", "`5h` is no duration"),
    ("settle: 11m", "11m", "`11m` is longer than 10m, the longest wait"),
    ("call: { method: 7 }", "7", "expected text, found a number"),
    ("call: { method: x, checks: [] }", "[]", "expected at least one check"),
    ("call: { method: x, checks: [{ is: strng }] }", "strng", "unknown type `strng`"),
    ("call: { method: x, checks: [{ is: uri, has: a }] }", "has", "`has` does not go with `is`"),
    ("call: { method: x, checks: [{ at: /a }] }", "{ at: /a }", "the predicate of a check is missing"),
    ("call: { method: x, checks: [{ matches: '(' }] }", "'('", "no regular expression: unclosed group"),
    ("call: { method: x, checks: [{ one_of: 1 }] }", "1", "expected a list, found a number"),
    ("call: { method: x, checks: [{ between: [0] }] }", "[0]", "expected both ends, found 1 numbers"),
    ("call: { method: x, checks: [{ at: /~2, has: a }] }", "/~2", "`~` is written `~0` in a pointer"),
    (
        "call: { method: x, checks: [{ count: { at_least: 2, at_most: 1 } }] }",
        "{ at_least: 2, at_most: 1 }",
        "no number",
    ),
    ("call: { method: x, params: { uri: '${a b}' } }", "'${a b}'", "`${a b}` is no reference"),
    ("call: { method: x, answers: [sillent] }", "sillent", "unknown answer `sillent`"),
    ("call: { method: x, answers: ['error:x'] }", "'error:x'", "`x` is no error code"),
    ("call: { method: x, expect: error, answers: [result] }", "error", "`expect` does not go with `answers`"),
    ("send: { hex: 7b7 }", "7b7", "no hexadecimal bytes"),
    ("send: { text: a, hex: 7b }", "hex", "`hex` does not go with `text`"),
    (
        "send: { long: { fill: abcdefgh, times: 99999999 } }",
        "{ fill: abcdefgh, times: 99999999 }",
        "the frame would",
    ),
    ("quiet: { for: 1s }", "{ for: 1s }", "the kind of message is missing"),
    ("pick: { as: x }", "{ as: x }", "`pick` has either `absent_like` or `from`"),
    (
        "pick: { from: '${a}', outside: [], as: x, otherwise: z }",
        "[]",
        "`outside` does not belong to this kind",
    ),
    (
        "repeat: { times: 1, fail: 2, steps: [{ alive: true }] }",
        "{ times: 1, fail: 2, steps: [{ alive: true }] }",
        "what counts",
    ),
    ("7", "7", "expected a step, found a number"),
    ("on: b", "on: b", "a step has a verb"),
    ("pipeline: { frames: [{ notify: x, as: y }] }", "as", "a notification has no `as`"),
];

#[test]
fn each_kind_of_mistake_reads_well() {
    for (step, underlined, wanted) in MISTAKES {
        let text = format!("summary: x\nproves: a.b\nfaults: [f]\nsteps:\n  - {step}\n");
        let problems =
            load::case("a/c", &Source::new("c.yaml", text)).map(|_| Vec::new()).unwrap_or_else(|found| found);
        let [problem] = problems.as_slice() else { panic!("{step}: {problems:#?}") };
        let place = &problem.place;
        let marked: String = place.text.chars().skip(place.column - 1).take(place.length).collect();
        assert!(problem.message.starts_with(wanted), "{step}: {problem}");
        assert_eq!((place.line, marked.as_str()), (5, *underlined), "{step}: {problem}");
    }
}

#[test]
fn a_case_as_a_whole_is_checked() {
    let found = |text: &str| load::case("a", &Source::new("c.yaml", text)).unwrap_err()[0].to_string();
    assert_eq!(found("summary: x\nproves: a.b\n"), "c.yaml:1:1: a case has `steps` or `always`");
    assert_eq!(found("summary: x\nsteps: [{ alive: true }]\n"), "c.yaml:1:1: a case lacks `proves`");
    assert!(
        found("summary: x\nproves: a.b\nsteps: [{ alive: true }]\nrevisions: 2025-06-19\n")
            .starts_with("c.yaml:4:12: unknown revision `2025-06-19`")
    );
    assert!(found("summary: x\nproves: a.b\nsteps: [{ alive: true }]\nalways: { on: { frame: stdout }, checks: [{ has: a }] }\n")
        .starts_with("c.yaml:4:9: `always` stands alone"));
    assert!(found("- a\n").starts_with("c.yaml:1:1: expected a map for a case, found a list"));
    let row =
        "- id: write.x\n  verdict: fail\n  keyword: MUST\n  revisions: all\n  source: s\n  statement: t\n";
    let problems = load::requirements("read", &Source::new("r.yaml", row)).unwrap_err();
    assert_eq!(problems[0].to_string(), "r.yaml:1:7: `write.x` does not begin with its area");
}

#[test]
fn null_booleans_and_numbers_stay_what_they_are() {
    let text = "summary: x\nproves: a.b\nsteps:\n  - call: { method: m, params: { a: null, b: 'no', c: no, d: 1.50, e: 18446744073709551617 } }\n";
    let case = load::case("a", &Source::new("c.yaml", text)).unwrap();
    let Verb::Call(call) = steps(&case)[0] else { panic!() };
    let value = mcp_litmus::check::bindings::Bindings::new().resolve(call.params.as_ref().unwrap()).unwrap();
    assert_eq!(value.to_string(), r#"{"a":null,"b":"no","c":"no","d":1.50,"e":18446744073709551617}"#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Cutting, repeating and replacing parts of a good file never makes reading it panic, and a place that is
    /// named is in the file.
    #[test]
    fn mutated_files_never_panic(
        pick in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, "[-\\[\\]{}:,&*!|>'\"#%@`$ \n\ta-z0-9é]{0,6}"), 1..6),
    ) {
        let names = names();
        let mut text: Vec<char> = read(&names[pick.index(names.len())]).text.chars().collect();
        for (at, removed, inserted) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        let text: String = text.into_iter().collect();
        let lines = text.lines().count().max(1);
        let source = Source::new("c.yaml", text);
        if let Err(problems) = load::case("a", &source) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(problem.place.line <= lines + 1, "{problem}");
                problem.render();
            }
        }
        let _ = load::requirements("a", &source);
    }
}

/// The examples of `docs/cases.md`, with the line where each begins.
fn examples() -> Vec<(usize, String)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cases.md");
    let text = std::fs::read_to_string(file).unwrap();
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_within = false;
    for (index, line) in text.lines().enumerate() {
        match line {
            "```yaml" => {
                is_within = true;
                found.push((index + 2, String::new()));
            }
            "```" => is_within = false,
            _ if is_within => found.last_mut().unwrap().1.push_str(&format!("{line}\n")),
            _ => {}
        }
    }
    found
}

#[test]
fn the_examples_of_the_manual_load_and_leave_out_no_word() {
    for (line, text) in examples() {
        let source = Source::new(format!("the example in line {line}"), text.clone());
        let problems = if text.starts_with("summary:") {
            load::case("a/b", &source).err()
        } else if text.starts_with("- id:") {
            load::requirements("read", &source).err()
        } else {
            load::steps(&source).err()
        };
        let shown: Vec<String> = problems.iter().flatten().map(|problem| problem.render()).collect();
        assert!(shown.is_empty(), "{}", shown.join("\n\n"));
    }
    let all: String = examples().into_iter().map(|(_, text)| text).collect();
    use mcp_litmus::case::language::{
        CALL, HEAR, LISTEN, OPEN, PICK, PREDICATES, QUIET, REQUIREMENT, SEND, VERBS,
    };
    for key in
        [VERBS, PREDICATES, CALL, SEND, HEAR, QUIET, LISTEN, OPEN, PICK, REQUIREMENT].into_iter().flatten()
    {
        assert!(all.contains(&format!("{}:", key.name)), "no example has `{}`", key.name);
    }
}
