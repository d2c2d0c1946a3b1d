use super::*;

fn refusal(text: &[u8]) -> JsonDefect {
    parse(text, &Limits::default()).map(|parsed| parsed.json).unwrap_err()
}

fn syntax(offset: usize, expected: &'static str, found: impl Into<Option<char>>) -> JsonDefect {
    JsonDefect::Syntax { offset, expected, found: found.into() }
}

fn blemishes(text: &str) -> Vec<Blemish> {
    parse(text.as_bytes(), &Limits::default()).unwrap().blemishes
}

#[test]
fn accepted_texts() {
    for (text, printed) in [
        ("null", "null"),
        (" \t\r\n true \t\r\n ", "true"),
        ("false", "false"),
        ("0", "0"),
        ("-0", "-0"),
        ("-0.00e+00", "-0.00e+00"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1E400", "1E400"),
        ("1e-99999999999999999999", "1e-99999999999999999999"),
        (r#""""#, r#""""#),
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\u0008\u000c\n\r\t""#),
        (r#""\u0041\u00e9\u20AC""#, r#""Aé€""#),
        (r#""\ud83d\ude00\uD83D\uDE00""#, r#""😀😀""#),
        (r#""\u0000""#, r#""\u0000""#),
        ("\"\u{7f}\u{2028}\"", r#""\u007f\u2028""#),
        (r#""\ud800""#, r#""\ud800""#),
        (r#""\udc00\ud800""#, r#""\udc00\ud800""#),
        (r#""\ud800\ud83d\ude00""#, r#""\ud800😀""#),
        (r#""a\ud800é\n😀\ud800""#, r#""a\ud800é\n😀\ud800""#),
        (r#""\ud800\u0041""#, r#""\ud800A""#),
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        ("[[],[[]],{}]", "[[],[[]],{}]"),
        (" [ 1 , 2 ] ", "[1,2]"),
        (r#"{ "b" : 1 , "a" : { "" : [ ] } }"#, r#"{"b":1,"a":{"":[]}}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
    ] {
        let parsed = parse(text.as_bytes(), &Limits::default());
        assert_eq!(parsed.map(|parsed| parsed.json.to_string()), Ok(printed.to_owned()), "{text}");
    }
}

#[test]
fn refused_texts() {
    for (text, reason) in [
        ("", JsonDefect::Empty),
        (" \n", JsonDefect::Empty),
        ("nul", syntax(3, "`null`", None)),
        ("True", syntax(0, "a value", 'T')),
        ("trux", syntax(3, "`true`", 'x')),
        ("NaN", syntax(0, "a value", 'N')),
        ("Infinity", syntax(0, "a value", 'I')),
        ("-Infinity", syntax(1, "a digit", 'I')),
        ("+1", syntax(0, "a value", '+')),
        (".5", syntax(0, "a value", '.')),
        ("1.", syntax(2, "a digit", None)),
        ("1e", syntax(2, "a digit", None)),
        ("[1.e3]", syntax(3, "a digit", 'e')),
        ("01", JsonDefect::Trailing { offset: 1 }),
        ("0x10", JsonDefect::Trailing { offset: 1 }),
        ("'a'", syntax(0, "a value", '\'')),
        ("// no\n1", syntax(0, "a value", '/')),
        ("\u{a0}1", syntax(0, "a value", '\u{a0}')),
        ("\u{b}1", syntax(0, "a value", '\u{b}')),
        ("1 2", JsonDefect::Trailing { offset: 2 }),
        ("{}{}", JsonDefect::Trailing { offset: 2 }),
        ("[]]", JsonDefect::Trailing { offset: 2 }),
        ("1\0", JsonDefect::Trailing { offset: 1 }),
        ("1\u{feff}", JsonDefect::Trailing { offset: 1 }),
        ("[1,]", syntax(3, "a value", ']')),
        ("[,1]", syntax(1, "a value", ',')),
        ("[1 2]", syntax(3, "`,` or `]`", '2')),
        ("[1", syntax(2, "`,` or `]`", None)),
        ("[", syntax(1, "a value", None)),
        ("[}", syntax(1, "a value", '}')),
        ("[1}", syntax(2, "`,` or `]`", '}')),
        ("]", syntax(0, "a value", ']')),
        ("{", syntax(1, "a member name in quotes", None)),
        ("{,}", syntax(1, "a member name in quotes", ',')),
        ("{a:1}", syntax(1, "a member name in quotes", 'a')),
        ("{1:1}", syntax(1, "a member name in quotes", '1')),
        (r#"{"a"}"#, syntax(4, "`:`", '}')),
        (r#"{"a":}"#, syntax(5, "a value", '}')),
        (r#"{"a":1,}"#, syntax(7, "a member name in quotes", '}')),
        (r#"{"a":1]"#, syntax(6, "`,` or `}`", ']')),
        (r#"{"a":1 "b":2}"#, syntax(7, "`,` or `}`", '"')),
        (r#""abc"#, syntax(4, "the `\"` that ends a string", None)),
        (r#""abc\"#, syntax(5, "an escape character", None)),
        (r#""\x41""#, syntax(2, "an escape character", 'x')),
        (r#""\'""#, syntax(2, "an escape character", '\'')),
        (r#""\U0041""#, syntax(2, "an escape character", 'U')),
        (r#""\u004""#, syntax(6, "four hexadecimal digits", '"')),
        (r#""\u00é""#, syntax(5, "four hexadecimal digits", 'é')),
        (r#""\u+041""#, syntax(3, "four hexadecimal digits", '+')),
        (r#""\ud800\u00""#, syntax(11, "four hexadecimal digits", '"')),
        (r#""\ud800\u"#, syntax(9, "four hexadecimal digits", None)),
        ("\"a\nb\"", syntax(2, "no bare control character in a string", '\n')),
        ("\"\u{1f}\"", syntax(1, "no bare control character in a string", '\u{1f}')),
        ("\u{feff}", JsonDefect::Empty),
        ("\u{feff}\u{feff}1", syntax(3, "a value", '\u{feff}')),
    ] {
        assert_eq!(refusal(text.as_bytes()), reason, "{text}");
    }
    assert_eq!(refusal(b"\"a\xff\""), JsonDefect::NotUtf8 { offset: 2 });
    assert_eq!(refusal(b"\"\xed\xa0\x80\""), JsonDefect::NotUtf8 { offset: 1 });
    assert_eq!(refusal(b"\"\xc0\xaf\""), JsonDefect::NotUtf8 { offset: 1 });
    assert_eq!(refusal(b"\xff\xfe[\0]\0"), JsonDefect::NotUtf8 { offset: 0 });
}

#[test]
fn refusals_read_well() {
    let texts = ["[1,", "{\u{1b}", "1 2", ""].map(|text| refusal(text.as_bytes()).to_string());
    assert_eq!(
        texts,
        [
            "expected a value at byte 3, found the end of the text",
            "expected a member name in quotes at byte 1, found `\\u{1b}`",
            "more text follows the value at byte 2",
            "the text is empty",
        ]
    );
}

#[test]
fn limits_hold_exactly() {
    let limits = Limits { length: 8, depth: 3, values: 4 };
    assert!(parse(b"[[{}]]  ", &limits).is_ok());
    assert_eq!(parse(b"[[{}]]   ", &limits), Err(JsonDefect::TooLong { length: 9, limit: 8 }));
    assert_eq!(parse(b"[[[[]]]]", &limits), Err(JsonDefect::TooDeep { offset: 3, limit: 3 }));
    assert!(parse(b"[[],1,2]", &limits).is_ok());
    assert_eq!(parse(b"[1,2,3,4", &limits), Err(JsonDefect::TooMany { offset: 7, limit: 4 }));
    assert!(parse(b"1", &Limits { depth: 0, ..limits }).is_ok());
}

#[test]
fn the_deepest_value_is_safe_on_a_small_stack() {
    let walk_all = || {
        let limits = Limits { depth: usize::MAX, ..Limits::default() };
        let text = "[{\"a\":".repeat(Limits::DEEPEST / 2) + "1" + &"}]".repeat(Limits::DEEPEST / 2);
        let json = parse(text.as_bytes(), &limits).unwrap().json;
        assert_eq!(json.to_string(), text);
        assert_eq!(format!("{json:?}"), text);
        assert_eq!(json.clone(), json);
        assert!(json.same(&json.clone()));
        assert!(Json::from(json.to_serde()).same(&json));
        let deeper = format!("[{text}]");
        assert!(matches!(parse(deeper.as_bytes(), &limits), Err(JsonDefect::TooDeep { .. })));
        let endless = "[".repeat(1 << 20);
        assert!(matches!(
            parse(endless.as_bytes(), &limits),
            Err(JsonDefect::TooDeep { offset: Limits::DEEPEST, .. })
        ));
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(walk_all).unwrap().join().unwrap();
}

#[test]
fn blemishes_say_where() {
    let duplicate =
        |object: &str, name: &str| Blemish::DuplicateMember { object: object.into(), name: name.into() };
    let lone = |pointer: &str| Blemish::LoneSurrogate { pointer: pointer.into() };
    assert_eq!(blemishes("\u{feff} {}"), [Blemish::Bom]);
    assert_eq!(blemishes(r#"{"a":1,"b":2,"\u0061":3,"a":4}"#), [duplicate("", "a"), duplicate("", "a")]);
    assert_eq!(blemishes(r#"[0,{"x/y":{"k":1,"k":1}}]"#), [duplicate("/1/x~1y", "k")]);
    assert_eq!(blemishes(r#"[[{"a":1},{"a":2}],{"a":{"a":1}}]"#), []);
    assert_eq!(blemishes(r#""\ud800""#), [lone("")]);
    assert_eq!(blemishes(r#"{"m":["ok","\ude00\ud83d"]}"#), [lone("/m/1")]);
    assert_eq!(blemishes(r#"{"o":{"\ud800":1}}"#), [lone("/o/\u{fffd}")]);
    assert_eq!(blemishes(r#"{"o":{"a":1,"\ud800":1}}"#), [lone("/o/\u{fffd}")]);
}

#[test]
fn blemishes_stay_small() {
    let name = "n".repeat(1 << 20);
    let text = format!("{{\"{name}\":[{}1]}}", r#""\ud800","#.repeat(1000));
    let found = blemishes(&text);
    assert_eq!(found.len(), BLEMISHES_KEPT);
    assert!(found.iter().all(|blemish| blemish.to_string().len() < 2 * NAME_KEPT));
}
