"""Command, Python and Spark give one answer; Spark on a real master with two workers, one of which dies."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

pytest.importorskip("pyspark")

import nearkin as nk  # noqa: E402
import nearkin.spark as nks  # noqa: E402
from nearkin.spark import _dedup, _files  # noqa: E402
from nearkin.spark._components import contract  # noqa: E402
from nearkin.spark._job import _check_folder, main, parse, run  # noqa: E402
from pyspark.errors import PySparkException  # noqa: E402
from standalone import Standalone, standalone  # noqa: E402

Row = tuple[str, str, float | None]


def corpus(count: int) -> list[Row]:
    """Texts of which two in five are like an earlier one, or copies, or chains of these; some have no shingle."""
    draw = random.Random(3)
    words = [f"w{i}" for i in range(400)]
    rows: list[Row] = []
    for i in range(count):
        if rows and draw.random() < 0.4:
            text = draw.choice(rows)[1].split()
            for _ in range(draw.choice([0, 1, 2, 4])):
                text[draw.randrange(len(text))] = draw.choice(words)
        elif draw.random() < 0.02:
            text = ["no", "shingle"]
        else:
            text = draw.choices(words, k=draw.randint(20, 120))
        rows.append((f"id{i}", " ".join(text), draw.choice([None, 1.5, 2.5, float(i)])))
    return rows


@pytest.fixture(scope="module")
def cluster() -> Iterator[Standalone]:
    with standalone() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def session(cluster: Standalone) -> Iterator[Any]:
    session = cluster.session()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return corpus(1200)


@pytest.fixture(scope="module")
def table(rows: list[Row]) -> pa.Table:
    names = ["id", "text", "v"]
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})


@pytest.fixture(scope="module")
def frame(session: Any, rows: list[Row]) -> Any:
    parts = session.sparkContext.parallelize(rows, 5)
    frame = session.createDataFrame(parts, "id string, text string, v double").persist()
    frame.count()  # it is held from here on
    return frame


def same(rows: Any, expected: pa.Table) -> None:
    """Whether a DataFrame has the rows of a table, byte for byte once both are sorted."""
    got = sorted(json.dumps(row.asDict()) for row in rows.collect())
    assert got == sorted(json.dumps(row) for row in expected.to_pylist())
    assert got


PAIRS: list[dict[str, Any]] = [
    {"approximate": True},
    {"exact": True},
    {},
    {"approximate": True, "shingle": "chars:5", "measure": "bag", "threshold": 0.7, "seed": 7},
    {"measure": "overlap", "threshold": 30},
    {"within": 0.3, "approximate": True, "heavy": 2},
]


@pytest.mark.parametrize("options", PAIRS, ids=str)
def test_pairs_are_the_same_as_in_python(frame: Any, table: pa.Table, options: dict[str, Any]) -> None:
    expected = nk.pairs(table, **{name: value for name, value in options.items() if name != "heavy"})
    same(nks.pairs(frame, **options), expected)


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
@pytest.mark.parametrize("options", [{"approximate": True}, {"exact": True}], ids=str)
def test_texts_without_shingles_are_the_same_as_in_python(session: Any, options: dict[str, Any]) -> None:
    texts = ["Wer andern eine Grube gräbt", "...", "", "Wer andern eine Grube gräbt", "!", "...", "", "..."]
    given = pa.table({"id": [f"id{at}" for at in range(len(texts))], "text": texts})
    frame = session.createDataFrame(session.sparkContext.parallelize(given.to_pylist(), 3), "id string, text string")
    same(nks.pairs(frame, shingle="stopwords", **options), nk.pairs(given, shingle="stopwords", **options))
    kept = nks.dedup(frame, shingle="stopwords", **options)
    expected = nk.dedup(given, shingle="stopwords", **options)
    same(kept.kept, expected.kept)
    assert (kept.stats["empty"], expected.kept.num_rows) == (2, 5)


def test_bands_find_what_they_promise_where_many_values_must_agree(session: Any) -> None:
    """With 3000 pairs of sets that have 54 of 60 elements in common, 103 are promised; the seed is fixed, and another
    would fail once in 30,000 times. One permutation for all rows finds 39."""
    elements = [(*range(54), *own) for own in (range(54, 57), range(57, 60))]
    rows = [(2 * n + side, " ".join(f"w{60 * n + at}" for at in elements[side])) for n in range(3000) for side in (0, 1)]
    frame = session.createDataFrame(session.sparkContext.parallelize(rows, 4), "id long, text string")
    for bands, least in ((1, 103 - 4 * 10), (4, 391 - 4 * 18.5)):
        found = nks.pairs(frame, shingle="words:1", threshold=0.9 - 1e-9, bands=bands, rows=32)
        assert found.count() >= least


DEDUP: list[dict[str, Any]] = [
    {"within": 0.3, "approximate": True},
    {"within": 0.4, "approximate": True, "chains": True},
    {"within": 40, "measure": "hamming", "keep": "longest"},
    {"approximate": True, "chains": True},
    {"approximate": True, "keep": "longest"},
    {"approximate": True, "keep": "max:v", "chains": True},
    {"exact": True, "keep": "min:v"},
    {"approximate": True, "keep": "prefer:v=3,1|longest"},
    {"approximate": True, "keep": "longest|max:v", "chains": True},
    {"measure": "overlap", "threshold": 30},
    {"measure": "containment", "threshold": 0.7, "keep": "max:v"},
    {"threshold": 0.5},
    {},
]


@pytest.mark.parametrize("by_joins", [False, True], ids=["here", "by joins"])
@pytest.mark.parametrize("options", DEDUP, ids=str)
def test_groups_are_the_same_as_in_python(
    session: Any, frame: Any, table: pa.Table, options: dict[str, Any], by_joins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_joins:
        monkeypatch.setattr(_dedup, "FEW", 0)
    held = session.sparkContext._jsc.getPersistentRDDs().size()
    expected, found = nk.dedup(table, **options), nks.dedup(frame, **options)
    same(found.clusters, expected.clusters)
    same(found.kept, expected.kept)
    for name in ("kept", "clusters"):
        assert found.stats[name] == expected.stats[name]
    assert (found.stats["rounds"] > 0) == by_joins
    # Plans that use each other twice grow with every one; the driver keeps them all.
    assert len(found.members._jdf.queryExecution().toString()) < 20_000
    found.release()
    assert session.sparkContext._jsc.getPersistentRDDs().size() <= held


def test_the_snippet_of_the_readme(frame: Any, table: pa.Table) -> None:
    readme = (Path(os.environ.get("NEARKIN_ROOT") or Path(__file__).parent.parent.parent) / "README.md").read_text()
    blocks = [block for block in re.findall(r"```python\n(.*?)```", readme, flags=re.S) if "nearkin.spark" in block]
    assert len(blocks) == 1
    names: dict[str, Any] = {"articles": frame}
    exec(blocks[0], names)
    same(names["kept"], nk.dedup(table, threshold=0.8).kept)


def test_positions_are_ids_where_there_are_none(session: Any, rows: list[Row]) -> None:
    texts = [(row[1],) for row in rows[:300]]
    frame = session.createDataFrame(session.sparkContext.parallelize(texts, 4), "text string")
    same(nks.pairs(frame, threshold=0.6), nk.pairs([text for (text,) in texts], threshold=0.6))


def test_offsets_may_be_wide(session: Any, frame: Any, table: pa.Table) -> None:
    session.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    try:
        same(nks.dedup(frame).clusters, nk.dedup(table).clusters)
    finally:
        session.conf.unset("spark.sql.execution.arrow.useLargeVarTypes")


def test_sets_come_as_arrays(session: Any, rows: list[Row]) -> None:
    sets = [(row[0], row[1].split()) for row in rows[:400]]
    frame = session.createDataFrame(session.sparkContext.parallelize(sets, 3), "id string, text array<string>")
    table = pa.table({"id": [id for id, _ in sets], "text": [elements for _, elements in sets]})
    options: dict[str, Any] = {"as_": "set", "measure": "cosine", "threshold": 0.8}
    same(nks.pairs(frame, **options), nk.pairs(table, **options))


def test_what_is_wrong_is_told_before_anything_runs(frame: Any) -> None:
    with pytest.raises(nk.ParameterError, match="threshold"):
        nks.pairs(frame, threshold=2.0)
    with pytest.raises(nk.ParameterError, match="'words'"):
        nks.pairs(frame, text="words")
    with pytest.raises(nk.ParameterError, match="keep"):
        nks.dedup(frame, keep="last", approximate=True)
    with pytest.raises(nk.ParameterError, match="against does not run on Spark"):
        nks.dedup(frame, against=frame)
    with pytest.raises(TypeError, match="did you mean 'threshold'"):
        nks.pairs(frame, treshold=0.5)


def test_messages_of_executors_name_keyword_arguments(session: Any) -> None:
    frame = session.createDataFrame([("a", "x"), ("b", None)], "id string, text string")
    with pytest.raises(PySparkException, match='fill it in, or pass on_error="skip"'):
        nks.pairs(frame).collect()


def test_sketches_of_parts_make_that_of_the_whole(session: Any) -> None:
    draw = random.Random(5)
    parts = [(i, [f"e{draw.randrange(10 ** 6)}" for _ in range(draw.choice([1, 5, 60]))]) for i in range(40) for _ in range(3)]
    whole: dict[int, list[str]] = {}
    for i, elements in parts:
        whole.setdefault(i, []).extend(elements)
    rows = lambda given, n: session.createDataFrame(session.sparkContext.parallelize(given, n), "id int, text array<string>")  # noqa: E731
    one = nks.sketch(rows(list(whole.items()), 2), functions=64, as_="set").collect()
    combined = nks.sketch(rows(parts, 5), functions=64, as_="set", combine=True).collect()
    assert sorted(one) == sorted(combined)
    assert len({len(row.sketch) for row in one}) == 1


@pytest.mark.parametrize("shape", ["path", "random", "stars"])
def test_components_are_those_that_scipy_finds(session: Any, shape: str) -> None:
    draw = random.Random(9)
    n = 3000
    edges = {
        "path": [(i, i + 1) for i in range(n)],
        "random": [(draw.randrange(2 * n), draw.randrange(2 * n)) for _ in range(n)],
        "stars": [(i - i % 50, i) for i in range(n) if i % 50],
    }[shape]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    frame = session.createDataFrame(session.sparkContext.parallelize(edges, 7), "a long, b long").persist()
    found, rounds = contract(frame, lambda frame: frame.localCheckpoint())
    # A path of n vertices takes n rounds where neighbours only tell neighbours.
    assert rounds <= 3 * n.bit_length()
    a, b = np.array(edges).T
    _, labels = connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(2 * n, 2 * n)), directed=False)
    vertices = np.unique(edges)
    smallest = {label: vertex for vertex, label in reversed(list(zip(vertices, labels[vertices])))}
    assert sorted(map(tuple, found.collect())) == [(vertex, smallest[labels[vertex]]) for vertex in vertices]


def command(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "nearkin", *words, "--quiet"], check=True)


def lines(path: Path) -> list[bytes]:
    """The sorted lines of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [file for file in path.iterdir() if file.name.startswith("part-")]
    return sorted(line for file in files for line in file.read_bytes().splitlines())


