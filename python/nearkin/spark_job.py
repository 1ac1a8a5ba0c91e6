"""For ``spark-submit``: ``spark-submit spark_job.py dedup corpus.jsonl -o kept --clusters groups``."""

import sys

from nearkin.spark._job import main

if __name__ == "__main__":
    sys.exit(main())
