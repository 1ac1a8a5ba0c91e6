"""Columns of texts, sets, ids and numbers, from what people have."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearkin import _nearkin
from nearkin._errors import InputError, ParameterError

Texts: TypeAlias = Any
"""A column of texts: a list, a NumPy array, a Series of pandas or polars, an Arrow array."""

Elements: TypeAlias = Iterable[str | int] | Mapping[Any, int]
"""The elements of a set or a bag: texts or whole numbers, or a mapping of them to counts."""


def arrow(values: Any, name: str) -> pa.Array:
    """One Arrow array of any column."""
    if isinstance(values, pa.ChunkedArray):
        return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.Array):
        return values
    if isinstance(values, (str, bytes)):
        raise ParameterError(f"{name} is one text; give a list of them, or use the call for one")
    try:
        if hasattr(values, "__arrow_c_stream__"):
            return pa.chunked_array(values).combine_chunks()
        if not hasattr(values, "__arrow_c_array__") and not hasattr(values, "dtype"):
            values = list(values)
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        message = f"{name} cannot be made a column: {error}; give values of one type"
        raise ParameterError(message) from error


def without_gaps(column: pa.Array, name: str) -> pa.Array:
    """The column, or an error for the first value that is missing."""
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise InputError(f"{name}:{row + 1}: the value is missing; fill it in or leave the row out")
    return column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds texts that need no cast."""
    views = pa.types.is_string_view(kind) if hasattr(pa.types, "is_string_view") else False
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or views)


def text_column(values: Texts, name: str = "texts") -> pa.Array:
    """A column of texts."""
    column = without_gaps(arrow(values, name), name)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if is_text(column.type):
        return column
    if len(column) == 0:
        return column.cast(pa.string())
    raise ParameterError(f"{name} is a column of {column.type}; it must be one of texts")


def set_column(values: Any, name: str = "sets") -> pa.Array:
    """A column of the texts that stand for sets; texts are cut at white space."""
    if isinstance(values, (list, tuple)):
        return pa.array([set_text(value) for value in values], pa.large_string())
    column = without_gaps(arrow(values, name), name)
    kind = column.type
    if is_text(kind) or pa.types.is_dictionary(kind):
        column = text_column(column, name)
        if not pc.any(pc.starts_with(column.cast(pa.large_string()), _MARK)).as_py():
            return column
        return pa.array([set_text(text) for text in column.to_pylist()], pa.large_string())
    if pa.types.is_fixed_size_list(kind):
        column = column.cast(pa.large_list(kind.value_type))
    elif not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise ParameterError(f"{name} is a column of {kind}; it must be one of lists")
    elements = without_gaps(column.values, name)
    if not (is_text(elements.type) or pa.types.is_integer(elements.type)):
        message = f"{name} is a column of lists of {elements.type}"
        raise ParameterError(f"{message}; elements must be texts or whole numbers")
    ends = column.offsets.cast(pa.int64())
    texts: pa.Array = _nearkin.list_texts(
        elements if is_text(elements.type) else elements.cast(pa.large_string()), ends
    )
    return texts


# What the text of a list begins with.
_MARK = "\x1f"


def set_text(elements: Elements | str) -> str:
    """The text that stands for a set or a bag; a text is one already, and is cut at white space."""
    if isinstance(elements, str):
        return " " + elements if elements.startswith(_MARK) else elements
    if isinstance(elements, Mapping):
        pairs = [(element_text(element), int(count)) for element, count in elements.items()]
    else:
        pairs = [(element_text(element), 1) for element in elements]
    return _nearkin.list_text(pairs)


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
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ParameterError(f"ids: {error}; give larger ones as texts") from error
    if is_text(column.type):
        return column
    if len(column) == 0:
        return column.cast(pa.string())
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
