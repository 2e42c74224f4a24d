//! All eigenvalues and eigenvectors of a small symmetric matrix.
//!
//! Householder reflections to tridiagonal form, then implicit QL with Wilkinson's
//! shift, accumulating the transformations (Golub, Van Loan, sections 8.3.1 and
//! 8.3.3). Plain loops in a fixed order: the same bits everywhere.

/// Eigenvalues, largest first, with eigenvectors: vector `k` is
/// `vectors[k * n..(k + 1) * n]`. `matrix` is n x n, symmetric, row-major.
#[must_use]
pub(crate) fn symmetric_eigen(matrix: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a = matrix.to_vec();
    let (mut diagonal, mut off) = (vec![0.0; n], vec![0.0; n]);
    let q = tridiagonalise(&mut a, n, &mut diagonal, &mut off);
    // Rows of `vectors` are eigenvectors: rotations then act on whole rows.
    let mut vectors = q;
    implicit_ql(&mut diagonal, &mut off, &mut vectors, n);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| diagonal[j].total_cmp(&diagonal[i]));
    let values = order.iter().map(|&i| diagonal[i]).collect();
    let sorted = order
        .iter()
        .flat_map(|&i| vectors[i * n..(i + 1) * n].iter().copied())
        .collect();
    (values, sorted)
}

/// Reduces `a` to tridiagonal form T = Q A Q^T and returns Q (row-major), whose
/// row i is the i-th basis vector.
fn tridiagonalise(a: &mut [f64], n: usize, diagonal: &mut [f64], off: &mut [f64]) -> Vec<f64> {
    let mut reflectors: Vec<(Vec<f64>, f64)> = Vec::with_capacity(n);
    let mut p = vec![0.0; n];
    for k in 0..n.saturating_sub(2) {
        // The column below the diagonal becomes a multiple of the first unit vector.
        let m = n - k - 1;
        let mut v: Vec<f64> = (0..m).map(|i| a[(k + 1 + i) * n + k]).collect();
        let tail: f64 = v[1..].iter().map(|x| x * x).sum();
        if tail == 0.0 {
            off[k] = v[0];
            reflectors.push((Vec::new(), 0.0));
            continue;
        }
        let norm = (v[0] * v[0] + tail).sqrt();
        let alpha = if v[0] > 0.0 { -norm } else { norm };
        v[0] -= alpha;
        let scale = 2.0 / v.iter().map(|x| x * x).sum::<f64>();
        off[k] = alpha;
        // A <- (I - s v v^T) A (I - s v v^T) on the trailing block.
        for i in 0..m {
            let row = &a[(k + 1 + i) * n + k + 1..(k + 2 + i) * n];
            p[i] = scale * dot(&row[..m], &v);
        }
        let half = 0.5 * scale * dot(&p[..m], &v);
        for i in 0..m {
            p[i] -= half * v[i];
        }
        for i in 0..m {
            let (vi, pi) = (v[i], p[i]);
            let row = &mut a[(k + 1 + i) * n + k + 1..(k + 2 + i) * n];
            for j in 0..m {
                row[j] -= vi * p[j] + pi * v[j];
            }
        }
        reflectors.push((v, scale));
    }
    for i in 0..n {
        diagonal[i] = a[i * n + i];
    }
    if n >= 2 {
        off[n - 2] = a[(n - 1) * n + n - 2];
    }
    // Q = H_last ... H_0, built backwards so that reflectors act on few columns.
    let mut q = vec![0.0; n * n];
    for i in 0..n {
        q[i * n + i] = 1.0;
    }
    for (k, (v, scale)) in reflectors.iter().enumerate().rev() {
        if v.is_empty() {
            continue;
        }
        // Row i of Q times H: only columns k+1.. change, and only rows k+1.. differ
        // from unit vectors so far.
        for i in k + 1..n {
            let row = &mut q[i * n + k + 1..(i + 1) * n];
            let s = scale * dot(row, v);
            for (x, y) in row.iter_mut().zip(v) {
                *x -= s * y;
            }
        }
    }
    q
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums, joined in a fixed order.
    let mut sums = [0.0; 4];
    let (pa, pb) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = pa
        .remainder()
        .iter()
        .zip(pb.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in pa.zip(pb) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Diagonalises the tridiagonal matrix, rotating the rows of `vectors` along.
fn implicit_ql(d: &mut [f64], e: &mut [f64], vectors: &mut [f64], n: usize) {
    for l in 0..n {
        // Fifty rounds are far more than any matrix needs; then accept what is there.
        for _ in 0..50 {
            let mut m = l;
            while m + 1 < n {
                let scale = d[m].abs() + d[m + 1].abs();
                if e[m].abs() <= f64::EPSILON * scale {
                    break;
                }
                m += 1;
            }
            if m == l {
                break;
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut r = (g * g + 1.0).sqrt();
            g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r } else { -r });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut early = false;
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                r = (f * f + g * g).sqrt();
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    early = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let (low, high) = vectors.split_at_mut((i + 1) * n);
                let (x, y) = (&mut low[i * n..], &mut high[..n]);
                for (x, y) in x.iter_mut().zip(y) {
                    let f = *y;
                    *y = s * *x + c * f;
                    *x = c * *x - s * f;
                }
            }
            if early {
                continue;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn vectors_are_orthonormal_and_diagonalise() {
        let mut random = Random::new(9);
        for n in [1, 2, 3, 5, 16, 60] {
            for kind in 0..4 {
                let mut a = vec![0.0; n * n];
                for i in 0..n {
                    for j in 0..=i {
                        let x = match kind {
                            0 => random.unit_f64() - 0.5,
                            1 => f64::from(u8::from(i == j)),
                            2 => 0.0,
                            _ => (-20.0 * (i + j) as f64 / n as f64).exp(),
                        };
                        a[i * n + j] = x;
                        a[j * n + i] = x;
                    }
                }
                let (values, vectors) = symmetric_eigen(&a, n);
                assert!(values.windows(2).all(|w| w[0] >= w[1]));
                for k in 0..n {
                    let x = &vectors[k * n..(k + 1) * n];
                    for m in 0..n {
                        let expected = f64::from(u8::from(k == m));
                        let y = &vectors[m * n..(m + 1) * n];
                        assert!((dot(x, y) - expected).abs() < 1e-12, "{n} {kind}");
                    }
                    for i in 0..n {
                        let ax = dot(&a[i * n..(i + 1) * n], x);
                        assert!((ax - values[k] * x[i]).abs() < 1e-12, "{n} {kind} {k}");
                    }
                }
            }
        }
    }
}
