//! The native side of the page's comparison: runs a scene as the worker does and
//! prints the world's digest and the milliseconds of all steps, by the clock and, on Unix, of
//! the processor, as JSON.
//!
//! `native SCENE STEPS [--recording FILE]`, or `native SCENE STEPS --small`: the scene as
//! the page shows it (and not as it is compared).

use std::time::Instant;

use fracas_scenes::film::Filming;
use fracas_scenes::rigid::{SceneOptions, by_name};
use fracas_scenes::soft::{SoftFilming, SoftScene};
use fracas_web::simulation::Simulation;
use fracas_web::stage::Stage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scene, steps, rest @ ..] = arguments.as_slice() else {
        return Err("usage: native SCENE STEPS [--recording FILE]".into());
    };
    let small = rest == ["--small"];
    let soft = if small {
        SoftScene::small(scene)
    } else {
        SoftScene::new(scene)
    };
    if let Ok(soft) = soft {
        return run_soft(soft, steps.parse()?, rest);
    }
    if small {
        return run_small(scene, steps.parse()?);
    }
    let mut scene = by_name(scene, &SceneOptions::default(), &mut |_| ())?;
    let mut filming = match rest {
        [flag, _] if flag == "--recording" => Some(Filming::new(&scene)),
        _ => None,
    };
    let (mut milliseconds, mut processor) = (0.0, 0.0);
    for _ in 0..steps.parse::<u64>()? {
        let (start, used) = (Instant::now(), processor_ms());
        scene.step();
        milliseconds += start.elapsed().as_secs_f64() * 1e3;
        processor += processor_ms() - used;
        filming.iter_mut().for_each(|f| f.frame(&scene));
    }
    let digest = format!("{:016x}", scene.world().digest());
    if let ([_, file], Some(filming)) = (rest, filming) {
        std::fs::write(file, filming.finish().to_bytes())?;
    }
    println!(
        "{}",
        serde_json::json!({ "digest": digest, "milliseconds": milliseconds, "processor": processor, "steps": steps })
    );
    Ok(())
}

/// Milliseconds of the processor that this program used.
#[cfg(unix)]
fn processor_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
}

#[cfg(not(unix))]
fn processor_ms() -> f64 {
    f64::NAN
}

fn run_small(scene: &str, steps: u64) -> Result<(), Box<dyn std::error::Error>> {
    let options = SceneOptions {
        measured: false,
        ..SceneOptions::default()
    };
    let mut world = Simulation::new(Stage::scene(scene, &options, &mut |_| ())?);
    let (mut milliseconds, mut longest) = (0.0, 0.0_f64);
    for _ in 0..steps {
        let start = Instant::now();
        world.step();
        let took = start.elapsed().as_secs_f64() * 1e3;
        milliseconds += took;
        longest = longest.max(took);
    }
    println!(
        "{}",
        serde_json::json!({ "digest": world.digest(), "milliseconds": milliseconds, "longest": longest, "steps": steps })
    );
    Ok(())
}

fn run_soft(
    mut scene: SoftScene,
    steps: u64,
    rest: &[String],
) -> Result<(), Box<dyn std::error::Error>> {
    let mut filming = SoftFilming::new(&scene);
    let mut milliseconds = 0.0;
    for _ in 0..steps {
        let start = Instant::now();
        scene.step();
        let total = start.elapsed().as_secs_f64() * 1e3;
        milliseconds += total;
        filming.frame(&scene, total);
    }
    if let [_, file] = rest {
        std::fs::write(file, filming.finish().to_bytes())?;
    }
    let digest = format!("{:016x}", scene.digest());
    println!(
        "{}",
        serde_json::json!({ "digest": digest, "milliseconds": milliseconds, "steps": steps })
    );
    Ok(())
}
