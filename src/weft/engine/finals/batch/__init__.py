"""All answers of a batch at once: many keys in one sorted layout, many windows, many parts.

Nothing here loops over keys or answers in Python; one call serves a whole key bucket.
"""

from weft.engine.finals.batch.answers import Answers, WindowRequest, answer
from weft.engine.finals.batch.layout import Instances, Ranges, Slices

__all__ = ["Answers", "Instances", "Ranges", "Slices", "WindowRequest", "answer"]
