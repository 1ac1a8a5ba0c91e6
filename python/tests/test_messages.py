"""Messages speak to someone who calls from Python: of keyword arguments, never of flags."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearkin as nk

Call = Callable[[Path], Any]

#: A file's name and content, a call that fails on it, and what its message contains.
FILES: list[tuple[str, bytes, Call, list[str]]] = [
    ("a.jsonl", b'{"text": "a"}\nnonsense\n', nk.pairs, [":2: not valid JSON", ', or pass on_error="skip"']),
    ("a.jsonl", b'{"text": "caf\xe9"}\n', nk.dedup, ["convert the file to UTF-8, name its encoding with encoding=, or pass on_error="]),
    ("a.jsonl", b'{"body": "a"}\n', nk.pairs, ["it has `body`: name the text field with text="]),
    ("a.jsonl", b'{"text": 7}\n', nk.pairs, ['name the text field with text=, or pass on_error="skip"']),
    ("a.jsonl", b'{"text": "a", "id": 1}\n{"text": "b"}\n', nk.pairs, ["name it with id="]),
    ("a.jsonl", b'{"text": [[1]]}\n', lambda path: nk.pairs(path, as_="set"), ['or pass on_error="skip"']),
    ("a.csv", b"text,n\na\n", nk.pairs, ["name the delimiter with delimiter=, or pass on_error="]),
    ("a.csv", b"body\na\n", nk.pairs, ["name the text column with text="]),
    ("a.dat", b"a\n", nk.pairs, ['pass format="jsonl", "parquet", "csv", "tsv" or "txt"']),
    ("a.txt", b"a\n", lambda path: nk.pairs(path.parent, format="csv"), ["or leave out format"]),
    ("a.txt", b"1 2\n", lambda path: nk.pairs(path, as_="answers", within=1), ["choose the questions with questions="]),
    ("a.txt", b"01\n0f\n", lambda path: nk.pairs(path, as_="bits"), ['pass digits="hex", or write all']),
    ("a.txt", b"1 2\n0 0\n", lambda path: nk.pairs(path, as_="vector", measure="cosine"), ['pass measure="l2"']),
]


def message(error: BaseException) -> str:
    text = str(error)
    assert not re.search(r"(?<![\w-])--?[a-z]", text), text
    return text


@pytest.mark.parametrize(("name", "content", "call", "parts"), FILES, ids=[f"{i}-{row[0]}" for i, row in enumerate(FILES)])
def test_what_is_wrong_with_a_file(name: str, content: bytes, call: Call, parts: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(nk.NearkinError) as error:
        call(path)
    told = message(error.value).replace(str(tmp_path), "")
    assert all(part in told for part in parts), told


def test_a_file_of_vectors_is_not_a_file_of_texts(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.eye(2))
    with pytest.raises(nk.FileError) as error:
        nk.pairs(tmp_path / "a.npy")
    assert message(error.value).endswith('which holds vectors; pass as_="vector" or "bits"')


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: nk.pairs(["a", None]), 'column `text` is null; fill it, or pass on_error="skip"'),
        (lambda: nk.pairs(pa.table({"body": ["a"]})), "it has `body`: name the text column with text="),
        (lambda: nk.pairs(pa.table({"id": [1, 1], "text": ["a", "b"]})), 'pass positions=True, choose another field with id=, or make ids unique'),
        (lambda: nk.pairs(["a"], recall=1.0), "recall is 1; it must be above 0 and below 1: only an exact search misses none; pass exact=True"),
        (lambda: nk.pairs(["a"], measure="overlap", within=2), "give the least similarity with threshold="),
        (lambda: nk.pairs(np.array([[1.0, np.nan]]), as_="vector", within=1), 'mend or drop the vector, or pass on_error="skip"'),
    ],
)
def test_what_is_wrong_with_a_call(call: Callable[[], Any], part: str) -> None:
    with pytest.raises(nk.NearkinError) as error:
        call()
    assert part in message(error.value)


def test_whoever_skips_is_not_told_to_skip(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a b c d e f"}\nnonsense\n')
    with pytest.warns(nk.NearkinWarning) as told:
        nk.pairs(path, on_error="skip")
    assert str(told[0].message).endswith("every line must be one JSON object: fix it")


def test_a_chain_of_unrelated_texts_is_warned_of() -> None:
    texts = [" ".join(f"w{word}" for word in range(3 * i, 3 * i + 60)) for i in range(300)]
    with pytest.warns(nk.NearkinWarning, match="one group has 300") as told:
        nk.dedup(texts, chains=True)
    assert "; leave out chains, ask for more similarity with threshold=, or cut longer shingles" in str(told[0].message)
