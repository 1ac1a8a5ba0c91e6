"""Repeated pieces of documents, of every kind of data, and what undoes their removal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import nearkin as nk

NOTICE = "All rights reserved, “The Press” é\n"
TEXTS = [f"One.\n{NOTICE}", f"Two.\n{NOTICE}End.", "Three.\n", NOTICE.upper()]
LEFT = [f"One.\n{NOTICE}", "Two.\nEnd.", "Three.\n", ""]


def original(left: bytes, rows: list[dict[str, Any]]) -> bytes:
    """`left` is the text in the output, empty if the document was dropped; `rows` are its rows, in order."""
    text = b""
    for row in rows:
        gap = row["offset"] - len(text)
        text, left = text + left[:gap] + row["text"].encode(), left[gap:]
    return text + left


def undone(left: dict[Any, str], removed: pa.Table) -> dict[Any, str]:
    rows: dict[Any, list[dict[str, Any]]] = {id: [] for id in left}
    for row in removed.to_pylist():
        assert row["length"] == len(row["text"].encode())
        rows.setdefault(row["id"], []).append(row)
    return {id: original(left.get(id, "").encode(), some).decode() for id, some in rows.items()}


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
def test_what_is_left_is_of_the_kind_of_the_data() -> None:
    def trim(data: object, **options: Any) -> Any:
        return nk.trim(data, unit="line", progress=False, **options).kept

    numbers = [1, 2, 3, 4]
    assert trim(TEXTS) == LEFT
    assert trim(dict(zip("abcd", TEXTS, strict=True))) == dict(zip("abcd", LEFT, strict=True))
    records = [{"id": number, "text": text, "n": [number]} for number, text in zip(numbers, TEXTS, strict=True)]
    assert trim(records) == [{**record, "text": text} for record, text in zip(records, LEFT, strict=True)]
    assert trim(np.array(TEXTS)).tolist() == LEFT
    table = pa.table({"n": numbers, "body": pa.array(TEXTS, pa.large_string())})
    kept = trim(table, text="body", min_left=1)
    assert kept.schema == table.schema
    assert kept.to_pydict() == {"n": numbers[:3], "body": LEFT[:3]}
    frame = pd.DataFrame({"n": numbers, "body": TEXTS}, index=[9, 8, 7, 6])
    expected = pd.DataFrame({"n": numbers, "body": LEFT}, index=[9, 8, 7, 6])
    pd.testing.assert_frame_equal(trim(frame, text="body"), expected)
    pd.testing.assert_series_equal(trim(frame["body"]), expected["body"])
    lazy = pl.DataFrame({"n": numbers, "text": TEXTS})
    assert trim(lazy).to_dict(as_series=False) == {"n": numbers, "text": LEFT}


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
@pytest.mark.parametrize("unit", ["line", "paragraph", "sentence", "words:5"])
@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_what_was_removed_can_be_put_back(tmp_path: Path, unit: str, format: str) -> None:
    words = [f"w{number % 13}" for number in range(60)]
    texts = [
        f"Title {number}\r\n\r\n{NOTICE}\n{' '.join(words[number % 7 : number % 30])}. Yes! {NOTICE * (number % 3)}"
        for number in range(40)
    ]
    source = tmp_path / "in.jsonl"
    lines = (json.dumps({"id": f"d{number}", "text": text}) for number, text in enumerate(texts))
    source.write_text("".join(f"{line}\n" for line in lines))
    output, rows = tmp_path / "out.parquet", tmp_path / f"removed.{format}"
    result = nk.trim(source, unit=unit, min_left=4, output=output, removed=rows, progress=False)
    assert result.removed is None
    removed = {
        "jsonl": lambda: pa.Table.from_pylist([json.loads(line) for line in rows.read_text().splitlines()]),
        "csv": lambda: pyarrow.csv.read_csv(rows, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)),
        "parquet": lambda: pyarrow.parquet.read_table(rows),
    }[format]()
    assert removed.num_rows > 10
    kept = pyarrow.parquet.read_table(output)
    assert kept.num_rows == result.stats["kept"]
    left = dict(zip(kept["id"].to_pylist(), kept["text"].to_pylist(), strict=True))
    assert undone(left, removed) == {f"d{number}": text for number, text in enumerate(texts)}
    # In memory, all the same.
    in_memory = nk.trim(source, unit=unit, min_left=4, progress=False)
    assert in_memory.kept.to_pylist() == kept.to_pylist()
    assert in_memory.removed is not None
    assert in_memory.removed.num_rows == removed.num_rows


def test_what_cannot_be_is_told() -> None:
    for options, message in [
        ({"unit": "words:3"}, "words:N"),
        ({"unit": "line", "at_least": 1}, "at_least"),
        ({"unit": "line", "keep": "longest"}, "first or none"),
    ]:
        with pytest.raises(nk.ParameterError, match=message):
            nk.trim(TEXTS, progress=False, **options)  # type: ignore[arg-type]
    with pytest.raises(nk.ParameterError, match="threshold"):
        nk.trim(TEXTS, unit="words:50", threshold=0.5)
    with pytest.raises(TypeError, match="shingle"):
        nk.trim(TEXTS, unit="line", shingle="words:5")  # type: ignore[call-arg]
    with pytest.warns(nk.NearkinWarning, match="nothing was removed"):
        nk.trim(["a b\nc", "d"], unit="line", progress=False)
