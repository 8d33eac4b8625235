"""What an untrusted query may contain: two gates, the first on weft's parse, the second on Spark's.

Read `untrusted` (the first gate), then what it uses: `allowed` (functions), `value_size` with
`size_rules` and `constants` (bounds on value sizes), `matching` with `patterns` (regular
expressions); then `spark_tree`, the second gate. Nothing here plans or runs anything.
"""

from weft.query.trust.untrusted import Text, check_untrusted, texts

__all__ = ["Text", "check_untrusted", "texts"]
