//! From an asset to a blueprint in one call.
#![cfg(feature = "assets")]

use fracas_bake::Asset;
use fracas_bake::asset::OBJECT;
use fracas_core::FieldOptions;
use fracas_core::sphere_tree::BuildOptions;
use fracas_core::testing::box_grid;
use fracas_rapier::Blueprint;
use fracas_rapier::ObjectError;
use glam::Vec3;

#[test]
fn a_blueprint_of_an_asset_is_the_one_that_would_be_built() {
    let mut asset = Asset::new("box", box_grid([5, 4, 3], Vec3::new(0.5, 0.4, 0.3)));
    let (field, tree) = (FieldOptions::default(), BuildOptions::default());
    let built = Blueprint::build(asset.shared_mesh().clone(), &field, &tree).unwrap();
    let without = Blueprint::of_asset(&asset).unwrap();
    asset.add_object().unwrap();
    let read = Asset::from_bytes(&asset.to_bytes()).unwrap();
    let with = Blueprint::of_asset(&read).unwrap();
    let [built_shape, without_shape, with_shape] = [&built, &without, &with].map(|b| b.object().1);
    for (other, shape) in [(&without, without_shape), (&with, with_shape)] {
        assert_eq!(other.key(), built.key());
        assert!(shape.tree().spheres().eq(built_shape.tree().spheres()));
        let [one, two] = [&shape, &built_shape].map(|s| s.object().read().field().to_data());
        assert_eq!(one, two);
    }
}

#[test]
fn what_is_damaged_is_refused() {
    let mut asset = Asset::new("box", box_grid([2; 3], Vec3::ONE));
    asset.put_section(OBJECT, vec![1, 2, 3]).unwrap();
    let refused = Blueprint::of_asset(&asset).unwrap_err();
    assert!(matches!(refused, ObjectError::Baked(_)));
}
