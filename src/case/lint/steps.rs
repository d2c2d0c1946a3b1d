//! Which rules must the steps of a case keep? Names, controls, quiet windows.

use super::{Found, is_kebab_case};
use crate::case::language::{GIVEN_NAMES, STANDING_NAMES};
use crate::case::model::{
    Answer, Answers, Body, Case, Expect, Heard, HeardKind, PipelineFrame, Requirement, Step, Verb,
};
use crate::case::names::{Made, in_check, made, used};
use crate::nearest::nearest;
use crate::record::Place;
use std::collections::HashSet;

/// `each` within `each` within `each` is a program, not a conversation.
const DEEPEST_EACH: usize = 2;

pub(super) fn check(case: &Case, row: Option<&Requirement>, found: &mut Found) {
    match &case.body {
        Body::Standing(standing) => {
            let names: Vec<&str> = GIVEN_NAMES.iter().chain(STANDING_NAMES).copied().collect();
            for check in standing.only.iter().chain(&standing.checks) {
                in_check(check, &mut |name| {
                    if !names.contains(&name.name()) {
                        complain_unknown(name, &check.place, &names, found);
                    }
                });
            }
        }
        Body::Scripted { given, steps } => {
            let mut walk = Walk { excused: excused_methods(case, row), ..Walk::default() };
            walk.steps(given, 0, false, found);
            walk.steps(steps, 0, true, found);
            walk.complain_unused(found);
        }
    }
}

/// What is known at a point of the conversation.
#[derive(Default)]
struct Walk<'a> {
    names: Vec<(Made<'a>, &'a Place)>,
    used: HashSet<(std::mem::Discriminant<Made<'a>>, &'a str)>,
    heard: Vec<&'a Heard>,
    /// Methods that were answered by a result.
    controlled: Vec<&'a str>,
    /// Methods that need no control in this case.
    excused: Vec<&'static str>,
}

impl<'a> Walk<'a> {
    fn steps(&mut self, steps: &'a [Step], depth: usize, is_judged: bool, found: &mut Found) {
        for step in steps {
            self.step(step, depth, is_judged, found);
        }
    }

    fn step(&mut self, step: &'a Step, depth: usize, is_judged: bool, found: &mut Found) {
        used(step, &mut |name| self.meet(name, step, found));
        if let Verb::Quiet(quiet) = &step.verb
            && quiet.unarmed.is_none()
            && !self.heard.iter().any(|heard| arms(heard, &quiet.what))
        {
            let help = "hear one of the kind first, or say in `unarmed` why silence is evidence all the same";
            found.add(&step.place, "nothing arms this quiet window", Some(help.to_owned()));
        }
        if is_judged {
            self.check_control(step, found);
        }
        for name in made(step) {
            if !is_kebab_case(name.name()) {
                found.add(&step.place, format!("the name `{}` is not in kebab-case", name.name()), None);
            }
            self.names.push((name, &step.place));
            // `pages` must name what it gathers, even where only its walk is of interest.
            if matches!((&step.verb, name), (Verb::Pages { as_name, .. }, Made::Value(name)) if as_name == name)
            {
                self.used.insert((std::mem::discriminant(&name), name.name()));
            }
        }
        match &step.verb {
            Verb::Hear(hear) => self.heard.push(&hear.what),
            Verb::Each { steps, .. } => {
                if depth + 1 > DEEPEST_EACH {
                    let message = format!("`each` is nested deeper than {DEEPEST_EACH}");
                    found.add(&step.place, message, Some("write a case of its own".to_owned()));
                }
                self.steps(steps, depth + 1, is_judged, found);
            }
            Verb::Repeat { steps, .. } => self.steps(steps, depth, is_judged, found),
            Verb::Control(inner) => self.step(inner, depth, false, found),
            _ => {}
        }
        self.controlled.extend(answered_by_result(step));
    }

    fn meet(&mut self, name: Made<'a>, step: &'a Step, found: &mut Found) {
        self.used.insert((std::mem::discriminant(&name), name.name()));
        let is_given = matches!(name, Made::Value(name) if GIVEN_NAMES.contains(&name));
        if !is_given && !self.names.iter().any(|(known, _)| *known == name) {
            let of_its_kind = self.names.iter().map(|(known, _)| *known);
            let mut known: Vec<&str> = of_its_kind
                .filter(|known| std::mem::discriminant(known) == std::mem::discriminant(&name))
                .map(Made::name)
                .collect();
            if matches!(name, Made::Value(_)) {
                known.extend(GIVEN_NAMES);
            }
            complain_unknown(name, &step.place, &known, found);
        }
    }

