//! The contract of the command line: exit codes, what is said, and reports that never disagree.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{PROGRAM, check, count, run, run_in};
use predicates::prelude::*;
use predicates::str::contains;

/// The reference server as a child, with these arguments.
fn reference<'a>(before: &[&'a str], server: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = before.to_vec();
    arguments.extend(["--", PROGRAM, "reference"]);
    arguments.extend(server);
    arguments
}

/// A case file, for lint.
const LINTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/read/text-xor-blob.yaml");

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(contains(*part).eval(text), "`{part}` is missing in:\n{text}");
    }
}

#[test]
fn the_bundled_server_is_green() {
    let (some, record) = check(&["-c", "read/*", "-c", "list/*"]);
    assert_eq!(some.code, 0, "{}", some.stdout);
    assert!(count(&record, "pass") > 20);
    assert_eq!(count(&record, "unproven"), 0);

    let (whole, record) = check(&[]);
    assert_eq!(whole.code, 0, "{}", whole.stdout);
    assert!(count(&record, "pass") > 300);
    assert_eq!(count(&record, "broken"), 0);
}

#[test]
fn a_child_over_real_pipes_is_green_with_the_same_cases() {
    let (child, record) = check(&reference(&["-c", "read/*"], &[]));
    assert_eq!(child.code, 0, "{}", child.stdout);
    let (_, bundled) = check(&["-c", "read/*"]);
    assert_eq!(record["counts"], bundled["counts"]);
    assert_eq!(record["target"]["server"]["name"], "mcp-litmus-reference");
}

#[test]
fn a_server_without_resources_is_green_unless_proof_is_required() {
    let (lenient, record) = check(&reference(&["-c", "read/*"], &["--variant", "no-resources"]));
    assert_eq!(lenient.code, 0);
    assert_eq!(count(&record, "skip"), record["cases"].as_array().unwrap().len() as u64);
    assert_says(&lenient.stdout, &["the server does not declare `resources`"]);

    let (strict, record) =
        check(&reference(&["--require-proof", "-c", "read/*"], &["--variant", "no-resources"]));
    assert_eq!(strict.code, 1);
    assert_eq!(count(&record, "failing"), count(&record, "unproven"));
    assert_says(&strict.stdout, &["the server does not declare `resources`"]);
}

#[test]
fn a_revision_that_is_not_spoken_is_said_to_be_so() {
    for quiet in [&[][..], &["-q"]] {
        let mut before = vec!["--revision", "2024-11-05", "-c", "read/*"];
        before.extend(quiet);
        let (run, record) = check(&reference(&before, &["--revisions", "2025-06-18"]));
        assert_eq!(run.code, 0);
        assert_eq!(count(&record, "skip"), record["cases"].as_array().unwrap().len() as u64);
        let line = "nothing was judged: the server does not speak 2024-11-05; it answered 2025-06-18\n";
        assert_says(&run.stdout, &[line]);
    }
}

#[test]
fn a_breach_is_red_and_names_the_case_the_line_and_the_way_back() {
    let (red, record) = check(&reference(&["-c", "read/*"], &["--fault", "text-and-blob"]));
    assert_eq!(red.code, 1);
    assert!(count(&record, "fail") > 0);
    assert_says(
        &red.stdout,
        &["cases/read/text-xor-blob.yaml:", "this check failed", "rerun with `mcp-litmus check -c read/"],
    );
}

#[test]
fn the_way_back_names_the_seed() {
    let (red, record) =
        check(&reference(&["-c", "read/*", "--seed", "7"], &["--fault", "listed-unreadable"]));
    assert_eq!(red.code, 1);
    assert_eq!(record["seed"], "7");
    assert_says(&red.stdout, &["--seed 7 -- "]);
}

#[test]
fn a_standing_case_alone_finds_what_it_finds_among_all() {
    let (alone, record) = check(&reference(&["-c", "read/text-xor-blob"], &["--fault", "text-and-blob"]));
    assert_eq!(alone.code, 1, "{}", alone.stdout);
    let names: Vec<&str> =
        record["cases"].as_array().unwrap().iter().filter_map(|case| case["name"].as_str()).collect();
    assert!(names.iter().all(|name| *name == "read/text-xor-blob"), "{names:?}");
    let (clean, record) = check(&["-c", "read/text-xor-blob"]);
    assert_eq!(clean.code, 0);
    assert_eq!(count(&record, "pass"), 2);
}

#[test]
fn advice_is_red_only_at_level_should() {
    let server = ["--fault", "contents-mime-bare"];
    let (must, record) = check(&reference(&["-c", "read/*"], &server));
    assert_eq!(must.code, 0, "{}", must.stdout);
    assert!(count(&record, "advice") > 0, "{}", must.stdout);
    let (should, record) = check(&reference(&["--level", "should", "-c", "read/*"], &server));
    assert_eq!(should.code, 1);
    assert_eq!(count(&record, "failing"), count(&record, "advice"));
}

