"""A private PostgreSQL server in a temporary folder, in memory where it fits, reached through a socket only."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
from sqlalchemy import make_url

SETTINGS = (
    *("max_connections=40", "autovacuum=off", "fsync=off", "full_page_writes=off", "wal_level=minimal"),
    "max_wal_senders=0",  # which the level of the log asks for
)
"""What spares a server work whose databases live for a test, and outlive no crash."""

COPY = "STRATEGY file_copy"
"""How a database is made of another one: by copying its files, where the log would hold all of them once more."""

ROOM = 2 << 30
"""What a server's files may come to, in bytes: a database has 8 MB, and those that a module keeps are dozens."""


def programs() -> Path | None:
    """The folder of ``initdb`` and ``pg_ctl``, where a server is installed."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if debian:
        return debian[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def temporary() -> str:
    """A folder in memory, if it has room: there a copy of a database takes a seventh of the time.

    The path is short, as that of a socket must be, and the server's user can reach it.
    """
    memory = "/dev/shm"
    return memory if Path(memory).is_dir() and shutil.disk_usage(memory).free > ROOM else "/tmp"


@contextmanager
def server(settings: Sequence[str] = SETTINGS) -> Iterator[str]:
    """Start a server, and give the URL of a database in it. Without the usual ``settings`` it outlives crashes."""
    folder = programs()
    assert folder is not None
    root = Path(tempfile.mkdtemp(prefix="abistore-pg-", dir=temporary()))
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(root, user)

    def run(program: str, *arguments: str) -> None:
        command = [str(folder / program), *arguments]
        done = subprocess.run(command, user=user, cwd=root, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    data = str(root / "data")
    try:
        run("initdb", "-D", data, "-U", "abistore", "-A", "trust", "-N", "--no-locale", "-E", "UTF8")
        every = (*settings, "listen_addresses=''", f"unix_socket_directories={root}")
        options = " ".join(f"-c {setting}" for setting in every)
        run("pg_ctl", "-D", data, "-w", "-l", str(root / "log"), "-o", options, "start")
        try:
            yield f"postgresql://abistore@/postgres?host={root}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def dropped(url: str) -> Iterator[str]:
    """Give a database for a while: hundreds of them, of 8 MB each, would be written to the disk in the end."""
    try:
        yield url
    finally:
        drop(url)


def drop(url: str) -> None:
    """Drop a database, whoever is connected to it."""
    name = make_url(url).database
    with psycopg.connect(url.replace(f"/{name}?", "/postgres?"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
