"""Columns of texts, sets, ids and numbers, from what people have."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearkin import _nearkin
from nearkin._errors import InputError, NearkinError, ParameterError

Texts: TypeAlias = Any
"""A column of texts: a list, a NumPy array, a Series of pandas or polars, an Arrow array."""

Elements: TypeAlias = Iterable[str | int] | Mapping[Any, int]
"""The elements of a set or a bag: texts or whole numbers, or a mapping of them to counts."""


# What conversions fail with: those of Arrow, of numbers and of texts that cannot be encoded.
_FAILURES = (pa.ArrowException, TypeError, ValueError, OverflowError)


def arrow(values: Any, name: str) -> pa.Array:
    """One Arrow array of any column; what a dictionary stands for is in its place."""
    if isinstance(values, (str, bytes)):
        raise ParameterError(f"{name} is one text; give a list of them, or use the call for one")
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            column = values
        elif hasattr(values, "__arrow_c_stream__"):
            column = pa.chunked_array(values)
        else:
            if not hasattr(values, "__arrow_c_array__") and not hasattr(values, "dtype"):
                values = list(values)
            column = pa.array(values, from_pandas=True)
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
    """The column, or its lists, with the values that a dictionary stands for."""
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


def set_column(values: Any, name: str = "sets") -> pa.Array:
    """A column of the texts that stand for sets; texts are cut at white space."""
    if _is_python(values):
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


def _is_python(values: Any) -> bool:
    """Whether a column of sets has to be taken value by value, for it holds objects of Python."""
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


# What the text of a list begins with.
_MARK = "\x1f"


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
    """How often an element occurs, as a number whose range is still to be looked at."""
    kinds = (int, float, np.integer, np.floating)
    if not isinstance(count, kinds) or isinstance(count, bool):
        message = f"element `{element}` has {count!r} for a count; give a whole number"
        raise ParameterError(message)
    try:
        return float(count)
    except OverflowError:
        return math.inf if count > 0 else -math.inf


def element_text(element: Any) -> str:
    """An element is its text: 7 and "7" are the same one."""
    if isinstance(element, str):
        return element
    if isinstance(element, (int, np.integer)) and not isinstance(element, bool):
        return str(int(element))
    raise ParameterError(f"an element is {element!r}; it must be a text or a whole number")


def whole(value: int, name: str, least: int = 1) -> int:
    """A whole number of 64 bits, or an error."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} is {value!r}; it must be a whole number") from None
    if not least <= number < 2**64:
        raise ParameterError(f"{name} is {number}; it must be at least {least} and below 2^64")
    return number


def optional(value: int | None, name: str) -> int | None:
    """The same for what may be left out."""
    return None if value is None else whole(value, name)


def band_pair(bands: tuple[int, int] | None) -> tuple[int, int] | None:
    """Bands and rows, or an error."""
    if bands is None:
        return None
    try:
        count, rows = bands
    except (TypeError, ValueError):
        message = f"bands is {bands!r}; it must be two numbers, of bands and of rows"
        raise ParameterError(message) from None
    return whole(count, "bands"), whole(rows, "rows")


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
