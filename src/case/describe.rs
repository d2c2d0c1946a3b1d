//! How does a case read in words? What it sends or looks at, and what proves its requirement.
//!
//! The words come from the steps themselves, so that they cannot grow stale. References stay as they stand in the
//! file: what `${uri}` is, an earlier line says.

mod parts;

use super::model::{
    Answers, Body, Call, Case, Check, Content, Expect, Hear, Heard, HeardKind, Http, HttpAct, HttpBody, Kept,
    Listen, Open, Pick, Pipeline, PipelineFrame, PipelineHow, Quiet, Send, Standing, Step, Stimulus, Subject,
    Verb,
};
use crate::check::phrase::shown;
use crate::record::Verdict;
use crate::wire::Json;
use parts::{at, bare, check, check_as, either, raw_text, time, to_json, up_to, value, with};

/// A case in words, one line an item, without line breaks at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The steps in their order, numbered, those within others indented; of a standing case what it looks at.
    pub sent: Vec<String>,
    /// What must come of them. Never empty for a case that lint accepts.
    pub proof: Vec<String>,
}

/// Puts a case into words. `verdict` is that of its requirement: what an answer in no list is worth.
pub fn describe(case: &Case, verdict: Verdict) -> Description {
    let mut words = Words { verdict, description: Description::default() };
    match &case.body {
        Body::Standing(standing) => words.standing(standing),
        Body::Scripted { given, steps } => {
            for (at, step) in given.iter().enumerate() {
                words.step(step, &(at + 1).to_string(), 0, false);
            }
            for (at, step) in steps.iter().enumerate() {
                words.step(step, &(given.len() + at + 1).to_string(), 0, true);
            }
        }
    }
    words.description
}

struct Words {
    verdict: Verdict,
    description: Description,
}

impl Words {
    fn standing(&mut self, standing: &Standing) {
        self.description.sent.push(format!("nothing of its own; it looks at {}", subject(&standing.on)));
        self.description
            .sent
            .extend(standing.only.iter().map(|only| format!("but only where {}", check_as(only, "is to"))));
        self.description.proof.extend(standing.checks.iter().map(check));
    }

    /// `proves` is false in `given` and below a control: a failure there only means that nothing was shown.
    fn step(&mut self, step: &Step, number: &str, depth: usize, proves: bool) {
        let indent = "   ".repeat(depth);
        let on = step.on.as_ref().map(|name| format!(", in the session `{name}`")).unwrap_or_default();
        let (step, control) = match &step.verb {
            Verb::Control(inner) => (&**inner, "as a control: "),
            _ => (step, ""),
        };
        let proves = proves && control.is_empty();
        self.description.sent.push(format!("{indent}{number}. {control}{}{on}", says(&step.verb)));
        if proves {
            let proofs = self.proofs(&step.verb);
            self.description.proof.extend(proofs.into_iter().map(|proof| format!("step {number}: {proof}")));
        }
        for (at, inner) in step.inner().iter().enumerate() {
            self.step(inner, &format!("{number}.{}", at + 1), depth + 1, proves);
        }
    }

