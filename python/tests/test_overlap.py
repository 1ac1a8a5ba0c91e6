"""Overlaps of training documents with test items, against a checker that looks at every window of every text."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import random
import re
from collections import defaultdict
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import nearkin as nk
from common import words

N = 13
TRAIN = 2000


def real_texts() -> list[str]:
    """Articles from the data, or made ones without it."""
    folder = os.environ.get("NEARKIN_DATA")
    if folder:
        with gzip.open(pathlib.Path(folder) / "text" / "articles.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line)["text"] for line in file]
    dice = random.Random(5)
    lexicon = [f"{a}{b}" for a in ("Ta", "re", "mí", "no", "Ÿs") for b in range(600)]
    return ["  ".join(dice.choices(lexicon, k=dice.randint(20, 300))) + ".\n" for _ in range(2500)]


def disguised(passage: list[str], how: str, dice: random.Random) -> str:
    """The same words, written in another way."""
    if how == "wrapped":
        return "\n".join(" ".join(passage[at : at + 8]) for at in range(0, len(passage), 8))
    if how == "cased":
        return " ".join(dice.choice([str.upper, str.title, str.lower])(word) for word in passage)
    if how == "punctuated":
        return "".join(word + dice.choice([", ", " – ", ".  ", "; ", "\u201d ", "...\t", " "]) for word in passage)
    return " ".join(passage)


def planted() -> tuple[list[str], list[str]]:
    """Training texts of which every fourth has a passage of a test item, and the test items."""
    dice = random.Random(6)
    # A word that changes its letters with its case is no disguise: İ becomes two characters.
    texts = [text for text in real_texts() if words(text.upper()) == words(text)]
    texts = [text for text in texts if len(words(text)) >= 20]
    tests = texts[:400]
    rest = texts[400:]
    train = []
    for at in range(TRAIN):
        text = rest[at % len(rest)]
        if at >= len(rest):  # another order of its words
            shuffled = text.split()
            dice.shuffle(shuffled)
            text = " ".join(shuffled)
        if at % 4 == 0:
            source = words(dice.choice(tests))
            length = min(dice.randint(N, 200), len(source))
            start = dice.randint(0, len(source) - length)
            how = ("verbatim", "wrapped", "cased", "punctuated")[at // 4 % 4]
            passage = disguised(source[start : start + length], how, dice)
            pieces = text.split(" ")
            place = dice.randint(0, len(pieces))
            text = " ".join([*pieces[:place], passage, *pieces[place:]])
        train.append(text)
    return train, tests


def windows(text: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(text[at : at + n]) for at in range(len(text) - n + 1)]


def shared_windows(train: list[str], tests: list[str], n: int) -> dict[tuple[int, int], set[tuple[str, ...]]]:
    """For each training text and test item the windows that stand in both: every window of every text is looked up."""
    of_tests: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for test, text in enumerate(tests):
        for window in windows(words(text), n):
            of_tests[window].add(test)
    shared = defaultdict(set)
    for at, text in enumerate(train):
        for window in windows(words(text), n):
            for test in of_tests.get(window, ()):
                shared[at, test].add(window)
    return dict(shared)


def check_rows(rows: list[dict[str, Any]], train: list[str], tests: list[str], n: int) -> None:
    """All shared windows are in the rows, and each row is a longest stretch that stands where it says."""
    told: dict[tuple[int, int], set[tuple[str, ...]]] = defaultdict(set)
    cut = {at: words(text) for at, text in enumerate(tests)}
    for row in rows:
        text, test = train[row["train"]].encode(), tests[row["test"]].encode()
        passage = text[row["train_offset"] : row["train_offset"] + row["train_length"]].decode()
        assert passage == row["passage"]
        stretch = words(passage)
        assert len(stretch) == row["words"] >= n
        assert words(test[row["test_offset"] : row["test_offset"] + row["test_length"]].decode()) == stretch
        before = words(text[: row["train_offset"]].decode())[-1:]
        behind = words(text[row["train_offset"] + row["train_length"] :].decode())[:1]
        for longer in (before + stretch, stretch + behind):
            stands = longer != stretch and tuple(longer) in windows(cut[row["test"]], len(longer))
            assert not stands, "a longest stretch"
        told[row["train"], row["test"]] |= set(windows(stretch, n))
    assert told == shared_windows(train, tests, n)


def test_planted_passages_are_found_however_they_are_written() -> None:
    train, tests = planted()
    shared = shared_windows(train, tests, N)
    assert len({at for at, _ in shared}) >= TRAIN // 4
    found = nk.overlap(train, against=tests, most_tests=1000)
    check_rows(found.pairs.to_pylist(), train, tests, N)
    overlapping = {at for at, _ in shared}
    assert found.kept == [text for at, text in enumerate(train) if at not in overlapping]
    assert set(found.removed["id"].to_pylist()) == overlapping
    assert found.stats["tests"]["found"] == len({test for _, test in shared})
    # Most test items named, most words shared.
    for row in found.removed.to_pylist():
        assert (row["id"], row["test"]) in shared and row["reason"] == "contaminated"


def test_texts_that_repeat_themselves_and_other_scripts() -> None:
    dice = random.Random(7)
    lexicon = ["Na", "na", "é", "犬", "走", "ก", "😀", "…", "x_1", "ﬁ", "Ω"]
    made = [" ".join(dice.choices(lexicon[: dice.randint(1, 11)], k=dice.randint(0, 40))) for _ in range(400)]
    train, tests = made[:350], made[350:]
    for n in (1, 3, 6):
        found = nk.overlap(train, against=tests, words=n, most_tests=1000, progress=False)
        check_rows(found.pairs.to_pylist(), train, tests, n)


def test_shares_are_counted_exactly() -> None:
    train, tests = planted()
    shared = shared_windows(train, tests, 8)
    expected = {}
    for (at, test), both in shared.items():
        share = len(both) / len(set(windows(words(tests[test]), 8)))
        if share >= 0.5:
            expected[at, test] = share
    found = nk.overlap(train, against=tests, words=8, share=0.5)
    told = {(row["train"], row["test"]): row["share"] for row in found.pairs.to_pylist()}
    assert told == pytest.approx(expected)
    assert len(found.kept) == TRAIN - len({at for at, _ in expected})


TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def test_what_comes_out_is_of_the_kind_that_came_in(tmp_path: pathlib.Path) -> None:
    ids, texts = ["a", "b"], [f"Intro: {TEXT.upper()}!", "something else"]
    frame = pd.DataFrame({"key": ids, "body": texts, "n": [1, 2]})
    quiz = pa.table({"number": [7], "question": [TEXT]})
    options: dict[str, Any] = {"text": "body", "id": "key", "test_text": "question", "test_id": "number"}
    found = nk.overlap(frame, quiz, **options)
    assert repr(found) == "<1 of 2 documents overlap with 1 of 1 test items>"
    assert list(found.kept["key"]) == ["b"] and list(found.mask) == [False, True]
    assert found.pairs.select(["train", "test", "words"]).to_pylist() == [{"train": "a", "test": 7, "words": 14}]
    assert nk.overlap(dict(zip(ids, texts, strict=True)), [TEXT]).kept == {"b": "something else"}
    train = tmp_path / "train.jsonl"
    train.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    clean = tmp_path / "clean.jsonl"
    found = nk.overlap(train, [TEXT], output=clean)
    assert found.kept.to_pylist() == [{"text": "something else"}]
    assert clean.read_text(encoding="utf-8").splitlines() == ['{"text": "something else"}']


def test_stretches_are_cut_out() -> None:
    train = pa.table({"id": [1, 2], "text": [f"Before. {TEXT.title()}  and after.", "something else"], "n": [3, 4]})
    found = nk.overlap(train, [TEXT], cut=True)
    assert found.kept.to_pylist() == [
        {"id": 1, "text": "Before. and after.", "n": 3},
        {"id": 2, "text": "something else", "n": 4},
    ]
    assert found.removed["reason"].to_pylist() == ["cut"]
    # Nothing is left to find.
    assert nk.overlap(found.kept, [TEXT]).stats["overlapping"] == 0


def test_mistakes() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"words": 0}, "words is 0"),
        ({"share": 2.0}, "share is 2"),
        ({"most_tests": 0}, "most_tests is 0"),
    ]
    for options, message in wrong:
        with pytest.raises(nk.ParameterError, match=re.escape(message)):
            nk.overlap(["a"], ["b"], **options)
    with pytest.raises(TypeError, match="there is no option 'word'"):
        nk.overlap(["a"], ["b"], word=5)  # type: ignore[call-arg]
    with pytest.warns(nk.NearkinWarning, match="fewer than 13 words, and cannot be found; pass words=5"):
        nk.overlap(["a b c"], ["a b c d e f"])
    with pytest.warns(nk.NearkinWarning, match="fewer than 13 words, and cannot be found; make them longer"):
        nk.overlap(["a b c"], ["a b"])
