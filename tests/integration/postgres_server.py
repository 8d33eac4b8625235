"""A PostgreSQL server for tests: a new cluster in a folder, on a free port of loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import components
import pytest

USER = "weft"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",  # a test's data need not outlive the machine
    "log_min_messages": "warning",
}


def programs() -> Path:
    """The folder of PostgreSQL's programs; the test fails by name if there is none."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    pytest.fail("postgres: no initdb on this machine (on Debian: apt-get install postgresql)")


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server, yield its connection string, and stop it at the end."""
    # Not in pytest's temporary folder, which only its owner may enter.
    with TemporaryDirectory(prefix="weft-postgres-") as folder, _server(Path(folder)) as url:
        yield url


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    bin, data = programs(), folder / "data"
    (port,) = components.free_ports(1)
    who = _somebody(folder)
    options = {"cwd": folder, "env": {**os.environ, "LC_ALL": "C"}, **who}
    subprocess.run(
        [bin / "initdb", "-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync"],
        check=True, capture_output=True, timeout=120, **options,
    )  # fmt: skip
    given = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    command = [str(bin / "postgres"), "-D", str(data), "-p", str(port), *given]
    with components.process(command, folder / "server.log", **options) as server:
        url = f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        components.wait_for(lambda: _answers(url), "postgres: the server", 60.0, server)
        yield url


def _somebody(folder: Path) -> dict[str, object]:
    """Options to run as another user if this one is root, as which PostgreSQL refuses to run."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
