//! The soft scenes step by step: what the stages cost, what crumbles, how deep crumbs lie.
//!
//! `cargo run --release -p fracas-scoreboard --example soft_steps -- torus-on-cube [STEPS]`

use fracas_scenes::soft::SoftScene;

/// Thread CPU time in seconds.
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

fn main() {
    let name = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "torus-on-cube".into());
    let steps = std::env::args().nth(2).and_then(|t| t.parse().ok());
    let mut scene = match SoftScene::new(&name) {
        Ok(scene) => scene,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    scene.world_mut().set_clock(cpu_seconds);
    let mut sums = [0.0; 4];
    let steps = steps.unwrap_or(SoftScene::STEPS);
    for step in 1..=steps {
        scene.step();
        let s = scene.stats();
        let times = [s.detect_time, s.march_time, s.respond_time, s.simulate_time];
        for (sum, time) in sums.iter_mut().zip(times) {
            *sum += time;
        }
        if step % 5 == 0 {
            let deepest = scene
                .world()
                .pushes()
                .iter()
                .map(|p| p.depth)
                .fold(0.0, f32::max);
            println!(
                "step {step:3}: detect {:.1}, march {:.1}, respond {:.1}, simulate {:.1} ms; tested {} overlaps {} \
                 tets {} pushes {} tears {} pieces {} deepest {:.1} mm",
                1e3 * times[0],
                1e3 * times[1],
                1e3 * times[2],
                1e3 * times[3],
                s.tested_pairs,
                s.overlaps,
                s.colliding_tets,
                s.pushes,
                s.tears,
                scene.pieces(),
                1e3 * deepest
            );
        }
    }
    let all: f64 = sums.iter().sum();
    println!(
        "mean step {:.1} ms: detect {:.0}%, march {:.0}%, respond {:.0}%, simulate {:.0}%",
        1e3 * all / steps as f64,
        100.0 * sums[0] / all,
        100.0 * sums[1] / all,
        100.0 * sums[2] / all,
        100.0 * sums[3] / all
    );
}
