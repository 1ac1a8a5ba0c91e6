"""What happens while a run goes: Ctrl-C, other threads, progress."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import nearkin as nk
from nearkin import _progress


def texts_of_one_template(count: int, own: int) -> list[str]:
    """Texts with so many words of their own."""
    rng = random.Random(1)
    template = [f"t{i}" for i in range(60)]
    return [" ".join(template + [f"w{rng.randrange(10**9)}" for _ in range(own)]) for _ in range(count)]


def long_job() -> list[str]:
    """All 800 million pairs are similar, which takes many seconds."""
    return texts_of_one_template(40_000, 1)


RULES = {"threshold": 90, "candidates": ["town"], "fields": {"town": {"points": 0}, "text": {"distance": "edit"}}}


def long_match() -> list[dict[str, str]]:
    """Records of one town with long texts: all pairs are scored, which takes many seconds."""
    return [{"town": "here", "text": text} for text in texts_of_one_template(4000, 12)]


def many_urls() -> list[str]:
    """The URLs of many hosts, none of them a mirror."""
    return [f"http://host{n % 5000}.example/docs/page{n}/part{n * 7}" for n in range(2_000_000)]


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(
    ("data", "call"),
    [
        ("long_job", "nk.pairs(data, threshold=0.8, approximate=True, recall=0.9999)"),
        ("long_match", "nk.match(data, rules=test_running.RULES)"),
    ],
)
def test_ctrl_c_stops_within_a_second(data: str, call: str) -> None:
    code = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, sys.argv[1])
        import test_running
        import nearkin as nk
        data = test_running.{data}()
        print("ready", flush=True)
        try:
            {call}
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    words = [sys.executable, "-c", code, os.path.dirname(__file__)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        # The work has begun when the process has used a second of processor time. That, and no clock on the wall, is what is
        # looked at, so that it does not matter what else runs on this machine.
        used = _seconds(run.pid)
        while run.poll() is None and _seconds(run.pid) < used + 1:
            pass
        used = _seconds(run.pid)
        run.send_signal(signal.SIGINT)
        assert run.stdout.readline() == "stopped\n"
        assert _seconds(run.pid) - used < (os.cpu_count() or 1)


def _seconds(process: int) -> float:
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_other_threads_run_meanwhile() -> None:
    texts = [f"{i} " + " ".join(f"w{i * j % 997}" for j in range(300)) for i in range(3000)]
    done = threading.Event()
    seen: list[float] = []

    def look() -> None:
        while not done.is_set():
            seen.append(time.process_time())

    thread = threading.Thread(target=look)
    thread.start()
    start = time.process_time()
    nk.pairs(texts, approximate=True, recall=0.9999, threads=1)
    end = time.process_time()
    done.set()
    thread.join()
    # While the lock is held nobody looks: the longest processor time without a look would be all of it.
    inside = [start, *(moment for moment in seen if start < moment < end), end]
    longest = max(b - a for a, b in zip(inside, inside[1:], strict=False))
    assert longest < (end - start) / 2


def test_progress_is_called_with_stages_and_drawn_on_a_line() -> None:
    lines: list[str] = []
    progress = _progress.Progress(lines.append, lambda: lines.append(""))
    progress("sketch", 0, 1000)
    progress("sketch", 500, 1000)
    progress("verify", 0, 0)
    progress.finish()
    assert "sketch" in lines[0] and "500 bytes of 1.0 kB" in lines[1]
    assert "verify" in lines[2] and lines[3] == ""


def test_progress_shows_by_itself_only_where_somebody_can_see_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    nk.pairs(long_job()[:2000])
    assert capfd.readouterr().err == ""
    seen: list[tuple[str, int, int]] = []
    monkeypatch.setattr("nearkin._progress.chosen", lambda wanted: Recorder(seen))
    nk.pairs(long_job()[:4000], approximate=True)
    stages = {stage for stage, _, _ in seen}
    assert stages and stages <= {"read", "sketch", "audit", "candidates", "load", "verify", "join", "write"}
    seen.clear()
    nk.match(long_match()[:150], rules=RULES)
    nk.hosts(many_urls())
    stages = {stage for stage, _, _ in seen}
    assert {"verify", "read"} <= stages <= {"load", "verify", "read", "join"}


class Recorder:
    def __init__(self, seen: list[tuple[str, int, int]]) -> None:
        self.seen = seen

    def __call__(self, stage: str, done: int, total: int) -> None:
        self.seen.append((stage, done, total))

    def finish(self) -> None:
        pass


def test_an_exception_in_the_progress_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaks(Recorder):
        def __call__(self, stage: str, done: int, total: int) -> None:
            raise RuntimeError("no more")

    monkeypatch.setattr("nearkin._progress.chosen", lambda wanted: Breaks([]))
    with pytest.raises(RuntimeError, match="no more"):
        nk.pairs(long_job(), threshold=0.8, approximate=True)
    with pytest.raises(RuntimeError, match="no more"):
        nk.match(long_match(), rules=RULES)
    with pytest.raises(RuntimeError, match="no more"):
        nk.hosts(many_urls())


def test_the_command_is_there() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "nearkin", "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"nearkin {nk.__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "nearkin", "pairs", "nothing.jsonl"], capture_output=True, text=True)
    assert wrong.returncode == 1 and "does not exist" in wrong.stderr


def test_texts_are_not_copied() -> None:
    code = textwrap.dedent(
        """
        import random
        import pyarrow as pa
        import nearkin as nk

        rng = random.Random(1)
        words = [f"word{i}" for i in range(10_000)]
        texts = [" ".join(rng.choices(words, k=3_000)) for _ in range(8_000)]
        table = pa.table({"text": pa.array(texts)})
        size = table.nbytes
        del texts
        resident = int(open("/proc/self/statm").read().split()[1]) * 4096
        open("/proc/self/clear_refs", "w").write("5")  # the peak counts from now on
        told = nk.dedup(table, memory="32M").stats
        print(size, told["peak_memory"] - resident)
        """
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    size, more = map(int, run.stdout.split())
    assert size > 180_000_000
    assert more < 110_000_000
