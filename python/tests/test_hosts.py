"""Hosts that mirror one another: the same rows as the command, from whatever holds URLs, pages and links."""

from __future__ import annotations

import csv
import gzip
import json
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin as nk
from common import ROOT

MIRRORS = ROOT / "examples" / "mirrors"
URLS = (MIRRORS / "urls.txt").read_text(encoding="utf-8").split()
PAGES = [json.loads(line) for line in (MIRRORS / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
LINKS = [tuple(line.split("\t")) for line in (MIRRORS / "links.tsv").read_text(encoding="utf-8").splitlines()[1:]]


def command(folder: pathlib.Path, *words: object) -> list[dict[str, Any]]:
    """The rows that the command writes."""
    line = [sys.executable, "-m", "nearkin", "hosts", *map(str, words), "--quiet"]
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    return [json.loads(row) for row in run.stdout.splitlines()]


def table(path: pathlib.Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_example_gives_what_the_command_gives(tmp_path: pathlib.Path) -> None:
    names = [MIRRORS / name for name in ("urls.txt", "pages.jsonl", "links.tsv")]
    words = [names[0], "--pages", names[1], "--links", names[2]]
    expected = command(tmp_path, *words, "--contracted", "left.csv", "--folds", "folds.csv", "--stats", "stats.json")
    assert [row["verdict"] for row in expected] == ["identical", "different", "partial"]
    stats = json.loads((tmp_path / "stats.json").read_text())
    # Paths, and the same things in memory.
    for urls, pages, links in (names, (URLS, PAGES, LINKS)):
        found = nk.hosts(urls, pages, links)
        assert found.pairs.to_pylist() == expected
        assert found.links is not None and found.folds is not None
        assert found.links.to_pylist() == table(tmp_path / "left.csv")
        assert [{name: str(value) for name, value in row.items()} for row in found.folds.to_pylist()] == table(
            tmp_path / "folds.csv"
        )
        for key in ("urls", "hosts", "judged", "pairs", "verdicts", "links", "threshold"):
            assert found.stats[key] == stats[key], key
        assert repr(found) == "<18 hosts, 3 pairs that look alike>"


def test_urls_come_in_many_forms(tmp_path: pathlib.Path) -> None:
    expected = command(tmp_path, MIRRORS / "urls.txt")
    assert len(expected) == 3
    pq.write_table(pa.table({"url": URLS}), tmp_path / "urls.parquet")
    for urls in (
        URLS,
        iter(URLS),
        tuple(URLS),
        dict(enumerate(URLS)),
        [{"url": url, "n": 1} for url in URLS],
        np.array(URLS),
        pd.Series(URLS),
        pd.DataFrame({"n": 1, "url": URLS}),
        pl.Series(URLS),
        pl.DataFrame({"url": URLS}),
        pa.array(URLS),
        pa.table({"url": pa.array(URLS, pa.large_string())}),
        pa.table({"url": URLS}).to_reader(),
        MIRRORS / "urls.txt",
        str(MIRRORS / "urls.txt"),
        [MIRRORS / "urls.txt", tmp_path / "urls.parquet"],
    ):
        assert nk.hosts(urls).pairs.to_pylist() == expected, type(urls)
    assert nk.hosts(pd.DataFrame({"link": URLS}), url="link", threads=1).pairs.to_pylist() == expected
    assert nk.hosts(URLS).links is None
    assert nk.hosts(URLS).folds is None


def test_pages_and_links_come_in_many_forms(tmp_path: pathlib.Path) -> None:
    found = nk.hosts(URLS, PAGES, MIRRORS / "links.tsv")
    expected = found.pairs.to_pylist()
    sources, targets = zip(*LINKS, strict=True)
    texts = [page["text"] for page in PAGES]
    addresses = [page["url"] for page in PAGES]
    for pages, links in (
        (dict(zip(addresses, texts, strict=True)), LINKS),
        (pd.DataFrame({"url": addresses, "text": texts}), pd.DataFrame({"from": sources, "to": targets})),
        (pl.DataFrame({"url": addresses, "text": texts}), pl.DataFrame({"from": sources, "to": targets})),
        (pa.table({"url": addresses, "text": texts}), pa.table({"from": sources, "to": targets})),
        (PAGES, [{"target": b, "source": a} for a, b in LINKS]),
        (MIRRORS / "pages.jsonl", ([a, b] for a, b in LINKS)),
    ):
        again = nk.hosts(URLS, pages, links)
        assert again.pairs.to_pylist() == expected, type(links)
        assert again.links == found.links
    swapped = pa.table({"to": targets, "from": sources})
    assert nk.hosts(URLS, PAGES, swapped, link_fields=("from", "to")).pairs.to_pylist() == expected
    named = pd.DataFrame({"url": addresses, "body": texts})
    assert nk.hosts(URLS, named, LINKS, text="body").pairs.to_pylist() == expected


def test_options_are_those_of_the_command(tmp_path: pathlib.Path) -> None:
    for options in (
        {"threshold": 0.65},
        {"least_urls": 21, "least_shingles": 5},
        {"alike": 0.5, "shingle": "words:2", "most_pages": 5},
    ):
        flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        expected = command(tmp_path, MIRRORS / "urls.txt", "--pages", MIRRORS / "pages.jsonl", *flags)
        assert nk.hosts(URLS, PAGES, **options).pairs.to_pylist() == expected
    with pytest.raises(TypeError, match="did you mean 'threshold'"):
        nk.hosts(URLS, treshold=0.5)  # type: ignore[call-arg]


def test_what_is_wrong_is_said() -> None:
    for wrong, message in (
        ({"threshold": 1.5}, "threshold is 1.5; it must be above 0"),
        ({"threads": 0}, "threads is 0; it must be from 1 to"),
        ({"threads": "two"}, "threads is two; it must be a whole number"),
        ({"memory": "much"}, "memory is"),
        ({"on_error": "ignore"}, "on_error is ignore; it must be stop or skip"),
        ({"shingle": "sylables:2"}, "sylables"),
        ({"format": "xml"}, "format is xml"),
    ):
        with pytest.raises(nk.ParameterError, match=message):
            nk.hosts(URLS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(nk.InputError, match="<urls>:2: "):
        nk.hosts(["http://a.example/x", "no address"])
    with pytest.raises(nk.ParameterError, match="a link is not a pair"):
        nk.hosts(URLS, links=["http://a.example/"])
    with pytest.raises(nk.FileError, match="does not exist"):
        nk.hosts("nothing.txt")
    with pytest.warns(nk.NearkinWarning, match="<urls>:2: ") as told:
        found = nk.hosts([URLS[0], "no address", *URLS[1:]], on_error="skip")
    assert found.stats["skipped"] == 1
    assert told[0].filename == __file__


def test_three_real_mirrors_among_other_hosts(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mixed: list[str] = []
    for name in ("mirrors.tsv.gz", "urls.txt.gz"):
        with gzip.open(data / "urls" / name, "rt", encoding="utf-8") as file:
            mixed.extend(line.rstrip("\n").split("\t")[0] for line in file)
    with pytest.warns(nk.NearkinWarning):
        found = nk.hosts(mixed, on_error="skip")
    pairs = {tuple(sorted((row["a"], row["b"]))) for row in found.pairs.to_pylist()}
    hosts = ("bookworm.mirror.example", "bullseye.mirror.example", "trixie.mirror.example")
    assert pairs == {(hosts[0], hosts[1]), (hosts[0], hosts[2]), (hosts[1], hosts[2])}
    assert found.stats["hosts"] > 1000
    (tmp_path / "mixed.txt").write_text("\n".join(mixed), encoding="utf-8")
    assert found.pairs.to_pylist() == command(tmp_path, "mixed.txt", "--on-error", "skip")
