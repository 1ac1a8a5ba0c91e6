"""Hosts that mirror one another."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearkin import _nearkin
from nearkin._columns import link_input, one_input
from nearkin._options import HostArguments, HostOptions, RunOptions, as_json, checked
from nearkin._progress import shown, warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Mirrors", "hosts"]


class Mirrors:
    """Pairs of hosts that look alike, and what their pages and links say of them.

    The tables are made when you first ask for them.

    Attributes
    ----------
    stats : dict
        The account of the run: what the command's ``--stats`` has.
    """

    def __init__(self, found: _nearkin.Mirrors) -> None:
        self._found = found
        self.stats: dict[str, Any] = json.loads(found.stats)

    @cached_property
    def pairs(self) -> pa.Table:
        """One row per pair of hosts, sorted by where ``a``, then ``b``, first appears.

        ``a``, ``b``, ``similarity`` (the share of path shingles of either that both have), ``a_urls`` and ``b_urls``
        (how many of each are known) and ``shared_paths`` (how many paths both have to the letter). With `pages` also
        ``pages_compared``, ``pages_same``, ``pages_alike`` and ``verdict``: identical, similar, partial, different or
        unchecked. With `links` also ``pages_merged``.
        """
        return self._found.pairs()

    @cached_property
    def links(self) -> pa.Table | None:
        """The links that are left when pages that are one page are merged: ``source``, ``target``. None without `links`."""
        return self._found.links()

    @cached_property
    def folds(self) -> pa.Table | None:
        """Hosts that folded into others: ``host``, ``into``, ``pages`` (all of the host), ``merged`` (those that went there).

        None without `links`.
        """
        return self._found.folds()

    def __repr__(self) -> str:
        return f"<{self.stats['hosts']} hosts, {self.stats['pairs']} pairs that look alike>"


def hosts(
    urls: object,
    pages: object = None,
    links: object = None,
    *,
    progress: bool | None = None,
    **options: Unpack[HostOptions],
) -> Mirrors:
    """Find hosts that mirror one another: by their URLs, then by their pages, then by their links.

    Parameters
    ----------
    urls
        A list of URLs; or a table with a column ``url``, a Series, a path or a list of `pathlib.Path`, as for `pairs`.
    pages
        Pages with their texts, by which each pair is checked: a dict of URLs and texts, a table with the columns
        ``url`` and ``text``, or a path.
    links
        Links between pages, by which pages that are one page are merged: a list of (source, target), a list of dicts
        with these keys, a table whose first two columns they are, or a path.
    progress
        Whether to show how far the run is; by itself in a terminal or a notebook.
    **options
        ``threshold`` (0.33 unless you say otherwise), ``least_urls`` (10) and ``least_shingles`` (20) say which hosts
        are judged and which pairs are found; ``shingle`` (``words:5``), ``alike`` (0.8) and ``most_pages`` (200) how
        pages are compared; ``least_links`` (3) how many links a page without text is judged by. ``url``, ``text`` and
        ``link_fields`` name other columns. ``on_error``, ``threads``, ``memory``, ``temp``, ``format`` and
        ``delimiter`` are as for `pairs`.

    Returns
    -------
    Mirrors
        With ``pairs``, ``links``, ``folds`` and ``stats``.

    Examples
    --------
    >>> import nearkin as nk
    >>> words = "tide harbour lantern anchor sail rope gull pier wave buoy".split()
    >>> paths = [f"/{a}/{b}.html" for a in words[:5] for b in words]
    >>> urls = [host + path for host in ("http://a.example", "http://www.b.example") for path in paths]
    >>> nk.hosts(urls).pairs.to_pylist()  # doctest: +NORMALIZE_WHITESPACE
    [{'a': 'a.example', 'b': 'www.b.example', 'similarity': 1.0,
      'a_urls': 50, 'b_urls': 50, 'shared_paths': 50}]
    """
    given = checked(options, HostOptions)
    arguments = {name: value for name, value in given.items() if name in HostArguments.__annotations__}
    run = {name: value for name, value in given.items() if name not in arguments}
    url, text = given.get("url", "url"), given.get("text", "text")
    lists = one_input(urls, {"text": url}, "<urls>").given
    texts = [] if pages is None else one_input(pages, {"text": text, "id": url}, "<pages>").given
    graph = []
    if links is not None:
        found_links, fields = link_input(links, given.get("link_fields"))
        graph = found_links.given
        arguments |= {} if fields is None else {"link_fields": list(fields)}
    with shown(progress) as bar:
        found = _nearkin.hosts(lists, texts, graph, arguments, as_json(run, RunOptions), bar)
    warn(found.warnings, above=1)
    return Mirrors(found)
