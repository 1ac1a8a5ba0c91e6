"""The README's three snippets, each run as it stands; and the worked examples."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nearkin as nk
from common import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
NEWS = ROOT / "examples" / "news"


def snippet(language: str, containing: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)
    found = [block for block in blocks if containing in block]
    assert len(found) == 1, containing
    return str(found[0])


@pytest.fixture
def articles(tmp_path: Path) -> list[dict[str, str]]:
    records = [
        {"id": path.stem, "text": path.read_text(encoding="utf-8")} for path in sorted(NEWS.iterdir())
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "articles.jsonl").write_text(lines, encoding="utf-8")
    return records


def expected(articles: list[dict[str, str]]) -> list[str]:
    """What is left by brute force over all pairs."""
    texts = [set(nk.shingle.words(article["text"]).tolist()) for article in articles]
    kept: list[int] = []
    group = list(range(len(texts)))
    for i, a in enumerate(texts):
        for j, b in enumerate(texts[:i]):
            if len(a & b) >= 0.8 * len(a | b):
                group = [group[j] if g == group[i] else g for g in group]
    for i, g in enumerate(group):
        if group.index(g) == i:
            kept.append(i)
    return [articles[i]["id"] for i in kept]


def test_the_command(articles: list[dict[str, str]], tmp_path: Path) -> None:
    words = shlex.split(snippet("sh", "articles.jsonl -o kept.jsonl"))
    assert words[0] == "nearkin"
    command = Path(sys.executable).with_name("nearkin")
    assert command.exists() or shutil.which("nearkin")
    program = [str(command)] if command.exists() else [sys.executable, "-m", "nearkin"]
    subprocess.run([*program, *words[1:]], cwd=tmp_path, check=True, capture_output=True)
    kept = [json.loads(line)["id"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert kept == expected(articles)


def test_python(articles: list[dict[str, str]]) -> None:
    names = {"articles": {article["id"]: article["text"] for article in articles}}
    exec(snippet("python", "kept = nk.dedup(articles, threshold=0.8).kept"), names)
    assert list(names["kept"]) == expected(articles)


def test_the_guide(
    articles: list[dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scratch").mkdir()
    np.save("images.npy", np.random.default_rng(1).normal(size=(50, 8)))
    with pa.CompressedOutputStream("crawl.jsonl.zst", "zstd") as out:
        out.write((tmp_path / "articles.jsonl").read_bytes())
    for folder in ("corpus", "train"):
        (tmp_path / folder).mkdir()
        shutil.copy(tmp_path / "articles.jsonl", tmp_path / folder / "articles.jsonl")
    shutil.copy(tmp_path / "articles.jsonl", tmp_path / "test.jsonl")
    more = {"title": "", "source": "wiki", "quality": 1}
    table = pa.Table.from_pylist([{**article, **more, "body": article["text"]} for article in articles])
    texts = table["text"].to_pylist()
    names: dict[str, object] = {"np": np, "pathlib": pathlib, "table": table, "new": table, "old": table}
    names |= {"train": table, "test": table.slice(0, 2), "documents": table}
    names |= {"text_a": texts[0], "text_b": texts[1], "text": texts[0], "other_text": texts[0], "texts": texts}
    persons = ROOT / "examples" / "python" / "persons.py"
    subprocess.run([sys.executable, persons, "--count", "1000", "persons"], check=True, capture_output=True)
    names |= {"a": "persons/a.csv", "b": "persons/b.csv", "people": pathlib.Path("persons/b.csv")}
    mirrors = ROOT / "examples" / "mirrors"
    names |= {"urls": mirrors / "urls.txt", "pages": mirrors / "pages.jsonl", "links": mirrors / "links.tsv"}
    guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", guide, flags=re.S)
    assert len(blocks) >= 5
    for block in blocks:
        exec(block, names)


def test_the_worked_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "python" / "near_duplicates.py"), run_name="__main__")
    told = capsys.readouterr().out
    assert "24 articles" in told
    assert "<24 items, 17 kept, 5 groups of similar ones>" in told


def test_s8_5_the_example_of_ratings() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "python" / "ratings.py"))
    shares = example["main"]()
    ways = [shares[way] for way in ("drop:7", "likes:7", "stars")]
    # A customer has 40 films of their taste in all and saw most of them: ten guesses of those left find about two in five.
    assert all(0.3 < share < 0.5 for share in ways) and shares["popular"] < 0.1
    ratings = example["made_up"]()
    liked: dict[str, set[str]] = {}
    for user, film, rating in ratings:
        if rating >= 7:
            liked.setdefault(film, set()).add(user)
    audiences = sorted((film, users) for film, users in liked.items() if len(users) >= 10)
    expected = {
        (a, b): len(x & y) / len(x | y) for (a, x), (b, y) in itertools.combinations(audiences, 2) if 5 * len(x & y) >= len(x | y)
    }
    found = {tuple(sorted((row["a"], row["b"]))): row["similarity"] for row in example["similar_films"](ratings)}
    assert found == expected


def test_s8_5_neighbours_know_more_than_the_crowd(data: Path) -> None:
    example = runpy.run_path(str(ROOT / "examples" / "python" / "ratings.py"))
    shares = example["main"](data / "ratings" / "ratings.dat")
    assert shares["drop:7"] > shares["likes:7"] > shares["popular"] > 0.14


def test_s2_9_the_example_of_a_graph() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "python" / "graph_nodes.py"))
    lock = ROOT / "Cargo.lock"
    needs: dict[str, set[str]] = {}
    for package, other in example["edges"](lock):
        needs.setdefault(package, set()).add(other)
    assert len(needs) > 40
    pairs = itertools.combinations(sorted(needs.items()), 2)
    expected = {(a, b): len(x & y) / len(x | y) for (a, x), (b, y) in pairs if 10 * len(x & y) >= 6 * len(x | y)}
    found = {tuple(sorted((row["a"], row["b"]))): row["similarity"] for row in example["main"](lock)}
    assert found == expected


def test_s2_10_who_answers_like_dave() -> None:
    rows = nk.top(ROOT / "examples" / "data" / "restaurants.csv", as_="answers", k=5).to_pylist()
    distances = {row["b"]: row["distance"] for row in rows if row["a"] == "Dave"}
    # By hand: a gap against an answer is one half.
    assert (distances["Estie"], distances["Fred"], distances["Alice"]) == (1.5, 2.5, 4.5)
