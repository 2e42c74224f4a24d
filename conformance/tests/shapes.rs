//! The procedural set: counts of Table 1, closed and manifold, good angles, right sizes.

use fracas_bake::shapes::{self, Counts, Shape};
use fracas_bake::tetrahedralize::quality::{Angles, angles};
use fracas_bake::tetrahedralize::{BoundaryTopology, boundary_topology};
use fracas_core::TetMesh;
use glam::{DVec3, Vec3};

fn angles_of(mesh: &TetMesh) -> Angles {
    let positions: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    angles(&positions, mesh.tets())
}

fn topology_of(mesh: &TetMesh) -> BoundaryTopology {
    let triangles: Vec<[u32; 3]> = mesh.boundary().map(|face| face.nodes).collect();
    boundary_topology(mesh.positions().len(), &triangles)
}

fn check_solid(shape: &Shape, mesh: &TetMesh) {
    let name = shape.name();
    mesh.validate().unwrap();
    let topology = topology_of(mesh);
    assert!(topology.is_manifold(), "{name}: {topology:?}");
    assert_eq!(topology.components, 1, "{name}");
    let angles = angles_of(mesh);
    assert!(angles.min >= 5.0, "{name}: {angles:?}");
    assert!(angles.per_mille >= 10.0, "{name}: {angles:?}");
}

#[test]
fn every_shape_is_a_solid_with_the_counts_of_the_paper() {
    println!("shape        triangles   tets  points  inside  min angle  per mille  volume");
    for shape in shapes::ALL {
        let mesh = shape.build();
        let counts = Counts::of(&mesh);
        let inside = mesh.boundary_nodes().iter().filter(|b| !**b).count();
        let angles = angles_of(&mesh);
        println!(
            "{:<12} {:>9} {:>6} {:>7} {:>7} {:>10.1} {:>10.1}  {:.3e}",
            shape.name(),
            counts.triangles,
            counts.tets,
            counts.points,
            inside,
            angles.min,
            angles.per_mille,
            mesh.volume()
        );
        check_solid(&shape, &mesh);
        if let Some(paper) = shape.paper() {
            for (what, ours, theirs) in [
                ("triangles", counts.triangles, paper.triangles),
                ("tets", counts.tets, paper.tets),
                ("points", counts.points, paper.points),
            ] {
                let ratio = ours as f64 / theirs as f64;
                assert!(
                    (0.8..=1.2).contains(&ratio),
                    "{}: {ours} {what} against {theirs}",
                    shape.name()
                );
            }
        }
        // Two openings between the boards of the shelf, no handle anywhere else.
        let handles = if shape.name() == "shelf" { 2 } else { 0 };
        assert_eq!(
            topology_of(&mesh).genus(),
            Some(handles),
            "{}",
            shape.name()
        );
    }
}

#[test]
fn the_balls_have_the_samplings_of_section_7_2() {
    for (name, triangles, interior) in [
        ("ball", 2_500, 4_000),
        ("ball-fine", 10_000, 4_000),
        ("ball-sparse", 2_500, 435),
    ] {
        let mesh = shapes::by_name(name).unwrap().build();
        let inside = mesh.boundary_nodes().iter().filter(|b| !**b).count();
        let faces = mesh.boundary().count();
        for (what, ours, theirs) in [
            ("triangles", faces, triangles),
            ("points", inside, interior),
        ] {
            let ratio = ours as f64 / f64::from(theirs);
            assert!(
                (0.8..=1.2).contains(&ratio),
                "{name}: {ours} {what} against {theirs}"
            );
        }
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.05_f64.powi(3);
        assert!(
            (mesh.volume() / exact - 1.0).abs() < 0.02,
            "{name}: {}",
            mesh.volume()
        );
    }
}

