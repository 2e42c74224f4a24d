//! The two sides of a crack: whether each has a part that can stand, and which side the
//! nodes away from the surface are on.

use fracas_core::TetMesh;

use super::{FINISHED, FLOODED, Growth, Mark, NEGATIVE, PIECE_SHIFT, STATE, Seed, UNSEEN};

impl Growth {
    /// Whether each side has a part of at least so many nodes, if all nodes that were
    /// not marched were of that side. In a connected piece a side that has none now will
    /// have none: [`Self::flood`] gives it no others.
    pub(super) fn both_sides_may_stand(
        &mut self,
        mesh: &TetMesh,
        piece: u32,
        least: usize,
    ) -> bool {
        let negative = self
            .reached
            .iter()
            .filter(|&&n| self.marks[n as usize] & NEGATIVE != 0)
            .count();
        // The smaller one fails more often, and is sooner looked through.
        let sides = if 2 * negative <= self.reached.len() {
            [NEGATIVE, 0]
        } else {
            [0, NEGATIVE]
        };
        sides
            .into_iter()
            .all(|side| self.side_may_stand(mesh, piece, side, least))
    }

    fn side_may_stand(&mut self, mesh: &TetMesh, piece: u32, side: Mark, least: usize) -> bool {
        let look = self.next_look();
        let own = piece << PIECE_SHIFT | side | FINISHED;
        let unmarched = piece << PIECE_SHIFT | UNSEEN;
        let band = self.reached.len();
        let mut stands = false;
        for first in 0..band {
            let n = self.reached[first];
            if self.marks[n as usize] != own || self.looked_at[n as usize] == look {
                continue;
            }
            // What is found is kept behind the band for the moment.
            self.looked_at[n as usize] = look;
            self.reached.push(n);
            let mut next = band;
            while next < self.reached.len() && self.reached.len() - band < least {
                for &m in mesh.adjacent_nodes(self.reached[next]) {
                    let mark = self.marks[m as usize];
                    if (mark == own || mark == unmarched)
                        && std::mem::replace(&mut self.looked_at[m as usize], look) != look
                    {
                        self.reached.push(m);
                    }
                }
                next += 1;
            }
            stands = self.reached.len() - band >= least;
            self.reached.truncate(band);
            if stands {
                break;
            }
        }
        stands
    }

    pub(super) fn next_look(&mut self) -> u32 {
        self.look = self.look.wrapping_add(1);
        if self.look == 0 {
            self.looked_at.fill(0);
            self.look = 1;
        }
        self.look
    }

    /// Gives the rest of the piece its sides, flips crumbs, counts parts.
    ///
    /// Every band node starts a group of its own; nodes reached from it join it, and
    /// groups of one side that meet are joined. When all groups but one have no node
    /// left to look at, all that was not reached is of that one.
    pub(super) fn flood(&mut self, mesh: &TetMesh, seed: Seed, least: usize) -> Option<usize> {
        let band = self.reached.len();
        let look = self.next_look();
        let (groups, sizes, beside) = (&mut self.groups, &mut self.sizes, &mut self.beside);
        let (marks, group_of) = (&mut self.marks, &mut self.group_of);
        let (looked_at, act) = (&mut self.looked_at, &mut self.around.unseen);
        beside.clear();
        groups.clear();
        groups.extend(0..band as u32);
        sizes.clear();
        sizes.resize(band, [1, 1]);
        for (i, &n) in self.reached.iter().enumerate() {
            group_of[n as usize] = i as u32;
        }
        let mut waiting = band;
        let mut next = 0;
        while next < self.reached.len() {
            let n = self.reached[next];
            let side = marks[n as usize] & NEGATIVE;
            if waiting == 1 && next >= band && self.cells[n as usize].level().abs() > seed.reach {
                break;
            }
            next += 1;
            let mut mine = find(groups, group_of[n as usize]);
            // Far from the surface most neighbours are of this group already: they are
            // left out without a branch.
            let neighbours = mesh.adjacent_nodes(n);
            if act.len() < neighbours.len() {
                act.resize(neighbours.len(), 0);
            }
            let own = seed.piece << PIECE_SHIFT | side;
            let mut count = 0;
            for &m in neighbours {
                let mark = marks[m as usize];
                let is_of_group = (mark & !STATE == own)
                    & (mark & STATE != UNSEEN)
                    & (group_of[m as usize] == mine);
                act[count] = m;
                count += usize::from((mark >> PIECE_SHIFT == seed.piece) & !is_of_group);
            }
            for &m in &act[..count] {
                let mark = marks[m as usize];
                if mark & STATE == UNSEEN {
                    // Distance grows by most of each edge.
                    let cell = &self.cells[n as usize];
                    let (position, level) = (cell.position(), cell.level());
                    let cell = &mut self.cells[m as usize];
                    let edge = position.distance(cell.position());
                    let farther = level.abs() + 0.7 * edge;
                    cell.set_level(if side == NEGATIVE { -farther } else { farther });
                    marks[m as usize] = mark | side | FLOODED;
                    group_of[m as usize] = mine;
                    let [size, front] = &mut sizes[mine as usize];
                    *size += 1;
                    *front += 1;
                    self.reached.push(m);
                } else if mark & NEGATIVE != side {
                    let negative = if side == NEGATIVE { n } else { m };
                    if std::mem::replace(&mut looked_at[negative as usize], look) != look {
                        beside.push(negative);
                    }
                } else if group_of[m as usize] != mine {
                    let other = find(groups, group_of[m as usize]);
                    if other != mine {
                        // The lower label wins.
                        let (low, high) = (mine.min(other) as usize, mine.max(other) as usize);
                        groups[high] = low as u32;
                        let [size, front] = sizes[high];
                        waiting -= usize::from(front > 0 && sizes[low][1] > 0);
                        sizes[low][0] += size;
                        sizes[low][1] += front;
                        mine = low as u32;
                    }
                    group_of[m as usize] = mine;
                }
            }
            let front = &mut sizes[mine as usize][1];
            *front -= 1;
            waiting -= usize::from(*front == 0);
        }
        self.settle_groups(mesh, seed, least, band, next)
    }

