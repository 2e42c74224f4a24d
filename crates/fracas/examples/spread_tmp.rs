use fracas::sphere_tree::*;
use fracas::testing::*;
use fracas::*;
use glam::Vec3;
use std::sync::Arc;
fn spread(out: &[Contact]) -> f32 {
    out.iter()
        .map(|c| {
            out.iter()
                .filter(|d| d.feature != c.feature)
                .map(|d| d.point.distance(c.point))
                .fold(9.0, f32::min)
        })
        .sum::<f32>()
        / out.len() as f32
}
fn main() {
    for m in [4u32, 6, 8, 12, 16] {
        let mut sums = [[0.0f64; 2]; 2];
        let mut cnt = [[0.0f64; 2]; 2];
        let mut whole = [0.0f32; 2];
        for seed in 0..10u64 {
            for (ri, r) in [Restructuring::MaximumDistance, Restructuring::Naive]
                .into_iter()
                .enumerate()
            {
                let mut rng = Rng(100 + seed);
                let mesh = box_grid([30, 2, 30], Vec3::new(2.0, 0.1, 2.0));
                let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
                let mut fr = Fragments::new(Arc::new(mesh));
                let mesh = fr.mesh().clone();
                let mut trees = vec![(FragmentId(0), tree)];
                let mut scratch = SplitScratch::default();
                for _ in 0..3 {
                    let mut next = vec![];
                    for (id, t) in trees {
                        let nodes = fr.fragment(id).nodes().to_vec();
                        let c: Vec3 = nodes
                            .iter()
                            .map(|&n| mesh.positions()[n as usize])
                            .sum::<Vec3>()
                            / nodes.len() as f32;
                        let mut nrm = rng.direction();
                        nrm.y *= 0.2;
                        let nrm = nrm.normalize();
                        let crack = Crack::from_level(&mesh, 0, &nodes, |n| {
                            (mesh.positions()[n as usize] - c).dot(nrm)
                        })
                        .unwrap();
                        let split = fr
                            .apply(&Fracture {
                                fragment: id,
                                cracks: vec![crack],
                            })
                            .unwrap();
                        let parts = t.apply(&fr, &split, r, &mut scratch);
                        next.extend(split.children.iter().copied().zip(parts));
                    }
                    trees = next;
                }
                for (ti, t) in [Traversal::WidestFirst, Traversal::Naive]
                    .into_iter()
                    .enumerate()
                {
                    for (_, tree) in &trees {
                        let mut q =
                            Query::new(0.01, tree.object_radius()).select(Selection::First(m));
                        q.normals = NormalSettings::field();
                        q.traversal = t;
                        let mut out = vec![];
                        tree.contacts(
                            &Pose::IDENTITY,
                            &HalfSpace::new(Vec3::Y, 0.0),
                            &q,
                            &mut QueryScratch::default(),
                            &mut out,
                        );
                        if out.len() >= m as usize {
                            sums[ri][ti] += spread(&out) as f64;
                            cnt[ri][ti] += 1.0;
                        }
                    }
                    let mesh = box_grid([30 + seed as u32, 2, 30], Vec3::new(2.0, 0.1, 2.0));
                    if seed < 3 {
                        let tree = SphereTree::build(&mesh, &BuildOptions::default()).unwrap();
                        let mut q =
                            Query::new(0.01, tree.object_radius()).select(Selection::First(m));
                        q.traversal = t;
                        let mut out = vec![];
                        tree.contacts(
                            &Pose::IDENTITY,
                            &HalfSpace::new(Vec3::Y, 0.0),
                            &q,
                            &mut QueryScratch::default(),
                            &mut out,
                        );
                        whole[ti] += spread(&out) / 6.0;
                    }
                }
            }
        }
        for i in 0..2 {
            for j in 0..2 {
                sums[i][j] /= cnt[i][j];
            }
        }
        println!(
            "m={m} restruct ours: trav ours {:.3} naive {:.3} | restruct naive: ours {:.3} naive {:.3} | whole ours {:.3} naive {:.3}",
            sums[0][0], sums[0][1], sums[1][0], sums[1][1], whole[0], whole[1]
        );
    }
}
