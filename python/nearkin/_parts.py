"""Columns of texts, sets, ids and numbers, from what people have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

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


def list_column(values: Any, name: str = "sets") -> pa.Array:
    """A column of the texts that stand for sets."""
    if isinstance(values, (list, tuple)):
        return pa.array([list_text(value) for value in values], pa.large_string())
    column = without_gaps(arrow(values, name), name)
    kind = column.type
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


def list_text(elements: Elements) -> str:
    """The text that stands for a set or a bag."""
    if isinstance(elements, (str, bytes)):
        message = "a set is one text; give its elements as a list or a set"
        raise ParameterError(message + ", or make an index of texts")
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
