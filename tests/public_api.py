"""The signatures of everything in docs/api.md: `python tests/public_api.py` records them anew."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "api.md"
KEPT = Path(__file__).with_name("public_api.txt")


def named() -> list[str]:
    """The names that have a section on the page."""
    return re.findall(r"^::: (\S+)$", PAGE.read_text("utf-8"), re.MULTILINE)


def public_api() -> str:
    """Every name with its signature, and for a class those of its public members."""
    return "\n".join(line for name in named() for line in _lines(name, resolve_name(name))) + "\n"


def _lines(name: str, thing: Any) -> Iterator[str]:
    if inspect.ismodule(thing):
        for member, found in vars(thing).items():
            if inspect.isclass(found) and found.__module__ == thing.__name__:
                bases = ", ".join(base.__name__ for base in found.__bases__)
                yield f"{name}.{member}({bases})"
        return
    yield f"{name}{_signature(thing)}"
    if inspect.isclass(thing):
        for member in sorted(_members(thing)):
            found = inspect.getattr_static(thing, member, None)
            if isinstance(found, (staticmethod, classmethod)):
                yield f"  {type(found).__name__} {member}{_signature(found.__func__)}"
            elif inspect.isfunction(found):
                yield f"  {member}{_signature(found)}"
            else:
                yield f"  {member}"


def _members(thing: type) -> set[str]:
    """Public members that the class defines, or inherits from weft's classes."""
    ours = [base for base in thing.__mro__ if base.__module__.startswith("weft")]
    own = {name for base in ours for name in (*vars(base), *vars(base).get("__annotations__", {}))}
    return {name for name in own if not name.startswith("_")}


def _signature(thing: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(thing)))


if __name__ == "__main__":
    KEPT.write_text(public_api(), "utf-8")
