//! What can a script do? Steps, their verbs, and which answers are lawful.

use super::{Check, Template};
use crate::check::pattern::Pattern;
use crate::record::Place;
use std::time::Duration;

/// One step: a verb and where it stands.
#[derive(Debug, Clone)]
pub struct Step {
    pub verb: Verb,
    /// The name of the session it speaks on (`open: { as: NAME }`); the case's own without one.
    pub on: Option<String>,
    pub place: Place,
}

impl Step {
    /// The steps within this one.
    pub fn inner(&self) -> &[Step] {
        match &self.verb {
            Verb::Each { steps, .. } | Verb::Repeat { steps, .. } => steps,
            Verb::Control(step) => std::slice::from_ref(step),
            _ => &[],
        }
    }
}

/// Visits the steps and all steps within them, in the order in which they stand.
pub fn each_step<'a>(steps: impl IntoIterator<Item = &'a Step>, visit: &mut dyn FnMut(&'a Step)) {
    for step in steps {
        visit(step);
        each_step(step.inner(), visit);
    }
}

#[derive(Debug, Clone)]
pub enum Verb {
    Call(Call),
    Notify {
        method: String,
        params: Option<Template>,
        /// Adds nothing of the driver's own, no `_meta` either.
        bare: bool,
    },
    Send(Send),
    Hear(Hear),
    Quiet(Quiet),
    /// Follows `nextCursor` to the end.
    Pages {
        of: String,
        /// What to gather from each page's result; a pattern.
        collect: Pattern,
        as_name: String,
        /// Names the list of the pages' results, whole.
        pages_as: Option<String>,
        /// Past this many pages: unproven.
        at_most: usize,
        /// Applied to each page's result.
        checks: Vec<Check>,
    },
    /// Runs `steps` for every element; over nothing: unproven.
    Each {
        within: Template,
        as_name: String,
        /// At most this many, seeded; the rest is counted in the report.
        sample: Option<usize>,
        steps: Vec<Step>,
    },
    /// Names values: from the last reply (`/pointer`) or from other names.
    Keep(Vec<(String, Kept)>),
    /// The revision's own way to be told of changes to a resource, up to its confirmation.
    Follow {
        uri: Template,
        /// Names the listen request, for `tagged`; ignored in the stateful era.
        as_name: Option<String>,
    },
    Unfollow {
        uri: Template,
    },
    /// `subscriptions/listen` up to its acknowledgement, which `checks` look at (its params).
    Listen(Listen),
    Stimulate(Stimulus),
    /// A request that is left pending under a name.
    Begin {
        as_name: String,
        method: String,
        params: Option<Template>,
        /// Adds a progress token.
        progress: bool,
        id: Option<Template>,
    },
    /// Waits for the answer to a pending request.
    Await {
        request: String,
        within: Option<Duration>,
        expect: Expect,
        checks: Vec<Check>,
    },
    /// `notifications/cancelled` for a pending request.
    Cancel {
        request: String,
    },
    /// Waits, and judges nothing.
    Settle(Duration),
    /// Several frames before any answer is awaited.
    Pipeline(Pipeline),
    /// An exchange over HTTP as the case wants it.
    Http(Http),
    /// Fills a URI template. Without `with`: from the profile, from completions, from listed URIs.
    Expand {
        template: Template,
        with: Option<Vec<(String, Template)>>,
        /// The variable that alone is filled.
        only: Option<Template>,
        as_name: String,
    },
    /// Names the list of the variables of a URI template, each once, in the order in which they stand.
    Variables {
        of: Template,
        as_name: String,
    },
    /// A further session (`as`), or, without a name, the opening of the case's own: then the step is the opening.
    Open(Open),
    /// Closes the server's input.
    EndInput,
    /// The server's process ends within the time.
    Exits {
        within: Duration,
        /// The exit status that is demanded, if one is.
        status: Option<i32>,
    },
    /// The same server still answers the liveness probe of the revision.
    Alive,
    /// Chooses a value.
    Pick(Pick),
    /// A step that must succeed for the case to prove anything: its failure reads "unproven".
    Control(Box<Step>),
    /// Runs the steps several times: so many failures are a failure, so many an advice.
    Repeat {
        times: usize,
        fail: usize,
        advice: Option<usize>,
        steps: Vec<Step>,
    },
    /// A fact about the server without which the case does not apply: skipped, with the reason.
    Need {
        value: Template,
        checks: Vec<Check>,
        otherwise: String,
    },
    /// Looks at kept values.
    Check {
        value: Template,
        checks: Vec<Check>,
        /// When this notification was heard in the case, the comparison proves nothing: unproven.
        unless_heard: Option<String>,
    },
}

#[derive(Debug, Clone)]
pub struct Call {
    pub method: String,
    pub params: Option<Template>,
    pub expect: Expect,
    /// In place of `expect`, where several answers are lawful.
    pub answers: Option<Answers>,
    /// On the result or the error object.
    pub checks: Vec<Check>,
    /// Names the result or error object.
    pub as_name: Option<String>,
    /// In place of a fresh id.
    pub id: Option<Template>,
    /// Adds nothing of the driver's own to params: no `_meta`.
    pub bare: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Result,
    Error,
}

/// An exchange over HTTP: what an ordinary request would be, and in what it differs.
#[derive(Debug, Clone)]
pub struct Http {
    pub act: HttpAct,
    pub method: String,
    pub body: HttpBody,
    /// In place of those that would go out; null leaves one out.
    pub headers: Vec<(String, Template)>,
    /// Whether the head of the response is enough; otherwise the response is awaited to its end.
    pub head_only: bool,
    /// Whether nothing about it is wrong on purpose.
    pub deliberate: bool,
    /// On the exchange, as standing cases on `http` see it.
    pub checks: Vec<Check>,
    /// Names the exchange.
    pub as_name: Option<String>,
}

