use super::*;
use crate::wire::json;
use std::collections::HashSet;

fn reading(text: &str) -> Reading {
    read(text.as_bytes(), &Limits::default())
}

fn request(id: impl Into<Option<Id>>) -> Option<Message> {
    Some(Message::Request { id: id.into(), method: "m".into(), params: None })
}

fn notification() -> Option<Message> {
    Some(Message::Notification { method: "m".into(), params: None })
}

fn result(id: impl Into<Option<Id>>) -> Option<Message> {
    Some(Message::Result { id: id.into(), result: json!({}) })
}

fn error(id: impl Into<Option<Id>>) -> Option<Message> {
    Some(Message::Error { id: id.into(), error: json!({}) })
}

#[test]
fn sound_messages() {
    for (text, message) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, request(Id::from(1))),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, request(Id::from(1))),
        (r#"{"jsonrpc":"2.0","id":"","method":"m","other":null}"#, request(Id::from(""))),
        (r#"{"jsonrpc":"2.0","method":"m"}"#, notification()),
        (r#"{"jsonrpc":"2.0","id":"a","result":{}}"#, result(Id::from("a"))),
        (r#"{"jsonrpc":"2.0","id":7,"error":{}}"#, error(Id::from(7))),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, error(None)),
        (r#"{"jsonrpc":"2.0","error":{}}"#, error(None)),
        (
            r#"{"params":[1],"method":"m","jsonrpc":"2.0"}"#,
            Some(Message::Notification { method: "m".into(), params: Some(json!([1])) }),
        ),
    ] {
        let reading = reading(text);
        assert_eq!((reading.message, reading.defects), (message, Vec::new()), "{text}");
    }
}

/// Every defect: a frame that has it, what it is called, what it says, and what is understood all the same.
#[test]
fn every_defect() {
    let table = [
        ("", "empty", "the text is empty", None),
        ("{", "not-json", "expected a member name in quotes at byte 1, found the end of the text", None),
        ("hello", "not-json", "expected a value at byte 0, found `h`", None),
        (r#"{"jsonrpc":"2.0"} x"#, "trailing-text", "more text follows the value at byte 18", None),
        (
            "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"m\"}",
            "byte-order-mark",
            "a byte order mark stands before the text",
            notification(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"m","id":1}"#,
            "duplicate-member",
            r#"member "id" comes twice in the outermost value"#,
            request(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"x":["\ud800"]}"#,
            "lone-surrogate",
            r#"a lone surrogate escape stands in "/x/0""#,
            result(Id::from(1)),
        ),
        ("5", "not-an-object", "a message is an object, this is 5", None),
        (r#""{}""#, "not-an-object", r#"a message is an object, this is "{}""#, None),
        ("[{},{}]", "batch", "the frame is a batch of 2 elements", None),
        ("[]", "batch", "the frame is a batch of 0 elements", None),
        (r#"{"jsonrpc":"2.0","id":1}"#, "no-kind", "the message has no `method`, `result` or `error`", None),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "several-kinds",
            "the message has `error` and `result` at once",
            error(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
            "several-kinds",
            "the message has `error` and `result` at once",
            result(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#,
            "several-kinds",
            "the message has `result` and `method` at once",
            result(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","result":null,"error":null}"#,
            "several-kinds",
            "the message has `error` and `result` and `method` at once",
            request(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":null,"result":null}"#,
            "several-kinds",
            "the message has `error` and `result` at once",
            Some(Message::Result { id: Some(Id::from(1)), result: Json::Null }),
        ),
        (r#"{"id":1,"method":"m"}"#, "jsonrpc-missing", "the message has no `jsonrpc`", request(Id::from(1))),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
            "jsonrpc-wrong",
            "`jsonrpc` must be \"2.0\", this is 2.0",
            request(Id::from(1)),
        ),
        (
            r#"{"jsonrpc":"1.0","method":"m"}"#,
            "jsonrpc-wrong",
            "`jsonrpc` must be \"2.0\", this is \"1.0\"",
            notification(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#,
            "id-wrong-type",
            "`id` must be a string or a whole number, this is 1.5",
            request(Number::parse("1.5").map(Id::Number)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,
            "id-wrong-type",
            "`id` must be a string or a whole number, this is true",
            request(None),
        ),
        (
            r#"{"jsonrpc":"2.0","id":[1],"error":{}}"#,
            "id-wrong-type",
            "`id` must be a string or a whole number, this is an array",
            error(None),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            "id-wrong-type",
            "`id` must be a string or a whole number, this is null",
            result(None),
        ),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "id-missing", "the result has no `id`", result(None)),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            "id-on-notification",
            "a notification has no `id`, this has null",
            notification(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":{}}"#,
            "method-not-a-string",
            "`method` must be a string, this is an object",
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","method":"m","params":null}"#,
            "params-not-structured",
            "`params` must be an object or an array, this is null",
            Some(Message::Notification { method: "m".into(), params: Some(Json::Null) }),
        ),
    ];
    let mut met = HashSet::new();
    for (text, name, sentence, message) in table {
        let reading = reading(text);
        let found: Vec<_> = reading.defects.iter().map(|d| (d.name(), d.to_string())).collect();
        assert_eq!(found, [(name, sentence.to_owned())], "{text}");
        assert_eq!(reading.message, message, "{text}");
        assert!(reading.has(name) && !reading.has("x"));
        met.insert(name);
    }
    // These have tests of their own below.
    met.extend(["too-long", "too-deep", "too-many-values", "not-utf8"]);
    assert_eq!(met, HashSet::from(Defect::NAMES));
}

#[test]
fn limits_are_defects() {
    let limits = Limits { length: 40, depth: 2, values: 5 };
    let names =
        |text: &str| -> Vec<_> { read(text.as_bytes(), &limits).defects.iter().map(Defect::name).collect() };
    assert_eq!(names(&"x".repeat(41)), ["too-long"]);
    assert_eq!(names("[[[1]]]"), ["too-deep"]);
    assert_eq!(names("[1,1,1,1]"), ["batch"]);
    assert_eq!(names("[1,1,1,1,1]"), ["too-many-values"]);
}

#[test]
fn bytes_that_are_not_utf8_do_not_hide_the_message() {
    let frame = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"t\":\"\xff\xff\"}}";
    let reading = read(frame, &Limits { length: frame.len(), ..Limits::default() });
    assert_eq!(reading.defects, [Defect::Unreadable(JsonDefect::NotUtf8 { offset: 39 })]);
    assert_eq!(reading.message.as_ref().and_then(Message::id), Some(&Id::from(1)));
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let with_mark = [&[0xfe, 0xff], utf16.as_slice()].concat();
    let reading = read(&with_mark, &Limits::default());
    assert_eq!(reading.defects, [Defect::Unreadable(JsonDefect::NotUtf8 { offset: 0 })]);
    assert_eq!(reading.json, None);
}

#[test]
fn several_defects_are_all_reported() {
    let names: Vec<_> =
        reading(r#"{"id":{},"method":5,"params":"x","id":{}}"#).defects.iter().map(Defect::name).collect();
    let wanted = [
        "duplicate-member",
        "jsonrpc-missing",
        "params-not-structured",
        "id-wrong-type",
        "method-not-a-string",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_batch_is_read_element_by_element() {
    let text =
        r#"[{"jsonrpc":"2.0","id":1,"result":{}}, 5, {"jsonrpc":"2.0","method":"m","x":"\ud800","x":0}, []]"#;
    let readings = read_batch(text.as_bytes(), &Limits::default());
    let names: Vec<Vec<_>> =
        readings.iter().map(|reading| reading.defects.iter().map(Defect::name).collect()).collect();
    assert_eq!(
        names,
        [vec![], vec!["not-an-object"], vec!["lone-surrogate", "duplicate-member"], vec!["batch"]]
    );
    assert_eq!(readings[0].message, result(Id::from(1)));
    let lone = Blemish::LoneSurrogate { pointer: "/x".into() };
    assert_eq!(readings[2].defects[0], Defect::Blemish(lone));
    assert_eq!(read_batch(b"{}", &Limits::default()), []);
}

#[test]
fn blemishes_of_the_tenth_element_are_not_the_first_ones() {
    let text = format!("[{}\"\\ud800\"]", "1,".repeat(10));
    let readings = read_batch(text.as_bytes(), &Limits::default());
    let marked: Vec<_> = readings.iter().map(|reading| reading.has("lone-surrogate")).collect();
    assert_eq!(marked.iter().position(|marked| *marked), Some(10));
}

#[test]
fn ids_are_equal_by_type_and_value() {
    let id = |text: &str| Id::Number(Number::parse(text).unwrap());
    assert_eq!(id("1"), id("1.0"));
    assert_ne!(id("1"), Id::from("1"));
    assert_ne!(id("9007199254740992"), id("9007199254740993"));
    let seen = HashSet::from([id("10"), Id::from("10")]);
    assert!(seen.contains(&id("1e1")) && !seen.contains(&id("11")));
    assert_eq!(id("1e1").to_string(), "1e1");
    assert_eq!(Id::from("a\"").to_string(), r#""a\"""#);
}

#[test]
fn messages_are_written_as_they_are_read() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}"#,
        r#"{"jsonrpc":"2.0","method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":"x","result":null}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-1}}"#,
    ] {
        assert_eq!(reading(text).message.map(|message| message.to_json().to_string()).as_deref(), Some(text));
    }
}

#[test]
fn defects_quote_little() {
    let text = format!(r#"{{"jsonrpc":"{}","method":"m"}}"#, "v".repeat(9999));
    assert!(reading(&text).defects[0].to_string().len() < 400);
}