def written(records: list[dict[str, Any]], path: Path) -> str:
    """A file of records, in the format that its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path, row_group_size=150)
    else:
        lines = "".join(json.dumps(record) + "\n" for record in records).encode()
        path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return str(path)


@pytest.mark.parametrize("kind, by_joins", [("jsonl", False), ("jsonl", True), ("jsonl.gz", False), ("parquet", False)])
def test_command_python_and_spark_write_the_same(
    session: Any, table: pa.Table, tmp_path: Path, kind: str, by_joins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_joins:
        monkeypatch.setattr(_dedup, "FEW", 0)
    records = table.to_pylist()
    inputs = [
        written(some, tmp_path / f"{name}.{kind}") for name, some in (("one", records[:700]), ("two", records[700:]))
    ]
    folders = {way: tmp_path / way for way in ("command", "python", "spark")}
    for folder in folders.values():
        folder.mkdir()
    suffix = kind.removesuffix(".gz")
    earlier = folders["spark"] / f"kept.{suffix}"
    earlier.mkdir()
    (earlier / f"part-00099.{suffix}").write_text("of an earlier job with more parts")
    (earlier / "_SUCCESS").touch()
    for job, words in (
        ("pairs", ["-o", "pairs.jsonl", "--approximate"]),
        ("dedup", ["-o", f"kept.{suffix}", "--clusters", "clusters.jsonl", "--keep", "longest", "--approximate"]),
    ):
        for way in ("command", "spark"):
            line = [job, *inputs, *(str(folders[way] / word) if "." in word else word for word in words)]
            command(*line) if way == "command" else run(session, *parse(line))
    paths = [Path(path) for path in inputs]
    pairs = nk.pairs(paths, approximate=True)
    found = nk.dedup(paths, keep="longest", approximate=True)
    here = folders["python"]
    for name, rows in (("pairs.jsonl", pairs), ("clusters.jsonl", found.clusters)):
        # As the command writes: no blank, and numbers as short as they may be.
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows.to_pylist())
        (here / name).write_text(text)
    if kind == "parquet":
        pq.write_table(found.kept, here / "kept.parquet")
    else:
        kept = set(found.kept["id"].to_pylist())
        written([record for record in records if record["id"] in kept], here / "kept.jsonl")
    for way in ("python", "spark"):
        for name in ("pairs.jsonl", "clusters.jsonl"):
            assert lines(folders[way] / name) == lines(folders["command"] / name), (way, name)
        if kind == "parquet":
            expected = pq.read_table(folders["command"] / "kept.parquet")
            assert pq.read_table(folders[way] / "kept.parquet").equals(expected), way
        else:
            assert lines(folders[way] / "kept.jsonl") == lines(folders["command"] / "kept.jsonl"), way


def test_a_job_removes_nothing_that_no_job_wrote(session: Any, tmp_path: Path) -> None:
    path = written([{"text": "a"}], tmp_path / "one.jsonl")
    notes = tmp_path / "mine" / "notes.txt"
    notes.parent.mkdir()
    notes.touch()
    for words in (["pairs", path, "-o"], ["dedup", path, "-o", str(tmp_path / "out"), "--clusters"]):
        with pytest.raises(nk.FileError, match="notes.txt"):
            run(session, *parse([*words, str(notes.parent)]))
    with pytest.raises(nk.FileError, match="is a file"):
        run(session, *parse(["dedup", path, "-o", str(notes)]))
    assert notes.exists()


@pytest.mark.parametrize("names", [[".bashrc"], ["part-list.txt"], ["_notes"], ["_SUCCESS", ".profile"]], ids=str)
def test_a_folder_whose_names_only_look_like_those_of_a_job_is_not_replaced(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(nk.FileError, match="name another folder"):
        _check_folder(str(tmp_path), [])


@pytest.mark.parametrize(
    "names", [[], ["_temporary"], ["_SUCCESS", "part-00000.jsonl", "._SUCCESS.crc", ".part-00000.jsonl.crc"]], ids=str
)
def test_a_folder_of_a_job_is_replaced(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    _check_folder(str(tmp_path), [])


def test_an_input_is_not_replaced_by_its_output(session: Any, tmp_path: Path) -> None:
    path = written([{"text": "a"}], tmp_path / "part-00000.jsonl")
    with pytest.raises(nk.FileError, match="has an input in it"):
        run(session, *parse(["dedup", path, "-o", str(tmp_path)]))


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz"])
@pytest.mark.parametrize("words", [[], ["--on-error", "skip"]], ids=str)
def test_lines_of_all_sorts_are_read_as_the_command_reads_them(
    session: Any, rows: list[Row], tmp_path: Path, words: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [json.dumps({"text": row[1]}, ensure_ascii=False) for row in rows[:200]]
    bad = ["{broken", '{"text": null}', "[]"] if words else []
    lines_in = [*bad, *texts[:90], "", *bad, *texts[90:], *bad]
    content = b"\xef\xbb\xbf" + "\r\n".join(lines_in).encode() + b"\r\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    monkeypatch.chdir(tmp_path)
    command("dedup", name, "-o", "here.jsonl", "--clusters", "clusters.jsonl", "-t", "0.6", *words)
    stats = run(session, *parse(["dedup", name, "-o", "there", "--clusters", "named", "-t", "0.6", *words]))
    assert lines(tmp_path / "there") == lines(tmp_path / "here.jsonl")
    assert lines(tmp_path / "named") == lines(tmp_path / "clusters.jsonl")
    assert stats["skipped"] == 3 * len(bad)


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz", "in.txt", "in.csv"])
def test_items_that_are_too_large_are_told_or_left_out_as_by_the_command(
    session: Any, rows: list[Row], tmp_path: Path, name: str
) -> None:
    texts = [row[1] for row in rows[:120]]
    for at, size in [(0, 4_000), (50, 2_500), (51, 3_000_000), (123, 9_000)]:
        texts.insert(at, ("word" + "x" * 4) * (size // 8))
    kinds = {".txt": "{}\n", ".csv": '"{}"\n'}
    form = kinds.get(Path(name).suffix, '{{"text": "{}"}}\n')
    content = ("text\n" * name.endswith("csv") + "".join(map(form.format, texts))).encode()
    # Spark has a working folder of its own.
    path, there, named = str(tmp_path / name), str(tmp_path / "there"), str(tmp_path / "named")
    Path(path).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    words = ["-t", "0.6", "--max-item", "2K"]
    skip = [*words, "--on-error", "skip"]
    command("dedup", path, "-o", str(tmp_path / "here.jsonl"), "--clusters", str(tmp_path / "clusters.jsonl"), *skip)
    stats = run(session, *parse(["dedup", path, "-o", there, "--clusters", named, *skip]))
    assert lines(tmp_path / "named") == lines(tmp_path / "clusters.jsonl")
    assert stats["skipped"] == 4
    told = r"has [0-9,]+ bytes, and an item may have 2,048; allow 1M with .*max.item.*skip"
    with pytest.raises((nk.NearkinError, PySparkException), match=told):
        run(session, *parse(["dedup", path, "-o", str(tmp_path / "stopped"), *words]))
    with pytest.raises(subprocess.CalledProcessError):
        command("dedup", path, "-o", str(tmp_path / "stopped.jsonl"), *words)


def test_lists_that_are_too_large_are_left_out_as_by_the_command(session: Any) -> None:
    sets = [[f"e{i}" for i in range(start, start + size)] for start, size in [(0, 9), (0, 10), (5, 400), (7, 300), (90, 8)]]
    # As one text: a byte, and each element behind its length and a colon.
    sets.append(["x" * 1018])
    sets.append(["y" * 1019])
    schema = "text array<string>"
    frame = session.createDataFrame(session.sparkContext.parallelize([(one,) for one in sets], 2), schema)
    options: dict[str, Any] = {"as_": "set", "threshold": 0.5, "max_item": 1024}
    expected = nk.dedup(pa.table({"text": sets}), on_error="skip", text="text", **options)
    result = nks.dedup(frame, on_error="skip", **options)
    same(result.clusters, expected.clusters)
    assert result.stats["items"] == 4
    with pytest.raises(PySparkException, match=r"DataFrame:\d+: has [0-9,]+ bytes, and an item may have 1,024"):
        nks.dedup(frame, **options).clusters.collect()


def test_a_packed_file_is_not_unpacked_beyond_what_a_task_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * (64 << 20)))
    monkeypatch.setattr(_files, "ROWS", 4 << 20)
    kept = []
    whole = tempfile.NamedTemporaryFile

    def watched(*args: Any, **options: Any) -> Any:
        kept.append(whole(*args, **options))
        return kept[-1]

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", watched)
    with pytest.raises(nk.FileError, match="more than 8 GiB unpacked"), _files.Split(str(path), "jsonl.gz", 0, 1).lines({}):
        pass
    assert kept[0].closed and not os.path.exists(kept[0].name)


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz", "in.parquet", "in.csv"])
def test_nothing_gives_nothing(session: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"text": pa.array([], pa.string())}), path)
    else:
        path.write_bytes(gzip.compress(b"") if path.suffix == ".gz" else b"text\n" if path.suffix == ".csv" else b"")
    stats = run(session, *parse(["dedup", str(path), "-o", str(tmp_path / "kept")]))
    assert (stats["items"], stats["kept"]) == (0, 0)
    run(session, *parse(["pairs", str(path), "-o", str(tmp_path / "pairs")]))
    assert lines(tmp_path / "pairs") == []


def test_rows_without_a_text_keep_their_number(session: Any) -> None:
    texts = [None, "a b c d e f", "x y z u v w", "a b c d e f", None, "x y z u v w"]
    frame = session.createDataFrame(session.sparkContext.parallelize([(text,) for text in texts], 2), "text string")
    expected = nk.dedup(texts, on_error="skip")
    same(nks.dedup(frame, on_error="skip").clusters, expected.clusters)


def test_fields_of_csv_are_texts(session: Any, rows: list[Row], tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("".join(f'{row[0]},"{row[1]}"\n' for row in rows[:200]) + "none,\n")
    words = ["--no-header", "--text", "2", "--id", "1", "-t", "0.6"]
    command("dedup", str(path), "-o", str(tmp_path / "here.csv"), "--clusters", str(tmp_path / "c.jsonl"), *words)
    run(session, *parse(["dedup", str(path), "-o", str(tmp_path / "there"), "--clusters", str(tmp_path / "d"), *words]))
    assert lines(tmp_path / "d") == lines(tmp_path / "c.jsonl")
    parts = [line.replace(b'"', b"") for line in lines(tmp_path / "there")]
    assert parts == sorted(line.replace(b'"', b"") for line in lines(tmp_path / "here.csv"))


def test_what_fails_is_told_in_a_line(session: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written([{"text": "a"}, {"text": None}], tmp_path / "in.jsonl")
    for words, told in (
        (["dedup", path, "-o", str(tmp_path / "out")], "error: .*in.jsonl:2: .*`text` is null.* or pass --on-error skip$"),
        (["dedup", str(tmp_path / "*.jsonl"), "-o", str(tmp_path / "out")], "error: .* does not exist"),
        (["dedup", path], "error: -o is missing"),
        (["dedup", path, "-o", str(tmp_path / "out"), "--clusters", str(tmp_path / "out/")], "error: .* the same folder"),
    ):
        assert main(words) == 1
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
        assert len(errors) == 1 and re.match(told, errors[0]), errors


def test_rows_come_in_the_order_of_a_column(session: Any, table: pa.Table) -> None:
    records = [record | {"at": at} for at, record in enumerate(table.to_pylist()[:400])]
    shuffled = random.Random(2).sample(records, len(records))
    parts = session.sparkContext.parallelize([tuple(record.values()) for record in shuffled], 4)
    frame = session.createDataFrame(parts, "id string, text string, v double, at long")
    expected = nk.dedup(pa.Table.from_pylist(records), approximate=True)
    found = nks.dedup(frame, approximate=True, order="at")
    same(found.clusters, expected.clusters)
    same(found.kept, expected.kept)


def deadly(folder: Path, partitions: int) -> Any:
    """Hands rows on; one of the first tasks of the second pass over them takes the worker that it runs on down with it."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.close(tempfile.mkstemp(dir=folder)[0])
        if len(os.listdir(folder)) > partitions:
            with contextlib.suppress(FileExistsError):
                os.close(os.open(folder / "dead", os.O_CREAT | os.O_EXCL))
                # A worker and its executors are one session.
                os.killpg(os.getsid(0), signal.SIGKILL)
        yield from batches

    return run


