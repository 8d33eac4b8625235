"""`${NAME}` in a job file: expanded from the environment when it is used, and never shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

HIDDEN = "***"
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(
    r"(?i:passw|pwd|secret|token|credential|jaas|signature|apikey|accesskey"
    r"|(?:^|[^a-z])(?:key|pass|sas|sig)(?![a-z]))|[a-z]Key"
)
_INLINE = re.compile(
    r"(?P<name>(?i:\b(?:\w*passw\w*|pwd|secret\w*|token|sig"
    r"|\w*(?:access|account|api|private|shared)\w*key)\s*=\s*)[\"']?"
    r"|://[^/:@\s]*:(?=[^@/\s]+@))"
    r"(?P<value>(?<=\")[^\"]+|(?<=')[^']+|[^&;@\s\"',]+)"
)
"""Secrets within a value: `...;password=x`, `password="x y"` and `scheme://user:x@host`."""
_SHORTEST = 4
"""Shorter values are not hidden in messages, because they would match everywhere."""


def variables(text: str) -> list[str]:
    """The names of the variables in a text.

    >>> variables("jdbc:${HOST}/x?password=${PW}, $${kept}")
    ['HOST', 'PW']
    """
    return [match[1] for match in _VARIABLE.finditer(text) if match[1] is not None]


def is_name(name: str) -> bool:
    """Whether a variable can have this name."""
    return _NAME.fullmatch(name) is not None


def expand(text: str, environ: Mapping[str, str]) -> str:
    """The text with its variables expanded; `$$` is a dollar sign.

    >>> expand("${HOME}/in costs $$5", {"HOME": "/home/ann"})
    '/home/ann/in costs $5'
    """
    return _VARIABLE.sub(lambda match: "$" if match[1] is None else environ[match[1]], text)


def literal(text: str) -> str:
    """A text escaped so that `expand` returns it unchanged.

    >>> expand(literal("${HOME}"), {})
    '${HOME}'
    """
    return text.replace("$", "$$")


def is_secret(name: str) -> bool:
    """Whether a field or variable of this name holds a secret.

    >>> [is_secret(name) for name in ("db.password", "s3a.access.key", "accountKey", "monkey")]
    [True, True, True, False]
    """
    return _SECRET.search(name) is not None


def shown(name: str, value: Any) -> str:
    """A value for messages: shortened, and masked if the name is that of a secret."""
    if value is None:
        return "(nothing)"
    if is_secret(name) and not isinstance(value, (dict, list)):
        return HIDDEN
    if isinstance(value, dict):
        return f"{{{', '.join(value)}}}" if len(value) < 6 else "{...}"
    if isinstance(value, list):
        return "[]" if not value else f"a list of {len(value)}"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else f"{text[:76]}...'"


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """Options for display: variables by name, secrets masked.

    >>> masked({"user": "${DB_USER}", "password": "hunter2", "token": "${TOKEN}"})
    {'user': '${DB_USER}', 'password': '***', 'token': '${TOKEN}'}
    >>> masked({"url": "jdbc:db://h/x?user=ann&password=hunter2"})
    {'url': 'jdbc:db://h/x?user=ann&password=***'}
    """
    return {name: _masked(name, value) for name, value in options.items()}


def _masked(name: str, value: str) -> str:
    if is_secret(name) and not variables(value):
        return HIDDEN
    return _INLINE.sub(
        lambda match: match[0] if variables(match["value"]) else f"{match['name']}{HIDDEN}", value
    )


def redact(text: str) -> str:
    """A text with everything masked that looks like a secret, known or not.

    >>> redact('failed: PlainLoginModule required username="ann" password="hunter2";')
    'failed: PlainLoginModule required username="ann" password="***";'
    """
    return _masked("", text)


def secrets(options: Mapping[str, str], environ: Mapping[str, str]) -> set[str]:
    """The values in these options that must not be shown: secrets, and values of variables."""
    found = {expand(value, environ) for name, value in options.items() if is_secret(name)}
    for value in options.values():
        found.update(environ[name] for name in variables(value))
        found.update(match["value"] for match in _INLINE.finditer(expand(value, environ)))
    return {value for value in found if len(value) >= _SHORTEST}


def scrub(text: str, hidden: Iterable[str]) -> str:
    """A text with the hidden values masked; the longest first, as one may contain another.

    >>> scrub("cannot log in as ann:hunter2", {"hunter2"})
    'cannot log in as ann:***'
    """
    for value in sorted(hidden, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return text
