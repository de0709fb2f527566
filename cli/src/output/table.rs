//! Tables for people: a head, rows, columns as wide as their widest cell.

use super::printable::printable;

/// Rows under a head.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new<const N: usize>(head: [&'static str; N]) -> Self {
        Self {
            head: head.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Cells are one line each and never carry control characters.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(
            cells
                .map(|cell| printable(&cell).replace(['\n', '\t'], " "))
                .to_vec(),
        );
    }

    /// The text, one line per row.
    pub(crate) fn render(&self, colour: bool) -> String {
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = self
                    .rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.chars().count());
                cells.chain([self.head[column].len()]).max().unwrap_or(0)
            })
            .collect();
        let head = line(self.head.iter().copied(), &widths);
        let mut text = if colour {
            format!("\u{1b}[1m{head}\u{1b}[0m\n")
        } else {
            format!("{head}\n")
        };
        for row in &self.rows {
            text.push_str(&line(row.iter().map(String::as_str), &widths));
            text.push('\n');
        }
        text
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize]) -> String {
    let padded: Vec<String> = cells
        .zip(widths)
        .map(|(cell, width)| format!("{cell:<width$}"))
        .collect();
    padded.join("  ").trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_have_no_tail() {
        let mut table = Table::new(["NAME", "STATUS"]);
        table.row(["a-long-name".into(), "ready".into()]);
        table.row(["böse\nzeile".into(), String::new()]);
        assert_eq!(
            table.render(false),
            "NAME         STATUS\na-long-name  ready\nböse zeile\n"
        );
    }

    #[test]
    fn colour_stays_in_the_head() {
        let mut table = Table::new(["NAME"]);
        table.row(["\u{1b}[31mred".into()]);
        assert_eq!(table.render(true), "\u{1b}[1mNAME\u{1b}[0m\n\\u{1b}[31mred\n");
    }
}
