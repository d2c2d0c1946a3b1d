//! Are the examples of docs/profile.md profiles, and is every key among them?

use mcp_litmus::case::source::{Problem, Source};
use mcp_litmus::profile::load::{HOOK, PROFILE, STIMULI, TOOL, parse};

fn examples() -> Vec<String> {
    let page = include_str!("../docs/profile.md");
    page.split("```yaml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_example_can_be_read() {
    let readme = include_str!("../README.md").split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    for example in examples().into_iter().chain([readme.to_owned()]) {
        let variable = |name: &str| ["NOTES_TOKEN", "TOKEN"].contains(&name).then(|| "s3cret".to_owned());
        if let Err(problems) = parse(&Source::new("docs/profile.md", example.as_str()), &variable) {
            panic!("{}", problems.iter().map(Problem::render).collect::<Vec<_>>().join("\n"));
        }
    }
}

#[test]
fn every_key_has_an_example() {
    let examples = examples().concat();
    for key in PROFILE.iter().chain(STIMULI).chain(TOOL).chain(HOOK) {
        assert!(examples.contains(&format!("{}:", key.name)), "`{}` has no example", key.name);
    }
}
