"""docs/troubleshooting.md: every message that it quotes still exists in the source."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from pages import ROOT
from weft import errors

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"^### `(.+)` \((.+)\)$", PAGE, re.MULTILINE)
ANYTHING = "…"
ELSEWHERE = ("`weft doctor`", "in the query's status")
"""Where messages appear that are not those of exceptions."""


@cache
def said() -> tuple[str, str]:
    """Every string of the source except docstrings, one per line; errors also with their class.

    `…` stands for an inserted value.
    """
    texts, raised = [], []
    for file in sorted((ROOT / "src" / "weft").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) not in docs and (text := shown(node)) is not None:
                texts.append(text)
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                kind, found = ast.unparse(node.exc.func), list(map(shown, node.exc.args))
                raised += [f"{kind}: {text}" for text in found if text is not None]
    return "\n".join(texts), "\n".join(raised)


def shown(node: ast.AST) -> str | None:
    if isinstance(node, ast.JoinedStr):
        parts = [str(v.value) if isinstance(v, ast.Constant) else ANYTHING for v in node.values]
        return " ".join("".join(parts).split())
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    return None


def test_the_messages_are_found() -> None:
    assert len(QUOTED) == PAGE.count("\n### ")
    assert len(QUOTED) > 60
    assert len({message for message, _ in QUOTED}) == len(QUOTED)


@pytest.mark.parametrize(("message", "kind"), QUOTED)
def test_a_message_is_one_of_the_source(message: str, kind: str) -> None:
    words = [part for part in message.split(ANYTHING) if part.strip()]
    assert max(map(len, words)) > 10, "too little of the message to tell it from others"
    pattern = "[^\n]*".join(map(re.escape, words))
    texts, raised = said()
    assert re.search(pattern, texts)
    if kind in ELSEWHERE:
        return
    kinds = set(kind.split(", "))
    assert all(hasattr(errors, name) for name in kinds)
    by = set(re.findall(rf"^(\w+): [^\n]*{pattern}", raised, re.MULTILINE))
    assert by <= kinds


def test_a_message_that_nobody_says_is_noticed() -> None:
    texts, raised = said()
    assert "EngineError: watermark=None" in raised
    assert "the loom is out of thread" not in texts
