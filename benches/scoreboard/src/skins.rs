//! Skins: rims of broken models, the time to dress pieces, and a contact sheet.

use std::sync::Arc;

use fracas_bake::SurfaceMesh;
use fracas_bake::model::Model;
use fracas_bake::model::pieces::surfaces;
use fracas_bake::tetrahedralize::{self, Options};
use fracas_conformance::rims;
use fracas_core::dressing::SkinMap;
use fracas_core::{FragmentId, Fragments};
use fracas_fracture::patterns::{VoronoiOptions, voronoi};
use fracas_picture::{Camera, Colour, Mesh, Quality, Scene, Sheet};
use glam::{DVec3, Mat3, Vec3};

use crate::board::{Board, Measured, Target, best_ms, best_processor_ms, processor_seconds};

/// Seeds of each model.
const SEEDS: u64 = 20;

/// Rows of skins.
pub fn rows(board: &mut Board) {
    if !board.wants_group("skins") {
        return;
    }
    if ["skins/rim-open", "skins/rim-overlap", "skins/draped"]
        .iter()
        .any(|name| board.wants_row(name))
    {
        rims(board);
    }
    board.row(
        "skins/dress-300k-triangles",
        "ms",
        Target::AtMost(150.0),
        dress_large,
    );
    board.row(
        "skins/contact-sheet-40k-2-threads",
        "ms",
        Target::AtMost(1_000.0),
        contact_sheet,
    );
}

/// A sphere with bumps, of about so many triangles.
fn bumpy(triangles: usize) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = (0.5 * triangles as f64).sqrt() as usize;
    let (rings, around) = (n, n);
    let mut positions = vec![DVec3::Y, DVec3::NEG_Y];
    for j in 1..rings {
        for i in 0..around {
            let polar = std::f64::consts::PI * j as f64 / rings as f64;
            let turn = std::f64::consts::TAU * i as f64 / around as f64;
            let direction = DVec3::new(
                polar.sin() * turn.cos(),
                polar.cos(),
                polar.sin() * turn.sin(),
            );
            let bumps = (9.0 * direction.x).sin() * (8.0 * direction.y).sin();
            positions.push((1.0 + 0.04 * bumps * (7.0 * direction.z).cos()) * direction);
        }
    }
    let at = |j: usize, i: usize| (2 + (j - 1) * around + i % around) as u32;
    let mut all = Vec::new();
    for i in 0..around {
        all.push([0, at(1, i + 1), at(1, i)]);
        all.push([1, at(rings - 1, i), at(rings - 1, i + 1)]);
        for j in 1..rings - 1 {
            let [a, b, c, d] = [at(j, i), at(j, i + 1), at(j + 1, i + 1), at(j + 1, i)];
            all.extend([[a, b, d], [b, c, d]]);
        }
    }
    (positions, all)
}

