"""Counts, sums and products, as Spark computes them."""

from decimal import Decimal

from weft.algebra.sums import COUNT, PRODUCT, SUM, TRY_SUM


def test_count_skips_rows_with_any_null() -> None:
    assert COUNT.fold(*(COUNT.lift(*row) for row in [(1, 2), (None, 2), (1, None)])) == (1,)


def test_count_of_no_argument_counts_every_row() -> None:
    assert COUNT.lift() == (1,)


def test_sum_of_nothing_is_null() -> None:
    assert SUM.fold(SUM.lift(None), SUM.lift(None)) == (None,)


def test_sum_keeps_decimals_exact() -> None:
    values = [Decimal("0.10"), Decimal("0.20"), None]
    assert SUM.fold(*map(SUM.lift, values)) == (Decimal("0.30"),)


def test_a_sum_past_a_long_comes_back_exactly() -> None:
    big = (2**63 - 1,)
    assert SUM.subtract is not None
    assert SUM.subtract(SUM.combine(big, big), big) == big


def test_an_overflowed_try_sum_stays_null() -> None:
    overflowed = (None, 2)
    assert TRY_SUM.combine(overflowed, TRY_SUM.lift(1)) == (None, 3)
    assert TRY_SUM.combine(TRY_SUM.lift(None), overflowed) == overflowed


def test_product_is_a_double() -> None:
    assert PRODUCT.fold(PRODUCT.lift(2), PRODUCT.lift(None), PRODUCT.lift(Decimal("1.5"))) == (3.0,)
    assert PRODUCT.lift(None) == PRODUCT.identity
