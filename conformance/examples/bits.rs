//! What other languages must agree with, to the last bit: checksums of results of every
//! system, as JSON, for the tests of `bindings/python`.
//!
//! `cargo run --release -p fracas-conformance --example bits`

use std::error::Error;
use std::sync::Arc;

use fracas_bake::bake::{BakeModes, BakeOptions, Source, bake};
use fracas_bake::fill::{FillOptions, fill};
use fracas_bake::shatter::{Pattern, ShatterOptions, plan, shared_areas};
use fracas_bake::tetrahedralize::{Size, Thicken};
use fracas_bake::{boundary_surface, shapes};
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::{
    FieldOptions, FragmentField, FragmentId, FragmentSurface, Fragments, SurfaceScratch, TetMesh,
};
use fracas_fastcd::{Contacts, FastBvh, Scratch, Settings};
use fracas_fracture::random::Random;
use fracas_fracture::{Breaker, FractureSettings, Material, Modes, ModesOptions, RefractureRule};
use fracas_rapier::{Blueprint, Breakable, World, WorldSettings};
use fracas_tet_distance::{DepthField, Method, Topology};
use fracas_voxel::{VoxTree, VoxelGrid};
use glam::{DVec3, Vec3};
use rapier3d::prelude::Pose;
use serde_json::{Value, json};

/// CRC-32 of numbers in little-endian order, as `zlib.crc32` gives it.
fn checksum(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let bytes: Vec<u8> = bytes.into_iter().collect();
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    crc.sum()
}

fn singles(values: impl IntoIterator<Item = f32>) -> u32 {
    checksum(values.into_iter().flat_map(f32::to_le_bytes))
}

fn vectors(values: impl IntoIterator<Item = Vec3>) -> u32 {
    singles(values.into_iter().flat_map(|v| v.to_array()))
}

fn doubles(values: impl IntoIterator<Item = f64>) -> u32 {
    checksum(values.into_iter().flat_map(f64::to_le_bytes))
}

fn numbers(values: impl IntoIterator<Item = u32>) -> u32 {
    checksum(values.into_iter().flat_map(u32::to_le_bytes))
}

/// Points in and around a box, half as large again.
fn points_around(mesh: &TetMesh, count: usize) -> Vec<Vec3> {
    let (low, high) = mesh.bounds();
    let mut chance = Random::new(22);
    let mut point = || {
        let share = Vec3::new(chance.unit(), chance.unit(), chance.unit());
        low + (high - low) * (share * 1.5 - 0.25)
    };
    (0..count).map(|_| point()).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for name in ["brick", "bowl", "rabbit", "piggy-bank"] {
        let shape = shapes::by_name(name).ok_or("no such shape")?;
        all.push(of_shape(name, Arc::new(shape.build()))?);
    }
    let told =
        json!({ "shapes": all, "world": of_world()?, "bake": of_bake()?, "fastcd": of_fastcd()? });
    println!("{told:#}");
    Ok(())
}

fn of_shape(name: &str, mesh: Arc<TetMesh>) -> Result<Value, Box<dyn Error>> {
    let points = points_around(&mesh, 2000);
    let mut fragments = Fragments::new(mesh.clone());
    let mut field = FragmentField::build(&fragments, &FieldOptions::default())?;
    let far = |field: &FragmentField, fragments: &Fragments, id| {
        let view = field.of(fragments, id);
        let found = points.iter().map(|&p| view.signed_distance(p, 0.05));
        singles(found.map(|d| d.map_or(f32::INFINITY, |d| d.distance)))
    };
    let whole = far(&field, &fragments, FragmentId(0));
    let options = ShatterOptions {
        pattern: Pattern::Voronoi,
        pieces: 9,
        seed: 5,
        ..ShatterOptions::default()
    };
    let plan = plan(&fragments, FragmentId(0), None, &options, &mut |_| ())?;
    let split = fragments.apply(&plan.fracture)?;
    field.apply(&fragments, &split);
    let mut scratch = SurfaceScratch::default();
    let surfaces: Vec<FragmentSurface> = split
        .children
        .iter()
        .map(|&id| FragmentSurface::extract(&fragments, id, &mut scratch))
        .collect();
    let pieces: Vec<_> = split.children.iter().copied().zip(&surfaces).collect();
    let topology = Topology::build(mesh.positions().len(), mesh.tets())?;
    let mut depths = DepthField::new(Method::ClosestFeature);
    depths.march(&topology, mesh.positions());
    let cell = 1.5 * mesh.mean_edge_length();
    let grid = VoxelGrid::from_tets(&mesh, cell)?;
    let tree = VoxTree::build(&grid, 2);
    let cubes = tree.levels().iter().flat_map(|level| &level.nodes);
    let surface = boundary_surface(&mesh);
    let filled = fill(
        &surface,
        &FillOptions {
            size: Some(Size::Tets(3000)),
            thicken: Thicken::Refuse,
            ..FillOptions::default()
        },
    );
    Ok(json!({
        "name": name,
        "positions": vectors(mesh.positions().iter().copied()),
        "tets": numbers(mesh.tets().iter().flatten().copied()),
        "distances": whole,
        "piece_distances": split.children.iter().map(|&id| far(&field, &fragments, id)).collect::<Vec<_>>(),
        "volumes": doubles(surfaces.iter().map(|s| s.mass_properties().volume)),
        "areas": doubles(shared_areas(&pieces).iter().map(|s| s.area)),
        "depths": singles(depths.depths().iter().copied()),
        "cell": cell,
        "cubes": vectors(cubes.clone().map(|n| n.centre)),
        "occupancies": singles(cubes.map(|n| n.occupancy)),
        "filled": filled.ok().map(|f| vectors(f.made.mesh().positions().iter().copied())),
    }))
}

