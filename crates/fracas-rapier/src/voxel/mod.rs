//! Contacts of voxel trees in the engine: bounded in time, whatever happens.
//!
//! The engine's narrow phase sees one pair at a time and cannot share a budget over
//! all of them. So all pairs are refined before the engine's step, within one budget
//! (`stage.rs`), and the dispatcher looks them up in a [`VoxelTable`].
//!
//! ```text
//! before the step: bodies --boxes that overlap--> pairs --refine_all, one budget-->
//!     contacts --> VoxelTable
//! in the step:     contact_manifolds(pair) --look up--> manifolds
//! ```
//!
//! | how | [`ContactMode`](crate::ContactMode) | what a pair gets |
//! | --- | --- | --- |
//! | voxels alone | `VoxelTree` | voxel contacts, as fine as the budget allows |
//! | both | `Budgeted` | sphere tree contacts while its predicted cost fits the budget, voxel contacts beyond |
//! | some bodies | any, and `World::set_voxel_contacts` | voxel contacts for pairs with such a body |
//!
//! The budget is one of estimates: rates of the steps so far say what is still to come.
//! What no estimate can spare is visiting every pair of overlapping boxes, here and in the
//! engine: about a microsecond a pair together, so 2 ms hold some 1,500.
//!
//! **Guarantee**: with a budget of work the run repeats bit for bit. With a budget of
//! time it need not: the clock sets how much work a step may do. A world that is restored
//! from a snapshot knows no earlier contacts; taking one makes a world forget them, too,
//! so that both go on alike.

#[cfg(feature = "world")]
mod bodies;
#[cfg(feature = "world")]
mod choose;
#[cfg(feature = "world")]
mod pairs;
#[cfg(feature = "world")]
mod pieces;
#[cfg(feature = "world")]
mod rates;
#[cfg(feature = "world")]
mod reduction;
#[cfg(feature = "world")]
mod sampler;
#[cfg(feature = "world")]
pub(crate) mod stage;
mod table;

pub use table::VoxelTable;
pub(crate) use table::{Found, key_of};

/// What finding contacts may cost in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FrameBudget {
    /// Everything to the finest level.
    #[default]
    Unlimited,
    /// So many units of work: a cube test is one, a point whose distance is asked
    /// 64. Repeats bit for bit.
    Work(u64),
    /// So many milliseconds, the engine's own collision stage included. What fits
    /// depends on the machine, so runs do not repeat.
    Milliseconds(f64),
}

/// What the distance of one sample point costs, in cube tests: 0.2 to 2
/// microseconds against about 10 nanoseconds.
pub const POINT_WORK: u64 = 64;

/// How voxel contacts are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VoxelSettings {
    /// What a step may cost.
    pub budget: FrameBudget,
    /// Voxels along the longest side of an unbroken object.
    pub resolution: u32,
    /// Cubes to a side of their parent: 2 gives octrees.
    pub branching: u32,
    /// Most contacts of a pair: the most probable groups come first.
    pub most_groups: u32,
}

impl Default for VoxelSettings {
    fn default() -> Self {
        Self {
            budget: FrameBudget::Unlimited,
            resolution: 20,
            branching: 2,
            most_groups: 6,
        }
    }
}

impl VoxelSettings {
    /// The default within a budget.
    #[must_use]
    pub fn within(budget: FrameBudget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }
}

/// Levels that [`VoxelStats::coarse`] tells apart.
pub const LEVELS: usize = 6;

/// What the voxels did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VoxelStats {
    /// Pairs that got voxel contacts (or were found apart by voxels).
    pub pairs: u64,
    /// Pairs that the sphere-tree method was meant for but did not fit: most got voxel contacts,
    /// the late ones what could be had.
    pub fallbacks: u64,
    /// Of `fallbacks`, pairs that the sphere-tree method was to answer, but time was over when
    /// their turn came: they kept the contacts of the step before, or got those that few
    /// visited nodes gave.
    pub late: u64,
    /// Pairs left to the sphere-tree method because it fitted.
    pub sphere_tree_pairs: u64,
    /// Pairs that were to be asked again by the sphere-tree method, and for which there was no
    /// time: they kept what it had found, at the distances of now.
    pub waiting: u64,
    /// Pairs that were refined to the finest level, or found to be apart.
    pub finished: u64,
    /// The others, by the level that was complete when time or work was over: 0 is the
    /// root, the last stands for all that are finer. Some of them keep contacts of the finest level
    /// from an earlier step, since those are better.
    pub coarse: [u64; LEVELS],
    /// Of `pairs`, those that hardly moved and kept the contacts of an earlier step.
    pub kept: u64,
    /// Pairs whose boxes overlap and that are known to be apart: by the boxes of their
    /// voxels, or because they have not moved enough since they were found to be.
    pub apart: u64,
    /// Contacts that voxels gave.
    pub contacts: u64,
    /// Cube tests made.
    pub tests: u64,
    /// Overlapping cubes that contacts were made of.
    pub primitives: u64,
    /// Voxels re-labelled because something broke, in milliseconds.
    pub relabel: f64,
    /// Pairs, refinement and reduction, in milliseconds (part of `collision`).
    pub refine: f64,
    /// Of `refine`, finding the pairs.
    pub find: f64,
    /// Of `refine`, reducing cubes to contacts and filling the table.
    pub reduce: f64,
}

#[cfg(feature = "world")]
impl VoxelStats {
    /// Counts a pair by the level to which it was seen: none is the finest.
    fn answered(&mut self, level: Option<u8>) {
        match level {
            None => self.finished += 1,
            Some(level) => self.coarse[usize::from(level).min(LEVELS - 1)] += 1,
        }
    }
}
