"""The worked examples on copied text: their figures."""

from __future__ import annotations

import itertools
import runpy
from collections import Counter
from pathlib import Path

import pytest

import nearkin as nk
from common import ROOT

EXAMPLES = ROOT / "examples" / "python"


@pytest.fixture
def articles(data: Path) -> Path:
    return data / "text" / "articles.jsonl.gz"


def check_plagiarism(figures: dict[str, dict[str, float]]) -> None:
    """Copies in other order are found by containment only, and shown by passages where a diff shows less than half."""
    for plain in ("plain jaccard", "plain containment"):
        assert (figures[plain]["precision"], figures[plain]["recall"]) == (1, 1)
    assert figures["copies containment"]["precision"] == 1
    # The copies that were there before are found, none of the others.
    assert figures["copies jaccard"]["found"] == figures["plain jaccard"]["found"]
    assert figures["shown"]["passages"] > 0.9 > 0.5 > figures["shown"]["diff"]


def test_s8_1_copies_in_another_order(capsys: pytest.CaptureFixture[str]) -> None:
    example = runpy.run_path(str(EXAMPLES / "plagiarism.py"))
    figures = example["main"]()
    check_plagiarism(figures)
    # Of 34 true pairs, 12 are of a copy and its sources, and 9 of a copy and what other papers made of a source; two of these are
    # too far from it.
    assert (figures["plain containment"]["pairs"], figures["copies containment"]["pairs"]) == (13, 34)
    assert figures["copies containment"]["found"] == 32
    told = capsys.readouterr().out
    assert "precision 1.000, recall 1.000" in told and "│ b: " in told and "{+" in told


def test_s8_1_twenty_copies_among_2500_articles(articles: Path) -> None:
    example = runpy.run_path(str(EXAMPLES / "plagiarism.py"))
    figures = example["main"](articles, articles.with_name("articles.pairs.tsv"))
    check_plagiarism(figures)
    assert (figures["plain containment"]["pairs"], figures["copies containment"]["pairs"]) == (20, 223)
    assert figures["copies containment"]["recall"] == 1


def test_s8_2_a_story_in_other_frames_is_more_alike_than_another_in_its_frame() -> None:
    example = runpy.run_path(str(EXAMPLES / "news.py"))
    figures = example["main"]()
    lists = {way: figures["lists", way] for way in example["WAYS"]}
    plain = ("words:5", "words:3", "chars:10")
    # Five times as alike against less than twice; and so the pairs of one story stand apart.
    assert lists["stopwords"]["story"] > 5 * lists["stopwords"]["paper"]
    assert all(lists[way]["story"] < 2 * lists[way]["paper"] for way in plain)
    assert lists["stopwords"]["F1"] > 0.98 > max(lists[way]["F1"] for way in plain)
    # Prose in the frame undoes that; weights mend it.
    for frames in ("lists and notices", "lists, notices, comments"):
        assert figures[frames, "stopwords"]["F1"] < 0.6
        assert figures[frames, "stopwords, tf-idf"]["F1"] > 0.9


def test_groups_of_the_example_are_those_of_dedup() -> None:
    example = runpy.run_path(str(EXAMPLES / "news.py"))
    pages = example["make_pages"](example["shipped"](), example["LISTS"], seed=2)
    rows = example["similarities"](pages, {"shingle": "words:3"})
    for threshold in (0.2, 0.27, 0.35):
        clusters = nk.dedup(pages, shingle="words:3", threshold=threshold, exact=True, chains=True).clusters.to_pylist()
        groups = Counter(row["cluster"] for row in clusters)
        found = sum(n * (n - 1) // 2 for n in groups.values())
        group = {row["id"]: row["cluster"] for row in clusters}
        same = [(a, b) for a, b in itertools.combinations(pages, 2) if group[a] == group[b]]
        right = sum(a.split("/")[0] == b.split("/")[0] for a, b in same)
        expected = example["scores"](found, right, example["true_pairs"](pages))
        assert example["by_threshold"](pages, rows)[threshold][1] == expected


def test_s8_2_stories_of_real_articles(articles: Path) -> None:
    example = runpy.run_path(str(EXAMPLES / "news.py"))
    figures = example["main"](articles)
    plain = ("words:5", "words:3", "chars:10")
    assert figures["lists", "stopwords"]["F1"] > 0.98
    assert figures["lists", "stopwords"]["groups F1"] > 0.98
    assert all(figures["lists", way]["F1"] < 0.95 for way in plain)
    for frames in example["FRAMES"]:
        assert figures[frames, "stopwords, tf-idf"]["F1"] > 0.98
    # Where frames are full of prose, stop words lose against plain shingles.
    prose = "lists, notices, comments"
    assert figures[prose, "stopwords"]["F1"] < figures[prose, "chars:10"]["F1"] < 0.5
