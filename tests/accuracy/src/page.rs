//! `docs/accuracy.md`: what was measured, and of which recipe.

use std::fs;
use std::path::Path;

/// A row of the page's tables.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The function's name.
    pub function: String,
    /// `f32` or `f64`.
    pub width: String,
    /// The largest error in units in the last place.
    pub ulps: f64,
    /// The bits of the input or inputs that it was at.
    pub input: Vec<u64>,
    /// Operations of the recipe.
    pub operations: u32,
    /// The recipe's hash.
    pub hash: u64,
}

/// The rows: `| function | width | error | input | operations | … | hash |`, the function in backquotes.
pub fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/accuracy.md");
    let text = fs::read_to_string(path).expect("docs/accuracy.md");
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(row)
        .collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line
        .trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().trim_matches('`'))
        .collect();
    let hexadecimal = |word: &str| {
        u64::from_str_radix(word, 16).unwrap_or_else(|_| panic!("no hexadecimal: {line}"))
    };
    Row {
        function: cells[0].to_owned(),
        width: cells[1].to_owned(),
        ulps: cells[2]
            .parse()
            .unwrap_or_else(|_| panic!("no number: {line}")),
        input: cells[3].split_whitespace().map(hexadecimal).collect(),
        operations: cells[4]
            .parse()
            .unwrap_or_else(|_| panic!("no number: {line}")),
        hash: hexadecimal(cells.last().expect("a cell")),
    }
}
