//! Fragments of small grids, broken in all ways.

use super::*;
use crate::crack::{Crack, Fracture, FractureError};
use crate::testing::{Rng, box_grid};

fn grid() -> Fragments {
    Fragments::new(Arc::new(box_grid([4, 4, 4], Vec3::ONE)))
}

fn break_by(
    fragments: &mut Fragments,
    id: FragmentId,
    mut level: impl FnMut(Vec3) -> f32,
) -> Option<Split> {
    let mesh = fragments.mesh().clone();
    let nodes = fragments.fragment(id).nodes();
    let crack = Crack::from_level(&mesh, 0, nodes, |n| level(mesh.positions()[n as usize]))?;
    Some(
        fragments
            .apply(&Fracture {
                fragment: id,
                cracks: vec![crack],
            })
            .unwrap(),
    )
}

#[test]
fn a_plane_makes_two_halves_and_cuts_the_edges_that_cross_it() {
    let mut fragments = grid();
    let split = break_by(&mut fragments, FragmentId(0), |p| p.x - 0.6).unwrap();
    assert_eq!(split.children, [FragmentId(1), FragmentId(2)]);
    assert!(
        split
            .cut_edges
            .iter()
            .all(|e| (e.point.x - 0.6).abs() < 1e-6)
    );
    fragments.validate().unwrap();
}

#[test]
fn parts_that_are_not_connected_become_fragments_of_their_own() {
    let mut fragments = grid();
    let split = break_by(&mut fragments, FragmentId(0), |p| 0.2 - (p.x - 0.5).abs()).unwrap();
    assert_eq!(split.children.len(), 3, "a slab leaves two sides");
    fragments.validate().unwrap();
}

/// The workspace belongs to the thread: objects of other sizes and fractures that do not
/// fit leave nothing in it.
#[test]
fn what_breaks_on_one_thread_is_the_same_whatever_broke_there_before() {
    let sizes = [[5, 4, 4], [2, 3, 2], [6, 6, 3]];
    let break_one = |cells: [u32; 3]| {
        let mut fragments = Fragments::new(Arc::new(box_grid(cells, Vec3::ONE)));
        let mut rng = Rng(u64::from(cells[0]));
        let mut splits = Vec::new();
        for _ in 0..6 {
            let last = fragments.living().last().unwrap();
            let turn = rng.direction();
            splits.extend(break_by(&mut fragments, last, |p| {
                turn.dot(p - Vec3::splat(0.5)) + 0.05
            }));
            // The second crack splits a part that is not there: nothing may stay of the first.
            let living = fragments.living().next().unwrap();
            let nodes = fragments.fragment(living).nodes();
            let crack = Crack::from_level(fragments.mesh(), 0, nodes, |_| rng.range(-1.0, 1.0));
            let Some(crack) = crack else { continue };
            let wrong = Crack {
                part: 7,
                ..crack.clone()
            };
            let cracks = vec![crack, wrong];
            let refused = fragments.apply(&Fracture {
                fragment: living,
                cracks,
            });
            assert!(matches!(refused, Err(FractureError::NoSuchPart { .. })));
        }
        fragments.validate().unwrap();
        splits
    };
    let one_after_the_other = sizes.map(break_one);
    for (cells, expected) in sizes.into_iter().zip(one_after_the_other) {
        let alone = std::thread::spawn(move || break_one(cells)).join().unwrap();
        assert_eq!(alone, expected);
        assert!(!alone.is_empty());
    }
}

#[test]
fn it_breaks_again_until_every_fragment_is_one_node_and_says_so() {
    let mut fragments = Fragments::new(Arc::new(box_grid([2, 2, 2], Vec3::ONE)));
    let mut rng = Rng(7);
    loop {
        let breakable: Vec<_> = fragments
            .living()
            .filter(|&f| fragments.fragment(f).nodes().len() > 1)
            .collect();
        if breakable.is_empty() {
            break;
        }
        for id in breakable {
            break_by(&mut fragments, id, |_| rng.range(-1.0, 1.0));
            fragments.validate().unwrap();
        }
    }
    assert_eq!(fragments.living().count(), 27);
    let last = fragments.living().last().unwrap();
    let fracture = Fracture {
        fragment: last,
        cracks: vec![],
    };
    assert_eq!(
        fragments.apply(&fracture),
        Err(FractureError::Unbreakable(last))
    );
}

#[test]
fn several_cracks_in_one_fracture_split_parts_of_parts() {
    let mut fragments = grid();
    let mesh = fragments.mesh().clone();
    let all: Vec<u32> = (0..mesh.positions().len() as u32).collect();
    let x = |n: u32| mesh.positions()[n as usize].x - 0.45;
    let y = |n: u32| mesh.positions()[n as usize].y - 0.55;
    let first = Crack::from_level(&mesh, 0, &all, x).unwrap();
    let right: Vec<u32> = all.iter().copied().filter(|&n| x(n) > 0.0).collect();
    let second = Crack::from_level(&mesh, 1, &right, y).unwrap();
    let split = fragments
        .apply(&Fracture {
            fragment: FragmentId(0),
            cracks: vec![first, second],
        })
        .unwrap();
    assert_eq!(split.children.len(), 3);
    fragments.validate().unwrap();
}

