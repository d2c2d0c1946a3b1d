//! How is a record written as JSON, and read back? The complete truth, for scripts and for later reports.
//!
//! The members are those of [`Record`], with what scripts would otherwise work out for themselves: the exit
//! code, counts, full names and the text of each finding. The schema is `docs/record.schema.json`.

use super::{diagnostic, plain};
use crate::record::{CaseRecord, Direction, Excerpt, FORMAT, Outcome, Record, Suite, Target, Transport};
use crate::revision::Revision;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::io;

/// A file that is no record.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("this is no record of mcp-litmus: {0}")]
    NotARecord(serde_json::Error),
    #[error("the record's format is `{found}`; this version reads `{FORMAT}`")]
    Format { found: String },
}

/// Writes the record as indented JSON with a line feed at its end. Characters that could act on a terminal
/// are written as escapes, so that the text may go to standard output.
pub fn write(record: &Record, out: &mut impl io::Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Careful::default());
    Document::of(record).serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// Reads what [`write`] wrote. Members that it does not know are passed over.
pub fn read(text: &[u8]) -> Result<Record, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let head: Head = serde_json::from_slice(text).map_err(ReadError::NotARecord)?;
    if head.format != FORMAT {
        return Err(ReadError::Format { found: plain::shorten(&head.format, 60) });
    }
    serde_json::from_slice(text).map_err(ReadError::NotARecord)
}

/// The JSON Schema (draft 2020-12) of what [`write`] writes.
pub fn schema() -> Schema {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Document>()
}

/// The complete record of one run of mcp-litmus.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "mcp-litmus record")]
struct Document<'a> {
    /// `mcp-litmus/1`. Members may be added within a format; none is taken away or changed.
    format: &'static str,
    /// 0: nothing failed; 1: at least one failure; 3: no verdict.
    exit_code: u8,
    counts: Counts,
    suite: &'a Suite,
    target: &'a Target,
    /// Why the run ended before its plan did: an interrupt or a deadline.
    cut_short: &'a Option<String>,
    /// Seconds since 1970-01-01T00:00:00Z at the start.
    started: u64,
    milliseconds: u64,
    /// Decimal digits in a string, since not every reader keeps 64 bits of a number.
    seed: String,
    /// Whether advice counts as failure (`--level should`).
    advice_fails: bool,
    /// Whether unproven counts as failure (`--require-proof`).
    require_proof: bool,
    /// Every case that was planned, in the order of the plan.
    cases: Vec<CaseDocument<'a>>,
}

/// How many cases had which outcome; these seven add up to all cases.
#[derive(Serialize, JsonSchema)]
struct Counts {
    pass: usize,
    fail: usize,
    advice: usize,
    note: usize,
    skip: usize,
    unproven: usize,
    broken: usize,
    /// Cases that make the run red.
    failing: usize,
    /// Cases that would, were they not in the list of known failures.
    known: usize,
}

/// One case at one revision over one transport.
#[derive(Serialize, JsonSchema)]
struct CaseDocument<'a> {
    /// `read/unknown-uri@2026-07-28+stdio`.
    full_name: String,
    /// Whether this case makes the run red.
    failing: bool,
    #[serde(flatten)]
    case: &'a CaseRecord,
    /// Each finding as the text that the console shows, in the order of `findings`.
    diagnostics: Vec<String>,
}

impl<'a> Document<'a> {
    fn of(record: &'a Record) -> Self {
        let case_document = |case: &'a CaseRecord| CaseDocument {
            full_name: case.full_name(),
            failing: record.fails(case),
            case,
            diagnostics: match case.findings.is_empty() {
                true => Vec::new(),
                false => diagnostic::render_all(&record.target, case, &diagnostic::Look::default()),
            },
        };
        Self {
            format: FORMAT,
            exit_code: record.exit_code(),
            counts: Counts::of(record),
            suite: &record.suite,
            target: &record.target,
            cut_short: &record.cut_short,
            started: record.started,
            milliseconds: record.milliseconds,
            seed: record.seed.to_string(),
            advice_fails: record.advice_fails,
            require_proof: record.require_proof,
            cases: record.cases.iter().map(case_document).collect(),
        }
    }
}

impl Counts {
    fn of(record: &Record) -> Self {
        Self {
            pass: record.count(Outcome::Pass),
            fail: record.count(Outcome::Fail),
            advice: record.count(Outcome::Advice),
            note: record.count(Outcome::Note),
            skip: record.count(Outcome::Skip),
            unproven: record.count(Outcome::Unproven),
            broken: record.count(Outcome::Broken),
            failing: record.cases.iter().filter(|case| record.fails(case)).count(),
            known: record.cases.iter().filter(|case| record.excuses(case)).count(),
        }
    }
}

/// A frame in a finding, or its head and tail. Exactly one of `text` and `base64` is there.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    direction: Direction,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// How many bytes were cut out of the middle of these: 0 for none.
    cut: usize,
}

impl From<Excerpt> for Frame {
    fn from(excerpt: Excerpt) -> Self {
        let (text, base64) = match String::from_utf8(excerpt.bytes) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(STANDARD.encode(error.as_bytes()))),
        };
        Self { direction: excerpt.direction, text, base64, cut: excerpt.cut }
    }
}

impl TryFrom<Frame> for Excerpt {
    type Error = &'static str;

    fn try_from(frame: Frame) -> Result<Self, Self::Error> {
        let bytes = match (frame.text, frame.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => STANDARD.decode(base64).map_err(|_| "`base64` is not base64")?,
            _ => return Err("a frame has exactly one of `text` and `base64`"),
        };
        Ok(Self { direction: frame.direction, bytes, cut: frame.cut })
    }
}

/// What the server calls itself.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Server {
    name: String,
    version: String,
}

/// A pair of name and version as an object.
pub(crate) mod server {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Server};

    pub fn serialize<S: Serializer>(pair: &Option<(String, String)>, to: S) -> Result<S::Ok, S::Error> {
        let server =
            |(name, version): &(String, String)| Server { name: name.clone(), version: version.clone() };
        pair.as_ref().map(server).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<(String, String)>, D::Error> {
        Ok(Option::<Server>::deserialize(from)?.map(|server| (server.name, server.version)))
    }
}

/// A number as decimal digits in a string.
pub(crate) mod decimal {
    use super::{Cow, Deserialize, Deserializer};
    use serde::de::Error;

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Cow::<str>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Types that are one of a few words: written by `as_str`, read by comparing with it.
macro_rules! words {
    ($($type:ident),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = Cow::<str>::deserialize(from)?;
                Self::ALL.into_iter().find(|value| value.as_str() == word).ok_or_else(|| {
                    serde::de::Error::custom(format_args!(
                        "`{}` is none of {}",
                        plain::shorten(&word, 60),
                        Self::ALL.map(Self::as_str).join(", ")
                    ))
                })
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
            }
        }
    )*};
}

words!(Outcome, Transport, Direction, Revision);

/// serde_json's indentation, and escapes for what [`plain`] calls harmful.
#[derive(Default)]
struct Careful {
    pretty: serde_json::ser::PrettyFormatter<'static>,
}

impl serde_json::ser::Formatter for Careful {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in text.char_indices() {
            let acts = plain::is_harmful(character) || plain::starts_command(&text[at..]);
            if acts {
                out.write_all(&text.as_bytes()[written..at])?;
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
                written = at + character.len_utf8();
            }
        }
        out.write_all(&text.as_bytes()[written..])
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.begin_array(out)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.end_array(out)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(out)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.begin_object(out)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.end_object(out)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(out)
    }
}
