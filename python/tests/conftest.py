"""What several tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """The folder of the larger data sets, which `NEARKIN_DATA` names; without it the test is skipped."""
    if "NEARKIN_DATA" not in os.environ:
        pytest.skip("NEARKIN_DATA is not set")
    return Path(os.environ["NEARKIN_DATA"])
