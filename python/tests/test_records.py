"""Records that are the same thing: the same rows as the command, and what is the truth."""

from __future__ import annotations

import json
import pathlib
import runpy
import subprocess
import sys
from datetime import date, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearkin as nk
from common import ROOT

A = [
    {"id": 1, "name": "Bill Jones", "street": "12 Main Street", "phone": "555-1234"},
    {"id": 2, "name": "Ann Smith", "street": "7 Hill Road", "phone": "555-9999"},
    {"id": 3, "name": "Carl Meyer", "street": "1 Lake Lane", "phone": None},
]
B = [
    {"id": "x", "name": "William Jones", "street": "12 Main St.", "phone": "555 1234"},
    {"id": "y", "name": "Ann Smyth", "street": "7 Hill Rd", "phone": "555-9998"},
    {"id": "z", "name": "Zoe Miller", "street": "99 Far Away", "phone": "555-0000"},
    {"id": "w", "name": "Ann Smith", "street": None, "phone": "555-9999"},
]
RULES = {
    "threshold": 150,
    "candidates": ["phone", "name ~ 0.3"],
    "fields": {
        "name": {"tables": ["nicknames"], "lost_at": 5},
        "street": {"distance": "words", "tables": ["abbreviations"]},
        "phone": {"lost_at": 3},
    },
}
TOML = """
threshold = 150
candidates = ["phone", "name ~ 0.3"]
[fields.name]
tables = ["nicknames"]
lost_at = 5
[fields.street]
distance = "words"
tables = ["abbreviations"]
[fields.phone]
lost_at = 3
"""


def example() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / "python" / "records.py"))


def command(folder: pathlib.Path, *words: object) -> list[dict[str, Any]]:
    """The matches that the command writes."""
    line = [sys.executable, "-m", "nearkin", "match", *map(str, words), "--quiet"]
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True)
    return [json.loads(row) for row in run.stdout.splitlines()]


