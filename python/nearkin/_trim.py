"""Documents without the pieces that stand elsewhere too."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import Input, one_input
from nearkin._options import TrimOptions, as_json
from nearkin._progress import shown, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Trimmed", "trim"]


class Trimmed:
    """A collection without the pieces that are repeated.

    Attributes
    ----------
    stats : dict
        The account of the run: what the command's ``--stats`` has.
    """

    def __init__(self, found: _nearkin.Trimmed, given: Input, text: str) -> None:
        self._found = found
        self._given = given
        self._text = text
        self.stats: dict[str, Any] = json.loads(found.stats)

    @cached_property
    def kept(self) -> Any:
        """The documents that are left, in the order of the data and of its kind: a list of a list, a DataFrame of a
        DataFrame, a pyarrow Table of other tables and of files."""
        records = self._found.records()
        if self._given.keep is None or self._given.rows is None:
            return records
        left = self._given.keep(self._found.kept(self._given.rows))
        return _with_texts(left, self._text, records[self._text])

    @cached_property
    def removed(self) -> pa.Table | None:
        """One row per stretch that was removed, in the order of the data: ``id``, ``file`` and ``line`` of its document,
        ``offset`` and ``length`` in the original text, in bytes of UTF-8, ``reason`` (``repeated``, or ``dropped`` of a
        document of which too little was left), where the kept one stands (``kept_id``, ``kept_file``, ``kept_line``,
        ``kept_offset``), and the ``text``. None if they were written to a file."""
        return self._found.removed()

    def __repr__(self) -> str:
        told = self.stats
        return f"<{told['documents']} documents, {told['repeated']} pieces removed from {told['cut']} of them>"


def _with_texts(left: Any, name: str, column: pa.ChunkedArray) -> Any:
    """The documents with these texts."""
    if isinstance(left, pa.Table):
        at = left.schema.get_field_index(name)
        return left.set_column(at, left.schema.field(at), column.cast(left.schema.field(at).type))
    if isinstance(left, (pa.Array, pa.ChunkedArray)):
        return column.cast(left.type)
    texts = column.to_pylist()
    if isinstance(left, Mapping):
        pairs = zip(left.items(), texts, strict=True)
        return {id: {**item, name: text} if isinstance(item, Mapping) else text for (id, item), text in pairs}
    if isinstance(left, np.ndarray):
        return np.asarray(texts, dtype=object if left.dtype == object else None)
    if isinstance(left, (list, tuple)):
        items = zip(left, texts, strict=True)
        return [{**item, name: text} if isinstance(item, Mapping) else text for item, text in items]
    if type(left).__module__.partition(".")[0] == "pandas":
        import pandas as pd

        series = pd.Series(texts, index=left.index, dtype=object)
        if isinstance(left, pd.Series):
            return series.astype(left.dtype).rename(left.name)
        key = next(column for column in left.columns if str(column) == name)
        return left.assign(**{key: series.astype(left[key].dtype)}) if isinstance(key, str) else _set(left, key, series)
    if type(left).__module__.partition(".")[0] == "polars":
        import polars as pl

        if isinstance(left, pl.Series):
            return pl.Series(left.name, texts)
        return left.with_columns(pl.Series(name, texts))
    return _with_texts(pa.table(left), name, column)


def _set(frame: Any, key: Any, series: Any) -> Any:
    frame = frame.copy()
    frame[key] = series
    return frame


def trim(
    data: object,
    *,
    unit: str,
    at_least: int | None = None,
    keep: Literal["first", "none"] = "first",
    min_left: int = 0,
    output: str | os.PathLike[str] | None = None,
    removed: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **options: Unpack[TrimOptions],
) -> Trimmed:
    """Remove pieces of documents that are repeated, and keep the first.

    A piece is removed if the same words stand earlier, in another document or in the same one. Case, punctuation and
    white space between words do not count.

    Parameters
    ----------
    data
        As for `pairs`; the documents are texts.
    unit
        What a piece is: ``line``, ``paragraph``, ``sentence``, or ``words:50`` for any run of 50 words or more.
    at_least
        In how many documents a piece must stand to be removed; by default in two places, which may be one document.
    keep
        Which place of a repeated piece stays: the ``first`` or ``none``.
    min_left
        A document that lost something and has fewer words left is dropped.
    output, removed
        Where to write the documents, as for `dedup`, and a row for every stretch that is removed.
    progress, **options
        As for `pairs`: ``threshold`` (lines, paragraphs and sentences that are similar to an earlier one go, too), ``text``, ``id``, ``on_error``, ``seed``, ``memory``, ``threads``, ``temp`` and so on.

    Examples
    --------
    >>> import nearkin as nk
    >>> result = nk.trim(["One.\\nAll rights reserved.", "Two.\\nALL RIGHTS RESERVED!"], unit="line")
    >>> result
    <2 documents, 1 pieces removed from 1 of them>
    >>> result.kept
    ['One.\\nAll rights reserved.', 'Two.\\n']
    >>> result.removed.select(["id", "offset", "text", "kept_id", "kept_offset"]).to_pylist()
    [{'id': 1, 'offset': 5, 'text': 'ALL RIGHTS RESERVED!', 'kept_id': 0, 'kept_offset': 5}]
    """
    given = one_input(data, options)
    pieces = {"unit": unit, "at_least": at_least, "keep": keep, "min_left": min_left}
    asked = json.dumps({name: value for name, value in pieces.items() if value is not None})
    files = [None if path is None else os.fspath(path) for path in (output, removed)]
    with shown(progress) as bar:
        found = _nearkin.trim(as_json(options, TrimOptions), asked, given.given, bar, *files)
    warn(found.warnings, above=1)
    return Trimmed(found, given, str(options.get("text") or "text"))
