//! Pictures after Dingliana 2004: near-planar regions of surfaces (Fig. 6), raw and
//! reduced contacts (Fig. 9).

use fracas_core::testing::box_grid;
use fracas_core::used_vertices::used_vertices;
use fracas_core::{Pose, TetMesh};
use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene, Sheet};
use fracas_voxel::{
    Averaging, Budget, Detection, GroupContact, Grouping, Level, Primitive, VoxTree, VoxelGrid,
    primitive, reduce,
};
use glam::{Mat3, Vec3};

fn shape(name: &str) -> TetMesh {
    fracas_bake::shapes::by_name(name)
        .expect("a shape of the set")
        .build()
}

fn surface(mesh: &TetMesh) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    (
        mesh.positions().to_vec(),
        mesh.boundary().map(|f| f.nodes).collect(),
    )
}

fn tree(mesh: &TetMesh, across: f32) -> VoxTree {
    let positions = mesh.positions().iter();
    let low = positions.clone().fold(Vec3::INFINITY, |a, &b| a.min(b));
    let high = positions.fold(Vec3::NEG_INFINITY, |a, &b| a.max(b));
    let grid = VoxelGrid::from_tets(mesh, (high - low).max_element() / across);
    VoxTree::build(&grid.expect("a closed surface"), 2)
}

/// The cubes of a level, coloured by group, a little smaller than they are.
fn cubes(level: &Level, colour: impl Fn(u32) -> Colour) -> Mesh {
    let unit = box_grid([1, 1, 1], Vec3::ONE);
    let (mut positions, mut triangles, mut colours) = (Vec::new(), Vec::new(), Vec::new());
    for node in &level.nodes {
        let first = positions.len() as u32;
        let size = 0.94 * level.cell;
        positions.extend(
            unit.positions()
                .iter()
                .map(|p| node.centre + (*p - 0.5) * size),
        );
        for face in unit.boundary() {
            triangles.push(face.nodes.map(|n| n + first));
            colours.push(colour(node.group));
        }
    }
    Mesh::new(positions, triangles).colours(colours)
}

fn group_colour(group: u32) -> Colour {
    if group == 0 {
        Colour::from_srgb(150, 150, 150)
    } else {
        Colour::distinct(group as usize)
    }
}

/// Fig. 6: regions of the surface by colour, on cubes and mapped back on the mesh.
#[must_use]
pub fn groups() -> Image {
    let mut sheet = Sheet::new(3);
    for (name, towards) in [
        ("rabbit", Vec3::new(0.5, 0.35, 1.0)),
        ("mug", Vec3::new(0.6, 0.6, 1.0)),
    ] {
        let Some(found) = fracas_bake::shapes::by_name(name) else {
            continue;
        };
        let mesh = found.build();
        let tree = tree(&mesh, 30.0);
        let levels = tree.levels();
        let camera = Camera::framing_all(towards);
        for level in [levels.len() - 2, levels.len() - 1] {
            let mut scene = Scene::new();
            scene.add(cubes(&levels[level], group_colour));
            scene.ground_under_all();
            sheet.add(
                scene.render(&camera, 300, 270, Quality::Draft),
                format!(
                    "{name}, level {level}:\n{} cubes",
                    levels[level].nodes.len()
                ),
            );
        }
        let (positions, triangles) = surface(&mesh);
        let finest = &levels[levels.len() - 1];
        let colours = triangles
            .iter()
            .map(|t| {
                let middle = t.map(|n| positions[n as usize]).iter().sum::<Vec3>() / 3.0;
                let nearest = finest.nodes.iter().filter(|n| n.group != 0).min_by(|a, b| {
                    let d = |n: &fracas_voxel::Node| n.centre.distance_squared(middle);
                    d(a).total_cmp(&d(b))
                });
                nearest.map_or(group_colour(0), |n| group_colour(n.group))
            })
            .collect();
        let mut scene = Scene::new();
        scene.add(Mesh::new(positions, triangles).colours(colours));
        scene.ground_under_all();
        sheet.add(
            scene.render(&camera, 300, 270, Quality::Draft),
            format!("{name}, on the mesh:\n{} groups", tree.group_count()),
        );
    }
    sheet.image()
}

