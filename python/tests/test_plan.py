"""Plans: the same numbers as the command gives, where it is there, and the promise behind them."""

from __future__ import annotations

import builtins
import json
import os
import shutil
import subprocess
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearkin as nk

CASES: list[dict[str, Any]] = [
    {"threshold": 0.8, "recall": 0.95},
    {"threshold": 0.5, "recall": 0.99},
    {"threshold": 0.9, "recall": 0.9, "measure": "dice"},
    {"threshold": 0.4, "recall": 0.8, "measure": "bag-sum"},
    {"within": 0.3, "recall": 0.95},
    {"threshold": 0.8, "bands": (20, 5)},
]


def command() -> str | None:
    """The command, in NEARKIN_COMMAND or on the path."""
    return os.environ.get("NEARKIN_COMMAND") or shutil.which("nearkin")


@pytest.mark.skipif(command() is None, reason="the command nearkin is not there")
@pytest.mark.parametrize("case", CASES)
def test_the_command_gives_the_same_numbers(case: dict[str, Any]) -> None:
    program = command()
    assert program is not None
    arguments = [program, "plan", "--json"]
    for name, value in case.items():
        if name == "bands":
            arguments += ["--bands", str(value[0]), "--rows", str(value[1])]
        else:
            arguments += [f"--{name}", str(value)]
    told = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
    plan = nk.plan(**case)
    assert (plan.bands, plan.rows) == (told["bands"], told["rows"])
    assert str(plan.expression) == told["expression"]
    assert (plan.threshold, plan.recall) == (told["threshold"], told["recall"])
    assert plan.half_way == told["half_way"] and plan.fixed_point == told["fixed_point"]
    assert plan.steepest == (told["steepest"]["at"], told["steepest"]["slope"])
    assert plan.expression.formula == told["formula"] and plan.functions == told["functions"]
    assert plan.probability([point["s"] for point in told["curve"]]).tolist() == [
        point["p"] for point in told["curve"]
    ]


@pytest.mark.parametrize("case", CASES[:5])
def test_the_promise_is_kept_by_the_curve(case: dict[str, Any]) -> None:
    plan = nk.plan(**case)
    assert plan.recall == case["recall"]
    assert plan.probability(plan.jaccard_threshold) >= plan.recall
    fewer = nk.amplify.bands(plan.bands - 1, plan.rows).probability(plan.jaccard_threshold)
    assert fewer < plan.recall + (1 - plan.recall) / 100
    assert np.array_equal(plan.curve[:, 1], plan.probability(plan.curve[:, 0]))
    assert plan.curve.shape == (101, 2) and (np.diff(plan.curve[:, 1]) >= 0).all()


def test_how_it_looks() -> None:
    plan = nk.plan(threshold=0.8, recall=0.99)
    start = f"Plan(bands={plan.bands}, rows={plan.rows}, threshold=0.8, recall=0.99"
    assert repr(plan).startswith(start)
    html = plan._repr_html_()
    assert html.startswith("<table>") and html.count("<tr>") == 6 and str(plan.expression) in html
    assert nk.Index(threshold=0.8, recall=0.99).bands == (plan.bands, plan.rows)


def test_plots() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    plan = nk.plan(threshold=0.7)
    axes = plan.plot()
    assert plan.plot(axes) is axes
    x, y = axes.lines[0].get_data()
    assert np.array_equal(y, plan.probability(np.asarray(x)))
    assert axes.get_xlabel() == "Jaccard similarity"


def test_without_matplotlib_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        nk.plan().plot()


def test_data_is_looked_at() -> None:
    texts = [f"{'shared ' * 4}w{i} x{i} y{i}" for i in range(40)] + ["one two three four five six"] * 3
    forecast = nk.plan(texts, threshold=0.8).forecast
    assert forecast is not None and forecast["records"] == 43
    assert forecast["expected"]["similar"] == 3.0  # the three copies, all pairs being compared
    assert nk.plan(threshold=0.8).forecast is None
    sets = nk.plan([{1, 2, 3}, {1, 2, 3}, {4}], as_="set").forecast
    assert sets is not None and sets["expected"]["similar"] == 1.0
    told = nk.plan(pa.table({"body": texts}), text="body", threshold=0.8, bands=(20, 5)).forecast
    assert told is not None and told["records"] == 43


def test_what_is_wrong_is_said() -> None:
    wrong: list[dict[str, Any]] = [
        {"threshold": 0.0},
        {"threshold": 1.1},
        {"recall": 1.0},
        {"measure": "containment"},
        {"measure": "none"},
        {"shingle": "none"},
        {"threshold": 0.01, "recall": 0.99999},
        {"bands": (0, 5)},
    ]
    for case in wrong:
        with pytest.raises(nk.ParameterError):
            nk.plan(**case)