/// What is done over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpAct {
    /// An exchange is begun.
    Begin,
    /// One that has a name is looked at as it is by now.
    Again(String),
    /// The connection of one that has a name is closed.
    Leave(String),
}

#[derive(Debug, Clone)]
pub enum HttpBody {
    None,
    /// A request of this method, with what the revision demands in its params.
    Call {
        method: String,
        params: Option<Template>,
    },
    /// As `text` of [`Send`].
    Text(Template),
}

/// Exact bytes as one frame, nothing added but the line ending.
#[derive(Debug, Clone)]
pub struct Send {
    pub content: Content,
    pub answers: Option<Answers>,
    /// Written in this many pieces.
    pub chunks: usize,
    /// Between two pieces.
    pub pause: Duration,
    /// Whether the frame breaks a rule on purpose. True unless the case says otherwise.
    pub deliberate: bool,
}

#[derive(Debug, Clone)]
pub enum Content {
    /// Text with `${id}`, `${id2}`, `${meta}`, `${meta,}` and kept values.
    Text(Template),
    /// Bytes, spelled in hexadecimal.
    Hex(Vec<u8>),
    /// A text repeated: for long lines. Head, the repeated part, how often, tail.
    Long { head: Template, fill: String, times: usize, tail: Template },
}

#[derive(Debug, Clone)]
pub struct Hear {
    pub what: Heard,
    /// Only messages whose params pass these are meant.
    pub only: Vec<Check>,
    /// How long to wait; the profile's patience without one.
    pub within: Option<Duration>,
    /// On the params of what was heard.
    pub checks: Vec<Check>,
    pub as_name: Option<String>,
}

/// A kind of message to listen for.
#[derive(Debug, Clone)]
pub struct Heard {
    pub kind: HeardKind,
    /// Only what carries the subscription id of this listen.
    pub tagged: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeardKind {
    /// A notification of this method.
    Method(String),
    /// Any notification at all; with `tagged`.
    AnyNotification,
    /// A progress notification for the token of this pending request.
    ProgressOf(String),
    /// An answer that names no request of ours.
    Unaddressed,
    /// Anything at all from the server.
    Anything,
}

#[derive(Debug, Clone)]
pub struct Quiet {
    pub what: Heard,
    pub only: Vec<Check>,
    /// At least this long.
    pub for_time: Duration,
    /// Why silence is evidence although nothing of the kind was heard before.
    pub unarmed: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Listen {
    pub as_name: String,
    /// The filter, whole.
    pub notifications: Option<Template>,
    pub id: Option<Template>,
    /// In place of demanding an acknowledgement.
    pub answers: Option<Answers>,
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone)]
pub enum Stimulus {
    /// Changes the contents of this resource.
    Touch(Template),
    /// Adds a resource; `as` names its URI where it is known.
    Add,
    Remove,
}

#[derive(Debug, Clone)]
pub struct Pipeline {
    pub how: PipelineHow,
    pub frames: Vec<PipelineFrame>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipelineHow {
    /// One write a frame.
    Writes,
    OneWrite,
    /// One JSON array in one frame.
    Batch,
}

#[derive(Debug, Clone)]
pub enum PipelineFrame {
    Call { method: String, params: Option<Template>, answers: Answers, as_name: Option<String> },
    Notify { method: String, params: Option<Template> },
}

#[derive(Debug, Clone)]
pub struct Open {
    pub as_name: Option<String>,
    /// The params of `initialize`, whole, in place of the driver's.
    pub params: Option<Template>,
    pub id: Option<Template>,
    /// Whether `notifications/initialized` follows. True unless the case says otherwise.
    pub initialized: bool,
    /// Whether anything is said at all. True unless the case says otherwise.
    pub handshake: bool,
    /// Whether it is a further client of the case's own server, where that takes several; a fresh server otherwise.
    pub beside: bool,
    /// In place of demanding a result.
    pub answers: Option<Answers>,
    /// On the result of `initialize`.
    pub checks: Vec<Check>,
}

#[derive(Debug, Clone)]
pub enum Pick {
    /// A URI like this one that the server does not know: none of `outside` (URI templates) matches it.
    AbsentLike { uri: Template, outside: Option<Template>, as_name: String },
    /// The first element that passes the checks; none: skipped, with the reason.
    From { list: Template, only: Vec<Check>, otherwise: String, as_name: String },
}

#[derive(Debug, Clone)]
pub enum Kept {
    /// From the last reply.
    Pointer(Pattern),
    Value(Template),
}

/// Which answers are lawful. What is in no list has the row's verdict.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    pub pass: Vec<Answer>,
    pub advice: Vec<Answer>,
    pub note: Vec<Answer>,
    pub fail: Vec<Answer>,
    pub place: Option<Place>,
}

/// The names of one table, shared with fuzzing.
#[derive(Debug, Clone)]
pub enum Answer {
    /// No message at all.
    Silent,
    /// Error -32700; the id null, absent, or the request's own.
    Parse,
    /// Error -32600; the id null, absent, or the request's own.
    Invalid,
    /// Error -32600; the id null or absent.
    InvalidWithoutId,
    /// Error -32602 with the id.
    Params,
    /// Error -32601 with the id.
    Method,
    /// The revision's code for a resource that is not there, with the id.
    NotFound,
    /// Over HTTP error -32020, as headers and body disagree; over stdio there are no headers.
    Mismatch,
    /// A result with the id, which passes the checks.
    Result(Vec<Check>),
    /// An error with the id and an integer code.
    AnyError,
    /// An error with the id and this code.
    Code(i64),
    /// A subscription acknowledgement that carries the id.
    Acknowledged,
}