def test_a_worker_that_dies_changes_nothing(
    cluster: Standalone, session: Any, rows: list[Row], table: pa.Table, tmp_path: Path
) -> None:
    parts = session.sparkContext.parallelize(rows, 5)
    schema = "id string, text string, v double"
    frame = session.createDataFrame(parts, schema).mapInArrow(deadly(tmp_path, 5), schema)
    expected, found = nk.dedup(table, approximate=True), nks.dedup(frame, approximate=True)
    cluster.until(lambda: cluster.alive() == 1, "the master's notice of the dead worker")
    assert sum(process.poll() is not None for process in cluster.processes) == 1
    same(found.clusters, expected.clusters)
    same(found.kept, expected.kept)


def documents(count: int) -> pa.Table:
    """Documents of lines, some of which stand in many; blank lines, other cases, line ends and scripts, and none at all."""
    draw = random.Random(11)
    known = [" ".join(draw.choices(["All", "rights", "犬", "naïve", "w7", "—", "x_1"], k=draw.randint(1, 6))) for _ in range(60)]
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(draw.randint(0, 9)):
            line = draw.choice(known) if draw.random() < 0.5 else f"{draw.choice(known)} {draw.randrange(10**6)}"
            line = draw.choice([line, line.upper(), "", "---", f" {line}. Then {line}! "])
            parts.append(line + draw.choice(["\n", "\r\n", "\n\n", "\n"]))
        texts.append("".join(parts).removesuffix("\n"))
    return pa.table({"body": texts, "id": [f"d{at}" for at in range(count)], "cuts": [[at] for at in range(count)]})


