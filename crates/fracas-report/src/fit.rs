//! Fits: how a cost grows.

/// Slope of log y over log x by least squares: the exponent of growth. Points that
/// are not positive are left out.
#[must_use]
pub fn growth_exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|p| p.0 > 0.0 && p.1 > 0.0)
        .map(|(x, y)| (x.ln(), y.ln()))
        .collect();
    line(&logs).slope
}

/// The first and the last size with what the power law of least squares gives there.
#[must_use]
pub fn power_law(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let there = points.iter().filter(|p| p.0 > 0.0 && p.1 > 0.0);
    let logs: Vec<(f64, f64)> = there.map(|(x, y)| (x.ln(), y.ln())).collect();
    let fitted = line(&logs);
    let at = |x: f64| (x.exp(), (fitted.base + fitted.slope * x).exp());
    let sizes = || logs.iter().map(|p| p.0);
    vec![
        at(sizes().fold(f64::INFINITY, f64::min)),
        at(sizes().fold(f64::NEG_INFINITY, f64::max)),
    ]
}

/// A straight line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Height at zero.
    pub base: f64,
    /// Rise per unit.
    pub slope: f64,
    /// Coefficient of determination.
    pub r2: f64,
}

/// The line of least squares; NaN where there is none.
#[must_use]
pub fn line(points: &[(f64, f64)]) -> Line {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let xy = sum(&|p| (p.0 - mx) * (p.1 - my));
    let xx = sum(&|p| (p.0 - mx).powi(2));
    let yy = sum(&|p| (p.1 - my).powi(2));
    let slope = xy / xx;
    Line {
        base: my - slope * mx,
        slope,
        r2: xy * xy / (xx * yy),
    }
}

/// The value that half of them do not exceed; NaN of none.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The mean; NaN of none.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_fits() {
        let square: Vec<(f64, f64)> = (1..6).map(|i| (f64::from(i), f64::from(i * i))).collect();
        assert!((growth_exponent(&square) - 2.0).abs() < 1e-12);
        let found = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]);
        assert!((found.base - 1.0).abs() < 1e-12 && (found.slope - 2.0).abs() < 1e-12);
        assert!((found.r2 - 1.0).abs() < 1e-12);
        assert!(growth_exponent(&[(1.0, 1.0)]).is_nan());
        let ends = power_law(&square);
        assert!((ends[0].1 - 1.0).abs() < 1e-9 && (ends[1].1 - 25.0).abs() < 1e-9);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
