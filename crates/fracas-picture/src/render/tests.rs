use super::*;
use crate::scene::Mesh;

/// A cube of side 2 about the origin, its six sides in one colour.
fn cube(colour: Colour) -> Mesh {
    let (positions, triangles) = crate::testing::block(-1.0, 1.0);
    Mesh::new(positions, triangles).colour(colour)
}

fn pixel(image: &Image, x: usize, y: usize) -> [u8; 3] {
    image.pixels()[y * image.width() + x]
}

fn luminance([r, g, b]: [u8; 3]) -> u32 {
    u32::from(r) + u32::from(g) + u32::from(b)
}

#[test]
fn a_red_cube_is_red_stands_on_a_shadow_and_is_the_same_each_time() {
    let mut scene = Scene::new();
    scene.add(cube(Colour::from_srgb(220, 40, 30)));
    let floating = scene.render(&Camera::default(), 120, 90, Quality::Draft);
    scene.ground_under_all();
    let image = scene.render(&Camera::default(), 120, 90, Quality::Draft);
    let [r, g, b] = pixel(&image, 60, 45);
    assert!(r > 2 * g && r > 2 * b, "{r} {g} {b}");
    // The key light comes from the left: the shadow falls to the right.
    let row = 66;
    let right = (60..120).map(|x| luminance(pixel(&image, x, row)));
    let open = luminance(pixel(&floating, 110, row));
    let darkest = right.filter(|l| *l > 300).min().unwrap();
    assert!(darkest + 60 < open, "{darkest} against {open}");
    assert_eq!(
        image,
        scene.render(&Camera::default(), 120, 90, Quality::Draft)
    );
}

#[test]
fn the_number_of_threads_changes_no_pixel() {
    let mut scene = Scene::new();
    scene.add(
        cube(Colour::from_srgb(90, 140, 200))
            .smooth(30.0)
            .gloss(0.5),
    );
    scene.ground_under_all();
    let draw = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let draw = || scene.render(&Camera::default(), 90, 70, Quality::Fine);
        pool.unwrap().install(draw)
    };
    assert_eq!(draw(1), draw(3));
}

#[test]
fn what_is_behind_is_hidden_unless_it_is_on_top() {
    let green = Colour::from_srgb(0, 255, 0);
    let camera = Camera::at(Vec3::Z * 10.0, Vec3::ZERO);
    let mut scene = Scene::new();
    scene.add(cube(Colour::WHITE));
    scene.point(Vec3::ZERO, 3.0, green);
    scene.line(
        Vec3::new(-9.0, 0.5, 0.0),
        Vec3::new(9.0, 0.5, 0.0),
        2.0,
        green,
    );
    let hidden = scene.render(&camera, 80, 80, Quality::Draft);
    assert!(pixel(&hidden, 40, 40)[0] > 100);
    // Beside the cube the line shows.
    let beside: Vec<_> = (20..45).map(|y| pixel(&hidden, 4, y)).collect();
    assert!(beside.contains(&[0, 255, 0]));
    scene.point_on_top(Vec3::ZERO, 3.0, green);
    let seen = scene.render(&camera, 80, 80, Quality::Draft);
    assert_eq!(pixel(&seen, 40, 40), [0, 255, 0]);
}

#[test]
fn glass_is_seen_through_and_throws_a_lighter_shadow() {
    let camera = Camera::at(Vec3::new(0.0, 3.0, 12.0), Vec3::ZERO);
    let red = cube(Colour::from_srgb(220, 40, 30)).moved(glam::Mat3::IDENTITY, -3.0 * Vec3::Z);
    let picture = |front: Option<Mesh>| {
        let mut scene = Scene::new();
        scene.add(red.clone());
        front.into_iter().for_each(|mesh| scene.add(mesh));
        scene.ground(-1.0);
        scene.render(&camera, 120, 90, Quality::Draft)
    };
    let paint = Colour::from_srgb(190, 215, 220);
    let (none, stone, glass) = (
        picture(None),
        picture(Some(cube(paint))),
        picture(Some(cube(paint).clear())),
    );
    let redness = |image: &Image| {
        let [r, g, _] = pixel(image, 60, 38);
        i32::from(r) - i32::from(g)
    };
    assert!(
        redness(&none) > 80 && redness(&stone) < 30,
        "behind and before"
    );
    assert!(redness(&glass) > 50, "{}", redness(&glass));
    assert_ne!(pixel(&glass, 60, 38), pixel(&none, 60, 38));
    // The ground beside it, where only its shadow changes anything.
    let ground = |image: &Image| -> u32 {
        let near = (40..80).map(|y| {
            (84..118)
                .map(|x| luminance(pixel(image, x, y)))
                .sum::<u32>()
        });
        near.sum()
    };
    let (open, dark, light) = (ground(&none), ground(&stone), ground(&glass));
    assert!(
        light < open && open - light < (open - dark) * 2 / 3,
        "{open} {light} {dark}"
    );
}

