"""The calls of `docs/syllabus.md`, each made as it stands."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nearkin as nk
import pytest
from common import ROOT

PAGE = (ROOT / "docs" / "syllabus.md").read_text(encoding="utf-8")
CALLS = [call for line in PAGE.splitlines() if line.startswith("- Python: ") for call in re.findall("`(.*?)`", line)]


def test_the_page_has_calls() -> None:
    assert len(CALLS) > 60


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_the_page(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a result; or the file that it names is the reader's own, and then this is what is said."""
    os.symlink(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    own = [name for name in re.findall(r'"(\w+\.\w+)"', call) if name.endswith((".csv", ".tsv", ".jsonl", ".toml"))]
    if own:
        with pytest.raises((nk.FileError, OSError), match=f"{own[0]}|{own[-1]}"):
            eval(call, {"nk": nk})
    else:
        assert eval(call, {"nk": nk}) is not None
