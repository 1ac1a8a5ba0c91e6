"""Turns Python things into Arrow columns: tables of items for a search, single columns for the parts.

Arrow data is used where it lies, without a copy. Everything else is converted once, here.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearkin import _nearkin
from nearkin._errors import InputError, NearkinError, ParameterError

Given: TypeAlias = str | tuple[str, Any]
"""What Rust reads: a path, or the name of a table and the table."""

Texts: TypeAlias = Any
"""A column of texts: a list, a NumPy array, a Series of pandas or polars, an Arrow array."""

Elements: TypeAlias = Iterable[str | int] | Mapping[Any, int]
"""The elements of a set or a bag: texts or whole numbers, or a mapping of them to counts."""

# What conversions fail with: those of Arrow, of numbers and of texts that cannot be encoded.
_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


# Collections: a table for a search.

#: Columns that hold items of a kind unless `text` names one; a list becomes the first.
_COLUMNS = {
    "text": ["text"],
    "set": ["items", "set", "text"],
    "bag": ["items", "set", "text"],
    "vector": ["vector", "embedding", "text"],
    "bits": ["bits", "hash", "text"],
    "string": ["string", "text"],
}


@dataclass(frozen=True)
class Input:
    """A collection as the engine takes it.

    `keep` makes the kept items of a mask, of the same kind as the data; files have none, and no number of rows.
    """

    given: list[Given]
    rows: int | None = None
    keep: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class _Layout:
    """Which columns a table has, and which of them are read."""

    item: str
    id: str
    kind: str | None
    read: frozenset[str] | None
    """Other columns need not be of a type that Arrow knows. None for all."""
    are_records: bool = False
    """Whether records are taken as a whole: there is no column of items."""

    @property
    def are_texts(self) -> bool:
        return self.kind in (None, "text", "string")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> _Layout:
        kind = options.get("as_")
        usual = _COLUMNS.get(kind or "text", ["text"])
        item, id = str(options.get("text") or usual[0]), str(options.get("id") or "id")
        if kind == "answers" or options.get("edges"):
            return cls(item, id, kind, None)
        named = [options.get(key) for key in ("text", "id", "group", "element", "count", "rating")]
        kept_by = [field for _, field, _ in _nearkin.keep_rules(str(options.get("keep") or "first"))]
        names = [*named, *usual, "id", *kept_by, *(options.get("removed_fields") or [])]
        return cls(item, id, kind, frozenset(str(name) for name in names if name not in (None, "")))


def one_input(data: object, options: Mapping[str, Any], name: str = "<table>") -> Input:
    """The items of `data`, read as `options` say; messages call it `name`."""
    return _named_input(data, _Layout.of(options), name)


def other_input(data: object, options: Mapping[str, Any], prefix: str) -> Input:
    """The items of another collection, whose fields may have names of their own: `prefix` with ``_text`` and ``_id``."""
    own = {name: options.get(f"{prefix}_{name}") or options.get(name) for name in ("text", "id")}
    return one_input(data, {**options, **own}, "<against>")


def record_input(data: object, id: str | None = None, name: str = "<table>") -> Input:
    """The records of `data` with all their fields."""
    return _named_input(data, _Layout("", id or "id", None, None, are_records=True), name)


def link_input(
    data: object, fields: Sequence[str] | None, name: str = "<links>"
) -> tuple[Input, Sequence[str] | None]:
    """Links, and the names of the two columns: of records ``source`` and ``target``, else the first two."""
    if isinstance(data, Iterable) and not isinstance(data, (str, os.PathLike, Mapping)):
        data = list(data) if not _is_table(data) else data
        if isinstance(data, list) and data and all(isinstance(link, Mapping) for link in data):
            fields = fields or ("source", "target")
        elif isinstance(data, list) and not any(isinstance(link, os.PathLike) for link in data):
            if any(isinstance(link, str) or not isinstance(link, Sequence) or len(link) != 2 for link in data):
                raise ParameterError("a link is not a pair; give (source, target) for each")
            sides = list(zip(*data, strict=True)) or [(), ()]
            data = pa.table({at: pa.array(side, pa.string()) for at, side in zip("12", sides, strict=True)})
            fields = None
    return record_input(data, name=name), fields


def _is_table(data: object) -> bool:
    arrow = ("__arrow_c_stream__", "__arrow_c_array__")
    return isinstance(data, pa.RecordBatchReader) or any(hasattr(data, name) for name in arrow) or _is_pandas(data)


def _is_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _named_input(data: object, layout: _Layout, name: str) -> Input:
    try:
        return _input(data, layout, name)
    except (pa.ArrowException, UnicodeError) as error:
        what = " ".join(str(error).split())
        raise ParameterError(f"the data cannot be made a table: {what}; give items of one kind") from error


def _input(data: object, layout: _Layout, name: str) -> Input:
    if isinstance(data, (str, os.PathLike)):
        return Input([os.fspath(data)])
    if isinstance(data, (list, tuple)) and data and all(isinstance(x, os.PathLike) for x in data):
        return Input([os.fspath(path) for path in data])
    if isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    if isinstance(data, pa.RecordBatch):
        data = pa.table(data)
    if isinstance(data, pa.Table):
        return _table(_typed(data, layout), data.filter, name)
    if isinstance(data, (pa.Array, pa.ChunkedArray)):
        return _table(_items(data, layout), data.filter, name)
    if isinstance(data, np.ndarray):
        return _table(_items(_array_column(data, layout), layout), lambda mask: data[np.asarray(mask)], name)
    if _is_pandas(data):
        return _pandas(data, layout, name)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _arrow_stream(data, layout, name)
    if isinstance(data, Mapping):
        return _mapping(data, layout, name)
    if isinstance(data, Iterable) and not isinstance(data, (bytes, bytearray)):
        return _list(data, layout, name)
    raise ParameterError(
        f"the data is of type {type(data).__name__}; it must be a path, a list of texts or records, a dict of ids and texts, a NumPy "
        "array, a pandas or polars DataFrame, a pyarrow Table or anything with the Arrow stream interface"
    )


def _table(table: pa.Table, keep: Callable[[Any], Any], name: str) -> Input:
    return Input([(name, table)], table.num_rows, keep)


def _items(column: Any, layout: _Layout) -> pa.Table:
    """A table of one column, the items."""
    if layout.are_records:
        raise ParameterError("the records are one column; give a table, or a list of dicts")
    return pa.table({layout.item: column})


def _typed(table: pa.Table, layout: _Layout) -> pa.Table:
    """A table whose texts have the type text even where there is none to show it."""
    item = layout.item
    if layout.are_texts and item in table.column_names:
        column = table[item]
        if pa.types.is_null(column.type) or not len(column):
            at = table.column_names.index(item)
            return table.set_column(at, item, pa.nulls(len(column), pa.string()))
    return table


def _arrow_stream(data: Any, layout: _Layout, name: str) -> Input:
    def keep(mask: pa.Array) -> Any:
        if type(data).__module__.partition(".")[0] == "polars":
            import polars as pl

            return data.filter(pl.Series(mask))
        return table.filter(mask)

    table = _items(arrow_column(data), layout) if _is_column(data) else _typed(pa.table(data), layout)
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


def _pandas(data: Any, layout: _Layout, name: str) -> Input:
    import pandas as pd

    if isinstance(data, pd.Series):
        table = _items(arrow_column(data), layout)
    elif isinstance(data, pd.DataFrame):
        table = _typed(_pandas_table(data, layout), layout)
    else:
        raise ParameterError(f"a pandas {type(data).__name__}; it must be a DataFrame or a Series")
    return _table(table, lambda mask: data[np.asarray(mask)], name)


def _pandas_table(data: Any, layout: _Layout) -> pa.Table:
    names = [str(column) for column in data.columns]
    columns: dict[str, Any] = {}
    for at, name in enumerate(names):
        if layout.read is not None and name not in layout.read:
            # There for its name alone, which a message may have to tell.
            columns.setdefault(name, pa.nulls(len(data)))
            continue
        if names.count(name) > 1:
            raise ParameterError(f"the DataFrame has several columns `{name}`; give each a name of its own")
        columns[name] = _field(data.iloc[:, at], layout)
    return pa.table(columns)


def _array_column(data: npt.NDArray[Any], layout: _Layout) -> pa.Array:
    """The rows of a NumPy array: one value each, or as many as the array is wide."""
    if isinstance(data, np.ma.MaskedArray):
        raise ParameterError("a masked array, and its mask would not count; fill it, or leave rows out")
    data = data.astype(data.dtype.newbyteorder("="), copy=False)
    if data.ndim == 1:
        return pa.array(data, from_pandas=True) if data.dtype == object else pa.array(data)
    if data.ndim != 2:
        raise ParameterError(f"an array of {data.ndim} dimensions; it must have one or two")
    if data.shape[1] == 0:
        raise ParameterError("an array of rows without a component; give each at least one")
    rows = np.ascontiguousarray(data)
    if layout.kind == "bits" and data.dtype == np.uint8:
        packed = pa.binary(data.shape[1])
        return pa.FixedSizeBinaryArray.from_buffers(packed, len(rows), [None, pa.py_buffer(rows.data)])
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), data.shape[1])


def _list(data: Iterable[Any], layout: _Layout, name: str) -> Input:
    items = data if isinstance(data, (list, tuple)) else list(data)
    all_mappings = all(isinstance(item, Mapping) for item in items)
    are_records = layout.are_texts and bool(items) and all_mappings

    def keep(mask: pa.Array) -> list[Any]:
        return [item for item, kept in zip(items, mask.to_pylist(), strict=True) if kept]

    if are_records or (layout.are_records and all_mappings):
        return _table(_records(items, layout), keep, name)
    return _table(_items(_values(items), layout), keep, name)


def _records(items: Sequence[Mapping[Any, Any]], layout: _Layout) -> pa.Table:
    """A column per field, as of JSON lines."""
    columns = {}
    for field in dict.fromkeys(key for item in items for key in item):
        is_read = layout.read is None or str(field) in layout.read
        values = [item.get(field) for item in items] if is_read else None
        columns[str(field)] = pa.nulls(len(items)) if values is None else _known(_field(values, layout))
    return pa.table(columns)


def _field(values: Any, layout: _Layout) -> pa.Array:
    """A field of records. Where records are taken whole, a field of several types becomes one of texts."""
    try:
        return pa.array(values, from_pandas=layout.are_records or _is_pandas(values))
    except pa.ArrowException:
        if not layout.are_records:
            raise
    return pa.array([None if _is_gap(value) else str(value) for value in values], pa.string())


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _mapping(data: Mapping[Any, Any], layout: _Layout, name: str) -> Input:
    """A mapping of ids to items, or to records."""
    ids = list(data)

    def keep(mask: pa.Array) -> dict[Any, Any]:
        kept = zip(ids, mask.to_pylist(), strict=True)
        return {id: data[id] for id, is_kept in kept if is_kept}

    if layout.are_records:
        if not all(isinstance(record, Mapping) for record in data.values()):
            raise ParameterError("the records are a dict, but not of ids and records; give a table, or a list of dicts")
        records = [{**record, layout.id: id} for id, record in data.items()]
        return _table(_records(records, layout), keep, name)
    if layout.id == layout.item:
        raise ParameterError(f"ids and texts are both called `{layout.id}`; give text or id another name")
    values = _values(list(data.values()))
    return _table(pa.table({layout.id: _known(pa.array(ids)), layout.item: values}), keep, name)


def _values(items: Sequence[Any]) -> pa.Array:
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


# Single columns: texts, sets, ids and numbers for the parts.


def arrow_column(values: Any) -> pa.Array | pa.ChunkedArray:
    """A column as Arrow has it; what pandas counts as missing is missing."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if not hasattr(values, "__arrow_c_array__") and not hasattr(values, "dtype"):
        values = list(values)
    return pa.array(values, from_pandas=True)


