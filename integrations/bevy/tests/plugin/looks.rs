//! What pieces look like, without a renderer: meshes of outer and crack faces, and that
//! something is seen in every frame.

use std::collections::BTreeMap;

use crate::common::{self, app, brick_of, count, fragile, steps};
#[cfg(feature = "layers")]
use bevy::camera::visibility::RenderLayers;
use bevy::mesh::VertexAttributeValues;
use bevy::prelude::*;
use bevy_fracas::prelude::*;
use bevy_fracas::{CrackFaces, StandIn, draw, draw_cracks, draw_outer, load, save};
use fracas_core::FragmentSurface;

fn positions(mesh: &Mesh) -> Vec<Vec3> {
    match mesh.attribute(Mesh::ATTRIBUTE_POSITION) {
        Some(VertexAttributeValues::Float32x3(list)) => list.iter().map(|&p| p.into()).collect(),
        _ => panic!("no positions"),
    }
}

fn normals(mesh: &Mesh) -> Vec<Vec3> {
    match mesh.attribute(Mesh::ATTRIBUTE_NORMAL) {
        Some(VertexAttributeValues::Float32x3(list)) => list.iter().map(|&p| p.into()).collect(),
        _ => panic!("no normals"),
    }
}

/// The corners of each triangle with their normals.
fn triangles(mesh: &Mesh) -> Vec<[(Vec3, Vec3); 3]> {
    let (positions, normals) = (positions(mesh), normals(mesh));
    let corners: Vec<usize> = match mesh.indices() {
        Some(indices) => indices.iter().collect(),
        None => (0..positions.len()).collect(),
    };
    let (corners, _) = corners.as_chunks::<3>();
    let at = |t: &[usize; 3]| t.map(|v| (positions[v], normals[v]));
    corners.iter().map(at).collect()
}

/// Triangles by the bits of their corners, from the least corner on.
fn count_triangles(list: impl Iterator<Item = [Vec3; 3]>) -> BTreeMap<[[u32; 3]; 3], usize> {
    let mut counts = BTreeMap::new();
    for triangle in list {
        let mut bits = triangle.map(|p| p.to_array().map(f32::to_bits));
        let least = (0..3).min_by_key(|&k| bits[k]).unwrap();
        bits.rotate_left(least);
        *counts.entry(bits).or_default() += 1;
    }
    counts
}

pub fn shatter(app: &mut App, entity: Entity, pieces: u32) {
    let by = common::cells(pieces);
    app.world_mut().commands().entity(entity).break_with(by);
    app.world_mut().flush();
}

/// A brick in the air with the mesh of a box, which hangs there.
pub fn add_seen_brick(app: &mut App) -> Entity {
    let mesh = Mesh::from(Cuboid::from_size(common::BRICK));
    let mesh = Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh));
    let still = bevy_rapier3d::prelude::GravityScale(0.0);
    let made = BreakableBlueprint::new(brick_of(8));
    app.world_mut().spawn((fragile(), made, mesh, still)).id()
}

/// Pieces that nothing shows: neither a mesh nor crack faces of their own, nor anything that
/// stands in for them.
fn unseen(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut cracks = world.query_filtered::<&ChildOf, (With<CrackFaces>, With<Mesh3d>)>();
    let cracks: Vec<Entity> = cracks.iter(world).map(ChildOf::parent).collect();
    let mut stand_ins = world.query_filtered::<Entity, With<StandIn>>();
    let stand_ins: Vec<Entity> = stand_ins.iter(world).collect();
    let shown = |world: &World, entity: Entity| {
        world.get::<Mesh3d>(entity).is_some() || cracks.contains(&entity)
    };
    if stand_ins.iter().any(|&entity| shown(world, entity)) {
        return 0;
    }
    let mut pieces = world.query_filtered::<Entity, With<Piece>>();
    let pieces: Vec<Entity> = pieces.iter(world).collect();
    pieces.iter().filter(|&&piece| !shown(world, piece)).count()
}

pub fn fragments(app: &mut App) -> Vec<Entity> {
    let world = app.world_mut();
    let mut found = world.query_filtered::<Entity, With<Fragment>>();
    found.iter(world).collect()
}

/// Waits until all meshes are made; in every frame everything is seen.
pub fn wait_for_meshes(app: &mut App) {
    for _ in 0..2000 {
        assert_eq!(unseen(app), 0);
        if count::<StandIn>(app) == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
        app.update();
    }
    panic!("the meshes are never made");
}

#[test]
fn outer_and_crack_faces_have_each_triangle_of_the_surface_once() {
    let mut app = app();
    let object = app
        .world_mut()
        .spawn((fragile(), common::brick(), Transform::default()))
        .id();
    steps(&mut app, 3);
    shatter(&mut app, object, 6);
    steps(&mut app, 2);
    let fracas = app.world().resource::<Fracas>();
    let pieces: Vec<_> = fracas.world().pieces().collect();
    assert!(pieces.len() > 3);
    for piece in pieces {
        let surface: &FragmentSurface = fracas.world().surface(piece).unwrap();
        let (outer, cracks) = (draw_outer(surface), draw_cracks(surface).unwrap());
        let outer = outer.iter().flat_map(triangles);
        let drawn: Vec<_> = outer.chain(triangles(&cracks)).collect();
        let own = (0..surface.triangles().len()).map(|t| surface.corners(t));
        let ours = drawn.iter().map(|t| t.map(|(place, _)| place));
        assert_eq!(count_triangles(ours), count_triangles(own));
        assert_eq!(drawn.len(), triangles(&draw(surface)).len());
        for [(a, n), (b, _), (c, _)] in drawn {
            assert!((n.length() - 1.0).abs() < 1e-4, "{n}");
            assert!(n.dot((b - a).cross(c - a)) > 0.0);
        }
    }
}

