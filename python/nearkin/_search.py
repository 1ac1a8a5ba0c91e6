"""Similar pairs, the most similar of each item, and one item of each group kept."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import Input, one_input, other_input
from nearkin._options import DedupOptions, KeepOptions, SearchOptions, TopOptions, as_json
from nearkin._progress import shown, warn

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Unpack

__all__ = ["Deduplicated", "dedup", "pairs", "stats", "top"]

#: Where the account of a run stands in the metadata of its table.
_STATS = b"nearkin"


def _search(
    job: str, options: str, data: Input, against: Input | None, progress: bool | None
) -> pa.Table:
    with shown(progress) as bar:
        table, warnings = _nearkin.search(
            job, options, data.given, against.given if against else [], bar
        )
    warn(warnings, above=2)
    return table


def pairs(
    data: object,
    against: object = None,
    *,
    progress: bool | None = None,
    **options: Unpack[SearchOptions],
) -> pa.Table:
    """Every similar pair, with its exact similarity.

    Parameters
    ----------
    data
        A list of texts or of records, a dict of ids and texts, a NumPy array, a pandas or polars DataFrame or Series, a pyarrow Table
        or record-batch reader, anything with the Arrow stream interface, a path, or a list of `pathlib.Path`. A table's
        texts are in its column ``text`` and its ids in ``id`` unless `text` and `id` say otherwise; without ids, an
        item's id is its position, from 0.
    against
        Another collection: then pairs of one item of each.
    progress
        Whether to show how far it is; by itself in a terminal or a notebook.
    **options
        The options of the command, with ``_`` for ``-``: ``threshold=0.8``, ``recall=0.99``, ``exact=True``,
        ``shingle="chars:5"``, ``measure="containment"``, ``as_="vector"`` and so on.

    Returns
    -------
    pyarrow.Table
        Columns ``a``, ``b`` and ``similarity`` (or ``distance``, with `within`), ``a`` before ``b`` in the order of the
        data, sorted by the positions of ``a``, then ``b``. `stats` gives the account of the run.

    Raises
    ------
    ParameterError, InputError, FileError
        When an option makes no sense, an item cannot be used, or a file cannot be read.

    Examples
    --------
    >>> import nearkin as nk
    >>> texts = ["the cat sat on the mat all day", "the cat sat on the mat all day long", "no"]
    >>> nk.pairs(texts, threshold=0.5).to_pylist()
    [{'a': 0, 'b': 1, 'similarity': 0.8}]
    >>> nk.pairs({"x": {1, 2, 3}, "y": {2, 3, 4}}, as_="set", threshold=0.5).to_pylist()
    [{'a': 'x', 'b': 'y', 'similarity': 0.5}]
    """
    given = as_json(options, SearchOptions)
    other = None if against is None else other_input(against, options, "against")
    return _search("pairs", given, one_input(data, options), other, progress)


def top(
    data: object,
    against: object = None,
    *,
    k: int = 10,
    progress: bool | None = None,
    **options: Unpack[SearchOptions],
) -> pa.Table:
    """For each item the `k` most similar ones, the most similar first.

    Takes what `pairs` takes. Of texts, sets and bags only those count that reach `threshold` (0.3 unless you say
    otherwise); of other items there is no limit unless you give one.

    Examples
    --------
    >>> import nearkin as nk
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    >>> nk.top(points, k=1, as_="vector").to_pylist()
    [{'a': 0, 'b': 1, 'distance': 1.0}, {'a': 1, 'b': 0, 'distance': 1.0}, {'a': 2, 'b': 1, 'distance': 4.0}]
    """
    given = as_json({**options, "k": k}, TopOptions)
    other = None if against is None else other_input(against, options, "against")
    return _search("top", given, one_input(data, options), other, progress)


def stats(table: pa.Table) -> dict[str, Any]:
    """The account of the run that gave a table: counts, the recall promised and audited, seconds a stage.

    Examples
    --------
    >>> import nearkin as nk
    >>> nk.stats(nk.pairs(["a b c d e f", "a b c d e f", "x"]))["identical"]
    1
    """
    account = (table.schema.metadata or {}).get(_STATS)
    if account is None:
        raise TypeError("this table does not come from nearkin.pairs or nearkin.top")
    told: dict[str, Any] = json.loads(account)
    return told


class Deduplicated:
    """A collection with one item of each group of similar ones kept.

    Attributes
    ----------
    stats : dict
        The account of the run: what the command's ``--stats`` has.
    """

    def __init__(self, found: _nearkin.Deduplicated, given: Input) -> None:
        self._found = found
        self._given = given
        self.stats: dict[str, Any] = json.loads(found.stats)

    @cached_property
    def mask(self) -> npt.NDArray[np.bool_]:
        """For each record whether it is kept."""
        rows = self._found.count if self._given.rows is None else self._given.rows
        return np.asarray(self._found.kept(rows).to_numpy(zero_copy_only=False))

    @cached_property
    def kept(self) -> Any:
        """What is kept, in the order of the data and of its kind: a list of a list, a DataFrame of a DataFrame, a
        pyarrow Table of other tables and of files."""
        if self._given.keep is None or self._given.rows is None:
            return self._found.records()
        return self._given.keep(self._found.kept(self._given.rows))

    @cached_property
    def clusters(self) -> pa.Table:
        """One row per item: ``id``, ``cluster`` (the id that was kept), ``kept``, ``similarity`` to it
        (``distance``, with ``within``). With ``against``, also ``old``: whether ``cluster`` is an id of that."""
        return self._found.clusters()

    @cached_property
    def removed(self) -> pa.Table:
        """One row per removed item: ``id``, ``file``, ``line``, ``kept`` (the id that was kept), ``kept_file``,
        ``kept_line``, ``similarity`` (``distance``, with ``within``), ``reason``, and the ``removed_fields``. Tables in
        memory have rows for lines, from 1."""
        return self._found.removed()

    def __repr__(self) -> str:
        told = self.stats
        return f"<{told['items']} items, {told['kept']} kept, {told['clusters']} groups of similar ones>"


def dedup(
    data: object,
    against: object = None,
    *,
    keep: str = "first",
    output: str | os.PathLike[str] | None = None,
    removed: str | os.PathLike[str] | None = None,
    removed_fields: Sequence[str] = (),
    progress: bool | None = None,
    **options: Unpack[DedupOptions],
) -> Deduplicated:
    """Remove items that are similar to one that is kept.

    With ``chains=True``, items that are similar through others form a group, and one of each group is kept: then items
    are removed that are similar to none that is kept.

    Parameters
    ----------
    data
        As for `pairs`.
    against
        A collection that `data` grows: what is similar to one of its items is removed from `data`, too. All of it stays, and
        nothing of it is in the result.
    keep
        Which item of a group: ``first``, ``longest``, ``max:FIELD``, ``min:FIELD`` or ``prefer:FIELD=VALUE,VALUE``. Several
        with ``|`` between them are tried in order.
    output
        Where to write the records that are kept: a file, or a folder (``"kept/"``) that gets a file for each file of
        `data`, with its path, format and packing.
    removed
        Where to write what was removed and why: a file ``.jsonl``, ``.csv``, ``.tsv`` or ``.parquet``. The result has it
        as ``.removed``.
    removed_fields
        Fields of the removed records to add to that table.
    progress, **options
        As for `pairs`.

    Examples
    --------
    >>> import nearkin as nk
    >>> texts = ["the cat sat on the mat all day", "the cat sat on the mat all day long", "no"]
    >>> result = nk.dedup(texts, threshold=0.5, keep="longest")
    >>> result
    <3 items, 2 kept, 1 groups of similar ones>
    >>> result.kept
    ['the cat sat on the mat all day long', 'no']
    >>> result.clusters.to_pylist()[0]
    {'id': 0, 'cluster': 1, 'kept': False, 'similarity': 0.8}
    >>> nk.dedup(["no", "the cat sat on a mat", "yes"], texts).kept
    ['the cat sat on a mat', 'yes']
    """
    asked = {**options, "keep": keep}
    fields = list(removed_fields)
    given = one_input(data, {**asked, "removed_fields": fields})
    old = [] if against is None else other_input(against, options, "against").given
    where, gone = (None if path is None else os.fspath(path) for path in (output, removed))
    with shown(progress) as bar:
        found = _nearkin.dedup(as_json(asked, KeepOptions), given.given, old, bar, (where, gone), fields)
    warn(found.warnings, above=1)
    return Deduplicated(found, given)
