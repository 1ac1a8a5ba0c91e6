"""Training documents that contain stretches of test items."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import Input, one_input, other_input
from nearkin._options import OverlapOptions, WordOptions, as_json
from nearkin._progress import shown, warn

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

__all__ = ["Overlaps", "overlap"]


class Overlaps:
    """Training documents, and what they share with test items.

    Attributes
    ----------
    stats : dict
        The account of the run: what the command's ``--stats`` has.
    """

    def __init__(self, found: _nearkin.Overlaps, given: Input) -> None:
        self._found = found
        self._given = given
        self.stats: dict[str, Any] = json.loads(found.stats)

    @cached_property
    def mask(self) -> npt.NDArray[np.bool_]:
        """For each document whether it is kept, where the documents are in memory."""
        if self._given.rows is None:
            raise TypeError("only documents in memory have a mask; kept has those of files")
        return np.asarray(self._found.kept(self._given.rows).to_numpy(zero_copy_only=False))

    @cached_property
    def kept(self) -> Any:
        """The documents without an overlap, in the order of the data and of its kind: a list of a list, a DataFrame of
        a DataFrame, a pyarrow Table of other tables and of files. With `cut`, all documents without their stretches, as
        a pyarrow Table."""
        if self.stats["cut"] or self._given.keep is None or self._given.rows is None:
            return self._found.records()
        return self._given.keep(self._found.kept(self._given.rows))

    @cached_property
    def pairs(self) -> pa.Table:
        """One row per stretch that stands in a document and in a test item.

        ``train``, ``test`` (ids), ``words`` (how many), ``train_file``, ``train_line``, ``train_offset``,
        ``train_length``, ``test_file``, ``test_line``, ``test_offset``, ``test_length`` and ``passage``; with ``share``
        also ``share``. Offsets and lengths are bytes of the text in UTF-8.
        """
        return self._found.pairs()

    @cached_property
    def removed(self) -> pa.Table:
        """One row per document that overlaps: ``id``, ``file``, ``line``, ``test`` (the item with which it shares most
        words), ``test_file``, ``test_line``, ``words`` (how many they share), ``reason``."""
        return self._found.removed()

    def __repr__(self) -> str:
        told = self.stats
        tests = told["tests"]
        return (
            f"<{told['overlapping']} of {told['items']} documents overlap with "
            f"{tests['found']} of {tests['items']} test items>"
        )


def overlap(
    train: object,
    against: object,
    *,
    words: int = 13,
    share: float | None = None,
    cut: bool = False,
    output: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **options: Unpack[OverlapOptions],
) -> Overlaps:
    """Find the training documents that contain a stretch of a test item, word by word.

    Case, punctuation, white space and line ends do not count. No overlap is missed, and each is checked word by word.

    Parameters
    ----------
    train
        The documents, as for `pairs`.
    against
        The test items, as for `pairs`. They are held in memory.
    words
        How many words in a row must stand in both.
    share
        The share of a test item's different stretches of that many words that a document must contain. Without it, one
        stretch is enough.
    cut
        Whether to cut the stretches out of the documents, and keep the documents.
    output
        Where to write the documents without an overlap (or, with `cut`, all of them): a file, or a folder (``"clean/"``) that gets a file for each
        file of `train`.
    progress
        Whether to show how far the run is; by itself in a terminal or a notebook.
    **options
        ``text``, ``id``, ``test_text`` and ``test_id`` name the fields; ``most_tests`` says how many test items are named
        for one stretch (10). ``on_error``, ``format``, ``threads``, ``memory`` and so on are as for `pairs`.

    Returns
    -------
    Overlaps
        With ``kept``, ``pairs``, ``removed`` and ``stats``.

    Examples
    --------
    >>> import nearkin as nk
    >>> train = ["As they say: TO BE, or not\\nto be, that is the question.", "To be is to do."]
    >>> found = nk.overlap(train, against=["to be or not to be that is the question"], words=8)
    >>> found
    <1 of 2 documents overlap with 1 of 1 test items>
    >>> found.kept
    ['To be is to do.']
    >>> found.pairs.select(["train", "test", "words", "passage"]).to_pylist()
    [{'train': 0, 'test': 0, 'words': 10, 'passage': 'TO BE, or not\\nto be, that is the question'}]
    """
    asked = {**options, "words": words, "share": share}
    given = one_input(train, asked, "<train>")
    tests = other_input(against, asked, "test")
    with shown(progress) as bar:
        where = None if output is None else os.fspath(output)
        found = _nearkin.overlap(as_json(asked, WordOptions), given.given, tests.given, bar, where, cut=cut)
    warn(found.warnings, above=1)
    return Overlaps(found, given)
