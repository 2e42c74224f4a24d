//! Draws a [`Plot`] as SVG: axes linear or logarithmic, lines, dots, bars, legend.
//!
//! Colours are classes, so that the page's style decides them for light and dark.
//! Every dot and bar carries its numbers as a tooltip.

use std::fmt::Write as _;

use crate::plot::{Axis, Mark, Plot, Series};
use crate::section::{count, short};

/// Colours and lines of plots, for light and dark.
pub const STYLE: &str = include_str!("plot.css");

/// Colours that the style knows.
pub const COLOURS: usize = 8;

const LEFT: f64 = 74.0;
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 48.0;
/// Mean width of a letter of the legend, in pixels.
const LETTER: f64 = 6.4;
const LEGEND_LINE: f64 = 20.0;

/// Text as it may stand in a page.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// From values to pixels.
struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(1e-300) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + (self.to - self.from) * share.clamp(-0.02, 1.02)
    }

    fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Values to write, with their text; those without text are small ticks.
    fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            return self.log_ticks();
        }
        let step = nice_step((self.high - self.low) / 6.0);
        let digits = (-(step.log10().floor())).clamp(0.0, 9.0) as usize;
        let first = (self.low / step - 1e-6).ceil() as i64;
        let last = (self.high / step + 1e-6).floor() as i64;
        (first..=last)
            .map(|i| {
                let value = i as f64 * step;
                let text = if digits == 0 {
                    count(value)
                } else {
                    format!("{value:.digits$}")
                };
                (value, text)
            })
            .collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let few = last - first <= 2;
        let many = last - first > 7;
        let mut ticks = Vec::new();
        for decade in first..=last {
            for factor in [1.0, 2.0, 5.0] {
                let value = factor * 10_f64.powi(decade);
                if value < self.low * 0.999 || value > self.high * 1.001 {
                    continue;
                }
                let named = if factor > 1.5 {
                    few
                } else {
                    !many || decade.rem_euclid(2) == 0
                };
                ticks.push((
                    value,
                    if named {
                        log_text(value)
                    } else {
                        String::new()
                    },
                ));
            }
        }
        ticks
    }
}

fn log_text(value: f64) -> String {
    if value >= 0.999e9 {
        format!("{:.0}G", value / 1e9)
    } else if value >= 0.999e6 {
        format!("{:.0}M", value / 1e6)
    } else if value >= 0.999e4 {
        format!("{:.0}k", value / 1e3)
    } else if value >= 0.999 {
        count(value)
    } else if value > 0.000_9 {
        let digits = (-(value * 1.001).log10().floor()) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.0e}")
    }
}

fn nice_step(rough: f64) -> f64 {
    let base = 10_f64.powf(rough.max(1e-300).log10().floor());
    let share = rough / base;
    base * if share <= 1.0 {
        1.0
    } else if share <= 2.0 {
        2.0
    } else if share <= 5.0 {
        5.0
    } else {
        10.0
    }
}

/// The range an axis must show.
fn range(values: impl Iterator<Item = f64>, axis: &Axis, from_zero: bool) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0)) {
        (low, high) = (low.min(v), high.max(v));
    }
    if low > high {
        return if axis.log { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    if axis.log {
        if high / low < 1.2 {
            return (low / 2.0, high * 2.0);
        }
        let room = (high / low).powf(0.04);
        return (low / room, high * room);
    }
    if low >= 0.0 && (from_zero || low < 0.5 * high) {
        low = 0.0;
    }
    if high - low < 1e-12 * high.abs().max(1e-12) {
        return (
            low - 0.5 * low.abs().max(1.0),
            high + 0.5 * high.abs().max(1.0),
        );
    }
    let room = 0.04 * (high - low);
    (if low == 0.0 { 0.0 } else { low - room }, high + room)
}

fn is_bar(series: &Series) -> bool {
    matches!(series.mark, Mark::Bars | Mark::Stacked)
}

/// The plot as an SVG element.
#[must_use]
pub fn draw(plot: &Plot) -> String {
    let (width, height) = if plot.narrow {
        (430.0, 290.0)
    } else {
        (880.0, 320.0)
    };
    let (legend, legend_height) = legend(plot, width);
    // A long legend takes no room from the plot.
    let height = height + (legend_height - LEGEND_LINE).max(0.0);
    let top = 10.0 + legend_height;
    let (x, y) = scales(plot, width, height, top);
    let mut svg = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        svg,
        r#"<svg class="plot{}" viewBox="0 0 {width} {height}" role="img" aria-label="{}">"#,
        if plot.narrow { " narrow" } else { "" },
        escape(&plot.caption)
    );
    svg.push_str(&legend);
    axes(&mut svg, plot, &x, &y);
    for moment in plot.moments.iter().filter(|m| x.holds(**m)) {
        let at = x.at(*moment);
        let _ = write!(
            svg,
            r#"<line class="moment" x1="{at:.1}" x2="{at:.1}" y1="{:.1}" y2="{:.1}"/>"#,
            y.to, y.from
        );
    }
    bars(&mut svg, plot, &x, &y);
    for series in plot.series.iter().filter(|s| !is_bar(s)) {
        curve(&mut svg, series, &x, &y);
    }
    levels(&mut svg, plot, &x, &y);
    svg.push_str("</svg>");
    svg
}

