//! `mcp-litmus check`: judge one server, write the reports, say by the exit code how it went.

use crate::bundled;
use crate::case::catalogue::{Catalogue, CatalogueError};
use crate::case::source::Problem;
use crate::cli::{CheckArguments, Colour, Level, RevisionChoice};
use crate::mask::Masks;
use crate::peer::Launcher;
use crate::profile::{self, HttpServer, Profile};
use crate::record::{Record, Transport};
use crate::report::{self, console, json, junit};
use crate::revision::Revision;
use crate::run::outcome::Asked;
use crate::run::sources::Sources;
use crate::run::{Cut, Settings, Suite, Wanted, check};
use crate::session::Bounds;
use crate::time_limits;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use reference_server::{Firings, Options};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Exit code 2: usage, configuration or a case file.
const USAGE: u8 = 2;

/// Runs the command; the exit code.
pub fn run(arguments: &CheckArguments) -> u8 {
    match attempt(arguments) {
        Ok(code) => code,
        Err(error) => {
            let text = report::plain::block(&error);
            // A problem in a file names its kind itself.
            let head = if text.starts_with("error:") { "" } else { "error: " };
            let _ = writeln!(io::stderr(), "{head}{text}");
            USAGE
        }
    }
}

/// The user's errors, in words that say what to do.
fn attempt(arguments: &CheckArguments) -> Result<u8, String> {
    let suite = Arc::new(suite(arguments)?);
    if arguments.list {
        let mut out = io::stdout().lock();
        for (case, _) in suite.chosen() {
            let _ = writeln!(out, "{}", case.name);
        }
        return Ok(0);
    }
    let profile = profile(arguments.profile.as_deref())?;
    let mut masks = profile.masks();
    if let Some(url) = &arguments.url {
        masks.add_url(url);
    }
    for (name, value) in headers(arguments)? {
        masks.add_header(name, value);
    }
    let target = Target::choose(arguments, &profile).map_err(|error| masks.apply(&error).0.into_owned())?;
    let mut reports = Reports::create(arguments)?;
    let record = judge(arguments, suite, profile, target, &masks)?;
    let record = report::masked(&record, &masks);
    reports.write(arguments, &record)?;
    Ok(record.exit_code())
}

fn suite(arguments: &CheckArguments) -> Result<Suite, String> {
    let catalogue = match &arguments.directory {
        Some(directory) => Catalogue::with_directory(directory),
        None => Catalogue::embedded(),
    };
    let catalogue = catalogue.map_err(|error| describe(&error))?;
    Suite::select(&catalogue, &arguments.cases).map_err(|error| error.to_string())
}

/// Why there are no cases, every problem in full.
pub fn describe(error: &CatalogueError) -> String {
    match error {
        CatalogueError::Problems(problems) => {
            let texts: Vec<String> = problems.iter().map(Problem::render).collect();
            format!("{error}\n{}", texts.join("\n"))
        }
        CatalogueError::Unreadable { .. } => error.to_string(),
    }
}

/// What is judged, and how it is started.
struct Target {
    launcher: Arc<dyn Launcher>,
    label: String,
    /// As it follows `mcp-litmus check `.
    arguments: String,
    /// It runs in this process, on paused time.
    in_process: bool,
}

impl Target {
    fn choose(arguments: &CheckArguments, profile: &Profile) -> Result<Self, String> {
        let mut again = Vec::new();
        if arguments.seed != 0 {
            again.push(format!("--seed {}", arguments.seed));
        }
        if let Some(file) = &arguments.profile {
            again.push(format!("--profile {}", quoted(&file.to_string_lossy())));
        }
        if let Some(server) = over_http(arguments, profile)? {
            return Self::over_http(arguments, profile, &server, again);
        }
        let mut words = arguments.target.iter().cloned();
        let given = words.next().map(|program| profile.launcher_of(program, words.collect()));
        let is_given = given.is_some();
        let Some(launcher) = given.or_else(|| profile.launcher()) else {
            let (options, firings) = (Options::default(), Firings::default());
            let over_http = arguments.transport == Some(Transport::Http);
            if over_http {
                again.push("--transport http".to_owned());
            }
            let launcher = if over_http {
                bundled::http_launcher(options, firings, bundled::ENDPOINT)
            } else {
                bundled::launcher(options, firings)
            };
            return Ok(Self {
                launcher,
                label: bundled::LABEL.to_owned(),
                arguments: again.join(" "),
                in_process: true,
            });
        };
        let label = line_of(&launcher.command_line());
        if is_given {
            again.push(format!("-- {label}"));
        }
        Ok(Self { launcher: Arc::new(launcher), label, arguments: again.join(" "), in_process: false })
    }

