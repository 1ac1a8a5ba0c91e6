"""``python -m nearkin.spark dedup corpus.jsonl -o kept``"""

import sys

from nearkin.spark._job import main

sys.exit(main())
