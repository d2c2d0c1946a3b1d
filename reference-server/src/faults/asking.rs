//! Faults of reads that ask the client for something first, and of the capabilities that this takes.

use serde_json::{Value, json};

use crate::asking::{INPUT_REQUIRED, URI, state_of};
use crate::catalogue::README;
use crate::edge::{Act, Exchange, Hook::*, Memory, Row, row};
use crate::edit::*;
use crate::message::code::MISSING_CAPABILITY;
use crate::opening::CLIENT_CAPABILITIES;

pub(super) const TABLE: &[Row] = &[
    row(
        "input-requests-undeclared",
        "A read asks for input that the client cannot give",
        &[Result(READ, |x, r| {
            let able = x.param("_meta")[CLIENT_CAPABILITIES].get("elicitation").is_some();
            if x.stateless() && *x.param("uri") == README && !able {
                let ask = json!({ "method": "elicitation/create", "params": { "message": "Who?" } });
                *r = json!({ "resultType": INPUT_REQUIRED, "inputRequests": { "name": ask } });
            }
        })],
    ),
    row(
        "input-required-empty",
        "A read asks for input without saying which",
        &[Result(READ, |_, r| {
            if asks_back(r) {
                unset(r, "inputRequests");
                unset(r, "requestState");
            }
        })],
    ),
    row(
        "input-required-cached",
        "A read that asks for input says how long to keep it",
        &[Result(READ, |_, r| {
            if asks_back(r) {
                set(r, "ttlMs", json!(0));
                set(r, "cacheScope", json!("private"));
            }
        })],
    ),
    row(
        "input-request-malformed",
        "A read asks for input by a method that cannot be asked",
        &[Result(READ, |_, r| at(r, "/inputRequests/name", |ask| *ask = json!({ "method": "ping" })))],
    ),
    row(
        "input-request-params-array",
        "A read asks for input with parameters in an array",
        &[Result(READ, |_, r| at(r, "/inputRequests/name/params", |params| *params = json!([])))],
    ),
    row(
        "request-state-number",
        "The state that a read hands out is a number",
        &[Result(READ, |_, r| at(r, "/requestState", |state| *state = json!(7)))],
    ),
    row(
        "request-state-kills",
        "A state that the server never handed out ends it",
        &[In(|_, message| {
            let state = message["params"].get("requestState");
            die_if(asks(message, READ) && state.is_some_and(|state| *state != json!(state_of(URI))))
        })],
    ),
    row(
        "request-state-unchecked",
        "A state that was tampered with is taken for the server's own",
        &[In(|_, message| {
            if asks(message, READ) && uri(message) == URI {
                at(message, "/params/requestState", |state| *state = json!(state_of(URI)));
            }
            Act::Pass
        })],
    ),
    row(
        "request-state-of-process",
        "A state is known to that process only which handed it out",
        &[
            In(|memory, message| {
                let state = message["params"].get("requestState").is_some();
                refuse_if(state && asks(message, READ) && !memory.flag, memory, message, -32602)
            }),
            Reply(note_asking),
        ],
    ),
    row(
        "unknown-input-refused",
        "A read with an answer to what was not asked is refused",
        &[In(|memory, message| {
            let answers = message["params"]["inputResponses"].as_object();
            let unknown = answers.is_some_and(|answers| answers.keys().any(|key| key != "name"));
            refuse_if(unknown && asks(message, READ), memory, message, -32602)
        })],
    ),
    row(
        "missing-input-refused",
        "A read without the answer that was asked for is refused",
        &[In(|memory, message| {
            let none = message["params"]["inputResponses"] == json!({});
            refuse_if(none && asks(message, READ), memory, message, -32602)
        })],
    ),
    row(
        "malformed-input-served",
        "A read whose answers are no object is served",
        &[In(|memory, message| {
            let malformed =
                message["params"].get("inputResponses").is_some_and(|answers| !answers.is_object());
            let contents = json!([{ "uri": URI, "text": "Hello, whoever you are!" }]);
            serve_if(malformed && asks(message, READ), memory, message, json!({ "contents": contents }))
        })],
    ),
    row(
        "mistyped-input-served",
        "A read is served though an answer is a text in place of an object",
        &[In(|memory, message| {
            let answers = message["params"]["inputResponses"].as_object();
            let mistyped = answers.is_some_and(|answers| answers.values().any(Value::is_string));
            let contents = json!([{ "uri": URI, "text": "Hello, whoever you are!" }]);
            serve_if(mistyped && asks(message, READ), memory, message, json!({ "contents": contents }))
        })],
    ),
    row(
        "abandoned-input-blocks",
        "Once a read has asked for input, it is not answered without it",
        &[
            In(|memory, message| {
                let answered = message["params"].get("inputResponses").is_some();
                drop_if(memory.flag && asks(message, READ) && uri(message) == URI && !answered)
            }),
            Reply(note_asking),
        ],
    ),
    row(
        "capability-taken-for-granted",
        "A read asks for input though the client has not said that it can give any",
        &[In(|_, message| {
            declare(message);
            Act::Pass
        })],
    ),
    row(
        "capability-remembered",
        "What a client can do counts for its later requests, too",
        &[In(|memory, message| {
            if message
                .pointer("/params/_meta")
                .is_some_and(|meta| meta[CLIENT_CAPABILITIES]["elicitation"].is_object())
            {
                memory.flag = true;
            } else if memory.flag {
                declare(message);
            }
            Act::Pass
        })],
    ),
    row(
        "capability-missing-wrong-code",
        "The lack of a capability is told by the code for bad parameters",
        &[Error("*", |_, error| {
            at(error, "/code", |code| {
                if *code == MISSING_CAPABILITY {
                    *code = json!(-32602);
                }
            })
        })],
    ),
    row(
        "capability-missing-unnamed",
        "The lack of a capability is told without its name",
        &[Error("*", |_, error| {
            if error["code"] == MISSING_CAPABILITY {
                unset(error, "data");
            }
        })],
    ),
];

fn asks_back(result: &Value) -> bool {
    result["resultType"] == INPUT_REQUIRED
}

/// Remembers that some read has asked for input.
fn note_asking(memory: &mut Memory, _: &Exchange, reply: Value) -> Vec<Value> {
    memory.flag |= asks_back(&reply["result"]);
    vec![reply]
}

/// Lets a read say that the client can be asked.
fn declare(message: &mut Value) {
    if asks(message, READ) && uri(message) == URI {
        at(message, "/params/_meta", |meta| set(meta, CLIENT_CAPABILITIES, json!({ "elicitation": {} })));
    }
}
