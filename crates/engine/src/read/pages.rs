//! Where a row group of a Parquet file is cut into stretches: between its pages, if possible.

/// No more rows than this in a chunk, however short they are.
pub(super) const MOST_ROWS: usize = 1 << 16;

/// The lengths of the stretches of a row group: about `step` rows, and whole pages if their rows are known. A page of
/// more than `most` rows is cut into equal parts, though each decompresses all of it.
pub(super) fn lengths(
    rows: usize,
    step: usize,
    most: usize,
    pages: Option<&[usize]>,
) -> Vec<usize> {
    let Some(pages) = pages else { return parts_of(rows, step).collect() };
    let (mut lengths, mut open) = (Vec::new(), 0);
    for &page in pages {
        if open + page > step {
            lengths.extend((open > 0).then_some(open));
            open = 0;
        }
        if page > step {
            lengths.extend(parts_of(page, page.div_ceil(page.div_ceil(most))));
        } else {
            open += page;
        }
    }
    lengths.extend((open > 0).then_some(open));
    lengths
}

fn parts_of(rows: usize, step: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by(step).map(move |at| step.min(rows - at))
}

#[cfg(test)]
mod tests {
    use super::lengths;

    #[test]
    fn stretches_end_where_pages_do() {
        // By hand: pages are put together up to ten rows, longer ones are alone, and those of more than forty are halved.
        assert_eq!(lengths(25, 10, 40, None), [10, 10, 5]);
        assert_eq!(lengths(30, 10, 40, Some(&[3, 3, 3, 3, 9, 9])), [9, 3, 9, 9]);
        assert_eq!(lengths(64, 10, 40, Some(&[2, 12, 40, 10])), [2, 12, 40, 10]);
        assert_eq!(lengths(50, 10, 40, Some(&[4, 45, 1])), [4, 23, 22, 1]);
        assert_eq!(lengths(17, 10, 10, Some(&[4, 12, 1])), [4, 6, 6, 1]);
        assert!(lengths(0, 10, 40, Some(&[])).is_empty());
    }
}
