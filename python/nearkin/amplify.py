"""AND and OR of locality-sensitive functions, as values that know their curve.

An expression says when a pair becomes a candidate: ``or(20, and(5, minhash))`` when in one of 20
groups of 5 minhashes all agree. From the chance that one function agrees (for minhash, the
similarity) the chance of the whole follows. See *Mining of Massive Datasets*, 3.6.3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearkin import _nearkin
from nearkin._arguments import whole

__all__ = ["Expression", "Sensitive", "bands", "best_or", "function", "functions_needed", "parse"]


class Expression:
    """When a pair becomes a candidate.

    Made by :func:`parse`, :func:`function` or :func:`bands`; never changes.

    Examples
    --------
    >>> from nearkin import amplify
    >>> minhash = amplify.function("minhash")
    >>> expression = minhash.and_(5).or_(20)
    >>> print(expression)
    or(20, and(5, minhash))
    >>> expression == amplify.parse("or(20, and(5, minhash))")
    True
    >>> round(expression.probability(0.5), 4), round(expression.half_way, 4)
    (0.4701, 0.5087)
    >>> print(minhash.or_(4) & amplify.function("equal(city)"))
    and(or(4, minhash), equal(city))
    """

    __slots__ = ("_inner",)

    def __init__(self, text: str) -> None:
        self._inner = _nearkin.Expression(text)

    @classmethod
    def _of(cls, inner: _nearkin.Expression) -> Expression:
        expression = cls.__new__(cls)
        expression._inner = inner
        return expression

    def and_(self, count: int) -> Expression:
        """`count` of this, each of functions drawn anew, all of which must be satisfied."""
        return self._of(self._inner.repeated(True, whole(count, "count")))

    def or_(self, count: int) -> Expression:
        """`count` of this, each of functions drawn anew, one of which must be satisfied."""
        return self._of(self._inner.repeated(False, whole(count, "count")))

    def __and__(self, other: Expression) -> Expression:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._of(self._inner.joined(True, other._inner))

    def __or__(self, other: Expression) -> Expression:
        if not isinstance(other, Expression):
            return NotImplemented
        return self._of(self._inner.joined(False, other._inner))

    @overload
    def probability(self, p: float) -> float: ...
    @overload
    def probability(self, p: npt.NDArray[Any] | list[float]) -> npt.NDArray[np.float64]: ...
    def probability(self, p: Any) -> Any:
        """The chance that a pair becomes a candidate when every function agrees with chance `p`.

        Parameters
        ----------
        p
            A number, or an array of any shape; numbers outside 0..1 count as the end they are
            beyond.
        """
        return self._curve(p, False)

    @overload
    def missed(self, p: float) -> float: ...
    @overload
    def missed(self, p: npt.NDArray[Any] | list[float]) -> npt.NDArray[np.float64]: ...
    def missed(self, p: Any) -> Any:
        """The chance that it does not, accurate where it is tiny."""
        return self._curve(p, True)

    def _curve(self, p: Any, missed: bool) -> Any:
        at = np.asarray(p, dtype=np.float64)
        if at.ndim == 0:
            return self._inner.missed(float(at)) if missed else self._inner.probability(float(at))
        flat = pa.array(np.ascontiguousarray(at).ravel())
        return self._inner.curve(flat, missed).to_numpy().reshape(at.shape)

    def probability_with(self, **agreement: float) -> float:
        """The chance when each function agrees with a probability of its own.

        Names with an argument, such as ``equal(city)``, can be given as ``**{"equal(city)": 0.9}``.

        Examples
        --------
        >>> from nearkin import amplify
        >>> mixed = amplify.parse("and(or(2, minhash), line)")
        >>> mixed.probability_with(minhash=0.5, line=0.8)
        0.6000000000000001
        """
        return self._inner.probability_with(list(agreement.items()))

    def slope(self, p: float) -> float:
        """How steep the curve is at `p`."""
        return self._inner.slope(p)

    @property
    def half_way(self) -> float:
        """The p at which the chance is 1/2."""
        return self._inner.half_way

    @property
    def fixed_point(self) -> float | None:
        """The p that is left as it is: lower ones are lowered, higher ones raised.

        None where all are raised or all lowered.
        """
        return self._inner.fixed_point

    @property
    def steepest(self) -> tuple[float, float]:
        """Where the curve is steepest, and how steep."""
        return self._inner.steepest

    @property
    def functions(self) -> int:
        """How many functions are evaluated for an item."""
        return self._inner.functions

    @property
    def tables(self) -> int:
        """How many keys are kept of an item."""
        return self._inner.tables

    @property
    def names(self) -> list[str]:
        """The names of the functions, each once, in alphabetical order."""
        return self._inner.names

    @property
    def formula(self) -> str:
        """The curve as a formula in p, such as ``1-(1-p^5)^20``."""
        return self._inner.formula

    @property
    def latex(self) -> str:
        """The curve as a formula for LaTeX."""
        return self._inner.latex

    def __str__(self) -> str:
        return str(self._inner)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r})"

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self._inner == other._inner

    def __hash__(self) -> int:
        return hash(self._inner)

    def __reduce__(self) -> tuple[Any, ...]:
        return Expression, (str(self),)


@dataclass(frozen=True)
class Sensitive:
    """A (d1, d2, p1, p2)-sensitive family of functions.

    Pairs within `d1` agree with a chance of at least `p1`, pairs at `d2` or beyond with one of at most `p2`. Distances are in the
    scale of the measure: Jaccard distances, degrees, bits, lengths.

    Examples
    --------
    >>> from nearkin import amplify
    >>> minhash = amplify.Sensitive.of("minhash", 0.3, 0.6)
    >>> round(minhash.p1, 3), round(minhash.p2, 3)
    (0.7, 0.4)
    >>> planes = amplify.Sensitive.of("hyperplane", 30, 90, as_="vector", measure="cosine")
    >>> planes.p2
    0.5
    >>> better = planes.amplified(amplify.function("hyperplane").and_(4).or_(4))
    >>> round(better.p1, 4), round(better.p2, 4)
    (0.9281, 0.2275)
    """

    d1: float
    d2: float
    p1: float
    p2: float

    @classmethod
    def of(
        cls,
        function: str,
        d1: float,
        d2: float,
        *,
        as_: str | None = None,
        measure: str | None = None,
        bits: int | None = None,
    ) -> Sensitive:
        """What the functions of a name promise: ``minhash``; ``hyperplane`` with ``as_="vector", measure="cosine"``;
        ``line(4)`` with ``as_="vector"``; ``bits`` with ``as_="bits"`` and the number of `bits` of an item."""
        options = {name: value for name, value in (("as", as_), ("measure", measure)) if value is not None}
        p1, p2 = _nearkin.sensitivity(json.dumps(options), function, bits, d1, d2)
        return cls(d1, d2, p1, p2)

    def amplified(self, expression: Expression) -> Sensitive:
        """What an expression of these functions promises at the same distances."""
        return Sensitive(self.d1, self.d2, expression.probability(self.p1), expression.probability(self.p2))


def best_or(p1: float, p2: float) -> int:
    """How many functions an OR should have so that its misses and its false candidates are fewest together.

    Parameters
    ----------
    p1, p2
        The chances that one function agrees on a pair that belongs together, and on another.

    Examples
    --------
    >>> from nearkin import amplify
    >>> amplify.best_or((0.2 * 0.8) ** 3, 0.2**6)
    1030
    """
    return _nearkin.best_or(p1, p2)


def parse(text: str) -> Expression:
    """The expression in a text such as ``or(20, and(5, minhash))``.

    ``and(…)`` and ``or(…)`` hold a count and one expression, or several expressions; everything
    else is a function.

    Raises
    ------
    ParameterError
        When it is none, with the place and what was expected there.
    """
    return Expression(text)


def function(name: str) -> Expression:
    """The function of a name: a word, and an argument in parentheses where it takes one."""
    return Expression._of(_nearkin.Expression.function(name))


def bands(count: int, rows: int, function: str = "minhash") -> Expression:
    """`count` bands of `rows` rows: one band must agree in all its rows.

    Examples
    --------
    >>> from nearkin import amplify
    >>> print(amplify.bands(20, 5))
    or(20, and(5, minhash))
    """
    return Expression._of(_nearkin.Expression.function(function)).and_(rows).or_(count)


def functions_needed(delta: float, epsilon: float, similarity: float) -> int:
    """How many functions an estimate from sketches alone needs.

    With this number of functions, a pair of at least this similarity is estimated below
    (1 - `delta`) of it with a chance of at most `epsilon` (by Chernoff's bound).

    Examples
    --------
    >>> from nearkin import amplify
    >>> amplify.functions_needed(0.1, 0.05, 0.8)
    749
    """
    return _nearkin.functions_needed(delta, epsilon, similarity)
