"""The command's `pairs` and `dedup` as a Spark job, with the command's flags."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from nearkin import FileError, NearkinError, ParameterError, _nearkin
from nearkin.spark import _READING, _SPARKS, _named, _rust, dedup, pairs
from nearkin.spark._dedup import Deduplicated, deduplicate
from nearkin.spark._files import FileTexts, kind_of
from nearkin.spark._stages import Found

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What a job takes that is no option of a search.
_JOBS = ("inputs", "output", "clusters", "stats", "quiet", "keep", "chains", "no_chains", "against")

#: Files of a job's folder, and their checksums.
_OF_JOBS = re.compile(r"part-.*|_SUCCESS|_temporary|\.(part-.*|_SUCCESS)\.crc")


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command line such as ``dedup corpus.jsonl -o kept``; the status to end with."""
    given = list(sys.argv[1:] if words is None else words)
    if not given or "-h" in given or "--help" in given:
        print("The command's `pairs` and `dedup` as a Spark job: INPUT is what all machines see, -o and --clusters name folders.\n")
        return _nearkin.main(["nearkin", *(given or ["--help"])])
    _nearkin.speak_of_flags(True)
    try:
        job, options = parse(given)
        session = SparkSession.builder.appName(f"nearkin {job}").getOrCreate()
        run(session, job, options)
    except NearkinError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except PySparkException as error:
        # What executors raise comes as the text of its traceback.
        lines = [line for line in str(error).splitlines() if line.startswith("nearkin.")]
        print(f"error: {lines[-1].partition(': ')[2] if lines else error}", file=sys.stderr)
        return 1
    finally:
        _nearkin.speak_of_flags(False)
    return 0


def parse(words: list[str]) -> tuple[str, dict[str, Any]]:
    """The job, its options by the names that Python uses, and the files that it names."""
    job, options, files = _nearkin.take_apart(words)
    given = {"as_" if name == "as" else name: value for name, value in json.loads(options).items()}
    return job, given | {name: value for name, value in files.items() if value}


def run(session: SparkSession, job: str, options: dict[str, Any]) -> dict[str, Any]:
    """Runs a job; what `--stats` has."""
    start = time.monotonic()
    if options.get("against"):
        raise ParameterError("--against does not run on Spark yet; search both collections as one")
    inputs = [os.fsdecode(path) for path in options.get("inputs", [])]
    here = [path for path in inputs if "://" not in path]
    for path in here:
        if not os.path.exists(path):
            raise FileError(f"{path}: does not exist; check the path")
    for name in ("output", "clusters"):
        _check_folder(options.get(name), here)
    if options.get("clusters") and os.path.abspath(options["clusters"]) == os.path.abspath(options.get("output") or "/"):
        raise ParameterError("-o and --clusters name the same folder; give each one of its own")
    if job == "dedup" and not options.get("output") and not options.get("clusters"):
        raise ParameterError("-o is missing: name the folder for the records that are kept, or --clusters")
    search = {name: value for name, value in options.items() if name not in _JOBS}
    keep, output = str(options.get("keep", "first")), options.get("output") or ""
    files = _files(session, inputs, search, keep, output)
    stats: dict[str, Any] = {}
    if job == "pairs":
        _pairs(session, inputs, files, search, options)
    else:
        stats = _dedup(session, inputs, files, search, options)
    stats["seconds"] = round(time.monotonic() - start, 3)
    if options.get("stats"):
        with open(options["stats"], "w", encoding="utf-8") as file:
            json.dump(stats, file)
    return stats


def _check_folder(target: str | None, inputs: list[str]) -> None:
    """Ends with an error where something is in the way that no job has written."""
    if target is None or "://" in target or not os.path.lexists(target):
        return
    if not os.path.isdir(target):
        raise FileError(f"{target}: is a file; a job writes a folder, name another one or remove it")
    if any(os.path.samefile(os.path.dirname(os.path.abspath(path)), target) for path in inputs):
        raise FileError(f"{target}: has an input in it, and what is in it is replaced; name another folder")
    names = sorted(os.listdir(target))
    others = [name for name in names if not _OF_JOBS.fullmatch(name)]
    if others:
        raise FileError(f"{target}: has {others[0]!r} in it, which no job wrote; name another folder")
    # A job leaves `_SUCCESS` when it is done, and `_temporary` when it is killed.
    if names and not {"_SUCCESS", "_temporary"} & set(names):
        raise FileError(f"{target}: has {names[0]!r} in it, but no _SUCCESS, which jobs write; name another folder or empty it")


def _files(
    session: SparkSession, inputs: list[str], search: dict[str, Any], keep: str, output: str
) -> FileTexts | None:
    """The files, where executors can read them themselves."""
    format = search.get("format")
    if keep.partition(":")[1] or any(kind_of(path, format) is None for path in inputs) or "://" in output:
        return None
    skip = search.get("on_error") == "skip"
    tables = any(kind_of(path, format) == "parquet" for path in inputs)
    # Lists, and rows without a text, are Spark's to read.
    if search.get("as_") in ("set", "bag") or (skip and tables):
        return None
    text, id = search.get("text", "text"), search.get("id")
    limits: dict[str, Any] = {name: search[name] for name in ("max_item", "normal_form") if name in search}
    return FileTexts(session, inputs, text, id, bool(search.get("positions")), skip, format, limits)


