"""Checks option names; the error for a misspelt name suggests the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from weft.errors import PlanError

Function = TypeVar("Function", bound=Callable[..., Any])


def meant(name: str, accepted: Iterable[str]) -> str:
    """The end of a message about an unknown name: a suggestion, or the accepted names.

    >>> meant("stratgy", ["rate", "strategy"])
    "did you mean 'strategy'?"
    >>> meant("x", ["rate", "strategy"])
    'accepted are rate, strategy'
    """
    known = {one.lower(): one for one in accepted}
    close = get_close_matches(name.lower(), known, 1)
    return f"did you mean {known[close[0]]!r}?" if close else f"accepted are {', '.join(accepted)}"


def given(**options: Any) -> dict[str, Any]:
    """The options that were given: those that are not None.

    >>> given(rate=5.0, strategy=None)
    {'rate': 5.0}
    """
    return {name: value for name, value in options.items() if value is not None}


def named_options(function: Function) -> Function:
    """Refuse keywords that a function does not have, and suggest similar ones."""
    accepted = [
        parameter.name
        for parameter in signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    known = set(signature(function).parameters)

    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name, value in options.items():
            if name not in known:
                raise PlanError(
                    f"{name}={value!r}: {function.__name__}() has no such option; "
                    f"{meant(name, accepted)}"
                )
        return function(*args, **options)

    return cast(Function, checked)
