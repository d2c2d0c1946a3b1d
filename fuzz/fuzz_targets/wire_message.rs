//! From the root of the repository, where new inputs go to the first folder:
//! `mkdir -p fuzz/corpus/wire_message`, then
//! `cargo +nightly fuzz run wire_message fuzz/corpus/wire_message fuzz/seeds/wire_message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| if let Err(breach) = mcp_litmus::wire::oracle::hold(bytes) {
    panic!("{breach}");
});
