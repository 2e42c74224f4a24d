//! Runs a soft scene and writes a sheet of pictures:
//! `cargo run --release -p fracas-scenes --example soft -- SCENE STEPS FILE.png`

use std::time::Instant;

use fracas::tet_distance::Response;
use fracas_picture::{Camera, Colour, Mesh, Quality, Scene, Sheet};
use fracas_scenes::soft::SoftScene;
use glam::Vec3;

fn seconds() -> f64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "torus-on-cube".into());
    let steps: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(60);
    let file = arguments.next();
    let point = arguments.next().is_some_and(|a| a == "point");
    let mut scene = match SoftScene::new(&name) {
        Ok(scene) => scene,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    scene.world_mut().set_clock(seconds);
    if point {
        let world = scene.world_mut();
        world.response = Response::Point;
        world.stiffness *= 0.1;
    }
    let mut sheet = Sheet::new(3).title(name);
    let (mut collision, mut rest, mut tears) = (0.0, 0.0, 0);
    for step in 0..steps {
        scene.step();
        let stats = *scene.stats();
        collision += stats.detect_time + stats.march_time + stats.respond_time;
        rest += stats.simulate_time;
        tears += stats.tears;
        if (step + 1) % (steps / 6).max(1) == 0 {
            println!(
                "step {:4}: {} overlaps, {} colliding tets, {} marched, {} pushes, {tears} tears, {} pieces; detect {:.1} march {:.1} respond {:.1} simulate {:.1} ms",
                step + 1,
                stats.overlaps,
                stats.colliding_tets,
                stats.marched_nodes,
                stats.pushes,
                scene.pieces(),
                1e3 * stats.detect_time,
                1e3 * stats.march_time,
                1e3 * stats.respond_time,
                1e3 * stats.simulate_time,
            );
            if let Err(error) = scene.world().validate() {
                println!("  invalid: {error}");
            }
            if file.is_some() {
                sheet.add(
                    picture(&scene),
                    format!("{:.2} s", (step + 1) as f32 * SoftScene::DT),
                );
            }
        }
    }
    println!(
        "collision {collision:.2} s of {:.2} s: {:.0} %",
        collision + rest,
        100.0 * collision / (collision + rest)
    );
    if let Some(file) = file
        && let Err(error) = sheet.image().save(&file)
    {
        eprintln!("error: {error}");
    }
}

fn picture(scene: &SoftScene) -> fracas_picture::Image {
    let mut drawn = Scene::new();
    drawn.ground(0.0);
    for (i, surface) in scene.surfaces().into_iter().enumerate() {
        let colour = if surface.is_fixed {
            Colour::from_srgb(150, 150, 155)
        } else if surface.is_cloth {
            Colour::from_srgb(200, 170, 110)
        } else {
            Colour::distinct(i)
        };
        let mut triangles = surface.triangles;
        if surface.is_cloth {
            let back: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
            triangles.extend(back);
        }
        drawn.add(
            Mesh::new(surface.positions, triangles)
                .colour(colour)
                .edges(Colour::from_srgb(40, 40, 40), 0.6),
        );
    }
    let camera = Camera::at(Vec3::new(1.9, 1.7, 2.4), Vec3::new(0.0, 0.55, 0.0));
    drawn.render(&camera, 480, 400, Quality::Draft)
}