/// The plot as a file of its own, with its style, for documents.
#[must_use]
pub fn file(plot: &Plot) -> String {
    let drawn = draw(plot);
    let (open, rest) = drawn.split_once('>').unwrap_or((&drawn, ""));
    format!(
        "{} xmlns=\"http://www.w3.org/2000/svg\"><style>{STYLE}svg {{ background: var(--card); }}</style>{rest}\n",
        open
    )
}

fn scales(plot: &Plot, width: f64, height: f64, top: f64) -> (Scale, Scale) {
    let all = || plot.series.iter().flat_map(|s| &s.points);
    let has_bars = plot.series.iter().any(is_bar);
    let (mut x_low, mut x_high) = range(all().map(|p| p[0]), &plot.x, false);
    if has_bars {
        (x_low, x_high) = (-0.5, plot.names.len() as f64 - 0.5);
    } else if !plot.x.log {
        // Curves end at the frame.
        let last = all().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max);
        let room = if plot.series.iter().all(|s| s.mark == Mark::Line) {
            0.0
        } else {
            0.02 * (x_high - x_low)
        };
        x_high = x_high.min(last + room);
    }
    let stacked: Vec<f64> = (0..plot.names.len())
        .map(|i| {
            let here = plot
                .series
                .iter()
                .filter(|s| s.mark == Mark::Stacked)
                .flat_map(|s| &s.points)
                .filter(|p| p[0] as usize == i);
            here.map(|p| p[1]).sum()
        })
        .filter(|&v| v > 0.0)
        .collect();
    let ys = all()
        .map(|p| p[1])
        .chain(plot.levels.iter().map(|l| l.1))
        .chain(stacked);
    let (y_low, y_high) = range(ys, &plot.y, has_bars);
    (
        Scale {
            low: x_low,
            high: x_high,
            log: plot.x.log,
            from: LEFT,
            to: width - RIGHT,
        },
        Scale {
            low: y_low,
            high: y_high,
            log: plot.y.log,
            from: height - BOTTOM,
            to: top,
        },
    )
}

fn legend(plot: &Plot, width: f64) -> (String, f64) {
    if plot.series.len() < 2 && plot.series.iter().all(|s| s.name.is_empty()) {
        return (String::new(), 0.0);
    }
    let mut svg = String::new();
    let (mut x, mut y) = (LEFT, 14.0);
    for series in &plot.series {
        let room = 30.0 + series.name.chars().count() as f64 * LETTER;
        if x > LEFT && x + room > width - RIGHT {
            (x, y) = (LEFT, y + LEGEND_LINE);
        }
        let colour = series.colour % COLOURS;
        let _ = match series.mark {
            Mark::Line | Mark::LineAndDots => write!(
                svg,
                r#"<line class="curve c{colour}{}" x1="{x:.0}" x2="{:.0}" y1="{y:.0}" y2="{y:.0}"/>"#,
                if series.dashed { " dashed" } else { "" },
                x + 18.0
            ),
            Mark::Dots => write!(
                svg,
                r#"<circle class="f{colour}" cx="{:.0}" cy="{y:.0}" r="3.5"/>"#,
                x + 9.0
            ),
            Mark::Bars | Mark::Stacked => write!(
                svg,
                r#"<rect class="f{colour}" x="{:.0}" y="{:.0}" width="12" height="10" rx="2"/>"#,
                x + 4.0,
                y - 5.0
            ),
        };
        let _ = write!(
            svg,
            r#"<text class="legend" x="{:.0}" y="{:.0}">{}</text>"#,
            x + 23.0,
            y + 4.0,
            escape(&series.name)
        );
        x += room + 12.0;
    }
    (svg, y + 6.0)
}

