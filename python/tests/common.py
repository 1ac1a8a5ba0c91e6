"""What several tests share: where the repository is, as they run on the installed package; and what a word is."""

import os
import re
from pathlib import Path

ROOT = Path(os.environ.get("NEARKIN_ROOT") or Path(__file__).parent.parent.parent)

# Scripts without blanks between words, as docs/items.md lists them.
_ALONE = (
    r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\u3100-\u312f\u31a0-\u31bf"
    r"\u0e00-\u0fff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"
)
_WORDS = re.compile(rf"(?=\w)[{_ALONE}]|[^\W{_ALONE}]+")


def words(text: str) -> list[str]:
    """The words of a text."""
    return _WORDS.findall(text.lower())
