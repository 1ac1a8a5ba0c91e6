"""What columns of texts, sets and ids may be, for the index and for sketches."""

from __future__ import annotations

import enum
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin as nk
from nearkin import _columns, shingle

DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["a b", None]))


def found(items: Any, query: Any, **settings: Any) -> list[tuple[int | str, float]]:
    """What an index of these items finds."""
    index = nk.Index(threshold=0.5, bands=(100, 1), **settings)
    index.add_many(range(len(items)), items)
    return index.query(query)


def test_a_gap_in_the_values_of_a_dictionary_is_a_gap() -> None:
    with pytest.raises(nk.InputError, match="texts:2: the value is missing"):
        nk.MinHash(shingle="words:1").sketch(DICTIONARY)
    with pytest.raises(nk.InputError, match="sets:2: the value is missing"):
        nk.MinHash(shingle="elements").sketch(DICTIONARY)
    with pytest.raises(nk.InputError, match="ids:2: the value is missing"):
        nk.Index().add_many(DICTIONARY, ["x", "y", "z"])
    with pytest.raises(nk.ParameterError, match="without gaps"):
        nk.MinHash()._inner.sketch(pa.array(["a", None]))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_chunks_become_one_column_of_64_bit_offsets(kind: pa.DataType) -> None:
    chunks = pa.chunked_array([pa.array(["a b", "c"], kind), pa.array(["d e f"], kind)])
    column = _columns.text_column(chunks)
    # 32-bit offsets end at 2 GiB of text, which many chunks together exceed.
    assert column.type == pa.large_string()
    assert column.to_pylist() == ["a b", "c", "d e f"]
    assert _columns.text_column(pa.chunked_array([], kind)).to_pylist() == []
    assert _columns.text_column(pa.chunked_array([chunks.chunk(0)])).type == kind
    encoded = _columns.text_column(pa.chunked_array([DICTIONARY.slice(0, 1), DICTIONARY.slice(2)]))
    assert encoded.type == pa.large_string() and encoded.to_pylist() == ["a b", "a b"]
    lists = pa.chunked_array([[["a"], ["b", "c"]], [["d"]]], pa.list_(kind))
    assert found(lists, ["b", "c"], as_="set") == [(1, 1.0)]


def test_a_list_that_arrow_cuts_into_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrow does so by itself from 2 GiB of text on.
    whole = pa.array
    monkeypatch.setattr(
        pa, "array", lambda values, **how: pa.chunked_array([whole(values[:1]), whole(values[1:])])
    )
    column = _columns.arrow(["a", "b", "c"], "texts")
    assert column.type == pa.large_string() and column.to_pylist() == ["a", "b", "c"]


def test_categories_of_polars_and_pandas() -> None:
    single = [pl.Series([text], dtype=pl.Categorical) for text in ("a b c", "d e", "a b c")]
    for column in (
        pl.Series(["a b c", "d e", "a b c"], dtype=pl.Categorical),
        pl.concat(single, rechunk=False),
        pl.Series(["a b c", "d e", "a b c"], dtype=pl.Enum(["d e", "a b c"])),
        pd.Series(["a b c", "d e", "a b c"], dtype="category"),
    ):
        assert found(column, "a b c", shingle="words:1") == [(0, 1.0), (2, 1.0)]
        assert found(column, {"a", "b", "c"}, as_="set") == [(0, 1.0), (2, 1.0)]
    lists = pl.Series([["x", "y"], ["z"]], dtype=pl.List(pl.Categorical))
    assert found(lists, ["x", "y"], as_="set") == [(0, 1.0)]
    lists = pl.concat([lists, lists[1:]], rechunk=False)
    assert found(lists, ["z"], as_="set") == [(1, 1.0), (2, 1.0)]
    with pytest.raises(nk.InputError, match="sets:2: the value is missing"):
        found(pl.Series([["x"], None], dtype=pl.List(pl.Categorical)), ["z"], as_="set")


