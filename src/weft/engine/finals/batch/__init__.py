"""All answers of a batch at once: many keys in one sorted layout, many windows, many parts.

No Python loops over keys or answers; one call serves a whole bucket of keys.
"""

from weft.engine.finals.batch.answers import Answers, WindowRequest, answer
from weft.engine.finals.batch.layout import Instances, Ranges, Slices

__all__ = ["Answers", "Instances", "Ranges", "Slices", "WindowRequest", "answer"]
