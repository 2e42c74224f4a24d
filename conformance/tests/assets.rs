//! Assets: what was baked is what is loaded, the same bytes each time.

use fracas_bake::bake::{BakeOptions, Source, bake};
use fracas_bake::tetrahedralize::Size;
use fracas_bake::{Asset, SectionTag, write_obj};
use fracas_conformance::{data, procedural};

#[test]
fn a_baked_shape_loads_as_it_was_and_bakes_to_the_same_bytes() {
    let options = BakeOptions {
        size: Some(Size::Tets(3_000)),
        ..BakeOptions::default()
    };
    let once = || {
        let source = Source::open("rabbit").unwrap();
        bake(source, &options, &mut |_| ()).unwrap().asset
    };
    let asset = once();
    let bytes = asset.to_bytes();
    assert_eq!(once().to_bytes(), bytes);
    let loaded = Asset::from_bytes(&bytes).unwrap();
    assert_eq!(loaded, asset);
    loaded.mesh().validate().unwrap();
}

#[test]
fn mesh_file_keeps_its_triangles_as_the_skin() {
    let mut bytes = Vec::new();
    write_obj(&mut bytes, &procedural::torus(1.0, 0.4, 40, 20)).unwrap();
    check_skin(&procedural::file("skin.obj", bytes));
}

#[test]
fn public_bunny_keeps_its_triangles_as_the_skin() {
    if let Some(path) = data::find("surface/bunny_manifold_hr.obj") {
        check_skin(&path);
    }
}

fn check_skin(path: &std::path::Path) {
    let source = Source::open(path).unwrap();
    let Source::Surface(_, input) = &source else {
        panic!("it is a surface");
    };
    let input = input.clone();
    let options = BakeOptions {
        size: Some(Size::Tets(5_000)),
        ..BakeOptions::default()
    };
    let mut asset = bake(source, &options, &mut |_| ()).unwrap().asset;
    // As a module that computes something ahead would.
    let tag = SectionTag(*b"TEST");
    asset.put_section(tag, vec![7; 1000]).unwrap();
    let loaded = Asset::from_bytes(&asset.to_bytes()).unwrap();
    assert_eq!(loaded.skin(), Some(&input));
    assert_eq!(loaded.section(tag), Some([7; 1000].as_slice()));
    assert_eq!(loaded, asset);
}

#[test]
fn a_large_asset_that_is_altered_or_cut_is_refused() {
    let source = Source::open("plate").unwrap();
    let asset = bake(source, &BakeOptions::default(), &mut |_| ())
        .unwrap()
        .asset;
    let bytes = asset.to_bytes();
    let mut random = fracas_core::testing::Rng(1);
    for _ in 0..300 {
        let mut altered = bytes.clone();
        let at = random.below(altered.len());
        altered[at] ^= 1 << random.below(8);
        assert!(Asset::from_bytes(&altered).is_err(), "byte {at}");
        altered.truncate(at);
        assert!(Asset::from_bytes(&altered).is_err(), "cut at {at}");
    }
}