#[test]
fn pieces_wear_the_mesh_of_the_whole_with_its_texture() {
    let mut app = app();
    let object = add_seen_brick(&mut app);
    steps(&mut app, 3);
    shatter(&mut app, object, 6);
    steps(&mut app, 1);
    assert!(app.world().get::<StandIn>(object).is_some());
    wait_for_meshes(&mut app);
    assert!(app.world().get::<Mesh3d>(object).is_none());
    let all = fragments(&mut app);
    assert!(all.len() > 3);
    let world = app.world_mut();
    let mut cracks = world.query_filtered::<(&ChildOf, &Mesh3d), With<CrackFaces>>();
    let cracks: Vec<(Entity, Handle<Mesh>)> = cracks
        .iter(world)
        .map(|(of, mesh)| (of.parent(), mesh.0.clone()))
        .collect();
    assert_eq!(cracks.len(), all.len());
    let meshes = world.resource::<Assets<Mesh>>();
    let (mut area, mut volume) = (0.0, 0.0);
    for &fragment in &all {
        let outer = world.get::<Mesh3d>(fragment).map(|mesh| mesh.0.clone());
        let crack = cracks.iter().find(|(of, _)| *of == fragment).unwrap();
        for (handle, is_crack) in outer.iter().map(|h| (h, false)).chain([(&crack.1, true)]) {
            let mesh = meshes.get(handle).unwrap();
            assert!(mesh.contains_attribute(Mesh::ATTRIBUTE_UV_0));
            for [(a, n), (b, m), (c, o)] in triangles(mesh) {
                let turned = (b - a).cross(c - a);
                for normal in [n, m, o] {
                    assert!((normal.length() - 1.0).abs() < 1e-4);
                    assert!(normal.dot(turned) > -1e-9, "{normal} {turned}");
                }
                volume += a.cross(b).dot(c) / 6.0;
                if !is_crack {
                    area += 0.5 * turned.length();
                    // The normals of the box, not of its tetrahedra.
                    assert!(n.abs().max_element() > 0.999);
                }
            }
        }
    }
    let size = common::BRICK;
    let whole = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
    assert!((area / whole - 1.0).abs() < 1e-3, "{area} of {whole}");
    let whole = size.element_product();
    assert!((volume / whole - 1.0).abs() < 1e-3, "{volume} of {whole}");
}

#[test]
fn a_fragment_that_breaks_again_is_seen_in_every_frame() {
    let mut app = app();
    let object = add_seen_brick(&mut app);
    steps(&mut app, 3);
    shatter(&mut app, object, 3);
    steps(&mut app, 1);
    wait_for_meshes(&mut app);
    // Once when its meshes are made, then at once: before those of its pieces are.
    for round in 0..2 {
        let largest = fragments(&mut app).into_iter().max_by(|&a, &b| {
            let volume = |e| {
                let &Piece(piece) = app.world().get::<Piece>(e).unwrap();
                let fracas = app.world().resource::<Fracas>();
                fracas.world().shape(piece).unwrap().volume()
            };
            volume(a).total_cmp(&volume(b))
        });
        let before = fragments(&mut app).len();
        shatter(&mut app, largest.unwrap(), 4);
        steps(&mut app, 1);
        assert!(fragments(&mut app).len() > before, "round {round}");
        assert_eq!(unseen(&mut app), 0, "round {round}");
    }
    wait_for_meshes(&mut app);
    assert!(fragments(&mut app).len() > 4);
    assert_eq!(count::<Fragment>(&mut app), common::bodies(&mut app));
}

#[test]
fn an_object_despawned_while_meshes_are_made_leaves_nothing() {
    let mut app = app();
    let object = add_seen_brick(&mut app);
    steps(&mut app, 3);
    shatter(&mut app, object, 3);
    steps(&mut app, 1);
    app.world_mut().entity_mut(object).despawn();
    for _ in 0..50 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        app.update();
    }
    assert_eq!(count::<Mesh3d>(&mut app), 0);
    assert_eq!(common::bodies(&mut app), 0);
}

#[test]
fn an_object_that_is_whole_again_after_loading_is_seen_whole() {
    let mut app = app();
    let object = add_seen_brick(&mut app);
    steps(&mut app, 3);
    let bytes = save(app.world_mut()).unwrap();
    shatter(&mut app, object, 3);
    steps(&mut app, 1);
    wait_for_meshes(&mut app);
    load(app.world_mut(), &bytes).unwrap();
    assert!(app.world().get::<Mesh3d>(object).is_some());
    assert_eq!(
        (count::<Fragment>(&mut app), count::<Mesh3d>(&mut app)),
        (0, 1)
    );
    steps(&mut app, 3);
    assert_eq!(unseen(&mut app), 0);
}

#[cfg(feature = "layers")]
#[test]
fn fragments_and_their_cracks_are_in_the_layers_of_the_whole() {
    let mut app = app();
    let layers = RenderLayers::from_layers(&[2, 5]);
    let object = add_seen_brick(&mut app);
    app.world_mut().entity_mut(object).insert(layers.clone());
    steps(&mut app, 3);
    shatter(&mut app, object, 4);
    steps(&mut app, 1);
    wait_for_meshes(&mut app);
    let seen = count::<Fragment>(&mut app) + count::<CrackFaces>(&mut app);
    assert!(seen > 3);
    let world = app.world_mut();
    let mut found = world.query_filtered::<&RenderLayers, Or<(With<Fragment>, With<CrackFaces>)>>();
    let found: Vec<_> = found.iter(world).cloned().collect();
    assert_eq!(found, vec![layers; seen]);
}
