//! Experiments on parts of the system: what the report draws and the scoreboard
//! measures, computed once, here.
//!
//! | experiment | after |
//! | --- | --- |
//! | [`ball`] | the sphere of Glondu 2013, section 7.2 |
//! | [`colliding`] | all colliding points of a running world (Table 2, Fig. 12) |
//! | [`crumbs`] | how high crumbs of a burst fly, and how far its pieces lie apart |
//! | [`drops`] | a plate dropped into a bowl with few contacts allowed (Fig. 16) |
//! | [`everyday`] | default materials dropped from everyday heights |
//! | [`fresh`] | fragments just after a break: queries and updates (7.2, Figs. 15 and 17) |
//! | [`gives_way`] | a ball through panes: momentum and energy of a break |
//! | [`other_engines`] | the fresh fracture in other engines, and how it ended |
//! | [`pair`] | two whole bodies, one question |
//! | [`rivals`] | parry3d's shapes of the same fragments |
//! | [`sequence_times`], [`spatial_hash`] | frames of Heo 2010, Figs. 6 to 8, and their rival |
//! | [`tree_metric`] | Heo 2010, section 5.2.1 |
//! | [`tet_collision`] | Marchal 2004, Fig. 16 |
//! | [`voxel_contacts`] | Dingliana 2004, Figs. 7 and 8 |
//! | [`voxel_contacts_deadline`] | its deadline |
//!
//! A library knows no clock: what is timed takes one.

pub mod ball;
pub mod colliding;
pub mod crumbs;
pub mod drops;
pub mod everyday;
pub mod fresh;
pub mod gives_way;
pub mod other_engines;
pub mod pair;
pub mod rivals;
pub mod sequence_times;
pub mod spatial_hash;
pub mod tet_collision;
pub mod tree_metric;
pub mod voxel_contacts;
pub mod voxel_contacts_deadline;
