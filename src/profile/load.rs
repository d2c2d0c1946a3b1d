//! How does `litmus.yaml` become a profile? Every problem of the file is reported, with its place.

use super::text::Surroundings;
use super::{Hook, HttpServer, Profile};
use crate::case::language::{Key, Shape};
use crate::case::load::{Reader, read, would_fit};
use crate::case::model::Template;
use crate::case::source::{Problem, Source};
use crate::case::tree::{Node, Value};
use crate::check::bindings::Bindings;
use crate::wire::{Json, json, json::Object};
use std::path::Path;

/// The keys of `litmus.yaml`.
pub const PROFILE: &[Key] = &[
    key("stdio", Shape::List(&Shape::TextTemplate), "The command line of a stdio server, word by word"),
    key("http", Shape::Map(HTTP), "The same or another server over HTTP"),
    key("env", Shape::Bag, "Environment variables of the server"),
    key("cwd", Shape::Text, "Where the server runs, seen from this file"),
    key("instances", Shape::Whole, "So many processes of the server may run at once"),
    key("touchable", Shape::Texts, "URIs that the `touch` hook can change"),
    key("absent", Shape::Text, "A URI that the server does not have"),
    key("asking", Shape::Text, "A URI whose read asks for input first"),
    key("input", Shape::Bag, "The input that it asks for, by the server's keys"),
    key("slow", Shape::Text, "A URI whose read takes a second or more, and tells of its progress"),
    key("failing", Shape::Text, "A URI whose read goes wrong inside the server"),
    key("embedding", Shape::Map(TOOL), "A tool call whose result embeds a resource"),
    key("linking", Shape::Map(TOOL), "A tool call whose result links to a resource"),
    key("variables", Shape::Bag, "Values of template variables, by name"),
    key("patience", Shape::Duration, "How long a notification may take to follow a change"),
    key("stimuli", Shape::Map(STIMULI), "Ways to make the server change"),
];

/// Of `http`.
pub const HTTP: &[Key] = &[
    Key {
        name: "url",
        shape: Shape::TextTemplate,
        required: true,
        doc: "Where it listens; `${port}` is a free port",
    },
    key("command", Shape::List(&Shape::TextTemplate), "Starts it, word by word; without it, it runs already"),
    key("headers", Shape::Bag, "What every request carries, to prove who asks for instance"),
];

/// Of `stimuli`.
pub const STIMULI: &[Key] = &[
    key("setup", Shape::Any(&[Shape::Map(HOOK), Shape::List(&Shape::Map(HOOK))]), "Once per session, first"),
    key("touch", Shape::Map(HOOK), "Changes the contents of the resource `${uri}`"),
    key("add", Shape::Map(HOOK), "Adds a resource to the list"),
    key("remove", Shape::Map(HOOK), "Removes a resource from the list"),
];

/// Of a tool call that changes nothing.
pub const TOOL: &[Key] = &[
    Key { name: "tool", shape: Shape::Text, required: true, doc: "The tool" },
    key("arguments", Shape::Bag, "Its arguments"),
];

/// Of a hook.
pub const HOOK: &[Key] = &[
    key("tool", Shape::Text, "Calls this tool on the same session"),
    key("arguments", Shape::Bag, "The tool's arguments"),
    key("method", Shape::Text, "Sends a request of this method on the same session"),
    key("params", Shape::Bag, "The request's params"),
    key("run", Shape::List(&Shape::TextTemplate), "Runs this command, word by word, beside the server"),
    key("wait", Shape::Duration, "The server changes by itself within this time"),
];

const HOOK_KINDS: [&str; 4] = ["tool", "method", "run", "wait"];

const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, required: false, doc }
}

/// Why there is no profile: the user's error.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("`{file}` could not be read: {reason}")]
    Unreadable { file: String, reason: std::io::Error },
    /// All of them, in the order of the file.
    #[error("{}", .0.iter().map(Problem::render).collect::<Vec<_>>().join("\n\n"))]
    Wrong(Vec<Problem>),
}

/// Reads a profile from a file. `${env:NAME}` is taken from our own environment; `cwd` is seen from the file.
pub fn file(path: &Path) -> Result<Profile, LoadError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|reason| LoadError::Unreadable { file: file.clone(), reason })?;
    let mut profile =
        parse(&Source::new(file, text), &|name| std::env::var(name).ok()).map_err(LoadError::Wrong)?;
    if let (Some(directory), Some(folder)) = (&mut profile.directory, path.parent()) {
        *directory = folder.join(&*directory);
    }
    Ok(profile)
}

/// Reads a profile; `variable` looks up `${env:NAME}`. A relative `cwd` is left as it is.
pub fn parse(source: &Source, variable: &dyn Fn(&str) -> Option<String>) -> Result<Profile, Vec<Problem>> {
    let mut around = Surroundings::new(variable);
    let mut profile = read(source, |reader, root| Loader { reader, around: &mut around }.profile(root))?;
    profile.secrets = around.secrets;
    profile.folder = around.folder;
    Ok(profile)
}

