"""Programs of others that tests run, each installed once: npm packages, and environments with Python packages."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

from examples.obtain import Missing, alone, require
from tests.build import CACHE

FOLDER = Path(__file__).parent
OLDEST_NODE = (22, 19)
"""What the MCP Inspector asks for."""


@cache
def node() -> tuple[str, Path]:
    """Node.js, and the folder of packages. Skips where npm, or its registry, cannot be had."""
    npm = require("npm", "npm")
    lock = FOLDER / "npm" / "package-lock.json"

    def install(folder: Path) -> None:
        for name in ("package.json", lock.name):
            shutil.copy(FOLDER / "npm" / name, folder)
        obtained([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)

    packages = _once("npm", lock.read_text(), install) / "node_modules"
    return _node(packages), packages


def _node(packages: Path) -> str:
    """Node.js as it is installed, where it is new enough; else the one among the packages."""
    installed = shutil.which("node")
    if installed and _version(installed) >= OLDEST_NODE:
        return installed
    for found in packages.glob("node-linux-*/bin/node"):
        return str(found)
    raise Missing(f"node {'.'.join(map(str, OLDEST_NODE))} is not installed")


def _version(program: str) -> tuple[int, ...]:
    told = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return tuple(int(number) for number in told.strip().removeprefix("v").split(".")[:2])


@cache
def python(name: str) -> str:
    """The interpreter of an environment with the packages of ``NAME.txt``. Skips where they cannot be had."""
    required = FOLDER / f"{name}.txt"

    def install(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q", "--no-compile"]
        obtained([*pip, "--disable-pip-version-check", "-r", str(required)], folder)

    return str(_once(name, required.read_text() + sys.version, install) / "bin" / "python")


def obtained(command: Sequence[str], folder: Path) -> None:
    """Run a command that fetches packages; where it fails, skip the test with its last words, and try it no more."""
    program = Path(command[0]).name
    if program not in REFUSED:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if not done.returncode:
            return
        REFUSED[program] = next(reversed((done.stderr or done.stdout).strip().splitlines()), "no word")
    pytest.skip(f"packages cannot be fetched: {program}: {REFUSED[program]}")


REFUSED: dict[str, str] = {}
"""The programs that could fetch nothing, with their last words."""


def _once(name: str, content: str, install: Callable[[Path], None]) -> Path:
    """The folder that ``install`` fills, which is done once for a content, by one process."""
    folder = CACHE / f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:16]}"
    done = folder / "installed"
    with alone(folder.with_name(f"{folder.name}.lock")):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            install(folder)
            done.touch()
    return folder
