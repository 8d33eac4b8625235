"""Restriction and its arithmetic, up to the largest slides."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.plan.edges.arithmetic import gcd, mulmod, restrict
from weft.plan.edges.progressions import LONGEST

large = st.integers(1, LONGEST)


@settings(deadline=None, max_examples=300)
@given(large, large, large)
def test_mulmod_and_gcd_do_not_overflow(a, b, modulus):
    assert mulmod(a % modulus, b % modulus, modulus) == a * b % modulus
    assert gcd(a, b) == math.gcd(a, b)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 39), st.integers(0, 39))
def test_restriction_is_what_its_definition_says(step, every, offset, at):
    a, s = restrict(offset % step, step, at % every, every)
    met = [(at % every + every * k - offset) % step == 0 for k in range(step)]
    if s == 0:
        assert not any(met)
    elif s == 1:
        assert all(met)
    else:
        assert met == [k % s == a for k in range(step)]


@settings(deadline=None, max_examples=200)
@given(large, large, st.integers(0, LONGEST), st.integers(0, LONGEST))
def test_restriction_of_large_steps_by_congruence(step, every, offset, at):
    offset, at = offset % step, at % every
    a, s = restrict(offset, step, at, every)
    common = math.gcd(step, every)
    if s == 0:
        assert (offset - at) % common
    else:
        assert s == step // common
        assert 0 <= a < s
        assert (at + every * a - offset) % step == 0
