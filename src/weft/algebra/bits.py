"""Booleans and bits: kinds `bool_and`, `bool_or`, `bit_and`, `bit_or`, `bit_xor`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from weft.algebra.monoid import Component, Family, Laws, Monoid, Partial

_IDEMPOTENT = Laws(commutative=True, invertible=False, idempotent=True)
_GROUP = Laws(commutative=True, invertible=True, idempotent=False)


def _skipping_nulls(op: Callable[[Any, Any], Any]) -> Callable[[Partial, Partial], Partial]:
    def combine(older: Partial, newer: Partial) -> Partial:
        if older[0] is None:
            return newer
        return older if newer[0] is None else (op(older[0], newer[0]),)

    return combine


def _bitwise(kind: str, op: Callable[[Any, Any], Any], family: Family, laws: Laws) -> Monoid:
    return Monoid(
        kind=kind,
        laws=laws,
        components=(Component("bits", family),),
        identity=(None,),
        lift=lambda value: (value,),
        combine=_skipping_nulls(op),
        subtract=_skipping_nulls(op) if laws.invertible else None,
        partial_sql=(f"{kind}({{0}}){{where}}",),
        merge_sql=(f"{kind}({{bits}})",),
        note="null when every value is",
    )


BOOL_AND = _bitwise("bool_and", operator.and_, "boolean", _IDEMPOTENT)
BOOL_OR = _bitwise("bool_or", operator.or_, "boolean", _IDEMPOTENT)
BIT_AND = _bitwise("bit_and", operator.and_, "argument", _IDEMPOTENT)
BIT_OR = _bitwise("bit_or", operator.or_, "argument", _IDEMPOTENT)
BIT_XOR = _bitwise("bit_xor", operator.xor, "argument", _GROUP)

MONOIDS = (BOOL_AND, BOOL_OR, BIT_AND, BIT_OR, BIT_XOR)
