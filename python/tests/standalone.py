"""A Spark standalone cluster on loopback: a master and workers of one core each, as real processes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

DEADLINE = 120.0


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Standalone:
    """A master and its workers; `stop` ends them all.

    pip ships no `start-master.sh`, so the classes behind it are started by `spark-class`.
    """

    def __init__(self, workers: int = 2, memory: str = "2g") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="standalone-"))
        self.home = Path(pyspark.__file__).parent
        self.environment = os.environ | {
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
        }
        port, self.page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start(
            "org.apache.spark.deploy.master.Master",
            *("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(self.page)),
        )
        self.until(lambda: self.state() is not None, "the master")
        for _ in range(workers):
            self._start(
                "org.apache.spark.deploy.worker.Worker",
                *("--host", "127.0.0.1", "--webui-port", str(free_port())),
                *("--cores", "1", "--memory", memory, self.url),
            )
        self.until(lambda: self.alive() >= workers, "the workers")

    def _start(self, name: str, *arguments: str) -> None:
        log = (self.folder / f"{name.rsplit('.', 1)[1]}-{len(self.processes)}.log").open("wb")
        command = [str(self.home / "bin" / "spark-class"), name, *arguments]
        # A session of its own: the workers' executors and Python processes end with it.
        self.processes.append(
            subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        )

    def state(self) -> dict[str, Any] | None:
        """What the master's page says, if it answers."""
        with contextlib.suppress(OSError, ValueError):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.page}/json/", timeout=5) as page:
                return dict(json.load(page))
        return None

    def alive(self) -> int:
        """Workers that are registered."""
        return int((self.state() or {}).get("aliveworkers", 0))

    def until(self, ready: Any, what: str) -> None:
        """Waits until something is ready, by asking again: the master tells nobody who registers or dies."""
        end = time.monotonic() + DEADLINE
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"{what} did not start; logs are in {self.folder}")
            time.sleep(0.1)

    def session(self, name: str = "nearkin", **settings: str) -> SparkSession:
        """A session of two executors with one core each."""
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master(self.url).appName(name)
        defaults = {
            "spark.executor.memory": "1500m",
            "spark.driver.memory": "1g",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "4",
            "spark.python.unix.domain.socket.enabled": "true",
            "spark.local.dir": str(self.folder / "local"),
        }
        for key, value in (defaults | settings).items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def processor_seconds(self) -> float:
        """Processor time that the workers, their executors and the Python processes took so far."""
        sessions = {process.pid for process in self.processes[1:]}
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rsplit(")", 1)[1].split()
                # Fields 6 and 14 to 17 of proc(5): session, own and reaped children's times.
                if int(fields[3]) in sessions:
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _kill(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """Ends every process and removes the folder."""
        for process in reversed(self.processes):
            self._kill(process)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def standalone(workers: int = 2, memory: str = "2g") -> Iterator[Standalone]:
    """A cluster for the length of a block."""
    cluster = Standalone(workers, memory)
    try:
        yield cluster
    finally:
        cluster.stop()