    fn over_http(
        arguments: &CheckArguments,
        profile: &Profile,
        server: &HttpServer,
        mut again: Vec<String>,
    ) -> Result<Self, String> {
        let limit = arguments.start_timeout.unwrap_or(time_limits::START);
        let launcher = profile.http_launcher(server, limit).map_err(|error| error.to_string())?;
        let url = server.shown_url();
        if let Some(url) = &arguments.url {
            again.push(format!("--url {}", quoted(url)));
        } else if arguments.transport.is_some() {
            again.push("--transport http".to_owned());
        }
        // What proves who asks is not to be repeated in a report.
        let headers = headers(arguments)?.into_iter();
        again.extend(headers.map(|(name, _)| format!("--header {}", quoted(&format!("{name}: ...")))));
        let label = match &server.command {
            Some(words) => {
                format!("{} at {url}", line_of(&profile.launcher_for(words.clone()).command_line()))
            }
            None => url,
        };
        if !arguments.target.is_empty() {
            let words: Vec<String> =
                arguments.target.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            again.push(format!("-- {}", line_of(&words)));
        }
        Ok(Self { launcher, label, arguments: again.join(" "), in_process: false })
    }
}

/// The server over HTTP, where the arguments or the profile mean one.
fn over_http(arguments: &CheckArguments, profile: &Profile) -> Result<Option<HttpServer>, String> {
    let of_profile = profile.http.clone();
    let chosen = match (&arguments.url, arguments.transport) {
        (Some(_), Some(Transport::Stdio)) => {
            return Err("`--url` means HTTP: leave `--transport stdio` out".to_owned());
        }
        (Some(url), _) => {
            let words: Option<Vec<&str>> = arguments.target.iter().map(|word| word.to_str()).collect();
            let words = words.ok_or("the words of the command must be UTF-8 beside `--url`")?;
            Some(HttpServer::given(url, &words).map_err(|error| error.to_string())?)
        }
        (None, Some(Transport::Http)) if !arguments.target.is_empty() => {
            return Err(
                "say where the command listens: `--url 'http://127.0.0.1:${port}/mcp' -- COMMAND '${port}'`"
                    .to_owned(),
            );
        }
        (None, Some(Transport::Http)) if of_profile.is_none() && profile.stdio.is_some() => {
            return Err("the profile has no `http`; give `--url URL`, or add `http: { url: URL }`".to_owned());
        }
        // Without a profile it is the reference server, which speaks both.
        (None, Some(Transport::Http)) => of_profile.clone(),
        (None, None) if arguments.target.is_empty() && profile.stdio.is_none() => of_profile.clone(),
        (None, _) => None,
    };
    let Some(mut server) = chosen else {
        return if arguments.headers.is_empty() {
            Ok(None)
        } else {
            Err("`--header` goes with HTTP: give `--url` too".to_owned())
        };
    };
    if let (Some(_), Some(known)) = (&arguments.url, of_profile) {
        server.headers = known.headers;
    }
    let given = headers(arguments)?.into_iter();
    server.headers.extend(given.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Ok(Some(server))
}

/// The names and values of `--header`. What is none may all the same be a secret, and is not repeated.
fn headers(arguments: &CheckArguments) -> Result<Vec<(&str, &str)>, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_token);
    let headers = arguments.headers.iter().enumerate().map(|(at, header)| match header.split_once(':') {
        Some((name, value)) if is_name(name.trim()) => Ok((name.trim(), value.trim())),
        _ => Err(format!(
            "number {} of the `--header` options is none: write `--header 'Name: value'`",
            at + 1
        )),
    });
    headers.collect()
}

/// A command line as a POSIX shell takes it.
fn line_of(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The profile that was named, else the one in the working directory, where there is one.
fn profile(file: Option<&Path>) -> Result<Profile, String> {
    let default = Path::new(profile::FILE);
    match file {
        Some(file) => profile::file(file),
        None if default.is_file() => profile::file(default),
        None => return Ok(Profile::default()),
    }
    .map_err(|error| error.to_string())
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn judge(
    arguments: &CheckArguments,
    suite: Arc<Suite>,
    profile: Profile,
    target: Target,
    masks: &Masks,
) -> Result<Record, String> {
    let began = SystemTime::now();
    let mut bounds = Bounds::default();
    bounds.request = arguments.timeout.unwrap_or(bounds.request);
    bounds.start = arguments.start_timeout.unwrap_or(bounds.start);
    bounds.line = arguments.max_message.unwrap_or(bounds.line);
    let instances = profile.instances.unwrap_or(usize::MAX);
    let mut sources = Sources::new(target.launcher, profile, bounds);
    sources.seed = arguments.seed;
    if let Some(directory) = &arguments.transcripts {
        sources.sink = Some(transcripts(directory, masks)?);
    }
    let (cut_sender, cut) = Cut::new();
    let settings = Settings {
        wanted: match arguments.revision {
            RevisionChoice::Auto => Wanted::Auto,
            RevisionChoice::All => Wanted::These(Revision::ALL.to_vec()),
            RevisionChoice::One(revision) => Wanted::These(vec![revision]),
        },
        jobs: usize::from(arguments.jobs).min(instances),
        cut,
        progress: (!target.in_process && !arguments.quiet).then(progress_bar),
    };
    let asked = Asked {
        label: target.label,
        arguments: target.arguments,
        started: began.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        advice_fails: arguments.level == Level::Should,
        require_proof: arguments.require_proof,
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().start_paused(target.in_process);
    let runtime = runtime.build().map_err(|error| format!("no runtime: {error}"))?;
    watch_for_the_end(cut_sender, arguments.deadline);
    let mut record = runtime.block_on(check(Arc::new(sources), suite, settings, asked));
    // On paused time the run's own clock tells how long it would have taken.
    let elapsed = began.elapsed().unwrap_or_default();
    record.milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    // Whatever still runs in it ends here, servers included.
    drop(runtime);
    Ok(record)
}

/// One bar on standard error while the servers run; nothing where that is no terminal.
fn progress_bar() -> Arc<dyn Fn(usize, usize) + Send + Sync> {
    let bar = ProgressBar::new(1).with_finish(ProgressFinish::AndClear);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_bar} {pos}/{len} sessions") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    Arc::new(move |done, planned| {
        bar.set_length(planned as u64);
        bar.set_position(done as u64);
        if done == planned {
            bar.finish_and_clear();
        }
    })
}

