//! Do the committed fuzz seeds still get the verdict in their names? On stable Rust, through the fuzz targets' bodies.

use std::path::Path;

use mcp_litmus::wire::oracle::{self, Verdict};

#[test]
fn every_seed_gets_the_verdict_in_its_name() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/wire_message");
    let mut met = Vec::new();
    for entry in seeds.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let verdict = oracle::hold(&bytes).unwrap_or_else(|breach| panic!("{name}: {breach}"));
        let kind = name.split('-').next().unwrap_or_default().to_owned();
        match kind.as_str() {
            "accept" => assert_eq!(verdict, Verdict::Accepted, "{name}"),
            "refuse" => assert_eq!(verdict, Verdict::Refused, "{name}"),
            "either" => {}
            _ => panic!("{name} begins with none of accept, refuse, either"),
        }
        met.push(kind);
    }
    for kind in ["accept", "refuse", "either"] {
        assert!(met.iter().any(|met| met == kind), "no seed {kind}-*");
    }
}
