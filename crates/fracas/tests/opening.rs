//! Opening a model: what is said, how it is cancelled, what is kept; and its skin on the
//! pieces.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fracas::bake::bake::{BakeError, BakeModes, BakeOptions, Stage};
use fracas::bake::cache::BakeCache;
use fracas::bake::tetrahedralize::Size;
use fracas::bake::{FillNote, SurfaceMesh, boundary_surface, shapes};
use fracas::prelude::*;
use fracas::rapier::{OpenError, OpenNote, OpenOptions};

/// A brick as a model of its own, perhaps without one triangle.
fn model(folder: &Path, name: &str, drop: usize) -> PathBuf {
    let skin = boundary_surface(&shapes::by_name("brick").unwrap().build());
    let triangles = skin.triangles()[drop..].to_vec();
    let skin = SurfaceMesh::build(skin.positions().to_vec(), triangles).unwrap();
    let mut text = Vec::new();
    fracas::bake::write::write_obj(&mut text, &skin).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn options(cache: BakeCache) -> OpenOptions {
    OpenOptions {
        bake: BakeOptions {
            size: Some(Size::Tets(1500)),
            modes: Some(BakeModes {
                count: 8,
                material: Material::BRICK,
            }),
            ..BakeOptions::default()
        },
        cache,
    }
}

/// The stages that were reported, in order, once each.
fn open(path: &Path, options: &OpenOptions) -> (Breakable, Vec<Stage>) {
    let mut stages = Vec::new();
    let opened = Breakable::open_with(path, Material::BRICK, options, &mut |told| {
        stages.push(told.stage);
        ControlFlow::Continue(())
    });
    stages.dedup();
    (opened.unwrap(), stages)
}

/// The digest of a world after a fall.
fn fall(body: Breakable) -> u64 {
    let mut world = World::new(WorldSettings::default());
    world.add_floor(0.0, 0.6);
    world.add(
        body.at(rapier3d::prelude::Pose::translation(0.0, 0.3, 0.0))
            .moving(glam::Vec3::NEG_Y * 12.0),
    );
    for _ in 0..20 {
        world.step();
    }
    assert!(world.pieces().count() > 1);
    world.digest()
}

#[test]
fn second_open_is_loaded_and_repeats_all_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path(), "brick.obj", 0);
    let options = options(BakeCache::at(folder.path().join("cache")));
    let (first, stages) = open(&path, &options);
    assert_eq!(stages, Stage::ALL);
    let (second, stages) = open(&path, &options);
    assert_eq!(stages, [Stage::Load]);
    assert_eq!(first.blueprint.key(), second.blueprint.key());
    assert_eq!(first.notes(), second.notes());
    assert_eq!(fall(first), fall(second));
}

#[test]
fn notes_say_what_was_repaired_or_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path(), "open.obj", 1);
    let options = options(BakeCache::at(folder.path().join("cache")));
    for _ in 0..2 {
        let (opened, _) = open(&path, &options);
        let expected = OpenNote::Filled(FillNote::Open { edges: 3 });
        assert!(opened.notes().contains(&expected), "{:?}", opened.notes());
        assert!(opened.notes()[0].to_string().contains("open edges"));
    }
    let closed = model(folder.path(), "brick.obj", 0);
    assert!(open(&closed, &options).0.notes().is_empty());
}

#[test]
fn opening_is_cancelled_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path(), "brick.obj", 0);
    let cache = folder.path().join("cache");
    let options = options(BakeCache::at(&cache));
    let result = Breakable::open_with(
        &path,
        Material::BRICK,
        &options,
        &mut |told| match told.stage {
            Stage::Modes if told.share > 0.3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        },
    );
    assert!(matches!(result, Err(OpenError::Bake(BakeError::Cancelled))));
    assert!(!cache.exists());
}

#[test]
fn pieces_wear_the_models_own_skin_at_every_scale() {
    let folder = tempfile::tempdir().unwrap();
    let path = model(folder.path(), "brick.obj", 0);
    let (opened, _) = open(&path, &options(BakeCache::off()));
    let own = boundary_surface(&shapes::by_name("brick").unwrap().build());
    for scale in [1.0, 2.0] {
        let mut world = World::new(WorldSettings::default());
        world.add(opened.clone().scaled(scale).unwrap());
        let whole = world.pieces().next().unwrap();
        let buffers = world.vertex_buffers(whole).unwrap();
        assert!(buffers.is_closed());
        assert_eq!(buffers.indices.len(), 3 * own.triangles().len());
        let far = |p: &[f32; 3]| glam::Vec3::from_array(*p).length();
        let widest = buffers.positions.iter().map(far).fold(0.0, f32::max);
        let wanted = own
            .positions()
            .iter()
            .map(|p| p.length())
            .fold(0.0, f64::max);
        assert!((widest / (scale * wanted as f32) - 1.0).abs() < 1e-5);
        let fracture = {
            let state = world.shape(whole).unwrap().object().read();
            let options = fracas::fracture::patterns::VoronoiOptions::default();
            fracas::fracture::patterns::voronoi(state.fragments(), whole.fragment, &options)
        };
        let pieces = world.break_piece(whole, fracture.unwrap());
        assert!(pieces.len() > 3);
        let volume = |buffers: &fracas::rapier::VertexBuffers| -> f64 {
            let place = |v: u32| glam::Vec3::from_array(buffers.positions[v as usize]).as_dvec3();
            let corners = buffers.indices.chunks_exact(3);
            let sixths = corners.map(|t| place(t[0]).dot(place(t[1]).cross(place(t[2]))));
            sixths.sum::<f64>() / 6.0
        };
        let all = volume(&buffers);
        let sum: f64 = pieces
            .iter()
            .map(|&piece| {
                let buffers = world.vertex_buffers(piece).unwrap();
                assert!(buffers.is_closed() && !buffers.inside.is_empty());
                volume(&buffers)
            })
            .sum();
        assert!((sum / all - 1.0).abs() < 1e-4, "{sum} of {all}");
    }
}
