"""All answers of a batch at once: many keys in one sorted layout, many windows, many parts.

Nothing here loops over keys or answers in Python; one call serves a whole key bucket.
"""

from weft.finals.batch.answers import Answers, Ask, answer
from weft.finals.batch.layout import Instances, Ranges, Slices

__all__ = ["Answers", "Ask", "Instances", "Ranges", "Slices", "answer"]
