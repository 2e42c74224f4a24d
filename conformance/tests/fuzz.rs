//! Damaged files of every kind: no reader panics, hangs or accepts what it must not.
//! `cargo xtask fuzz --minutes N` goes on for longer.

use fracas_conformance::fuzz::targets;
use fracas_core::testing::Rng;

#[test]
fn damaged_files_are_survived() {
    for target in targets() {
        for bytes in &target.corpus {
            target.try_bytes(bytes);
        }
        // Large files take longer each.
        let size = target.corpus[0].len().max(1);
        let runs = (20_000_000 / size).clamp(100, 4_000);
        let mut rng = Rng(7);
        for _ in 0..runs {
            target.try_bytes(&target.damaged(&mut rng));
        }
        println!(
            "{}: {runs} damaged files of about {size} bytes",
            target.name
        );
    }
}
