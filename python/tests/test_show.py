"""`nk.show`: the figures of *Mining of Massive Datasets* from Python, and what wrong items get."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nearkin as nk

FOUR: dict[str, Any] = {"S1": "a,d", "S2": ["c"], "S3": {"b", "d", "e"}, "S4": ("a", "c", "d")}
"""The sets of figure 3.2, in all ways to write a set."""


def column(shown: nk.show.Shown, table: str, name: str) -> list[Any]:
    values: list[Any] = shown.table(table)[name].to_pylist()
    return values


def test_s2_1_shingles_and_who_has_them() -> None:
    shown = nk.show.shingles("abcdabd", "abcd", shingle="chars:2")
    assert column(shown, "shingles", "shingle") == ["ab", "bc", "cd", "da", "bd"]
    assert column(shown, "shingles", "D1") == [2, 1, 1, 1, 1]


def test_s3_9_the_matrix_and_its_permutation() -> None:
    shown = nk.show.matrix(FOUR, permutation="b,e,a,d,c")
    assert column(shown, "matrix", "S4") == [1, 0, 1, 1, 0]
    assert column(shown, "permuted", "element") == ["b", "e", "a", "d", "c"]
    assert column(shown, "pairs", "Jaccard") == pytest.approx([0, 1 / 4, 2 / 3, 0, 1 / 3, 1 / 5])


@pytest.mark.parametrize("order", ["b,e,a,d,c", list("beadc"), ["b,e,a,d,c"], [list("beadc")]])
def test_s3_1_minhashes_by_a_permutation(order: Any) -> None:
    shown = nk.show.signatures(FOUR, permutation=order)
    assert shown.table("elements").select(["S1", "S2", "S3", "S4"]).to_pylist() == [
        {"S1": "a", "S2": "c", "S3": "b", "S4": "a"}
    ]


def test_s3_1_all_orders_agree_as_often_as_sets_are_similar() -> None:
    shown = nk.show.estimate(FOUR, all_permutations=True)
    assert column(shown, "pairs", "sig/sig") == pytest.approx(column(shown, "pairs", "col/col"))
    assert column(shown, "pairs", "equal") == [0, 30, 80, 0, 40, 24]


@pytest.mark.parametrize("functions", ["x+1 mod 5, 3x+1 mod 5", ["x+1 mod 5", "3x+1 mod 5"]])
def test_s3_2_functions_row_by_row(functions: Any) -> None:
    shown = nk.show.signatures(FOUR, functions=functions)
    names = ["S1", "S2", "S3", "S4"]
    rows = shown.table("signatures").select(names).to_pylist()
    assert [[row[name] for name in names] for row in rows] == [[1, 3, 0, 1], [0, 2, 0, 0]]
    assert column(shown, "trace", "S3")[:4] == ["∞", "∞", "∞", "∞"]


def test_s3_4_and_s3_5_truncated_scans_and_groups() -> None:
    shown = nk.show.signatures(FOUR, permutation="b,e,a,d,c", truncate=2)
    assert [column(shown, "signatures", name) for name in FOUR] == [["∞"], ["∞"], [1], ["∞"]]
    three = {"S1": [4, 5, 6], "S2": [3, 4, 5], "S3": [2, 3, 4]}
    shown = nk.show.signatures(three, universe=range(8), groups=2)
    assert column(shown, "groups", "expected") == pytest.approx([1 / 3, 1 / 6, 1 / 2])


def test_s4_1_buckets() -> None:
    columns = [[1, 3, 0], [0, 2, 1], [0, 1, 3], [0, 2, 1], [2, 2, 1]]
    shown = nk.show.buckets(*columns, signatures=True, bands=1, rows=3)
    assert column(shown, "buckets", "who") == ["S2 S4"]


def test_s6_2_sketches_of_vectors() -> None:
    x, y = np.array([3, 4, 5, 6]), (4, 3, 2, 1)
    shown = nk.show.sketch(x, y, normal=[[1, -1, 1, 1], [-1, 1, -1, 1], [1, 1, -1, -1]])
    assert column(shown, "pairs", "estimated angle") == pytest.approx([120])
    shown = nk.show.sketch({"x": x, "y": y}, all_signs=True)
    normals = np.array(list(itertools.product([1, -1], repeat=4)))
    differ = ((normals @ x >= 0) != (normals @ np.array(y) >= 0)).mean()
    assert 180 * differ == 45
    assert column(shown, "pairs", "estimated angle") == pytest.approx([45])


def test_s6_3_buckets_on_lines() -> None:
    shown = nk.show.sketch([1, 2, 3], [0, 2, 4], [4, 3, 2], axes=True, width=[1, 2])
    assert column(shown, "pairs", "candidate") == ["yes", "no", "no", "yes", "yes", "yes"]


def test_s7_2_to_s7_9_strings() -> None:
    order = "aeiouzyxwvtsrqpnmlkjhgfdcb"
    shown = nk.show.prefix("qwerty", "asdfghjui", letters=True, order=order)
    assert column(shown, "strings", "string") == ["eywtrq", "aiusjhgfd"]
    shown = nk.show.prefix(list("acdefghijk"), threshold=0.8, order="abcdefghijk")
    assert column(shown, "strings", "prefix") == ["acd"]
    pyramid = shown.table("pyramid")
    assert (pyramid["q"].to_pylist(), pyramid["i"].to_pylist()) == (
        [7, 8, 9, 10, 11, 7, 8, 9, 7],
        [1, 1, 1, 1, 1, 2, 2, 2, 3],
    )
    assert column(nk.show.prefix(length=15, threshold=0.85), "strings", "symbols in the prefix") == [3]


def test_s3_3_s7_8_and_s7_1() -> None:
    assert column(nk.show.family(size=4, values=100), "families", "ε")[:2] == [0, 0]
    slots = column(nk.show.perfect([10, 22, 37, 40, 52, 60, 70, 72, 75]), "keys", "slot")
    assert len(set(slots)) == 9
    assert column(nk.show.identical("abc", "abcd", "abc"), "items", "same as") == [None, None, "D1"]


def test_s6_5_the_near_neighbour_index() -> None:
    chance = np.random.default_rng(1)
    points = chance.normal(size=(100, 16))
    # Each point twice, the second time less than 1 away; other points are several times as far.
    vectors = np.concatenate([points, points + chance.normal(size=(100, 16)) / 16])
    shown = nk.show.near(*vectors, within=1.0, factor=2.0)
    index = shown.table("index").to_pylist()[0]
    assert index["n"] == 200 and index["2L"] == 2 * index["L"]
    assert index["ρ"] == pytest.approx(math.log(index["P1"]) / math.log(index["P2"]))
    assert index["k"] == math.ceil(math.log(200) / -math.log(index["P2"]))
    assert index["L"] == math.ceil(index["P1"] ** -index["k"])
    assert max(column(shown, "queries", "far items looked at")) <= index["2L"] + 1
    assert column(shown, "success", "share")[0] >= 0.5
    with pytest.raises(nk.NearkinError, match="within"):
        nk.show.near([1, 2], [2, 1])


def test_items_of_a_collection(tmp_path: Path) -> None:
    texts = {"one": "a b c d e f", "two": "a b c d e g", "three": "x y z u v w"}
    shown = nk.show.estimate(source=texts, shingle="words:2", ids=["two", "one"])
    assert column(shown, "pairs", "a") == ["two"]
    assert column(shown, "pairs", "col/col") == pytest.approx([4 / 6])
    (tmp_path / "sets.txt").write_text("a b\nb c\nd\n")
    shown = nk.show.matrix(source=tmp_path / "sets.txt", as_="set", first=2)
    assert shown.table("matrix").column_names == ["element", "0", "1"]


def test_forms() -> None:
    shown = nk.show.matrix({"A": ["<b>", "c"]})
    assert str(shown).startswith("Characteristic matrix\n") and "&lt;b&gt;" in shown._repr_html_()
    assert "\\begin{tabular}{lr}" in shown.to_latex()
    assert shown.to_dict()["tables"][0]["columns"] == ["element", "A"]
    assert repr(shown) == "<Shown matrix: matrix, sets, pairs>" and shown["sets"].num_rows == 1
    with pytest.raises(KeyError, match="there are matrix"):
        shown.table("nothing")


def test_wrong_items() -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: nk.show.shingles("...", "!"), "none of the texts has one"),
        (lambda: nk.show.signatures(FOUR, permutation="a,b"), "is missing"),
        (lambda: nk.show.signatures(FOUR, functions="x+1 mod 3"), "modulus of 5"),
        (lambda: nk.show.sketch([1, 2], [1, 2, 3]), "x2 with 3 components"),
        (lambda: nk.show.matrix(source=["a b"], ids=[4]), "no item has the id"),
        (lambda: nk.show.matrix(ids=[4]), "without a source"),
        (lambda: nk.show.matrix("a", source=["a b"]), "a source too"),
        (lambda: nk.show.matrix(7), "type int"),
    ]
    for call, message in cases:
        with pytest.raises(nk.NearkinError, match=message):
            call()
    with pytest.raises(TypeError, match="did you mean 'permutation'"):
        nk.show.signatures(FOUR, permutations="a")  # type: ignore[call-arg]
