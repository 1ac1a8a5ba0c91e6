"""Two items of every kind, upper limits, estimates, and what functions promise."""

from __future__ import annotations

import math

import nearkin as nk
import numpy as np
import pyarrow as pa
import pytest

BUYS = {"ann": {"milk", "bread"}, "bob": {"milk", "beer"}, "cleo": {"tea"}}


def test_s1_8_two_sets_and_what_chance_gives() -> None:
    pair = nk.compare("ann", "bob", data=BUYS, as_="set", expected=True)
    assert (pair["shared"], pair["only_a"], pair["only_b"]) == (["milk"], ["bread"], ["beer"])
    assert math.isclose(pair["jaccard"], 1 / 3)
    # Of 36 pairs of sets of two of four elements, 6 are equal and 24 share one.
    assert math.isclose(pair["expected"]["jaccard"], 14 / 36)
    assert "expected by chance, of 4 elements" in str(pair)


def test_items_that_are_given() -> None:
    assert math.isclose(nk.compare(np.array([1, 2, -1]), [2, 1, 1], as_="vector")["angle"], 60)
    assert nk.compare("abcde", "acfdeg", as_="string")["edit"] == 3
    assert nk.compare("10101", "11110", as_="bits", digits="binary")["hamming"] == 3
    assert math.isclose(nk.compare({"a": 3, "b": 1}, {"a": 2, "b": 2, "c": 1}, as_="bag")["bag_sum"], 1 / 3)


def test_two_records() -> None:
    shops = pa.table({"id": [1, 2], "name": ["Art's Deli", "Arts Deli"], "floor": [3, 5]})
    fields = nk.compare(1, 2, data=shops, fields="all")["fields"]
    assert fields["name"]["edit"] == 1 and fields["floor"]["difference"] == 2
    assert list(nk.compare(1, 2, data=shops, fields=["name"])["fields"]) == ["name"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nk.compare([1], [2]), "as_"),
        (lambda: nk.compare({1}, {2}, as_="set", passages=True), "passages"),
        (lambda: nk.compare("a", "b", expected=0), "expected is 0"),
        (lambda: nk.compare("ann", "eve", data=BUYS, as_="set"), "no item has the id `eve`"),
        (lambda: nk.compare("a", "b", fields="all"), "data"),
        (lambda: nk.pairs(BUYS, as_="set", at_most=0.1), "at_most is 0.1"),
        (lambda: nk.pairs(BUYS, as_="set", estimate=True, exact=True), "estimate"),
        (lambda: nk.amplify.best_or(0.1, 0.2), "p2 is 0.2"),
        (lambda: nk.amplify.Sensitive.of("bits", 1, 4, as_="bits"), "bits"),
    ],
)
def test_wrong_uses_say_what_to_do(call: object, told: str) -> None:
    with pytest.raises(nk.NearkinError, match=told):
        call()  # type: ignore[operator]


def test_s8_9_pairs_between_two_limits() -> None:
    sets = {"x": {1, 2, 3}, "y": {2, 3, 4}, "z": {1, 2, 3}}
    found = nk.pairs(sets, as_="set", threshold=0.4, at_most=0.9).to_pylist()
    assert [(row["a"], row["b"], row["similarity"]) for row in found] == [("x", "y", 0.5), ("y", "z", 0.5)]
    points = np.array([[0.0], [1.0], [3.0]])
    found = nk.pairs(points, as_="vector", within=2, at_least=1.5).to_pylist()
    assert found == [{"a": 1, "b": 2, "distance": 2.0}]


def test_s4_6_estimates_are_marked() -> None:
    found = nk.pairs({"x": {1, 2, 3}, "y": {2, 3, 4}}, as_="set", threshold=0.2, estimate=100)
    assert found.column_names == ["a", "b", "estimate"]
    # 0.5 in truth: five standard errors of 0.05.
    assert abs(found["estimate"][0].as_py() - 0.5) <= 0.25
    assert nk.stats(found)["estimate"]["functions"] == 100


def test_s5_1_and_s8_10_what_functions_promise() -> None:
    planes = nk.amplify.Sensitive.of("hyperplane", 45, 90, as_="vector", measure="cosine")
    assert (planes.p1, planes.p2) == (0.75, 0.5)
    better = planes.amplified(nk.amplify.function("hyperplane").and_(2))
    assert (better.p1, better.p2) == (0.5625, 0.25)
    p1, p2 = 0.16**3, 0.2**6
    best = min(range(1, 5000), key=lambda n: (1 - p1) ** n + 1 - (1 - p2) ** n)
    assert nk.amplify.best_or(p1, p2) == best == 1030
