//! The page: one self-contained HTML file, drawn from the sections' data alone.

use std::fmt::Write as _;

use crate::section::{Block, Claim, Role, Section, Table, Tone, count};
use crate::svg::{self, escape};

/// A chapter of the page.
#[derive(Clone, Copy, Debug)]
pub struct Chapter {
    /// Its heading; sections name it as their group.
    pub group: &'static str,
    /// What it is about.
    pub about: &'static str,
}

/// The whole page; sections stand in the order given, chapters too.
#[must_use]
pub fn page(sections: &[Section], chapters: &[Chapter]) -> String {
    let mut html = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fracas: the proof</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<div class=\"frame\">\n",
        svg::STYLE,
        include_str!("style.css")
    );
    contents(&mut html, sections, chapters);
    html.push_str("<main>\n");
    head(&mut html, sections);
    for chapter in chapters {
        let mut of_chapter = sections
            .iter()
            .filter(|s| s.group == chapter.group)
            .peekable();
        if of_chapter.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            html,
            "<h2 class=\"group\">{}</h2>\n<p class=\"group-about\">{}</p>",
            escape(chapter.group),
            escape(chapter.about)
        );
        for section in of_chapter {
            write_section(&mut html, section);
        }
    }
    html.push_str("</main>\n</div>\n</body>\n</html>\n");
    html
}

fn contents(html: &mut String, sections: &[Section], chapters: &[Chapter]) {
    html.push_str("<nav aria-label=\"Contents\">\n<a href=\"#top\"><b>fracas: the proof</b></a>\n");
    for chapter in chapters {
        let list: Vec<&Section> = sections
            .iter()
            .filter(|s| s.group == chapter.group)
            .collect();
        if list.is_empty() {
            continue;
        }
        let _ = writeln!(html, "<h2>{}</h2>\n<ol>", escape(chapter.group));
        for section in list {
            let dot = if section.is_skipped() {
                "skip"
            } else if section.claims().any(|c| !c.holds) {
                "bad"
            } else if section.claims().next().is_some() {
                "good"
            } else {
                "none"
            };
            let _ = writeln!(
                html,
                "<li><a href=\"#{}\"><span class=\"dot-{dot}\"></span>{}</a></li>",
                escape(&section.id),
                escape(&section.title)
            );
        }
        html.push_str("</ol>\n");
    }
    html.push_str("</nav>\n");
}