#[test]
fn wrong_usage_is_2_and_says_what_would_do() {
    for (arguments, parts) in [
        (vec!["check", "--frobnicate"], vec!["--frobnicate", "Usage"]),
        (vec!["check", "--revision", "2025-06-19"], vec!["2025-06-19", "2025-06-18", "`all`"]),
        (vec!["check", "-c", "read/text-xor-blo"], vec!["did you mean `read/text-xor-blob`?"]),
        (vec!["check", "-c", "read/["], vec!["`read/[` names no case: `[` has no meaning in a pattern"]),
        (vec!["check", "-c", ""], vec!["a pattern of no characters names no case"]),
        (vec!["check", "--junit", "no/such/folder/x.xml"], vec!["`no/such/folder/x.xml` cannot be written"]),
        (vec!["check", "--json", "no/such/folder/x"], vec!["`no/such/folder/x` cannot be written"]),
        (vec!["check", "--profile", "absent.yaml"], vec!["absent.yaml"]),
        (vec!["check", "--cases", "absent"], vec!["absent"]),
        (vec!["check", "--timeout", "soon"], vec!["`soon`", "500ms"]),
        (vec!["check", "--jobs", "0"], vec!["--jobs"]),
        (vec!["check", "--timeout", "0"], vec!["no time", "500ms"]),
        (vec!["cases", "explain", "read/text-xor-blo"], vec!["did you mean"]),
        (vec!["reference", "--fault", "no-such-fault"], vec!["no-such-fault"]),
        (vec![], vec!["Usage"]),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}{}", run.stdout, run.stderr);
        assert_says(&run.stderr, &parts);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_broken_profile_is_2_with_a_caret_and_no_server_is_started() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("litmus.yaml"), "stdio: [touch, started]\nstimulli: {}\n").unwrap();
    let run = run_in(folder, &["check", "--junit", "report.xml"]);
    assert_eq!(run.code, 2);
    assert_says(&run.stderr, &["litmus.yaml:2:1", "^^^^^^^^", "did you mean `stimuli`?"]);
    assert_eq!(run.stderr.matches("error:").count(), 1, "{}", run.stderr);
    assert!(!run.folder.path().join("started").exists());
    assert!(!run.folder.path().join("report.xml").exists());
}

#[test]
fn a_broken_case_file_is_2_with_a_caret() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("own/read")).unwrap();
    let case = "summary: Nothing\nproves: read.nothing\nsteps: 3\n";
    std::fs::write(folder.path().join("own/read/mine.yaml"), case).unwrap();
    let run = run_in(folder, &["check", "--cases", "own"]);
    assert_eq!(run.code, 2);
    assert_says(&run.stderr, &["own/read/mine.yaml:3:8", "expected a list of steps", "^"]);
}

#[test]
fn a_program_that_is_not_there_is_3_in_every_report() {
    let (run, record) = check(&["--", "/no/such/program", "x"]);
    assert_eq!(run.code, 3);
    assert_says(&run.stdout, &["no verdict: `/no/such/program` was not found"]);
    assert_eq!(count(&record, "pass") + count(&record, "fail"), 0);
    assert!(record["target"]["unreachable"].as_str().unwrap().contains("/no/such/program"));
}

#[cfg(unix)]
#[test]
fn a_server_that_exits_at_once_is_3_and_its_last_words_are_shown() {
    let (run, record) = check(&["--", "sh", "-c", "echo the key is missing >&2; exit 7"]);
    assert_eq!(run.code, 3);
    assert_says(&run.stdout, &["status 7", "the key is missing"]);
    assert_eq!(count(&record, "pass"), 0);
    let junit = std::fs::read_to_string(run.folder.path().join("report.xml")).unwrap();
    assert_says(&junit, &["the key is missing", "type=\"no-verdict\""]);
}

#[test]
fn a_revision_that_is_not_spoken_is_skipped_and_said() {
    let spoken = "2025-06-18";
    for revision in ["2024-11-05", "2025-03-26", spoken, "2025-11-25", "2026-07-28"] {
        let before = ["--revision", revision, "-c", "read/absent-is-an-error", "-c", "list/*"];
        let (run, record) = check(&reference(&before, &["--revisions", spoken]));
        assert_eq!(run.code, 0, "{revision}: {}", run.stdout);
        let cases = record["cases"].as_array().unwrap();
        assert!(cases.iter().all(|case| case["revision"] == revision));
        if revision == spoken {
            assert!(count(&record, "pass") > 0);
        } else {
            assert_eq!(count(&record, "skip"), cases.len() as u64, "{revision}");
            assert_says(&run.stdout, &[&format!("the server does not speak {revision}")]);
        }
    }
    let before = ["--revision", "all", "-c", "read/uri-is-required"];
    let (run, record) = check(&reference(&before, &["--revisions", spoken]));
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert_eq!((count(&record, "pass"), count(&record, "skip")), (1, 4));
}

#[test]
fn json_on_standard_output_is_nothing_but_json() {
    let run = run(&reference(&["check", "--json", "-", "-c", "read/*"], &["--fault", "text-and-blob"]));
    assert_eq!(run.code, 1);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(record["format"], "mcp-litmus/1");
    assert_eq!(record["exit_code"], 1);
    assert_says(&run.stderr, &["failed:"]);
}

#[test]
fn listing_names_the_cases_and_runs_none() {
    let run = run(&["check", "--list", "-c", "read/text-*", "--", "/no/such/program"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.stdout, "read/text-and-blob-are-strings\nread/text-xor-blob\n");
}

#[test]
fn what_looks_at_cases_and_faults_is_green() {
    for (arguments, part) in [
        (vec!["reference", "--list"], "fault    text-and-blob"),
        (vec!["cases", "list"], "read/text-xor-blob"),
        (vec!["cases", "explain", "read/text-xor-blob"], "read.text-xor-blob"),
        (vec!["cases", "schema"], "$defs"),
        (vec!["cases", "coverage"], "read"),
        (vec!["cases", "lint", LINTED], ""),
        (vec!["--version"], env!("CARGO_PKG_VERSION")),
        (vec!["check", "--help"], "--revision"),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        assert_says(&run.stdout, &[part]);
    }
}