/// Fig. 9: contacts of every pair of cubes in red, what is left of them in green.
#[must_use]
pub fn contacts() -> Image {
    let mut sheet = Sheet::new(3);
    // Two rabbits that meet, and a cube in the corner of a step.
    let rabbit = shape("rabbit");
    let (low, high) = bounds(&rabbit);
    let meeting = Pose {
        rotation: Mat3::from_rotation_y(2.2),
        translation: Vec3::new(0.66 * (high.x - low.x), 0.0, 0.1 * (high.z - low.z)),
    };
    pair(&mut sheet, "rabbits", &rabbit, &rabbit, &meeting, [2, 3, 4]);
    let cube = box_grid([1, 1, 1], Vec3::splat(0.5));
    let step = step();
    let corner = Pose {
        rotation: Mat3::IDENTITY,
        translation: -Vec3::new(0.27, 0.27, 0.25),
    };
    pair(
        &mut sheet,
        "cube in a step",
        &cube,
        &step,
        &corner,
        [2, 3, 4],
    );
    sheet.image()
}

/// A floor and a riser of cubes, as tetrahedra: the z axis looks out of the corner.
fn step() -> TetMesh {
    let grid = box_grid([8, 8, 4], Vec3::new(1.2, 1.2, 1.0));
    let keep = |c: Vec3| c.x < 0.3 || c.y < 0.3;
    let tets: Vec<[u32; 4]> = grid
        .tets()
        .iter()
        .copied()
        .filter(|t| keep(t.map(|n| grid.positions()[n as usize]).iter().sum::<Vec3>() / 4.0))
        .collect();
    let (positions, tets) = used_vertices(grid.positions(), &tets);
    TetMesh::build(positions, tets).expect("part of a grid")
}

fn bounds(mesh: &TetMesh) -> (Vec3, Vec3) {
    let positions = mesh.positions().iter();
    (
        positions.clone().fold(Vec3::INFINITY, |a, &b| a.min(b)),
        positions.fold(Vec3::NEG_INFINITY, |a, &b| a.max(b)),
    )
}

fn pair(sheet: &mut Sheet, name: &str, a: &TetMesh, b: &TetMesh, pose: &Pose, levels: [u32; 3]) {
    let (tree_a, tree_b) = (tree(a, 14.0), tree(b, 14.0));
    let size = (bounds(a).1 - bounds(a).0).max_element();
    let mut detection = Detection::default();
    for level in levels {
        let budget = Budget {
            level: Some(level),
            ..Budget::default()
        };
        detection.refine(&tree_a, &tree_b, pose, &budget);
        let mut primitives: Vec<Primitive> = detection
            .pairs()
            .map(|p| primitive(&tree_a, &tree_b, pose, p))
            .collect();
        let mut reduced: Vec<GroupContact> = Vec::new();
        let line = -pose.translation;
        reduce(
            &mut primitives,
            Averaging::Weighted,
            Grouping::ByRegion,
            line,
            &mut reduced,
        );
        let mut scene = Scene::new();
        let colours = [
            Colour::from_srgb(196, 190, 176),
            Colour::from_srgb(170, 184, 200),
        ];
        let (p, t) = surface(a);
        scene.add(Mesh::new(p, t).colour(colours[0]));
        let (p, t) = surface(b);
        scene.add(
            Mesh::new(p, t)
                .colour(colours[1])
                .moved(pose.rotation, pose.translation),
        );
        let green = Colour::from_srgb(20, 150, 50);
        // The most probable ones: what a world would use.
        for contact in reduced.iter().take(6) {
            let end = contact.point + contact.normal * (0.28 * size);
            scene.line_on_top(contact.point, end, 4.0, green);
            scene.point_on_top(contact.point, 5.0, green);
        }
        // Of marks on top the first is uppermost: green must not drown in red.
        let red = Colour::from_srgb(205, 35, 30);
        for p in &primitives {
            let end = p.point + p.normal * (0.05 * size);
            scene.line_on_top(p.point, end, 1.0, red);
        }
        let camera = Camera::framing_all(Vec3::new(0.35, 0.3, 1.0));
        sheet.add(
            scene.render(&camera, 300, 260, Quality::Draft),
            format!(
                "{name}, level {level}:\n{} raw, {} reduced",
                primitives.len(),
                reduced.len()
            ),
        );
    }
}
