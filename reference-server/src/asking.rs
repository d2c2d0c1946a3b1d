//! What does a read answer that needs to know something of the user first? In the revisions without sessions it asks
//! back, and the client reads again with the answer; sessions have no such resource.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value, json};

use crate::message::{Refusal, Request, code};
use crate::opening::Context;

/// A greeting by name. Not listed, since it is of no use to a client that cannot be asked.
pub(crate) const URI: &str = "litmus://text/personal";
/// The kind of result that asks the client for something.
pub(crate) const INPUT_REQUIRED: &str = "input_required";
/// Under which the client answers.
const NAME: &str = "name";

pub(crate) fn read(context: &Context, request: &Request) -> Result<Value, Refusal> {
    if !elicits(&context.capabilities) {
        let needed = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
        let refusal = Refusal::new(code::MISSING_CAPABILITY, "The name of the user has to be asked for");
        return Err(refusal.with(needed));
    }
    match request.param("requestState") {
        None => return Ok(ask()),
        Some(state) if *state == json!(state_of(URI)) => {}
        Some(_) => return Err(Refusal::params("requestState is none of this server's")),
    }
    let answers = match request.param("inputResponses") {
        None => return Ok(ask()),
        Some(answers) => {
            answers.as_object().ok_or_else(|| Refusal::params("inputResponses must be an object"))?
        }
    };
    // What was not asked for is passed over; what is missing is asked for again.
    let Some(answer) = answers.get(NAME) else { return Ok(ask()) };
    let name = match answer.get("action").and_then(Value::as_str) {
        Some("accept") => answer.pointer("/content/name").and_then(Value::as_str),
        Some("decline" | "cancel") => Some("stranger"),
        _ => None,
    };
    let name =
        name.ok_or_else(|| Refusal::params("the answer must be accept with a name, decline or cancel"))?;
    let contents = json!([{ "uri": URI, "mimeType": "text/plain", "text": format!("Hello, {name}!") }]);
    Ok(json!({ "contents": contents, "ttlMs": 0, "cacheScope": "private" }))
}

/// Whether the client can show a form to its user; an empty declaration means just that.
fn elicits(capabilities: &Value) -> bool {
    let elicitation = capabilities.get("elicitation").filter(|elicitation| elicitation.is_object());
    elicitation.is_some_and(|modes| modes.get("form").is_some() || modes.get("url").is_none())
}

fn ask() -> Value {
    let name = json!({ "type": "string", "title": "Name" });
    let schema = json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
    let params = json!({ "mode": "form", "message": "Whom shall I greet?", "requestedSchema": schema });
    json!({
        "resultType": INPUT_REQUIRED,
        "inputRequests": { NAME: { "method": "elicitation/create", "params": params } },
        "requestState": state_of(URI),
    })
}

/// The state of a read of this URI, with a keyed digest, so that no other is taken for one of ours. It is the same in
/// every process: whichever is asked again has all that it needs.
pub(crate) fn state_of(uri: &str) -> String {
    let payload = format!("resources/read {uri}");
    let mut digest = DefaultHasher::new();
    ("the reference server's own", &payload).hash(&mut digest);
    BASE64.encode(format!("{payload} {:016x}", digest.finish()))
}