fn rims(board: &mut Board) {
    let folder = std::env::temp_dir().join(format!("fracas-skins-{}", std::process::id()));
    let (mut models, mut runs, mut draped_models) = (0, 0, Vec::new());
    let (mut widest, mut most_off, mut off_where) = (0.0_f64, 0.0_f64, String::new());
    let mut left_out = Vec::new();
    for (name, path) in rims::model_files(&folder) {
        let Ok(rims) = rims::measure(&path, SEEDS) else {
            left_out.push(name);
            continue;
        };
        models += 1;
        runs += rims.broke;
        widest = widest.max(rims.widest);
        let off = rims.off[0].max(rims.off[1]);
        if off > most_off {
            (most_off, off_where) = (off, name.clone());
        }
        if rims.draped > 0 {
            draped_models.push(format!("{name} {}", rims.draped));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let tried = format!(
        "{models} models x {SEEDS} seeds, {runs} broke; left out: {}",
        left_out.join(" ")
    );
    board.row("skins/rim-open", "diagonal", Target::AtMost(1e-5), || {
        Measured::new(widest).note(format!("longest side without a neighbour; {tried}"))
    });
    board.row("skins/rim-overlap", "diag^3", Target::AtMost(1e-5), || {
        Measured::new(most_off).note(format!(
            "volume of all pieces against the whole's, draped or not; most in {off_where}"
        ))
    });
    board.row("skins/draped", "%", Target::None, || {
        let share = 100.0 * draped_models.len() as f64 / f64::from(models.max(1));
        Measured::new(share).note(format!(
            "models with a seed in which their own triangles leave a piece open: {}",
            draped_models.join(", ")
        ))
    });
}

/// Twenty pieces of a large model, after the break, on one thread.
fn dress_large() -> Measured {
    let (positions, triangles) = bumpy(300_000);
    let count = triangles.len();
    let (surface, _) =
        SurfaceMesh::repair(positions.clone(), &triangles).expect("a sphere is a surface");
    let filled = tetrahedralize::surface(&surface, &Options::tets(8_000));
    let mesh = Arc::new(filled.expect("a sphere has an inside").into_mesh());
    let start = processor_seconds();
    let map = SkinMap::build(&mesh, &positions, &triangles).expect("a sphere is a skin");
    let ahead = processor_seconds() - start;
    let model = Model::plain("bumpy", positions, triangles, [1.0; 4]);
    let mut fragments = Fragments::new(mesh.clone());
    let options = VoronoiOptions {
        pieces: 20,
        seed: 1,
        ..VoronoiOptions::default()
    };
    let fracture = voronoi(&fragments, FragmentId(0), &options).expect("it breaks");
    let ids = fragments.apply(&fracture).expect("it breaks").children;
    let cut = best_processor_ms(3, || {
        let all = ids.iter().map(|&id| map.dress(&fragments, id));
        all.map(|dress| dress.whole.len()).sum::<usize>()
    });
    let all = best_processor_ms(3, || {
        let all = ids.iter();
        all.map(|&id| surfaces(&model, &map.dress(&fragments, id), 1.0))
            .collect::<Vec<_>>()
    });
    Measured::new(all).note(format!(
        "{count} triangles in {} tetrahedra, {} pieces; cutting takes {cut:.0}, vertex buffers \
         the rest; the map, made ahead, {:.1} s",
        mesh.tets().len(),
        ids.len(),
        ahead
    ))
}

/// Nine pictures of twenty bodies, as `fracas run` draws them.
fn contact_sheet() -> Measured {
    let (positions, triangles) = bumpy(2_000);
    let positions: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
    let count = 20 * triangles.len();
    let draw = || {
        let mut sheet = Sheet::new(3).title("twenty bodies");
        for k in 0..9 {
            let mut scene = Scene::new();
            scene.ground(0.0);
            scene.ground_lines(1.0);
            for i in 0..20 {
                let at = Vec3::new((i % 5) as f32, 0.5 + 0.1 * k as f32, (i / 5) as f32);
                let body = Mesh::new(positions.clone(), triangles.clone());
                scene.add(
                    body.smooth(35.0)
                        .colour(Colour::from_srgb(200, 120, 110))
                        .moved(0.45 * Mat3::IDENTITY, at),
                );
            }
            let camera = Camera::framing(
                Vec3::new(-1.0, 0.0, -1.0),
                Vec3::new(5.0, 2.0, 4.0),
                Vec3::new(0.6, 0.42, 1.0),
            );
            let picture = scene.render(&camera, 420, 340, Quality::Fine);
            sheet.add(picture, format!("picture {k}"));
        }
        sheet.image()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.expect("two threads");
    let start = processor_seconds();
    let ms = pool.install(|| best_ms(3, draw));
    let processor = (processor_seconds() - start) / 3.0;
    Measured::new(ms).note(format!(
        "{count} triangles in each of nine pictures; {processor:.2} s of processor"
    ))
}
