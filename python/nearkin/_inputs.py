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

#: Columns that hold items of a kind, unless said; the first is what a list becomes.
_COLUMNS = {
    "text": ["text"],
    "set": ["items", "set", "text"],
    "bag": ["items", "set", "text"],
    "vector": ["vector", "embedding", "text"],
    "bits": ["bits", "hash", "text"],
    "string": ["string", "text"],
}


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
    try:
        return _one_input(data, options, name)
    except (pa.ArrowException, UnicodeError) as error:
        what = " ".join(str(error).split())
        raise ParameterError(f"the data cannot be made a table: {what}; give items of one kind") from error


def _one_input(data: object, options: Mapping[str, Any], name: str) -> Input:
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
        return _table(_typed(data, options), data.filter, name)
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
        f"the data is of type {type(data).__name__}; it must be a path, a list of texts or records, a dict of ids and texts, a NumPy "
        "array, a pandas or polars DataFrame, a pyarrow Table or anything with the Arrow stream interface"
    )


def _table(table: pa.Table, keep: Callable[[Any], Any], name: str) -> Input:
    return Input([(name, table)], table.num_rows, keep)


def _typed(table: pa.Table, options: Mapping[str, Any]) -> pa.Table:
    """A table whose texts are of the type text also where there are none to tell it."""
    text, are_texts = _name(options), options.get("as_") in (None, "text", "string")
    if are_texts and text in table.column_names:
        column = table[text]
        if pa.types.is_null(column.type) or not len(column):
            at = table.column_names.index(text)
            return table.set_column(at, text, pa.nulls(len(column), pa.string()))
    return table


def _name(options: Mapping[str, Any]) -> str:
    return str(options.get("text") or _usual(options)[0])


def _usual(options: Mapping[str, Any]) -> list[str]:
    return _COLUMNS.get(options.get("as_") or "text", ["text"])


def _column(values: Any, options: Mapping[str, Any]) -> pa.Table:
    return pa.table({_name(options): values})


def _arrow(data: Any, options: Mapping[str, Any], name: str) -> Input:
    def keep(mask: pa.Array) -> Any:
        # Of a DataFrame a DataFrame.
        if type(data).__module__.partition(".")[0] == "polars":
            import polars as pl

            return data.filter(pl.Series(mask))
        return table.filter(mask)

    if _is_column(data):
        table = _column(pa.chunked_array(data), options)
    else:
        table = _typed(pa.table(data), options)
    return _table(table, keep, name)


def _is_column(data: Any) -> bool:
    """Whether it is a column on its own, such as a polars Series."""
    if not hasattr(data, "__arrow_c_schema__"):
        return type(data).__name__ == "Series"
    try:
        pa.schema(data)
    except (TypeError, ValueError, pa.ArrowException):
        return True
    return False


def _pandas(data: Any, options: Mapping[str, Any], name: str) -> Input:
    import pandas as pd

    if isinstance(data, pd.Series):
        table = _column(pa.Array.from_pandas(data), options)
    elif isinstance(data, pd.DataFrame):
        table = _typed(_pandas_table(data, _needed(options)), options)
    else:
        raise ParameterError(f"a pandas {type(data).__name__}; it must be a DataFrame or a Series")
    return _table(table, lambda mask: data[np.asarray(mask)], name)


def _pandas_table(data: Any, wanted: set[str] | None) -> pa.Table:
    names = [str(column) for column in data.columns]
    columns: dict[str, Any] = {}
    for at, name in enumerate(names):
        if wanted is not None and name not in wanted:
            # There for its name alone, which a message may have to tell.
            columns.setdefault(name, pa.nulls(len(data)))
            continue
        if names.count(name) > 1:
            raise ParameterError(f"the DataFrame has several columns `{name}`; give each a name of its own")
        columns[name] = pa.Array.from_pandas(data.iloc[:, at])
    return pa.table(columns)


def _needed(options: Mapping[str, Any]) -> set[str] | None:
    """Columns that are read, so that others need not be of a kind that Arrow knows; none for all."""
    if options.get("as_") == "answers" or options.get("edges"):
        return None
    named = [options.get(key) for key in ("text", "id", "group", "element", "count", "rating")]
    field = str(options.get("keep") or "").partition(":")[2]
    return {str(name) for name in [*named, *_usual(options), "id", field] if name not in (None, "")}


def _array(data: np.ndarray[Any, Any], options: Mapping[str, Any], name: str) -> Input:
    kind = options.get("as_")
    if isinstance(data, np.ma.MaskedArray):
        raise ParameterError("a masked array, and its mask would not count; fill it, or leave rows out")
    data = data.astype(data.dtype.newbyteorder("="), copy=False)
    if data.ndim == 1:
        values: Any = pa.array(data, from_pandas=True) if data.dtype == object else pa.array(data)
    elif data.ndim != 2:
        raise ParameterError(f"an array of {data.ndim} dimensions; it must have one or two")
    elif data.shape[1] == 0:
        raise ParameterError("an array of rows without a component; give each at least one")
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
    return _known(pa.array(items))


def _known(values: pa.Array) -> pa.Array:
    """Nothing at all is text, and empty sets are sets of texts."""
    if pa.types.is_null(values.type):
        return values.cast(pa.string())
    if pa.types.is_list(values.type) and pa.types.is_null(values.type.value_type):
        return values.cast(pa.list_(pa.string()))
    return values


def _list(data: Iterable[Any], options: Mapping[str, Any], name: str) -> Input:
    items = data if isinstance(data, (list, tuple)) else list(data)
    are_texts = options.get("as_") in (None, "text", "string")
    are_records = are_texts and bool(items) and all(isinstance(item, Mapping) for item in items)

    def keep(mask: pa.Array) -> list[Any]:
        return [item for item, kept in zip(items, mask.to_pylist(), strict=True) if kept]

    table = _records(items, options) if are_records else _column(_values(items, options), options)
    return _table(table, keep, name)


def _records(items: Sequence[Mapping[Any, Any]], options: Mapping[str, Any]) -> pa.Table:
    """Records with a field each for text and id, as of JSON lines."""
    wanted = _needed(options)
    columns = {}
    for field in dict.fromkeys(key for item in items for key in item):
        is_read = wanted is None or str(field) in wanted
        columns[str(field)] = _known(pa.array([item.get(field) for item in items])) if is_read else pa.nulls(len(items))
    return pa.table(columns)


def _mapping(data: Mapping[Any, Any], options: Mapping[str, Any], name: str) -> Input:
    ids = list(data)
    values = _values(list(data.values()), options)
    id_name = options.get("id") or "id"
    if id_name == _name(options):
        raise ParameterError(f"ids and texts are both called `{id_name}`; give text or id another name")
    table = pa.table({id_name: _known(pa.array(ids)), _name(options): values})

    def keep(mask: pa.Array) -> dict[Any, Any]:
        kept = zip(ids, mask.to_pylist(), strict=True)
        return {id: data[id] for id, is_kept in kept if is_kept}

    return _table(table, keep, name)
