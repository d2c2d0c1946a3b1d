//! The cases are embedded by a macro, which cannot tell cargo that a file was added: this does.

fn main() {
    println!("cargo::rerun-if-changed=cases");
}
