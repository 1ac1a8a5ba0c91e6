"""One pair, by every measure that applies."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin import _nearkin
from nearkin._columns import one_input, record_input
from nearkin._errors import ParameterError
from nearkin._options import CompareOptions, ItemOptions, ShingleOptions, as_json, checked

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Comparison", "compare"]


class Comparison(dict[str, Any]):
    """Measures by their names. ``str()`` of it is what the command prints: a diff, or passages side by side."""

    def __init__(self, measures: dict[str, Any], text: str) -> None:
        super().__init__(measures)
        self._text = text

    def __str__(self) -> str:
        return self._text


def compare(
    a: object, b: object, *, data: object = None, **options: Unpack[CompareOptions]
) -> Comparison:
    """Compare two items by every measure that applies to them.

    Two texts, or two files given as `pathlib.Path`: ``["passages"]`` has the three longest passages that both texts have,
    wherever they stand. Each has the number of ``words`` that are the same, and for ``a`` and ``b`` the ``text``, its
    ``start`` and ``end`` in characters, and its ``line`` and ``last_line``; ``differ`` has what differs inside, likewise.
    With ``passages=True`` all passages are there, and ``str()`` shows them side by side. ``["covered"]`` is the share of
    each text's words that they cover.

    With ``as_``, two sets, bags, vectors, bit strings, strings or answers. Sets and bags have ``["shared"]``,
    ``["only_a"]`` and ``["only_b"]``.

    Parameters
    ----------
    data : optional
        A collection, as for `pairs`. Then `a` and `b` are the ids of two of its items.
    expected : int or True, optional
        How many elements there are. ``["expected"]`` then has what two random sets of these sizes have in common, so that you
        see whether a similarity is large. With `data`, ``True`` counts the distinct elements of the collection.
    fields : list of str or "all", optional
        With `data`: compare two records by these fields.
    passages : bool
        Whether to find all passages.
    least_words : int, optional
        The smallest number of equal words in a row that make a passage. Default: as many as a shingle has, or 5.

    Examples
    --------
    >>> import nearkin as nk
    >>> pair = nk.compare("the cat sat on the mat", "the cat sat on a mat", shingle="words:2")
    >>> round(pair["jaccard"], 3)
    0.429
    >>> both = nk.compare("one two three four five six", "six, five; ONE TWO THREE FOUR", least_words=3)
    >>> [(found["words"], found["b"]["text"], found["b"]["start"]) for found in both["passages"]]
    [(4, 'ONE TWO THREE FOUR', 11)]
    >>> round(nk.compare([1, 2, -1], [2, 1, 1], as_="vector")["angle"], 6)
    60.0
    >>> buys = {"ann": {"milk", "bread"}, "bob": {"milk", "beer"}, "cleo": {"tea"}}
    >>> pair = nk.compare("ann", "bob", data=buys, as_="set", expected=True)
    >>> round(pair["jaccard"], 3), pair["shared"], round(pair["expected"]["jaccard"], 3)
    (0.333, ['milk'], 0.389)
    """
    given = checked(options, CompareOptions)
    view: dict[str, Any] = {name: given.pop(name) for name in ("passages", "least_words", "expected", "fields") if name in given}
    if "expected" in view:
        view["expected"] = _universe(view["expected"])
    kind = given.get("as_", "text")
    if data is None and kind == "text" and "fields" not in view:
        return _texts(a, b, given, view)
    for name in ("passages", "least_words"):
        if view.pop(name, None):
            raise ParameterError(f"{name} is given; it must be left out: only two texts have passages here")
    if isinstance(view.get("fields"), str):
        view["fields"] = [view["fields"]]
    if data is None:
        if "fields" in view:
            raise ParameterError("fields are given; they are of records, so give data and two ids")
        names, ids, places = ["a", "b"], ["0", "1"], one_input([a, b], given).given
    else:
        names = ids = [str(a), str(b)]
        places = one_input(data, given).given if "fields" not in view else record_input(data, given.get("id")).given
    asked = as_json(given, ItemOptions)
    told = json.loads(_nearkin.compare_items(asked, names, ids, places, json=True, **view))
    return Comparison(told, _nearkin.compare_items(asked, names, ids, places, json=False, **view))


def _texts(a: object, b: object, given: dict[str, Any], view: dict[str, Any]) -> Comparison:
    for side in (a, b):
        if not isinstance(side, (str, os.PathLike)):
            what = f"an item is of type {type(side).__name__}; it must be a text or a pathlib.Path, or say what it is with as_"
            raise ParameterError(what)
    cut = as_json(given, ShingleOptions)
    sides: list[Any] = [a, b]
    texts = [x if isinstance(x, str) else Path(x).read_text(encoding="utf-8") for x in sides]
    names = [name if isinstance(x, str) else os.fspath(x) for name, x in zip("ab", sides, strict=True)]
    told = json.loads(_nearkin.compare(cut, names, texts, json=True, **view))
    return Comparison(told, _nearkin.compare(cut, names, texts, json=False, **view))


def _universe(expected: bool | int) -> int | None:
    """How many elements there are; 0 for those of the collection."""
    if expected is True:
        return 0
    if expected is False:
        return None
    if not isinstance(expected, int) or expected < 1:
        raise ParameterError(f"expected is {expected!r}; it must be a number of elements, or True")
    return expected