TRIMS: list[dict[str, Any]] = [
    {"unit": "line", "positions": True},
    {"unit": "paragraph", "min_left": 6},
    {"unit": "sentence", "at_least": 3, "seed": 7},
    {"unit": "line", "keep": "none", "at_least": 4, "min_left": 3},
]


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
@pytest.mark.parametrize("options", TRIMS, ids=str)
def test_repeated_pieces_are_those_of_python(session: Any, options: dict[str, Any]) -> None:
    table = documents(600)
    rows = session.sparkContext.parallelize([tuple(row.values()) for row in table.to_pylist()], 4)
    frame = session.createDataFrame(rows, "body string, id string, cuts array<long>")
    expected, found = nk.trim(table, text="body", **options), nks.trim(frame, text="body", **options)
    same(found.kept, expected.kept)
    assert found.kept.columns == table.column_names
    same(found.removed, expected.removed.drop_columns(["file", "line", "kept_file", "kept_line"]))
    assert found.stats == {name: expected.stats[name] for name in found.stats}
    assert found.stats["repeated"] > 100 and (found.stats["dropped"] > 5) == ("min_left" in options)
    found.release()


@pytest.mark.filterwarnings("ignore::nearkin.NearkinWarning")
def test_trim_of_rows_without_a_text_and_of_nothing(session: Any) -> None:
    texts = ["same\nown", None, "SAME!\n", "x" * 5000]
    frame = session.createDataFrame(session.sparkContext.parallelize([(text,) for text in texts], 3), "text string")
    found = nks.trim(frame, unit="line", on_error="skip", max_item="4K")
    assert sorted(row.text for row in found.kept.collect()) == ["", "same\nown"]
    (row,) = found.removed.collect()
    assert row.asDict() == {
        **{"id": 2, "offset": 0, "length": 6, "reason": "repeated"},
        **{"kept_id": 0, "kept_offset": 0, "text": "SAME!\n"},
    }
    assert (found.stats["documents"], found.stats["skipped"], found.stats["emptied"]) == (2, 2, 1)
    nothing = nks.trim(frame.where("false"), unit="paragraph")
    assert nothing.kept.count() == nothing.removed.count() == nothing.stats["documents"] == nothing.stats["cut"] == 0


def test_what_cannot_be_trimmed_is_told_before_anything_runs(session: Any, frame: Any) -> None:
    for options, told in (
        ({"unit": "words:50"}, "'words:50' does not run on Spark yet; take line, paragraph or sentence"),
        ({"unit": "line", "threshold": 0.8}, "threshold does not run on Spark"),
        ({"unit": "lines"}, "unit"),
        ({"unit": "line", "at_least": 1}, "at_least"),
        ({"unit": "line", "text": "words"}, "there is no column 'words'"),
    ):
        with pytest.raises(nk.ParameterError, match=re.escape(told)):
            nks.trim(frame, **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="did you mean 'seed'"):
        nks.trim(frame, unit="line", sede=3)
    with pytest.raises(nk.ParameterError, match="documents are strings"):
        nks.trim(session.createDataFrame([(["a"],)], "text array<string>"), unit="line")
