//! An unbroken object as numbers: the same object comes back, and whatever the numbers are,
//! they are refused by name or can be asked and broken.

use std::sync::Arc;

use fracas_core::object_trial::use_up;
use fracas_core::testing::{Rng, box_grid};
use fracas_core::{
    FieldOptions, FragmentId, ObjectData, ObjectDataError, TetMesh, TetMeshError, WholeObject,
};
use glam::Vec3;

/// Two boxes that touch in an edge: their surface is not 2-manifold as it stands.
fn touching_boxes() -> TetMesh {
    let one = box_grid([2, 2, 2], Vec3::ONE);
    let (mut positions, mut tets) = (one.positions().to_vec(), one.tets().to_vec());
    let moved = |n: &u32| {
        let p = one.positions()[*n as usize] + Vec3::new(1.0, 1.0, 0.0);
        one.positions()
            .iter()
            .position(|&q| q == p)
            .map(|n| n as u32)
    };
    let mut names = Vec::new();
    for n in 0..one.positions().len() as u32 {
        names.push(moved(&n).unwrap_or(positions.len() as u32));
        if names[n as usize] as usize == positions.len() {
            positions.push(one.positions()[n as usize] + Vec3::new(1.0, 1.0, 0.0));
        }
    }
    tets.extend(one.tets().iter().map(|tet| tet.map(|n| names[n as usize])));
    TetMesh::build(positions, tets).unwrap()
}

fn meshes() -> Vec<Arc<TetMesh>> {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    [
        box_grid([5, 4, 3], Vec3::new(0.5, 0.4, 0.3)),
        touching_boxes(),
        TetMesh::build(corners, vec![[0, 1, 2, 3]]).unwrap(),
    ]
    .map(Arc::new)
    .into()
}

#[test]
fn what_is_loaded_is_what_would_be_built() {
    let mut rng = Rng(3);
    let mut touching = 0;
    for mesh in meshes() {
        let built = WholeObject::build(&mesh, &FieldOptions::default()).unwrap();
        let data = ObjectData::of(&mesh, &FieldOptions::default()).unwrap();
        touching += usize::from(data.touches_itself);
        let found = data.load(&mesh).unwrap();
        assert_eq!(found.to_data(), data);
        assert_eq!(built.to_data(), data);
        // What is put together again, and not listed.
        assert_eq!(found.surface, built.surface);
        assert_eq!(found.mass, built.mass);
        assert!(found.tree.spheres().eq(built.tree.spheres()));
        assert_eq!(found.tree.positions(), built.tree.positions());
        found
            .tree
            .validate_for(&found.fragments, FragmentId(0))
            .unwrap();
        found.field.validate(&found.fragments).unwrap();
        for i in 0..built.tree.point_count() as u32 {
            assert_eq!(found.tree.point_id(i), built.tree.point_id(i));
            let [one, two] = [&found, &built].map(|object| object.tree.feature(i));
            assert_eq!((one.kind, one.normal), (two.kind, two.normal));
            assert_eq!(one.tangents(), two.tangents());
        }
        let [one, two] =
            [&found, &built].map(|object| object.field.of(&object.fragments, FragmentId(0)));
        for _ in 0..500 {
            let p = rng.in_box(Vec3::splat(-0.5), Vec3::splat(1.5));
            assert_eq!(one.signed_distance(p, 2.0), two.signed_distance(p, 2.0));
            let radius = rng.range(0.0, 0.3);
            assert_eq!(
                one.sphere_may_touch(p, radius),
                two.sphere_may_touch(p, radius)
            );
        }
        let mesh_again = TetMesh::build_with_neighbours(
            mesh.positions().to_vec(),
            mesh.tets().to_vec(),
            mesh.neighbours().to_vec(),
        );
        assert_eq!(mesh_again.as_ref(), Ok(&*mesh));
    }
    assert_eq!(touching, 1);
}

#[test]
fn wrong_neighbours_are_refused_with_their_place() {
    let mesh = box_grid([2, 2, 1], Vec3::ONE);
    let (positions, tets) = (mesh.positions(), mesh.tets());
    let build = |across: Vec<[u32; 4]>| {
        TetMesh::build_with_neighbours(positions.to_vec(), tets.to_vec(), across)
    };
    let refused = |across| match build(across) {
        Err(TetMeshError::NotNeighbours { .. }) => true,
        Err(other) => panic!("{other}"),
        Ok(_) => false,
    };
    let right = mesh.neighbours();
    assert!(refused(right[1..].to_vec()));
    for t in 0..tets.len() {
        for face in 0..4 {
            let mut across = right.to_vec();
            // Nobody, itself, somebody who is no neighbour, one too many.
            for wrong in [u32::MAX, t as u32, (t as u32 + 7) % 24, tets.len() as u32] {
                across[t][face] = wrong;
                assert_eq!(refused(across.clone()), wrong != right[t][face]);
            }
            // Both sides say that there is nobody: two faces in the same place.
            let other = right[t][face];
            if let Some(theirs) = right.get(other as usize) {
                let back = theirs.iter().position(|&u| u == t as u32).unwrap();
                across[t][face] = u32::MAX;
                across[other as usize][back] = u32::MAX;
                assert!(refused(across));
            }
        }
    }
    let mut across = right.to_vec();
    across[5].swap(0, 1);
    if across[5] != right[5] {
        let named = build(across).unwrap_err();
        assert!(named.to_string().contains("tetrahedron"), "{named}");
    }
}

