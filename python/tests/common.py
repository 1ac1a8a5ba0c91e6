"""Where the repository is: tests run on the installed package, from another folder."""

import os
from pathlib import Path

ROOT = Path(os.environ.get("NEARKIN_ROOT") or Path(__file__).parent.parent.parent)
