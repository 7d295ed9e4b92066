//! Links the program so that it begins small.
#![expect(clippy::disallowed_macros, reason = "this is how Cargo is told something, and Cargo reads it")]

/// The first C library that reads a short list of addresses.
const SHORT_LISTS_FROM: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let for_this_machine = of("HOST") == of("TARGET");
    let gnu = of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu";
    // The list of addresses that are set at the start is read as a whole: short, it is two megabytes less of memory. But
    // an older C library would not start the program at all.
    if gnu && for_this_machine && c_library().is_some_and(|version| version >= SHORT_LISTS_FROM) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library, where it says one.
fn c_library() -> Option<(u32, u32)> {
    let said = std::process::Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?; // such as `glibc 2.36`
    let (major, minor) = said.trim().rsplit(' ').next()?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
