"""File modes of what weft writes on a local disk: by default only the owner has access.

A checkpoint holds slices of the stream's rows, the queries, and errors that may quote values, and
anyone who can write to it can change the queries. So files get 0600 and folders 0700, whatever the
umask. With `WEFT_FILE_MODE=0640` the group can read them; a folder has x wherever its files have r.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from functools import lru_cache
from typing import BinaryIO

from weft.errors import EngineError

FILE_MODE = "WEFT_FILE_MODE"
"""The variable that sets another mode, in octal."""
OWNER_ONLY = 0o600
"""The mode of files if it is not set."""


def file_mode() -> int:
    """The mode of weft's own files."""
    return _read(os.environ.get(FILE_MODE, ""))


def folder_mode() -> int:
    """The mode of weft's own folders: x is added where files may be read.

    >>> os.environ[FILE_MODE] = "0640"
    >>> oct(file_mode()), oct(folder_mode())
    ('0o640', '0o750')
    >>> del os.environ[FILE_MODE]
    >>> oct(file_mode()), oct(folder_mode())
    ('0o600', '0o700')
    """
    mode = file_mode()
    return mode | (mode & 0o444) >> 2


@lru_cache(maxsize=8)
def _read(text: str) -> int:
    if not text.strip():
        return OWNER_ONLY
    digits = re.fullmatch(r"(?:0o?)?([0-7]{3})", text.strip())
    mode = int(digits[1], 8) if digits else 0
    if mode & 0o600 != 0o600 or mode & 0o111:
        raise EngineError(
            f"{FILE_MODE}={text[:20]!r} is not a mode of files: accepted are three octal digits "
            f"such as 0600 or 0640, with read and write for the owner (6 first) and x for nobody"
        )
    return mode


def new_file(path: str) -> BinaryIO:
    """A new file, open for writing, created with its mode so that no one else can open it."""
    mode = file_mode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, mode)
    give_mode(path, mode)
    return os.fdopen(handle, "wb")


def new_folders(path: str) -> None:
    """Make the missing folders of a path, each with weft's mode."""
    missing: list[str] = []
    path = os.path.abspath(path)
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, folder_mode())
        except FileExistsError:
            if not os.path.isdir(folder):  # otherwise another process created it
                raise
        else:
            give_mode(folder, folder_mode())


def give_mode(path: str, mode: int) -> None:
    """Set the mode of a file or folder that the umask has reduced, or that existed before.

    If that is not possible (another user's folder, a file system without modes) it is left as it
    is: access control there is up to the administrator. A folder keeps its setgid bit.
    """
    with suppress(OSError):
        now = stat.S_IMODE(os.stat(path).st_mode)
        wanted = mode | (now & stat.S_ISGID)
        if now != wanted:
            os.chmod(path, wanted)
