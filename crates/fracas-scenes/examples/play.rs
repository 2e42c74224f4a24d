//! Plays a scene and does nothing else: for profilers.
//!
//! Arguments: the scene, and how many steps (default: the scene's own). Prints what
//! collision cost in the most expensive steps, and a digest of where everything ended.
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*narrow_phase*process_pair*' \
//!     target/release/examples/play piggy-bank 24
//! ```

use std::error::Error;

use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::{self, SceneOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which scene?")?;
    let mut scene = rigid::by_name(&name, &SceneOptions::default(), &mut |_| ())?;
    let steps = match arguments.next() {
        Some(count) => count.parse()?,
        None => scene.steps(),
    };
    let recording = Recording::record(&mut scene, steps, RecordOptions::NUMBERS, &mut |_| ());
    let mut order: Vec<usize> = (0..recording.steps.len()).collect();
    let cost = |&i: &usize| recording.steps[i].times.collision;
    order.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    for &i in order.iter().take(10) {
        let step = &recording.steps[i];
        println!(
            "step {i:4}: collision {:7.3} ms of {:7.3}, {:6} points of {:5} pairs, {:5} contacts",
            step.times.collision, step.times.total, step.visited_points, step.pairs, step.contacts
        );
    }
    let sum: f64 = recording.steps.iter().map(|s| s.times.collision).sum();
    println!("collision of {steps} steps: {sum:.1} ms");
    println!("digest {:016x}", scene.world().digest());
    Ok(())
}
