"""One pair, by every measure that applies."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearkin import _nearkin
from nearkin._options import Cutting, flags

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Comparison", "compare"]


class Comparison(dict[str, Any]):
    """Measures by their names; ``str()`` of it is what the command prints, with a diff."""

    def __init__(self, measures: dict[str, Any], text: str) -> None:
        super().__init__(measures)
        self._text = text

    def __str__(self) -> str:
        return self._text


def compare(
    a: str | os.PathLike[str], b: str | os.PathLike[str], **options: Unpack[Cutting]
) -> Comparison:
    """Two texts (or files, given as `pathlib.Path`) compared by every measure that applies.

    Examples
    --------
    >>> import nearkin as nk
    >>> pair = nk.compare("the cat sat on the mat", "the cat sat on a mat", shingle="words:2")
    >>> round(pair["jaccard"], 3)
    0.429
    """
    words = flags(options, Cutting)
    texts = [x if isinstance(x, str) else Path(x).read_text(encoding="utf-8") for x in (a, b)]
    names = ["a" if isinstance(a, str) else os.fspath(a), "b" if isinstance(b, str) else os.fspath(b)]
    told = _nearkin.compare([*words, "--json"], names, texts)
    return Comparison(json.loads(told), _nearkin.compare(words, names, texts))
