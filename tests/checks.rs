//! Every predicate: met, not met, and not there.
// Clippy sees tests only in functions that are marked so; all of this file is one.
#![allow(clippy::unwrap_used, clippy::panic)]

use mcp_litmus::case::load;
use mcp_litmus::case::source::Source;
use mcp_litmus::check::bindings::{Bindings, Unresolved};
use mcp_litmus::check::predicate::{Judgement, evaluate};
use mcp_litmus::wire::json::{Json, Limits, parse};

fn json(text: &str) -> Json {
    parse(text.as_bytes(), &Limits::default()).unwrap().json
}

fn bindings() -> Bindings {
    let mut bindings = Bindings::new();
    bindings.set("list", json("[1, 2]"));
    bindings.set("uri", "file:///a");
    bindings
}

fn try_judge(check: &str, subject: &str) -> Result<Judgement, Unresolved> {
    let check =
        load::check(&Source::new("check.yaml", check)).unwrap_or_else(|problems| panic!("{problems:#?}"));
    evaluate(&check, &json(subject), &bindings())
}

fn judge(check: &str, subject: &str) -> Judgement {
    try_judge(check, subject).unwrap()
}

#[track_caller]
fn holds(check: &str, subjects: &[&str]) {
    for subject in subjects {
        let judgement = judge(check, subject);
        assert!(judgement.holds() && judgement.proven > 0, "{check} on {subject}: {judgement:?}");
    }
}

#[track_caller]
fn breaks(check: &str, cases: &[(&str, &str)]) {
    for (subject, title) in cases {
        let judgement = judge(check, subject);
        let titles: Vec<&str> = judgement.breaches.iter().map(|breach| breach.title.as_str()).collect();
        assert_eq!(titles, [*title], "{check} on {subject}");
    }
}

#[track_caller]
fn proves_nothing(check: &str, subjects: &[&str]) {
    for subject in subjects {
        let judgement = judge(check, subject);
        assert!(judgement.met_nothing(), "{check} on {subject}: {judgement:?}");
    }
}

