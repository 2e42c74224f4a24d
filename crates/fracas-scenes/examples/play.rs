//! Plays a scene and does nothing else: for profilers.
//!
//! Arguments: the scene, how many steps (default, or 0: the scene's own), a seed (0), and the
//! contact method by the name that `fracas run --contacts` takes. Prints what collision cost in
//! the most expensive steps and in all, the steps in which energy grew most, how deep bodies
//! overlap at the end, and a digest of where everything ended.
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
    let steps: Option<u64> = arguments.next().map(|count| count.parse()).transpose()?;
    let seed = arguments.next().map_or(Ok(0), |seed| seed.parse())?;
    let contacts = arguments.next().map(|name| rigid::contacts_by_name(&name));
    let options = SceneOptions {
        seed,
        contacts: contacts.transpose()?.unwrap_or_default(),
        ..SceneOptions::default()
    };
    let mut scene = rigid::by_name(&name, &options, &mut |_| ())?;
    let steps = steps.filter(|&count| count > 0);
    let steps = steps.unwrap_or_else(|| scene.steps());
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
    let points: u64 = recording.steps.iter().map(|s| s.visited_points).sum();
    let total: f64 = recording.steps.iter().map(|s| s.times.total).sum();
    let growth = 100.0 * recording.energy_growth_of_input();
    println!(
        "{steps} steps: collision {sum:.1} ms of {total:.1}, {points} points asked, energy grew by {growth:.2}%"
    );
    print_growths(&recording);
    let overlaps = scene.world().overlaps();
    let mean = overlaps.iter().map(|o| o.depth).sum::<f32>() / overlaps.len().max(1) as f32;
    println!(
        "{} pairs overlap, by {:.2} mm on average, the deepest by {:.2}",
        overlaps.len(),
        1e3 * mean,
        1e3 * scene.world().deepest_overlap()
    );
    println!("digest {:016x}", scene.world().digest());
    Ok(())
}

/// The three steps in which energy grew most without being brought in.
fn print_growths(recording: &Recording) {
    let mut growths: Vec<(f64, usize)> = (1..recording.energy.len())
        .filter(|&i| !recording.fed[i])
        .map(|i| (recording.energy[i] - recording.energy[i - 1], i))
        .collect();
    growths.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (growth, i) in growths.iter().take(3) {
        let all = recording.energy[*i];
        println!("step {i:4}: energy grew by {growth:.3} J of {all:.1}");
    }
}
