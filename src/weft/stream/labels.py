"""Labels of buckets: keys of Spark's state, chosen so that buckets spread evenly over partitions.

Spark puts a key into partition `hash(key) mod partitions`. Its hash of an integer (Murmur3 with
seed 42) is a bijection, so it can be inverted: the label of bucket `i` is the integer whose hash is
`i`. So buckets are distributed round-robin for any number of partitions.
"""

from __future__ import annotations

_BITS = 0xFFFFFFFF
_SEED = 42
_FOUR_BYTES = 4
_PER_TASK, _MOST = 2, 256
"""Buckets per task (each costs some 40 ms per micro-batch), and the default maximum in all."""


def bucket_labels(count: int) -> tuple[int, ...]:
    """The labels of this many buckets.

    >>> [spark_hash(label) for label in bucket_labels(5)]
    [0, 1, 2, 3, 4]
    """
    return tuple(_inverse(bucket) for bucket in range(count))


def default_buckets(tasks: int) -> int:
    """The default number of buckets for a stream with `tasks` parallel tasks; with room to grow.

    >>> [default_buckets(tasks) for tasks in (1, 2, 16, 100, 400)]
    [2, 4, 32, 200, 400]
    """
    return max(tasks, min(_PER_TASK * tasks, _MOST))


def spark_hash(number: int) -> int:
    """Spark SQL's `hash` of an integer.

    >>> spark_hash(0), spark_hash(1), spark_hash(-7)
    (933211791, -559580957, ...)
    """
    k = _rotated((number & _BITS) * 0xCC9E2D51 & _BITS, 15) * 0x1B873593 & _BITS
    h = (_rotated(_SEED ^ k, 13) * 5 + 0xE6546B64) & _BITS
    h ^= _FOUR_BYTES
    h = (h ^ h >> 16) * 0x85EBCA6B & _BITS
    h = (h ^ h >> 13) * 0xC2B2AE35 & _BITS
    return _signed(h ^ h >> 16)


def _inverse(hashed: int) -> int:
    """The integer with this hash: inverts the steps of `spark_hash`, from the last to the first."""
    h = _unshifted(hashed & _BITS, 16) * pow(0xC2B2AE35, -1, 1 << 32) & _BITS
    h = _unshifted(h, 13) * pow(0x85EBCA6B, -1, 1 << 32) & _BITS
    h = _unshifted(h, 16) ^ _FOUR_BYTES
    h = (h - 0xE6546B64) * pow(5, -1, 1 << 32) & _BITS
    k = _SEED ^ _rotated(h, 32 - 13)
    k = _rotated(k * pow(0x1B873593, -1, 1 << 32) & _BITS, 32 - 15)
    return _signed(k * pow(0xCC9E2D51, -1, 1 << 32) & _BITS)


def _unshifted(mixed: int, by: int) -> int:
    """The number x for which `x ^ (x >> by)` is `mixed`."""
    found = mixed
    for _ in range(32 // by):
        found = mixed ^ found >> by
    return found


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> (32 - by)) & _BITS


def _signed(number: int) -> int:
    return number - (1 << 32) if number >= 1 << 31 else number
