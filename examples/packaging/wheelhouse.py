"""Download the locked wheels that build and run abistore without a network, for the Python that runs this.

    python3 examples/packaging/wheelhouse.py FOLDER

abistore itself is not downloaded: it is built from its sources.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

ROOT = Path(__file__).parents[2]
LOCK = ROOT / ".ci" / "locked" / "dev.txt"
"""The versions of what is downloaded, with the hash of each file."""

EXTRAS = ("mcp", "postgres")
"""What packages contain beside the dependencies: the MCP server, and the driver of PostgreSQL."""

PINNED = re.compile(r"^[\w.-]+==[^\\\n]+", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def requirements(project: dict[str, Any]) -> Iterator[str]:
    """What a build of the project requires, and what the built package requires with its extras."""
    yield from project["build-system"]["requires"]
    yield from project["project"]["dependencies"]
    for extra in EXTRAS:
        yield from project["project"]["optional-dependencies"][extra]


def download(folder: Path, lock: str) -> None:
    """Download wheels into ``folder``; pip says which requirement has none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    # pip takes no hashes of what it resolves, so the versions are given to it, and the hashes are compared afterwards
    with NamedTemporaryFile("w", suffix=".txt") as pins:
        print(*PINNED.findall(lock), sep="\n", file=pins, flush=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", str(folder)]
        subprocess.run([*pip, "--constraint", pins.name, *requirements(project)], check=True)


def unlocked(folder: Path, lock: str) -> list[str]:
    """The names of the wheels in ``folder`` whose hash the lock does not name."""
    hashes = set(HASH.findall(lock))
    return [wheel.name for wheel in sorted(folder.iterdir()) if sha256(wheel.read_bytes()).hexdigest() not in hashes]


def main(folder: Path) -> None:
    """Download wheels, and fail where one is not that of the lock."""
    lock = LOCK.read_text()
    download(folder, lock)
    if names := unlocked(folder, lock):
        raise SystemExit(f"{LOCK} does not name the hash of: {', '.join(names)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
