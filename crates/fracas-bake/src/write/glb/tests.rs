//! What is written is read back by the `gltf` crate.

use super::*;
use crate::glb_container::total_length;

fn sample() -> Glb {
    let mut glb = Glb::new();
    let outside = glb.material(&Material::new("glaze", [0.9, 0.2, 0.1, 1.0]));
    let inside = glb.material(&Material::new("crack", [0.5, 0.5, 0.5, 0.5]));
    let p = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z * 2.5];
    let normals = [Vec3::X, Vec3::Y, Vec3::Z * 3.0, Vec3::ZERO];
    let uvs = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]];
    let parts = [
        Part::new(&p, &[[0, 2, 1], [0, 1, 3]], outside)
            .normals(&normals)
            .uvs(&uvs),
        Part::new(&p, &[[1, 2, 3]], inside),
        Part::new(&p, &[], inside),
    ];
    let mesh = glb.mesh("shard", &parts).unwrap();
    for i in 0..2 {
        let place = Place {
            translation: Vec3::X * i as f32,
            ..Place::default()
        };
        let node = glb.node(&format!("shard {i}"), Some(mesh), place).unwrap();
        let times = [0.0, 0.5, 1.0];
        glb.animate_translation(node, &times, &[Vec3::ZERO, Vec3::Y, Vec3::Y * 3.0])
            .unwrap();
        let turn = [
            [0.0, 0.0, 0.0, 2.0],
            [0.0, 0.0, 0.6, -0.8],
            [0.0, 0.0, 1.0, 0.0],
        ];
        glb.animate_rotation(node, &times, &turn).unwrap();
        glb.animate_visibility(node, &[0.0, 0.25], &[false, true])
            .unwrap();
    }
    glb
}

#[test]
fn the_gltf_crate_reads_everything_back() {
    let bytes = sample().to_bytes().unwrap();
    assert_eq!(bytes.len() % 4, 0);
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = blob.unwrap();
    let lengths: Vec<usize> = document.buffers().map(|b| b.length()).collect();
    assert!(matches!(lengths[..], [length] if length <= blob.len()));
    assert_eq!(document.materials().count(), 2);
    assert_eq!(document.nodes().count(), 2);
    let mesh = document.meshes().next().unwrap();
    assert_eq!((mesh.name(), mesh.primitives().len()), (Some("shard"), 2));
    let part = mesh.primitives().next().unwrap();
    assert_eq!(part.bounding_box().max, [1.0, 1.0, 2.5]);
    let reader = part.reader(|_| Some(&blob));
    let positions: Vec<_> = reader.read_positions().unwrap().collect();
    assert_eq!(positions[3], [0.0, 0.0, 2.5]);
    let indices: Vec<_> = reader.read_indices().unwrap().into_u32().collect();
    assert_eq!(indices, [0, 2, 1, 0, 1, 3]);
    for n in reader.read_normals().unwrap() {
        assert!((Vec3::from(n).length() - 1.0).abs() < 1e-6);
    }
    assert_eq!(reader.read_tex_coords(0).unwrap().into_f32().count(), 4);
    let animation = document.animations().next().unwrap();
    assert_eq!(animation.channels().count(), 6);
    for channel in animation.channels() {
        let reader = channel.reader(|_| Some(&blob));
        let times: Vec<f32> = reader.read_inputs().unwrap().collect();
        match reader.read_outputs().unwrap() {
            gltf::animation::util::ReadOutputs::Rotations(turns) => {
                let turns: Vec<_> = turns.into_f32().collect();
                assert_eq!(turns[0], [0.0, 0.0, 0.0, 1.0]);
                // The negated quaternion is the same turn, the short way round.
                assert!(turns[1][3] > 0.0 && turns[1][2] < 0.0);
            }
            gltf::animation::util::ReadOutputs::Translations(places) => {
                assert_eq!(places.last().unwrap(), [0.0, 3.0, 0.0]);
            }
            gltf::animation::util::ReadOutputs::Scales(scales) => {
                let scales: Vec<_> = scales.collect();
                assert_eq!((times.len(), scales), (2, vec![[0.0; 3], [1.0; 3]]));
            }
            gltf::animation::util::ReadOutputs::MorphTargetWeights(_) => unreachable!(),
        }
    }
}

#[test]
fn views_are_aligned_and_equal_times_are_stored_once() {
    let glb = sample();
    for view in &glb.views {
        assert_eq!(view["byteOffset"].as_u64().unwrap() % 4, 0);
    }
    assert_eq!(glb.times.len(), 2);
    assert_eq!(glb.to_bytes().unwrap(), sample().to_bytes().unwrap());
}

#[test]
fn what_would_be_invalid_is_refused_by_name() {
    let mut glb = sample();
    let material = MaterialId(0);
    let p = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, f32::NAN, 0.0)];
    let bad = glb.mesh("m", &[Part::new(&p, &[[0, 1, 2]], material)]);
    assert!(matches!(bad, Err(GlbError::NotUsable { index: 2, .. })));
    let bad = glb.mesh("m", &[Part::new(&p[..2], &[[0, 1, 2]], material)]);
    assert!(matches!(
        bad,
        Err(GlbError::VertexOutOfRange { vertex: 2, .. })
    ));
    let bad = glb.mesh(
        "m",
        &[Part::new(&p[..2], &[[0, 1, 1]], material).normals(&p[..1])],
    );
    assert!(matches!(bad, Err(GlbError::Length { found: 1, .. })));
    assert!(matches!(glb.mesh("m", &[]), Err(GlbError::Empty { .. })));
    let bad = glb.mesh("m", &[Part::new(&p[..2], &[], MaterialId(9))]);
    assert!(matches!(bad, Err(GlbError::Unknown { index: 9, .. })));
    let node = NodeId(0);
    let bad = glb.animate_translation(node, &[0.0, 0.0], &[Vec3::ZERO; 2]);
    assert!(matches!(bad, Err(GlbError::TimeOrder { index: 1, .. })));
    let bad = glb.animate_rotation(node, &[0.0], &[[0.0; 4]]);
    assert!(matches!(bad, Err(GlbError::NotUsable { .. })));
    let bad = glb.animate_visibility(NodeId(7), &[0.0], &[true]);
    assert!(matches!(bad, Err(GlbError::Unknown { what: "node", .. })));
}

#[test]
fn an_empty_file_is_valid() {
    let bytes = Glb::new().to_bytes().unwrap();
    let document = gltf::Gltf::from_slice(&bytes).unwrap().document;
    assert_eq!(document.nodes().count(), 0);
}

#[test]
fn files_of_four_gibibytes_are_refused() {
    let most = u32::MAX as usize;
    assert_eq!(total_length(100, 0).ok(), Some(120));
    assert_eq!(total_length(100, most - 128).ok(), Some(most));
    let refused = total_length(100, most - 127);
    assert!(matches!(refused, Err(GlbError::TooLarge { bytes }) if bytes == most + 1));
}
