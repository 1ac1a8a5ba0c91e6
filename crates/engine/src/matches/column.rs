//! A value for some of many positions: ids, and the values that decide what is kept.

use crate::Result;
use crate::item::{Id, IdRef, KeepValues, Value};
use crate::spill::{Cache, Lists, Temp};

/// KeepValues by position, in pages of a few, so that a page can be on disk and a single value is still cheap.
#[derive(Debug)]
pub(crate) struct PagedColumn {
    pages: Lists<u8>,
    /// The page that is being filled: where its values end, and their bytes.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

/// KeepValues of a page.
const PAGE: usize = 64;

impl PagedColumn {
    pub(crate) fn new(limit: usize, temp: &Temp) -> Self {
        Self { pages: Lists::new(limit, temp), ends: Vec::new(), bytes: Vec::new() }
    }

    /// Takes the value of a position behind all that have one; those between have none.
    pub(crate) fn put(&mut self, position: u32, value: &impl PagedValue) -> Result<()> {
        while self.pages.len() * PAGE + self.ends.len() < position as usize {
            self.end_value()?;
        }
        value.store(&mut self.bytes);
        self.end_value()
    }

    fn end_value(&mut self) -> Result<()> {
        self.ends.push(self.bytes.len() as u32);
        if self.ends.len() == PAGE { self.end_page() } else { Ok(()) }
    }

    fn end_page(&mut self) -> Result<()> {
        let ends: Vec<u8> = self.ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        self.pages.push(&[&ends, &self.bytes])?;
        self.ends.clear();
        self.bytes.clear();
        Ok(())
    }

    /// No more values come.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if self.ends.is_empty() {
            return Ok(());
        }
        self.ends.resize(PAGE, self.bytes.len() as u32);
        self.end_page()
    }

    /// The value of a position, if it has one.
    pub(crate) fn get<T: PagedValue>(
        &self,
        position: u32,
        cache: &mut Cache<u8>,
    ) -> Result<Option<T>> {
        Ok(self.stored(position, cache)?.map(T::from_stored))
    }

    /// Like [`get`](Self::get) for an id, without a copy of it.
    pub(crate) fn id<'a>(
        &'a self,
        position: u32,
        cache: &'a mut Cache<u8>,
    ) -> Result<Option<IdRef<'a>>> {
        Ok(self.stored(position, cache)?.map(id))
    }

    fn stored<'a>(&'a self, position: u32, cache: &'a mut Cache<u8>) -> Result<Option<&'a [u8]>> {
        let (page, at) = (position as usize / PAGE, position as usize % PAGE);
        if page >= self.pages.len() {
            return Ok(None);
        }
        let page = self.pages.get(page, cache)?;
        let (ends, bytes) = page.split_at(4 * PAGE);
        let end = |at: usize| u32::from_le_bytes(ends.as_chunks().0[at]) as usize;
        let value = &bytes[if at == 0 { 0 } else { end(at - 1) }..end(at)];
        Ok((!value.is_empty()).then_some(value))
    }

    pub(crate) fn pages(&self) -> &Lists<u8> {
        &self.pages
    }

    pub(crate) fn from_pages(pages: Lists<u8>) -> Self {
        Self { pages, ends: Vec::new(), bytes: Vec::new() }
    }
}

/// What a column can hold: at least one byte each.
pub(crate) trait PagedValue {
    fn store(&self, bytes: &mut Vec<u8>);
    fn from_stored(bytes: &[u8]) -> Self;
}

const INT: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;
const NULL: u8 = 4;

fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

fn number<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn put(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.push(kind);
    bytes.extend_from_slice(content);
}

impl PagedValue for Id {
    fn store(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Int(number) => put(bytes, INT, &number.to_le_bytes()),
            Self::Text(text) => put(bytes, TEXT, text.as_bytes()),
        }
    }

    fn from_stored(bytes: &[u8]) -> Self {
        id(bytes).into()
    }
}

/// The id that these bytes are.
fn id(bytes: &[u8]) -> IdRef<'_> {
    match bytes.split_first() {
        Some((&INT, rest)) => IdRef::Int(i64::from_le_bytes(number(rest))),
        stored => {
            let text = stored.map_or(&[][..], |(_, rest)| rest);
            IdRef::Text(str::from_utf8(text).unwrap_or("\u{fffd}")) // it was text when it was stored
        }
    }
}

impl PagedValue for KeepValues {
    /// Each with its kind, and a text with its length.
    fn store(&self, bytes: &mut Vec<u8>) {
        for value in self {
            match value {
                None => put(bytes, NULL, &[]),
                Some(Value::Int(number)) => put(bytes, INT, &number.to_le_bytes()),
                Some(Value::Number(number)) => put(bytes, NUMBER, &number.to_le_bytes()),
                Some(Value::Text(text)) => {
                    put(bytes, TEXT, &(text.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(text.as_bytes());
                }
            }
        }
    }

    fn from_stored(mut bytes: &[u8]) -> Self {
        let mut values = Self::new();
        while let Some((&kind, rest)) = bytes.split_first() {
            let (value, length) = match kind {
                INT => (Some(Value::Int(i128::from_le_bytes(number(rest)))), 16),
                NUMBER => (Some(Value::Number(f64::from_le_bytes(number(rest)))), 8),
                TEXT => {
                    let end = 4 + u32::from_le_bytes(number(rest)) as usize;
                    (Some(Value::Text(text(rest.get(4..end).unwrap_or_default()))), end)
                }
                _ => (None, 0),
            };
            values.push(value);
            bytes = rest.get(length..).unwrap_or_default();
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_gaps_stay_gaps() {
        let one = |position: u32| match position % 4 {
            0 => Some(Value::Int(-i128::from(position))),
            1 => Some(Value::Number(f64::from(position) / 3.0)),
            2 => None,
            _ => Some(Value::Text("é".repeat(position as usize % 7).into())),
        };
        let value = |position: u32| -> KeepValues {
            (position..=position + position % 3).map(one).collect()
        };
        let temp = Temp::passing(std::env::temp_dir());
        for limit in [0, usize::MAX] {
            let mut column = PagedColumn::new(limit, &temp);
            let there: Vec<u32> =
                (0..1000).filter(|i| i % 5 != 2 && !(100..300).contains(i)).collect();
            for &position in &there {
                column.put(position, &value(position)).unwrap();
            }
            column.finish().unwrap();
            let mut cache = Cache::one();
            for position in 0..1200 {
                let expected = there.contains(&position).then(|| value(position));
                assert_eq!(column.get::<KeepValues>(position, &mut cache).unwrap(), expected);
            }
        }
    }
}
