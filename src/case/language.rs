//! Which words does the case language have? One table of keys, verbs, predicates and names.
//!
//! The reader checks keys against it, the JSON Schema is made from it, and "did you mean" draws on it, so that a
//! word is written down once.

use super::model::{Capability, Type};

/// A key of a map: its name, what its value looks like, whether it must be there.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub shape: Shape,
    pub required: bool,
    pub doc: &'static str,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    Text,
    /// A whole number, not negative.
    Whole,
    Flag,
    /// `true`, and nothing else.
    True,
    /// Any value; references in its texts are resolved.
    Template,
    /// Text with `${...}` in it.
    TextTemplate,
    /// A JSON Pointer in which `*` and `**` may stand.
    Pointer,
    /// `500ms`, `2s`, `1m`
    Duration,
    Regex,
    /// A map of names to values.
    Bag,
    /// One text or a list of them.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a list of them.
    Words(&'static [&'static str]),
    Map(&'static [Key]),
    /// A map with exactly one of the keys.
    OneOf(&'static [Key]),
    List(&'static Shape),
    Any(&'static [Shape]),
    /// An amount, or `{at_least, at_most}`.
    Range,
    /// A whole number, or a reference to one.
    Amount,
    /// `[low, high]`; `null` for an open end.
    Ends,
    Revisions,
    /// One text, or a map of revisions to texts.
    Source,
    Checks,
    Step,
    Steps,
    Answers,
}

const fn must(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, required: true, doc }
}

const fn may(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, required: false, doc }
}

use Shape::{
    Amount, Answers, Any, Bag, Checks, Duration, Ends, Flag, List, Map, OneOf, Pointer, Range, Regex,
    Revisions, Source, Step, Steps, Template, Text, TextTemplate, Texts, True, Whole, Word, Words,
};

pub const TRANSPORTS: &[&str] = &["stdio", "http", "http+sse"];
pub const SESSIONS: &[&str] = &["calm", "lively", "rough", "own"];
pub const VERDICTS: &[&str] = &["fail", "advice", "note"];

/// Of a case file.
pub const CASE: &[Key] = &[
    must("summary", Text, "What is so when the case passes: present tense, at most 80 characters"),
    must("proves", Text, "The requirement, as `area.slug`"),
    may("covers", Texts, "Further requirements that a workflow touches"),
    may("faults", Texts, "Faults of the reference server that must make the case fail"),
    may("unfalsified", Text, "Why no fault can make it fail, in place of `faults`"),
    may("transports", Words(TRANSPORTS), "Narrows the requirement's"),
    may("revisions", Revisions, "Narrows the requirement's"),
    may("session", Word(SESSIONS), "In place of the kind that its verbs imply"),
    may("given", Steps, "Steps whose failure reads unproven"),
    may("steps", Steps, "Steps whose failure is the requirement's"),
    may("always", Map(STANDING), "In place of steps: a rule on every message of a kind"),
];

/// Of `always`.
pub const STANDING: &[Key] = &[
    must("on", OneOf(SUBJECTS), "What is looked at"),
    may("only", Checks, "Only what passes these is judged"),
    must("checks", Checks, "The demands"),
];

pub const SUBJECTS: &[Key] = &[
    may("frame", Word(&["stdout"]), "Each line of the server's output, parsed or not"),
    may("message", Word(&["any"]), "Each message of the server, whole"),
    may("result_of", Text, "The result that answers a request of this method, or `any`"),
    may("error_of", Text, "The error that answers a request of this method, or `any`"),
    may("notification", Text, "The params of a notification of the server, or `any`"),
    may("request", Text, "The params of a request of the server, or `any`"),
    may("exchange", Text, "Each request of ours with its answers, by method, or `any`"),
    may("http", Word(&["any"]), "Each exchange over HTTP: request, status, headers, messages and events"),
    may("session", Word(&["end"]), "Each conversation as a whole"),
];

/// The key beside the verb.
pub const ON: Key = may("on", Text, "The session to speak on, named by `open`");

pub const VERBS: &[Key] = &[
    may("call", Map(CALL), "A request and its reply"),
    may("notify", Map(NOTIFY), "A notification"),
    may("send", Map(SEND), "Exact bytes as one frame"),
    may("hear", Map(HEAR), "Waits for a message"),
    may("quiet", Map(QUIET), "Nothing of that kind arrives"),
    may("pages", Map(PAGES), "Follows `nextCursor` to the end"),
    may("each", Map(EACH), "Runs steps for every element"),
    may("keep", Bag, "Names values: a pointer into the last reply, or any value"),
    may("follow", Map(FOLLOW), "Asks to be told of changes, the revision's own way"),
    may("unfollow", Map(UNFOLLOW), "Asks to be told no longer"),
    may("listen", Map(LISTEN), "`subscriptions/listen` up to its acknowledgement"),
    may(
        "stimulate",
        Any(&[Word(&["add", "remove"]), Map(TOUCH)]),
        "Has a resource changed, added or removed",
    ),
    may("begin", Map(BEGIN), "A request that is left pending"),
    may("await", Map(AWAIT), "Waits for the answer to a pending request"),
    may("cancel", Map(CANCEL), "Cancels a pending request"),
    may("settle", Duration, "Waits, and judges nothing"),
    may("pipeline", Map(PIPELINE), "Several frames before any answer is awaited"),
    may("http", Map(HTTP), "An exchange over HTTP, with headers of the case's own"),
    may("expand", Map(EXPAND), "Fills a URI template"),
    may("variables", Map(VARIABLES), "Names the variables of a URI template"),
    may("open", Map(OPEN), "A further session, or the opening itself as the step"),
    may("end_input", True, "Closes the server's input"),
    may("exits", Map(EXITS), "The server's process ends"),
    may("alive", True, "The same server still answers"),
    may("pick", Map(PICK), "Chooses a value"),
    may("control", Step, "A step whose failure reads unproven"),
    may("repeat", Map(REPEAT), "Runs steps several times and counts the failures"),
    may("need", Map(NEED), "Skips the case unless this is so"),
    may("check", Map(CHECK_VERB), "Looks at kept values"),
];

pub const EXPECTATIONS: &[&str] = &["result", "error"];

pub const CALL: &[Key] = &[
    must("method", Text, "The method"),
    may("params", Template, "The params"),
    may("expect", Word(EXPECTATIONS), "`result` unless it says `error`"),
    may("answers", Answers, "In place of `expect`, where several answers are lawful"),
    may("checks", Checks, "On the result or the error object"),
    may("as", Text, "Names the result or the error object"),
    may("id", Template, "In place of a fresh id"),
    may("bare", Flag, "Adds nothing of the driver's own"),
];

pub const NOTIFY: &[Key] = &[
    must("method", Text, "The method"),
    may("params", Template, "The params"),
    may("bare", Flag, "Adds nothing of the driver's own"),
];

pub const SEND: &[Key] = &[
    may("text", TextTemplate, "The frame as text"),
    may("hex", Text, "The frame as bytes in hexadecimal"),
    may("long", Map(LONG), "The frame as a text repeated"),
    may("answers", Answers, "Which answers are lawful"),
    may("chunks", Whole, "Writes it in so many pieces"),
    may("pause", Duration, "Between two pieces"),
    may("deliberate", Flag, "`false` when the frame breaks no rule"),
];

pub const LONG: &[Key] = &[
    may("head", TextTemplate, "What comes first"),
    must("fill", Text, "What is repeated"),
    must("times", Whole, "How often"),
    may("tail", TextTemplate, "What comes last"),
];

pub const REPLIES: &[&str] = &["unaddressed"];

pub const HEAR: &[Key] = &[
    may("method", Text, "A notification of this method"),
    may("reply", Word(REPLIES), "An answer that names no request of ours"),
    may("progress_of", Text, "A progress notification for this pending request"),
    may("anything", True, "Anything at all"),
    may("tagged", Text, "Only what carries the subscription id of this listen"),
    may("only", Checks, "Only messages whose params pass these are meant"),
    may("within", Duration, "How long to wait; the profile's patience otherwise"),
    may("checks", Checks, "On the params"),
    may("as", Text, "Names the params"),
];

pub const QUIET: &[Key] = &[
    may("method", Text, "A notification of this method"),
    may("reply", Word(REPLIES), "An answer that names no request of ours"),
    may("progress_of", Text, "A progress notification for this pending request"),
    may("anything", True, "Anything at all"),
    may("tagged", Text, "Only what carries the subscription id of this listen"),
    may("only", Checks, "Only messages whose params pass these are meant"),
    may("for", Duration, "At least this long; 500ms otherwise"),
    may("unarmed", Text, "Why silence is evidence although nothing of the kind was heard"),
];

pub const PAGES: &[Key] = &[
    must("of", Text, "The list method"),
    must("collect", Pointer, "What to gather from each page's result"),
    must("as", Text, "Names the list of what was gathered"),
    may("pages_as", Text, "Names the list of the pages' results"),
    may("at_most", Whole, "More pages than this: unproven; 100 otherwise"),
    may("checks", Checks, "On each page's result"),
];

pub const EACH: &[Key] = &[
    must("in", Template, "The list"),
    must("as", Text, "Names the element"),
    may("sample", Whole, "At most so many, drawn by the seed"),
    must("steps", Steps, "What to do for each"),
];

pub const FOLLOW: &[Key] =
    &[must("uri", TextTemplate, "The resource"), may("as", Text, "Names the listen request, for `tagged`")];

pub const UNFOLLOW: &[Key] = &[must("uri", TextTemplate, "The resource")];

pub const LISTEN: &[Key] = &[
    must("as", Text, "Names the request, for `tagged` and `cancel`"),
    may("notifications", Template, "The filter, whole"),
    may("id", Template, "In place of a fresh id"),
    may("answers", Answers, "In place of demanding an acknowledgement"),
    may("checks", Checks, "On the params of the acknowledgement"),
];

pub const TOUCH: &[Key] = &[must("touch", TextTemplate, "The URI of the resource to change")];

pub const BEGIN: &[Key] = &[
    must("as", Text, "Names the request"),
    must("method", Text, "The method"),
    may("params", Template, "The params"),
    may("progress", Flag, "Asks for progress"),
    may("id", Template, "In place of a fresh id"),
];

pub const AWAIT: &[Key] = &[
    must("request", Text, "The name of the pending request"),
    may("within", Duration, "How long to wait"),
    may("expect", Word(EXPECTATIONS), "`result` unless it says `error`"),
    may("checks", Checks, "On the result or the error object"),
];

pub const CANCEL: &[Key] = &[must("request", Text, "The name of the pending request")];

pub const HOWS: &[&str] = &["writes", "one_write", "batch"];

pub const PIPELINE: &[Key] = &[
    may("how", Word(HOWS), "One write a frame, one write for all, or one JSON array"),
    must("frames", List(&Map(FRAME)), "The frames, each with `call` or `notify`"),
];

pub const FRAME: &[Key] = &[
    may("call", Text, "A request of this method"),
    may("notify", Text, "A notification of this method"),
    may("params", Template, "The params"),
    may("answers", Answers, "A result unless it says otherwise; for `call`"),
    may("as", Text, "Names the result or the error object; for `call`"),
];

pub const HTTP_METHODS: &[&str] = &["POST", "GET", "DELETE", "PUT", "OPTIONS"];
pub const UNTIL: &[&str] = &["end", "head"];

pub const HTTP: &[Key] = &[
    may("again", Text, "Looks at an exchange of this name as it is by now, and begins none"),
    may("leave", Text, "Closes the connection of the exchange of this name, and begins none"),
    may("method", Word(HTTP_METHODS), "Of HTTP; `POST` unless it says otherwise"),
    may("call", Text, "The body is a request of this method"),
    may("params", Template, "Its params"),
    may("text", TextTemplate, "The body as text"),
    may("headers", Bag, "In place of those that would go out; null leaves one out"),
    may("until", Word(UNTIL), "How much of the response is awaited; `end` unless it says `head`"),
    may("deliberate", Flag, "`false` when nothing about it is wrong on purpose"),
    may("checks", Checks, "On the exchange"),
    may("as", Text, "Names the exchange"),
];

pub const EXPAND: &[Key] = &[
    must("template", TextTemplate, "The URI template"),
    may("with", Bag, "The variables; without them, from the profile, completions or listed URIs"),
    may("only", TextTemplate, "The variable that alone is filled, by its name"),
    must("as", Text, "Names the URI"),
];

pub const VARIABLES: &[Key] =
    &[must("of", TextTemplate, "The URI template"), must("as", Text, "Names the list of their names")];

pub const OPEN: &[Key] = &[
    may("as", Text, "Names a further session; without it, the case's own opening is the step"),
    may("params", Template, "The params of `initialize`, whole"),
    may("id", Template, "In place of a fresh id"),
    may("initialized", Flag, "`false` leaves out `notifications/initialized`"),
    may("beside", Flag, "`true` for a further client of the same server, where it takes several"),
    may("handshake", Flag, "`false` only starts the server, and says nothing to it"),
    may("answers", Answers, "In place of demanding a result"),
    may("checks", Checks, "On the result"),
];

pub const EXITS: &[Key] = &[
    may("within", Duration, "How long to wait; 5s otherwise"),
    may("status", Whole, "The exit status that is demanded"),
];

pub const PICK: &[Key] = &[
    may("absent_like", TextTemplate, "A URI like this one that the server does not know"),
    may("outside", Template, "URI templates of which none matches it"),
    may("from", Template, "A list, of which the first element that fits is taken"),
    may("only", Checks, "What fits"),
    may("otherwise", Text, "Why the case does not apply when nothing fits"),
    must("as", Text, "Names the value"),
];

pub const REPEAT: &[Key] = &[
    must("times", Whole, "How often"),
    must("fail", Whole, "So many failures are a failure"),
    may("advice", Whole, "So many failures are an advice"),
    must("steps", Steps, "What to repeat"),
];

pub const NEED: &[Key] = &[
    must("value", Template, "What is looked at"),
    must("checks", Checks, "What must be so"),
    must("otherwise", Text, "Why the case does not apply when it is not so"),
];

pub const CHECK_VERB: &[Key] = &[
    must("value", Template, "What is looked at"),
    must("checks", Checks, "The demands"),
    may("unless_heard", Text, "When this notification was heard, the comparison proves nothing"),
];

/// Of a check, besides its predicate.
pub const CHECK: &[Key] = &[
    may("of", Template, "In place of the object at hand"),
    may("at", Pointer, "Which part of it; the whole otherwise"),
    may("or", Words(EXCUSES), "What is fine, too, but proves nothing"),
    may("says", Text, "What a breach means, in place of the demand"),
];

pub const EXCUSES: &[&str] = &["absent", "null"];

pub const PREDICATES: &[Key] = &[
    may("equals", Template, "The same value, numbers by value"),
    may("differs", Template, "Another value"),
    may("is", Words(TYPES), "A type or format, or one of several"),
    may("one_of", Template, "One of the list"),
    may("none_of", Template, "None of the list"),
    may("matches", Regex, "A string in which the expression is found"),
    may("count", Range, "How many values the pointer meets"),
    may("length", Range, "Characters, items or members"),
    may("between", Ends, "A number within both ends"),
    may("unique", True, "No value occurs twice"),
    may("one_key_of", Texts, "An object with exactly one of these members"),
    may("has", Texts, "An object with these members"),
    may("lacks", Texts, "An object with none of these members"),
    may("includes", Template, "An array that holds the value"),
    may("excludes", Template, "An array that holds none of the values"),
    may("keys_match", Regex, "An object whose members' names all match"),
    may("same_set", Template, "The values are the same set as the list"),
    may("subset_of", Template, "The values are all in the list"),
    may("disjoint_from", Template, "The values are none in the list"),
    may("bytes", Range, "Raw bytes of a base64 string, or of a content item"),
    may("at_or_below", TextTemplate, "The URI or one below it"),
];

pub const RANGE: &[Key] = &[may("at_least", Amount, "No fewer"), may("at_most", Amount, "No more")];

/// The lists of `answers`.
pub const ANSWER_LISTS: &[Key] = &[
    may("pass", Answers, "Lawful"),
    may("advice", Answers, "What should be better"),
    may("note", Answers, "Worth knowing"),
    may("fail", Answers, "Named for the reader: what is in no list has the requirement's verdict"),
];

/// Besides `error:CODE` and `{result: [checks]}`.
pub const ANSWER_NAMES: &[&str] = &[
    "silent",
    "parse",
    "invalid",
    "invalid-without-id",
    "params",
    "method",
    "not-found",
    "mismatch",
    "result",
    "any-error",
    "ack",
];

/// Of a row in `requirements.yaml`.
pub const REQUIREMENT: &[Key] = &[
    must("id", Text, "`area.slug`"),
    must("verdict", Word(VERDICTS), "What a breach is"),
    must("keyword", Text, "The specification's word; shown, never decisive"),
    must("revisions", Revisions, "Where it applies"),
    may("transports", Words(TRANSPORTS), "Where it applies; everywhere otherwise"),
    may("needs", Words(CAPABILITIES), "Declared capabilities without which it does not apply"),
    may("lacks", Words(CAPABILITIES), "Declared capabilities with which it does not apply"),
    must("source", Source, "Where the specification says so"),
    may("refs", Texts, "Ids of the catalogue"),
    must("statement", Text, "The requirement in our own words"),
    may("matters", Text, "Which client suffers from a breach, and how"),
    may("cause", Text, "The commonest cause of a breach"),
    may("mend", Text, "What to do about it, as a command"),
    may("variant", Text, "A lawful variant of the reference server that must fail nothing"),
    may("untested", Text, "Why nothing proves it"),
];

/// The words that stand for revisions, besides the revisions and `FIRST..LAST`.
pub const REVISION_WORDS: &[&str] = &["all", "stateful", "stateless"];

/// The names of [`TYPE_VALUES`], in the same order.
pub const TYPES: &[&str] = &[
    "absent",
    "present",
    "null",
    "boolean",
    "integer",
    "number",
    "string",
    "array",
    "object",
    "uri",
    "schemed",
    "uri_template",
    "base64",
    "canonical_base64",
    "mime",
    "timestamp",
    "revision",
    "one_line",
];

pub const TYPE_VALUES: &[Type] = &[
    Type::Absent,
    Type::Present,
    Type::Null,
    Type::Boolean,
    Type::Integer,
    Type::Number,
    Type::String,
    Type::Array,
    Type::Object,
    Type::Uri,
    Type::Schemed,
    Type::UriTemplate,
    Type::Base64,
    Type::CanonicalBase64,
    Type::Mime,
    Type::Timestamp,
    Type::Revision,
    Type::OneLine,
];

/// The names of [`CAPABILITY_VALUES`], in the same order.
pub const CAPABILITIES: &[&str] = &[
    "resources",
    "resources.subscribe",
    "resources.listChanged",
    "resources.changes",
    "completions",
    "logging",
    "tools",
];

pub const CAPABILITY_VALUES: &[Capability] = &[
    Capability::Resources,
    Capability::Subscribe,
    Capability::ListChanged,
    Capability::Changes,
    Capability::Completions,
    Capability::Logging,
    Capability::Tools,
];

/// What is known without any step: see `docs/cases.md`.
pub const GIVEN_NAMES: &[&str] = &[
    "nonce",
    "revision",
    "known",
    "capabilities",
    "touchable",
    "absent",
    "asking",
    "input",
    "mistyped-input",
    "slow",
    "failing",
    "embedding",
    "linking",
    "server",
    "id",
    "id2",
    "meta",
    "meta,",
];

/// Known in standing cases only.
pub const STANDING_NAMES: &[&str] = &["facts", "request"];
