"""The lists of functions are consistent."""

from weft.query import functions


def test_no_function_is_refused_for_two_reasons() -> None:
    groups = [
        set(functions.NOT_DETERMINISTIC),
        functions.GENERATORS,
        functions.WINDOW_FUNCTIONS,
        functions.TIME_WINDOWS,
        functions.AGGREGATES,
    ]
    for i, group in enumerate(groups):
        for other in groups[i + 1 :]:
            assert not set(group) & set(other)


def test_synonyms_end_at_names_that_have_none() -> None:
    assert not set(functions.SYNONYMS.values()) & set(functions.SYNONYMS)


def test_names_are_in_lower_case() -> None:
    for name in (*functions.AGGREGATES, *functions.NOT_DETERMINISTIC, *functions.SYNONYMS):
        assert name == name.lower()


def test_words_of_the_clock_have_a_reason() -> None:
    assert set(functions.NOT_DETERMINISTIC) >= functions.CLOCK_WORDS