@pytest.mark.parametrize(
    "sets",
    [
        [{1, 2}, {3}],
        ({1, 2}, {3}),
        np.array([{1, 2}, {3}]),
        pd.Series([{1, 2}, {3}]),
        pd.Series([[1, 2], ["3"]]),
        [np.array([1, 2]), (3,)],
        pa.array([[1, 2], [3]]),
        pa.array([[(1, 1), (2, 1)], [(3, 1)]], pa.map_(pa.int64(), pa.float64())),
        [Counter([1, 2]), {3: 1.0}],
        ["1 2", "3"],
    ],
)
def test_sets_of_many_kinds(sets: Any) -> None:
    assert found(sets, [2, 1], as_="set") == [(0, 1.0)]
    assert found(sets, ["3"], as_="set") == [(1, 1.0)]


def test_rows_of_an_array_are_sets() -> None:
    assert found(np.array([[1, 2], [3, 4]]), [2, 1], as_="set") == [(0, 1.0)]
    assert found(pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2))[1:], [3, 4], as_="set") == [
        (0, 1.0)
    ]


def test_a_slice_of_lists_is_not_the_lists_around_it() -> None:
    lists = pa.array([["a", None], ["b", "c"], ["d"], [None]])
    assert found(lists.slice(1, 2), ["c", "b"], as_="set") == [(0, 1.0)]
    assert found(lists.slice(1, 2), ["d"], as_="set") == [(1, 1.0)]
    with pytest.raises(nk.InputError, match="sets:3: an element is missing"):
        nk.Index(as_="set").add_many([1, 2, 3], lists.slice(1))


def test_a_set_that_is_missing_is_said() -> None:
    with pytest.raises(nk.InputError, match="sets:2: the value is missing"):
        nk.Index(as_="set").add_many([1, 2], [["a"], None])
    with pytest.raises(nk.ParameterError, match="a set is 7"):
        nk.Index(as_="set").add_many([1, 2], [["a"], 7])
    with pytest.raises(nk.ParameterError, match="a set is None"):
        nk.Index(as_="set").query(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", [["\ud800"], [2**70], [object()], ["a", 1], 7])
def test_what_is_no_column_is_a_parameter_error(column: Any) -> None:
    with pytest.raises(nk.ParameterError):
        nk.Index().add_many([1], column)
    with pytest.raises(nk.ParameterError):
        nk.Index().add_many(column, ["a"])
    with pytest.raises(nk.ParameterError):
        nk.MinHash(shingle="elements").sketch([column, {3.5}])


@pytest.mark.parametrize("bytes_", [b"abc", bytearray(b"abc"), memoryview(b"abc")])
def test_bytes_are_no_set(bytes_: Any) -> None:
    with pytest.raises(nk.ParameterError, match="bytes"):
        shingle.elements(bytes_)
    with pytest.raises(nk.ParameterError, match="bytes"):
        nk.Index(as_="set").add_many([1], [bytes_])


class Size(enum.IntEnum):
    SMALL = 2


@pytest.mark.parametrize("count", [2, 2.0, np.int8(2), np.float32(2), Size.SMALL])
def test_counts_are_whole_numbers(count: Any) -> None:
    assert len(shingle.elements({"a": count, "b": 0}, bag=True)) == 2


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (2.7, "`a` occurs 2.7 times; counts must be whole numbers"),
        (float("nan"), "counts must be whole numbers"),
        (-1, "`a` occurs -1 times; counts cannot be negative"),
        (-(10**400), "counts cannot be negative"),
        (2**32, "counts go up to 4294967295: scale them down"),
        (2**40, "counts go up to 4294967295"),
        (10**400, "counts go up to 4294967295"),
        (float("inf"), "counts go up to 4294967295"),
        (None, "`a` has None for a count"),
        ("2", "`a` has '2' for a count"),
        (True, "`a` has True for a count"),
        (Decimal("0.5"), "for a count"),
    ],
)
def test_counts_have_the_limits_of_the_readers(count: Any, message: str) -> None:
    with pytest.raises(nk.ParameterError, match=message):
        shingle.elements({"a": count})
    with pytest.raises(nk.ParameterError, match=message):
        nk.Index(as_="set").add(1, {"a": count})


def test_a_text_cannot_ask_for_more_than_the_limit() -> None:
    # Such a text is what no reader writes: it is one element.
    assert len(shingle.of("\x1f1*1000000:a", "elements", bag=True)) == 1_000_000
    assert len(shingle.of("\x1f1*4294967296:a", "elements", bag=True)) == 1
