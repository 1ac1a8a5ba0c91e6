"""The index against comparing everything, from many threads, through its file and pickle."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nearkin as nk


def texts(count: int, seed: int) -> list[str]:
    """Texts of random words, most of them an earlier one with a few words changed."""
    draw = random.Random(seed)
    made: list[list[str]] = []
    for _ in range(count):
        if not made or draw.random() < 0.3:
            words = [f"w{draw.randrange(800)}" for _ in range(draw.randrange(5, 60))]
        else:
            words = list(draw.choice(made))
        for _ in range(draw.randrange(4)):
            words[draw.randrange(len(words))] = f"w{draw.randrange(800)}"
        made.append(words)
    return [" ".join(words) for words in made]


def bigrams(text: str) -> frozenset[tuple[str, str]]:
    words = text.split()
    return frozenset(zip(words, words[1:], strict=False))


def exactly(a: frozenset[object], b: frozenset[object]) -> float:
    return len(a & b) / len(a | b)


# 100 bands of one row: a pair at 0.5 is missed with a chance of 2**-100, or to the first look with
# one of 1e-9.
SURE: Any = {"threshold": 0.5, "shingle": "words:2", "bands": (100, 1)}


def test_it_finds_what_comparing_everything_finds() -> None:
    collection = texts(300, 1)
    index = nk.Index(**SURE)
    index.add_many(range(300), collection)
    sets = [bigrams(text) for text in collection]
    rows = index.query_many(collection).to_pylist()
    at = 0
    for number, own in enumerate(sets):
        similar = [(other, exactly(own, sets[other])) for other in range(300)]
        similar = [pair for pair in similar if pair[1] >= 0.5]
        similar.sort(key=lambda pair: (-pair[1], pair[0]))
        assert index.query(collection[number]) == similar
        assert index.query(collection[number], k=2) == similar[:2]
        for other, similarity in similar:
            assert rows[at] == {"query": number, "id": other, "similarity": similarity}
            at += 1
    assert at == len(rows) > 600


def test_the_promise_is_kept_at_the_threshold() -> None:
    # Pairs of just 0.8: 36 of 45 elements. 4,000 pairs at a promised 0.95: fewer than 0.93 found
    # would be 5.8 standard errors off, 1 in 10**8.
    index = nk.Index(threshold=0.8, recall=0.95, as_="set")
    count = 4000
    shared = [[f"{number}-{element}" for element in range(36)] for number in range(count)]
    index.add_many(range(count), [s + [f"{n}a{i}" for i in range(4)] for n, s in enumerate(shared)])
    found = index.query_many([s + [f"{n}b{i}" for i in range(5)] for n, s in enumerate(shared)])
    assert found["query"].to_pylist() == found["id"].to_pylist()
    assert set(found["similarity"].to_pylist()) == {0.8}
    assert 0.93 < found.num_rows / count < 1.0
    assert index.recall == 0.95
    assert index.bands == (nk.plan(threshold=0.8, recall=0.95).bands, nk.plan(recall=0.95).rows)


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array])
def test_columns_of_many_kinds(make: Any) -> None:
    collection = texts(50, 2)
    index = nk.Index(**SURE)
    index.add_many(make(range(50)), make(collection))
    named = nk.Index(**SURE)
    names = [f"n{number}" for number in range(50)]
    named.add_many(make(names), make(collection))
    assert index.ids() == list(range(50)) and named.ids() == list(named) == names
    found = index.query_many(make(collection))
    assert found["id"].type == pa.int64()
    by_name = named.query_many(pa.chunked_array([collection[:20], collection[20:]]))
    assert by_name["id"].to_pylist() == [f"n{number}" for number in found["id"].to_pylist()]


def test_sets_and_bags() -> None:
    index = nk.Index(threshold=0.5, as_="set", bands=(100, 1))
    index.add("a", {"x", "y z", 7})
    index.add_many(["b", "c"], [["x"], Counter({"q": 3})])
    assert index.query(["7", "x", "y z"]) == [("a", 1.0)]
    assert index.query({7: 1, "x": 2}) == [("a", 2 / 3), ("b", 0.5)]
    lists = pa.array([["7", "x", "y z"], ["x"]])
    assert index.query_many(lists)["id"].to_pylist() == ["a", "b"]
    numbers = nk.Index(threshold=0.5, as_="set", bands=(100, 1))
    numbers.add_many([1, 2], pa.array([[1, 2, 3], [4]]).slice(0, 2))
    numbers.add_many([3], pa.array([[9], [5, 6]]).slice(1))
    assert numbers.query([1, 2]) == [(1, 2 / 3)] and numbers.query(["5"]) == [(3, 0.5)]
    bags = nk.Index(threshold=0.5, as_="set", measure="bag", bands=(100, 1))
    bags.add(1, ["a", "a", "b"])
    assert bags.query(Counter(a=2)) == [(1, 2 / 3)] and bags.query(["a"]) == []
    with pytest.raises(nk.ParameterError, match="whole number"):
        index.add("d", [1.5])  # type: ignore[list-item]
    with pytest.raises(nk.ParameterError, match="lists of double"):
        index.add_many([1], pa.array([[1.5]]))
    index.add("d", "p r")
    assert index.query({"r", "p"}) == index.query("r p") == [("d", 1.0)]
    assert index.query_many(pa.array(["p  r", "\x1fp"]))["id"].to_pylist() == ["d"]


def test_items_come_and_go() -> None:
    draw = random.Random(3)
    collection = texts(200, 3)
    index = nk.Index(**SURE)
    there: dict[int, str] = {}
    for step in range(2000):
        number = draw.randrange(60)
        text = draw.choice(collection)
        action = draw.randrange(4)
        if action == 0 and number not in there:
            index.add(number, text)
            there[number] = text
        elif action == 1:
            index.add(number, text, replace=True)
            there.pop(number, None)
            there[number] = text
        elif action == 2:
            assert index.remove(number) == (there.pop(number, None) is not None)
        similar = [(other, exactly(bigrams(text), bigrams(own))) for other, own in there.items()]
        similar = sorted((pair for pair in similar if pair[1] >= 0.5), key=lambda pair: -pair[1])
        assert index.query(text) == similar, step
        assert len(index) == len(there) and (number in index) == (number in there)
    assert index.ids() == list(there)


def test_what_is_wrong_is_said() -> None:
    index = nk.Index()
    index.add("a", "some text")
    with pytest.raises(nk.ParameterError, match="not in the index yet; replace the item"):
        index.add("a", "other")
    with pytest.raises(nk.ParameterError, match="not in the index yet"):
        index.add_many(["b", "c", "a"], ["x", "y", "z"])
    with pytest.raises(nk.ParameterError, match="twice"):
        index.add_many(["b", "b"], ["x", "y"], replace=True)
    assert index.ids() == ["a"]
    with pytest.raises(nk.ParameterError, match="as many"):
        index.add_many(["b"], [])
    with pytest.raises(nk.ParameterError, match="id is 1.5"):
        index.add(1.5, "x")  # type: ignore[arg-type]
    with pytest.raises(nk.InputError, match="texts:2: the value is missing"):
        index.add_many(["b", "c"], ["x", None])
    with pytest.raises(nk.ParameterError, match="int64"):
        index.add_many(["b"], [1])
    with pytest.raises(nk.ParameterError, match="one text"):
        index.query_many("x")
    with pytest.raises(nk.ParameterError, match="k is 0"):
        index.query("x", k=0)
    with pytest.raises(nk.ParameterError, match="as_='set'"):
        index.add("b", ["x"])
    for wrong in (
        {"threshold": 0.0},
        {"recall": 1.0},
        {"shingle": "syllables"},
        {"measure": "cosine"},
        {"measure": "magic"},
        {"as_": "vector"},
        {"bands": (0, 1)},
        {"bands": 5},
        {"seed": -1},
        {"threads": 0},
        {"threads": 65536},
        {"threads": 2**60},
        {"threads": 2**70},
        {"as_": "set", "shingle": "words:3"},
        {"as_": "set", "shingle": "words:5"},
    ):
        with pytest.raises(nk.ParameterError):
            nk.Index(**wrong)
    assert 1.5 not in index and index.query("") == []
    with pytest.raises(KeyError):
        index.elements("nobody")


def test_ids_are_found_by_what_they_are() -> None:
    index = nk.Index()
    index.add(np.int64(7), "some text")
    index.add(np.str_("x"), "some text")
    assert 7 in index and np.int64(7) in index and np.uint8(7) in index
    assert "x" in index and np.str_("x") in index
    for other in (2**70, -(2**70), "\ud800", "7", 7.5, None, [7], np.float64(7.5)):
        assert other not in index


# Threads cannot be started when each wants a stack as large as the address space.
UNCHANGED = """
import nearkin as nk
index = nk.Index(threads=2)
index.add(1, "some text")
for replace in (True, False):
    try:
        index.add_many([1 if replace else 2], ["other"], replace=replace)
    except nk.NearkinError as error:
        assert "threads" in str(error), error
    else:
        raise AssertionError("threads were started")
    assert index.ids() == [1] and index.query("some text") == [(1, 1.0)]
