"""What a few items become, step by step: every table that a course on the subject draws.

Each function returns a `Shown`: its tables look right in a notebook, ``str()`` is what the command ``nearkin show``
prints, and `Shown.table` hands on one table as Arrow.

Items are given one by one, by name in a dict, or taken from a collection with ``source`` and ``ids``. A text is a str, a
set an iterable of elements or a str such as ``"a,b,d"``, a vector a sequence of numbers.

>>> import nearkin as nk
>>> four = {"S1": "a,d", "S2": "c", "S3": "b,d,e", "S4": "a,c,d"}
>>> shown = nk.show.signatures(four, functions="x+1 mod 5, 3x+1 mod 5")
>>> shown.table("signatures").to_pylist()[1]
{'h': '3x+1 mod 5', 'S1': 0, 'S2': 2, 'S3': 0, 'S4': 0}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import Given, one_input
from nearkin._errors import ParameterError
from nearkin._options import Options, ReadOptions, ShingleOptions, ShowOptions, as_json, checked

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "Shown",
    "buckets",
    "estimate",
    "family",
    "identical",
    "matrix",
    "near",
    "perfect",
    "prefix",
    "shingles",
    "signatures",
    "sketch",
]


class Shown:
    """The tables of one step.

    Attributes
    ----------
    step : str
        What is shown.
    notes : list of str
        What there is to say about the tables.
    """

    def __init__(self, told: tuple[str, str, str, str]) -> None:
        text, self._text, self._latex, self._html = told
        self._told: dict[str, Any] = json.loads(text)
        self.step: str = self._told["show"]
        self.notes: list[str] = self._told["notes"]

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""
        return list(dict.fromkeys(table["name"] for table in self._told["tables"]))

    def table(self, name: str) -> pa.Table:
        """A table by its name. Where a step has several of one name, their rows follow each other."""
        found = [table for table in self._told["tables"] if table["name"] == name]
        if not found:
            raise KeyError(f"{name!r}; there are {', '.join(self.tables)}")
        columns = found[0]["columns"]
        rows = [row for table in found for row in table["rows"]]
        cells = [[row[at] for row in rows] for at in range(len(columns))]
        return pa.table([_column(column) for column in cells], names=columns)

    def __getitem__(self, name: str) -> pa.Table:
        return self.table(name)

    def to_dict(self) -> dict[str, Any]:
        """All tables with their titles, columns and rows: what the command prints with ``--json``."""
        return dict(self._told)

    def to_latex(self) -> str:
        """The tables for LaTeX."""
        return self._latex

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Shown {self.step}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        return self._html


def _column(cells: list[Any]) -> pa.Array:
    """Numbers, where no ∞ and no text is among them; else texts."""
    if any(isinstance(cell, str) for cell in cells):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    if any(isinstance(cell, float) for cell in cells):
        return pa.array(cells, pa.float64())
    return pa.array(cells, pa.int64())


#: Options of `nk.show` that a search has too.
_OF_SEARCH = {"seed", "bands", "rows", "threshold", "within", "measure"}
_LISTS = {"permutation", "places", "normal", "line"}


def _show(step: str, items: tuple[object, ...], given: Mapping[str, Any]) -> Shown:
    options = checked(given, ShowOptions)
    source, ids = options.pop("source", None), options.pop("ids", None)
    first, most = int(options.pop("first", 5)), int(options.pop("most", 60))
    known = {*_keys(ReadOptions), *_keys(ShingleOptions), *_OF_SEARCH}
    of_search = {name: value for name, value in options.items() if name in known}
    own = {name: _own(name, value) for name, value in options.items() if name not in known}
    inputs: list[Given] = []
    if source is not None:
        if items:
            raise ParameterError("items are given, and a source too; name items of the source with ids")
        inputs = one_input(source, of_search).given
    elif ids is not None:
        raise ParameterError("ids are given without a source; give the collection that holds them")
    typed = json.dumps([[name, _content(item)] for name, item in _named(items)])
    named = [str(id) for id in ids] if ids is not None else []
    return Shown(_nearkin.show(step, as_json(of_search, Options), json.dumps(own), typed, inputs, named, first, most))


def _keys(allowed: type) -> set[str]:
    return {name for base in allowed.__mro__ for name in getattr(base, "__annotations__", {})}


def _named(items: tuple[object, ...]) -> list[tuple[str | None, object]]:
    named: list[tuple[str | None, object]] = []
    for item in items:
        if isinstance(item, Mapping):
            named.extend((str(name), content) for name, content in item.items())
        else:
            named.append((None, item))
    return named


def _content(item: object) -> Any:
    """A text, or a list of texts and numbers."""
    if isinstance(item, str):
        return item
    if isinstance(item, np.ndarray):
        return item.tolist()
    if isinstance(item, (set, frozenset)):
        return [_word(word) for word in sorted(item, key=repr)]
    if isinstance(item, Iterable) and not isinstance(item, (bytes, bytearray)):
        return [_word(word) for word in item]
    raise ParameterError(f"an item is of type {type(item).__name__}; it must be a text, a set or a vector")


def _word(word: Any) -> Any:
    word = word.item() if hasattr(word, "item") else word
    return word if isinstance(word, (str, int, float)) and not isinstance(word, bool) else str(word)


def _own(name: str, value: Any) -> Any:
    """One list stands for a list of one list."""
    if name in ("functions", "width"):
        return [value] if isinstance(value, (str, int, float)) else list(value)
    if name in _LISTS:
        is_one = isinstance(value, str) or not any(
            isinstance(part, (str, list, tuple, np.ndarray)) and not _is_letter(part) for part in value
        )
        return [_content(value)] if is_one else [_content(part) for part in value]
    if name in ("universe", "order"):
        return _content(value)
    return value


def _is_letter(part: Any) -> bool:
    """Whether it is an element, and not an order of elements."""
    return isinstance(part, str) and "," not in part and len(part) < 2


def shingles(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """The shingles of texts: who has them, how often, their hashes.

    Parameters
    ----------
    *items
        Texts, or a dict of names and texts.
    shingle : str
        What a text is cut into; ``words:5`` unless said.
    urls : bool
        Whether items are URLs.
    source, ids
        A collection, as for `nearkin.pairs`, and which of its items; the ``first`` five unless said.
    **options
        The options of ``nearkin show shingles``, with ``_`` for ``-``.

    Examples
    --------
    >>> import nearkin as nk
    >>> nk.show.shingles("abcdabd", shingle="chars:2").table("shingles")["shingle"].to_pylist()
    ['ab', 'bc', 'cd', 'da', 'bd']
    """
    return _show("shingles", items, options)


def matrix(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """The characteristic matrix: which element is in which set.

    With ``permutation`` also its rows in that order. ``universe`` names the rows. Texts are cut where ``shingle`` is given.
    """
    return _show("matrix", items, options)


def signatures(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """Minhash signatures: by permutations, by functions row by row, or by the engine's own sketch.

    Parameters
    ----------
    *items
        Sets, or a dict of names and sets.
    permutation : str or list
        An order of the rows, such as ``"b,e,a,d,c"``, or a list of them.
    places : str or list
        The place of each row in an order, or a list of these.
    functions : str or list of str
        Functions such as ``"x+1 mod 5, 3x+1 mod 5"``, traced row by row.
    truncate : int
        How many places of each order are looked at.
    groups : int
        Groups of rows for one function.
    values : int
        Values of the engine's own sketch, which is taken where nothing else is named.
    """
    return _show("signatures", items, options)


def estimate(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """The similarity of columns beside that of signatures for all pairs, with the standard error.

    Takes what `signatures` takes, and ``all_permutations=True``: all orders of up to eight rows.
    """
    return _show("estimate", items, options)


def buckets(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """Bands, keys and buckets: who meets whom, and in how many bands.

    Takes what `signatures` takes, with ``bands`` and ``rows``; ``signatures=True`` says that items are signatures.
    """
    return _show("buckets", items, options)


def sketch(*items: Sequence[float] | object, **options: Unpack[ShowOptions]) -> Shown:
    """Sketches of vectors: signs under hyperplanes, buckets on lines.

    Parameters
    ----------
    *items
        Vectors, or a dict of names and vectors.
    normal : list
        Normals of hyperplanes; ``all_signs=True`` takes all vectors of +1 and −1.
    values : int
        Hyperplanes of the engine's own, which are taken where nothing else is named.
    line, axes, width
        Directions of lines, or the axes, and the widths of their buckets.
    """
    return _show("sketch", items, options)


def prefix(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """Sets as strings of symbols: sizes, prefixes, positions, and what each filter lets through.

    Parameters
    ----------
    *items
        Sets, or a dict of names and sets. With ``letters=True`` a str is a set of letters.
    threshold : float
        The smallest Jaccard similarity of a pair.
    order : str or list
        The order of the symbols; rarest first unless said.
    length : int
        The length of a string, in place of items.
    """
    return _show("prefix", items, options)


def family(**options: Unpack[ShowOptions]) -> Shown:
    """How far families of hash functions are from min-wise independence.

    ``size`` is that of the universe; ``functions`` and ``permutation`` are a family of your own.
    """
    return _show("family", (), options)


def perfect(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """A perfect hash of the elements: every key has a slot of its own."""
    return _show("perfect", items, options)


def near(*items: Sequence[float] | object, **options: Unpack[ShowOptions]) -> Shown:
    """The (c, r) near-neighbour index of vectors: its size, what each item finds, how often that succeeds.

    Parameters
    ----------
    *items
        Vectors, or a dict of names and vectors.
    within : float
        The distance r up to which items are near: a length, or degrees with ``measure="cosine"``.
    factor : float
        An answer may be this many times as far away; 2 unless said.
    """
    return _show("near", items, options)


def identical(*items: object, **options: Unpack[ShowOptions]) -> Shown:
    """How copies of texts are found: a first look at a few bytes, whole contents only where that is the same."""
    return _show("identical", items, options)
