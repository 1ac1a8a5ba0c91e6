"""What the user sees of a run: how far it is, in a terminal or a notebook, and warnings at its end."""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nearkin._errors import NearkinWarning

__all__ = ["Progress", "chosen", "shown", "warn"]


def _size(amount: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    active = shell.get_ipython()
    return active is not None and active.__class__.__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows stages as they go; call it with a stage's name, what is done, and of how much."""

    def __init__(self, show: Callable[[str], None], clear: Callable[[], None]) -> None:
        self._show = show
        self._clear = clear
        self._stage = ""
        self._start = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._start = stage, now
        seconds = now - self._start
        if not total:
            self._show(f"{stage:>10}  {seconds:.0f} s")
            return
        share = min(done / total, 1.0)
        bar = ("━" * round(30 * share)).ljust(30, "╌")
        rate = done / seconds if seconds > 0 else 0.0
        left = f"{(total - done) / rate:.0f} s left" if rate else ""
        self._show(f"{stage:>10}  {bar} {_size(done)} of {_size(total)}, {_size(rate)}/s {left}")

    def finish(self) -> None:
        """Takes the line away."""
        if self._stage:
            self._clear()


def _in_terminal() -> Progress:
    def show(line: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("\r\x1b[K" + line[:width])
        sys.stderr.flush()

    def clear() -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

    return Progress(show, clear)


def _in_cell() -> Progress:
    from IPython.display import display

    handle: Any = None

    def show(line: str) -> None:
        nonlocal handle
        text = {"text/plain": line}
        if handle is None:
            handle = display(text, raw=True, display_id=True)
        else:
            handle.update(text, raw=True)

    def clear() -> None:
        if handle is not None:
            handle.update({"text/plain": ""}, raw=True)

    return Progress(show, clear)


def chosen(wanted: bool | None) -> Progress | None:
    """What shows progress: by itself only where somebody can see it."""
    if wanted is False:
        return None
    if _in_notebook():
        return _in_cell()
    if sys.stderr is not None and (wanted or sys.stderr.isatty()):
        return _in_terminal()
    return None


@contextmanager
def shown(wanted: bool | None) -> Iterator[Progress | None]:
    """What shows progress during a call."""
    progress = chosen(wanted)
    try:
        yield progress
    finally:
        if progress:
            progress.finish()


def warn(messages: list[str], above: int) -> None:
    """Warns the caller of the function that is `above` calls up: 1 for who calls the caller of `warn`."""
    for message in messages:
        warnings.warn(message, NearkinWarning, stacklevel=above + 2)
