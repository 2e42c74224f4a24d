//! Three pictures of a run with fixed steps: before a throw, in the midst of it, after it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::StandIn;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::RapierConfiguration;

use crate::common;

/// Frames after all is ready.
const BEFORE: u32 = 40;
const THROW: u32 = 41;
const BREAK: u32 = 57;
const AFTER: u32 = 180;

/// In which a software renderer has compiled its shaders.
const SHADERS: Duration = Duration::from_secs(25);

#[derive(Resource)]
struct Shots {
    folder: PathBuf,
    frame: u32,
    /// Whether this frame is counted.
    counts: bool,
    start: Instant,
}

/// Adds the run to the app.
pub fn add(app: &mut App, folder: PathBuf) {
    let step = Duration::from_secs_f64(1.0 / 60.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step))
        .insert_resource(Shots {
            folder,
            frame: 0,
            counts: false,
            start: Instant::now(),
        })
        .add_systems(
            Last,
            (
                count_frames,
                throw_balls.run_if(is_at(THROW)),
                take_pictures.run_if(|shots: Res<Shots>| shots.counts),
            )
                .chain(),
        );
}

fn is_at(frame: u32) -> impl FnMut(Res<Shots>) -> bool + Clone {
    move |shots| shots.counts && shots.frame == frame
}

/// Counts frames in which time goes on. It stands still until the shaders are compiled, and
/// while meshes are made: pictures do not depend on how fast the machine is.
fn count_frames(
    mut shots: ResMut<Shots>,
    mut time: ResMut<Time<Virtual>>,
    mut camera: Single<&mut Camera>,
    engine: Query<&RapierConfiguration>,
    stand_ins: Query<(), With<StandIn>>,
) {
    shots.counts = false;
    if !engine.iter().any(|engine| engine.physics_pipeline_active) {
        return;
    }
    if shots.start.elapsed() < SHADERS || !stand_ins.is_empty() {
        time.pause();
        return;
    }
    if time.is_paused() {
        time.unpause();
    }
    shots.counts = true;
    shots.frame += 1;
    // What nobody looks at is not drawn: a software renderer takes a second a frame.
    let is_near = |shot: u32| (shot.saturating_sub(5)..=shot + 1).contains(&shots.frame);
    camera.is_active = [BEFORE, BREAK, AFTER].into_iter().any(is_near);
}

/// Throws balls at a vase, at the jar, at the plates.
fn throw_balls(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (start, velocity) in [
        (Vec3::new(1.5, 0.95, 0.9), Vec3::new(-10.1, -1.4, -9.5)),
        (Vec3::new(-1.4, 1.1, 1.0), Vec3::new(8.9, -3.2, -10.2)),
        (Vec3::new(0.4, 1.4, 1.3), Vec3::new(-1.7, -6.3, -10.0)),
    ] {
        common::throw(&mut commands, &mut meshes, &mut materials, start, velocity);
    }
}

fn take_pictures(
    shots: Res<Shots>,
    fragments: Query<(), With<Fragment>>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    let name = match shots.frame {
        BEFORE => "before.png",
        BREAK => "break.png",
        AFTER => "after.png",
        frame => {
            if frame > AFTER + 15 {
                exit.write(AppExit::Success);
            }
            return;
        }
    };
    info!("{name}: {} fragments", fragments.iter().count());
    let path = shots.folder.join(name);
    commands
        .spawn(Screenshot::primary_window())
        .observe(save_to_disk(path));
}
