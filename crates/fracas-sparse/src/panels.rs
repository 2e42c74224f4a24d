//! Which columns of the factor are computed together, and which rows they have.
//!
//! Steps: elimination tree (Liu 1986) -> postorder, so that a column and its last
//! child lie side by side -> rows of each column, merged from its children's ->
//! panels: runs of columns whose rows hardly differ, at most [`MOST_WIDE`] wide.
//!
//! All is said of nodes: the three numbers of a node have the same rows.
//!
//! **Guarantee**: decided by the pattern and the given order alone, in integers.

use crate::block_matrix::BlockMatrix;

/// Most nodes of a panel: three times as many columns stay in the nearest cache.
pub(crate) const MOST_WIDE: usize = 16;

/// Zeros that a panel may store, as a share of all that it stores.
const MOST_ZEROS: f64 = 0.2;

/// Panels of a factor. A place is a position in the order of elimination.
#[derive(Clone, Debug)]
pub(crate) struct Panels {
    /// Node at each place.
    pub order: Vec<u32>,
    /// First place of each panel, and the end of the last.
    pub starts: Vec<u32>,
    /// Panel of each place.
    pub panel_of: Vec<u32>,
    /// Places of the rows of all panels: its own first, then increasing.
    rows: Vec<u32>,
    row_starts: Vec<usize>,
}

impl Panels {
    /// Panels for eliminating nodes in about the given order: it is kept up to a
    /// reordering that changes no row's length.
    pub fn new(matrix: &BlockMatrix, order: &[u32]) -> Self {
        let neighbours = Neighbours::new(matrix, order);
        let tree = elimination_tree(&neighbours);
        let post = postorder(&tree);
        let order: Vec<u32> = post.iter().map(|&p| order[p as usize]).collect();
        let neighbours = Neighbours::new(matrix, &order);
        let parents = elimination_tree(&neighbours);
        let columns = column_rows(&neighbours, &parents);
        let mut panels = Self {
            panel_of: vec![0; order.len()],
            order,
            starts: vec![0],
            rows: Vec::new(),
            row_starts: vec![0],
        };
        let mut first = 0;
        while first < columns.len() {
            let end = panel_end(first, &columns, &parents);
            let number = panels.starts.len() as u32 - 1;
            panels.panel_of[first..end].fill(number);
            panels.rows.extend(first as u32..end as u32);
            panels.rows.extend(&columns[end - 1]);
            panels.row_starts.push(panels.rows.len());
            panels.starts.push(end as u32);
            first = end;
        }
        panels
    }

    /// How many panels.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Places of a panel's rows: its own columns, then those below.
    pub fn rows(&self, panel: usize) -> &[u32] {
        &self.rows[self.row_starts[panel]..self.row_starts[panel + 1]]
    }

    /// Nodes of a panel: its columns.
    pub fn width(&self, panel: usize) -> usize {
        (self.starts[panel + 1] - self.starts[panel]) as usize
    }
}

/// Where a panel that begins at `first` ends: the rows of its columns are those of
/// the last, so every column before stores some zeros.
fn panel_end(first: usize, columns: &[Vec<u32>], parents: &[u32]) -> usize {
    let mut needed = columns[first].len() + 1;
    let mut end = first + 1;
    while end < columns.len() && end - first < MOST_WIDE && parents[end - 1] as usize == end {
        needed += columns[end].len() + 1;
        let wide = end + 1 - first;
        let stored = wide * (wide + 1) / 2 + wide * columns[end].len();
        if (stored - needed) as f64 > MOST_ZEROS * stored as f64 {
            break;
        }
        end += 1;
    }
    end
}

/// Neighbours of each place, as places.
struct Neighbours {
    starts: Vec<usize>,
    places: Vec<u32>,
}

impl Neighbours {
    fn new(matrix: &BlockMatrix, order: &[u32]) -> Self {
        let places = places_of(order);
        let pairs = || {
            (0..matrix.nodes()).flat_map(|j| {
                let below = matrix.column(j).0.iter().filter(move |&&i| i as usize != j);
                below.map(move |&i| (j, i as usize))
            })
        };
        let mut starts = vec![0; matrix.nodes() + 1];
        for (i, j) in pairs() {
            starts[places[i] as usize + 1] += 1;
            starts[places[j] as usize + 1] += 1;
        }
        for i in 0..matrix.nodes() {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut list = vec![0; starts[matrix.nodes()]];
        for (i, j) in pairs() {
            for (a, b) in [(i, j), (j, i)] {
                let slot = &mut next[places[a] as usize];
                list[*slot] = places[b];
                *slot += 1;
            }
        }
        Self {
            starts,
            places: list,
        }
    }

    fn of(&self, place: usize) -> &[u32] {
        &self.places[self.starts[place]..self.starts[place + 1]]
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Place of each node in an order.
pub(crate) fn places_of(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &node) in order.iter().enumerate() {
        places[node as usize] = place as u32;
    }
    places
}

const NONE: u32 = u32::MAX;

/// Parent of each place: the first row below its diagonal in the factor.
fn elimination_tree(neighbours: &Neighbours) -> Vec<u32> {
    let n = neighbours.len();
    let (mut parents, mut ancestors) = (vec![NONE; n], vec![NONE; n]);
    for j in 0..n {
        for &i in neighbours.of(j) {
            let mut at = i;
            while (at as usize) < j {
                let up = std::mem::replace(&mut ancestors[at as usize], j as u32);
                if up == NONE {
                    parents[at as usize] = j as u32;
                    break;
                }
                at = up;
            }
        }
    }
    parents
}

/// Places so that children come before parents and each subtree is one run.
fn postorder(parents: &[u32]) -> Vec<u32> {
    let n = parents.len();
    let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    // Backwards, so that children are listed in increasing order.
    for i in (0..n).rev() {
        if parents[i] != NONE {
            let first = &mut first_child[parents[i] as usize];
            sibling[i] = std::mem::replace(first, i as u32);
        }
    }
    let mut post = Vec::with_capacity(n);
    let mut stack = Vec::new();
    for root in (0..n).filter(|&i| parents[i] == NONE) {
        stack.push(root as u32);
        while let Some(&top) = stack.last() {
            match std::mem::replace(&mut first_child[top as usize], NONE) {
                NONE => {
                    post.push(top);
                    stack.pop();
                }
                child => {
                    // The next child is looked at when this one is done.
                    first_child[top as usize] = sibling[child as usize];
                    stack.push(child);
                }
            }
        }
    }
    post
}

/// Rows below the diagonal of each column of the factor, increasing.
fn column_rows(neighbours: &Neighbours, parents: &[u32]) -> Vec<Vec<u32>> {
    let n = neighbours.len();
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut seen = vec![NONE; n];
    for j in 0..n {
        let mut rows: Vec<u32> = Vec::new();
        let mut take = |list: &[u32]| {
            for &i in list {
                if i as usize > j && seen[i as usize] != j as u32 {
                    seen[i as usize] = j as u32;
                    rows.push(i);
                }
            }
        };
        take(neighbours.of(j));
        for &child in &children[j] {
            take(&columns[child as usize]);
        }
        rows.sort_unstable();
        columns[j] = rows;
        if parents[j] != NONE {
            children[parents[j] as usize].push(j as u32);
        }
    }
    columns
}
