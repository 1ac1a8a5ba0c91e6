"""Pairs, top and dedup: every kind of input gives what brute force gives."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin as nk
from common import words


def shingles(text: str, k: int = 5) -> set[tuple[str, ...]]:
    own = words(text)
    if not own:
        return set()
    return {tuple(own[i : i + k]) for i in range(max(1, len(own) - k + 1))}


def brute_force(texts: list[str], threshold: float) -> list[tuple[int, int, float]]:
    sets = [shingles(text) for text in texts]
    found = []
    for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2):
        if a and b and len(a & b) / len(a | b) >= threshold:
            found.append((i, j, len(a & b) / len(a | b)))
    return found


def collection(items: int, seed: int) -> list[str]:
    """Texts of which many are changed copies of earlier ones, some copies, some empty."""
    rng = random.Random(seed)
    words = ["näher", "kin", "東京", "the", "of", "🦀", *(f"w{i}" for i in range(300))]
    texts: list[str] = []
    for i in range(items):
        if texts and rng.random() < 0.5:
            new = rng.choice(texts).split()
            for _ in range(rng.randrange(3)):
                if new:
                    new[rng.randrange(len(new))] = rng.choice(words)
        else:
            new = rng.choices(words, k=rng.randrange(0, 60))
        texts.append(" ".join(new))
    return texts


TEXTS = collection(300, 1)
#: No pair is missed, so that it can be compared with brute force.
EXACT = {"threshold": 0.5, "exact": True}
TRUTH = brute_force(TEXTS, 0.5)


def rows(table: pa.Table) -> list[tuple[object, object, float]]:
    a, b, value = (table.column(i).to_pylist() for i in range(3))
    return list(zip(a, b, value, strict=True))


def test_there_is_something_to_find() -> None:
    assert len(TRUTH) > 100


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        iter,
        np.array,
        lambda texts: np.array(texts, dtype=object),
        pd.Series,
        pl.Series,
        pa.array,
        lambda texts: pa.chunked_array([texts[:100], texts[100:]]),
        lambda texts: pd.DataFrame({"text": texts, "odd": [object()] * len(texts)}),
        lambda texts: pd.DataFrame({"text": pd.array(texts, dtype="string[pyarrow]")}),
        lambda texts: pl.DataFrame({"text": texts}),
        lambda texts: pa.table({"text": texts}),
        lambda texts: pa.table({"text": pa.array(texts, pa.large_string())}),
        lambda texts: pa.table({"text": pa.array(texts, pa.string_view())}),
        lambda texts: pa.table({"text": pa.array(texts).dictionary_encode()}),
        lambda texts: pa.table({"text": ["x"] + texts + ["x"]}).slice(1, len(texts)),
        lambda texts: pa.record_batch({"text": pa.array(texts)}),
        lambda texts: pa.table({"text": texts}).to_reader(max_chunksize=7),
    ],
)
def test_every_kind_of_input_gives_what_brute_force_gives(make) -> None:  # type: ignore[no-untyped-def]
    assert rows(nk.pairs(make(TEXTS), **EXACT)) == TRUTH


def test_files_give_the_same(tmp_path: Path) -> None:
    jsonl, parquet = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    jsonl.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    pq.write_table(pa.table({"text": TEXTS}), parquet)
    for path in (str(jsonl), jsonl, parquet, [jsonl]):
        assert rows(nk.pairs(path, **EXACT)) == TRUTH
    halves = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for path, half in zip(halves, (TEXTS[:150], TEXTS[150:]), strict=True):
        pq.write_table(pa.table({"text": half}), path)
    assert rows(nk.pairs(halves, **EXACT)) == TRUTH


def test_ids_are_the_users_own() -> None:
    ids = [f"t{i}" for i in range(len(TEXTS))]
    named = [(f"t{a}", f"t{b}", s) for a, b, s in TRUTH]
    assert rows(nk.pairs(dict(zip(ids, TEXTS, strict=True)), **EXACT)) == named
    table = pa.table({"body": TEXTS, "key": ids, "id": list(range(len(TEXTS)))})
    assert rows(nk.pairs(table, text="body", id="key", **EXACT)) == named
    assert rows(nk.pairs(table, text="body", **EXACT)) == TRUTH


def test_two_collections_are_joined() -> None:
    left, right = TEXTS[:120], TEXTS[120:]
    across = [(a, b - 120, s) for a, b, s in TRUTH if a < 120 <= b]
    assert rows(nk.pairs(left, right, **EXACT)) == across


def test_bands_find_nearly_all_and_say_so() -> None:
    table = nk.pairs(TEXTS, threshold=0.5, approximate=True, recall=0.9999)
    assert rows(table) == TRUTH  # each of the pairs is missed with a chance of at most 1e-4
    told = nk.stats(table)
    assert told["way"] == "bands" and told["pairs"] == len(TRUTH)
    assert told["recall"]["promised"] == 0.9999


def test_a_view_of_a_large_table_is_not_read_beyond_its_end() -> None:
    lists = pa.array([["x"], *[text.split() for text in TEXTS], ["x"]]).slice(1, len(TEXTS))
    got = rows(nk.pairs(pa.table({"items": lists}), as_="set", threshold=0.5))
    sets = [set(text.split()) for text in TEXTS]
    want = [
        (i, j, len(a & b) / len(a | b))
        for (i, a), (j, b) in itertools.combinations(enumerate(sets), 2)
        if a and b and len(a & b) / len(a | b) >= 0.5
    ]
    assert got == want
    assert rows(nk.pairs(sets, as_="set", threshold=0.5, exact=True)) == want
    counts = [Counter(text.split()) for text in TEXTS]
    bags = rows(nk.pairs(counts, as_="bag", threshold=0.5, exact=True))
    brute = [
        (i, j)
        for (i, a), (j, b) in itertools.combinations(enumerate(counts), 2)
        if a and b and (a & b).total() / (a | b).total() >= 0.5
    ]
    assert [(a, b) for a, b, _ in bags] == brute


def test_vectors_bits_and_strings() -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(200, 8)).astype(np.float32)
    distance = np.linalg.norm(points[:, None].astype(float) - points[None].astype(float), axis=2)
    want = [(i, j) for i, j in itertools.combinations(range(200), 2) if distance[i, j] <= 2.0]
    for data in (points, points.astype(float), points.tolist(), pa.table({"vector": points.tolist()})):
        got = rows(nk.pairs(data, as_="vector", within=2.0))
        assert [(a, b) for a, b, _ in got] == want
        assert all(abs(value - distance[a, b]) < 1e-5 for a, b, value in got)
    codes = rng.integers(0, 256, size=(100, 4), dtype=np.uint8)
    codes[50:] = codes[:50] ^ (1 << rng.integers(0, 8, size=(50, 4))).astype(np.uint8)
    ones = np.unpackbits(codes[:, None] ^ codes[None], axis=2).sum(axis=2)
    near = [(i, j, float(ones[i, j])) for i, j in itertools.combinations(range(100), 2) if ones[i, j] <= 6]
    assert near and rows(nk.pairs(codes, as_="bits", within=6)) == near
    assert rows(nk.pairs(np.unpackbits(codes, axis=1).astype(bool), as_="bits", within=6)) == near
    names = ["anna", "ana", "hanna", "otto", ""]
    assert rows(nk.pairs(names, as_="string", within=1)) == [(0, 1, 1.0), (0, 2, 1.0)]


def test_s2_13_books_of_one_kind_are_one_element(tmp_path: Path) -> None:
    bought = {"customer": list("aaabbc"), "book": ["Dune", "Emma", "Soups", "Hobbit", "Breads", "Emma"]}
    kinds = tmp_path / "kinds.csv"
    kinds.write_text("book,kind\nDune,fantasy\nHobbit,fantasy\nSoups,cooking\nBreads,cooking\n")
    given = {"group": "customer", "element": "book", "threshold": 0.1}
    assert rows(nk.pairs(pa.table(bought), **given)) == [("a", "c", pytest.approx(1 / 3))]  # type: ignore[arg-type]
    # a has {fantasy, Emma, cooking}, b {fantasy, cooking}.
    by_kinds = rows(nk.pairs(pa.table(bought), element_groups=kinds, **given))  # type: ignore[arg-type]
    assert sorted(by_kinds) == [("a", "b", pytest.approx(2 / 3)), ("a", "c", pytest.approx(1 / 3))]


def test_top_gives_the_closest_first() -> None:
    truth: dict[int, list[tuple[float, int]]] = {}
    for a, b, s in brute_force(TEXTS, 0.3):
        truth.setdefault(a, []).append((-s, b))
        truth.setdefault(b, []).append((-s, a))
    want = [(a, b, -s) for a in sorted(truth) for s, b in sorted(truth[a])[:3]]
    assert rows(nk.top(TEXTS, k=3, exact=True)) == want


def groups(items: int, found: list[tuple[int, int, float]]) -> list[int]:
    """For each item the first of its group."""
    root = list(range(items))

    def find(item: int) -> int:
        while root[item] != item:
            item = root[item]
        return item

    for a, b, _ in found:
        a, b = find(a), find(b)
        root[max(a, b)] = min(a, b)
    return [find(item) for item in range(items)]


def stars(items: int, found: list[tuple[int, int, float]]) -> list[int]:
    """For every item the first that is kept and similar to it, or itself."""
    similar = {(a, b) for a, b, _ in found}
    first: list[int] = []
    for item in range(items):
        kept = [other for other in range(item) if first[other] == other]
        first.append(next((other for other in kept if (other, item) in similar), item))
    return first


def test_dedup_keeps_one_of_each_chain_if_asked_to() -> None:
    assert nk.dedup(TEXTS, **EXACT, chains=True).clusters["cluster"].to_pylist() == groups(len(TEXTS), TRUTH)
    assert nk.dedup(TEXTS, **EXACT, no_chains=True).clusters == nk.dedup(TEXTS, **EXACT).clusters
    with pytest.raises(nk.NearkinError, match="chains"):
        nk.dedup(TEXTS, chains=True, no_chains=True)


def test_dedup_keeps_one_of_each_group_in_the_kind_it_was_given() -> None:
    first = stars(len(TEXTS), TRUTH)
    kept = [text for i, text in enumerate(TEXTS) if first[i] == i]
    table = pa.table({"text": TEXTS, "n": list(range(len(TEXTS)))})
    assert nk.dedup(TEXTS, **EXACT).kept == kept
    assert nk.dedup(table, **EXACT).kept == table.filter(pa.array([f == i for i, f in enumerate(first)]))
    frame = pd.DataFrame({"text": TEXTS}, index=[f"r{i}" for i in range(len(TEXTS))])
    assert list(nk.dedup(frame, **EXACT).kept["text"]) == kept
    assert list(nk.dedup(frame, **EXACT).kept.index) == [f"r{i}" for i, f in enumerate(first) if f == i]
    assert nk.dedup(pl.DataFrame({"text": TEXTS}), **EXACT).kept["text"].to_list() == kept
    assert list(nk.dedup(np.array(TEXTS), **EXACT).kept) == kept
    named = {f"t{i}": text for i, text in enumerate(TEXTS)}
    assert list(nk.dedup(named, **EXACT).kept.values()) == kept
    result = nk.dedup(TEXTS, **EXACT)
    assert result.clusters["cluster"].to_pylist() == first
    assert result.mask.tolist() == [f == i for i, f in enumerate(first)]
    assert result.stats["kept"] == len(kept)


def test_dedup_writes_a_file_or_a_folder_of_shards(tmp_path: Path) -> None:
    text = " ".join(f"w{n}" for n in range(60))
    near, other = text + " more", "something else altogether that is here"
    lines = [json.dumps({"id": name, "text": of}) + "\n" for name, of in [("a", text), ("b", near), ("c", other)]]
    corpus = tmp_path / "corpus"
    (corpus / "sub").mkdir(parents=True)
    (corpus / "one.jsonl").write_text(lines[0])
    (corpus / "sub" / "two.jsonl.gz").write_bytes(gzip.compress((lines[1] + lines[2]).encode()))
    kept = nk.dedup(corpus, output=f"{tmp_path}/kept/")
    assert kept.stats["kept"] == 2
    assert (tmp_path / "kept" / "one.jsonl").read_text() == lines[0]
    assert gzip.decompress((tmp_path / "kept" / "sub" / "two.jsonl.gz").read_bytes()).decode() == lines[2]
    # Unpacked once, and kept in memory for what is written.
    stages = kept.stats["stages"]
    assert stages["read"]["unpacked"] >= len(lines[1] + lines[2]) > stages["write"]["unpacked"]
    nk.dedup(corpus, output=tmp_path / "kept.jsonl")
    assert (tmp_path / "kept.jsonl").read_text() == lines[0] + lines[2]
    with pytest.raises(nk.FileError, match="is not empty"):
        nk.dedup(corpus, output=f"{tmp_path}/kept/")


def test_dedup_of_a_file_gives_its_records(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    records = [{"text": text, "n": i, "more": {"x": [i]}} for i, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    first = stars(len(TEXTS), TRUTH)
    result = nk.dedup(path, **EXACT)
    assert result.kept.to_pylist() == [record for i, record in enumerate(records) if first[i] == i]
    assert result.mask.tolist() == [f == i for i, f in enumerate(first)]


def test_keep_by_a_field() -> None:
    table = pa.table({"text": ["a b c d e f g"] * 3, "score": [1.0, 3.0, 2.0]})
    assert nk.dedup(table, keep="max:score").kept["score"].to_pylist() == [3.0]
    assert nk.dedup(table.to_pandas(), keep="min:score").kept["score"].tolist() == [1.0]


def failing_reader() -> pa.RecordBatchReader:
    def batches():  # type: ignore[no-untyped-def]
        yield pa.record_batch({"text": ["a b c d e"]})
        raise pa.ArrowInvalid("half way")

    return pa.RecordBatchReader.from_batches(pa.schema({"text": pa.string()}), batches())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nk.pairs(["a"], threshold=2), nk.ParameterError, "threshold"),
        (lambda: nk.pairs(["a"], threshold="x"), nk.ParameterError, "threshold is x; it must be a number"),
        (lambda: nk.pairs(["a"], shingle="words:0"), nk.ParameterError, "words:K"),
        (lambda: nk.pairs(["a"], exact=True, recall=0.5), nk.ParameterError, "recall"),
        (lambda: nk.pairs(["a"], treshold=0.5), TypeError, "did you mean 'threshold'"),
        (lambda: nk.pairs("nothing.jsonl"), nk.FileError, "does not exist"),
        (lambda: nk.pairs(pa.table({"body": ["x"]})), nk.FileError, "text"),
        (lambda: nk.pairs(pa.table({"text": [1, 2]})), nk.FileError, "not text"),
        (lambda: nk.pairs(["a", None]), nk.InputError, "<table>:2"),
        (lambda: nk.pairs({"text": 3}), nk.FileError, "not text"),
        (lambda: nk.pairs(3), nk.ParameterError, "int"),
        (lambda: nk.pairs(b"abc"), nk.ParameterError, "bytes"),
        (lambda: nk.pairs(["a", 1]), nk.ParameterError, "one kind"),
        (lambda: nk.pairs({1: "a", "x": "a"}), nk.ParameterError, "one kind"),
        (lambda: nk.pairs({"x": "a"}, text="id"), nk.ParameterError, "both called `id`"),
        (lambda: nk.pairs(["\ud800"]), nk.ParameterError, "surrogates"),
        (lambda: nk.pairs(np.ones((2, 0)), as_="vector", within=1), nk.ParameterError, "component"),
        (lambda: nk.pairs(np.ma.ones((2, 2)), as_="vector", within=1), nk.ParameterError, "masked"),
        (lambda: nk.pairs(np.array(["a", float("nan")], dtype=object)), nk.InputError, "<table>:2"),
        (lambda: nk.pairs(pd.DataFrame({"id": [1], "body": ["x"]})), nk.FileError, "`body`"),
        (lambda: nk.pairs(pd.DataFrame([["a", "b"]], columns=["text", "text"])), nk.ParameterError, "several"),
        (lambda: nk.pairs(failing_reader()), nk.ParameterError, "half way"),
        (lambda: nk.pairs(np.zeros((2, 2, 2))), nk.ParameterError, "3 dimensions"),
        (lambda: nk.pairs(np.array([[1.0, np.nan]]), as_="vector", within=1), nk.InputError, "NaN"),
        (lambda: nk.pairs(pa.table({"id": [1, 1], "text": ["a", "b"]})), nk.InputError, "was there before"),
        (lambda: nk.top(["a"], k=0), nk.ParameterError, "k is 0; it must be at least 1"),
        (lambda: nk.dedup(["a"], keep="last"), nk.ParameterError, "longest"),
        (lambda: nk.dedup([[0.5]], as_="vector"), nk.ParameterError, "within is required"),
    ],
)
def test_errors_say_what_to_do(call, error, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_errors_are_a_small_family() -> None:
    for error in (nk.ParameterError, nk.InputError, nk.FileError):
        assert issubclass(error, nk.NearkinError)
    assert issubclass(nk.ParameterError, ValueError) and issubclass(nk.FileError, OSError)


def test_records_that_are_skipped_are_warned_of_where_they_were_given() -> None:
    texts = ["a b c d e", None, "a b c d e"]
    for call in (nk.pairs, nk.top, nk.dedup):
        with pytest.warns(nk.NearkinWarning, match="<table>:2") as told:
            result = call(texts, on_error="skip")
        assert told[0].filename == __file__
    assert rows(nk.pairs(texts[::2])) == [(0, 1, 1.0)]
    assert result.kept == ["a b c d e"]


def test_a_numbered_column_of_pandas_can_be_the_text() -> None:
    frame = pd.DataFrame({0: TEXTS, "id": range(len(TEXTS))})
    assert rows(nk.pairs(frame, text="0", **EXACT)) == TRUTH


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    path, temp = tmp_path / "a.jsonl", tmp_path / "temp"
    temp.mkdir()
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    nk.pairs(path, temp=temp)
    nk.top(path, temp=temp)
    nk.dedup(path, temp=temp)
    assert list(temp.iterdir()) == []


def test_nothing_and_little() -> None:
    for data in ([], pa.table({"text": pa.array([], pa.string())}), pd.DataFrame({"text": []}, dtype=str)):
        assert rows(nk.pairs(data)) == []
    assert nk.dedup([]).kept == [] and nk.dedup({}).kept == {}
    assert rows(nk.pairs([set(), set()], as_="set")) == []
    assert nk.dedup(["", "", " "]).kept == ["", "", " "]
    assert nk.dedup(["one"]).kept == ["one"]


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
def test_identical_german_texts_are_a_pair_under_stop_words() -> None:
    german, other = "Wer andern eine Grube gräbt, fällt selbst hinein.", "Morgenstund hat Gold im Mund."
    texts = [german, other, "", german, "...", "", "...", "!"]
    ways: list[dict[str, Any]] = [
        {},
        {"exact": True},
        {"bands": 3, "rows": 2},
        {"and_or": "or(8, minhash)"},
        {"measure": "containment"},
        {"measure": "cosine"},
    ]
    for way in ways:
        found = nk.pairs(texts, shingle="stopwords", **way)
        assert rows(found) == [(0, 3, 1.0), (4, 6, 1.0)], way
    assert nk.dedup(texts, shingle="stopwords").kept == [german, other, "", "...", "", "!"]
    assert rows(nk.top(texts, shingle="stopwords"))[0][:2] == (0, 3)
    assert nk.compare(german, german, shingle="stopwords")["jaccard"] == 1.0
    assert nk.compare(german, other, shingle="stopwords")["jaccard"] == 0.0
    assert nk.compare("", "")["jaccard"] == 0.0
    index = nk.Index(shingle="stopwords")
    index.add_many(range(len(texts)), texts)
    assert index.query(german) == [(0, 1.0), (3, 1.0)] and index.query("") == []


def test_bags_with_large_counts_are_those_of_brute_force() -> None:
    rng = random.Random(4)
    counts = [Counter({f"e{rng.randrange(12)}": rng.choice([1, 10**3, 10**6, 10**9]) for _ in range(8)}) for _ in range(60)]
    want = [
        (i, j, (a & b).total() / (a | b).total())
        for (i, a), (j, b) in itertools.combinations(enumerate(counts), 2)
        if (a & b).total() / (a | b).total() >= 0.4
    ]
    assert len(want) > 20
    bags = [dict(bag) for bag in counts]
    assert rows(nk.pairs(bags, as_="bag", threshold=0.4)) == want
    found = nk.dedup(bags, as_="bag", threshold=0.4)
    similar = {(i, j) for i, j, _ in want}
    kept: list[int] = []
    for item in range(len(bags)):
        if not any((first, item) in similar for first in kept):
            kept.append(item)
    assert np.flatnonzero(found.mask).tolist() == kept
    assert nk.stats(nk.pairs(bags, as_="bag", threshold=0.4))["way"] == "exact"
    # Minhashes are those of copies.
    with pytest.raises(nk.NearkinError, match="which take as much memory as"):
        nk.pairs(bags, as_="bag", threshold=0.4, approximate=True)


def test_a_list_of_records_is_a_table() -> None:
    records: list[dict[str, Any]] = [
        {"id": "x", "text": "a b c d e f", "more": {"any": 1}},
        {"id": "y", "text": "A B C D E F", "more": object},
        {"id": "z", "text": "u v w x y z"},
    ]
    assert nk.pairs(records).to_pylist() == [{"a": "x", "b": "y", "similarity": 1.0}]
    assert nk.dedup(records).kept == [records[0], records[2]]
    with pytest.raises(nk.InputError, match=":3:"):
        nk.pairs([*records[:2], {"id": "z"}])
    # Where dicts are items, they stay what they are.
    assert nk.pairs([{"a": 1, "b": 2}, {"a": 1, "b": 2}], as_="bag").num_rows == 1


@pytest.mark.parametrize("empty", [pd.DataFrame({"text": []}), pl.DataFrame({"text": []}), pa.table({"text": []})])
def test_nothing_is_a_collection_of_texts(empty: Any) -> None:
    assert nk.pairs(empty).num_rows == 0
    assert len(nk.dedup(empty).kept) == 0


def test_texts_that_are_all_missing_are_skipped() -> None:
    with pytest.warns(UserWarning):
        found = nk.dedup(pl.DataFrame({"text": [None, None]}), on_error="skip")
    assert (found.stats["items"], found.stats["skipped"]) == (0, 2)


def test_names_of_columns_may_be_numbers() -> None:
    assert nk.pairs(pd.DataFrame({0: ["a b", "a b"]}), text=0).num_rows == 1


def test_dedup_grows_a_collection(tmp_path: Path) -> None:
    old = ["the cat sat on the mat all day", "no"]
    new = [
        {"id": "a", "text": "the cat sat on the mat all day long", "n": 1, "title": "A"},
        {"id": "b", "text": "one two three four five six", "n": 2, "title": "B"},
        {"id": "c", "text": "one two three four five six", "n": 3},
        {"id": "d", "text": "no", "n": None, "title": None},
        {"id": "e", "text": "yes", "n": 4},
    ]
    options: dict[str, Any] = {"threshold": 0.5, "keep": "prefer:title=X,B|max:n", "removed_fields": ["title"]}
    result = nk.dedup(new, old, **options)
    assert [record["id"] for record in result.kept] == ["b", "e"]
    assert result.mask.tolist() == [False, True, False, False, True]
    assert result.clusters.to_pydict() == {
        "id": ["a", "b", "c", "d", "e"],
        "cluster": ["0", "b", "b", "1", "e"],
        "kept": [False, True, False, False, True],
        "similarity": [0.8, 1.0, 1.0, 1.0, 1.0],
        "old": [True, False, False, True, False],
    }
    removed = result.removed.to_pydict()
    assert removed["id"] == ["a", "c", "d"] and removed["kept"] == ["0", "b", "1"]
    assert removed["line"] == [1, 3, 4] and removed["kept_line"] == [1, 2, 2]
    assert removed["reason"] == ["similar", "identical", "identical"]
    assert removed["title"] == ["A", None, None]
    assert (result.stats["old"], result.stats["kept"]) == (2, 2)
    path, gone = tmp_path / "new.jsonl", tmp_path / "gone.csv"
    path.write_text("".join(json.dumps(record) + "\n" for record in new))
    result = nk.dedup(path, pl.DataFrame({"text": old}), output=tmp_path / "kept.jsonl", removed=gone, **options)
    assert result.mask.tolist() == [False, True, False, False, True]
    assert gone.read_text().splitlines()[1] == f"a,{path},1,0,<against>,1,0.8,similar,A"
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 2
    with pytest.raises(nk.ParameterError, match="keep"):
        nk.dedup(new, keep="prefer:title")
    with pytest.raises(nk.FileError, match="no record has a field `titel`"):
        nk.dedup(new, keep="max:titel")


def test_the_other_collection_may_name_its_columns_otherwise() -> None:
    text = "the cat sat on the mat all day long"
    new = pa.table({"text": [text, "something else altogether here now then"], "id": ["n1", "n2"]})
    old = pa.table({"prose": [text], "nr": [7]})
    fields: dict[str, str] = {"against_text": "prose", "against_id": "nr"}
    expected = [{"a": "n1", "b": 7, "similarity": 1.0}]
    assert [{**row, "b": int(row["b"])} for row in nk.pairs(new, old, **fields).to_pylist()] == expected  # type: ignore[arg-type]
    result = nk.dedup(new, old, **fields)  # type: ignore[arg-type]
    assert result.kept.to_pylist() == [{"text": "something else altogether here now then", "id": "n2"}]
    assert nk.dedup(new.to_pylist(), old.to_pylist(), **fields).kept[0]["id"] == "n2"  # type: ignore[arg-type]
    assert nk.pairs([text, "x"], [text], against_text="prose").num_rows == 1
    with pytest.raises(nk.NearkinError, match="against_text"):
        nk.dedup(new, old)
    with pytest.raises(nk.ParameterError, match="against"):
        nk.pairs(new, against_text="prose")