def _kind(path: str, search: dict[str, Any]) -> str:
    return str(search.get("format") or path.removesuffix(".gz").rsplit(".", 1)[-1])


def _read(session: SparkSession, inputs: list[str], search: dict[str, Any]) -> DataFrame:
    """The files in their order, read by Spark."""

    def one(path: str) -> DataFrame:
        kind = _kind(path, search)
        if kind == "parquet":
            return session.read.parquet(path)
        if kind in ("csv", "tsv"):
            tab = "\t" if kind == "tsv" else ","
            reader = session.read.option("header", "no_header" not in search).option("escape", '"')
            # An empty field is an empty text, as in the command.
            read = reader.option("multiLine", True).csv(path, sep=search.get("delimiter", tab)).na.fill("")
            # Without names, columns have numbers.
            return read.toDF(*map(str, range(1, len(read.columns) + 1))) if "no_header" in search else read
        if kind in ("jsonl", "ndjson", "json"):
            return session.read.json(path)
        raise ParameterError(f"{path}: its name does not tell the format; pass --format")

    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), map(one, inputs))


def _similarity(search: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in search.items() if name not in (*_READING, *_SPARKS)}


def _pairs(
    session: SparkSession,
    inputs: list[str],
    files: FileTexts | None,
    search: dict[str, Any],
    options: dict[str, Any],
) -> None:
    found = None
    if files is None:
        rows = pairs(_read(session, inputs, search), **search)
    else:
        found = Found(files, _similarity(search))
        rows = _named(found, files, search)
    write(rows, options.get("output"), files is not None)
    if found is not None:
        found.release()


def _dedup(
    session: SparkSession,
    inputs: list[str],
    files: FileTexts | None,
    search: dict[str, Any],
    options: dict[str, Any],
) -> dict[str, Any]:
    keep, chains = str(options.get("keep", "first")), bool(options.get("chains"))
    output = options.get("output")
    result: Deduplicated
    if files is None:
        kinds = {_kind(path, search) for path in inputs}
        if kinds & {"csv", "tsv"} and ":" in keep:
            raise ParameterError("--keep by a column of CSV does not run on Spark: it has texts only; use Parquet or JSON")
        result = dedup(_read(session, inputs, search), keep=keep, chains=chains, **search)
        if output:
            write(result.kept, output, False, kinds.pop() if len(kinds) == 1 else "jsonl", "no_header" not in search)
    else:
        found = Found(files, _similarity(search) | {"chains": chains})
        result = deduplicate(found, files, keep, chains)
        if output:
            result.stats["written"] = files.copy(result.removed, output)
    if options.get("clusters"):
        write(result.clusters, options["clusters"], files is not None)
    result.release()
    return dict(result.stats)


def write(rows: DataFrame, target: str | None, json_ids: bool, usual: str = "jsonl", header: bool = True) -> None:
    """Writes rows into a folder, in the format that its name ends with, else in the usual one."""
    kind = (target or "").rsplit(".", 1)[-1]
    kind = kind if kind in ("csv", "tsv", "parquet", "jsonl") else usual
    if target is not None and "://" not in target:
        target = os.path.abspath(target)
    if kind in ("csv", "tsv", "parquet") and json_ids:
        names = [name for name in rows.columns if name in ("a", "b", "id", "cluster")]
        rows = rows.select(*[_plain(name) if name in names else F.col(name) for name in rows.columns])
    if target is not None and kind == "parquet":
        return rows.write.mode("overwrite").parquet(target)
    if target is not None and kind in ("csv", "tsv"):
        tab = "\t" if kind == "tsv" else ","
        return rows.write.mode("overwrite").csv(target, header=header, sep=tab)
    lines = _rust.on_executors(rows, _Lines(json_ids), "value string")
    if target is None:
        for line in lines.toLocalIterator():
            print(line.value)
        return None
    return lines.write.mode("overwrite").text(target)


def _plain(name: str) -> Any:
    """An id that came as JSON, as a text."""
    quoted = F.get_json_object(F.concat(F.lit('{"x":'), F.col(name), F.lit("}")), "$.x")
    return quoted.alias(name)


class _Lines:
    """Rows as lines of JSON, as the command writes them."""

    def __init__(self, json_ids: bool) -> None:
        self.json_ids = json_ids

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            raw = [self.json_ids and name in ("a", "b", "id", "cluster") for name in batch.schema.names]
            columns = [
                column.to_pylist() if as_is else [_json(value) for value in column.to_pylist()]
                for as_is, column in zip(raw, batch.columns)
            ]
            names = [json.dumps(name) for name in batch.schema.names]
            lines = [
                "{" + ",".join(f"{name}:{value}" for name, value in zip(names, row)) + "}"
                for row in zip(*columns)
            ]
            yield pa.RecordBatch.from_pydict({"value": pa.array(lines, pa.string())})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
