//! What a pair remembers as numbers of 32 bits, to save it with a world.
//!
//! Every field is named, so that a field that is added cannot be forgotten here.

use glam::{Mat3, Vec3};

use super::{Calm, Entry, Kept, Memory, Pending, Watch, Watched};
use crate::Pose;

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

impl Watched {
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
            calm,
            of_birth,
        } = self;
        // Numbers of points and nodes, which have 32 bits in the tree itself.
        out.extend(tree.map(|n| n as u32));
        put_pose(out, start);
        put_pose(out, last);
        out.extend([tolerance, skin, strayed].map(|x| x.to_bits()));
        out.push(u32::from(*of_birth) | u32::from(calm.is_some()) << 1);
        if let Some(Calm { from, margin, pose }) = calm {
            out.extend([*from as u32, margin.to_bits()]);
            put_pose(out, pose);
        }
    }

    fn load(from: &mut Reader<'_, '_>) -> Option<Self> {
        let tree = [from.word()? as usize, from.word()? as usize];
        let (start, last) = (from.pose()?, from.pose()?);
        let (tolerance, skin, strayed) = (from.float()?, from.float()?, from.float()?);
        let flags = from.word()?;
        let calm = if flags & 2 == 0 {
            None
        } else {
            Some(Calm {
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
            calm,
            of_birth: flags & 1 == 1,
        })
    }
}

impl Watch {
    /// Appends all that is remembered.
    pub fn save(&self, out: &mut Vec<u32>) {
        let Self {
            list,
            pending,
            memory,
        } = self;
        out.push(list.len() as u32);
        for watched in list {
            watched.save(out);
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

    /// Reads what [`Watch::save`] wrote.
    pub fn load(from: &mut Reader<'_, '_>) -> Option<Self> {
        let list = (0..from.count(Watched::WORDS)?)
            .map(|_| Watched::load(from))
            .collect::<Option<_>>()?;
        let pending = (0..from.count(3)?)
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
        Some(Self {
            list,
            pending,
            memory,
        })
    }
}