struct Loader<'r, 's, 'a, 'v> {
    reader: &'r mut Reader<'s>,
    around: &'a mut Surroundings<'v>,
}

/// Names that are known when a server starts, or a hook that knows no resource is pulled.
const NONCE: &[&str] = &["nonce"];
const URI_AND_NONCE: &[&str] = &["uri", "nonce"];
const PORT: &[&str] = &["port"];
const PORT_AND_NONCE: &[&str] = &["port", "nonce"];

impl Loader<'_, '_, '_, '_> {
    /// `None` only where the file is no map; what is wrong within it is among the problems.
    fn profile(&mut self, root: &Node) -> Option<Profile> {
        let fields = self.reader.fields(root, "a profile", &[PROFILE])?;
        let mut profile = Profile::default();
        if let Some(node) = fields.get("stdio") {
            profile.stdio = self.words(node, NONCE, "[node, server.js]");
        }
        if let Some(node) = fields.get("http") {
            profile.http = self.http(node);
        }
        if let Some(node) = fields.get("env") {
            let scalar = |loader: &mut Self, node: &Node| loader.scalar(node, NONCE);
            profile.environment = self.bag(node, "`env`", scalar).unwrap_or_default();
        }
        if let Some(node) = fields.get("cwd") {
            profile.directory = self.plain(node).map(Into::into);
        }
        if let Some(node) = fields.get("instances") {
            profile.instances = self.reader.size(node);
            if profile.instances == Some(0) {
                self.reader.report(&node.range, "at least one process has to run", None);
            }
        }
        if let Some(node) = fields.get("touchable") {
            profile.touchable = self.plain_list(node);
        }
        if let Some(node) = fields.get("absent") {
            profile.absent = self.plain(node);
        }
        let plain = |loader: &mut Self, key: &str| loader.plain(fields.get(key)?);
        profile.asking = plain(self, "asking");
        profile.slow = plain(self, "slow");
        profile.failing = plain(self, "failing");
        profile.input = fields.get("input").and_then(|node| self.constant(node, "`input`"));
        profile.embedding = fields.get("embedding").and_then(|node| self.tool(node, "`embedding`"));
        profile.linking = fields.get("linking").and_then(|node| self.tool(node, "`linking`"));
        if let Some(node) = fields.get("variables") {
            let scalar = |loader: &mut Self, node: &Node| {
                let value = loader.scalar(node, &[])?;
                literal_text(&value)
            };
            profile.variables = self.bag(node, "`variables`", scalar).unwrap_or_default();
        }
        if let Some(node) = fields.get("patience") {
            profile.patience = self.reader.duration(node);
        }
        if let Some(node) = fields.get("stimuli") {
            self.stimuli(node, &mut profile);
        }
        Some(profile)
    }

    fn http(&mut self, node: &Node) -> Option<HttpServer> {
        let fields = self.reader.fields(node, "`http`", &[HTTP])?;
        let url = fields.get("url").and_then(|node| self.scalar(node, PORT));
        let command = match fields.get("command") {
            Some(node) => Some(self.words(node, PORT_AND_NONCE, "[node, server.js, --port, \"${port}\"]")?),
            None => None,
        };
        let scalar = |loader: &mut Self, node: &Node| literal_text(&loader.scalar(node, &[])?);
        let headers = match fields.get("headers") {
            Some(node) => self.bag(node, "`headers`", scalar)?,
            None => Vec::new(),
        };
        Some(HttpServer { url: url?, command, headers })
    }

    fn stimuli(&mut self, node: &Node, profile: &mut Profile) {
        let Some(fields) = self.reader.fields(node, "`stimuli`", &[STIMULI]) else { return };
        if let Some(node) = fields.get("setup") {
            profile.setup = match &node.value {
                Value::List(items) => items.iter().filter_map(|item| self.hook(item, NONCE)).collect(),
                _ => self.hook(node, NONCE).into_iter().collect(),
            };
        }
        let mut hook = |name: &str, names: &[&str]| fields.get(name).and_then(|node| self.hook(node, names));
        profile.touch = hook("touch", URI_AND_NONCE);
        profile.add = hook("add", NONCE);
        profile.remove = hook("remove", NONCE);
    }

