//! One picture of everything the renderer can do.
//!
//! `cargo run --release -p fracas-picture --example gallery [FILE.png]`

use std::f32::consts::TAU;

use fracas_picture::{Camera, Colour, Mesh, Quality, Scene, Sheet, Slice, slice};
use glam::{Mat3, Vec3};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or("gallery.png".into());
    let mut sheet = Sheet::new(2).title("fracas-picture");
    sheet.add(
        still_life(),
        "smooth, flat, glazed\nsoft key light, sky, ground",
    );
    sheet.add(contacts(), "edges, points, normals\nhidden or seen through");
    sheet.add(
        field(false),
        "a distance, contours every 0.1\nperceptually uniform map",
    );
    sheet.add(field(true), "a signed distance\ndiverging map");
    sheet.image().save(&path)?;
    println!("wrote {path}");
    Ok(())
}

fn torus(major: f32, minor: f32, rings: u32, sides: u32) -> Mesh {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for i in 0..rings {
        let (s, c) = (i as f32 / rings as f32 * TAU).sin_cos();
        for j in 0..sides {
            let (t, d) = (j as f32 / sides as f32 * TAU).sin_cos();
            let r = major + minor * d;
            positions.push(Vec3::new(r * c, minor * t, r * s));
            let at = |i: u32, j: u32| (i % rings) * sides + j % sides;
            let quad = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            triangles.push([quad[0], quad[1], quad[2]]);
            triangles.push([quad[0], quad[2], quad[3]]);
        }
    }
    Mesh::new(positions, triangles)
}

fn cube(half: Vec3) -> Mesh {
    let corner = |i: u32| {
        let s = |b: u32| if i >> b & 1 == 0 { -1.0 } else { 1.0 };
        half * Vec3::new(s(0), s(1), s(2))
    };
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Mesh::new((0..8).map(corner).collect(), triangles.collect())
}

fn still_life() -> fracas_picture::Image {
    let mut scene = Scene::new();
    let clay = Colour::from_srgb(196, 98, 66);
    scene.add(torus(1.0, 0.4, 96, 48).colour(clay).smooth(60.0).gloss(0.8));
    let blue = Colour::from_srgb(70, 120, 160);
    let turn = Mat3::from_rotation_y(0.5);
    scene.add(torus(0.5, 0.22, 20, 10).colour(blue).moved(
        turn * Mat3::from_rotation_x(1.3),
        Vec3::new(-0.1, 0.32, 0.1),
    ));
    scene.add(
        cube(Vec3::new(0.5, 0.3, 0.4))
            .colour(Colour::from_srgb(214, 190, 130))
            .moved(turn, Vec3::new(1.9, -0.1, -0.7)),
    );
    scene.ground_under_all();
    scene.render(&Camera::default(), 560, 420, Quality::Fine)
}

fn contacts() -> fracas_picture::Image {
    let mut scene = Scene::new();
    let line = Colour::from_srgb(70, 72, 80);
    scene.add(torus(1.0, 0.4, 32, 16).edges(line, 0.8).smooth(60.0));
    scene.ground_under_all();
    let [near, through] = [
        Colour::from_srgb(210, 50, 40),
        Colour::from_srgb(40, 90, 200),
    ];
    for i in 0..24 {
        let (s, c) = (i as f32 / 24.0 * TAU).sin_cos();
        let at = Vec3::new(1.3 * c, 0.27, 1.3 * s);
        scene.point(at, 3.0, near);
        scene.line(at, at + Vec3::new(c, 1.0, s) * 0.2, 1.6, near);
        scene.point_on_top(Vec3::new(c, -0.4, s), 2.0, through);
    }
    scene.render(&Camera::default(), 560, 420, Quality::Fine)
}

fn field(signed: bool) -> fracas_picture::Image {
    let options = Slice {
        width: 470,
        height: 420,
        range: if signed { [-0.5, 0.5] } else { [0.0, 1.0] },
        signed,
        contour_step: 0.1,
        legend: true,
    };
    slice(&options, |u, v| {
        let (x, y) = ((u - 0.5) * 2.4, (v - 0.5) * 2.2);
        let d = ((x.abs() - 0.45).powi(2) + y * y).sqrt() - 0.5;
        if signed { Some(d) } else { Some(d + 0.5) }
    })
}
