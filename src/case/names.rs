//! Which names does a step make, and which does it use? Values, pending requests and sessions are apart.

use super::model::{
    Answer, Answers, Check, Content, HeardKind, HttpAct, HttpBody, Kept, Pick, PipelineFrame, Step, Stimulus,
    Template, Verb,
};

/// A name that a step makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made<'a> {
    /// `${name}`
    Value(&'a str),
    /// For `await`, `cancel`, `tagged` and `progress_of`.
    Request(&'a str),
    /// For `on`.
    Session(&'a str),
}

impl<'a> Made<'a> {
    pub fn name(self) -> &'a str {
        match self {
            Self::Value(name) | Self::Request(name) | Self::Session(name) => name,
        }
    }
}

/// What a step makes by itself, not counting the steps within it.
pub fn made(step: &Step) -> Vec<Made<'_>> {
    fn value(name: &Option<String>) -> Vec<Made<'_>> {
        name.iter().map(|name| Made::Value(name)).collect()
    }
    match &step.verb {
        Verb::Call(call) => value(&call.as_name),
        Verb::Hear(hear) => value(&hear.as_name),
        Verb::Http(http) => value(&http.as_name),
        Verb::Pages { as_name, pages_as, .. } => {
            let mut names = value(pages_as);
            names.push(Made::Value(as_name));
            names
        }
        Verb::Each { as_name, .. } | Verb::Expand { as_name, .. } | Verb::Variables { as_name, .. } => {
            vec![Made::Value(as_name)]
        }
        Verb::Keep(kept) => kept.iter().map(|(name, _)| Made::Value(name)).collect(),
        Verb::Follow { as_name, .. } => as_name.iter().map(|name| Made::Request(name)).collect(),
        Verb::Listen(listen) => vec![Made::Request(&listen.as_name)],
        Verb::Begin { as_name, .. } => vec![Made::Request(as_name)],
        Verb::Pipeline(pipeline) => pipeline
            .frames
            .iter()
            .flat_map(|frame| match frame {
                PipelineFrame::Call { as_name, .. } => value(as_name),
                PipelineFrame::Notify { .. } => Vec::new(),
            })
            .collect(),
        Verb::Open(open) => open.as_name.iter().map(|name| Made::Session(name)).collect(),
        Verb::Pick(Pick::AbsentLike { as_name, .. } | Pick::From { as_name, .. }) => {
            vec![Made::Value(as_name)]
        }
        _ => Vec::new(),
    }
}

/// What a step uses by itself.
pub fn used<'a>(step: &'a Step, visit: &mut dyn FnMut(Made<'a>)) {
    if let Some(session) = &step.on {
        visit(Made::Session(session));
    }
    match &step.verb {
        Verb::Hear(hear) => heard(&hear.what.kind, hear.what.tagged.as_deref(), visit),
        Verb::Quiet(quiet) => heard(&quiet.what.kind, quiet.what.tagged.as_deref(), visit),
        Verb::Await { request, .. } | Verb::Cancel { request } => visit(Made::Request(request)),
        Verb::Http(http) => match &http.act {
            HttpAct::Begin => {}
            HttpAct::Again(name) | HttpAct::Leave(name) => visit(Made::Value(name)),
        },
        _ => {}
    }
    templates(step, &mut |template| in_template(template, visit));
    for check in checks(step) {
        in_check(check, visit);
    }
}

fn heard<'a>(kind: &'a HeardKind, tagged: Option<&'a str>, visit: &mut dyn FnMut(Made<'a>)) {
    if let HeardKind::ProgressOf(request) = kind {
        visit(Made::Request(request));
    }
    if let Some(request) = tagged {
        visit(Made::Request(request));
    }
}

/// The references in a check.
pub fn in_check<'a>(check: &'a Check, visit: &mut dyn FnMut(Made<'a>)) {
    let operand = crate::check::predicate::operand(&check.predicate);
    for template in check.of.iter().chain(operand) {
        in_template(template, visit);
    }
}

fn in_template<'a>(template: &'a Template, visit: &mut dyn FnMut(Made<'a>)) {
    template.each_reference(&mut |reference| visit(Made::Value(&reference.name)));
}

