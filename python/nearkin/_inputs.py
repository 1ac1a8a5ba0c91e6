"""From what Python people have to what the engine reads: paths, and Arrow tables without a copy of their texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from nearkin._errors import ParameterError

__all__ = ["Input", "Given", "one_input"]

Given = str | tuple[str, Any]

#: The column that a list becomes.
_COLUMN = {"vector": "vector", "bits": "bits", "string": "string", "set": "items", "bag": "items"}


class Input:
    """A collection as the engine takes it, and how what is kept of it is given back."""

    def __init__(
        self, given: list[Given], rows: int | None = None, keep: Callable[[Any], Any] | None = None
    ) -> None:
        self.given = given
        self.rows = rows
        self.keep = keep


def one_input(data: object, options: Mapping[str, Any], name: str = "<table>") -> Input:
    """The input that `data` stands for."""
    if isinstance(data, (str, os.PathLike)):
        return Input([os.fspath(data)])
    if isinstance(data, (list, tuple)) and data and all(isinstance(x, os.PathLike) for x in data):
        return Input([os.fspath(path) for path in data])
    module = type(data).__module__.partition(".")[0]
    if isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if isinstance(data, pa.Table):
        return _table(data, data.filter, name)
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return _table(_column(data, options), data.filter, name)
    if isinstance(data, np.ndarray):
        return _array(data, options, name)
    if module == "pandas":
        return _pandas(data, options, name)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _arrow(data, options, name)
    if isinstance(data, Mapping):
        return _mapping(data, options, name)
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        return _list(data, options, name)
    raise ParameterError(
        f"the data is of type {type(data).__name__}; it must be a path, a list, a dict of ids and texts, a NumPy "
        "array, a pandas or polars DataFrame, a pyarrow Table or anything with the Arrow stream interface"
    )


def _table(table: pa.Table, keep: Callable[[Any], Any], name: str) -> Input:
    return Input([(name, table)], table.num_rows, keep)


def _name(options: Mapping[str, Any]) -> str:
    return options.get("text") or _COLUMN.get(options.get("as_") or "text", "text")


def _column(values: Any, options: Mapping[str, Any]) -> pa.Table:
    return pa.table({_name(options): values})


def _arrow(data: Any, options: Mapping[str, Any], name: str) -> Input:
    def keep(mask: pa.Array) -> Any:
        if type(data).__module__.partition(".")[0] == "polars":
            import polars as pl

            return data.filter(pl.Series(mask))
        return table.filter(mask)

    try:
        table = pa.table(data)
    except (TypeError, ValueError, pa.ArrowException):
        # A column on its own, such as a polars Series.
        table = _column(pa.chunked_array(data), options)
    return _table(table, keep, name)


def _pandas(data: Any, options: Mapping[str, Any], name: str) -> Input:
    import pandas as pd

    if isinstance(data, pd.Series):
        table = _column(pa.Array.from_pandas(data), options)
    elif isinstance(data, pd.DataFrame):
        wanted = _needed(options)
        columns = [column for column in data.columns if wanted is None or column in wanted]
        table = pa.Table.from_pandas(data[columns] if columns else data, preserve_index=False)
    else:
        raise ParameterError(f"a pandas {type(data).__name__}; it must be a DataFrame or a Series")
    return _table(table, lambda mask: data[np.asarray(mask)], name)


def _needed(options: Mapping[str, Any]) -> set[str] | None:
    """Columns that are read, so that others need not be of a kind that Arrow knows; none for all."""
    if options.get("as_") == "answers" or options.get("edges"):
        return None
    named = [options.get(key) for key in ("text", "id", "group", "element", "count", "rating")]
    usual = ["id", "text", "items", "set", "vector", "embedding", "bits", "hash", "string"]
    field = str(options.get("keep") or "").partition(":")[2]
    return {name for name in [*named, *usual, field] if name}


def _array(data: np.ndarray[Any, Any], options: Mapping[str, Any], name: str) -> Input:
    kind = options.get("as_")
    if data.ndim == 1:
        values: Any = pa.array(data)
    elif data.ndim != 2:
        raise ParameterError(f"an array of {data.ndim} dimensions; it must have one or two")
    elif kind == "bits" and data.dtype == np.uint8:
        rows = np.ascontiguousarray(data)
        kind_of_row = pa.binary(data.shape[1])
        values = pa.FixedSizeBinaryArray.from_buffers(
            kind_of_row, len(rows), [None, pa.py_buffer(rows.data)]
        )
    else:
        flat = pa.array(np.ascontiguousarray(data).reshape(-1))
        values = pa.FixedSizeListArray.from_arrays(flat, data.shape[1])
    return _table(_column(values, options), lambda mask: data[np.asarray(mask)], name)


def _values(items: Sequence[Any], options: Mapping[str, Any]) -> pa.Array:
    """A column of texts, or of sets, bags and vectors."""
    if any(isinstance(item, Mapping) for item in items):
        counts = [None if item is None else list(item.items()) for item in items]
        keys = {type(key) for row in counts if row for key, _ in row}
        return pa.array(counts, pa.map_(pa.int64() if keys == {int} else pa.string(), pa.float64()))
    if any(isinstance(item, (set, frozenset)) for item in items):
        # Their order does not count, but a run must look the same each time.
        items = [None if item is None else sorted(item, key=repr) for item in items]
    try:
        values = pa.array(items)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ParameterError(f"the items are not all of one kind: {error}") from None
    if len(items) == 0 or pa.types.is_null(values.type):
        return values.cast(pa.string())
    return values


def _list(data: Iterable[Any], options: Mapping[str, Any], name: str) -> Input:
    items = data if isinstance(data, (list, tuple)) else list(data)

    def keep(mask: pa.Array) -> list[Any]:
        return [item for item, kept in zip(items, mask.to_pylist(), strict=True) if kept]

    return _table(_column(_values(items, options), options), keep, name)


def _mapping(data: Mapping[Any, Any], options: Mapping[str, Any], name: str) -> Input:
    ids = list(data)
    values = _values(list(data.values()), options)
    table = pa.table({options.get("id") or "id": pa.array(ids), _name(options): values})

    def keep(mask: pa.Array) -> dict[Any, Any]:
        kept = zip(ids, mask.to_pylist(), strict=True)
        return {id: data[id] for id, is_kept in kept if is_kept}

    return _table(table, keep, name)