try:
    nk.MinHash(threads=2).sketch(["a", "b"])
except nk.NearkinError as error:
    assert "threads" in str(error), error
else:
    raise AssertionError("threads were started")
"""


def test_items_stay_when_their_replacement_fails() -> None:
    environment = os.environ | {"RUST_MIN_STACK": str(2**47)}
    subprocess.run([sys.executable, "-c", UNCHANGED], env=environment, check=True)


def test_replacing_many_is_replacing_each() -> None:
    collection = texts(5000, 8)
    index, other = nk.Index(**SURE), nk.Index(**SURE)
    index.add_many(range(4500), collection[:4500])
    index.add_many(range(500, 5000), collection[:4500], replace=True)
    other.add_many(range(500), collection[:500])
    other.add_many(range(500, 5000), collection[:4500])
    assert index.ids() == other.ids()
    assert index.query_many(collection[:500]).equals(other.query_many(collection[:500]))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_an_id_that_comes_during_a_query_keeps_its_name() -> None:
    index = nk.Index(threshold=0.5, shingle="words:1")
    index.add(1, "a b")
    queries = pa.array(["a b"] * 200_000)

    # The handler runs between two portions of the query, before the first or after the last: the
    # first query that has both kinds of answer ends the test.
    def come(*_: object) -> None:
        if "late" not in index:
            index.add("late", "a b")

    before = signal.signal(signal.SIGALRM, come)
    try:
        for _ in range(100):
            index.remove("late")
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            ids = index.query_many(queries)["id"].to_pylist()
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert not set(ids) - {1, "1", "late"}
            if 200_000 < len(ids) < 400_000:
                break
        else:
            raise AssertionError("no query was interrupted")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert set(ids) == {"1", "late"}


def test_ids_are_texts_where_one_of_the_index_is() -> None:
    index = nk.Index(threshold=0.5, shingle="words:1")
    index.add_many([1, 2], ["a b", "c d"])
    assert index.query_many(["a b"])["id"].to_pylist() == [1]
    index.add("x", "e f")
    assert index.query_many(["a b"])["id"].to_pylist() == ["1"]
    assert index.query_many(["y"])["id"].type == pa.string()


class Own(nk.Index):
    """An index with something more."""

    note = ""


def test_a_subclass_stays_one(tmp_path: Path) -> None:
    own = Own(threshold=0.5)
    own.add(1, "some text")
    own.note = "mine"
    copy = pickle.loads(pickle.dumps(own))
    assert type(copy) is Own and copy.note == "mine" and copy.query("some text") == [(1, 1.0)]
    own.save(tmp_path / "own")
    assert type(Own.load(tmp_path / "own")) is Own


def test_files_and_pickles(tmp_path: Path) -> None:
    collection = texts(100, 4)
    index = nk.Index(threshold=0.6, shingle="chars:4", measure="bag", seed=9)
    index.add_many([str(number) for number in range(100)], collection)
    index.remove("7")
    path = tmp_path / "an.index"
    index.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["an.index"]
    pickled = pickle.loads(pickle.dumps(index))
    for other in (nk.Index.load(path), nk.Index.load(str(path), threads=1), pickled):
        assert repr(other) == repr(index)
        assert (other.seed, other.bands, other.ids()) == (index.seed, index.bands, index.ids())
        assert other.query_many(collection).equals(index.query_many(collection))
        assert (other.elements("8") == index.elements("8")).all()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    with pytest.raises(nk.FileError, match="is damaged"):
        nk.Index.load(path)
    with pytest.raises(nk.FileError, match="cannot be read"):
        nk.Index.load(tmp_path / "none")
    path.write_bytes(b"something else")
    for wrong in (path, tmp_path):
        with pytest.raises(nk.FileError, match="that an index was saved to"):
            nk.Index.load(wrong)
    with pytest.raises(nk.ParameterError, match="threads is 65536"):
        nk.Index.load(path, threads=65536)
    for sets in (nk.Index(as_="set"), nk.Index(shingle="elements")):
        sets.add(1, ["a", "b"])
        assert pickle.loads(pickle.dumps(sets)).query(["b", "a"]) == [(1, 1.0)]


def test_many_threads_use_one_index() -> None:
    collection = texts(400, 5)
    index = nk.Index(**SURE)
    index.add_many(range(200), collection[:200])
    expected = index.query_many(collection[:200])
    wrong: list[object] = []

    def ask() -> None:
        for number in range(0, 200, 3):
            ids = [id for id, _ in index.query(collection[number])]
            if number not in ids:
                wrong.append(number)

    def change(start: int) -> None:
        for number in range(start, start + 50):
            index.add(number, collection[number])
        for number in range(start, start + 50):
            index.remove(number)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    threads += [threading.Thread(target=change, args=(start,)) for start in (200, 250, 300, 350)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(index) == 200
    assert index.query_many(collection[:200]).equals(expected)


def test_licence_texts_against_all_their_pairs(data: Path) -> None:
    folder = data / "text"
    with gzip.open(folder / "licences.jsonl.gz", "rt") as lines:
        records = [json.loads(line) for line in lines]
    ids = [record["id"] for record in records]
    index = nk.Index(threshold=0.8, recall=0.99)
    index.add_many(ids, [record["text"] for record in records])
    with gzip.open(folder / "licences.words5.alone.t80.tsv.gz", "rt") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    truth = {frozenset((a, b)): similarity for a, b, similarity in rows}
    found: dict[frozenset[str], str] = {}
    table = index.query_many([record["text"] for record in records])
    for row, id, similarity in zip(*(column.to_pylist() for column in table.columns), strict=True):
        if ids[row] != id:
            found[frozenset((ids[row], id))] = f"{similarity:.6f}"
    assert all(truth[pair] == similarity for pair, similarity in found.items())
    # The seed is fixed: 0.9988 of them. Those at just the threshold are promised 0.99.
    assert len(found) > 0.99 * len(truth)


def test_memory_is_what_the_documentation_says() -> None:
    index = nk.Index()
    draw = random.Random(6)
    collection = [" ".join(str(draw.random()) for _ in range(104)) for _ in range(2000)]
    index.add_many(range(2000), collection)
    # 104 numbers are 208 words, so 204 shingles.
    assert 8.3 * 204 + 300 < index.nbytes / 2000 < 8.3 * 204 + 650
    for number in range(2000):
        index.remove(number)
    assert index.nbytes < 100_000
