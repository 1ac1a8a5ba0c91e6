"""What executors run, under a name by which functions that are sent to them find it."""

from nearkin import _nearkin

Keys = _nearkin.spark.Keys
Likeness = _nearkin.spark.Likeness
clusters = _nearkin.spark.clusters
components = _nearkin.spark.components
copy_lines = _nearkin.spark.copy_lines
frequent = _nearkin.spark.frequent
meet = _nearkin.spark.meet
misses_none = _nearkin.spark.misses_none
pairs = _nearkin.spark.pairs
read_lines = _nearkin.spark.read_lines
sketches = _nearkin.spark.sketches
stars = _nearkin.spark.stars
starts = _nearkin.spark.starts