fn axes(svg: &mut String, plot: &Plot, x: &Scale, y: &Scale) {
    for (value, text) in y.ticks() {
        let at = y.at(value);
        let _ = write!(
            svg,
            r#"<line class="{}" x1="{:.1}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}"/>"#,
            if text.is_empty() {
                "grid small"
            } else {
                "grid"
            },
            x.from,
            x.to
        );
        if !text.is_empty() {
            let _ = write!(
                svg,
                r#"<text class="tick end" x="{:.1}" y="{:.1}">{text}</text>"#,
                x.from - 7.0,
                at + 4.0
            );
        }
    }
    let _ = write!(
        svg,
        r#"<line class="axis" x1="{:.1}" x2="{:.1}" y1="{:.1}" y2="{:.1}"/>"#,
        x.from, x.to, y.from, y.from
    );
    if plot.names.is_empty() {
        for (value, text) in x.ticks() {
            let at = x.at(value);
            let _ = write!(
                svg,
                r#"<line class="axis" x1="{at:.1}" x2="{at:.1}" y1="{:.1}" y2="{:.1}"/>"#,
                y.from,
                y.from + if text.is_empty() { 3.0 } else { 5.0 }
            );
            let _ = write!(
                svg,
                r#"<text class="tick mid" x="{at:.1}" y="{:.1}">{text}</text>"#,
                y.from + 18.0
            );
        }
    } else {
        for (i, name) in plot.names.iter().enumerate() {
            let _ = write!(
                svg,
                r#"<text class="tick mid" x="{:.1}" y="{:.1}">{}</text>"#,
                x.at(i as f64),
                y.from + 18.0,
                escape(name)
            );
        }
    }
    let _ = write!(
        svg,
        r#"<text class="label mid" x="{:.1}" y="{:.1}">{}</text>"#,
        0.5 * (x.from + x.to),
        y.from + 38.0,
        escape(&plot.x.label)
    );
    let middle = 0.5 * (y.from + y.to);
    let _ = write!(
        svg,
        r#"<text class="label mid" transform="translate(15 {middle:.1}) rotate(-90)">{}</text>"#,
        escape(&plot.y.label)
    );
}

fn levels(svg: &mut String, plot: &Plot, x: &Scale, y: &Scale) {
    for (name, value) in &plot.levels {
        let at = y.at(*value);
        let _ = write!(
            svg,
            r#"<line class="level" x1="{:.1}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}"/><text class="level end" x="{:.1}" y="{:.1}">{}</text>"#,
            x.from,
            x.to,
            x.to - 4.0,
            at - 5.0,
            escape(name)
        );
    }
}

fn bars(svg: &mut String, plot: &Plot, x: &Scale, y: &Scale) {
    let beside = plot.series.iter().filter(|s| s.mark == Mark::Bars).count();
    let slot = (x.to - x.from) / plot.names.len().max(1) as f64;
    let floor = y.at(if y.log { y.low } else { 0.0 });
    let mut tops = vec![0.0; plot.names.len()];
    let mut place = 0;
    for series in plot.series.iter().filter(|s| is_bar(s)) {
        let stacked = series.mark == Mark::Stacked;
        let shares = if stacked { 1.0 } else { beside as f64 };
        let bar = (0.72 * slot / shares).min(56.0);
        for &[at, value] in &series.points {
            let i = at as usize;
            if i >= tops.len() {
                continue;
            }
            let left = if stacked {
                x.at(at) - 0.5 * bar
            } else {
                x.at(at) + (place as f64 - 0.5 * shares) * bar
            };
            let (from, to) = if stacked {
                (y.at(tops[i]), y.at(tops[i] + value))
            } else {
                (floor, y.at(value))
            };
            if stacked {
                tops[i] += value;
            }
            let _ = write!(
                svg,
                r#"<rect class="f{}" x="{:.1}" y="{:.1}" width="{:.1}" height="{:.1}" rx="1.5"><title>{}: {}</title></rect>"#,
                series.colour % COLOURS,
                left + 0.5,
                from.min(to),
                (bar - 1.0).max(1.0),
                (from - to).abs().max(0.5),
                escape(&series.name),
                short(value)
            );
        }
        if !stacked {
            place += 1;
        }
    }
}

