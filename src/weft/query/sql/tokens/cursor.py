"""A position in a statement's tokens, for reading clauses that no SQL parser knows."""

from __future__ import annotations

from weft.errors import QueryError
from weft.query.syntax.lexer import Token, place
from weft.query.syntax.masking import STATEMENT_WORDS


class Cursor:
    """Takes tokens one by one; an unexpected token is an error that points at it."""

    def __init__(self, sql: str, tokens: tuple[Token, ...], position: int) -> None:
        self.sql, self.tokens, self.position = sql, tokens, position

    @property
    def word(self) -> str:
        """The next word, or an empty string at the end."""
        return self._word(self.position)

    @property
    def second(self) -> str:
        """The word after the next one."""
        return self._word(self.position + 1)

    def _word(self, position: int) -> str:
        return self.tokens[position].word if position < len(self.tokens) else ""

    def accept(self, word: str) -> bool:
        """Take the next token if it is this word."""
        if self.word != word or self.word == "":
            return False
        self.position += 1
        return True

    def expect(self, word: str, form: str) -> Token:
        """Take the next token, which must be this word."""
        if self.word != word:
            raise self.fail(f"{word} is missing: accepted is {form}")
        return self.take()

    def take(self) -> Token:
        """Take the next token."""
        if self.position >= len(self.tokens):
            raise self.fail("the statement ends too early")
        self.position += 1
        return self.tokens[self.position - 1]

    def take_name(self, form: str) -> tuple[Token, ...]:
        """Take a name, which may have dots in it."""
        begin = self.position
        while True:
            token = self.take()
            if token.kind not in ("name", "quoted") or token.word in STATEMENT_WORDS:
                self.position -= 1
                raise self.fail(f"a name is missing: accepted is {form}")
            if not self.accept("."):
                return self.tokens[begin : self.position]

    def fail(self, message: str) -> QueryError:
        """An error at the next token, or at the end."""
        at = (
            self.tokens[self.position].start
            if self.position < len(self.tokens)
            else self.tokens[-1].end
        )
        return QueryError(place(self.sql, at, message))


def clause(tokens: tuple[Token, ...], word: str) -> int | None:
    """Where a clause of the outermost SELECT begins, or None."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        before = tokens[index - 1].text if index else ""
        if depth == 0 and token.kind == "name" and token.word == word and before != ".":
            return index
    return None