    /// Which groups of the flood stand: the rest goes to the one that still has a front, those
    /// below `least` nodes go over to the other side. How many are kept, if both sides are.
    fn settle_groups(
        &mut self,
        mesh: &TetMesh,
        seed: Seed,
        least: usize,
        band: usize,
        next: usize,
    ) -> Option<usize> {
        let look = self.look;
        let (groups, sizes, beside) = (&mut self.groups, &mut self.sizes, &mut self.beside);
        let (marks, group_of) = (&mut self.marks, &mut self.group_of);
        let looked_at = &mut self.looked_at;
        // The rest is of the group that still has a front, if any has.
        self.rest = -self.mean_edge;
        let left = seed.nodes.saturating_sub(self.reached.len()) as u32;
        if let Some(&n) = self.reached.get(next) {
            let root = find(groups, group_of[n as usize]) as usize;
            sizes[root][0] += left;
            let far = 8.0 * self.mean_edge;
            self.rest = if marks[n as usize] & NEGATIVE != 0 {
                -far
            } else {
                far
            };
        }
        let mut kept = [0, 0];
        let mut crumbs = false;
        for i in 0..band {
            if groups[i] as usize != i {
                continue;
            }
            if sizes[i][0] as usize >= least {
                let positive = marks[self.reached[i] as usize] & NEGATIVE == 0;
                kept[usize::from(positive)] += 1;
            } else {
                crumbs = true;
            }
        }
        if kept[0] == 0 || kept[1] == 0 {
            return None;
        }
        if crumbs {
            // A crumb goes over to the other side, close to the surface.
            let small = 0.1 * self.mean_edge;
            for &n in &self.reached {
                let root = find(groups, group_of[n as usize]);
                if (sizes[root as usize][0] as usize) < least {
                    let mark = &mut marks[n as usize];
                    let to_positive = *mark & NEGATIVE != 0;
                    *mark = (*mark ^ NEGATIVE) & !STATE | FINISHED;
                    self.cells[n as usize].set_level(if to_positive { small } else { -small });
                    // The surface passes elsewhere now: beside it or its neighbours.
                    looked_at[n as usize] = look;
                    for &m in mesh.adjacent_nodes(n) {
                        looked_at[m as usize] = look;
                    }
                }
            }
            let is_beside =
                |n: &&u32| marks[**n as usize] & NEGATIVE != 0 && looked_at[**n as usize] == look;
            beside.clear();
            beside.extend(self.reached.iter().filter(is_beside));
        }
        // Crumbs that change sides may hang together with nothing there.
        let is_known = !crumbs && self.connected[seed.piece as usize] == Some(true);
        self.sides_connected = kept.map(|parts| is_known.then_some(parts == 1));
        Some(kept[0] + kept[1])
    }
}

/// The group that a label belongs to, shortening the way there.
fn find(groups: &mut [u32], mut label: u32) -> u32 {
    while groups[label as usize] != label {
        let up = groups[groups[label as usize] as usize];
        groups[label as usize] = up;
        label = up;
    }
    label
}
