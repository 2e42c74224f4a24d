//! Three pictures of a run with fixed steps: before a throw, in the midst of it, after it.

use std::path::PathBuf;
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy_fracas::prelude::*;
use bevy_rapier3d::prelude::RapierConfiguration;

use crate::common;

/// Frames after all is ready.
const BEFORE: u32 = 50;
const THROW: u32 = 51;
const BREAK: u32 = 70;
const AFTER: u32 = 220;

#[derive(Resource)]
struct Shots {
    folder: PathBuf,
    frame: u32,
}

/// Adds the run to the app.
pub fn add(app: &mut App, folder: PathBuf) {
    let step = Duration::from_secs_f64(1.0 / 60.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(step))
        .insert_resource(Shots { folder, frame: 0 })
        .add_systems(Last, direct);
}

fn direct(
    mut shots: ResMut<Shots>,
    engine: Query<&RapierConfiguration>,
    fragments: Query<(), With<Fragment>>,
    mut camera: Single<&mut Camera>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut exit: MessageWriter<AppExit>,
) {
    if !engine.iter().any(|engine| engine.physics_pipeline_active) {
        return;
    }
    shots.frame += 1;
    // What nobody looks at is not drawn: a software renderer takes a second a frame.
    let to_go = |shot: u32| shot.saturating_sub(shots.frame);
    let first = shots.frame <= BEFORE && to_go(BEFORE) <= 25;
    camera.is_active = first
        || [BREAK, AFTER]
            .iter()
            .any(|&shot| shots.frame <= shot + 1 && to_go(shot) <= 5);
    let name = match shots.frame {
        BEFORE => "before.png",
        THROW => {
            for (start, velocity) in [
                (Vec3::new(1.5, 0.95, 0.9), Vec3::new(-8.0, -0.6, -4.6)),
                (Vec3::new(-1.4, 1.1, 1.0), Vec3::new(6.5, -1.5, -4.4)),
            ] {
                common::throw(&mut commands, &mut meshes, &mut materials, start, velocity);
            }
            return;
        }
        BREAK => "break.png",
        AFTER => "after.png",
        frame if frame > AFTER + 15 => {
            exit.write(AppExit::Success);
            return;
        }
        _ => return,
    };
    info!("{name}: {} fragments", fragments.iter().count());
    let path = shots.folder.join(name);
    commands
        .spawn(Screenshot::primary_window())
        .observe(save_to_disk(path));
}
