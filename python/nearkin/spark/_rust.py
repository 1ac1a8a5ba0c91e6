"""What executors run, under a name by which functions that are sent to them find it."""

from nearkin import _nearkin

Keys = _nearkin.spark.Keys
Likeness = _nearkin.spark.Likeness
choose = _nearkin.spark.choose
clusters = _nearkin.spark.clusters
components = _nearkin.spark.components
copy_lines = _nearkin.spark.copy_lines
frequent = _nearkin.spark.frequent
is_exact = _nearkin.spark.is_exact
meet = _nearkin.spark.meet
pairs = _nearkin.spark.pairs
read_lines = _nearkin.spark.read_lines
stars = _nearkin.spark.stars