    fn hook(&mut self, node: &Node, names: &[&str]) -> Option<Hook> {
        let fields = self.reader.fields(node, "a hook", &[HOOK])?;
        let there = |kind: &&&str| fields.get(kind).is_some();
        let mut kinds = HOOK_KINDS.iter().filter(there);
        let Some(kind) = kinds.next() else {
            if !fields.has_unknown {
                let help = "one of `tool`, `method`, `run`, `wait`".to_owned();
                self.reader.report(&fields.range, "the hook does nothing", Some(help));
            }
            return None;
        };
        if let Some(second) = kinds.next() {
            let message = format!("a hook does one thing: `{second}` does not go with `{kind}`");
            self.reader.report(&fields.range, message, Some("`setup` takes a list of hooks".to_owned()));
            return None;
        }
        for (key, with) in [("arguments", "tool"), ("params", "method")] {
            if *kind != with
                && let Some(node) = fields.get(key)
            {
                self.reader.report(&node.range, format!("`{key}` goes with `{with}` only"), None);
            }
        }
        let main = fields.get(kind)?;
        match *kind {
            "tool" => {
                let name = self.plain(main);
                let arguments = match fields.get("arguments") {
                    Some(node) => self.object(node, names, "`arguments`"),
                    None => Some(Template::Literal(Json::Object(Object::new()))),
                };
                Some(Hook::Tool { name: name?, arguments: arguments? })
            }
            "method" => {
                let method = self.plain(main);
                let params = match fields.get("params") {
                    Some(node) => Some(self.object(node, names, "`params`")?),
                    None => None,
                };
                Some(Hook::Method { method: method?, params })
            }
            "run" => self.words(main, names, "[./change, \"${uri}\"]").map(Hook::Run),
            _ => self.reader.duration(main).map(Hook::Wait),
        }
    }

    /// The params of a `tools/call`.
    fn tool(&mut self, node: &Node, what: &str) -> Option<Json> {
        let fields = self.reader.fields(node, what, &[TOOL])?;
        let name = fields.get("tool").and_then(|node| self.plain(node));
        let arguments = match fields.get("arguments") {
            Some(node) => self.constant(node, "`arguments`"),
            None => Some(Json::Object(Object::new())),
        };
        Some(json!({ "name": name?.as_str(), "arguments": arguments? }))
    }

    /// A map in which nothing is left to fill.
    fn constant(&mut self, node: &Node, what: &str) -> Option<Json> {
        let template = self.object(node, &[], what)?;
        Bindings::new().resolve(&template).ok()
    }

    /// A command line: at least one word.
    fn words(&mut self, node: &Node, names: &[&str], example: &str) -> Option<Vec<Template>> {
        let Value::List(items) = &node.value else {
            let message = format!("expected a list of words, found {}", node.kind());
            self.reader.report(
                &node.range,
                message,
                Some(format!("write the words one by one: `{example}`")),
            );
            return None;
        };
        if items.is_empty() {
            self.reader.report(&node.range, "the command is empty", None);
        }
        Some(items.iter().filter_map(|item| self.scalar(item, names)).collect())
    }

    fn object(&mut self, node: &Node, names: &[&str], what: &str) -> Option<Template> {
        let template = |loader: &mut Self, node: &Node| loader.template(node, names);
        self.bag(node, what, template).map(Template::Object)
    }

    fn bag<T>(
        &mut self,
        node: &Node,
        what: &str,
        mut value: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        let Value::Map(members) = &node.value else {
            self.reader.report(
                &node.range,
                format!("expected a map for {what}, found {}", node.kind()),
                None,
            );
            return None;
        };
        Some(members.iter().filter_map(|(key, node)| Some((key.text.clone(), value(self, node)?))).collect())
    }

    fn template(&mut self, node: &Node, names: &[&str]) -> Option<Template> {
        Some(match &node.value {
            Value::Text(text) => self.text(text, node, names)?,
            Value::List(items) => {
                Template::Array(items.iter().filter_map(|item| self.template(item, names)).collect())
            }
            Value::Map(members) => Template::Object(
                members
                    .iter()
                    .filter_map(|(key, node)| Some((key.text.clone(), self.template(node, names)?)))
                    .collect(),
            ),
            _ => Template::Literal(node.to_json()),
        })
    }

    /// A text, or a number or boolean as it is written: words of a command line and values of variables are texts
    /// anyhow, so that `--port 80` needs no quotes. The empty text is one.
    fn scalar(&mut self, node: &Node, names: &[&str]) -> Option<Template> {
        match &node.value {
            Value::Text(text) => self.text(text, node, names),
            Value::Number(_) | Value::Bool(_) => {
                Some(Template::Literal(Json::from(node.to_json().to_string())))
            }
            _ => {
                self.reader.report(&node.range, format!("expected text, found {}", node.kind()), None);
                None
            }
        }
    }

    /// Text in which only `${tmp}` and `${env:NAME}` may stand; not empty.
    fn plain(&mut self, node: &Node) -> Option<String> {
        let text = self.reader.text(node)?;
        let template = self.text(&text, node, &[])?;
        literal_text(&template)
    }

