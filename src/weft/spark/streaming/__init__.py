"""A stream through one stateful operator: shards in, every query's answers out.

The plan is data here: queries come and go by restarting on the same checkpoint with the state
kept. Modules that run inside Spark's workers (`groups`, `combining`, `lifting`, `bucket`, ...) are
plain Arrow and NumPy and are tested without Spark; `operator` and `running` hold what needs it.
"""

from weft.sinks.parquet import read_results

__all__ = ["read_results"]