    /// What a step demands, one demand an item.
    fn proofs(&self, verb: &Verb) -> Vec<String> {
        match verb {
            Verb::Call(Call { answers: Some(answers), checks, .. }) => self.answered(answers, checks),
            Verb::Call(call) => expected(call.expect, &call.checks),
            Verb::Send(Send { answers: Some(answers), .. }) => self.answered(answers, &[]),
            Verb::Hear(hear) => one_and(format!("{} comes", heard(&hear.what)), &hear.checks),
            Verb::Quiet(quiet) => vec![format!("none comes within {}", time(quiet.for_time))],
            Verb::Pages { checks, .. } => {
                one_and("every page is a result, and no cursor comes twice".to_owned(), checks)
            }
            Verb::Follow { .. } => vec!["it is accepted".to_owned()],
            Verb::Unfollow { .. } => vec!["it is accepted".to_owned()],
            Verb::Listen(Listen { answers: Some(answers), checks, .. }) => self.answered(answers, checks),
            Verb::Listen(listen) => one_and("it is acknowledged".to_owned(), &listen.checks),
            Verb::Await { expect, checks, .. } => expected(*expect, checks),
            Verb::Pipeline(pipeline) => pipeline
                .frames
                .iter()
                .filter_map(|frame| match frame {
                    PipelineFrame::Call { method, answers, .. } => {
                        Some(format!("`{method}`: {}", self.answers(answers)))
                    }
                    PipelineFrame::Notify { .. } => None,
                })
                .collect(),
            Verb::Open(Open { answers: Some(answers), checks, .. }) => self.answered(answers, checks),
            Verb::Open(open) => one_and("it is answered by a result".to_owned(), &open.checks),
            Verb::Exits { within, status } => {
                let status = status.map(|status| format!(", with status {status}")).unwrap_or_default();
                vec![format!("it ends within {}{status}", time(*within))]
            }
            Verb::Alive => vec!["the same server answers".to_owned()],
            Verb::Repeat { times, fail, advice, .. } => {
                let advice = advice.map(|count| format!(", and {count} an advice")).unwrap_or_default();
                vec![format!("of {times} rounds {fail} that go wrong are a failure{advice}")]
            }
            Verb::Check { checks, .. } => checks.iter().map(check).collect(),
            Verb::Http(http) => http.checks.iter().map(check).collect(),
            _ => Vec::new(),
        }
    }

    fn answered(&self, answers: &Answers, checks: &[Check]) -> Vec<String> {
        one_and(format!("it is answered by {}", self.answers(answers)), checks)
    }

    /// The lawful ones, those that are worth less, and the worth of all others.
    fn answers(&self, answers: &Answers) -> String {
        let mut text = either(&answers.pass);
        let worth = |verdict| match verdict {
            Verdict::Fail => "a failure",
            Verdict::Advice => "an advice",
            Verdict::Note => "a note",
        };
        for (list, verdict) in [
            (&answers.advice, Verdict::Advice),
            (&answers.note, Verdict::Note),
            (&answers.fail, Verdict::Fail),
        ] {
            // A list for the reader's sake says no more than the last words do.
            if !list.is_empty() && verdict != self.verdict {
                text.push_str(&format!("; {} is {}", either(list), worth(verdict)));
            }
        }
        text.push_str(&format!("; anything else is {}", worth(self.verdict)));
        text
    }
}