def arrow(values: Any, name: str) -> pa.Array:
    """One Arrow array of any column; values stand in place of the dictionary that encodes them."""
    if isinstance(values, (str, bytes)):
        raise ParameterError(f"{name} is one text; give a list of them, or use the call for one")
    try:
        column = arrow_column(values)
        return _joined(column) if isinstance(column, pa.ChunkedArray) else _decoded(column)
    except _FAILURES as error:
        message = f"{name} cannot be made a column: {error}; give values of one type"
        raise ParameterError(message) from error


def _joined(column: pa.ChunkedArray) -> pa.Array:
    """One array of all chunks."""
    if column.num_chunks == 1:
        return _decoded(column.chunk(0))
    kind = _wide(column.type)
    chunks = [_decoded(chunk).cast(kind) for chunk in column.chunks]
    return pa.concat_arrays(chunks) if chunks else pa.array([], kind)


def _wide(kind: pa.DataType) -> pa.DataType:
    """The type without dictionaries and offsets of 32 bits, which end at 2 GiB of text."""
    if is_text(kind):
        return pa.large_string()
    if pa.types.is_dictionary(kind):
        return _wide(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_wide(kind.value_type))
    return kind


def _decoded(column: pa.Array) -> pa.Array:
    """The column, or its lists, with values in place of a dictionary's codes."""
    kind = column.type
    if _is_list(kind) and pa.types.is_dictionary(kind.value_type):
        elements = _decoded(column.flatten())
        gaps = column.is_null() if column.null_count else None
        return pa.LargeListArray.from_arrays(_ends(column), elements, mask=gaps)
    if not pa.types.is_dictionary(kind):
        return column
    values = column.dictionary
    # Arrow does not decode views, and short offsets may not do for the repeats of a value.
    values = values.cast(pa.large_string()) if is_text(values.type) else values
    return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()


