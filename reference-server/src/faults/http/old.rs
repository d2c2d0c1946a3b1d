//! Faults of the transport of 2024-11-05: a stream, and a place to post to.

use axum::http::StatusCode;

use super::answer_if;
use super::streams::message;
use crate::edge::{Hook::*, Row, http_row};
use crate::http::{Departure, Event as Sent, Passage};

pub(in crate::faults) const TABLE: &[Row] = &[
    http_row(
        "old-messages-nowhere",
        "There is nothing where the old transport says to post",
        &[Arrive(|_, arrival| answer_if(arrival.path == "/messages", StatusCode::NOT_FOUND))],
    ),
    http_row(
        "old-messages-not-allowed",
        "The place of the old transport takes no POST",
        &[Arrive(|_, arrival| answer_if(arrival.path == "/messages", StatusCode::METHOD_NOT_ALLOWED))],
    ),
    http_row(
        "old-endpoint-not-first",
        "The stream of the old transport says something else first",
        &[Event(|_, passage, event| {
            let greeting = Sent { name: Some("welcome"), data: Some(b"hello".to_vec()), ..Sent::default() };
            if announces(passage, &event) { vec![greeting, event] } else { vec![event] }
        })],
    ),
    http_row(
        "old-reply-in-body",
        "In the old transport, a reply is the body of the response to its POST",
        &[
            Event(|memory, passage, event| {
                if passage.old && passage.reply {
                    memory.held.extend(message(&event));
                    return Vec::new();
                }
                vec![event]
            }),
            Depart(|memory, arrival, departure| {
                let reply = memory.held.pop().filter(|_| arrival.path == "/messages");
                if let Some(reply) = reply {
                    *departure = Departure::json(StatusCode::OK, reply.to_string().into_bytes());
                }
            }),
        ],
    ),
    http_row(
        "old-message-no-json",
        "In the old transport, the data of an event are no JSON",
        &[Event(|_, passage, mut event| {
            if let Some(data) = event.data.as_mut().filter(|_| carries(passage)) {
                data.push(b'}');
            }
            vec![event]
        })],
    ),
];

fn announces(passage: &Passage, event: &Sent) -> bool {
    passage.old && event.name == Some("endpoint")
}

fn carries(passage: &Passage) -> bool {
    passage.old && (passage.reply || passage.method.is_some())
}
