"""One pair, by every measure that applies."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin import _nearkin
from nearkin._options import CompareOptions, ShingleOptions, as_json, checked

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
    a: str | os.PathLike[str], b: str | os.PathLike[str], **options: Unpack[CompareOptions]
) -> Comparison:
    """Compare two texts (or files, given as `pathlib.Path`) by every measure that applies.

    ``["passages"]`` has the three longest passages that both texts have, wherever they stand. Each has the number of
    ``words`` that are the same, and for ``a`` and ``b`` the ``text``, its ``start`` and ``end`` in characters, and its
    ``line`` and ``last_line``; ``differ`` has what differs inside, likewise. With ``passages=True`` all passages are
    there, and ``str()`` shows them side by side. ``["covered"]`` is the share of each text's words that they cover.

    Parameters
    ----------
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
    """
    given = checked(options, CompareOptions)
    view = {name: given.pop(name) for name in ("passages", "least_words") if name in given}
    cut = as_json(given, ShingleOptions)
    texts = [x if isinstance(x, str) else Path(x).read_text(encoding="utf-8") for x in (a, b)]
    names = ["a" if isinstance(a, str) else os.fspath(a), "b" if isinstance(b, str) else os.fspath(b)]
    told = json.loads(_nearkin.compare(cut, names, texts, json=True, **view))
    return Comparison(told, _nearkin.compare(cut, names, texts, json=False, **view))
