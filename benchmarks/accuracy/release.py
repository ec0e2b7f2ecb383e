"""A release as its users get it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Release:
    """One release: its shared library, what a client includes, and what tells the compiler to find and read it."""

    library: str
    version: str
    language: str
    folder: Path
    binary: Path
    headers: tuple[Path, ...]
    umbrella: tuple[str, ...]
    include: tuple[Path, ...]
    defines: tuple[str, ...]
    options: tuple[str, ...]