/// Every check of a step, those on answers included.
pub fn checks(step: &Step) -> Vec<&Check> {
    let mut found: Vec<&Check> = Vec::new();
    match &step.verb {
        Verb::Call(call) => extend(&mut found, [&call.checks], call.answers.as_ref()),
        Verb::Send(send) => extend(&mut found, [], send.answers.as_ref()),
        Verb::Hear(hear) => extend(&mut found, [&hear.only, &hear.checks], None),
        Verb::Http(http) => extend(&mut found, [&http.checks], None),
        Verb::Quiet(quiet) => extend(&mut found, [&quiet.only], None),
        Verb::Pages { checks, .. } | Verb::Await { checks, .. } => extend(&mut found, [checks], None),
        Verb::Need { checks, .. } | Verb::Check { checks, .. } => extend(&mut found, [checks], None),
        Verb::Listen(listen) => extend(&mut found, [&listen.checks], listen.answers.as_ref()),
        Verb::Open(open) => extend(&mut found, [&open.checks], open.answers.as_ref()),
        Verb::Pick(Pick::From { only, .. }) => extend(&mut found, [only], None),
        Verb::Pipeline(pipeline) => {
            for frame in &pipeline.frames {
                if let PipelineFrame::Call { answers, .. } = frame {
                    extend(&mut found, [], Some(answers));
                }
            }
        }
        _ => {}
    }
    found
}

fn extend<'a, const N: usize>(
    found: &mut Vec<&'a Check>,
    lists: [&'a Vec<Check>; N],
    answers: Option<&'a Answers>,
) {
    found.extend(lists.into_iter().flatten());
    for answer in answers.into_iter().flat_map(|answers| {
        answers.pass.iter().chain(&answers.advice).chain(&answers.note).chain(&answers.fail)
    }) {
        if let Answer::Result(checks) = answer {
            found.extend(checks);
        }
    }
}

/// Every template of a step outside its checks.
fn templates<'a>(step: &'a Step, visit: &mut dyn FnMut(&'a Template)) {
    match &step.verb {
        Verb::Call(call) => call.params.iter().chain(&call.id).for_each(visit),
        Verb::Notify { params, .. } => params.iter().for_each(visit),
        Verb::Http(http) => {
            match &http.body {
                HttpBody::Call { params, .. } => params.iter().for_each(&mut *visit),
                HttpBody::Text(text) => visit(text),
                HttpBody::None => {}
            }
            http.headers.iter().for_each(|(_, value)| visit(value));
        }
        Verb::Send(send) => match &send.content {
            Content::Text(text) => visit(text),
            Content::Hex(_) => {}
            Content::Long { head, tail, .. } => [head, tail].into_iter().for_each(visit),
        },
        Verb::Each { within, .. } => visit(within),
        Verb::Keep(kept) => {
            for (_, value) in kept {
                if let Kept::Value(template) = value {
                    visit(template);
                }
            }
        }
        Verb::Follow { uri, .. } | Verb::Unfollow { uri } | Verb::Stimulate(Stimulus::Touch(uri)) => {
            visit(uri)
        }
        Verb::Listen(listen) => listen.notifications.iter().chain(&listen.id).for_each(visit),
        Verb::Begin { params, id, .. } => params.iter().chain(id).for_each(visit),
        Verb::Pipeline(pipeline) => {
            for frame in &pipeline.frames {
                match frame {
                    PipelineFrame::Call { params, .. } | PipelineFrame::Notify { params, .. } => {
                        params.iter().for_each(&mut *visit);
                    }
                }
            }
        }
        Verb::Expand { template, with, only, .. } => {
            visit(template);
            only.iter().for_each(&mut *visit);
            with.iter().flatten().for_each(|(_, value)| visit(value));
        }
        Verb::Variables { of, .. } => visit(of),
        Verb::Open(open) => open.params.iter().chain(&open.id).for_each(visit),
        Verb::Pick(Pick::AbsentLike { uri, outside, .. }) => {
            visit(uri);
            outside.iter().for_each(visit);
        }
        Verb::Pick(Pick::From { list, .. }) => visit(list),
        Verb::Need { value, .. } | Verb::Check { value, .. } => visit(value),
        _ => {}
    }
}
