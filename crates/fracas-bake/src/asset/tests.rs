use proptest::prelude::*;

use super::*;
use fracas_core::testing::box_grid;
use fracas_core::{FragmentId, Fragments};
use fracas_fracture::modes::ModesData;
use fracas_fracture::{FractureEvent, FractureSettings, Impact, Material};

const EXTRA: SectionTag = SectionTag(*b"XTRA");

fn sample() -> Asset {
    let mut asset = Asset::new("a brick", box_grid([2, 1, 1], Vec3::ONE));
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let uvs = vec![[Vec2::ZERO, Vec2::X, Vec2::Y]; 4];
    asset.set_skin(SurfaceMesh::build_with_uvs(corners, triangles, Some(uvs)).unwrap());
    asset.set_modes(Arc::new(modes_of(asset.mesh()))).unwrap();
    asset.put_section(EXTRA, vec![1, 2, 3]).unwrap();
    asset
}

/// Two modes made up of numbers that come back only if every one is stored.
fn modes_of(mesh: &TetMesh) -> Modes {
    let nodes = mesh.positions().len();
    let number = |i: usize| 1e6 * (1.0 + (0.37 * i as f32).sin());
    Modes::from_data(ModesData {
        material: Material::BRICK,
        nodes: (0..nodes as u32).collect(),
        omegas: vec![9e3, 1.1e4],
        surface: (0..nodes as u32).collect(),
        surface_positions: mesh.positions().to_vec(),
        shapes: (0..2 * nodes)
            .map(|i| Vec3::new(number(i), -number(i + 1), number(i + 2)) * 1e-6)
            .collect(),
        stress: (0..2 * nodes)
            .map(|i| std::array::from_fn(|c| number(6 * i + c)))
            .collect(),
        volumes: (0..nodes)
            .map(|n| {
                let tets = mesh.adjacent_tets(n as u32).iter();
                tets.map(|&t| mesh.volume_of(t) / 4.0).sum::<f64>() as f32
            })
            .collect(),
        mass: 1800.0,
        radius: 0.9,
        thickness: 0.4,
        mean_edge: 0.5,
    })
    .unwrap()
}

/// Whether the modes of an asset break its mesh, whatever they say.
fn breaks(asset: &Asset) -> bool {
    let fragments = Fragments::new(Arc::new(asset.mesh().clone()));
    let impact = Impact {
        point: Vec3::ZERO,
        impulse: Vec3::splat(1e3),
        speed: 20.0,
        effective_mass: 10.0,
        radius: 0.1,
        other_modulus: 0.0,
    };
    let settings = FractureSettings::default();
    let decision = FractureEvent::new().decide(
        (&fragments, FragmentId(0)),
        asset.modes().unwrap(),
        &[impact],
        0.01,
        0,
        &settings,
    );
    if let Some(fracture) = &decision.fracture {
        let mut broken = fragments;
        broken.apply(fracture).unwrap();
    }
    decision.fracture.is_some()
}

#[test]
fn modes_are_stored_with_the_mesh_they_belong_to() {
    let asset = sample();
    let again = Asset::from_bytes(&asset.to_bytes()).unwrap();
    assert_eq!(again.modes(), asset.modes());
    assert_eq!(again.modes().unwrap().material(), &Material::BRICK);
    assert!(
        again.section(MODE).is_none(),
        "not among the others' sections"
    );
    let mut other = Asset::new("another", box_grid([3, 1, 1], Vec3::ONE));
    assert!(matches!(
        other.set_modes(asset.modes().unwrap().clone()),
        Err(AssetError::Modes(ModesDataError::OtherMesh { .. }))
    ));
    assert!(other.modes().is_none());
    let mut content = modes::bytes(asset.modes().unwrap());
    content.pop();
    assert!(matches!(
        Asset::from_bytes(&with_content(MODE, &content)),
        Err(AssetError::Content { tag: MODE, .. })
    ));
    let mut content = modes::bytes(asset.modes().unwrap());
    content[88..92].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(matches!(
        Asset::from_bytes(&with_content(MODE, &content)),
        Err(AssetError::Modes(ModesDataError::Numbers {
            what: "lengths"
        }))
    ));
}

#[test]
fn bytes_come_back_as_the_same_asset() {
    let asset = sample();
    let bytes = asset.to_bytes();
    let again = Asset::from_bytes(&bytes).unwrap();
    assert_eq!(again, asset);
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.section(EXTRA), Some([1, 2, 3].as_slice()));
    assert_eq!(again.section_tags().collect::<Vec<_>>(), [EXTRA]);
}

#[test]
fn every_single_altered_byte_is_noticed() {
    let bytes = sample().to_bytes();
    for at in 0..bytes.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut altered = bytes.clone();
            altered[at] ^= change;
            assert!(
                Asset::from_bytes(&altered).is_err(),
                "byte {at} ^ {change:#x}"
            );
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let bytes = sample().to_bytes();
    for length in 0..bytes.len() {
        assert!(
            Asset::from_bytes(&bytes[..length]).is_err(),
            "{length} bytes"
        );
    }
    let mut longer = bytes;
    longer.extend([0; 8]);
    assert!(matches!(
        Asset::from_bytes(&longer),
        Err(AssetError::Truncated { .. })
    ));
}

