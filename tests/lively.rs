//! Does a case that follows or listens leave its shared session as it found it? What the transcripts say.
#![allow(clippy::unwrap_used)]

mod common;

use serde_json::Value;
use std::collections::HashMap;
use std::fs;

/// Subscriptions and listen requests that are open, each with the case that made it.
#[derive(Default)]
struct Followed(HashMap<String, String>);

impl Followed {
    fn take(&mut self, entry: &Value) {
        let Some(frame) = entry["text"].as_str() else { return };
        let Ok(message) = serde_json::from_str::<Value>(frame) else { return };
        let case = entry["case"].as_str().unwrap_or_default().to_owned();
        let params = &message["params"];
        let ours = entry["channel"] == "stdin";
        match message["method"].as_str() {
            Some("resources/subscribe") if ours => drop(self.0.insert(params["uri"].to_string(), case)),
            Some("resources/unsubscribe") if ours => drop(self.0.remove(&params["uri"].to_string())),
            Some("subscriptions/listen") if ours => drop(self.0.insert(message["id"].to_string(), case)),
            Some("notifications/cancelled") if ours => drop(self.0.remove(&params["requestId"].to_string())),
            None if !ours => drop(self.0.remove(&message["id"].to_string())),
            _ => {}
        }
    }
}

#[test]
fn nothing_is_followed_any_more_when_the_next_case_begins() {
    let run = common::run(&["check", "--revision", "all", "--transcripts", "transcripts"]);
    let mut cases = 0;
    for file in fs::read_dir(run.folder.path().join("transcripts")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        if lines.next().unwrap()["purpose"] != "lively" {
            continue;
        }
        let mut followed = Followed::default();
        let mut playing = None;
        for entry in lines {
            let case = entry["case"].as_str().map(str::to_owned);
            if entry["channel"] == "stdin" && case != playing {
                cases += 1;
                assert!(followed.0.is_empty(), "{case:?} meets what is left: {:?}", followed.0);
                playing = case;
            }
            followed.take(&entry);
        }
        assert!(followed.0.is_empty(), "left at the end: {:?}", followed.0);
    }
    assert!(cases > 50, "only {cases} cases on lively sessions");
}
