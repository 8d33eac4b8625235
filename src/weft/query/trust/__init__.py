"""What an untrusted query may hold: two gates, the first by our reading, the second by Spark's.

Read `untrusted` (the first gate), then what it asks: `allowed` (functions), `value_size` with
`size_rules` and `constants` (how large values grow), `matching` with `patterns` (regular
expressions); then `spark_tree`, the second gate. Nothing here plans or runs anything.
"""

from weft.query.trust.untrusted import Text, check_untrusted, texts

__all__ = ["Text", "check_untrusted", "texts"]
