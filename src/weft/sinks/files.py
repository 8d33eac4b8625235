"""Small files kept with a checkpoint: written whole or not at all, with a checksum inside."""

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
"""The folder of files that were set aside."""


class Folder:
    """A folder on any file system that Arrow knows, given as a path or a URI.

    On a local disk what it writes is for its owner only (`weft.sinks.modes`), except where
    `private` is false: then modes follow the umask, as those of the files beside it do.

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
        except FileNotFoundError:  # made or removed by another process while Arrow looked
            return []
        names = [info.base_name for info in found if info.type == fs.FileType.File]
        return sorted(name for name in names if not name.startswith("."))

    def has(self, name: str) -> bool:
        """Whether a file is there, without a look at the others."""
        info = self.system.get_file_info(f"{self.path}/{name}")
        return bool(info.type == fs.FileType.File)

    def write(self, name: str, kind: str, body: Any) -> None:
        """Write a file in one step: whoever reads sees the old one or the new one."""
        text = json.dumps(body, separators=(",", ":"))
        sealed = json.dumps({"weft": kind, "checksum": zlib.crc32(text.encode()), "body": text})
        self.write_bytes(name, sealed.encode())

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file of any content in one step."""
        self._make()
        temporary = f"{self.path}/.{name}.{uuid.uuid4().hex}"
        try:
            with self._new(temporary) as stream:
                stream.write(data)
            self.system.move(temporary, f"{self.path}/{name}")
        except OSError:  # a full disk: what there is of the file only takes more of it
            with suppress(OSError):
                self.system.delete_file(temporary)
            raise

    def _make(self) -> None:
        if self._has_modes:
            new_folders(self.path)
        else:
            self.system.create_dir(self.path, recursive=True)

    def _new(self, path: str) -> Any:
        # Arrow knows no modes: what it creates, others may open before it could be closed to them.
        return new_file(path) if self._has_modes else self.system.open_output_stream(path)

    @property
    def _has_modes(self) -> bool:
        return self.private and isinstance(self.system, fs.LocalFileSystem)

    def keep(self, name: str, kind: str, body: Any) -> None:
        """Write a file that a stream cannot do without: on the disk, and with a copy.

        The copy is written first, so that it is never older than the file.
        """
        for folder in (self.sub(_COPIES), self):
            folder.write(name, kind, body)
            folder._sync(name)

    def unkeep(self, name: str) -> None:
        """Remove a file that `keep` wrote, and its copy: the file first, which readers look at."""
        for folder in (self, self.sub(_COPIES)):
            folder.remove(name)

    def kept(self, name: str, kind: str) -> Any:
        """What `keep` wrote; a file that is damaged or gone is put back from its copy."""
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
        """The files that `keep` wrote, sorted, also those of which only the copy is left."""
        return sorted({*self.names(), *self.sub(_COPIES).names()})

    def _sync(self, name: str) -> None:
        """Have the file on the disk before going on: a rename may outlive what it renamed."""
        if not isinstance(self.system, fs.LocalFileSystem):
            return
        for path in (f"{self.path}/{name}", self.path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def read(self, name: str, kind: str) -> Any:
        """The body of a file; a file that is damaged or of another kind is refused."""
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
        """Move a file that cannot be read out of the way, where it can be looked at."""
        aside = self.sub(ASIDE)
        aside._make()
        self.system.move(f"{self.path}/{name}", f"{aside.path}/{name}")

    def move_to(self, other: Folder, name: str) -> bool:
        """Move a file; False if it is not there any more. Of several who try, one succeeds."""
        other._make()
        try:
            self.system.move(f"{self.path}/{name}", f"{other.path}/{name}")
        except FileNotFoundError:
            return False
        return True

    def withdraw(self, name: str) -> bool:
        """Remove a file; False if it is not there any more."""
        try:
            self.system.delete_file(f"{self.path}/{name}")
        except FileNotFoundError:
            return False
        return True

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        self.withdraw(name)


def private_folder(location: str) -> None:
    """Make a folder for its owner only, so that whatever others put into it is protected too.

    For the root of a checkpoint, in which Spark writes by the umask. One that exists and is empty
    gets the same mode; one with something in it has been used, and stays as it is. On other file
    systems than a local disk nothing is done.
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
    """The file system and path of a location as Spark takes it: a path, or a URI."""
    if location.startswith("file:"):
        location = "/" + location[len("file:") :].lstrip("/")
    if "://" in location:
        system, path = fs.FileSystem.from_uri(location)
        return system, str(path)
    from os.path import abspath

    return fs.LocalFileSystem(), str(PurePosixPath(abspath(location)))
