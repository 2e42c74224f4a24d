//! What a pair remembers as numbers of 32 bits, to save it with a world.
//!
//! Every field is named, so that a field that is added cannot be forgotten here.
//!
//! **Guarantee**: what is loaded names only points and nodes that its tree has, whatever
//! the numbers were: they are checked against the counts that are saved with them, and a
//! list is used only with a tree of the same counts.

use glam::{Mat3, Vec3};

use super::{CachedPoint, ContactCache, Entry, Kept, Memory, NotDeep, Pending, TreeName};
use crate::Pose;
use crate::sphere_tree::traversal::BUCKETS;

/// Takes numbers off the front; `None` where they end too early.
pub(in crate::sphere_tree) struct Reader<'a, 'b>(pub &'a mut &'b [u32]);

impl Reader<'_, '_> {
    pub fn word(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first()?;
        *self.0 = rest;
        Some(*first)
    }

    pub fn float(&mut self) -> Option<f32> {
        self.word().map(f32::from_bits)
    }

    pub fn vec3(&mut self) -> Option<Vec3> {
        Some(Vec3::new(self.float()?, self.float()?, self.float()?))
    }

    pub fn pose(&mut self) -> Option<Pose> {
        Some(Pose {
            rotation: Mat3::from_cols(self.vec3()?, self.vec3()?, self.vec3()?),
            translation: self.vec3()?,
        })
    }

    /// A number of things that each take at least `each` words.
    fn count(&mut self, each: usize) -> Option<usize> {
        let count = self.word()? as usize;
        (count <= self.0.len() / each).then_some(count)
    }
}

pub(in crate::sphere_tree) fn put_vec3(out: &mut Vec<u32>, v: Vec3) {
    out.extend(v.to_array().map(f32::to_bits));
}

pub(in crate::sphere_tree) fn put_pose(out: &mut Vec<u32>, pose: &Pose) {
    let Pose {
        rotation,
        translation,
    } = pose;
    out.extend(rotation.to_cols_array().map(f32::to_bits));
    put_vec3(out, *translation);
}

impl CachedPoint {
    const WORDS: usize = 10;

    fn save(&self, out: &mut Vec<u32>) {
        let Self {
            point,
            bound,
            at,
            kept:
                Kept {
                    normal,
                    distance,
                    margin,
                },
        } = *self;
        out.extend([point, bound.to_bits()]);
        put_vec3(out, at);
        put_vec3(out, normal);
        out.extend([distance, margin].map(f32::to_bits));
    }

    fn load(from: &mut Reader<'_, '_>) -> Option<Self> {
        Some(Self {
            point: from.word()?,
            bound: from.float()?,
            at: from.vec3()?,
            kept: Kept {
                normal: from.vec3()?,
                distance: from.float()?,
                margin: from.float()?,
            },
        })
    }
}

impl Memory {
    fn save(&self, out: &mut Vec<u32>) {
        let Self {
            tree,
            start,
            last,
            tolerance,
            skin,
            strayed,
            not_deep,
            of_birth,
        } = self;
        let TreeName {
            points,
            nodes,
            next_id,
        } = *tree;
        out.extend([points, nodes, next_id]);
        put_pose(out, start);
        put_pose(out, last);
        out.extend([tolerance, skin, strayed].map(|x| x.to_bits()));
        out.push(u32::from(*of_birth) | u32::from(not_deep.is_some()) << 1);
        if let Some(NotDeep { from, margin, pose }) = not_deep {
            out.extend([*from as u32, margin.to_bits()]);
            put_pose(out, pose);
        }
    }

    fn load(from: &mut Reader<'_, '_>) -> Option<Self> {
        let tree = TreeName {
            points: from.word()?,
            nodes: from.word()?,
            next_id: from.word()?,
        };
        let (start, last) = (from.pose()?, from.pose()?);
        let (tolerance, skin, strayed) = (from.float()?, from.float()?, from.float()?);
        let flags = from.word()?;
        let not_deep = if flags & 2 == 0 {
            None
        } else {
            Some(NotDeep {
                from: from.word()? as usize,
                margin: from.float()?,
                pose: from.pose()?,
            })
        };
        Some(Self {
            tree,
            start,
            last,
            tolerance,
            skin,
            strayed,
            not_deep,
            of_birth: flags & 1 == 1,
        })
    }
}