/// What a step does: a phrase without a full stop.
fn says(verb: &Verb) -> String {
    match verb {
        Verb::Call(call) => {
            let id = call.id.as_ref().map(|id| format!(" and the id {}", value(id))).unwrap_or_default();
            format!("the request `{}`{}{id}{}", call.method, with(call.params.as_ref()), bare(call.bare))
        }
        Verb::Notify { method, params, bare: is_bare } => {
            format!("the notification `{method}`{}{}", with(params.as_ref()), bare(*is_bare))
        }
        Verb::Send(send) => raw(send),
        Verb::Hear(hear) => waits(hear),
        Verb::Quiet(quiet) => stays_away(quiet),
        Verb::Pages { of, collect, as_name, at_most, .. } => format!(
            "`{of}` page by page, following `nextCursor` to its end or for {at_most} pages; {} is kept as `{as_name}`",
            at(&collect.to_string())
        ),
        Verb::Each { within, as_name, sample, .. } => {
            let sample = sample.map(|count| format!(", at most {count} of them")).unwrap_or_default();
            format!("for each of {}, called `{as_name}`{sample}:", value(within))
        }
        Verb::Keep(kept) => {
            let kept = kept.iter().map(|(name, from)| match from {
                Kept::Pointer(pointer) => {
                    format!("{} of the reply is kept as `{name}`", at(&pointer.to_string()))
                }
                Kept::Value(template) => format!("{} is kept as `{name}`", value(template)),
            });
            kept.collect::<Vec<_>>().join("; ")
        }
        Verb::Follow { uri, .. } => format!(
            "a subscription to {}: `resources/subscribe`, or `subscriptions/listen` where that took its place",
            value(uri)
        ),
        Verb::Unfollow { uri } => format!(
            "the end of the subscription to {}: `resources/unsubscribe`, or the end of the stream",
            value(uri)
        ),
        Verb::Listen(listen) => listens(listen),
        Verb::Stimulate(Stimulus::Touch(uri)) => {
            format!("{} is changed, by `stimuli.touch` of the profile", value(uri))
        }
        Verb::Stimulate(Stimulus::Add) => "a resource is added, by `stimuli.add` of the profile".to_owned(),
        Verb::Stimulate(Stimulus::Remove) => {
            "a resource is removed, by `stimuli.remove` of the profile".to_owned()
        }
        Verb::Begin { as_name, method, params, progress, id } => {
            let id = id.as_ref().map(|id| format!(" and the id {}", value(id))).unwrap_or_default();
            let token = if *progress { ", with a progress token" } else { "" };
            format!("the request `{method}`{}{id}{token}, left pending as `{as_name}`", with(params.as_ref()))
        }
        Verb::Await { request, within, .. } => {
            format!("a wait for the answer to `{request}`{}", up_to(*within))
        }
        Verb::Cancel { request } => format!("`notifications/cancelled` for the request `{request}`"),
        Verb::Settle(pause) => format!("a pause of {}", time(*pause)),
        Verb::Pipeline(pipeline) => together(pipeline),
        Verb::Http(http) => over_http(http),
        Verb::Expand { template, with, only, as_name } => {
            let with = match with {
                Some(variables) => {
                    let variables =
                        variables.iter().map(|(name, template)| (name.as_str(), to_json(template)));
                    shown(&Json::Object(variables.collect()))
                }
                None => "values of the profile, of completions or of listed URIs".to_owned(),
            };
            let only = only.as_ref().map(|only| format!(" for {} alone", value(only))).unwrap_or_default();
            format!("the URI template {} filled with {with}{only}, as `{as_name}`", value(template))
        }
        Verb::Variables { of, as_name } => {
            format!("`{as_name}` are the variables of {}", value(of))
        }
        Verb::Open(open) => opens(open),
        Verb::EndInput => "the server's input is closed".to_owned(),
        Verb::Exits { .. } => "a wait for the end of the process".to_owned(),
        Verb::Alive => "a sign of life is asked for".to_owned(),
        Verb::Pick(Pick::AbsentLike { uri, outside, as_name }) => {
            let outside = outside
                .as_ref()
                .map(|all| format!(" and no template of {} makes", value(all)))
                .unwrap_or_default();
            format!("a URI like {} that the server does not know{outside}, as `{as_name}`", value(uri))
        }
        Verb::Pick(Pick::From { list, only, otherwise, as_name }) => {
            let only = only.iter().map(|one| format!(" where {}", check_as(one, "is to")));
            format!(
                "the first of {}{}, as `{as_name}`; skipped if {otherwise}",
                value(list),
                only.collect::<Vec<_>>().join(" and")
            )
        }
        Verb::Control(step) => format!("as a control: {}", says(&step.verb)),
        Verb::Repeat { times, .. } => format!("{times} times:"),
        Verb::Need { otherwise, .. } => format!("skipped if {otherwise}"),
        Verb::Check { value: of, unless_heard, .. } => {
            let unless =
                unless_heard.as_ref().map(|method| format!(", unless `{method}` came")).unwrap_or_default();
            format!("a look at {}{unless}", value(of))
        }
    }
}

