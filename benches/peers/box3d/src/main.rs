//! The fresh fracture in Box3D: bodies made of convex parts, dropped on a floor.
//!
//! usage: fracas-peer-box3d INPUT.json
//!
//! Reads what the report hands to every engine (z is up) and prints one line of JSON:
//! the version, processor milliseconds to build and of every step, and where each body is at the
//! end as x, y, z and a quaternion x, y, z, w. One thread, nothing sleeps, four
//! substeps a step as Box3D advises.

use std::error::Error;

use boxddd::prelude::{BodyType, BoxHull, Foundation, Hull, Vec3, WorldTransform};
use cpu_time::ProcessTime;
use serde_json::{Value, json};

/// Box3D takes at most 256 half-edges; a hull of so many corners never has more.
const MOST_CORNERS: i32 = 44;
const SUBSTEPS: i32 = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the input file")?;
    let input: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let number = |key: &str| input[key].as_f64().ok_or(format!("no {key}"));
    let (friction, density) = (number("friction")? as f32, number("density")? as f32);
    let (step, steps) = (number("step")? as f32, number("steps")? as usize);
    let seconds = number("seconds")?;

    let begin = ProcessTime::now();
    let foundation = Foundation::initialize_default()?;
    let mut world = foundation.create_world(
        foundation
            .world_def_builder()
            .gravity(Vec3::new(0.0, 0.0, -9.81))
            .enable_sleep(false)
            .worker_count(1)
            .build()?,
    )?;
    let shape = foundation
        .shape_def_builder()
        .density(density)
        .friction(friction)
        .build()?;
    let floor = world.create_body(
        foundation
            .body_def_builder()
            .position([0.0, 0.0, -1.0])
            .build()?,
    )?;
    world.create_hull_shape(floor, &shape, &BoxHull::new(20.0, 20.0, 1.0)?)?;
    let mut bodies = Vec::new();
    for body in list(&input["bodies"]) {
        let [x, y, z] = point(&body["centre"]);
        let made = world.create_body(
            foundation
                .body_def_builder()
                .body_type(BodyType::Dynamic)
                .position([x, y, z])
                .enable_sleep(false)
                .build()?,
        )?;
        for part in list(&body["parts"]) {
            let corners: Vec<Vec3> = list(part)
                .iter()
                .map(|p| {
                    let [x, y, z] = point(p);
                    Vec3::new(x, y, z)
                })
                .collect();
            let hull = Hull::from_points(&corners, MOST_CORNERS)?;
            world.create_created_hull_shape(made, &shape, &hull)?;
        }
        bodies.push(made);
    }
    let build_ms = begin.elapsed().as_secs_f64() * 1e3;

    let mut times = Vec::new();
    let begin = ProcessTime::now();
    while times.len() < steps && begin.elapsed().as_secs_f64() < seconds {
        let start = ProcessTime::now();
        world.step(step, SUBSTEPS)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut poses = Vec::new();
    for body in bodies {
        let WorldTransform { p, q } = world.body_transform(body)?;
        poses.push([p.x, p.y, p.z, q.v.x, q.v.y, q.v.z, q.s]);
    }
    let version = "0.4.0 of boxddd";
    println!(
        "{}",
        json!({ "version": version, "build_ms": build_ms, "times": times, "poses": poses })
    );
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn point(value: &Value) -> [f32; 3] {
    [0, 1, 2].map(|i| value[i].as_f64().unwrap_or(f64::NAN) as f32)
}
