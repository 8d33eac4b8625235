"""Small files in a checkpoint: written atomically, with a checksum inside."""

from __future__ import annotations

import json
import os
import uuid
import zlib
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from pyarrow import fs

from weft.errors import CheckpointError
from weft.sinks.modes import folder_mode, give_mode, new_file, new_folders

_COPIES = "copies"
ASIDE = "damaged"
"""The folder for damaged files that were set aside."""


class Folder:
    """A folder on any file system that Arrow supports, given as a path or a URI.

    On a local disk its files are accessible to their owner only (`weft.sinks.modes`), unless
    `private` is false: then their modes follow the umask, like those of other files there.

    >>> import tempfile
    >>> folder = Folder(tempfile.mkdtemp()).sub("catalogue")
    >>> folder.write("1.json", "catalogue", {"a": 1})
    >>> folder.names(), folder.read("1.json", "catalogue")
    (['1.json'], {'a': 1})
    """

    def __init__(
        self, location: str, system: fs.FileSystem | None = None, *, private: bool = True
    ) -> None:
        self.system: fs.FileSystem
        self.private = private
        if system is None:
            self.system, location = locate(location)
        else:
            self.system = system
        self.path = location.rstrip("/")

    def sub(self, name: str) -> Folder:
        """A folder in this one."""
        return Folder(f"{self.path}/{name}", self.system, private=self.private)

    def names(self) -> list[str]:
        """The files in it, sorted; those still being written are left out."""
        try:
            found = self.system.get_file_info(fs.FileSelector(self.path, allow_not_found=True))
        except FileNotFoundError:  # created or removed by another process during the listing
            return []
        names = [info.base_name for info in found if info.type == fs.FileType.File]
        return sorted(name for name in names if not name.startswith("."))

    def has(self, name: str) -> bool:
        """Whether a file exists, without listing the folder."""
        info = self.system.get_file_info(f"{self.path}/{name}")
        return bool(info.type == fs.FileType.File)

    def write(self, name: str, kind: str, body: Any) -> None:
        """Write a file atomically: readers see the old one or the new one."""
        text = json.dumps(body, separators=(",", ":"))
        sealed = json.dumps({"weft": kind, "checksum": zlib.crc32(text.encode()), "body": text})
        self.write_bytes(name, sealed.encode())

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file of any content atomically."""
        self._make()
        temporary = f"{self.path}/.{name}.{uuid.uuid4().hex}"
        try:
            with self._new(temporary) as stream:
                stream.write(data)
            self.system.move(temporary, f"{self.path}/{name}")
        except OSError:  # such as a full disk: remove the incomplete file
            with suppress(OSError):
                self.system.delete_file(temporary)
            raise

    def _make(self) -> None:
        if self._has_modes:
            new_folders(self.path)
        else:
            self.system.create_dir(self.path, recursive=True)

    def _new(self, path: str) -> Any:
        # Arrow cannot set modes: others could open its new file before the mode is set.
        return new_file(path) if self._has_modes else self.system.open_output_stream(path)

    @property
    def _has_modes(self) -> bool:
        return self.private and isinstance(self.system, fs.LocalFileSystem)

    def keep(self, name: str, kind: str, body: Any) -> None:
        """Write a file that a stream depends on: synced to disk, and with a copy.

        The copy is written first, so that it is never older than the file.
        """
        for folder in (self.sub(_COPIES), self):
            folder.write(name, kind, body)
            folder._sync(name)

    def unkeep(self, name: str) -> None:
        """Remove a file that `keep` wrote, and its copy: first the file, which readers use."""
        for folder in (self, self.sub(_COPIES)):
            folder.remove(name)

    def kept(self, name: str, kind: str) -> Any:
        """What `keep` wrote; a damaged or missing file is restored from its copy."""
        try:
            return self.read(name, kind)
        except CheckpointError as error:
            problem = error
        copies = self.sub(_COPIES)
        try:
            body = copies.read(name, kind)
        except CheckpointError:
            raise CheckpointError(
                f"{problem}, and so is its copy {copies.path}/{name}: put one of them back from a "
                f"backup of the checkpoint, or start on a new checkpoint"
            ) from None
        self.write(name, kind, body)
        return body

    def kept_names(self) -> list[str]:
        """The files that `keep` wrote, sorted, including those of which only the copy is left."""
        return sorted({*self.names(), *self.sub(_COPIES).names()})

    def _sync(self, name: str) -> None:
        """Sync the file to disk: after a crash, a rename may persist without the file's content."""
        if not isinstance(self.system, fs.LocalFileSystem):
            return
        for path in (f"{self.path}/{name}", self.path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def read(self, name: str, kind: str) -> Any:
        """The body of a file; an error if it is damaged or of another kind."""
        path = f"{self.path}/{name}"
        data = self.read_bytes(name)
        try:
            sealed = json.loads(data)
            body = sealed["body"]
            good = sealed["weft"] == kind and sealed["checksum"] == zlib.crc32(body.encode())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"{path} is damaged ({error})") from error
        if not good:
            raise CheckpointError(f"{path} is damaged (its checksum) or not a {kind} of weft")
        return json.loads(body)

    def read_bytes(self, name: str) -> bytes:
        """The content of a file."""
        path = f"{self.path}/{name}"
        try:
            with self.system.open_input_stream(path) as stream:
                return bytes(stream.read())
        except FileNotFoundError as error:
            raise CheckpointError(f"{path} does not exist") from error

    def set_aside(self, name: str) -> None:
        """Move an unreadable file aside, where it can be examined."""
        aside = self.sub(ASIDE)
        aside._make()
        self.system.move(f"{self.path}/{name}", f"{aside.path}/{name}")

    def move_to(self, other: Folder, name: str) -> bool:
        """Move a file; False if it is gone. If several processes try, one succeeds."""
        other._make()
        try:
            self.system.move(f"{self.path}/{name}", f"{other.path}/{name}")
        except FileNotFoundError:
            return False
        return True

    def withdraw(self, name: str) -> bool:
        """Remove a file; False if it is gone."""
        try:
            self.system.delete_file(f"{self.path}/{name}")
        except FileNotFoundError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        self.withdraw(name)


def private_folder(location: str) -> None:
    """Make a folder that only its owner can access, which protects everything in it.

    For the root of a checkpoint, in which Spark writes with modes by the umask. An existing empty
    folder gets the same mode; one that is not empty has been used before and is left unchanged.
    Does nothing on file systems other than a local disk.
    """
    system, path = locate(location)
    if not isinstance(system, fs.LocalFileSystem):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.mkdir(path, folder_mode())
    except FileExistsError:
        if not os.path.isdir(path) or os.listdir(path):
            return
    give_mode(path, folder_mode())


def locate(location: str) -> tuple[fs.FileSystem, str]:
    """The file system and path of a location in the form that Spark accepts: a path, or a URI."""
    if location.startswith("file:"):
        location = "/" + location[len("file:") :].lstrip("/")
    if "://" in location:
        system, path = fs.FileSystem.from_uri(location)
        return system, str(path)
    from os.path import abspath

    return fs.LocalFileSystem(), str(PurePosixPath(abspath(location)))
