"""Keys and lists of signers for tests, made by ssh-keygen."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "", "-f", path], check=True)
    return path


def public(key: Path) -> str:
    return Path(f"{key}.pub").read_text().strip()


def fingerprint_of(key: Path) -> str:
    done = subprocess.run(["ssh-keygen", "-l", "-f", f"{key}.pub"], check=True, capture_output=True, text=True)
    return done.stdout.split()[1]


def signers(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@contextmanager
def agent(socket: Path) -> Iterator[Path]:
    """An SSH agent that answers at ``socket``."""
    with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield socket
        finally:
            process.terminate()