/// Puts nasty numbers into a list, or takes some away.
fn damage<T: Copy>(list: &mut Vec<T>, rng: &mut Rng, nasty: &[T]) {
    if list.is_empty() {
        return;
    }
    let (at, other) = (rng.below(list.len()), rng.below(list.len()));
    match rng.below(5) {
        0 => list[at] = nasty[rng.below(nasty.len())],
        1 => list[at] = list[other],
        2 => list.swap(at, other),
        3 if rng.below(4) == 0 => list.truncate(at),
        3 => list[at..].iter_mut().take(9).for_each(|x| *x = nasty[0]),
        _ => list[other.min(at)..other.max(at)].reverse(),
    }
}

/// Damages one of the lists.
fn damage_any(data: &mut ObjectData<'_>, rng: &mut Rng, count: u32) {
    let whole = [0, 1, 2, count - 1, count, 1 << 24, u32::MAX - 1, u32::MAX];
    let real = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e-30,
        1e30,
        f32::MAX,
        f32::NAN,
        f32::INFINITY,
    ];
    let bytes = [0, 1, 2, 3, 4, 17, 0x31, 0xC3, 0xD3, 0xFF];
    match rng.below(23) {
        0 => damage(data.surface_faces.to_mut(), rng, &whole),
        1 => damage(data.feature_faces.to_mut(), rng, &whole),
        2 => damage(data.feature_order.to_mut(), rng, &whole),
        3 => damage(data.nodes.to_mut(), rng, &real.map(|x| [x; 4])),
        4 => data.nodes.to_mut()[rng.below(8)][rng.below(4)] = real[rng.below(real.len())],
        5 => damage(data.node_features.to_mut(), rng, &whole),
        6 => {
            let distances = real.map(|x| [x.to_bits(), 0, 0]);
            damage(data.grid_points.to_mut(), rng, &distances);
        }
        7 => damage(data.grid_points.to_mut(), rng, &whole.map(|x| [0, x, 0])),
        8 => damage(data.grid_points.to_mut(), rng, &whole.map(|x| [0, 0, x])),
        9 => damage(data.location_starts.to_mut(), rng, &whole),
        10 => damage(data.location_tets.to_mut(), rng, &whole),
        11 => damage(data.node_cells.to_mut(), rng, &whole.map(|x| [0, x])),
        12 => damage(data.tree_points.to_mut(), rng, &whole),
        13 | 14 => damage(data.tree_children.to_mut(), rng, &whole),
        15 => damage(data.tree_levels.to_mut(), rng, &bytes),
        16 => damage(data.tree_radii.to_mut(), rng, &real),
        17 => damage(data.point_kinds.to_mut(), rng, &bytes),
        18 => damage(data.point_normals.to_mut(), rng, &real.map(|x| [x; 3])),
        19 => damage(data.point_tangents.to_mut(), rng, &real.map(|x| [x; 3])),
        20 => data.mass[rng.below(13)] = f64::from(real[rng.below(real.len())]),
        21 => damage(data.cells.to_mut(), rng, &[0, u64::MAX]),
        _ => {
            data.touches_itself ^= true;
            let cell = real[rng.below(real.len())];
            match rng.below(4) {
                0 => data.options.location_cell = cell,
                1 => data.options.occupancy_cell = cell,
                2 => data.options.outer_surface_cell = cell,
                _ => data.options.outer_surface_most_cells = whole[rng.below(8)],
            }
        }
    }
}

#[test]
fn damaged_numbers_are_refused_by_name_or_can_be_used() {
    let (mut refused, mut used) = (std::collections::BTreeSet::new(), 0);
    for mesh in &meshes()[..2] {
        let data = ObjectData::of(mesh, &FieldOptions::default()).unwrap();
        for seed in 0..1500 {
            let (mut rng, mut damaged) = (Rng(seed), data.clone());
            for _ in 0..=rng.below(3) {
                damage_any(&mut damaged, &mut rng, mesh.tets().len() as u32);
            }
            match damaged.load(mesh) {
                Ok(object) => {
                    use_up(object, &mut rng);
                    used += 1;
                }
                Err(ObjectDataError::Misfit { list, .. }) => drop(refused.insert(list)),
                Err(_) => (),
            }
        }
    }
    assert!(used > 200, "{used} were accepted");
    // Every list is refused for one reason or another.
    assert!(refused.len() >= 17, "{refused:?}");
}

/// What two damaged sections of assets held: a node that is moved onto another one's place, but
/// for a distance whose square is zero in single precision.
#[test]
fn spheres_hold_points_that_are_almost_in_the_same_place() {
    let mesh = box_grid([2, 1, 1], Vec3::ONE);
    let mut accepted = 0;
    for n in 0..mesh.positions().len() {
        let mut positions = mesh.positions().to_vec();
        let apart = f32::from_bits(1);
        let origin = positions.iter().position(|p| *p == Vec3::ZERO).unwrap();
        positions[n] = positions[origin] + Vec3::new(apart, apart, 0.0);
        if let Ok(mesh) = TetMesh::build(positions, mesh.tets().to_vec()) {
            let mesh = Arc::new(mesh);
            let data = ObjectData::of(&mesh, &FieldOptions::default()).unwrap();
            data.load(&mesh).unwrap().tree.validate().unwrap();
            accepted += 1;
        }
    }
    assert!(accepted > 0);
}