def _is_list(kind: pa.DataType) -> bool:
    fixed = pa.types.is_fixed_size_list(kind)
    return bool(fixed or pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _ends(column: pa.Array) -> pa.Array:
    """Where lists start and end in what `flatten` makes of them.

    Of a slice, `offsets` and `values` would be those of the whole.
    """
    ends = np.zeros(len(column) + 1, dtype=np.int64)
    np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy(), out=ends[1:])
    return pa.array(ends)


def without_gaps(column: pa.Array, name: str) -> pa.Array:
    """The column, or an error for the first value that is missing."""
    if column.null_count:
        raise missing(name, _first(column.is_null()))
    return column


def missing(name: str, row: int, what: str = "the value") -> InputError:
    """The error for what is not there."""
    return InputError(f"{name}:{row + 1}: {what} is missing; fill it in or leave the row out")


def _first(flags: pa.Array) -> int:
    return int(np.flatnonzero(flags.to_numpy(zero_copy_only=False))[0])


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds texts that need no cast."""
    views = pa.types.is_string_view(kind) if hasattr(pa.types, "is_string_view") else False
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views)


def text_column(values: Texts, name: str = "texts") -> pa.Array:
    """A column of texts."""
    column = without_gaps(arrow(values, name), name)
    if is_text(column.type):
        return column
    if len(column) == 0:
        return pa.array([], pa.string())
    raise ParameterError(f"{name} is a column of {column.type}; it must be one of texts")


def id_column(values: Any) -> pa.Array:
    """A column of ids: 64-bit numbers or texts."""
    column = without_gaps(arrow(values, "ids"), "ids")
    if pa.types.is_integer(column.type):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(f"ids: {error}; give larger ones as texts") from error
    if is_text(column.type):
        return column
    if len(column) == 0:
        return pa.array([], pa.string())
    raise ParameterError(f"ids is a column of {column.type}; it must be whole numbers or texts")


def vector(values: Any, name: str) -> pa.Array:
    """A vector as a column of doubles."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} is no vector of numbers: {error}; give numbers") from error
    if array.ndim != 1:
        raise ParameterError(f"{name} has {array.ndim} dimensions; give one row of numbers")
    return pa.array(np.ascontiguousarray(array))