/// Cuts the run short at an interrupt or at the deadline. On a thread of its own with real time, since the run's
/// clock may stand still.
fn watch_for_the_end(cut: watch::Sender<Option<String>>, deadline: Option<Duration>) {
    let watch = async move {
        let end = async {
            match deadline {
                Some(deadline) => tokio::time::sleep(deadline).await,
                None => std::future::pending().await,
            }
        };
        let reason = tokio::select! {
            () = interrupted() => "interrupted".to_owned(),
            () = end => format!("the deadline of {} s passed", deadline.unwrap_or_default().as_secs_f32()),
        };
        let _ = cut.send(Some(reason));
        // The sender stays alive as long as anybody may look.
        cut.closed().await;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    if let Ok(runtime) = runtime {
        std::thread::spawn(move || runtime.block_on(watch));
    }
}

/// Returns at Ctrl-C, and on Unix at SIGTERM too.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// Where conversations are saved: a file each.
fn transcripts(directory: &Path, masks: &Masks) -> Result<Box<crate::run::sources::Sink>, String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("`{}` cannot be made: {error}", directory.display()))?;
    let (directory, masks) = (directory.to_owned(), masks.clone());
    let complained = Mutex::new(false);
    Ok(Box::new(move |transcript| {
        let path = directory.join(format!("{:04}.jsonl", transcript.head.conversation));
        let written = File::create(&path)
            .and_then(|file| crate::transcript::file::write(transcript, BufWriter::new(file), &masks));
        if let Err(error) = written {
            let mut complained = complained.lock().unwrap_or_else(PoisonError::into_inner);
            if !std::mem::replace(&mut *complained, true) {
                let _ = writeln!(io::stderr(), "warning: `{}` was not written: {error}", path.display());
            }
        }
    }))
}

/// The files of the reports, opened before the run: a run whose reports cannot be written is not begun.
struct Reports {
    junit: Option<File>,
    json: Option<File>,
}

impl Reports {
    fn create(arguments: &CheckArguments) -> Result<Self, String> {
        let create = |path: &Path| {
            File::create(path).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
        };
        let junit = arguments.junit.as_deref().map(create).transpose()?;
        let json =
            arguments.json.as_deref().filter(|path| *path != Path::new("-")).map(create).transpose()?;
        Ok(Self { junit, json })
    }

    fn write(&mut self, arguments: &CheckArguments, record: &Record) -> Result<(), String> {
        let failed = |what: &str, error: io::Error| format!("the {what} was not written: {error}");
        if let Some(file) = &mut self.junit {
            junit::write(record, &mut BufWriter::new(file)).map_err(|error| failed("JUnit report", error))?;
        }
        if let Some(file) = &mut self.json {
            json::write(record, &mut BufWriter::new(file)).map_err(|error| failed("JSON record", error))?;
        }
        let verbosity = match (arguments.verbose, arguments.quiet) {
            (true, _) => console::Verbosity::Verbose,
            (_, true) => console::Verbosity::Quiet,
            _ => console::Verbosity::Normal,
        };
        let choice = match arguments.color {
            Colour::Auto => anstream::ColorChoice::Auto,
            Colour::Always => anstream::ColorChoice::Always,
            Colour::Never => anstream::ColorChoice::Never,
        };
        if arguments.json.as_deref() == Some(Path::new("-")) {
            json::write(record, &mut io::stdout().lock()).map_err(|error| failed("JSON record", error))?;
            let style = console::Style::on(&io::stderr(), choice, verbosity);
            return console::write(record, &mut io::stderr().lock(), style)
                .map_err(|error| failed("report", error));
        }
        let style = console::Style::on(&io::stdout(), choice, verbosity);
        match console::write(record, &mut io::stdout().lock(), style) {
            // Whoever reads us may stop reading, as `head` does; the exit code still tells.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| failed("report", error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b.js"), "a/b.js");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
