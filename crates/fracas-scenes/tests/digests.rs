//! Every scene ends in the state that is kept, bit for bit, on one thread and on two.
//! Where another state is meant: `cargo xtask digests --write`.

use fracas_scenes::digests::{compare, measure};

const KEPT: &str = include_str!("../digests.txt");

fn check(threads: usize) {
    let differ = compare(&measure("", threads).unwrap(), KEPT);
    assert!(
        differ.is_empty(),
        "scenes end in another state (`cargo xtask digests --write` keeps it, where it is \
         meant):\n{}",
        differ.join("\n")
    );
}

#[test]
fn every_scene_ends_as_it_is_kept() {
    check(1);
}

#[cfg(feature = "parallel")]
#[test]
fn every_scene_ends_as_it_is_kept_on_two_threads() {
    check(2);
}
