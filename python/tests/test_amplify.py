"""Expressions against their formulas, and against drawing at random."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import nearkin as nk
from nearkin import amplify

P = np.linspace(0, 1, 41)


def test_the_curve_of_bands() -> None:
    for count, rows in [(1, 1), (20, 5), (4, 4), (100, 10), (1, 7), (7, 1)]:
        expression = amplify.bands(count, rows)
        expected = 1 - (1 - P**rows) ** count
        assert np.allclose(expression.probability(P), expected, rtol=1e-12, atol=1e-12)
        assert np.allclose(expression.missed(P), (1 - P**rows) ** count, rtol=1e-9, atol=1e-12)
        half_way = (1 - 0.5 ** (1 / count)) ** (1 / rows)
        assert expression.half_way == pytest.approx(half_way, rel=1e-12)
        assert expression.functions == count * rows
        slopes = np.gradient(expression.probability(np.linspace(0, 1, 100_001)), 1e-5)
        at, steep = expression.steepest
        assert steep == pytest.approx(slopes.max(), rel=1e-4)
        assert expression.slope(at) == steep
    expression = amplify.bands(20, 5)
    assert expression.fixed_point is not None
    assert expression.probability(expression.fixed_point) == pytest.approx(expression.fixed_point)
    assert amplify.bands(20, 1).fixed_point is None
    assert expression.formula == "1-(1-p^5)^20" and expression.latex == "1-(1-p^{5})^{20}"


def test_builders_say_what_parsing_says() -> None:
    minhash, line, city = map(amplify.function, ("minhash", "line", "equal(city)"))
    cases = {
        "or(20, and(5, minhash))": minhash.and_(5).or_(20),
        "and(4, or(4, minhash))": minhash.or_(4).and_(4),
        "and(or(4, minhash), equal(city))": minhash.or_(4) & city,
        "or(minhash, line, equal(city))": minhash | line | city,
        "or(and(minhash, line), equal(city))": minhash & line | city,
        "and(minhash, or(line, equal(city)))": minhash & (line | city),
        "and(minhash, line, equal(city))": minhash & (line & city),
    }
    for text, built in cases.items():
        assert str(built) == text and built == amplify.parse(text)
        assert hash(built) == hash(amplify.parse(text.upper().replace("CITY", "city")))
        assert pickle.loads(pickle.dumps(built)) == built
        assert repr(built) == f"Expression({text!r})"
    assert (minhash & line) != (line & minhash)
    assert cases["or(minhash, line, equal(city))"].names == ["equal(city)", "line", "minhash"]


def test_mixed_expressions_by_drawing() -> None:
    # 40,000 draws: a standard error of at most 0.0025; 0.015 is six of them.
    expression = amplify.parse("or(and(2, a), and(or(3, b), c))")
    chances = {"a": 0.6, "b": 0.3, "c": 0.7}
    draw = random.Random(1)

    def agrees(name: str) -> bool:
        return draw.random() < chances[name]

    hits = 0
    for _ in range(40_000):
        first = agrees("a") & agrees("a")
        second = (agrees("b") | agrees("b") | agrees("b")) & agrees("c")
        hits += first or second
    assert expression.probability_with(**chances) == pytest.approx(hits / 40_000, abs=0.015)
    with pytest.raises(nk.ParameterError, match="missing for c"):
        expression.probability_with(a=0.5, b=0.5)


def test_shapes() -> None:
    expression = amplify.bands(3, 2)
    assert isinstance(expression.probability(0.5), float)
    assert isinstance(expression.probability(np.float32(0.5)), float)
    assert expression.probability(np.full((2, 3), 0.5)).shape == (2, 3)
    assert expression.probability([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert expression.probability(-1.0) == 0.0 and expression.probability(2.0) == 1.0


def test_what_is_wrong_is_said() -> None:
    for wrong in ("", "or(20, and(5, minhash)", "and()", "or(0, minhash)", "and(5, 5)", "minhash)"):
        with pytest.raises(nk.ParameterError, match="expression"):
            amplify.parse(wrong)
    with pytest.raises(nk.ParameterError, match="words"):
        amplify.function("no word")
    with pytest.raises(nk.ParameterError, match="65536"):
        amplify.function("minhash").and_(300).or_(300)
    with pytest.raises(TypeError):
        amplify.function("a") & "b"  # type: ignore[operator]