def write(folder: pathlib.Path) -> None:
    for name, rows in (("a", A), ("b", B), ("both", [{**row, "id": str(row["id"])} for row in A] + B)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    (folder / "match.toml").write_text(TOML, encoding="utf-8")


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_rules_are_a_dict_a_text_or_a_file(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    expected = command(tmp_path, "a.jsonl", "b.jsonl", "-c", "match.toml")
    assert [(row["a"], row["b"]) for row in expected] == [(1, "x"), (2, "y")]
    for rules in (RULES, TOML, tmp_path / "match.toml", str(tmp_path / "match.toml")):
        found = nk.match(A, B, rules=rules)
        assert found.matches.to_pylist() == expected
        assert found.clusters is None and found.shares is None
        assert repr(found) == "<3 and 4 records, 2 matches>"
        assert found.stats["records"] == [3, 4] and found.stats["match"] == "one-to-one"


def test_tables_come_in_many_forms(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    expected = nk.match(A, B, rules=RULES, values=True).matches.to_pylist()
    assert expected == command(tmp_path, "a.jsonl", "b.jsonl", "-c", "match.toml", "--values")
    assert expected[0]["name_a"] == "Bill Jones" and expected[0]["street_b"] == "12 Main St."
    pq.write_table(pa.table(columns(B)), tmp_path / "b.parquet")
    for a, b in (
        (iter(A), tuple(B)),
        ({row["id"]: row for row in A}, {row["id"]: {**row, "id": None} for row in B}),
        (pd.DataFrame(A), pd.DataFrame(B)),
        (pl.DataFrame(A), pl.DataFrame(B)),
        (pl.DataFrame(A).lazy().collect(), pl.DataFrame(B)),
        (pa.Table.from_pylist(A), pa.Table.from_pylist(B)),
        (pa.Table.from_pylist(A).to_reader(), pa.RecordBatch.from_pylist(B)),
        (tmp_path / "a.jsonl", str(tmp_path / "b.parquet")),
        ([tmp_path / "a.jsonl"], B),
    ):
        found = nk.match(a, b, rules=RULES, values=True, threads=1)
        assert found.matches.to_pylist() == expected, type(a)


def test_fields_of_several_types_are_texts() -> None:
    mixed: list[dict[str, Any]] = [
        {"name": "ann smith", "phone": 5551234, "tags": ["x"]},
        {"name": "bob jones", "phone": "555 9999", "born": 1958},
        {"name": "cy miller", "phone": None, "born": "1960"},
    ]
    rules = {"threshold": 150, "candidates": ["name"], "fields": {"name": {}, "phone": {"distance": "digits"}}}
    others = [{"name": "ann smith", "phone": "555-1234"}, {"name": "bob jones", "phone": 5559999}]
    for a in (mixed, pd.DataFrame(mixed)):
        rows = nk.match(a, others, rules=rules).matches.to_pylist()
        assert [(row["a"], row["b"], row["score"]) for row in rows] == [(0, 0, 200.0), (1, 1, 200.0)]


def test_one_table_falls_into_clusters(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    both = [{**row, "id": str(row["id"])} for row in A] + B
    words = ["both.jsonl", "-c", "match.toml", "--clusters", "who.jsonl"]
    expected = command(tmp_path, *words, "-o", "-", "--stats", "stats.json")
    found = nk.match(both, rules=RULES)
    assert found.matches.to_pylist() == expected
    assert found.clusters is not None
    assert found.clusters.to_pydict() == {
        "id": ["1", "2", "3", "x", "y", "z", "w"],
        "cluster": ["1", "2", "3", "1", "2", "z", "2"],
    }
    lines = (tmp_path / "who.jsonl").read_text().splitlines()
    assert found.clusters.to_pylist() == [json.loads(line) for line in lines]
    stats = json.loads((tmp_path / "stats.json").read_text())
    # The pairs are counted before anybody asks for them.
    for key in ("pairs", "clusters", "candidates", "candidates_by_rule", "reached", "threshold", "most"):
        assert found.stats[key] == stats[key], key
    assert repr(found) == "<7 records, 4 matches in 2 clusters>"


def test_a_check_gives_shares(tmp_path: pathlib.Path) -> None:
    script = ROOT / "examples" / "python" / "persons.py"
    subprocess.run([sys.executable, script, "--count", "2000", tmp_path], check=True, capture_output=True)
    rules = ROOT / "examples" / "match" / "persons.toml"
    words = [tmp_path / "a.csv", tmp_path / "b.csv", "-c", rules, "--shares", "shares.jsonl"]
    expected = command(tmp_path, *words)
    a, b = (pd.read_csv(tmp_path / name, dtype=str, keep_default_na=False) for name in ("a.csv", "b.csv"))
    found = nk.match(a, b, rules=rules)
    assert found.matches.to_pylist() == expected
    assert found.shares is not None
    lines = (tmp_path / "shares.jsonl").read_text().splitlines()
    assert found.shares.to_pylist() == [json.loads(line) for line in lines]
    # Suggested rules are the command's to the letter, and do as they are.
    run = [sys.executable, "-m", "nearkin", "match", "a.csv", "b.csv", "--suggest", "--quiet"]
    suggested = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert nk.suggest_rules(a, b) == suggested
    assert nk.suggest_rules(tmp_path / "a.csv", tmp_path / "b.csv", threads=1) == suggested
    assert nk.match(a, b, rules=suggested).stats["pairs"] > 900


def test_s8_11_days_with_a_sign() -> None:
    days = [date(2020, 1, 1) + timedelta(days=7 * person) for person in range(150)]
    a = {"id": list(range(150)), "name": [f"name{i}" for i in range(150)], "made": [str(day) for day in days]}
    # A person's second record comes 0 to 20 days later.
    later = [day + timedelta(days=i % 21) for i, day in enumerate(days)]
    b = {**a, "made": [str(day) for day in later]}
    rules = {
        "candidates": ["name"],
        "fields": {"name": {}},
        "check": {"column": "made", "distance": "days", "window": [0, 90]},
    }
    found = nk.match(pa.table(a), pa.table(b), rules=rules)
    shares = found.stats["shares"]
    assert shares["certain"] == pytest.approx(sum(i % 21 for i in range(150)) / 150)
    # About 8,000 of the 100,000 random pairs: five standard errors of 26/√8000, and steps of seven days.
    assert shares["random"] == pytest.approx(45, abs=3)
    with pytest.raises(nk.NearkinError, match="one table"):
        nk.match(pa.table(a), rules=rules)


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The rules with another value at a place."""
    rules: dict[str, Any] = json.loads(json.dumps(RULES))
    inner = rules
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
    inner[path[-1]] = to
    return rules


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (changed("candidates", to=["fone"]), "rules: candidates: `fone` is none of the fields"),
        (changed("fields", "name", "lost_at", to=-5), "rules: fields.name.lost_at: lost_at must be"),
        (changed("fields", "name", "points", to="many"), "rules: fields.name.points: invalid type"),
        (changed("fields", "name", "pionts", to=3), "rules: fields.name.pionts: unknown key `pionts`"),
        (changed("fields", "name", "points", to=object()), "rules: fields.name.points is <object"),
        (changed("treshold", to=150), "rules: treshold: unknown key `treshold`"),
        (changed("threshold", to=None), "rules: no threshold"),
        (changed("threshold", to=float("nan")), "rules: threshold: the threshold is NaN"),
        (changed("threshold", to=1500), "threshold is 1500; it must be at most 300"),
        (changed("match", to="clusters"), "rules: match: clusters are for one table"),
        ({}, "rules: missing `candidates`"),
        (7, "rules is a int; it must be a dict"),
    ],
)
def test_wrong_rules_are_said_with_their_key(rules: Any, message: str) -> None:
    with pytest.raises(nk.ParameterError) as told:
        nk.match(A, B, rules=rules)
    assert message in str(told.value)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(nk.InputError, match=r"^<rules>:3: `fone` is none of the fields"):
        nk.match(A, B, rules=TOML.replace('"phone"', '"fone"'))
    with pytest.raises(nk.FileError, match="^none.toml: cannot read"):
        nk.match(A, B, rules="none.toml")
    with pytest.raises(nk.FileError, match="^<b>: no column `street`, which the rules name: it has name"):
        nk.match(A, [{"name": "x", "phone": 1}], rules=RULES)
    with pytest.raises(TypeError, match="did you mean 'delimiter'"):
        nk.match(A, B, rules=RULES, delimeter=";")  # type: ignore[call-arg]
    with pytest.raises(nk.ParameterError, match="the records are one column"):
        nk.match(["ann"], B, rules=RULES)
    with pytest.raises(nk.ParameterError, match="not of ids and records"):
        nk.match({"name": ["ann"]}, B, rules=RULES)
    with pytest.raises(nk.InputError, match="<a>:4: the id .* was there before"):
        nk.match([*A, A[0]], B, rules=RULES)
    with pytest.warns(nk.NearkinWarning, match="<a>:4: the id") as told:
        found = nk.match([*A, A[0]], B, rules=RULES, on_error="skip")
    assert found.stats["skipped"] == 1 and found.stats["records"] == [3, 4]
    assert told[0].filename == __file__
    with pytest.raises(nk.NearkinError, match="nothing to suggest"):
        nk.suggest_rules(A, B)


def test_empty_tables_match_nothing() -> None:
    for empty in ([], pa.table({"name": pa.array([], pa.string())}), pd.DataFrame({"name": []})):
        assert nk.match(empty, B, rules=RULES).matches.num_rows == 0
    assert nk.match([], rules=RULES).clusters.num_rows == 0  # type: ignore[union-attr]


def test_names_that_toml_quotes() -> None:
    rules = {
        "threshold": 100,
        "candidates": ["family name"],
        "missing": ["n/a", "\x7f", 'say "no"'],
        "fields": {"family name": {"column": ["surname", "Nachname „é“"]}},
    }
    found = nk.match([{"surname": "Smith"}], [{"Nachname „é“": "smith"}], rules=rules)
    assert found.matches.to_pylist() == [{"a": 0, "b": 0, "score": 100.0, "family name": 100.0}]


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


@pytest.mark.parametrize(
    ("name", "tables", "read", "flags"),
    [
        (
            "febrl",
            ["febrl/dataset4a.csv", "febrl/dataset4b.csv"],
            {"skipinitialspace": True},
            ["--id", "rec_id"],
        ),
        ("dblp_acm", ["D4_dblp_acm/dblp.csv", "D4_dblp_acm/acm.csv"], {"sep": "%"}, ["--delimiter", "%"]),
    ],
)
def test_real_tables_give_the_rows_of_the_command(
    data: pathlib.Path, tmp_path: pathlib.Path, name: str, tables: list[str], read: dict[str, Any], flags: list[str]
) -> None:
    paths = [data / "records" / table for table in tables]
    rules = ROOT / "examples" / "match" / f"{name}.toml"
    expected = command(tmp_path, *paths, *flags, "-c", rules)
    assert len(expected) > 2000
    options: dict[str, Any] = {flags[0].removeprefix("--"): flags[1]}
    assert nk.match(*paths, rules=rules, **options).matches.to_pylist() == expected
    frames = [pd.read_csv(path, dtype=str, keep_default_na=False, **read) for path in paths]
    if name == "dblp_acm":  # their ids are texts here
        expected = [{**row, "a": str(row["a"]), "b": str(row["b"])} for row in expected]
        options = {}
    assert nk.match(*frames, rules=rules, **options).matches.to_pylist() == expected


def test_parquet_tables_are_matched_by_what_can_be_compared(tmp_path: pathlib.Path) -> None:
    names = ["ann smith", "bob jones", "cy miller"]
    for side, first in (("a", 0), ("b", 1)):
        rows = {"id": range(3), "name": names[first:] + names[:first], "tags": [["x"], [], None]}
        pq.write_table(pa.table({**rows, "id": list(rows["id"])}), tmp_path / f"{side}.parquet")
    (tmp_path / "match.toml").write_text('threshold = 50\ncandidates = ["name"]\n[fields.name]\n')
    rows = command(tmp_path, "a.parquet", "b.parquet", "-c", "match.toml")
    assert [(row["a"], row["b"], row["score"]) for row in rows] == [(0, 2, 100.0), (1, 0, 100.0), (2, 1, 100.0)]
    tables = [pq.read_table(tmp_path / f"{side}.parquet") for side in "ab"]
    assert nk.match(*tables, rules=tmp_path / "match.toml").matches.to_pylist() == rows