impl ContactCache {
    /// Appends all that is remembered.
    pub fn save(&self, out: &mut Vec<u32>) {
        let Self {
            list,
            pending,
            memory,
        } = self;
        out.push(list.len() as u32);
        for cached in list {
            cached.save(out);
        }
        out.push(pending.len() as u32);
        for pending in pending {
            let Pending {
                entry: Entry { node, distance },
                bucket,
            } = *pending;
            out.extend([node, distance.to_bits(), u32::from(bucket)]);
        }
        out.push(u32::from(memory.is_some()));
        if let Some(memory) = memory {
            memory.save(out);
        }
    }

    /// Reads what [`ContactCache::save`] wrote.
    pub fn load(from: &mut Reader<'_, '_>) -> Option<Self> {
        let list: Vec<_> = (0..from.count(CachedPoint::WORDS)?)
            .map(|_| CachedPoint::load(from))
            .collect::<Option<_>>()?;
        let pending: Vec<_> = (0..from.count(3)?)
            .map(|_| {
                Some(Pending {
                    entry: Entry {
                        node: from.word()?,
                        distance: from.float()?,
                    },
                    bucket: u8::try_from(from.word()?).ok()?,
                })
            })
            .collect::<Option<_>>()?;
        let memory = match from.word()? {
            0 => None,
            _ => Some(Memory::load(from)?),
        };
        let cache = Self {
            list,
            pending,
            memory,
        };
        cache.is_in_range().then_some(cache)
    }

    fn is_in_range(&self) -> bool {
        // Without a memory there is no list.
        let (points, nodes) = self
            .memory
            .map_or((0, 0), |m| (m.tree.points, m.tree.nodes));
        self.list.iter().all(|cached| cached.point < points)
            && self
                .pending
                .iter()
                .all(|pending| pending.entry.node < nodes && usize::from(pending.bucket) < BUCKETS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sphere_tree::{
        AdaptiveSettings, BuildOptions, HalfSpace, PairState, Query, QueryScratch, Question,
        SphereTree,
    };
    use crate::testing::{Rng, box_grid};

    struct Scene {
        tree: SphereTree,
        floor: HalfSpace,
        settings: AdaptiveSettings,
    }

    impl Scene {
        fn step(&self, height: f32, state: &mut PairState) -> usize {
            let pose = Pose {
                translation: Vec3::Y * height,
                ..Pose::IDENTITY
            };
            let query = Query::new(0.01, self.tree.object_radius());
            let mut found = Vec::new();
            let scratch = &mut QueryScratch::default();
            let (tree, floor) = (&self.tree, &self.floor);
            tree.contacts_adaptive(
                &Question::new(&pose, floor, &query),
                &self.settings,
                state,
                scratch,
                &mut found,
            );
            found.len()
        }
    }

    /// A box on a floor whose search for deep points has stopped on its way.
    fn half_way() -> (Scene, PairState) {
        let mesh = box_grid([8, 3, 5], Vec3::new(1.6, 0.6, 1.0));
        let scene = Scene {
            tree: SphereTree::build(&mesh, &BuildOptions::default()).unwrap(),
            floor: HalfSpace::new(Vec3::Y, 0.0),
            settings: AdaptiveSettings {
                deep_work: 4,
                ..AdaptiveSettings::default()
            },
        };
        let mut state = PairState::default();
        assert!(scene.step(-0.05, &mut state) >= 8);
        assert!(!state.is_adapted());
        (scene, state)
    }

    #[test]
    fn a_damaged_memory_is_refused_or_harmless() {
        let (scene, state) = half_way();
        let mut words = Vec::new();
        state.save(&mut words);
        let (mut refused, mut used) = (0, 0);
        let mut rng = Rng(44);
        for at in 0..words.len() {
            // The third is no bucket, but fits into its byte.
            for damage in [0, 1, 200, u32::MAX, 1 << 31, rng.below(1 << 20) as u32] {
                let mut damaged = words.clone();
                damaged[at] = damage;
                let Some(mut state) = PairState::load(&mut damaged.as_slice()) else {
                    refused += 1;
                    continue;
                };
                used += 1;
                for height in [-0.05, -0.049, 0.3] {
                    scene.step(height, &mut state);
                }
            }
            assert!(PairState::load(&mut &words[..at]).is_none());
        }
        assert!(refused > 50 && used > 50, "{refused} refused, {used} used");
    }

    #[test]
    fn a_loaded_memory_goes_on_as_the_saved_one() {
        let (scene, mut state) = half_way();
        let mut words = Vec::new();
        state.save(&mut words);
        let mut loaded = PairState::load(&mut words.as_slice()).unwrap();
        for height in [-0.05, -0.049, -0.02, 0.3] {
            assert_eq!(
                scene.step(height, &mut state),
                scene.step(height, &mut loaded)
            );
            assert_eq!(format!("{state:?}"), format!("{loaded:?}"));
        }
    }
}