#[test]
fn sizes_are_those_of_real_things() {
    for (name, [x, y, z]) in [
        ("brick", [0.215, 0.065, 0.1025]),
        ("plate", [0.26, 0.0275, 0.26]),
        ("shelf", [0.64, 0.6, 0.28]),
        ("bowl", [0.16, 0.07, 0.16]),
        ("piggy-bank", [0.22, 0.135, 0.12]),
        ("rabbit", [0.2, 0.235, 0.11]),
    ] {
        let (lo, hi) = shapes::by_name(name).unwrap().build().bounds();
        let off = (hi - lo) / Vec3::new(x, y, z) - Vec3::ONE;
        assert!(
            off.abs().max_element() < 0.08,
            "{name}: {} ({off})",
            hi - lo
        );
    }
}

#[test]
fn the_piggy_bank_is_the_shape_it_was_asked_to_be() {
    let mesh = shapes::by_name("piggy-bank").unwrap().build();
    // Volume of the signed function by counting cells.
    let (lo, hi) = mesh.bounds();
    let (lo, hi) = (lo.as_dvec3() - 0.002, hi.as_dvec3() + 0.002);
    let cells = ((hi - lo) / 0.0012).ceil();
    let step = (hi - lo) / cells;
    let mut inside = 0_u64;
    for k in 0..cells.z as u32 {
        for j in 0..cells.y as u32 {
            for i in 0..cells.x as u32 {
                let at = DVec3::new(f64::from(i), f64::from(j), f64::from(k)) + 0.5;
                inside += u64::from(shapes::piggy_bank(lo + at * step) < 0.0);
            }
        }
    }
    let exact = inside as f64 * step.x * step.y * step.z;
    let ratio = mesh.volume() / exact;
    println!(
        "piggy bank: volume {:.4e}, of the function {exact:.4e}",
        mesh.volume()
    );
    assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
    // Boundary nodes lie on the function's zero level, to a fraction of an edge.
    let edge = f64::from(mesh.mean_edge_length());
    let far = mesh
        .positions()
        .iter()
        .zip(mesh.boundary_nodes())
        .filter(|(_, b)| *b)
        .map(|(p, _)| shapes::piggy_bank(p.as_dvec3()).abs())
        .fold(0.0, f64::max);
    println!(
        "farthest boundary node from the surface: {:.3} edges",
        far / edge
    );
    assert!(far < 0.5 * edge);
}

#[test]
fn the_same_shape_comes_out_every_time() {
    for name in ["rabbit", "plate", "ball-sparse"] {
        let shape = shapes::by_name(name).unwrap();
        assert_eq!(shape.build(), shape.build(), "{name}");
    }
}

#[test]
fn counts_can_be_asked_for() {
    for (name, tets, within) in [
        ("brick", 5_000, 0.2),
        ("plate", 3_000, 0.2),
        ("shelf", 30_000, 0.3),
        ("rabbit", 6_000, 0.2),
    ] {
        let shape = shapes::by_name(name).unwrap();
        let mesh = shape.build_with_tets(tets);
        check_solid(shape, &mesh);
        let ratio = mesh.tets().len() as f64 / tets as f64;
        assert!(
            (ratio - 1.0).abs() < within,
            "{name}: {} for {tets}",
            mesh.tets().len()
        );
    }
    assert!(shapes::by_name("teapot").is_none());
    assert_eq!(shapes::names().count(), 9);
}

/// At 2,000 tetrahedra the piggy bank once fell into pieces, and others had handles.
#[test]
fn coarse_shapes_stay_in_one_piece() {
    for shape in shapes::ALL {
        let own = topology_of(&shape.build()).genus();
        for tets in [300, 2_000, 4_000] {
            let mesh = shape.build_with_tets(tets);
            let name = shape.name();
            mesh.validate().unwrap();
            let topology = topology_of(&mesh);
            assert_eq!(topology.components, 1, "{name} of {tets}");
            // A shelf of 300 has no room for all of its compartments.
            if tets >= 2_000 {
                assert_eq!(topology.genus(), own, "{name} of {tets}");
            }
            println!("{name}: {} for {tets}", mesh.tets().len());
        }
    }
}