    fn plain_list(&mut self, node: &Node) -> Vec<String> {
        match &node.value {
            Value::List(items) => items.iter().filter_map(|item| self.plain(item)).collect(),
            _ => self.plain(node).into_iter().collect(),
        }
    }

    fn text(&mut self, text: &str, node: &Node, names: &[&str]) -> Option<Template> {
        let template = match self.around.template(text) {
            Ok(template) => template,
            Err(error) => {
                self.reader.report(&node.range, error.to_string(), None);
                return None;
            }
        };
        let mut unknown = None;
        template.each_reference(&mut |reference| {
            if !names.contains(&reference.name.as_str()) || !reference.pointer.is_empty() {
                unknown.get_or_insert_with(|| reference.clone());
            }
        });
        match unknown {
            None => Some(template),
            Some(reference) => {
                let known = names.iter().copied().chain(["tmp", "env:NAME"]);
                let help = would_fit(&reference.name, known);
                self.reader.report(
                    &node.range,
                    format!("nothing is known here as `{reference}`"),
                    Some(help),
                );
                None
            }
        }
    }
}

fn literal_text(template: &Template) -> Option<String> {
    if let Template::Literal(value) = template { value.as_str().map(str::to_owned) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let problems = parse(&Source::new("litmus.yaml", text), &|_| None).unwrap_err();
        let shown = |problem: &Problem| {
            let help = problem.help.as_deref().map(|help| format!(" [{help}]")).unwrap_or_default();
            format!("{}:{} {}{help}", problem.place.line, problem.place.column, problem.message)
        };
        problems.iter().map(shown).collect()
    }

    #[test]
    fn all_problems_are_named_at_once_with_their_places() {
        let text = "\
stdio: node server.js
instances: 0
touchabel: [a:b]
absent: ${uri}
patience: soon
env: { TOKEN: '${env:GONE}', DEEP: [1] }
stimuli:
  touch: { tool: t, wait: 1s }
  add: { arguments: {} }
  remove: { run: [rm, '${uri}'], params: {} }
  setup: [{ tool: t, arguments: { x: ['${nonec}'] } }, 7]
";
        assert_eq!(
            problems(text),
            [
                "1:8 expected a list of words, found text [write the words one by one: `[node, server.js]`]",
                "2:12 at least one process has to run",
                "3:1 unknown key `touchabel` in a profile [did you mean `touchable`? What fits: `stdio`, `http`, \
                 `env`, `cwd`, `instances`, `touchable`, `absent`, `asking`, `input`, `slow`, `failing`, \
                 `embedding`, `linking`, `variables`, `patience`, `stimuli`]",
                "4:9 nothing is known here as `${uri}` [what fits: `tmp`, `env:NAME`]",
                "5:11 `soon` is no duration [write a whole number with its unit: `500ms`, `2s` or `1m`]",
                "6:15 the environment variable `GONE` is not set",
                "6:36 expected text, found a list",
                "8:10 a hook does one thing: `wait` does not go with `tool` [`setup` takes a list of hooks]",
                "9:8 the hook does nothing [one of `tool`, `method`, `run`, `wait`]",
                "10:23 nothing is known here as `${uri}` [what fits: `nonce`, `tmp`, `env:NAME`]",
                "10:42 `params` goes with `method` only",
                "11:39 nothing is known here as `${nonec}` [did you mean `nonce`? What fits: `nonce`, `tmp`, \
                 `env:NAME`]",
                "11:56 expected a map for a hook, found a number",
            ]
        );
    }

    #[test]
    fn a_file_that_is_no_profile_is_refused() {
        assert_eq!(problems("[]"), ["1:1 expected a map for a profile, found a list"]);
        assert_eq!(problems(""), ["1:1 the file is empty"]);
        assert_eq!(problems("stdio: []"), ["1:8 the command is empty"]);
        let gone = file(Path::new("no/such/litmus.yaml")).unwrap_err();
        assert!(gone.to_string().starts_with("`no/such/litmus.yaml` could not be read"), "{gone}");
    }

    #[test]
    fn problems_are_shown_as_in_case_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("litmus.yaml");
        std::fs::write(&path, "stido: [x]\n").unwrap();
        let shown = file(&path).unwrap_err().to_string();
        assert!(shown.starts_with("error: unknown key `stido` in a profile\n"), "{shown}");
        assert!(shown.contains("litmus.yaml:1:1\n"), "{shown}");
        assert!(shown.contains("did you mean `stdio`?"), "{shown}");
    }

    #[test]
    fn a_directory_is_seen_from_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("litmus.yaml");
        std::fs::write(&path, "stdio: [server, --port, 80, --dry, true]\ncwd: below\n").unwrap();
        let profile = file(&path).unwrap();
        assert_eq!(profile.directory, Some(folder.path().join("below")));
        assert_eq!(profile.launcher().unwrap().command_line(), ["server", "--port", "80", "--dry", "true"]);
    }
}
