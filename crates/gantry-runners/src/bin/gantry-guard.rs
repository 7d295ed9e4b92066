//! The guard as a program of its own, for tests and for programs that embed the runners.

fn main() {
    gantry_runners::guard_main()
}
