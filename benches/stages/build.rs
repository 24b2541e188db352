//! Tells the guard which compiler built it: instruction counts hold for one version.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").expect("cargo sets it");
    let said = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc");
    let version = String::from_utf8_lossy(&said.stdout);
    let number = version.split(' ').nth(1).unwrap_or("unknown");
    println!("cargo::rustc-env=RUSTC_VERSION={number}");
}