    fn check_control(&self, step: &'a Step, found: &mut Found) {
        let refused: Vec<&str> = match &step.verb {
            Verb::Call(call) if expects_error(call.expect, call.answers.as_ref()) => vec![&call.method],
            Verb::Pipeline(pipeline) => pipeline
                .frames
                .iter()
                .filter_map(|frame| match frame {
                    PipelineFrame::Call { method, answers, .. } if !may_succeed(answers) => {
                        Some(method.as_str())
                    }
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        for method in refused {
            // A method that is no method has no positive control.
            let needs_one = CONTROLLABLE.contains(&method) && !self.excused.contains(&method);
            if needs_one && !self.controlled.contains(&method) {
                let message =
                    format!("an error of `{method}` is expected, and nothing shows that it can succeed");
                let help = "call it with a good result first, in `given` or as a `control`";
                found.add(&step.place, message, Some(help.to_owned()));
            }
        }
    }

    fn complain_unused(&self, found: &mut Found) {
        for (name, place) in &self.names {
            // A further session is used by being there, and so is what listens.
            let Made::Value(text) = name else { continue };
            if !self.used.contains(&(std::mem::discriminant(name), text)) {
                found.add(place, format!("the name `{text}` is never used"), None);
            }
        }
    }
}

fn complain_unknown(name: Made<'_>, place: &Place, known: &[&str], found: &mut Found) {
    let message = match name {
        Made::Value(name) => format!("no earlier step makes `${{{name}}}`"),
        Made::Request(name) => format!("no earlier step begins a request `{name}`"),
        Made::Session(name) => format!("no earlier step opens a session `{name}`"),
    };
    let help = nearest(name.name(), known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    found.add(place, message, help);
}

/// Whether having heard the one makes silence about the other evidence.
fn arms(heard: &Heard, quiet: &Heard) -> bool {
    let same_kind = match (&heard.kind, &quiet.kind) {
        (_, HeardKind::Anything) => true,
        (HeardKind::Method(_), HeardKind::AnyNotification) => true,
        (heard, quiet) => heard == quiet,
    };
    same_kind && (quiet.tagged.is_none() || heard.tagged == quiet.tagged)
}

fn expects_error(expect: Expect, answers: Option<&Answers>) -> bool {
    match answers {
        Some(answers) => !may_succeed(answers),
        None => expect == Expect::Error,
    }
}

fn may_succeed(answers: &Answers) -> bool {
    answers.pass.iter().any(|answer| matches!(answer, Answer::Result(_) | Answer::Acknowledged))
}

/// The methods whose success is part of what a server with resources does; others may rightly be unknown.
const CONTROLLABLE: &[&str] = &[
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "subscriptions/listen",
];

/// Methods that the case is right to see refused at once: the server does not declare them, or its revisions
/// do not have them.
fn excused_methods(case: &Case, row: Option<&Requirement>) -> Vec<&'static str> {
    let Some(row) = row else { return CONTROLLABLE.to_vec() };
    if !row.lacks.is_empty() {
        return CONTROLLABLE.to_vec();
    }
    let revisions = case.revisions.as_ref().unwrap_or(&row.revisions);
    if revisions.iter().all(|revision| revision.is_stateless()) {
        return vec!["resources/subscribe"];
    }
    if revisions.iter().all(|revision| !revision.is_stateless()) {
        return vec!["subscriptions/listen"];
    }
    Vec::new()
}

/// The methods that must have succeeded for the conversation to go on after this step.
fn answered_by_result(step: &Step) -> Vec<&str> {
    match &step.verb {
        Verb::Call(call) if !expects_error(call.expect, call.answers.as_ref()) => vec![&call.method],
        Verb::Pages { of, .. } => vec![of],
        Verb::Follow { .. } => vec!["resources/subscribe", "subscriptions/listen"],
        Verb::Listen(_) => vec!["subscriptions/listen"],
        Verb::Pipeline(pipeline) => pipeline
            .frames
            .iter()
            .filter_map(|frame| match frame {
                PipelineFrame::Call { method, answers, .. } if may_succeed(answers) => Some(method.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
