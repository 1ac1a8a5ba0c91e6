"""The example of records: what it finds is what its page says."""

import json
import pathlib
import runpy
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from common import ROOT


def example() -> dict[str, object]:
    return runpy.run_path(str(ROOT / "examples" / "python" / "records.py"))


def test_made_up_persons_are_found() -> None:
    values = example()["main"]()["persons"]
    assert values["rules"]["f1"] > 0.99
    assert values["suggested"]["f1"] > 0.98


def test_real_tables_are_matched(data: pathlib.Path) -> None:
    least = {"dblp_acm": 0.97, "abt_buy": 0.45, "febrl": 0.98, "fake_1000": 0.85, "cora": 0.80}
    found = example()["main"](data / "records")
    for name, wanted in least.items():
        assert found[name]["rules"]["f1"] >= wanted, name
        assert found[name]["suggested"]["f1"] >= wanted - 0.1, name
    # The list has 89 of some 113 matches: all but one are found, and those that it leaves out.
    assert found["restaurants"]["rules"]["recall"] > 0.98


def test_parquet_tables_are_matched_by_what_can_be_compared(tmp_path: pathlib.Path) -> None:
    names = ["ann smith", "bob jones", "cy miller"]
    for side, first in (("a", 0), ("b", 1)):
        rows = {"id": range(3), "name": names[first:] + names[:first], "tags": [["x"], [], None]}
        pq.write_table(pa.table({**rows, "id": list(rows["id"])}), tmp_path / f"{side}.parquet")
    (tmp_path / "match.toml").write_text('threshold = 50\ncandidates = ["name"]\n[fields.name]\n')
    words = ["match", "a.parquet", "b.parquet", "-c", "match.toml", "--quiet"]
    run = subprocess.run(
        [sys.executable, "-m", "nearkin", *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert [(row["a"], row["b"], row["score"]) for row in rows] == [(0, 2, 100.0), (1, 0, 100.0), (2, 1, 100.0)]
