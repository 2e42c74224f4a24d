//! Pictures after Marchal 2004: depth and error on a cut disc, forces of many
//! contacts, and soft things as they break.

use fracas_picture::{Camera, Colour, Image, Mesh, Quality, Scene, Sheet, colour_map};
use fracas_soft::shapes;
use fracas_tet_distance::unstable::error_table::error_table;
use fracas_tet_distance::unstable::specimens::{Specimen, cut_disc};
use fracas_tet_distance::{DepthField, Detector, Method, Object, Responder, Response, Topology};
use glam::Vec3;

/// Field and error of CPFM, CFFM and a grid on the bent, cut disc.
pub fn disc() -> Image {
    let specimen = cut_disc();
    let rows = error_table(&specimen, &[100], 1, || 0.0);
    let exact = &rows[0].depths;
    let deepest = exact.iter().fold(0.0_f32, |a, &b| a.max(b));
    let mut sheet = Sheet::new(3);
    let wanted = ["CPFM", "CFFM", "grid 100"];
    let find = |name: &str| {
        rows.iter()
            .find(|r| r.name == name)
            .expect("a row of the table")
    };
    for name in wanted {
        let row = find(name);
        let value = |n: u32| row.depths[n as usize] / deepest;
        sheet.add(draw(&specimen, value), format!("{name}: depth"));
    }
    for name in wanted {
        let row = find(name);
        // The same scale for all: a twentieth of the deepest is the lightest.
        let value = |n: u32| (row.depths[n as usize] - exact[n as usize]).abs() / (0.05 * deepest);
        let caption = format!(
            "max error {:.4}\nmean error {:.6}",
            row.max_error, row.mean_error
        );
        sheet.add(draw(&specimen, value), caption);
    }
    sheet.image()
}

fn draw(specimen: &Specimen, value: impl Fn(u32) -> f32) -> Image {
    let half = specimen.positions.len() as u32 / 2;
    let mut triangles = Vec::new();
    for tet in specimen.topology.tets() {
        let top: Vec<u32> = tet.iter().copied().filter(|&n| n >= half).collect();
        if let [a, b, c] = top[..] {
            let [p, q, r] = [a, b, c].map(|n| specimen.positions[n as usize]);
            let up = (q - p).cross(r - p).z > 0.0;
            triangles.push(if up { [a, b, c] } else { [a, c, b] });
        }
    }
    let colours = triangles
        .iter()
        .map(|t| {
            let mean = t.iter().map(|&n| value(n)).sum::<f32>() / 3.0;
            colour_map::sequential(mean.clamp(0.0, 1.0))
        })
        .collect();
    let mut scene = Scene::new();
    scene.add(
        Mesh::new(specimen.positions.clone(), triangles)
            .colours(colours)
            .edges(Colour::from_srgb(60, 60, 60), 0.4),
    );
    scene.render(
        &Camera::framing_all(Vec3::new(0.0, 0.001, 1.0)),
        300,
        240,
        Quality::Draft,
    )
}

/// The pushes between a torus and a ball, point and segment response; and how many.
pub fn forces() -> (Image, [usize; 2]) {
    let torus = shapes::torus(4, 40, 0.5, 0.17).expect("a torus");
    let ball = shapes::ellipsoid([8, 8, 8], Vec3::splat(0.4)).expect("a ball");
    let moved: Vec<Vec3> = ball
        .positions()
        .iter()
        .map(|&p| p + Vec3::new(0.03, 0.2, 0.02))
        .collect();
    let topologies = [&torus, &ball]
        .map(|m| Topology::build(m.positions().len(), m.tets()).expect("they are meshes already"));
    let objects = [
        Object {
            topology: &topologies[0],
            positions: torus.positions(),
        },
        Object {
            topology: &topologies[1],
            positions: &moved,
        },
    ];
    let mut pairs = Vec::new();
    Detector::default().overlaps(&objects, &mut pairs);
    let fields = fields(&objects, &pairs);
    let mut sheet = Sheet::new(2);
    let mut counts = [0; 2];
    for (i, (response, name)) in [(Response::Point, "point"), (Response::Segment, "segment")]
        .into_iter()
        .enumerate()
    {
        let mut pushes = Vec::new();
        Responder::default().pushes(&objects, &fields, &pairs, response, &mut pushes);
        counts[i] = pushes.len();
        // The longest arrow is a quarter of the torus' radius.
        let longest = pushes.iter().fold(0.0_f32, |a, p| a.max(p.measure));
        let scale = 0.25 / longest;
        let mut scene = Scene::new();
        for (object, colour) in objects.iter().zip([
            Colour::from_srgb(225, 215, 190),
            Colour::from_srgb(190, 205, 225),
        ]) {
            scene.add(
                Mesh::new(object.positions.to_vec(), object.topology.faces().to_vec())
                    .colour(colour)
                    .smooth(40.0),
            );
        }
        for push in &pushes {
            let colour = if push.object == 0 {
                Colour::from_srgb(190, 60, 30)
            } else {
                Colour::from_srgb(30, 80, 180)
            };
            scene.line_on_top(
                push.point,
                push.point + push.normal * (push.measure * scale),
                1.2,
                colour,
            );
        }
        let camera = Camera::at(Vec3::new(1.2, 1.5, 1.6), Vec3::new(0.0, 0.05, 0.0));
        let caption = format!("{name} response: {} forces", pushes.len());
        sheet.add(scene.render(&camera, 440, 360, Quality::Draft), caption);
    }
    (sheet.image(), counts)
}

/// Depths as far as the colliding tetrahedra need them.
pub fn fields(
    objects: &[Object<'_>; 2],
    pairs: &[[fracas_tet_distance::TetOf; 2]],
) -> [DepthField; 2] {
    [0_u32, 1].map(|i| {
        let mut marks: Vec<u32> = pairs
            .iter()
            .flatten()
            .filter(|t| t.object == i)
            .map(|t| t.tet)
            .collect();
        marks.sort_unstable();
        marks.dedup();
        let mut field = DepthField::new(Method::ClosestFeature);
        let object = &objects[i as usize];
        field.march_to(object.topology, object.positions, &marks);
        field
    })
}