def matrix(flat: pa.Array, width: int) -> npt.NDArray[Any]:
    """Rows of numbers that lie one behind the other; the memory is Rust's, and read-only."""
    numbers: npt.NDArray[Any] = flat.to_numpy(zero_copy_only=True)
    return numbers.reshape(-1, width)


# Sets and bags: each as the text that stands for it.

#: What the text of a list begins with.
_MARK = "\x1f"


def set_column(values: Any, name: str = "sets") -> pa.Array:
    """A column of the texts that stand for sets; texts are cut at white space."""
    if _are_python_values(values):
        return _set_texts(values, name)
    column = without_gaps(arrow(values, name), name)
    kind = column.type
    if is_text(kind):
        if not pc.any(pc.starts_with(column.cast(pa.large_string()), _MARK)).as_py():
            return column
        return _set_texts(column.to_pylist(), name)
    if pa.types.is_map(kind):
        return _set_texts(map(dict, column.to_pylist()), name)
    if not _is_list(kind):
        raise ParameterError(f"{name} is a column of {kind}; it must be one of lists")
    return _list_texts(column, name)


def _are_python_values(values: Any) -> bool:
    """Whether the sets of a column are objects of Python, which are taken one by one."""
    if isinstance(values, (str, bytes, pa.Array, pa.ChunkedArray)):
        return False
    if hasattr(values, "dtype"):
        return values.dtype == np.dtype(object) or getattr(values, "ndim", 1) > 1
    return not (hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"))


def _set_texts(sets: Any, name: str) -> pa.Array:
    texts = []
    try:
        for row, elements in enumerate(sets):
            if elements is None:
                raise missing(name, row)
            texts.append(set_text(elements))
        return pa.array(texts, pa.large_string())
    except NearkinError:
        raise
    except _FAILURES as error:
        message = f"{name} cannot be made a column: {error}; give lists of texts or numbers"
        raise ParameterError(message) from error


def _list_texts(column: pa.Array, name: str) -> pa.Array:
    elements = column.flatten()
    if elements.null_count:
        row = pc.list_parent_indices(column)[_first(elements.is_null())].as_py()
        raise missing(name, row, "an element")
    if pa.types.is_integer(elements.type) or pa.types.is_null(elements.type):
        elements = elements.cast(pa.large_string())
    if not is_text(elements.type):
        message = f"{name} is a column of lists of {elements.type}"
        raise ParameterError(f"{message}; elements must be texts or whole numbers")
    texts: pa.Array = _nearkin.list_texts(elements, _ends(column))
    return texts


def set_text(elements: Elements | str) -> str:
    """The text that stands for a set or a bag; a text is one already, and is cut at white space."""
    if isinstance(elements, str):
        return " " + elements if elements.startswith(_MARK) else elements
    if isinstance(elements, (bytes, bytearray, memoryview)):
        raise ParameterError("a set is of bytes; decode them to a text, or give a list of numbers")
    if isinstance(elements, Mapping):
        pairs = [(element_text(name), _count(name, count)) for name, count in elements.items()]
    elif isinstance(elements, Iterable):
        pairs = [(element_text(element), 1.0) for element in elements]
    else:
        message = f"a set is {elements!r}; it must be a list or a set of elements"
        raise ParameterError(message + ", or a mapping of them to counts")
    try:
        return _nearkin.list_text(pairs)
    except UnicodeEncodeError as error:
        raise ParameterError(f"an element is no text: {error}; give Unicode texts") from error


def _count(element: Any, count: Any) -> float:
    """How often an element occurs, as a number whose range Rust checks."""
    kinds = (int, float, np.integer, np.floating)
    if not isinstance(count, kinds) or isinstance(count, bool):
        message = f"element `{element}` has {count!r} for a count; give a whole number"
        raise ParameterError(message)
    try:
        return float(count)
    except OverflowError:
        return math.inf if count > 0 else -math.inf


def element_text(element: Any) -> str:
    """The text of an element: 7 and "7" are the same element."""
    if isinstance(element, str):
        return element
    if isinstance(element, (int, np.integer)) and not isinstance(element, bool):
        return str(int(element))
    raise ParameterError(f"an element is {element!r}; it must be a text or a whole number")