fn head(html: &mut String, sections: &[Section]) {
    let claims: Vec<(&Section, &Claim)> = sections
        .iter()
        .flat_map(|s| s.claims().map(move |c| (s, c)))
        .collect();
    let fails: Vec<&(&Section, &Claim)> = claims.iter().filter(|c| !c.1.holds).collect();
    let measured = sections.iter().filter(|s| !s.is_skipped());
    let seconds: f64 = measured.clone().map(|s| s.provenance.seconds).sum();
    html.push_str("<header id=\"top\">\n<h1>fracas: the proof</h1>\n<p class=\"lead\">Every table and figure of the four papers, computed anew by one command, beside what the papers print; and what people use today, on the same input in the same run.</p>\n<div class=\"facts\">\n");
    let mut fact = |class: &str, number: String, words: &str| {
        let _ = writeln!(
            html,
            "<div class=\"fact {class}\"><b>{number}</b><span>{words}</span></div>"
        );
    };
    fact(
        "",
        count(measured.clone().count() as f64),
        "sections measured",
    );
    fact(
        "good",
        count((claims.len() - fails.len()) as f64),
        "claims of the papers that hold here",
    );
    fact(
        if fails.is_empty() { "" } else { "bad" },
        count(fails.len() as f64),
        "claims that do not",
    );
    fact(
        "",
        format!("{:.0}:{:02.0}", (seconds / 60.0).floor(), seconds % 60.0),
        "minutes of measuring",
    );
    html.push_str("</div>\n");
    let mut machines: Vec<&str> = measured
        .clone()
        .map(|s| s.provenance.machine.as_str())
        .collect();
    machines.sort_unstable();
    machines.dedup();
    let mut commits: Vec<&str> = measured
        .clone()
        .map(|s| s.provenance.commit.as_str())
        .collect();
    commits.sort_unstable();
    commits.dedup();
    let _ = writeln!(
        html,
        "<p>Measured on {}, commit {}. Numbers of the papers are from their own machines: compare shapes and ratios, and the times with a grain of salt. Columns are tinted by whose numbers they are: <span class=\"tag ours\">ours, this run</span><span class=\"tag paper\">a paper’s</span><span class=\"tag peer\">another program’s, this run</span></p>",
        machines
            .iter()
            .map(|m| escape(m))
            .collect::<Vec<_>>()
            .join(" and "),
        commits
            .iter()
            .map(|c| format!("<code>{}</code>", escape(c)))
            .collect::<Vec<_>>()
            .join(", ")
    );
    if !fails.is_empty() {
        html.push_str("<p>What does not hold here, each marked red in its place:</p>\n<ul>\n");
        for (section, claim) in fails {
            let _ = writeln!(
                html,
                "<li><a href=\"#{}\">{}</a>: {}</li>",
                escape(&section.id),
                escape(&claim.source),
                rich(&claim.claim)
            );
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</header>\n");
}

fn write_section(html: &mut String, section: &Section) {
    let _ = writeln!(
        html,
        "<section id=\"{0}\">\n<h3><a href=\"#{0}\">{1}</a></h3>",
        escape(&section.id),
        escape(&section.title)
    );
    let mut blocks = section.blocks.iter().peekable();
    while let Some(block) = blocks.next() {
        match block {
            Block::Plot(plot) if plot.narrow => {
                // Narrow plots stand side by side.
                html.push_str("<div class=\"pair\">\n");
                figure(html, &svg::draw(plot), &plot.caption);
                while let Some(Block::Plot(next)) =
                    blocks.next_if(|b| matches!(b, Block::Plot(p) if p.narrow))
                {
                    figure(html, &svg::draw(next), &next.caption);
                }
                html.push_str("</div>\n");
            }
            _ => write_block(html, block),
        }
    }
    let p = &section.provenance;
    let _ = writeln!(
        html,
        "<p class=\"foot\"><code>{}</code> · seed {} · commit {} · {} · {}</p>\n</section>",
        escape(&p.command),
        p.seed,
        escape(&p.commit),
        escape(&p.machine),
        if p.seconds < 0.01 {
            // Runs are shared: the section that asked first counts their time.
            "its runs are counted above".to_owned()
        } else {
            format!("{} s", crate::section::short(p.seconds))
        }
    );
}

fn figure(html: &mut String, inner: &str, caption: &str) {
    let _ = writeln!(
        html,
        "<figure class=\"figure\">{inner}<figcaption>{}</figcaption></figure>",
        rich(caption)
    );
}

fn write_block(html: &mut String, block: &Block) {
    let _ = match block {
        Block::Text { text } => writeln!(html, "<p>{}</p>", rich(text)),
        Block::Notice { text } => writeln!(html, "<p class=\"notice\">{}</p>", rich(text)),
        Block::Claim(claim) => writeln!(
            html,
            "<div class=\"claim{}\"><span class=\"sign\">{}</span><div><p><b>{}</b> <span class=\"source\">{}</span></p><p>{}</p>{}</div></div>",
            if claim.holds { "" } else { " fails" },
            if claim.holds { "✓" } else { "✗" },
            rich(&claim.claim),
            escape(&claim.source),
            rich(&claim.found),
            if claim.reason.is_empty() {
                String::new()
            } else {
                format!("<p class=\"why\">Why not: {}</p>", rich(&claim.reason))
            }
        ),
        Block::Picture {
            caption,
            png,
            width,
            height,
        } => writeln!(
            html,
            "<figure class=\"figure picture\"><img alt=\"{}\" width=\"{width}\" height=\"{height}\" src=\"data:image/png;base64,{png}\"><figcaption>{}</figcaption></figure>",
            escape(caption),
            rich(caption)
        ),
        Block::Table(table) => {
            write_table(html, table);
            Ok(())
        }
        Block::Plot(plot) => {
            figure(html, &svg::draw(plot), &plot.caption);
            Ok(())
        }
    };
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Plain => "plain",
        Role::Ours => "ours",
        Role::Paper => "paper",
        Role::Peer => "peer",
    }
}

fn write_table(html: &mut String, table: &Table) {
    let _ = write!(
        html,
        "<p class=\"caption\">{}</p>\n<div class=\"wide\"><table aria-label=\"{}\"><thead><tr>",
        rich(&table.caption),
        escape(&table.caption)
    );
    for column in &table.columns {
        let _ = write!(
            html,
            "<th class=\"{}\">{}</th>",
            role(column.role),
            rich(&column.head)
        );
    }
    html.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        html.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            let of = table.columns.get(i).map_or(Role::Plain, |c| c.role);
            let tone = match cell.tone {
                Tone::Plain => "",
                Tone::Good => " good",
                Tone::Bad => " bad",
            };
            let _ = write!(
                html,
                "<td class=\"{}{tone}\">{}</td>",
                role(of),
                rich(&cell.text)
            );
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>\n");
}

/// Escaped text with code between backticks.
fn rich(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        if i % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escape(part));
        } else {
            out.push_str(&escape(part));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Mark, Plot};
    use crate::section::Cell;

    #[test]
    fn the_page_is_whole_and_safe() {
        let mut section = Section {
            id: "a-fig1".into(),
            group: "A".into(),
            title: "One <b>".into(),
            ..Section::default()
        };
        section.text("see `x < y`");
        section.claim("A, 1", "it holds", false, "it does not", "because");
        let mut table = Table::new("t").columns(Role::Ours, &["n"]);
        table.row([Cell::from("<script>")]);
        section.table(table);
        let mut plot = Plot::new("p", "x", "y").narrow();
        plot.add("s", Mark::Line, [(0.0, 1.0), (1.0, 2.0)]);
        section.plot(plot.clone());
        section.plot(plot);
        let chapters = [Chapter {
            group: "A",
            about: "what",
        }];
        let html = page(&[section], &chapters);
        assert!(html.contains("<code>x &lt; y</code>"));
        assert!(!html.contains("<script>"));
        assert_eq!(html.matches("class=\"pair\"").count(), 1);
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(html.contains("Why not: because"));
        for tag in ["section", "div", "table", "figure", "p", "ul", "nav"] {
            let (open, close) = (
                html.matches(&format!("<{tag} ")).count()
                    + html.matches(&format!("<{tag}>")).count(),
                html.matches(&format!("</{tag}>")).count(),
            );
            assert_eq!(open, close, "{tag}");
        }
        // Nothing is fetched from anywhere.
        assert!(!html.contains("http://") && !html.contains("https://"));
    }
}