#[test]
fn every_point_of_a_cut_tet_is_in_the_piece_that_the_planes_say() {
    let mut fragments = grid();
    let mut rng = Rng(3);
    for id in [0, 1, 2] {
        break_by(&mut fragments, FragmentId(id), |p| {
            p.dot(Vec3::new(1.0, 0.3, -0.2)) - 0.2 - 0.2 * id as f32
        });
    }
    for tet in 0..fragments.mesh().tets().len() as u32 {
        for i in 0..4 {
            let mut corner = [0.0; 4];
            corner[i] = 1.0;
            let node = fragments.mesh().tets()[tet as usize][i];
            assert_eq!(
                fragments.fragment_at(tet, corner),
                fragments.node_fragment()[node as usize]
            );
        }
        let Some(cut) = fragments.cut(tet) else {
            continue;
        };
        for _ in 0..20 {
            let mut l = [rng.unit(), rng.unit(), rng.unit(), rng.unit()];
            let sum: f32 = l.iter().sum();
            l.iter_mut().for_each(|x| *x /= sum);
            let i = cut.node_of(l);
            for j in 0..4 {
                let Some(plane) = cut.separator(i, j) else {
                    continue;
                };
                let level: f32 = (0..4).map(|k| plane[k] * l[k]).sum();
                assert_eq!(level >= 0.0, plane[i] > 0.0);
            }
        }
    }
}

#[test]
fn levels_too_small_to_multiply_still_part_their_nodes() {
    let mut fragments = grid();
    let all = fragments.fragment(FragmentId(0)).nodes().to_vec();
    let levels = all
        .iter()
        .map(|&n| (n, if n % 3 == 0 { 1e-30 } else { -1e-30 }));
    let crack = Crack {
        part: 0,
        levels: levels.collect(),
    };
    let fracture = Fracture {
        fragment: FragmentId(0),
        cracks: vec![crack],
    };
    fragments.apply(&fracture).unwrap();
    fragments.validate().unwrap();
}

#[test]
fn bad_fractures_are_refused_and_change_nothing() {
    let mut fragments = grid();
    let all = fragments.fragment(FragmentId(0)).nodes().to_vec();
    let id = FragmentId(0);
    let levels = |f: &dyn Fn(u32) -> f32| all.iter().map(|&n| (n, f(n))).collect::<Vec<_>>();
    let mut refuse =
        |fragment, cracks| fragments.apply(&Fracture { fragment, cracks }).unwrap_err();
    assert_eq!(
        refuse(FragmentId(9), vec![]),
        FractureError::NoSuchFragment(FragmentId(9))
    );
    assert_eq!(refuse(id, vec![]), FractureError::NoCrack(id));
    let one_sided = Crack {
        part: 0,
        levels: levels(&|_| 1.0),
    };
    assert_eq!(
        refuse(id, vec![one_sided]),
        FractureError::OneSided { crack: 0, part: 0 }
    );
    let nan = Crack {
        part: 0,
        levels: levels(&|n| if n == 5 { f32::NAN } else { -1.0 }),
    };
    assert!(matches!(
        refuse(id, vec![nan]),
        FractureError::BadLevel { node: 5, .. }
    ));
    let mut short = levels(&|n| n as f32 - 3.5);
    short.remove(2);
    let short = Crack {
        part: 0,
        levels: short,
    };
    assert_eq!(
        refuse(id, vec![short]),
        FractureError::WrongNodes {
            crack: 0,
            part: 0,
            node: 2
        }
    );
    let ahead = Crack {
        part: 1,
        levels: levels(&|n| n as f32 - 3.5),
    };
    assert!(matches!(
        refuse(id, vec![ahead]),
        FractureError::NoSuchPart {
            part: 1,
            parts: 1,
            ..
        }
    ));
    fragments.validate().unwrap();
    assert_eq!(fragments.living().count(), 1);
}

#[test]
fn children_are_counted_without_cutting() {
    let mut rng = Rng(7);
    let mut several = 0;
    for _ in 0..40 {
        let mut fragments = grid();
        let mesh = fragments.mesh().clone();
        let mut left: Vec<u32> = fragments.fragment(FragmentId(0)).nodes().to_vec();
        let mut cracks = Vec::new();
        let mut last = 1;
        for _ in 0..3 {
            // Noise leaves parts that are not connected.
            let crack = Crack::from_level(&mesh, 0, &left, |_| rng.range(-0.5, 1.5));
            let Some(crack) = crack else { continue };
            let stays = |n: u32| crack.levels.iter().any(|&(m, s)| m == n && s < 0.0);
            left.retain(|&n| stays(n));
            cracks.push(crack);
            let fracture = Fracture {
                fragment: FragmentId(0),
                cracks: cracks.clone(),
            };
            let count = fragments.count_children(&fracture).unwrap();
            assert!(count >= last, "a crack more never leaves fewer pieces");
            assert_eq!(
                fragments.clone().apply(&fracture).unwrap().children.len(),
                count
            );
            last = count;
        }
        several += u32::from(last > cracks.len() + 1);
        let wrong = Fracture {
            fragment: FragmentId(3),
            cracks,
        };
        assert!(fragments.count_children(&wrong).is_err());
        assert!(break_by(&mut fragments, FragmentId(0), |p| p.x - 0.6).is_some());
    }
    assert!(several > 20);
}