#[test]
fn unknown_sections_are_skipped_unless_they_are_required() {
    let mesh = mesh_bytes(sample().mesh());
    let file = |required: bool| {
        container::write(&[
            container::Section {
                tag: SectionTag(*b"NEW!"),
                required,
                content: b"later",
            },
            container::Section {
                tag: MESH,
                required: true,
                content: &mesh,
            },
        ])
    };
    let asset = Asset::from_bytes(&file(false)).unwrap();
    assert_eq!(
        asset.section(SectionTag(*b"NEW!")),
        Some(b"later".as_slice())
    );
    assert!(matches!(
        Asset::from_bytes(&file(true)),
        Err(AssetError::UnknownRequired { .. })
    ));
}

#[test]
fn sections_may_be_neither_missing_nor_twice_nor_taken() {
    let mesh = mesh_bytes(sample().mesh());
    let section = || container::Section {
        tag: MESH,
        required: true,
        content: &mesh,
    };
    assert!(matches!(
        Asset::from_bytes(&container::write(&[])),
        Err(AssetError::Missing { .. })
    ));
    assert!(matches!(
        Asset::from_bytes(&container::write(&[section(), section()])),
        Err(AssetError::Twice { .. })
    ));
    assert!(matches!(
        sample().put_section(MESH, vec![]),
        Err(AssetError::Reserved { .. })
    ));
}

#[test]
fn other_files_and_other_versions_are_named() {
    assert!(matches!(
        Asset::from_bytes(b""),
        Err(AssetError::NotAnAsset)
    ));
    assert!(matches!(
        Asset::from_bytes(b"ply\nformat ascii"),
        Err(AssetError::NotAnAsset)
    ));
    let mut bytes = sample().to_bytes();
    bytes[8] = 2;
    let checksum = crc32fast::hash(&bytes[..24]).to_le_bytes();
    bytes[24..28].copy_from_slice(&checksum);
    assert!(matches!(
        Asset::from_bytes(&bytes),
        Err(AssetError::Version {
            found: 2,
            supported: 1
        })
    ));
}

/// Correct checksums around wrong content: what a careless or hostile writer makes.
fn with_content(tag: SectionTag, content: &[u8]) -> Vec<u8> {
    let mesh = mesh_bytes(sample().mesh());
    let mut sections = vec![container::Section {
        tag,
        required: false,
        content,
    }];
    if tag != MESH {
        sections.push(container::Section {
            tag: MESH,
            required: true,
            content: &mesh,
        });
    }
    container::write(&sections)
}

#[test]
fn neighbours_are_stored_computed_where_they_are_not_and_refused_where_they_are_wrong() {
    let asset = sample();
    let without = Asset::from_bytes(&with_content(EXTRA, &[])).unwrap();
    assert_eq!(without.mesh(), asset.mesh());
    let stored = neighbour_bytes(asset.mesh());
    let with = Asset::from_bytes(&with_content(NEIGHBOURS, &stored)).unwrap();
    assert_eq!(with.mesh(), asset.mesh());
    // After the length of the list: the first neighbours of the first tetrahedron.
    for at in (8..stored.len()).step_by(4) {
        let mut wrong = stored.clone();
        wrong[at] ^= 1;
        let refused = Asset::from_bytes(&with_content(NEIGHBOURS, &wrong)).unwrap_err();
        assert!(matches!(refused, AssetError::Neighbours(_)), "{refused}");
        assert!(refused.to_string().contains("NBR1"), "{refused}");
    }
    assert!(matches!(
        Asset::from_bytes(&with_content(NEIGHBOURS, &stored[..stored.len() - 1])),
        Err(AssetError::Content {
            tag: NEIGHBOURS,
            ..
        })
    ));
}

#[test]
fn saving_replaces_the_file_and_leaves_nothing_else() {
    let folder = std::env::temp_dir().join(format!("fracas-asset-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("brick.fracas");
    fs::write(&path, "what was there before").unwrap();
    let asset = sample();
    asset.save(&path).unwrap();
    asset.save(&path).unwrap();
    assert_eq!(Asset::load(&path).unwrap(), asset);
    let names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["brick.fracas"]);
    // A folder cannot be replaced: an error, and no temporary file stays.
    fs::create_dir(folder.join("dir")).unwrap();
    assert!(matches!(
        asset.save(folder.join("dir")),
        Err(AssetError::File { .. })
    ));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    assert!(matches!(
        Asset::load(folder.join("none")),
        Err(AssetError::File { .. })
    ));
    fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn mutated_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let original = sample().to_bytes();
        let mut bytes = original.clone();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(asset) = Asset::from_bytes(&bytes) {
            prop_assert_eq!(asset.to_bytes(), original);
        }
    }

    #[test]
    fn mutated_content_under_right_checksums_never_panics(
        which in 0_usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let asset = sample();
        let (tag, mut content) = [
            (MESH, mesh_bytes(asset.mesh())),
            (SKIN, skin_bytes(asset.skin().unwrap())),
            (MODE, modes::bytes(asset.modes().unwrap())),
            (NAME, vec![3, 0, 0, 0, 0, 0, 0, 0, b'p', b'i', b'g']),
        ][which].clone();
        for (at, value) in edits {
            let at = at.index(content.len());
            content[at] = value;
        }
        content.truncate(cut.index(content.len() * 2).min(content.len()));
        // Either an error, or an asset that stores and reads again (NaN coordinates
        // are refused by the meshes).
        if let Ok(asset) = Asset::from_bytes(&with_content(tag, &content)) {
            if asset.modes().is_some() {
                breaks(&asset);
            }
            prop_assert_eq!(Asset::from_bytes(&asset.to_bytes()).unwrap(), asset);
        }
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Asset::from_bytes(&bytes).is_err());
    }
}
