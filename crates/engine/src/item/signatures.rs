//! Many signatures of one length in one piece of memory.

use crate::{Error, Result};

/// A list of signatures: the values of each item under the same functions.
#[derive(Debug, Clone, Default)]
pub struct Signatures {
    functions: usize,
    values: Vec<u32>,
}

impl Signatures {
    /// Stands for no value. It agrees with nothing, not even with itself.
    pub const NO_VALUE: u32 = u32::MAX;

    /// No signatures yet, of `functions` values each.
    ///
    /// # Errors
    /// When `functions` is 0.
    pub fn new(functions: usize) -> Result<Self> {
        if functions == 0 {
            return Err(Error::parameter("functions", functions, "at least 1"));
        }
        Ok(Self { functions, values: Vec::new() })
    }

    /// Appends a signature.
    ///
    /// # Errors
    /// When it has more or fewer values.
    pub fn push(&mut self, values: &[u32]) -> Result<()> {
        if values.len() != self.functions {
            return Err(Error::Mismatch { left: self.functions, right: values.len() });
        }
        self.values.extend_from_slice(values);
        Ok(())
    }

    /// The signatures at these places.
    pub fn select(&self, items: impl Iterator<Item = usize>) -> Self {
        let values = items.flat_map(|item| self.get(item)).copied().collect();
        Self { functions: self.functions, values }
    }

    /// Values of each signature.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Number of signatures.
    pub fn len(&self) -> usize {
        self.values.len() / self.functions.max(1)
    }

    /// Whether there is no signature.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of the signature at `index`.
    pub fn get(&self, index: usize) -> &[u32] {
        &self.values[index * self.functions..][..self.functions]
    }
}