fn raw(send: &Send) -> String {
    let what = match &send.content {
        Content::Text(text) => format!("the line {}", raw_text(text)),
        Content::Hex(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
        Content::Long { head, fill, times, tail } => {
            format!("the line {} then {times} times `{fill}` then {}", raw_text(head), raw_text(tail))
        }
    };
    let pieces = match (send.chunks, send.pause) {
        (0 | 1, _) => String::new(),
        (chunks, pause) => format!(", in {chunks} pieces {} apart", time(pause)),
    };
    let wrong = if send.deliberate { ", marked as deliberate" } else { "" };
    format!("{what}{pieces}{wrong}")
}

fn waits(hear: &Hear) -> String {
    let only = hear.only.iter().map(|one| format!(" where {}", check_as(one, "is to")));
    format!("a wait for {}{}{}", heard(&hear.what), only.collect::<Vec<_>>().join(" and"), up_to(hear.within))
}

fn stays_away(quiet: &Quiet) -> String {
    let only = quiet.only.iter().map(|one| format!(" where {}", check_as(one, "is to")));
    format!("a wait in which {} may not come{}", heard(&quiet.what), only.collect::<Vec<_>>().join(" and"))
}

fn listens(listen: &Listen) -> String {
    let filter = match &listen.notifications {
        Some(filter) => format!("the filter {}", value(filter)),
        None => "no filter".to_owned(),
    };
    let id = listen.id.as_ref().map(|id| format!(" and the id {}", value(id))).unwrap_or_default();
    format!("`subscriptions/listen` with {filter}{id}, as `{}`", listen.as_name)
}

fn opens(open: &Open) -> String {
    let params = match &open.params {
        Some(params) => format!(" with {}", value(params)),
        None => String::new(),
    };
    let id = open.id.as_ref().map(|id| format!(" and the id {}", value(id))).unwrap_or_default();
    let last = if open.initialized { "" } else { ", without `notifications/initialized`" };
    match &open.as_name {
        None if !open.handshake => "a server is started, and nothing is said to it".to_owned(),
        Some(name) => {
            let whose = if open.beside { " with the same server, where it takes several" } else { "" };
            format!("a further session is opened{whose}, as `{name}`{params}{id}{last}")
        }
        None => format!("the opening{params}{id}{last}"),
    }
}

fn together(pipeline: &Pipeline) -> String {
    let frames = pipeline.frames.iter().map(|frame| match frame {
        PipelineFrame::Call { method, params, .. } => format!("`{method}`{}", with(params.as_ref())),
        PipelineFrame::Notify { method, params } => {
            format!("the notification `{method}`{}", with(params.as_ref()))
        }
    });
    let how = match pipeline.how {
        PipelineHow::Writes => "one after the other, no answer awaited between them",
        PipelineHow::OneWrite => "in one write",
        PipelineHow::Batch => "in one batch",
    };
    format!("{}: {how}", frames.collect::<Vec<_>>().join(", "))
}

/// An exchange of its own, with what sets it apart.
fn over_http(http: &Http) -> String {
    match &http.act {
        HttpAct::Begin => {}
        HttpAct::Again(name) => return format!("another look at the exchange `{name}`"),
        HttpAct::Leave(name) => return format!("the connection of the exchange `{name}` is closed"),
    }
    let body = match &http.body {
        HttpBody::None => String::new(),
        HttpBody::Call { method, params } => format!(" of the request `{method}`{}", with(params.as_ref())),
        HttpBody::Text(text) => format!(" of the bytes `{}`", raw_text(text)),
    };
    let headers: Vec<String> = http
        .headers
        .iter()
        .map(|(name, template)| match to_json(template) {
            Json::Null => format!("no `{name}`"),
            value => format!("`{name}: {}`", value.as_str().map_or_else(|| shown(&value), str::to_owned)),
        })
        .collect();
    let headers = if headers.is_empty() { String::new() } else { format!(", with {}", headers.join(", ")) };
    format!("an HTTP {}{body}{headers}", http.method)
}

fn subject(subject: &Subject) -> String {
    let of = |method: &Option<String>, what: &str| match method {
        Some(method) => format!("{what} `{method}`"),
        None => format!("{what} any method"),
    };
    match subject {
        Subject::Frame => "each line that the server writes".to_owned(),
        Subject::Message => "each message of the server".to_owned(),
        Subject::ResultOf(method) => of(method, "each result that answers"),
        Subject::ErrorOf(method) => of(method, "each error that answers"),
        Subject::Notification(method) => of(method, "the params of each notification of"),
        Subject::Request(method) => of(method, "the params of each request of the server for"),
        Subject::Exchange(method) => of(method, "each request for") + " and what answered it",
        Subject::Http => "each exchange over HTTP".to_owned(),
        Subject::Session => "each conversation as a whole".to_owned(),
    }
}

/// A kind of message, with its article.
fn heard(what: &Heard) -> String {
    let kind = match &what.kind {
        HeardKind::Method(method) => format!("a `{method}`"),
        HeardKind::AnyNotification => "a notification".to_owned(),
        HeardKind::ProgressOf(request) => format!("a progress notification for `{request}`"),
        HeardKind::Unaddressed => "an answer that names no request".to_owned(),
        HeardKind::Anything => "a message".to_owned(),
    };
    match &what.tagged {
        Some(stream) => format!("{kind} on the stream `{stream}`"),
        None => kind,
    }
}

fn expected(expect: Expect, checks: &[Check]) -> Vec<String> {
    let what = match expect {
        Expect::Result => "it is answered by a result",
        Expect::Error => "it is answered by an error",
    };
    one_and(what.to_owned(), checks)
}

fn one_and(first: String, checks: &[Check]) -> Vec<String> {
    std::iter::once(first).chain(checks.iter().map(check)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::load;
    use crate::case::source::Source;

    fn described(text: &str, verdict: Verdict) -> Description {
        describe(&load::case("read/x", &Source::new("x.yaml", text)).unwrap(), verdict)
    }

    #[test]
    fn a_conversation_is_told_step_by_step() {
        let text = r#"
summary: It is so
proves: read.x
faults: [f]
given:
  - pages: { of: resources/list, collect: /resources/*/uri, as: uris }
steps:
  - each:
      in: "${uris}"
      as: uri
      steps:
        - call: { method: resources/read, params: { uri: "${uri}" }, expect: error, checks: [{ at: /code, equals: -1 }] }
  - control: { call: { method: ping } }
  - send: { text: "{\"id\":${id}}", answers: { pass: [silent, parse], advice: [any-error] } }
  - quiet: { anything: true, unarmed: nothing was asked }
"#;
        let Description { sent, proof } = described(text, Verdict::Fail);
        let expected = [
            "1. `resources/list` page by page, following `nextCursor` to its end or for 100 pages; `/resources/*/uri` is kept as `uris`",
            "2. for each of `${uris}`, called `uri`:",
            "   2.1. the request `resources/read` with {\"uri\":\"${uri}\"}",
            "3. as a control: the request `ping`",
            "4. the line `{\"id\":${id}}`, marked as deliberate",
            "5. a wait in which a message may not come",
        ];
        assert_eq!(sent, expected);
        let expected = [
            "step 2.1: it is answered by an error",
            "step 2.1: `/code` must equal -1",
            "step 4: it is answered by silence or error -32700; any error is an advice; anything else is a failure",
            "step 5: none comes within 500 ms",
        ];
        assert_eq!(proof, expected);
    }

    #[test]
    fn a_rule_is_told_by_what_it_looks_at() {
        let text = "summary: It is so\nproves: read.x\nfaults: [f]\nalways:\n  on: { result_of: any }\n  only: [{ at: /a, is: string }]\n  checks: [{ at: /b, is: [uri, mime], or: absent }]\n";
        let Description { sent, proof } = described(text, Verdict::Fail);
        let expected = [
            "nothing of its own; it looks at each result that answers any method",
            "but only where `/a` is to be a string",
        ];
        assert_eq!(sent, expected);
        assert_eq!(proof, ["`/b` must be a URI or a media type, or be absent"]);
    }
}
