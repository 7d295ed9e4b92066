//! Links the program so that it begins small.
#![expect(clippy::disallowed_macros, reason = "this is how Cargo is told something, and Cargo reads it")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // The list of addresses that are set at the start is read as a whole: short, it is two megabytes less of memory.
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
