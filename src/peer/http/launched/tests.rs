use super::*;
use crate::peer::stdio::StdioLauncher;

/// Listens, and does with SIGTERM what its first word says.
const SERVER: &str = r#"
import signal, socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
def farewell(*_):
    time.sleep(0.2)
    open(sys.argv[3], "w").write("asked")
    sys.exit(0)
signal.signal(signal.SIGTERM, farewell if sys.argv[2] == "polite" else signal.SIG_IGN)
print("on standard output", flush=True)
print("on standard error", file=sys.stderr, flush=True)
while True:
    stream, _ = listener.accept()
    if b"die" in stream.recv(1000):
        sys.exit("last words")
"#;

/// The first starts find their port taken, as far as they say.
struct Script {
    taken: usize,
    manner: &'static str,
    file: std::path::PathBuf,
    ports: Mutex<Vec<u16>>,
}

impl Start for Arc<Script> {
    fn start(&self, port: u16) -> Result<Box<dyn Launcher>, LaunchError> {
        let mut ports = self.ports.lock().unwrap();
        ports.push(port);
        Ok(Box::new(if ports.len() <= self.taken {
            StdioLauncher::new("sh", ["-c", "echo 'listen EADDRINUSE: address already in use' >&2; exit 1"])
        } else {
            let file = self.file.to_str().unwrap().to_owned();
            StdioLauncher::new(
                "python3",
                ["-c".to_owned(), SERVER.to_owned(), port.to_string(), self.manner.to_owned(), file],
            )
        }))
    }

    fn address(&self, port: u16) -> Result<Address, LaunchError> {
        Ok(format!("http://127.0.0.1:{port}/").parse().unwrap())
    }

    fn name(&self) -> String {
        "script".to_owned()
    }
}

struct Trial {
    script: Arc<Script>,
    launched: Launched,
    folder: tempfile::TempDir,
}

fn trial(taken: usize, manner: &'static str) -> Trial {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("farewell");
    let script = Arc::new(Script { taken, manner, file, ports: Mutex::default() });
    let launched = Launched::new(Box::new(script.clone()), Vec::new(), Duration::from_secs(60));
    Trial { script, launched, folder }
}

/// What was written to standard error until the end, and the end.
async fn rest(output: &mut mpsc::Receiver<Incoming>) -> (String, Exit) {
    let mut text = Vec::new();
    loop {
        match output.recv().await.unwrap() {
            Incoming::Stderr(bytes) => text.extend(bytes),
            Incoming::Exited(exit) => return (String::from_utf8(text).unwrap(), exit),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_taken_port_is_no_end_but_three_are() {
    let lucky = trial(2, "polite");
    let Peer { input, mut output, .. } = lucky.launched.launch().await.unwrap();
    input.send(Outgoing::Kill).await.unwrap();
    rest(&mut output).await;
    assert_eq!(lucky.script.ports.lock().unwrap().len(), 3);

    let unlucky = trial(9, "polite");
    let error = unlucky.launched.launch().await.err().unwrap().to_string();
    assert!(error.contains("exited with status 1") && error.contains("EADDRINUSE"), "{error}");
    assert_eq!(unlucky.script.ports.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn ports_in_use_are_remembered_as_long_as_they_are() {
    let mut ports = Vec::new();
    for _ in 0..50 {
        ports.push(Port::free().await.unwrap());
    }
    let numbers: BTreeSet<u16> = ports.iter().map(|port| port.0).collect();
    assert_eq!(numbers.len(), 50);
    assert!(numbers.is_subset(&ports_in_use()));
    drop(ports);
    assert!(ports_in_use().is_disjoint(&numbers));
}

#[tokio::test]
async fn the_last_client_asks_the_server_to_end_and_waits_for_it() {
    let Trial { script, launched, folder } = trial(0, "polite");
    let Peer { input, mut output, server, .. } = launched.launch().await.unwrap();
    let mut other = server.unwrap().upgrade().unwrap().client();
    input.send(Outgoing::EndInput).await.unwrap();
    let (text, exit) = rest(&mut output).await;
    assert!(exit.by_us);
    assert!(text.contains("on standard output") && text.contains("on standard error"), "{text}");
    assert!(!script.file.exists(), "another client is still there");
    other.input.send(Outgoing::EndInput).await.unwrap();
    assert!(rest(&mut other.output).await.1.by_us);
    assert!(script.file.exists(), "it was not asked, or was not given the time");
    drop(folder);
}

#[tokio::test]
async fn who_does_not_end_when_asked_is_made_to() {
    let Trial { script, launched, folder: _folder } = trial(0, "rude");
    let Peer { input, mut output, .. } = launched.launch().await.unwrap();
    input.send(Outgoing::EndInput).await.unwrap();
    rest(&mut output).await;
    let port = script.ports.lock().unwrap()[0];
    let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
    assert!(connected.is_err(), "it still listens");
}

#[tokio::test]
async fn a_server_that_goes_away_has_last_words() {
    let Trial { script, launched, folder: _folder } = trial(0, "polite");
    let Peer { input: _input, mut output, .. } = launched.launch().await.unwrap();
    let port = script.ports.lock().unwrap()[0];
    // The first connection only asked whether it listens.
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"die").await.unwrap();
    let (text, exit) = rest(&mut output).await;
    assert_eq!((exit.status, exit.by_us), (Some(1), false));
    assert!(text.ends_with("last words\n"), "{text}");
}

#[test]
fn what_is_written_is_kept_within_bounds_and_shown_in_a_line() {
    let mut written = Written::default();
    written.add(&vec![b'x'; WRITTEN_KEPT]);
    let seen = written.length;
    written.add(b"\nnew");
    assert_eq!((written.tail.len(), written.since(seen)), (WRITTEN_KEPT, &b"\nnew"[..]));
    assert_eq!(written.since(0).len(), WRITTEN_KEPT);
    assert_eq!(written.last_words(), format!("; its last words: {}... | new", "x".repeat(LINE)));
    assert_eq!(Written::default().last_words(), "");
}
