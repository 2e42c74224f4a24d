//! The procedural set and the assets: counts, angles, loading against baking.

use fracas_bake::Asset;
use fracas_bake::bake::{BakeOptions, Source, bake};
use fracas_bake::shapes::{self, Counts};
use fracas_bake::tetrahedralize::quality::angles;
use fracas_bake::tetrahedralize::{Size, boundary_topology};
use fracas_conformance::data;
use fracas_core::TetMesh;
use fracas_core::testing::Rng;

use crate::board::{Board, Measured, Target, best_ms};

/// Rows of shapes and assets.
pub fn rows(board: &mut Board) {
    if board.wants_group("shapes/") {
        shape_rows(board);
    }
    if board.wants_group("assets/") {
        asset_rows(board);
    }
}

fn shape_rows(board: &mut Board) {
    for shape in shapes::ALL {
        let name = shape.name();
        // Built once for all rows of the shape, and only if one is wanted.
        let mut built: Option<TetMesh> = None;
        let mut mesh = || built.get_or_insert_with(|| shape.build()).clone();
        if let Some(paper) = shape.paper() {
            board.row(
                &format!("shapes/{name}/counts-off"),
                "%",
                Target::AtMost(20.0),
                || {
                    let ours = Counts::of(&mesh());
                    let pairs = [
                        (ours.triangles, paper.triangles),
                        (ours.tets, paper.tets),
                        (ours.points, paper.points),
                    ];
                    let worst = pairs
                        .iter()
                        .map(|&(a, b)| (a as f64 / b as f64 - 1.0).abs() * 100.0)
                        .fold(0.0, f64::max);
                    Measured::new(worst).note(format!("{ours:?}")).against(
                        "Glondu 2013, Table 1: tets",
                        "2013",
                        paper.tets as f64,
                    )
                },
            );
        }
        board.row(
            &format!("shapes/{name}/min-angle"),
            "degrees",
            Target::AtLeast(5.0),
            || {
                let mesh = mesh();
                let positions: Vec<_> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
                let angles = angles(&positions, mesh.tets());
                let triangles: Vec<_> = mesh.boundary().map(|f| f.nodes).collect();
                let topology = boundary_topology(positions.len(), &triangles);
                Measured::new(angles.min).note(format!(
                    "99.9% above {:.1}; manifold {}",
                    angles.per_mille,
                    topology.is_manifold()
                ))
            },
        );
    }
    for (name, triangles, interior) in [
        ("ball", 2_500.0, 4_000.0),
        ("ball-fine", 10_000.0, 4_000.0),
        ("ball-sparse", 2_500.0, 435.0),
    ] {
        board.row(
            &format!("shapes/{name}/sampling-off"),
            "%",
            Target::AtMost(20.0),
            || {
                let mesh = shapes::by_name(name).expect("it is in the set").build();
                let inside = mesh.boundary_nodes().iter().filter(|b| !**b).count();
                let faces = mesh.boundary().count();
                let off = |a: usize, b: f64| (a as f64 / b - 1.0).abs() * 100.0;
                Measured::new(off(faces, triangles).max(off(inside, interior)))
                    .note(format!("{faces} triangles, {inside} points inside"))
            },
        );
    }
}

fn asset_rows(board: &mut Board) {
    for name in ["piggy-bank", "rabbit"] {
        board.row(
            &format!("assets/{name}/load-over-bake"),
            "times",
            Target::AtLeast(20.0),
            || load_over_bake(name, None),
        );
    }
    let row = "assets/bunny/load-over-bake";
    match data::find("surface/bunny_manifold_hr.obj") {
        None => board.skip(row, "needs surface/bunny_manifold_hr.obj"),
        Some(path) => board.row(row, "times", Target::AtLeast(20.0), || {
            load_over_bake(&path.display().to_string(), Some(Size::Tets(20_000)))
        }),
    }
    board.row(
        "assets/altered-noticed",
        "%",
        Target::AtLeast(100.0),
        || {
            let source = Source::open("plate").expect("it is in the set");
            let baked = bake(source, &BakeOptions::default(), &mut |_| ()).expect("it bakes");
            let bytes = baked.asset.to_bytes();
            let mut random = Rng(7);
            let tries = 2_000;
            let noticed = (0..tries)
                .filter(|_| {
                    let mut altered = bytes.clone();
                    let at = random.below(altered.len());
                    altered[at] ^= 1 << random.below(8);
                    Asset::from_bytes(&altered).is_err()
                })
                .count();
            Measured::new(noticed as f64 / f64::from(tries) * 100.0)
                .note(format!("{tries} altered files of {} bytes", bytes.len()))
        },
    );
}

/// How many times faster the asset is loaded from memory than it is baked.
fn load_over_bake(input: &str, size: Option<Size>) -> Measured {
    let options = BakeOptions {
        size,
        ..BakeOptions::default()
    };
    let once = || {
        let source = Source::open(input).expect("it is there");
        bake(source, &options, &mut |_| ()).expect("it bakes")
    };
    let bake_ms = best_ms(2, once);
    let bytes = once().asset.to_bytes();
    let load_ms = best_ms(7, || Asset::from_bytes(&bytes).expect("it loads"));
    Measured::new(bake_ms / load_ms).note(format!(
        "bake {bake_ms:.0} ms, load {load_ms:.2} ms, {} bytes",
        bytes.len()
    ))
}