#[test]
fn the_number_that_a_range_demands_may_be_a_reference() {
    holds(r#"{ length: "${list/1}" }"#, &["[1,2]"]);
    holds(r#"{ length: { at_most: "${list/1}" } }"#, &["[1,2]", "[]"]);
    holds(r#"{ at: /*, count: { at_least: "${list/0}" } }"#, &["[7]"]);
    breaks(
        r#"{ length: { at_least: 1, at_most: "${list/1}" } }"#,
        &[("[1,2,3]", "expected the value to have a length of 1 to 2, got 3")],
    );
    assert!(try_judge(r#"{ length: "${list/9}" }"#, "[]").is_err());
    for wrong in [
        "{ length: two }",
        r#"{ length: "${list/0} or so" }"#,
        "{ bytes: -1 }",
        "{ count: { at_least: 2, at_most: 1 } }",
    ] {
        assert!(load::check(&Source::new("check.yaml", wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn equals_and_differs_compare_exactly_by_value() {
    holds("{ at: /a, equals: 1 }", &[r#"{"a":1}"#, r#"{"a":1.0}"#, r#"{"a":10e-1}"#]);
    holds("{ at: /a, equals: null }", &[r#"{"a":null}"#]);
    holds("{ at: /a, equals: { x: [1, b] } }", &[r#"{"a":{"x":[1,"b"]}}"#]);
    breaks(
        "{ at: /code, equals: -32602 }",
        &[
            (r#"{"code":-32002}"#, "expected `/code` to equal -32602, got -32002"),
            (r#"{"code":"-32602"}"#, "expected `/code` to equal -32602, got \"-32602\""),
            (r#"{}"#, "expected `/code` to equal -32602, got nothing"),
            (r#"7"#, "expected `/code` to equal -32602, got nothing"),
        ],
    );
    breaks(
        "{ equals: 9007199254740993 }",
        &[("9007199254740992", "expected the value to equal 9007199254740993, got 9007199254740992")],
    );
    holds("{ at: /a, differs: 1 }", &[r#"{"a":2}"#, r#"{"a":null}"#]);
    breaks(
        "{ at: /a, differs: 1 }",
        &[
            (r#"{"a":1e0}"#, "expected `/a` to differ from 1, got 1e0"),
            (r#"{}"#, "expected `/a` to differ from 1, got nothing"),
        ],
    );
}

#[test]
fn absence_and_null_are_excused_but_prove_nothing() {
    proves_nothing("{ at: /a, is: string, or: absent }", &["{}", "[]"]);
    proves_nothing("{ at: /a, is: string, or: [absent, 'null'] }", &["{}", r#"{"a":null}"#]);
    breaks(
        "{ at: /a, is: string, or: absent }",
        &[(r#"{"a":null}"#, "expected `/a` to be a string, got null")],
    );
    breaks("{ at: /a, is: string, or: null }", &[("{}", "expected `/a` to be a string, got nothing")]);
    assert_eq!(judge("{ at: /a, is: string, or: null }", r#"{"a":null}"#).excused, 1);
    holds("{ at: /a, is: [string, 'null'] }", &[r#"{"a":null}"#]);
}

#[test]
fn patterns_meet_each_place_and_absence_below_a_star() {
    let judgement = judge("{ at: /l/*/u, is: string }", r#"{"l":[{"u":"x"},{},{"u":1}]}"#);
    assert_eq!(judgement.proven, 1);
    let pointers: Vec<&str> = judgement.breaches.iter().map(|breach| breach.pointer.as_str()).collect();
    assert_eq!(pointers, ["/l/1/u", "/l/2/u"]);
    proves_nothing("{ at: /l/*/u, is: string }", &["{}", r#"{"l":[]}"#, r#"{"l":7}"#]);
    let mixed = judge("{ at: /l/*/u, is: string, or: absent }", r#"{"l":[{"u":"x"},{}]}"#);
    assert_eq!((mixed.proven, mixed.excused), (1, 1));
    holds("{ at: /**/_meta, is: object }", &[r#"{"a":[{"_meta":{}}]}"#]);
    proves_nothing("{ at: /**/_meta, is: object }", &[r#"{"a":1}"#]);
}

#[test]
fn absent_is_proven_by_an_object_that_lacks_it() {
    holds("{ at: /a, is: absent }", &["{}", r#"{"b":1}"#]);
    holds("{ at: /l/*/a, is: absent }", &[r#"{"l":[{}]}"#]);
    proves_nothing("{ at: /a/b, is: absent }", &["{}", "7"]);
    breaks("{ at: /a, is: absent }", &[(r#"{"a":null}"#, "expected `/a` to be absent, got null")]);
    holds("{ at: /a, is: [absent, string] }", &["{}", r#"{"a":"x"}"#]);
    holds("{ at: /a, is: present }", &[r#"{"a":null}"#]);
    breaks("{ at: /a, is: present }", &[("{}", "expected `/a` to be present, got nothing")]);
}

#[test]
fn types_and_formats() {
    for (name, good, bad) in [
        ("'null'", "null", "0"),
        ("boolean", "false", "0"),
        ("integer", "5e0", "0.5"),
        ("number", "0.5", "\"1\""),
        ("string", "\"\"", "1"),
        ("array", "[]", "{}"),
        ("object", "{}", "[]"),
        ("uri", "\"file:///a\"", "\"/a\""),
        ("schemed", "\"x:é\"", "\"é\""),
        ("uri_template", "\"x:{a}\"", "\"x:{\""),
        ("base64", "\"YR==\"", "\"YQ\""),
        ("canonical_base64", "\"YQ==\"", "\"YR==\""),
        ("mime", "\"a/b\"", "\"a\""),
        ("timestamp", "\"2025-01-12T15:00:58Z\"", "\"today\""),
        ("revision", "\"2025-06-18\"", "\"draft\""),
        ("one_line", "\"a\"", "\"a\\nb\""),
    ] {
        let check = format!("{{ is: {name} }}");
        holds(&check, &[good]);
        assert_eq!(judge(&check, bad).breaches.len(), 1, "{name} on {bad}");
    }
    breaks(
        "{ at: /b, is: base64 }",
        &[(r#"{"b":"YQ"}"#, "expected `/b` to be base64, got \"YQ\" (its padding is wrong)")],
    );
    breaks(
        "{ is: [string, integer] }",
        &[("0.5", "expected the value to be a string or an integer, got 0.5")],
    );
}

#[test]
fn lists_of_values() {
    holds("{ at: /a, one_of: '${list}' }", &[r#"{"a":2}"#]);
    breaks(
        "{ at: /a, one_of: [x, y] }",
        &[
            (r#"{"a":"z"}"#, "expected `/a` to be one of [\"x\",\"y\"], got \"z\""),
            ("{}", "expected `/a` to be one of [\"x\",\"y\"], got nothing"),
        ],
    );
    holds("{ at: /a, none_of: '${list}' }", &[r#"{"a":3}"#]);
    breaks("{ at: /a, none_of: [1] }", &[(r#"{"a":1}"#, "expected `/a` to be none of [1], got 1")]);
    proves_nothing("{ at: /a, none_of: [1] }", &["{}"]);
    holds("{ at: /a, includes: 1 }", &[r#"{"a":[0,1.0]}"#]);
    breaks(
        "{ at: /a, includes: 1 }",
        &[
            (r#"{"a":[2]}"#, "expected `/a` to include 1, got [2]"),
            (r#"{"a":1}"#, "expected `/a` to include 1, got 1"),
            ("{}", "expected `/a` to include 1, got nothing"),
        ],
    );
    holds("{ at: /a, excludes: '${list}' }", &[r#"{"a":[3]}"#]);
    breaks(
        "{ at: /a, excludes: [1, 2] }",
        &[(r#"{"a":[0,2]}"#, "expected `/a` to include none of [1,2], got 2")],
    );
    proves_nothing("{ at: /a, excludes: [1] }", &["{}"]);
}

#[test]
fn strings_and_sizes() {
    holds("{ matches: '^a+$' }", &["\"aa\""]);
    breaks(
        "{ at: /a, matches: '^a' }",
        &[
            (r#"{"a":"ba"}"#, "expected `/a` to have the form that the case asks for, got \"ba\""),
            (r#"{"a":7}"#, "expected `/a` to have the form that the case asks for, got 7"),
            ("{}", "expected `/a` to have the form that the case asks for, got nothing"),
        ],
    );
    holds("{ length: 2 }", &["\"éa\"", "[1,2]", r#"{"a":1,"b":2}"#]);
    breaks(
        "{ length: { at_least: 1, at_most: 2 } }",
        &[
            ("\"\"", "expected the value to have a length of 1 to 2, got 0"),
            ("7", "expected the value to have a length of 1 to 2, got 7"),
        ],
    );
    holds("{ at: /l/*, count: 2 }", &[r#"{"l":[1,2]}"#]);
    holds("{ at: /l/*, count: 0 }", &["{}"]);
    breaks(
        "{ at: /l/*, count: { at_most: 1 } }",
        &[(r#"{"l":[1,2]}"#, "expected `/l/*` to match at most 1 times, got 2")],
    );
    holds("{ bytes: 3 }", &["\"YWJj\""]);
    breaks(
        "{ bytes: 3 }",
        &[
            ("\"YQ==\"", "expected the value to hold 3 bytes, got 1 bytes"),
            (
                "\"?\"",
                "expected the value to hold 3 bytes, got \"?\" (the character at offset 0 is not of its alphabet)",
            ),
            ("7", "expected the value to hold 3 bytes, got 7"),
        ],
    );
    // A content item has the bytes of its text or of its blob.
    holds("{ bytes: 3 }", &[r#"{"text":"aé"}"#, r#"{"blob":"YWJj"}"#]);
    breaks(
        "{ bytes: 3 }",
        &[
            (r#"{"text":"é"}"#, "expected the value to hold 3 bytes, got 2 bytes"),
            (r#"{"uri":"a:b"}"#, r#"expected the value to hold 3 bytes, got {"uri":"a:b"}"#),
        ],
    );
    holds("{ between: [0, 1] }", &["0", "1.0", "0.5"]);
    holds("{ between: [0, null] }", &["1e400"]);
    breaks(
        "{ between: [0, 1] }",
        &[
            (
                "1.00000000000000000000001",
                "expected the value to be between 0 and 1, got 1.00000000000000000000001",
            ),
            ("\"0\"", "expected the value to be between 0 and 1, got \"0\""),
        ],
    );
}

#[test]
fn members_of_objects() {
    holds("{ one_key_of: [text, blob] }", &[r#"{"text":""}"#, r#"{"blob":null,"x":1}"#]);
    breaks(
        "{ at: /c/*, one_key_of: [text, blob] }",
        &[
            (
                r#"{"c":[{"text":"","blob":""}]}"#,
                "expected `/c/0` to have exactly one of `text`, `blob`, got both",
            ),
            (r#"{"c":[{}]}"#, "expected `/c/0` to have exactly one of `text`, `blob`, got none of them"),
            (r#"{"c":["text"]}"#, "expected `/c/0` to have exactly one of `text`, `blob`, got \"text\""),
        ],
    );
    holds("{ has: [a, b] }", &[r#"{"a":1,"b":2}"#]);
    breaks(
        "{ has: [a, b] }",
        &[
            (r#"{"a":1}"#, "expected the value to have `a`, `b`, got only [\"a\"]"),
            ("{}", "expected the value to have `a`, `b`, got no members"),
            ("[]", "expected the value to have `a`, `b`, got []"),
        ],
    );
    holds("{ lacks: a }", &["{}"]);
    breaks("{ lacks: [a, b] }", &[(r#"{"b":1}"#, "expected the value to lack `a`, `b`, got `b`")]);
    proves_nothing("{ at: /x, lacks: a }", &["{}"]);
    holds("{ keys_match: '^[a-z]+$' }", &[r#"{"ab":1}"#, "{}"]);
    breaks(
        "{ keys_match: '^[a-z]+$' }",
        &[(
            r#"{"ab":1,"A":2}"#,
            "expected the value to have only members with names of the form that the case asks for, got \"A\"",
        )],
    );
}

#[test]
fn sets_as_a_whole() {
    holds("{ at: /l/*/u, unique: true }", &[r#"{"l":[{"u":1},{"u":2}]}"#]);
    holds("{ at: /l, unique: true }", &[r#"{"l":[1,2]}"#]);
    breaks(
        "{ at: /l/*/u, unique: true }",
        &[(
            r#"{"l":[{"u":1},{"u":1.0}]}"#,
            "expected `/l/*/u` to hold no value twice, got 1.0 again at `/l/1/u`",
        )],
    );
    proves_nothing("{ at: /l/*, unique: true }", &[r#"{"l":[]}"#]);
    holds("{ same_set: '${list}' }", &["[2,1]", "[1,2,2]"]);
    breaks(
        "{ same_set: '${list}' }",
        &[
            ("[1]", "expected the value to be the same set as [1,2], got no 2"),
            ("[1,2,3]", "expected the value to be the same set as [1,2], got 3 at `/2`"),
            ("7", "expected the value to be the same set as [1,2], got 7"),
        ],
    );
    holds("{ at: '/*', subset_of: '${list}' }", &["[1]"]);
    breaks(
        "{ at: '/*', subset_of: '${list}' }",
        &[("[1,3]", "expected `/*` to be within [1,2], got 3 at `/1`")],
    );
    proves_nothing("{ at: '/*', subset_of: '${list}' }", &["[]"]);
    holds("{ disjoint_from: '${list}' }", &["[3]"]);
    breaks(
        "{ disjoint_from: '${list}' }",
        &[("[3,2]", "expected the value to share nothing with [1,2], got 2 at `/1`")],
    );
    proves_nothing("{ disjoint_from: [] }", &["[1]"]);
}

#[test]
fn uris_in_their_hierarchy() {
    holds("{ at: /uri, at_or_below: '${uri}' }", &[r#"{"uri":"file:///a/b"}"#, r#"{"uri":"FILE:///a"}"#]);
    breaks(
        "{ at: /uri, at_or_below: '${uri}' }",
        &[(
            r#"{"uri":"file:///ab"}"#,
            "expected `/uri` to be \"file:///a\" or lie below it, got \"file:///ab\"",
        )],
    );
}

#[test]
fn another_subject_and_references_that_lead_nowhere() {
    holds("{ of: '${list}', at: /1, equals: 2 }", &["{}"]);
    assert_eq!(try_judge("{ equals: '${gone}' }", "1"), Err(Unresolved::Name("gone".into())));
    assert!(matches!(try_judge("{ of: '${list/7}', is: number }", "1"), Err(Unresolved::Pointer { .. })));
}

#[test]
fn what_a_server_sends_is_shown_bounded_and_escaped() {
    let long = format!("{{\"a\":\"{}\"}}", "\\u001b".repeat(100_000));
    let breach = &judge("{ at: /a, equals: 1 }", &long).breaches[0];
    assert!(breach.title.len() < 200 && !breach.title.contains('\u{1b}'), "{}", breach.title);
    let names = format!("{{\"{}\\n\":1}}", "n".repeat(100_000));
    let breach = &judge("{ at: '/*', equals: 2 }", &names).breaches[0];
    assert!(breach.title.len() < 200 && breach.pointer.len() < 200, "{}", breach.title);
    let many = format!("[{}0]", "0,".repeat(50_000));
    let judgement = judge("{ at: '/*', equals: 1 }", &many);
    assert_eq!((judgement.breaches.len(), judgement.more), (Judgement::KEPT, 50_001 - Judgement::KEPT));
}
