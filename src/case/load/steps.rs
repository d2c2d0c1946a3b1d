//! How are steps read? One verb a step, and the session it speaks on.

use super::reader::{Fields, Reader, would_fit};
use crate::case::language::{self as words, ON, VERBS};
use crate::case::model::{
    Answer, Answers, Call, Content, Expect, Hear, Heard, HeardKind, Http, HttpAct, HttpBody, Kept, Listen,
    Open, Pick, Pipeline, PipelineFrame, PipelineHow, Quiet, Send, Step, Stimulus, Template, Verb,
};
use crate::case::tree::{Node, Value};
use crate::check::pattern::Pattern;
use std::time::Duration;

const QUIET_FOR: Duration = Duration::from_millis(500);
const EXIT_WITHIN: Duration = Duration::from_secs(5);
const PAGES_AT_MOST: usize = 100;
/// Bytes of a `long` frame: more than any server should read, and no more than a laptop can hold.
const LONGEST_FRAME: usize = 256 << 20;

impl Reader<'_> {
    pub fn steps(&mut self, node: &Node) -> Option<Vec<Step>> {
        let items = self.list(node, "steps")?;
        if items.is_empty() {
            self.report(&node.range, "expected at least one step", None);
        }
        Some(items.iter().filter_map(|item| self.step(item)).collect())
    }

    fn step(&mut self, node: &Node) -> Option<Step> {
        let Value::Map(members) = &node.value else {
            self.report(&node.range, format!("expected a step, found {}", node.kind()), None);
            return None;
        };
        let mut on = None;
        let mut verbs = Vec::new();
        for (key, value) in members {
            if key.text == ON.name {
                on = self.text(value);
            } else if let Some(verb) = VERBS.iter().find(|verb| verb.name == key.text) {
                verbs.push((verb.name, key, value));
            } else {
                let help = would_fit(&key.text, VERBS.iter().map(|verb| verb.name));
                self.report(&key.range, format!("unknown verb `{}`", key.text), Some(help));
                return None;
            }
        }
        match verbs.as_slice() {
            [(name, _, value)] => {
                let verb = self.verb(name, value)?;
                Some(Step { verb, on, place: self.place(&node.range) })
            }
            [] => {
                self.report(&node.range, "a step has a verb", None);
                None
            }
            [(first, ..), (second, key, _), ..] => {
                let message = format!("a step has one verb: `{second}` comes after `{first}`");
                self.report(&key.range, message, Some("write a step of its own".to_owned()));
                None
            }
        }
    }

    fn verb(&mut self, name: &str, node: &Node) -> Option<Verb> {
        match name {
            "call" => self.call(node),
            "notify" => self.notify(node),
            "send" => self.send(node),
            "hear" => self.hear(node),
            "quiet" => self.quiet(node),
            "pages" => self.pages(node),
            "each" => self.each(node),
            "keep" => self.keep(node),
            "follow" => {
                let fields = self.fields(node, "`follow`", &[words::FOLLOW])?;
                let as_name = self.opt(&fields, "as", Self::text);
                Some(Verb::Follow { uri: self.opt(&fields, "uri", Self::text_template)?, as_name })
            }
            "unfollow" => {
                let fields = self.fields(node, "`unfollow`", &[words::UNFOLLOW])?;
                Some(Verb::Unfollow { uri: self.opt(&fields, "uri", Self::text_template)? })
            }
            "listen" => self.listen(node),
            "stimulate" => self.stimulate(node),
            "begin" => self.begin(node),
            "await" => self.await_answer(node),
            "cancel" => {
                let fields = self.fields(node, "`cancel`", &[words::CANCEL])?;
                Some(Verb::Cancel { request: self.opt(&fields, "request", Self::text)? })
            }
            "settle" => self.duration(node).map(Verb::Settle),
            "pipeline" => self.pipeline(node),
            "http" => self.http(node),
            "expand" => self.expand(node),
            "variables" => {
                let fields = self.fields(node, "`variables`", &[words::VARIABLES])?;
                let of = self.opt(&fields, "of", Self::text_template);
                let as_name = self.opt(&fields, "as", Self::text);
                Some(Verb::Variables { of: of?, as_name: as_name? })
            }
            "open" => self.open(node),
            "end_input" => self.just_true(node).map(|()| Verb::EndInput),
            "exits" => {
                let fields = self.fields(node, "`exits`", &[words::EXITS])?;
                let within = self.opt(&fields, "within", Self::duration).unwrap_or(EXIT_WITHIN);
                let status =
                    self.opt(&fields, "status", Self::whole).and_then(|status| status.try_into().ok());
                Some(Verb::Exits { within, status })
            }
            "alive" => self.just_true(node).map(|()| Verb::Alive),
            "pick" => self.pick(node),
            "control" => self.step(node).map(|step| Verb::Control(Box::new(step))),
            "repeat" => self.repeat(node),
            "need" => self.need(node),
            _ => self.check_verb(node),
        }
    }

    /// A member, read; `None` when it is not there or was reported.
    fn opt<T>(
        &mut self,
        fields: &Fields,
        name: &str,
        read: impl FnOnce(&mut Self, &Node) -> Option<T>,
    ) -> Option<T> {
        fields.get(name).and_then(|node| read(self, node))
    }

    fn expect(&mut self, fields: &Fields) -> Expect {
        match self.opt(fields, "expect", |reader, node| reader.word(node, words::EXPECTATIONS, "expectation"))
        {
            Some(1) => Expect::Error,
            _ => Expect::Result,
        }
    }

    fn call(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`call`", &[words::CALL])?;
        let method = self.opt(&fields, "method", Self::text);
        let params = self.opt(&fields, "params", Self::template);
        let expect = self.expect(&fields);
        let answers = self.opt(&fields, "answers", Self::answers);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        let as_name = self.opt(&fields, "as", Self::text);
        let id = self.opt(&fields, "id", Self::template);
        let bare = self.opt(&fields, "bare", Self::flag).unwrap_or(false);
        if let (Some(expect), Some(_)) = (fields.get("expect"), fields.get("answers")) {
            self.report(&expect.range, "`expect` does not go with `answers`", None);
        }
        Some(Verb::Call(Call { method: method?, params, expect, answers, checks, as_name, id, bare }))
    }

    fn notify(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`notify`", &[words::NOTIFY])?;
        let method = self.opt(&fields, "method", Self::text);
        let params = self.opt(&fields, "params", Self::template);
        let bare = self.opt(&fields, "bare", Self::flag).unwrap_or(false);
        Some(Verb::Notify { method: method?, params, bare })
    }

    fn send(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`send`", &[words::SEND])?;
        let content = self.content(&fields);
        let answers = self.opt(&fields, "answers", Self::answers);
        let chunks = self.opt(&fields, "chunks", Self::size).unwrap_or(1);
        let pause = self.opt(&fields, "pause", Self::duration).unwrap_or_default();
        let deliberate = self.opt(&fields, "deliberate", Self::flag).unwrap_or(true);
        if let (0, Some(node)) = (chunks, fields.get("chunks")) {
            self.report(&node.range, "a frame has at least one piece", None);
        }
        Some(Verb::Send(Send { content: content?, answers, chunks, pause, deliberate }))
    }

    fn http(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`http`", &[words::HTTP])?;
        let word = |reader: &mut Self, node: &Node| reader.word(node, words::HTTP_METHODS, "method of HTTP");
        let method = self.opt(&fields, "method", word).map_or("POST", |at| words::HTTP_METHODS[at]);
        let call = self.opt(&fields, "call", Self::text);
        let params = self.opt(&fields, "params", Self::template);
        let text = self.opt(&fields, "text", Self::text_template);
        if let (None, Some(node)) = (&call, fields.get("params")) {
            self.report(&node.range, "`params` goes with `call`", None);
        }
        let (again, leave) = (self.opt(&fields, "again", Self::text), self.opt(&fields, "leave", Self::text));
        let act = match (again, leave) {
            (Some(name), None) => HttpAct::Again(name),
            (None, Some(name)) => HttpAct::Leave(name),
            (None, None) => HttpAct::Begin,
            (Some(_), Some(_)) => {
                self.report(&fields.range, "an exchange is looked at or left", None);
                return None;
            }
        };
        if act != HttpAct::Begin
            && let Some(node) = ["method", "call", "params", "text", "headers", "until", "deliberate"]
                .iter()
                .find_map(|name| fields.get(name))
        {
            self.report(&node.range, "this goes with an exchange that is begun", None);
            return None;
        }
        let body = match (call, text) {
            (Some(_), Some(_)) => {
                self.report(&fields.range, "an exchange has one body: `call` or `text`", None);
                return None;
            }
            (Some(method), None) => HttpBody::Call { method, params },
            (None, Some(text)) => HttpBody::Text(text),
            (None, None) => HttpBody::None,
        };
        let headers =
            self.opt(&fields, "headers", |reader, node| reader.bag(node, "`headers`")).unwrap_or_default();
        let until = |reader: &mut Self, node: &Node| reader.word(node, words::UNTIL, "part of a response");
        let head_only = self.opt(&fields, "until", until) == Some(1);
        let deliberate = self.opt(&fields, "deliberate", Self::flag).unwrap_or(true);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        let as_name = self.opt(&fields, "as", Self::text);
        let method = method.to_owned();
        Some(Verb::Http(Http { act, method, body, headers, head_only, deliberate, checks, as_name }))
    }

    fn content(&mut self, fields: &Fields) -> Option<Content> {
        let table = words::SEND.split_at(3).0;
        let (name, node) = self.exactly_one(fields, table, "the content of `send`")?;
        match name {
            "text" => self.text_template(node).map(Content::Text),
            "hex" => {
                let text = self.text(node)?;
                let bytes = parse_hex(&text);
                if bytes.is_none() {
                    let help =
                        Some("pairs of hexadecimal digits, spaces between them as you like".to_owned());
                    self.report(&node.range, "no hexadecimal bytes", help);
                }
                bytes.map(Content::Hex)
            }
            _ => {
                let fields = self.fields(node, "`long`", &[words::LONG])?;
                let empty = || Template::Literal("".into());
                let head = self.opt(&fields, "head", Self::text_template).unwrap_or_else(empty);
                let fill = self.opt(&fields, "fill", Self::text);
                let times = self.opt(&fields, "times", Self::size);
                let tail = self.opt(&fields, "tail", Self::text_template).unwrap_or_else(empty);
                let (fill, times) = (fill?, times?);
                if fill.len().checked_mul(times).is_none_or(|length| length > LONGEST_FRAME) {
                    self.report(&node.range, "the frame would be longer than 256 MiB", None);
                }
                Some(Content::Long { head, fill, times, tail })
            }
        }
    }

    fn heard(&mut self, fields: &Fields) -> Option<Heard> {
        let tagged = self.opt(fields, "tagged", Self::text);
        let table = words::HEAR.split_at(4).0;
        if fields.get("tagged").is_some() && fields.all_of(table).is_empty() {
            return Some(Heard { kind: HeardKind::AnyNotification, tagged });
        }
        let (name, node) = self.exactly_one(fields, table, "the kind of message")?;
        let kind = match name {
            "method" => HeardKind::Method(self.text(node)?),
            "reply" => self.word(node, words::REPLIES, "kind of reply").map(|_| HeardKind::Unaddressed)?,
            "progress_of" => HeardKind::ProgressOf(self.text(node)?),
            _ => self.just_true(node).map(|()| HeardKind::Anything)?,
        };
        Some(Heard { kind, tagged })
    }

    fn hear(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`hear`", &[words::HEAR])?;
        let what = self.heard(&fields);
        let only = self.opt(&fields, "only", Self::checks).unwrap_or_default();
        let within = self.opt(&fields, "within", Self::duration);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        let as_name = self.opt(&fields, "as", Self::text);
        Some(Verb::Hear(Hear { what: what?, only, within, checks, as_name }))
    }

    fn quiet(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`quiet`", &[words::QUIET])?;
        let what = self.heard(&fields);
        let only = self.opt(&fields, "only", Self::checks).unwrap_or_default();
        let for_time = self.opt(&fields, "for", Self::duration).unwrap_or(QUIET_FOR);
        let unarmed = self.opt(&fields, "unarmed", Self::text);
        Some(Verb::Quiet(Quiet { what: what?, only, for_time, unarmed }))
    }

    fn pages(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`pages`", &[words::PAGES])?;
        let of = self.opt(&fields, "of", Self::text);
        let collect = self.opt(&fields, "collect", Self::pattern);
        let as_name = self.opt(&fields, "as", Self::text);
        let pages_as = self.opt(&fields, "pages_as", Self::text);
        let at_most = self.opt(&fields, "at_most", Self::size).unwrap_or(PAGES_AT_MOST);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        Some(Verb::Pages { of: of?, collect: collect?, as_name: as_name?, pages_as, at_most, checks })
    }

    fn each(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`each`", &[words::EACH])?;
        let within = self.opt(&fields, "in", Self::template);
        let as_name = self.opt(&fields, "as", Self::text);
        let sample = self.opt(&fields, "sample", Self::size);
        let steps = self.opt(&fields, "steps", Self::steps);
        Some(Verb::Each { within: within?, as_name: as_name?, sample, steps: steps? })
    }

    fn keep(&mut self, node: &Node) -> Option<Verb> {
        let Value::Map(members) = &node.value else {
            self.report(&node.range, format!("expected a map for `keep`, found {}", node.kind()), None);
            return None;
        };
        let kept =
            members.iter().filter_map(|(key, value)| Some((key.text.clone(), self.kept(value)?))).collect();
        Some(Verb::Keep(kept))
    }

    /// Text that is a pointer is one into the last reply; anything else is a value.
    fn kept(&mut self, node: &Node) -> Option<Kept> {
        match &node.value {
            Value::Text(text) if text.is_empty() => Some(Kept::Pointer(Pattern::whole())),
            Value::Text(text) if text.starts_with('/') => self.pattern(node).map(Kept::Pointer),
            _ => self.template(node).map(Kept::Value),
        }
    }

    fn listen(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`listen`", &[words::LISTEN])?;
        let as_name = self.opt(&fields, "as", Self::text);
        let notifications = self.opt(&fields, "notifications", Self::template);
        let id = self.opt(&fields, "id", Self::template);
        let answers = self.opt(&fields, "answers", Self::answers);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        Some(Verb::Listen(Listen { as_name: as_name?, notifications, id, answers, checks }))
    }

    fn stimulate(&mut self, node: &Node) -> Option<Verb> {
        if matches!(node.value, Value::Map(_)) {
            let fields = self.fields(node, "`stimulate`", &[words::TOUCH])?;
            let uri = self.opt(&fields, "touch", Self::text_template)?;
            return Some(Verb::Stimulate(Stimulus::Touch(uri)));
        }
        let stimulus = match self.word(node, &["add", "remove"], "stimulus")? {
            0 => Stimulus::Add,
            _ => Stimulus::Remove,
        };
        Some(Verb::Stimulate(stimulus))
    }

    fn begin(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`begin`", &[words::BEGIN])?;
        let as_name = self.opt(&fields, "as", Self::text);
        let method = self.opt(&fields, "method", Self::text);
        let params = self.opt(&fields, "params", Self::template);
        let progress = self.opt(&fields, "progress", Self::flag).unwrap_or(false);
        let id = self.opt(&fields, "id", Self::template);
        Some(Verb::Begin { as_name: as_name?, method: method?, params, progress, id })
    }

    fn await_answer(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`await`", &[words::AWAIT])?;
        let request = self.opt(&fields, "request", Self::text);
        let within = self.opt(&fields, "within", Self::duration);
        let expect = self.expect(&fields);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        Some(Verb::Await { request: request?, within, expect, checks })
    }

    fn pipeline(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`pipeline`", &[words::PIPELINE])?;
        let how = match self.opt(&fields, "how", |reader, node| reader.word(node, words::HOWS, "way")) {
            Some(1) => PipelineHow::OneWrite,
            Some(2) => PipelineHow::Batch,
            _ => PipelineHow::Writes,
        };
        let frames = self.opt(&fields, "frames", |reader, node| {
            let items = reader.list(node, "frames")?;
            Some(items.iter().filter_map(|item| reader.frame(item)).collect())
        });
        Some(Verb::Pipeline(Pipeline { how, frames: frames? }))
    }

    fn frame(&mut self, node: &Node) -> Option<PipelineFrame> {
        let fields = self.fields(node, "a frame", &[words::FRAME])?;
        let (name, method) = self.exactly_one(&fields, words::FRAME.split_at(2).0, "the kind of a frame")?;
        let method = self.text(method);
        let params = self.opt(&fields, "params", Self::template);
        if name == "notify" {
            for (key, range, _) in fields.all_of(words::FRAME.split_at(3).1) {
                self.report(&range, format!("a notification has no `{key}`"), None);
            }
            return Some(PipelineFrame::Notify { method: method?, params });
        }
        let answers = self.opt(&fields, "answers", Self::answers).unwrap_or_else(|| Answers {
            pass: vec![Answer::Result(Vec::new())],
            place: Some(self.place(&node.range)),
            ..Answers::default()
        });
        let as_name = self.opt(&fields, "as", Self::text);
        Some(PipelineFrame::Call { method: method?, params, answers, as_name })
    }

    fn expand(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`expand`", &[words::EXPAND])?;
        let template = self.opt(&fields, "template", Self::text_template);
        let with = self.opt(&fields, "with", |reader, node| reader.bag(node, "`with`"));
        let only = self.opt(&fields, "only", Self::text_template);
        let as_name = self.opt(&fields, "as", Self::text);
        Some(Verb::Expand { template: template?, with, only, as_name: as_name? })
    }

    fn open(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`open`", &[words::OPEN])?;
        let as_name = self.opt(&fields, "as", Self::text);
        let params = self.opt(&fields, "params", Self::template);
        let id = self.opt(&fields, "id", Self::template);
        let initialized = self.opt(&fields, "initialized", Self::flag).unwrap_or(true);
        let handshake = self.opt(&fields, "handshake", Self::flag).unwrap_or(true);
        let beside = self.opt(&fields, "beside", Self::flag).unwrap_or(false);
        let answers = self.opt(&fields, "answers", Self::answers);
        let checks = self.opt(&fields, "checks", Self::checks).unwrap_or_default();
        Some(Verb::Open(Open { as_name, params, id, initialized, handshake, beside, answers, checks }))
    }

    fn pick(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`pick`", &[words::PICK])?;
        let as_name = self.opt(&fields, "as", Self::text);
        let absent_like = self.opt(&fields, "absent_like", Self::text_template);
        let outside = self.opt(&fields, "outside", Self::template);
        let list = self.opt(&fields, "from", Self::template);
        let only = self.opt(&fields, "only", Self::checks);
        let otherwise = self.opt(&fields, "otherwise", Self::text);
        let misplaced: &[&str] = match (fields.get("absent_like"), fields.get("from")) {
            (Some(_), None) => &["only", "otherwise"],
            (None, Some(_)) => &["outside"],
            _ => {
                self.report(&node.range, "`pick` has either `absent_like` or `from`", None);
                return None;
            }
        };
        for name in misplaced {
            if let Some(node) = fields.get(name) {
                self.report(&node.range, format!("`{name}` does not belong to this kind of `pick`"), None);
            }
        }
        if let Some(uri) = absent_like {
            return Some(Verb::Pick(Pick::AbsentLike { uri, outside, as_name: as_name? }));
        }
        if fields.get("from").is_some() && fields.get("otherwise").is_none() {
            self.report(
                &node.range,
                "`pick` lacks `otherwise`: why the case does not apply when nothing fits",
                None,
            );
        }
        let only = only.unwrap_or_default();
        Some(Verb::Pick(Pick::From { list: list?, only, otherwise: otherwise?, as_name: as_name? }))
    }

    fn repeat(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`repeat`", &[words::REPEAT])?;
        let times = self.opt(&fields, "times", Self::size);
        let fail = self.opt(&fields, "fail", Self::size);
        let advice = self.opt(&fields, "advice", Self::size);
        let steps = self.opt(&fields, "steps", Self::steps);
        let (times, fail) = (times?, fail?);
        if fail == 0 || fail > times || advice.is_some_and(|advice| advice == 0 || advice >= fail) {
            let message = "what counts as a failure lies between 1 and `times`, an advice below it";
            self.report(&node.range, message, None);
        }
        Some(Verb::Repeat { times, fail, advice, steps: steps? })
    }

    fn need(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`need`", &[words::NEED])?;
        let value = self.opt(&fields, "value", Self::template);
        let checks = self.opt(&fields, "checks", Self::checks);
        let otherwise = self.opt(&fields, "otherwise", Self::text);
        Some(Verb::Need { value: value?, checks: checks?, otherwise: otherwise? })
    }

    fn check_verb(&mut self, node: &Node) -> Option<Verb> {
        let fields = self.fields(node, "`check`", &[words::CHECK_VERB])?;
        let value = self.opt(&fields, "value", Self::template);
        let checks = self.opt(&fields, "checks", Self::checks);
        let unless_heard = self.opt(&fields, "unless_heard", Self::text);
        Some(Verb::Check { value: value?, checks: checks?, unless_heard })
    }
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}
