//! All bodies of a function, one behind the other: the one that `FRACAS_MUTANT` names runs.
//!
//! `fn f(..) { BODY }` becomes `fn f(..) { match on() { 7 => { BODY with mutant 7 } .. _ =>
//! { BODY } } }`. A function in another one is part of its body.

use super::list::{Mutant, Place};

/// A source file with its mutants.
pub struct Planted {
    /// What to write.
    pub text: String,
    /// The lines of each mutant's body, first and last, with its number in the sample.
    pub lines: Vec<(usize, usize, usize)>,
}

/// Where every line of a text begins.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.match_indices('\n').map(|(i, _)| i + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The byte of a place.
    fn byte(&self, text: &str, (line, column): Place) -> Option<usize> {
        let start = *self.0.get(line.checked_sub(1)?)?;
        let mut characters = text.get(start..)?.char_indices();
        let (offset, _) = characters.nth(column.checked_sub(1)?)?;
        Some(start + offset)
    }
}

/// The source with all these mutants, each with its number in the sample; `switch` is the call
/// that tells which one is on. Mutants whose place is not found are returned.
pub fn plant(source: &str, mutants: &[(usize, &Mutant)], switch: &str) -> (Planted, Vec<usize>) {
    // The end of the last line has a place, too.
    let padded = format!("{source}\n");
    let lines = Lines::of(&padded);
    let (mut groups, mut lost) = (Vec::<Group>::new(), Vec::new());
    for (number, mutant) in mutants {
        let byte = |place| lines.byte(&padded, place);
        let found = (|| {
            let function = (byte(mutant.function.0)?, byte(mutant.function.1)?);
            let body = body(&padded[function.0..function.1])?;
            let body = (function.0 + body.0, function.0 + body.1);
            let change = (byte(mutant.span.0)?, byte(mutant.span.1)?);
            (body.0 <= change.0 && change.1 <= body.1).then_some((body, change))
        })();
        match found {
            Some((body, change)) => groups.push(Group {
                body,
                changes: vec![(*number, change, mutant.replacement.clone())],
            }),
            None => lost.push(*number),
        }
    }
    let groups = merge(groups);
    let mut planted = Planted {
        text: String::new(),
        lines: Vec::new(),
    };
    let mut at = 0;
    for group in &groups {
        planted.text.push_str(&padded[at..group.body.0]);
        planted.put(&padded, group, switch);
        at = group.body.1;
    }
    planted.text.push_str(&padded[at..]);
    (planted, lost)
}

/// A body with what is changed in it: number, place and replacement.
struct Group {
    body: (usize, usize),
    changes: Vec<(usize, (usize, usize), String)>,
}

/// Puts together what is in one function; the outermost counts.
fn merge(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by_key(|g| (g.body.0, usize::MAX - g.body.1));
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        match merged.last_mut() {
            Some(last) if group.body.1 <= last.body.1 => last.changes.extend(group.changes),
            _ => merged.push(group),
        }
    }
    merged
}

impl Planted {
    fn put(&mut self, source: &str, group: &Group, switch: &str) {
        self.text.push_str(&format!(" match {switch} {{\n"));
        for (number, change, replacement) in &group.changes {
            self.text.push_str(&format!("{number}u32 => {{"));
            let first = self.line();
            self.text.push_str(&source[group.body.0..change.0]);
            // Apart: `a -b` must not become `a --b`'s comment or operator.
            self.text.push_str(&format!(" {replacement} "));
            self.text.push_str(&source[change.1..group.body.1]);
            self.lines.push((first, self.line(), *number));
            self.text.push_str("}\n");
        }
        self.text.push_str("_ => {");
        self.text.push_str(&source[group.body.0..group.body.1]);
        self.text.push_str("}\n}");
    }

    fn line(&self) -> usize {
        1 + self.text.matches('\n').count()
    }
}

/// What is between the braces of a function's body, in the function's own text.
fn body(function: &str) -> Option<(usize, usize)> {
    let bytes = function.as_bytes();
    let (mut i, mut depth, mut seen_fn) = (0, 0_i32, false);
    while i < bytes.len() {
        let rest = &function[i..];
        if rest.starts_with("//") {
            i += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            i += rest.find("*/")? + 2;
        } else if bytes[i] == b'"' {
            i += 1 + string_end(&rest[1..])?;
        } else if rest.starts_with("const fn ") && !seen_fn {
            return None;
        } else if rest.starts_with("fn ") && (i == 0 || !is_word(bytes[i - 1])) {
            seen_fn = true;
            i += 3;
        } else {
            match bytes[i] {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'{' if depth == 0 && seen_fn => {
                    let end = function.rfind('}')?;
                    return (i < end).then_some((i + 1, end));
                }
                _ => (),
            }
            i += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    None
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The byte behind the quote that ends a string.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            b'\\' if !escaped => escaped = true,
            b'"' if !escaped => return Some(i + 1),
            _ => escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(function: (Place, Place), span: (Place, Place), replacement: &str) -> Mutant {
        Mutant {
            subject: String::new(),
            word: String::new(),
            name: String::new(),
            package: String::new(),
            file: String::new(),
            function,
            span,
            replacement: replacement.into(),
            state: "planted",
        }
    }

    const SOURCE: &str = "/// Adds {.\n#[doc = \"{\"]\nfn add(a: [i32; 2]) -> i32 {\n    a[0] + a[1]\n}\nfn rest() {}\n";

    #[test]
    fn bodies_stand_behind_one_another() {
        let function = ((1, 1), (5, 2));
        let minus = mutant(function, ((4, 10), (4, 11)), "-");
        let zero = mutant(function, ((4, 5), (4, 16)), "0");
        let (planted, lost) = plant(SOURCE, &[(1, &minus), (2, &zero)], "on()");
        assert!(lost.is_empty());
        let want = "/// Adds {.\n#[doc = \"{\"]\nfn add(a: [i32; 2]) -> i32 { match on() {\n1u32 => {\n    a[0]  -  a[1]\n}\n2u32 => {\n     0 \n}\n_ => {\n    a[0] + a[1]\n}\n}}\nfn rest() {}\n\n";
        assert_eq!(planted.text, want);
        assert_eq!(planted.lines, [(4, 6, 1), (7, 9, 2)]);
    }

    #[test]
    fn a_function_in_a_function_is_part_of_its_body() {
        let source = "fn a() -> u8 {\n    fn b() -> u8 { 1 }\n    b() + 1\n}\n";
        let inner = mutant(((2, 5), (2, 23)), ((2, 20), (2, 21)), "0");
        let outer = mutant(((1, 1), (4, 2)), ((3, 9), (3, 10)), "-");
        let (planted, lost) = plant(source, &[(1, &inner), (2, &outer)], "on()");
        assert!(lost.is_empty());
        assert_eq!(planted.text.matches("match on()").count(), 1);
        assert!(planted.text.contains("fn b() -> u8 {  0  }"));
        assert!(planted.text.contains("b()  -  1"));
    }

    #[test]
    fn what_has_no_body_to_switch_is_told() {
        let constant = "const fn a() -> u8 { 1 }\n";
        let there = mutant(((1, 1), (1, 25)), ((1, 22), (1, 23)), "0");
        assert_eq!(plant(constant, &[(4, &there)], "on()").1, [4]);
        let nowhere = mutant(((9, 1), (9, 2)), ((9, 1), (9, 2)), "0");
        assert_eq!(plant(SOURCE, &[(5, &nowhere)], "on()").1, [5]);
    }
}