fn curve(svg: &mut String, series: &Series, x: &Scale, y: &Scale) {
    let shown: Vec<[f64; 2]> = series
        .points
        .iter()
        .filter(|p| !(x.log && p[0] <= 0.0 || y.log && p[1] <= 0.0))
        .map(|p| [x.at(p[0]), y.at(p[1])])
        .collect();
    let colour = series.colour % COLOURS;
    if series.mark != Mark::Dots && shown.len() > 1 {
        let mut path = String::new();
        for (i, [px, py]) in thinned(&shown).iter().enumerate() {
            let _ = write!(path, "{}{px:.1} {py:.1}", if i == 0 { 'M' } else { 'L' });
        }
        let dashed = if series.dashed { " dashed" } else { "" };
        let _ = write!(svg, r#"<path class="curve c{colour}{dashed}" d="{path}"/>"#);
    }
    if series.mark == Mark::Line {
        return;
    }
    let drawn = series
        .points
        .iter()
        .filter(|p| !(x.log && p[0] <= 0.0 || y.log && p[1] <= 0.0));
    for (point, [px, py]) in drawn.zip(&shown) {
        let _ = write!(
            svg,
            r#"<circle class="f{colour} dot" cx="{px:.1}" cy="{py:.1}" r="3"><title>{}: {}, {}</title></circle>"#,
            escape(&series.name),
            short(point[0]),
            short(point[1])
        );
    }
}

/// At most the first, lowest, highest and last point of every pixel: what a dense
/// curve looks like, peaks kept.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    if points.len() < 1200 {
        return points.to_vec();
    }
    let mut out = Vec::new();
    for group in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        let mut keep: Vec<usize> = vec![0, group.len() - 1];
        let by = |a: &usize, b: &usize| group[*a][1].total_cmp(&group[*b][1]);
        keep.extend((0..group.len()).min_by(by));
        keep.extend((0..group.len()).max_by(by));
        keep.sort_unstable();
        keep.dedup();
        out.extend(keep.into_iter().map(|i| group[i]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_of(text: &str, what: &str) -> usize {
        text.matches(what).count()
    }

    #[test]
    fn every_kind_of_mark_is_drawn() {
        let mut plot = Plot::new("a < b", "x", "y").log(true, true);
        plot.add("line", Mark::Line, [(1.0, 2.0), (10.0, 20.0)]);
        plot.add(
            "dots",
            Mark::Dots,
            [(2.0, 2.0), (f64::NAN, 1.0), (0.0, 3.0)],
        );
        plot.levels.push(("paper".into(), 5.0));
        plot.moments.push(3.0);
        let svg = draw(&plot);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
        assert!(svg.contains("a &lt; b"));
        assert_eq!(count_of(&svg, "<path"), 1);
        // One in the legend, one drawn; neither the NaN nor the zero on a log axis.
        assert_eq!(count_of(&svg, "<circle"), 2);
        assert_eq!(count_of(&svg, r#"class="moment""#), 1);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn a_file_brings_its_style() {
        let mut plot = Plot::new("a > b", "x", "y");
        plot.add("line", Mark::Line, [(1.0, 2.0), (10.0, 20.0)]);
        let file = file(&plot);
        assert!(file.starts_with("<svg") && file.ends_with("</svg>\n"));
        assert!(file.contains("xmlns=") && file.contains("--c0"));
        assert_eq!(count_of(&file, "<style>"), 1);
    }

    #[test]
    fn stacked_bars_stand_on_one_another() {
        let mut plot = Plot::new("", "", "");
        plot.names = vec!["a".into(), "b".into()];
        plot.add("one", Mark::Stacked, [(0.0, 1.0), (1.0, 2.0)]);
        plot.add("two", Mark::Stacked, [(0.0, 3.0), (1.0, 2.0)]);
        let svg = draw(&plot);
        assert_eq!(count_of(&svg, "<title>"), 4);
    }

    #[test]
    fn empty_and_flat_plots_do_no_harm() {
        for points in [vec![], vec![(1.0, 1.0)], vec![(0.0, 0.0), (0.0, 0.0)]] {
            for log in [false, true] {
                let mut plot = Plot::new("", "", "").log(log, log);
                plot.add("x", Mark::LineAndDots, points.clone());
                let svg = draw(&plot);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale {
            low: 0.0,
            high: 1.03,
            log: false,
            from: 0.0,
            to: 1.0,
        };
        let texts: Vec<String> = scale.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(texts, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let scale = Scale {
            low: 0.9,
            high: 1100.0,
            log: true,
            ..scale
        };
        let texts: Vec<String> = scale.ticks().into_iter().map(|t| t.1).collect();
        assert!(texts.contains(&"1,000".to_string()), "{texts:?}");
    }

    #[test]
    fn thinning_keeps_peaks() {
        let points: Vec<[f64; 2]> = (0..5000)
            .map(|i| [f64::from(i) * 0.1, if i == 2500 { 9.0 } else { 0.0 }])
            .collect();
        let thin = thinned(&points);
        assert!(thin.len() < 2100);
        assert!(thin.iter().any(|p| p[1] == 9.0));
    }
}
