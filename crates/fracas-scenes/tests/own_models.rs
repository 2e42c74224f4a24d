//! Models of users in scenes: whole they are the model itself, broken they are closed and
//! have its materials, and nothing is made until somebody looks.

use fracas_bake::model::{Attribute, Model};
use fracas_bake::shatter::open_sides;
use fracas_scenes::film::{FilmShape, Filming};
use fracas_scenes::recording::{RecordOptions, Recording};
use fracas_scenes::rigid::SceneOptions;
use fracas_scenes::rigid::user::{Loaded, UserScene};
use glam::{DVec3, Vec3};

const SCENE: &str = "step = 0.01\nduration = 0.4\nfloor = { height = 0.0 }\n\
    [[body]]\nmesh = \"pot.glb\"\nmaterial = \"porcelain\"\nscale = 2.0\n\
    position = [0.0, 0.05, 0.0]\nvelocity = [0.0, -20.0, 0.0]\n";

/// A block whose skin is finer than its tetrahedra, and bulges.
fn block() -> Loaded {
    const N: u32 = 12;
    let size = DVec3::new(0.1, 0.08, 0.1);
    let (mut positions, mut triangles, mut uvs) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, side) in (0..6).map(|k| (k / 2, k % 2)) {
        for (i, j) in (0..N * N).map(|k| (k / N, k % N)) {
            let first = positions.len() as u32;
            for (di, dj) in [(0, 0), (1, 0), (1, 1), (0, 1)] {
                let [u, v] = [i + di, j + dj].map(|k| f64::from(k) / f64::from(N));
                let mut p = [0.0; 3];
                p[axis] = side as f64;
                (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (u, v);
                let p = DVec3::from_array(p);
                let bulge = 0.02 * (7.0 * (p.x + 2.0 * p.y + 3.0 * p.z)).sin();
                positions.push((p + bulge * (p - 0.5)) * size);
                uvs.extend([u as f32, v as f32]);
            }
            let quad = match side {
                1 => [[0, 1, 2], [0, 2, 3]],
                _ => [[0, 2, 1], [0, 3, 2]],
            };
            triangles.extend(quad.map(|t| t.map(|k: u32| first + k)));
        }
    }
    let model = Model::plain("block", positions, triangles, [0.2, 0.4, 0.8, 1.0]);
    let model = model.with_attribute(Attribute {
        name: "TEXCOORD_0".into(),
        width: 2,
        values: uvs,
    });
    Loaded {
        mesh: fracas_core::testing::box_grid([5, 4, 5], size.as_vec3()),
        model: Some(model),
    }
}

#[test]
fn a_model_is_itself_while_whole_and_closed_in_its_own_material_when_broken() {
    let user = UserScene::parse(SCENE, "t.toml").unwrap();
    let options = SceneOptions::default();
    let mut load = |_: &str, _: Option<usize>| Ok(block());
    let mut scene = user.build(&options, &mut load, &mut |_| ()).unwrap();
    let wanted = RecordOptions {
        skins: true,
        ..RecordOptions::default()
    };
    let mut filming = Filming::new(&scene);
    let recording = Recording::record_while(&mut scene, 12, wanted, &mut |scene| {
        filming.frame(scene);
        true
    });
    let film = filming.finish();
    assert!(recording.tracks.len() > 3, "{}", recording.tracks.len());
    let (whole_model, mut area) = (block().model.unwrap(), 0.0);
    for (i, (id, track)) in recording.tracks.iter().enumerate() {
        let worn = track.worn.as_ref().unwrap();
        let outside: Vec<_> = worn.surfaces.iter().filter(|s| !s.is_crack).collect();
        if i == 0 {
            // The whole: its own triangles, twice as large.
            let [only] = &worn.surfaces[..] else {
                panic!("one part")
            };
            let triangles = &whole_model.parts()[0].triangles;
            assert_eq!(only.triangles.len(), triangles.len());
            let corners = |v: u32| only.positions[v as usize];
            let same = |t: &[u32; 3], own: &[u32; 3]| {
                (0..3).all(|k| {
                    let at = whole_model.parts()[0].positions[own[k] as usize];
                    corners(t[k]).distance((2.0 * at).as_vec3()) < 1e-6
                })
            };
            assert!(
                only.triangles
                    .iter()
                    .zip(triangles)
                    .all(|(t, own)| same(t, own))
            );
        } else {
            assert_eq!(open_sides(&worn.surfaces), 0, "{id:?}");
            assert!(worn.surfaces.iter().any(|s| s.is_crack), "{id:?}");
            area += outside
                .iter()
                .map(|s| area_of(&s.positions, &s.triangles))
                .sum::<f64>();
        }
        for surface in outside {
            assert_eq!(surface.material, Some(0));
            assert_eq!(surface.attributes[0].name, "TEXCOORD_0");
        }
        // Plain pictures and films have the same triangles.
        let dressed = track.dressed.as_ref().unwrap();
        let sum: usize = worn.surfaces.iter().map(|s| s.triangles.len()).sum();
        assert_eq!(dressed.triangles.len(), sum);
        assert!(film.bodies.iter().any(|body| match &body.shape {
            FilmShape::Piece(piece) => piece.positions == dressed.positions,
            _ => false,
        }));
    }
    let whole = &recording.tracks.values().next().unwrap().worn;
    let whole = &whole.as_ref().unwrap().surfaces[0];
    let whole = area_of(&whole.positions, &whole.triangles);
    assert!((area / whole - 1.0).abs() < 1e-5, "{area} of {whole}");
}

fn area_of(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let at = |v: u32| positions[v as usize].as_dvec3();
    triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(at);
            0.5 * (b - a).cross(c - a).length()
        })
        .sum()
}

#[test]
fn nothing_is_made_for_models_until_somebody_looks() {
    let user = UserScene::parse(SCENE, "t.toml").unwrap();
    let options = SceneOptions::default();
    let mut load = |_: &str, _: Option<usize>| Ok(block());
    let mut scene = user.build(&options, &mut load, &mut |_| ()).unwrap();
    let recording = Recording::record(&mut scene, 8, RecordOptions::default(), &mut |_| ());
    assert!(recording.tracks.values().all(|t| t.worn.is_none()));
    assert!(!scene.has_built_skins());
    let piece = scene.world().pieces().next().unwrap();
    assert!(scene.worn(piece).is_some() && scene.has_built_skins());
}
