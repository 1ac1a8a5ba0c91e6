"""What a search will find and miss, before it runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from nearkin import _nearkin
from nearkin._arguments import band_pair
from nearkin._columns import one_input
from nearkin._options import Options, ReadOptions, as_json
from nearkin.amplify import Expression
from nearkin.amplify import bands as bands_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Unpack


@dataclass(frozen=True, repr=False)
class Plan:
    """The bands of a search, and the curve that follows from them.

    Attributes
    ----------
    bands, rows
        A pair becomes a candidate when it agrees in all rows of one band.
    expression
        The same as a value of :mod:`nearkin.amplify`.
    threshold
        As it was asked for, in the measure's own scale.
    jaccard_threshold
        The same as a Jaccard similarity of shingles, which the curve is over.
    recall
        The chance, promised, that a pair at just the threshold is found.
    measure, shingle
        How items are compared.
    forecast
        With data, what ``nearkin plan INPUT --json`` has under ``corpus``: ``records``, what is ``expected``, its
        ``standard_error``, and what either way would take.
    """

    bands: int
    rows: int
    expression: Expression
    threshold: float
    jaccard_threshold: float
    recall: float
    measure: str
    shingle: str
    forecast: dict[str, Any] | None = None

    @overload
    def probability(self, s: float) -> float: ...
    @overload
    def probability(self, s: npt.NDArray[Any] | list[float]) -> npt.NDArray[np.float64]: ...
    def probability(self, s: Any) -> Any:
        """The chance that a pair of Jaccard similarity `s` is compared; a number or an array."""
        return self.expression.probability(s)

    @property
    def functions(self) -> int:
        """Numbers in a sketch: bands times rows."""
        return self.bands * self.rows

    @property
    def half_way(self) -> float:
        """The similarity at which one of two pairs is compared."""
        return self.expression.half_way

    @property
    def fixed_point(self) -> float | None:
        """The similarity whose chance is just that similarity, if there is one between 0 and 1."""
        return self.expression.fixed_point

    @property
    def steepest(self) -> tuple[float, float]:
        """Where the curve is steepest, and how steep."""
        return self.expression.steepest

    @property
    def curve(self) -> npt.NDArray[np.float64]:
        """The curve at 101 similarities from 0 to 1: rows of similarity and chance."""
        at = np.linspace(0.0, 1.0, 101)
        return np.column_stack([at, self.probability(at)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the curve with matplotlib.

        Parameters
        ----------
        ax
            Where to draw; a new figure unless said.

        Returns
        -------
        matplotlib.axes.Axes
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            message = "plot needs matplotlib, which is not there; pip install matplotlib"
            raise ImportError(message) from error
        if ax is None:
            ax = plt.subplots()[1]
        at = np.linspace(0.0, 1.0, 501)
        ax.plot(at, self.probability(at), label=str(self.expression))
        marked = f"threshold {self.threshold:g}"
        ax.axvline(self.jaccard_threshold, color="0.6", linestyle="--", label=marked)
        ax.plot([self.half_way], [0.5], "o", color="0.3", label=f"half way at {self.half_way:.3f}")
        ax.set(xlabel="Jaccard similarity", ylabel="chance to be compared")
        ax.set(xlim=(0, 1), ylim=(0, 1.02))
        ax.legend(loc="best")
        return ax

    def _rows(self) -> list[tuple[str, str]]:
        fixed = self.fixed_point
        at, slope = self.steepest
        return [
            ("expression", str(self.expression)),
            ("threshold", f"{self.threshold:g} ({self.measure})"),
            ("recall", f"{self.recall:g}"),
            ("half way", f"{self.half_way:.4f}"),
            ("fixed point", "none" if fixed is None else f"{fixed:.4f}"),
            ("steepest", f"{slope:.2f} at {at:.4f}"),
        ]

    def __repr__(self) -> str:
        return (
            f"Plan(bands={self.bands}, rows={self.rows}, threshold={self.threshold:g}, "
            f"recall={self.recall:g}, half_way={self.half_way:.4f})"
        )

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in self._rows())
        return f"<table>{rows}</table>"


def plan(
    data: object = None,
    *,
    threshold: float = 0.8,
    recall: float = 0.99,
    shingle: str | None = None,
    measure: str | None = None,
    within: float | None = None,
    bands: tuple[int, int] | None = None,
    **options: Unpack[ReadOptions],
) -> Plan:
    """What a search will find and miss.

    Parameters
    ----------
    data
        A collection, as for `pairs`: then a sample of it is looked at, and `Plan.forecast` says how many pairs are
        expected to be found, missed and compared in vain.
    threshold
        Pairs at or above this similarity are to be found.
    recall
        The chance that a pair at just the threshold is found.
    shingle
        What a text is cut into; ``words:5`` unless said.
    measure
        ``jaccard``, ``bag``, ``bag-sum`` or ``dice``; ``jaccard`` unless said, ``bag`` with ``as_="bag"``.
    within
        A distance (``jaccard`` or ``bag``) instead of a threshold.
    bands
        Bands and rows to look at instead of the cheapest that keep the recall.
    **options
        With `data`, how it is read: ``text``, ``id`` and so on.

    Examples
    --------
    >>> import nearkin as nk
    >>> plan = nk.plan(threshold=0.8, recall=0.95)
    >>> plan
    Plan(bands=10, rows=6, threshold=0.8, recall=0.95, half_way=0.6373)
    >>> round(plan.probability(0.5), 4)
    0.1457
    """
    usual = "bag" if options.get("as_") == "bag" else "jaccard"
    count, rows, promised, jaccard = _nearkin.planned(
        threshold=threshold,
        within=within,
        recall=recall,
        shingle=shingle or "words:5",
        measure=measure or usual,
        bands=band_pair(bands),
    )
    forecast = None
    if data is not None:
        asked: dict[str, Any] = {**options, "measure": measure, "shingle": shingle}
        asked |= {"within": within} if within is not None else {"threshold": threshold}
        asked |= {"bands": count, "rows": rows} if bands is not None else {"recall": recall}
        told = _nearkin.plan(as_json(asked, Options), one_input(data, asked).given)
        forecast = json.loads(told)["corpus"]
    return Plan(
        bands=count,
        rows=rows,
        expression=bands_of(count, rows),
        threshold=threshold if within is None else 1.0 - within,
        jaccard_threshold=jaccard,
        recall=promised,
        measure=(measure or usual).replace("_", "-"),
        shingle=shingle or ("elements" if options.get("as_") in ("set", "bag") else "words:5"),
        forecast=forecast,
    )
