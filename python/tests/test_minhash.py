"""Sketches: what they estimate, and that those of parts make those of wholes."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin as nk


def test_estimates_are_right_on_average() -> None:
    # 40 pairs with 512 functions each: a standard error of at most 0.0035 in the mean of errors;
    # 0.02 is 5.7 of them.
    minhash = nk.MinHash(512, shingle="words:1")
    draw = random.Random(1)
    for similarity in (0.2, 0.5, 0.9):
        errors = []
        for _ in range(40):
            union = draw.sample(range(10**6), 100)
            shared = round(100 * similarity)
            a = " ".join(map(str, union[: shared + (100 - shared) // 2]))
            b = " ".join(map(str, union[:shared] + union[shared + (100 - shared) // 2 :]))
            sketches = minhash.sketch([a, b])
            errors.append(minhash.similarity(sketches[0], sketches[1]) - shared / 100)
        assert abs(np.mean(errors)) < 0.02


def test_rows_and_kinds_of_columns() -> None:
    minhash = nk.MinHash(64, seed=3, shingle="words:2", threads=3)
    collection = [f"text number {i} of {i % 7} or {i % 5}" for i in range(5000)]
    rows = minhash.sketch(collection)
    assert rows.shape == (5000, 64) and rows.dtype == np.uint32
    alone = nk.MinHash(64, seed=3, shingle="words:2", threads=1)
    for make in (np.array, pd.Series, pl.Series, pa.array):
        assert np.array_equal(alone.sketch(make(collection)), rows)
    assert np.array_equal(minhash.sketch(collection[7]), rows[7])
    assert minhash.sketch([]).shape == (0, 64)
    assert (minhash.sketch([""]) == 2**32 - 1).all()
    same, other, again = minhash.sketch(["?", "!", "?"])
    assert np.array_equal(same, again) and not (same == other).any()
    # A part without words adds nothing to the whole.
    assert np.array_equal(minhash.combine(minhash.partial(["?", "a b c"])), minhash.sketch("a b c"))
    other = nk.MinHash(64, seed=4, shingle="words:2").sketch(collection[7])
    assert not np.array_equal(other, rows[7])
    similar = minhash.similarity(rows, rows[7])
    assert similar.shape == (5000,) and similar[7] == 1.0
    assert similar[3] == minhash.similarity(rows[3], rows[7])


def test_s9_3_sketches_of_parts_make_those_of_wholes() -> None:
    draw = random.Random(2)
    minhash = nk.MinHash(100, shingle="words:1")
    for size in (0, 1, 2, 5, 20, 80, 300, 2000):
        for parts in (1, 2, 3, 7):
            words = [str(draw.randrange(10**6)) for _ in range(size)]
            pieces = [" ".join(words[number::parts]) for number in range(parts)]
            partial = minhash.partial(pieces)
            assert partial.dtype == np.uint64 and partial.shape == (parts, 100)
            whole = minhash.sketch(" ".join(words))
            assert np.array_equal(minhash.combine(partial), whole)
            assert np.array_equal(minhash.combine(list(partial)[::-1]), whole)
            assert np.array_equal(minhash.finish(np.minimum.reduce(partial)), whole)
            assert np.array_equal(minhash.finish(minhash.partial(" ".join(words))), whole)
    assert (minhash.combine([]) == 2**32 - 1).all()
    rows = minhash.merge(minhash.partial(["a", "b"]), minhash.partial(["c", "b"]))
    assert np.array_equal(minhash.finish(rows), minhash.sketch(["a c", "b"]))


def test_the_minimum_of_finished_sketches_is_not_the_sketch_of_the_union() -> None:
    minhash = nk.MinHash(100, shingle="words:1")
    a, b, both = minhash.sketch(["a b c", "d e f", "a b c d e f"])
    assert not np.array_equal(np.minimum(a, b), both)
    with pytest.raises(nk.ParameterError, match="cannot be merged"):
        minhash.merge(a, b)


def test_keys_are_those_of_the_search() -> None:
    collection = ["a b c d e f", "a b c d e g", "x y z", "", "x y z"]
    minhash = nk.MinHash(12, seed=5, shingle="words:1")
    keys = minhash.keys(collection, 4, 3)
    assert keys.shape == (5, 4) and keys.dtype == np.uint64
    assert (keys[[0, 1, 2, 4]] < 2**37).all() and (keys[3] == 2**64 - 1).all()
    assert np.array_equal(keys[2], keys[4])
    sketches = minhash.sketch(collection)
    assert np.array_equal(minhash.keys_of(sketches, 4, 3), keys)
    assert np.array_equal(minhash.keys_of(sketches[0], 4, 3), keys[0])
    bands = sketches.reshape(5, 4, 3)
    for a in (0, 1, 2, 4):
        for b in (0, 1, 2, 4):
            agree = (bands[a] == bands[b]).all(axis=1)
            assert np.array_equal(keys[a] == keys[b], agree)


def test_sets_bags_and_pickles() -> None:
    minhash = nk.MinHash(32, shingle="elements")
    rows = minhash.sketch([["a b", "c"], ["c", "a b", "c"]])
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(minhash.sketch({"a b", "c"}), rows[0])
    assert np.array_equal(minhash.sketch(pa.array([["a b", "c"]]))[0], rows[0])
    assert np.array_equal(minhash.sketch(["x y", "y x"])[0], minhash.sketch({"x", "y"}))
    bags = nk.MinHash(32, shingle="words:1", bag=True)
    assert not np.array_equal(bags.sketch("a a b"), bags.sketch("a b"))
    again = pickle.loads(pickle.dumps(bags))
    assert repr(again) == repr(bags) == "MinHash(32, 1, 'words:1', bag=True)"
    assert np.array_equal(again.sketch("a a b"), bags.sketch("a a b"))


class Own(nk.MinHash):
    """One with something more."""

    note = ""


def test_a_subclass_stays_one() -> None:
    own = Own(8, shingle="words:1")
    own.note = "mine"
    copy = pickle.loads(pickle.dumps(own))
    assert type(copy) is Own and copy.note == "mine"
    assert np.array_equal(copy.sketch("a b"), own.sketch("a b"))


def test_what_is_wrong_is_said() -> None:
    minhash = nk.MinHash(12)
    for wrong in (
        {"functions": 0},
        {"shingle": "x"},
        {"threads": 0},
        {"threads": 65536},
        {"threads": 2**60},
        {"threads": 2**70},
    ):
        with pytest.raises(nk.ParameterError):
            nk.MinHash(**wrong)
    with pytest.raises(nk.ParameterError, match="same MinHash"):
        minhash.similarity(minhash.sketch("a"), nk.MinHash(13).sketch("a"))
    with pytest.raises(nk.ParameterError, match="uint64"):
        minhash.similarity(minhash.partial("a"), minhash.partial("a"))
    with pytest.raises(nk.ParameterError, match="same MinHash"):
        minhash.merge(minhash.partial("a"), nk.MinHash(13).partial("a"))
    with pytest.raises(nk.ParameterError, match="bands x rows, 10"):
        minhash.keys_of(minhash.sketch(["a"]), 5, 2)
    with pytest.raises(nk.ParameterError, match="at least 1"):
        minhash.keys(["a"], 0, 2)
    with pytest.raises(nk.ParameterError, match="one of texts"):
        minhash.sketch([1, 2])