fn of_bake() -> Result<Value, Box<dyn Error>> {
    let options = BakeOptions {
        size: Some(Size::Tets(1500)),
        thicken: Thicken::Refuse,
        modes: Some(BakeModes {
            count: 12,
            material: Material::by_name("porcelain")?,
        }),
        ..BakeOptions::default()
    };
    let mut baked = bake(Source::open("rabbit")?, &options, &mut |_| ())?;
    baked.asset.add_object()?;
    Ok(json!(checksum(baked.asset.to_bytes())))
}

/// A plate falls, breaks, and a ball comes down on what is left.
fn of_world() -> Result<Value, Box<dyn Error>> {
    let mesh = Arc::new(shapes::by_name("plate").ok_or("no plate")?.build());
    let material = Material::by_name("porcelain")?;
    let fragments = Fragments::new(mesh.clone());
    let modes = ModesOptions::default();
    let modes = Modes::compute(&fragments, FragmentId(0), &material, &modes, &mut |_| ())?;
    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
    let blueprint = Arc::new(Blueprint::build(mesh, &field, &tree)?);
    let settings = FractureSettings {
        max_cracks: 12,
        max_fragments: 12,
        seed: 3,
        ..FractureSettings::default()
    };
    let rule = RefractureRule {
        least_nodes_for_modes: 60,
        least_nodes_for_pattern: 24,
        most_generations: 1,
        modes: 24,
    };
    let breaker = Breaker::new(material, Some(Arc::new(modes)));
    let breaker = breaker.with_settings(settings).with_rule(rule);
    let mut world = World::new(WorldSettings {
        length_unit: 0.05,
        ..WorldSettings::default()
    });
    world.physics.integration_parameters.dt = 0.01;
    world.add_floor(0.0, 0.6);
    let options = Breakable::new(blueprint).at(Pose::translation(0.0, 0.3, 0.0));
    world.add(Breakable {
        velocity: Vec3::new(0.5, -4.0, 0.0),
        spin: Vec3::new(1.0, 0.0, 2.0),
        ..options.with_breaker(breaker)
    });
    let mut energies = Vec::new();
    for _ in 0..120 {
        world.step();
        energies.push(world.energy());
    }
    Ok(json!({
        "digest": world.digest(),
        "energies": doubles(energies),
        "pieces": world.pieces().count(),
    }))
}

/// A sheet that folds onto itself.
fn of_fastcd() -> Result<Value, Box<dyn Error>> {
    let side = 24_u32;
    let flat: Vec<DVec3> = (0..side * side)
        .map(|i| DVec3::new(f64::from(i % side), 0.0, f64::from(i / side)))
        .collect();
    let corner = |x: u32, z: u32| z * side + x;
    let triangles: Vec<[u32; 3]> = (0..side - 1)
        .flat_map(|z| (0..side - 1).map(move |x| (x, z)))
        .flat_map(|(x, z)| {
            let [a, b] = [corner(x, z), corner(x + 1, z)];
            let [c, d] = [corner(x, z + 1), corner(x + 1, z + 1)];
            [[a, c, b], [b, c, d]]
        })
        .collect();
    let mut scene = FastBvh::new(Settings::default());
    let body = scene.add(&flat, &triangles)?;
    scene.update();
    // The right half is laid over the left one, and a little through it.
    let half = f64::from(side / 2);
    let fold = |p: &DVec3| {
        if p.x > half {
            DVec3::new(
                2.0 * half - p.x + 0.25,
                0.125 * (p.x - half) - 0.5,
                p.z + 0.125,
            )
        } else {
            *p
        }
    };
    let folded: Vec<DVec3> = flat.iter().map(fold).collect();
    scene.move_vertices(body, &folded)?;
    scene.update();
    let (mut scratch, mut contacts) = (Scratch::default(), Contacts::default());
    scene.contacts(&mut scratch, &mut contacts);
    let mut pairs = Vec::new();
    scene.intersections(&mut scratch, &mut pairs);
    Ok(json!({
        "vertex_face": contacts.vertex_face.len(),
        "vertex_face_times": doubles(contacts.vertex_face.iter().map(|c| c.time)),
        "edge_edge": contacts.edge_edge.len(),
        "edge_edge_times": doubles(contacts.edge_edge.iter().map(|c| c.time)),
        "intersections": numbers(pairs.iter().flatten().copied()),
        "count": pairs.len(),
    }))
}