#[test]
fn lines_show_a_floor_that_nothing_stands_on() {
    let mut scene = Scene::new();
    scene.add(cube(Colour::WHITE).moved(glam::Mat3::IDENTITY * 0.1, 4.0 * Vec3::Y));
    scene.ground(0.0);
    let camera = Camera::at(Vec3::new(0.0, 4.0, 8.0), Vec3::ZERO);
    let plain = scene.render(&camera, 120, 90, Quality::Draft);
    scene.ground_lines(0.5);
    let lined = scene.render(&camera, 120, 90, Quality::Draft);
    let darker = |(a, b): (&[u8; 3], &[u8; 3])| luminance(*a) > luminance(*b) + 6;
    let count = plain
        .pixels()
        .iter()
        .zip(lined.pixels())
        .filter(|&p| darker(p))
        .count();
    assert!((120..5_400).contains(&count), "{count}");
}

#[test]
fn nothing_nan_and_a_camera_inside_do_no_harm() {
    let _ = Scene::new().render(&Camera::default(), 0, 0, Quality::Draft);
    let mut scene = Scene::new();
    let far = vec![Vec3::NAN, Vec3::X, Vec3::Y, Vec3::splat(f32::INFINITY)];
    scene.add(Mesh::new(far, vec![[0, 1, 2], [1, 2, 3], [0, 1, 99]]).smooth(30.0));
    scene.add(cube(Colour::WHITE).edges(Colour::BLACK, 1.0));
    scene.ground_under_all();
    let inside = Camera::at(Vec3::new(0.2, 0.1, 0.0), Vec3::X * 5.0);
    let _ = scene.render(&inside, 40, 30, Quality::Draft);
    let _ = scene.render(&Camera::default(), 40, 30, Quality::Draft);
}

#[test]
fn triangles_smaller_than_a_pixel_share_their_light_and_look_the_same() {
    const AROUND: u32 = 60;
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..=AROUND {
        for i in 0..AROUND {
            let polar = std::f32::consts::PI * j as f32 / AROUND as f32;
            let turn = std::f32::consts::TAU * i as f32 / AROUND as f32;
            let (sin, cos) = (libm::sinf(polar), libm::cosf(polar));
            positions.push(Vec3::new(
                sin * libm::cosf(turn),
                cos,
                sin * libm::sinf(turn),
            ));
            if j < AROUND {
                let [a, b] = [i, (i + 1) % AROUND].map(|i| j * AROUND + i);
                triangles.extend([[a, b, a + AROUND], [b, b + AROUND, a + AROUND]]);
            }
        }
    }
    let white = Image::new(1, 1, Colour::WHITE).to_png().unwrap();
    let white = std::sync::Arc::new(crate::Texture::decode(&white).unwrap());
    let ball = Mesh::new(positions.clone(), triangles)
        .smooth(30.0)
        .gloss(0.5);
    let draw = |ball: Mesh| {
        let mut scene = Scene::new();
        scene.add(ball);
        scene.ground(-1.0);
        scene.render(&Camera::default(), 80, 60, Quality::Fine)
    };
    // Textured triangles have each a place of their own.
    let alone = draw(
        ball.clone()
            .texture(white, vec![glam::Vec2::ZERO; positions.len()]),
    );
    let together = draw(ball);
    let pairs = alone.pixels().iter().zip(together.pixels());
    let apart: Vec<u8> = pairs
        .flat_map(|(a, b)| std::iter::zip(a, b).map(|(a, b)| a.abs_diff(*b)))
        .collect();
    let most = *apart.iter().max().unwrap();
    let mean = apart.iter().map(|&d| f32::from(d)).sum::<f32>() / apart.len() as f32;
    assert!(most > 0, "none was shared");
    assert!(most <= 16 && mean < 0.3, "{most} {mean}");
}
