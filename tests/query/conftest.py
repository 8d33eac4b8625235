"""The functions f, g and my_udf of these tests are allowed, as an owner allows a UDF."""

import pytest

from weft.query.limits import FUNCTIONS


@pytest.fixture(autouse=True, scope="module")
def _functions_of_the_owner() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FUNCTIONS, "f,g,my_udf")
        yield
